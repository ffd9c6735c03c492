/* Turns the X-macro tables of src/base/limits.h and include/sheaf/error.h into docs/limits.md and
 * docs/errors.md. Know before editing: `make docs` writes the files, and the tests docs/limits and
 * docs/errors fail when they differ, so change the tables and never the pages. */
#include "base/limits.h"

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

int main(int argc, char **argv)
{
    const char *page = argc == 2 ? argv[1] : "";
    if (strcmp(page, "limits") == 0) {
        print_limits();
    } else if (strcmp(page, "errors") == 0) {
        print_errors();
    } else {
        fputs("usage: gen_docs limits|errors\n", stderr);
        return 2;
    }
    return ferror(stdout) || fflush(stdout) != 0;
}
