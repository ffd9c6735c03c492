/* server/options.h: every option of `sheaf serve`, in one table.
 *
 * The table gives the members of struct server_options, the flags, the environment's names (SHEAF_
 * and the name in capitals), the keys of the ini file, `sheaf help serve` and the table of
 * docs/server.md. A value is looked for in that order; what is said nowhere is the default.
 *
 * Includes nothing of Sheaf but errors and arenas, so that the page of the docs can be made from it.
 */
#ifndef SERVER_OPTIONS_H
#define SERVER_OPTIONS_H

#include "base/err.h"

#include <stdio.h>

/* X(kind, member, name, placeholder, default, least, most, what it does)
 * GROUP(title) begins a paragraph of the help.
 *
 * TEXT    any text; a default of "" is "none"
 * CHOICE  one of the words of the placeholder
 * NUMBER  a decimal number
 * BYTES   the same with K, M or G (powers of 1024)
 * FLAG    on or off; as a flag without a value: on */
/* clang-format off */
#define SERVER_OPTIONS(X, GROUP) \
    GROUP("Where to listen") \
    X(TEXT, host, "host", "ADDRESS", "127.0.0.1", 0, 0, "the address to listen on; one that others can reach needs --auth or --insecure") \
    X(NUMBER, port, "port", "N", "8000", 0, 65535, "the port; 0 picks a free one and prints it") \
    X(TEXT, tls_cert, "tls-cert", "FILE", "", 0, 0, "serve https: certificate chain, PEM") \
    X(TEXT, tls_key, "tls-key", "FILE", "", 0, 0, "the certificate's private key, PEM") \
    X(FLAG, insecure, "insecure", "", "off", 0, 0, "listen beyond loopback although everybody may do everything") \
    X(NUMBER, loops, "loops", "N", "0", 0, 256, "event loops, each a thread; 0: one per core") \
    GROUP("Data") \
    X(TEXT, data, "data", "DIR", "./sheaf-data", 0, 0, "the data directory, made when missing") \
    X(FLAG, memory, "memory", "", "off", 0, 0, "keep everything in memory, gone at the end; instead of --data") \
    X(CHOICE, durability, "durability", "sync|relaxed", "sync", 0, 0, "sync: an answer survives a power cut; relaxed: it survives the end of the process, the disk follows") \
    X(BYTES, cache, "cache", "BYTES", "128M", 1048576, 17592186044416, "for blocks and rows read from disk, taken as it fills") \
    GROUP("Who may do what") \
    X(TEXT, auth, "auth", "FILE", "", 0, 0, "the credentials file; every request must then be signed by one of its keys") \
    X(NUMBER, auth_window, "auth-window", "SECONDS", "900", 1, 86400, "how far the clock of a signed request may be off") \
    X(TEXT, auth_regions, "auth-regions", "LIST", "", 0, 0, "the regions a signature may name, separated by commas; none: any") \
    X(TEXT, region, "region", "REGION", "us-east-1", 0, 0, "the region of ARNs when a request's credentials name none") \
    X(TEXT, cors, "cors", "LIST", "*", 0, 0, "origins that browsers may call from, separated by commas; * is any, none is none") \
    X(FLAG, metrics_open, "metrics-open", "", "off", 0, 0, "answer GET /metrics to other machines too") \
    GROUP("Emulation of the service") \
    X(NUMBER, gsi_lag_ms, "gsi-lag-ms", "MS", "0", 0, 3600000, "eventually consistent reads of global indexes see the past") \
    X(FLAG, throttle, "throttle", "", "off", 0, 0, "hold the throughput of tables, and 3,000 RCU and 1,000 WCU per key") \
    X(TEXT, faults, "faults", "FILE", "", 0, 0, "a schedule of failures") \
    X(NUMBER, seed, "seed", "N", "0", 0, 9223372036854775807, "of jitter and random faults; 0: from the clock") \
    GROUP("Limits") \
    X(NUMBER, max_connections, "max-connections", "N", "10000", 1, 1000000, "connections at once; at the limit idle ones give way, then new ones wait") \
    X(BYTES, memory_budget, "memory-budget", "BYTES", "512M", 67108864, 17592186044416, "for bodies and answers; asked before a body is read; when it is short, slow clients give way") \
    X(NUMBER, head_timeout_ms, "head-timeout-ms", "MS", "10000", 1, 3600000, "to send a whole head") \
    X(NUMBER, body_timeout_ms, "body-timeout-ms", "MS", "60000", 1, 3600000, "to send a whole body") \
    X(NUMBER, write_timeout_ms, "write-timeout-ms", "MS", "60000", 1, 3600000, "for a client that does not read its answers") \
    X(NUMBER, idle_timeout_ms, "idle-timeout-ms", "MS", "60000", 1, 86400000, "to keep a quiet connection") \
    X(NUMBER, drain_ms, "drain-ms", "MS", "30000", 0, 3600000, "to finish requests under way when told to end") \
    GROUP("Watching it") \
    X(TEXT, access_log, "access-log", "FILE|-", "", 0, 0, "a line of JSON for every request; - is standard output") \
    X(FLAG, core_dumps, "core-dumps", "", "off", 0, 0, "leave a core file after a crash; it holds data and secrets") \
    GROUP("Configuration") \
    X(TEXT, config, "config", "FILE", "", 0, 0, "an ini file with these options, without the dashes")
