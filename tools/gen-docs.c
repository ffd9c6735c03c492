/* Turns the X-macro tables of src/base/limits.h, include/sheaf/error.h and src/server/options.h into
 * docs/limits.md, docs/errors.md and a section of docs/server.md. Know before editing: `make docs`
 * writes the files, and tests fail when they differ, so change the tables and never the pages. */
#include "base/limits.h"
#include "server/options.h"

#include <sheaf/error.h>
#include <stdio.h>
#include <string.h>

static void print_limits(void)
{
    puts("# Limits\n\n"
         "Written by `make docs` from `src/base/limits.h`; change that table, not this page.\n\n"
         "| limit | value | unit | what is limited |\n|---|---:|---|---|");
#define X(name, value, unit, what) printf("| `%s` | %d | %s | %s |\n", #name, (value), unit, what);
    SHEAF_LIMITS(X)
#undef X
}

static void print_errors(void)
{
    puts(
        "# Errors\n\n"
        "Written by `make docs` from `include/sheaf/error.h`; change that table, not this page.\n\n"
        "Codes whose meaning begins with \"engine:\" stay below the API: they are replayed, or a\n"
        "DynamoDB client sees the exception named beside them.\n\n"
        "| code | exception | HTTP status | repeat? | what it means |\n|---|---|---:|---|---|");
#define X(code, name, status, again, what)                                                         \
    printf("| `SHEAF_%s` | `%s` | %d | %s | %s |\n", #code, name, status, (again) ? "yes" : "no",  \
           what);
    SHEAF_ERRORS(X)
#undef X
}

/* "--tls-cert" is SHEAF_TLS_CERT in the environment. A '|' would end a cell of the table. */
static void print_option(const char *name, const char *arg, const char *preset, const char *help)
{
    printf("| `--%s", name);
    if (*arg) putchar(' ');
    for (const char *c = arg; *c; c++) fputs(*c == '|' ? "\\|" : (char[]){*c, 0}, stdout);
    fputs("` | `SHEAF_", stdout);
    for (const char *c = name; *c; c++) putchar(*c == '-' ? '_' : *c - 'a' + 'A');
    printf("` | %s%s%s | %s |\n", *preset ? "`" : "", preset, *preset ? "`" : "", help);
}

static void print_options(void)
{
#define GROUP(title)                                                                               \
    puts("\n**" title "**\n\n| flag | environment | default | what it does |\n|---|---|---|---|");
#define X(kind, member, name, arg, preset, least, most, help) print_option(name, arg, preset, help);
    SERVER_OPTIONS(X, GROUP)
#undef X
#undef GROUP
    putchar('\n');
}

int main(int argc, char **argv)
{
    const char *page = argc == 2 ? argv[1] : "";
    if (strcmp(page, "limits") == 0) {
        print_limits();
    } else if (strcmp(page, "errors") == 0) {
        print_errors();
    } else if (strcmp(page, "options") == 0) {
        print_options();
    } else {
        fputs("usage: gen_docs limits|errors|options\n", stderr);
        return 2;
    }
    return ferror(stdout) || fflush(stdout) != 0;
}
