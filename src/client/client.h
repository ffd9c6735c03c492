/* client/client.h: the data plane of another process. The same requests and outcomes as
 * core/core.h, run by a server that speaks DynamoDB's HTTP API: `sheaf serve`, or AWS.
 *
 * Layer rule: client includes base, value, json, auth, and of core the types of core/core.h; it
 * calls nothing of core. It is the only room that knows libcurl.
 *
 * core request ─encode→ JSON ─sign, send, retry→ JSON ─decode→ outcome
 *
 * LIFETIMES  As core's: an outcome lies in the request's arena. Its position is 0, for a server has
 * waited for durability before it answers.
 * THREADS  Every function is thread-safe but client_close.
 * ERRORS  The server's exception and message. What goes wrong on the way:
 *   RETRY_LATER      the server was not reached, or the answer to a read was lost
 *   UNKNOWN_OUTCOME  the answer to a write was lost: it happened or it did not
 *   IO               no use trying: a certificate that is not trusted, libcurl not there, a call
 *                    that was cancelled
 *   INTERNAL         an answer that cannot be read
 */
#ifndef CLIENT_CLIENT_H
#define CLIENT_CLIENT_H

#include "core/core.h"

struct client;
struct client_transport; /* client/wire.h */

/* Everything is copied. NULL and 0: the default. */
struct client_options {
    const char *url; /* http://host[:port] or https://host[:port] */
    const char *access_key_id, *secret_access_key, *session_token, *profile;
    const char *region;
    const char *ca_file; /* certificates to trust, PEM; NULL: the system's */
    uint32_t timeout_ms, max_attempts;
    struct clock_source *clock;         /* outlives the client; NULL: the system's */
    uint64_t seed;                      /* of the jitter; 0: from the kernel */
    struct client_transport *transport; /* taken over, on failure too; NULL: libcurl. For tests */
};
enum { CLIENT_TIMEOUT_MS = 30000, CLIENT_ATTEMPTS = 4 };

bool client_is_url(const char *url);
SHEAF_NODISCARD sheaf_rc client_open(const struct client_options *o, struct client **client_out,
                                     sheaf_error *err);
/* No request may be under way. Wipes the secrets. NULL is fine. */
void client_close(struct client *k);
/* Calls under way end with SHEAF_IO within about a second; later ones are not touched. */
void client_cancel(struct client *k);

/* Any operation: JSON in, JSON out, in the context's arena. A refusal with data (see core.h) leaves
 * its body in *answer_out, too. */
SHEAF_NODISCARD sheaf_rc client_call(struct client *k, struct ctx *c, span operation, span body,
                                     span *answer_out);

/* ---- core's calls ---- */

#define CLIENT_CALL(name, request, outcome)                                                        \
    SHEAF_NODISCARD sheaf_rc client_##name(struct client *k, struct ctx *c,                        \
                                           const struct request *q, struct outcome *out);
CLIENT_CALL(create_table, core_create_table, core_table_outcome)
CLIENT_CALL(update_table, core_update_table, core_table_outcome)
CLIENT_CALL(list_tables, core_list_tables, core_names_outcome)
CLIENT_CALL(write_item, core_write_item, core_write_outcome)
CLIENT_CALL(transact_write, core_transact_write, core_multi_outcome)
CLIENT_CALL(batch_write, core_batch_write, core_multi_outcome)
CLIENT_CALL(get_item, core_get_item, core_item_outcome)
CLIENT_CALL(multi_get, core_multi_get, core_items_outcome)
CLIENT_CALL(query, core_query, core_page)
CLIENT_CALL(list_streams, core_list_streams, core_streams_outcome)
CLIENT_CALL(describe_stream, core_describe_stream, core_stream_outcome)
CLIENT_CALL(get_iterator, core_get_iterator, core_iterator_outcome)
#undef CLIENT_CALL

/* Without the TTL attribute, which the operation does not tell. */
SHEAF_NODISCARD sheaf_rc client_describe_table(struct client *k, struct ctx *c, span table,
                                               struct core_table_outcome *out);
SHEAF_NODISCARD sheaf_rc client_delete_table(struct client *k, struct ctx *c, span table,
                                             struct core_table_outcome *out);
SHEAF_NODISCARD sheaf_rc client_describe_ttl(struct client *k, struct ctx *c, span table,
                                             span *attribute_out, sheaf_position *position_out);
SHEAF_NODISCARD sheaf_rc client_update_ttl(struct client *k, struct ctx *c, span table,
                                           span attribute, bool is_on,
                                           sheaf_position *position_out);
SHEAF_NODISCARD sheaf_rc client_get_records(struct client *k, struct ctx *c, span iterator,
                                            uint32_t limit, struct core_records *out);

/* What DynamoDB's API has no word for: SHEAF_UNSUPPORTED, saying what to use instead. */
SHEAF_NODISCARD sheaf_rc client_collection(struct client *k, struct ctx *c, span table, span index,
                                           span key, struct core_collection *out);
SHEAF_NODISCARD sheaf_rc client_largest(struct client *k, struct ctx *c, span table, span index,
                                        uint32_t limit, struct core_collections *out);
SHEAF_NODISCARD sheaf_rc client_hottest(struct client *k, struct ctx *c, span table, span index,
                                        uint32_t limit, struct core_collections *out);
SHEAF_NODISCARD sheaf_rc client_unsupported(sheaf_error *err, const char *what,
                                            const char *instead);

#endif
