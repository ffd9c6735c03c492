/* Turns a command line into one of the commands. */
#include "cli/cli.h"

#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

extern char **environ;

static int serve(int argc, char **argv) { return server_main(argc, argv, environ); }

static const struct command {
    const char *name, *arguments, *what;
    int (*run)(int argc, char **argv);
    const char *more; /* `sheaf help NAME`, behind the first line; NULL: server_help */
} commands[] = {
    {"serve", "[OPTION]...", "DynamoDB's HTTP API for every AWS SDK", serve, NULL},
    {"verify", "DIR", "walk a data directory and report every disagreement", cli_verify,
     "Reads everything: items, index entries, streams, counters, and the engine's own checksums.\n"
     "When a server has the directory open, the server does it; otherwise this process opens it.\n"
     "Opening writes into the directory, so root becomes the directory's owner for it.\n"
     "The exit status is 0 when everything agrees, 1 when something does not.\n\n"
     "  sheaf verify ./sheaf-data\n"},
    {"backup", "DIR DEST", "a consistent copy of a data directory, also of a running server",
     cli_backup,
     "DEST must not exist, lies outside of DIR, and is written by the server's user when a server\n"
     "runs, else by you; root becomes DIR's owner for it. The copy is of one moment, takes little\n"
     "room while both are on one file system (files that do not change are shared), and is a data\n"
     "directory like any other:\n\n"
     "  sheaf backup ./sheaf-data /backup/monday\n"
     "  sheaf verify /backup/monday\n"
     "  sheaf serve --data /backup/monday --port 8001\n"},
    {"restore", "BACKUP DIR", "copy a backup into a new data directory and verify it", cli_restore,
     "DIR must not exist: nothing is overwritten. It appears when the copy is whole, synced and\n"
     "verified, and not before. The backup stays as it is.\n\n"
     "  sheaf restore /backup/monday ./sheaf-data\n"},
};
enum { COMMANDS_N = sizeof commands / sizeof *commands };

int cli_fail(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fputs("sheaf: ", stderr);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
    return CLI_FAILED;
}

static void print_overview(FILE *to)
{
    fputs("sheaf: the DynamoDB data model, served from this machine\n\n", to);
    for (size_t i = 0; i < COMMANDS_N; i++)
        fprintf(to, "  sheaf %-8s%-14s%s\n", commands[i].name, commands[i].arguments,
                commands[i].what);
    fputs("  sheaf help    [COMMAND]     more about a command, with examples\n"
          "  sheaf --version\n\n"
          "Begin with:\n\n"
          "  sheaf serve --memory\n"
          "  aws dynamodb list-tables --endpoint-url http://127.0.0.1:8000\n\n"
          "Any AWS SDK works: give it that endpoint, any region and any credentials.\n",
          to);
}

static const struct command *find(const char *name)
{
    for (size_t i = 0; i < COMMANDS_N; i++)
        if (strcmp(commands[i].name, name) == 0) return &commands[i];
    return NULL;
}

static int unknown(const char *name)
{
    cli_fail("there is no command '%s'; there are serve, verify, backup, restore and help", name);
    return CLI_USAGE;
}

static int help(int argc, char **argv)
{
    const struct command *c = argc > 0 ? find(argv[0]) : NULL;
    if (argc > 0 && !c) return unknown(argv[0]);
    if (!c) {
        print_overview(stdout);
    } else if (!c->more) {
        server_help(stdout);
    } else {
        printf("sheaf %s %s: %s\n\n%s", c->name, c->arguments, c->what, c->more);
    }
    return CLI_OK;
}

static bool is_help(const char *word)
{
    static const char *const words[] = {"help", "--help", "-h", "-help"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i]) == 0) return true;
    return false;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_overview(stderr);
        return CLI_USAGE;
    }
    if (is_help(argv[1])) return help(argc - 2, argv + 2);
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "version") == 0) {
        printf("sheaf %s\n", SHEAF_VERSION_TEXT);
        return CLI_OK;
    }
    const struct command *c = find(argv[1]);
    if (!c) return unknown(argv[1]);
    for (int i = 2; i < argc; i++)
        if (is_help(argv[i]) && argv[i][0] == '-') return help(1, argv + 1);
    umask(077); /* every command makes files, and they hold data */
    return c->run(argc - 2, argv + 2);
}