/* clang-format on */

enum option_kind { OPTION_TEXT, OPTION_CHOICE, OPTION_NUMBER, OPTION_BYTES, OPTION_FLAG };

#define SERVER_TYPE_TEXT_ const char *
#define SERVER_TYPE_CHOICE_ const char *
#define SERVER_TYPE_NUMBER_ uint64_t
#define SERVER_TYPE_BYTES_ uint64_t
#define SERVER_TYPE_FLAG_ bool

enum option_id {
#define X(kind, member, name, arg, preset, least, most, help) OPTION_ID_##member,
#define GROUP(title)
    SERVER_OPTIONS(X, GROUP)
#undef X
#undef GROUP
        OPTIONS_N
};
enum option_source { SOURCE_DEFAULT, SOURCE_FILE, SOURCE_ENVIRONMENT, SOURCE_FLAG };

enum { OPTION_NOTES_MAX = 16 };

/* Texts live as long as the arguments, the environment and the arena that options_read was given.
 */
struct server_options {
#define X(kind, member, name, arg, preset, least, most, help) SERVER_TYPE_##kind##_ member;
#define GROUP(title)
    SERVER_OPTIONS(X, GROUP)
#undef X
#undef GROUP
    uint8_t source[OPTIONS_N];           /* enum option_source of each */
    const char *notes[OPTION_NOTES_MAX]; /* what to say about flags that change nothing */
    uint32_t n_notes;
};

struct option {
    const char *name, *arg, *preset, *help;
    uint64_t least, most;
    size_t offset;
    enum option_kind kind;
};
/* By the table's order; i < OPTIONS_N. */
const struct option *option_at(uint32_t i);

/* argv: what follows `sheaf serve`. envp: ends in NULL. SHEAF_VALIDATION with a message that names
 * the flag, the variable or the line of the file, and what to do; an unknown name brings the
 * nearest one. DynamoDB Local's flags (-inMemory, -port 8000, …) are understood. */
SHEAF_NODISCARD sheaf_rc options_read(struct arena *arena, int argc, char *const argv[],
                                      char *const envp[], struct server_options *out,
                                      sheaf_error *err);
/* Whether nobody but this machine can reach the address: 127.0.0.0/8, ::1, localhost. */
bool options_is_loopback(const char *host);

/* Whether it may stand for a region in ARNs: [a-z0-9-]{1,32}. */
bool options_is_region(span text);

/* `sheaf help serve`. */
void options_help(FILE *to);

#endif
