/* Turns a walk over a database into lines for a person. Used by the command line on a directory of
 * its own, and by the server on the one it has open. */
#include "server/server.h"

struct walk {
    server_line_fn line;
    void *ctx;
    uint64_t complaints;
};

static bool complain(void *ctx, const char *what)
{
    struct walk *w = ctx;
    w->complaints++;
    w->line(w->ctx, what);
    return true;
}

/* What there is, for the closing line. */
static sheaf_rc count(sheaf_db *db, uint64_t *tables_out, uint64_t *items_out, sheaf_error *err)
{
    struct sheaf_list_tables q = {.error = err};
    char after[256] = "";
    *tables_out = *items_out = 0;
    do {
        sheaf_result *names;
        q.exclusive_start_table_name = *after ? after : NULL;
        sheaf_rc rc = sheaf_list_tables(db, &q, &names);
        if (rc != SHEAF_OK) return rc;
        for (size_t i = 0; i < sheaf_result_name_count(names); i++) {
            sheaf_result *table = NULL;
            struct sheaf_table_name one = {.table = sheaf_result_name(names, i)};
            if (sheaf_describe_table(db, &one, &table) == SHEAF_OK)
                *items_out += sheaf_result_table(table)->item_count;
            ++*tables_out;
            sheaf_result_free(table);
        }
        const char *last = sheaf_result_last_name(names);
        snprintf(after, sizeof after, "%s", last ? last : "");
        sheaf_result_free(names);
    } while (*after);
    return SHEAF_OK;
}

sheaf_rc server_verify(sheaf_db *db, server_line_fn line, void *ctx, sheaf_error *err)
{
    struct walk w = {line, ctx, 0};
    uint64_t tables, items;
    char text[160];
    sheaf_rc rc = sheaf_verify(db, complain, &w, err);
    if (rc != SHEAF_OK && rc != SHEAF_CORRUPT) return rc;
    sheaf_rc counted = count(db, &tables, &items, rc == SHEAF_OK ? err : NULL);
    if (counted != SHEAF_OK && rc == SHEAF_OK) return counted;
    if (counted != SHEAF_OK)
        snprintf(text, sizeof text, "disagreements %llu", (unsigned long long)w.complaints);
    else
        snprintf(text, sizeof text, "tables %llu, items %llu, disagreements %llu",
                 (unsigned long long)tables, (unsigned long long)items,
                 (unsigned long long)w.complaints);
    line(ctx, text);
    return rc;
}
