/* Turns the X-macro tables of src/base/limits.h, include/sheaf/error.h and src/server/options.h and the
 * shapes of src/ops into docs/limits.md, docs/errors.md, docs/operations.md and a section of
 * docs/server.md. Know before editing: `make docs` writes the files, and tests fail when they differ,
 * so change the tables and never the pages. */
#include "base/limits.h"
#include "ops/ops.h"
#include "ops/shape.h"
#include "server/options.h"

#include <inttypes.h>

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

/* ---- operations ---- */

static void print_words(const struct shape *s)
{
    for (uint32_t i = 0; s->words[i]; i++) printf("%s`%s`", i ? ", " : "one of ", s->words[i]);
}

static void print_type(const struct shape *s)
{
    static const char *const names[] = {
        [SHAPE_STRING] = "text",
        [SHAPE_BOOL] = "boolean",
        [SHAPE_INT] = "integer",
        [SHAPE_LONG] = "integer",
        [SHAPE_DOUBLE] = "number",
        [SHAPE_TIME] = "seconds since 1970",
        [SHAPE_ITEM] = "attribute values by name",
        [SHAPE_ITEMS] = "list of items",
        [SHAPE_NAMES] = "texts by name",
        [SHAPE_STRUCT] = "structure",
        [SHAPE_LIST] = "list",
        [SHAPE_MAP] = "map",
        [SHAPE_RAW] = "any",
    };
    if (s->kind == SHAPE_LIST || s->kind == SHAPE_MAP) {
        printf("%s of ", names[s->kind]);
        print_type(s->of);
        return;
    }
    if (s->kind == SHAPE_ENUM)
        print_words(s);
    else
        fputs(s->is_table && s->kind == SHAPE_STRING ? s->pattern ? "table name or ARN" : "ARN"
                                                     : names[s->kind],
              stdout);
}

static void print_bounds(const struct shape *s)
{
    const char *unit = s->kind == SHAPE_STRING                         ? " bytes"
                       : s->kind == SHAPE_LIST || s->kind == SHAPE_MAP ? " entries"
                                                                       : "";
    if (s->has_min && s->has_max)
        printf("%" PRId64 " … %" PRId64 "%s", s->min, s->max, unit);
    else if (s->has_min)
        printf("%" PRId64 " or more%s", s->min, unit);
    else if (s->has_max)
        printf("up to %" PRId64 "%s", s->max, unit);
    if (s->pattern) printf("%s`%s`", s->has_min || s->has_max ? " of " : "", s->pattern);
    if (s->kind != SHAPE_MAP || s->of->kind != SHAPE_LIST) return;
    fputs("; each list ", stdout);
    print_bounds(s->of);
}

static void print_members(const struct shape *s, const char *path);

/* The members below a structure, or below the entries of a list or map. */
static void print_below(const struct shape *s, const char *path)
{
    char deeper[256];
    const struct shape *of = s;
    snprintf(deeper, sizeof deeper, "%s", path);
    while (of->kind == SHAPE_LIST || of->kind == SHAPE_MAP) {
        size_t n = strlen(deeper);
        snprintf(deeper + n, sizeof deeper - n, "%s", of->kind == SHAPE_LIST ? "[]" : ".*");
        of = of->of;
    }
    if (of->kind == SHAPE_STRUCT) print_members(of, deeper);
}

static void print_members(const struct shape *s, const char *path)
{
    for (uint32_t i = 0; i < s->n_members; i++) {
        const struct member *m = &s->members[i];
        char name[256];
        snprintf(name, sizeof name, "%s%s%s", path, *path ? "." : "", m->name);
        printf("| `%s` | ", name);
        print_type(m->shape);
        printf(" | %s | ", m->flags & REQUIRED ? "yes" : "");
        print_bounds(m->shape);
        puts(m->flags & LEGACY ? "not built: answers ValidationException |" : " |");
        print_below(m->shape, name);
    }
}

static void print_operation(const struct op *op)
{
    printf("\n## %s\n\n", op_name(op));
    printf("Target `DynamoDB%s_20120810.%s`; %s.\n\n", op->is_streams ? "Streams" : "", op_name(op),
           op_is_write(op) ? "writes" : "reads");
    if (op->input->n_members) {
        puts("| member | type | required | bounds |\n|---|---|---|---|");
        print_members(op->input, "");
    } else {
        puts("The request has no members.");
    }
    fputs("\nAnswer: ", stdout);
    for (uint32_t i = 0; i < op->output->n_members; i++)
        printf("%s`%s`", i ? ", " : "", op->output->members[i].name);
    puts(op->output->n_members ? "." : "`{}`.");
}

static void print_link(const char *name)
{
    printf("- [%s](#", name);
    for (const char *p = name; *p; p++) putchar(*p >= 'A' && *p <= 'Z' ? *p + ('a' - 'A') : *p);
    puts(")");
}

static void print_operations(void)
{
    const struct op *op;
    puts("# Operations\n\n"
         "Written by `make docs` from the shapes in `src/ops`, the same that decode, check and\n"
         "encode every request; change those, not this page.\n\n"
         "`[]` stands for the entries of a list, `.*` for those of a map. Members that are not\n"
         "listed are skipped, as AWS does; null counts as absent. Members stand in the order in\n"
         "which their violations are told.\n");
    for (uint32_t i = 0; (op = op_at(i)); i++) print_link(op_name(op));
    for (uint32_t i = 0; (op = op_at(i)); i++) print_operation(op);
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
    } else if (strcmp(page, "operations") == 0) {
        print_operations();
    } else {
        fputs("usage: gen_docs limits|errors|operations|options\n", stderr);
        return 2;
    }
    return ferror(stdout) || fflush(stdout) != 0;
}
