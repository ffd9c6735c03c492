/* The floor of Sheaf, for authors of engines: a customer and three orders in one place, newest
 * first. Programs that store items want hello.c. */
#include <sheaf/sys/engine.h>
#include <stdio.h>
#include <string.h>

/* P places, S orders: everything about customer 123 shares a place. (A table will hash here.) */
static sheaf_engine_key key(const char *sort)
{
    static const uint8_t customer[16] = "CUSTOMER#123";
    return (sheaf_engine_key){sheaf_place_make(1, customer), {sort, strlen(sort)}};
}

/* Runs in a transaction, again from the start after a conflict. */
static sheaf_rc put_all(void *ctx, sheaf_txn *t, sheaf_error *err)
{
    const char *(*rows)[2] = ctx;
    for (; (*rows)[0]; rows++) {
        sheaf_engine_key k = key((*rows)[0]);
        struct sheaf_span value = {(*rows)[1], strlen((*rows)[1])};
        if (t->ops->put(t, &k, value, err) != SHEAF_OK) return err->rc;
    }
    return SHEAF_OK;
}

static sheaf_rc print_newest_first(sheaf_engine *e, sheaf_error *err)
{
    sheaf_txn *t;
    sheaf_cursor *c = NULL;
    sheaf_rc rc = e->ops->begin(e, SHEAF_TXN_SNAPSHOT, &t, err);
    if (rc != SHEAF_OK) return rc;
    struct sheaf_row row;
    bool more = true;
    rc = e->ops->range(t, &(struct sheaf_range){.p = key("").p, .is_reverse = true}, &c, err);
    while (rc == SHEAF_OK && (rc = e->ops->next(c, &row, &more, err)) == SHEAF_OK && more)
        printf("%-18.*s %.*s\n", (int)row.key.s.n, (const char *)row.key.s.p, (int)row.value.n,
               (const char *)row.value.p);
    if (c) e->ops->cursor_close(c);
    e->ops->rollback(t);
    return rc;
}

int main(void)
{
    const char *rows[][2] = {{"A", "customer Ada Lovelace"},
                             {"#ORDER#2020-12-06", "total 129.99"},
                             {"#ORDER#2020-11-25", "total 12.00"},
                             {"#ORDER#2020-12-01", "total 5.49"},
                             {NULL, NULL}};
    sheaf_error err;
    sheaf_engine *e = NULL;
    sheaf_rc rc = sheaf_engine_open_mem(NULL, &e, &err);
    if (rc == SHEAF_OK) rc = sheaf_engine_run(e, put_all, rows, NULL, NULL, &err);
    if (rc == SHEAF_OK) rc = print_newest_first(e, &err);
    if (rc != SHEAF_OK) fprintf(stderr, "%s: %s\n", err.exception, err.message);
    sheaf_engine_close(e);
    return rc != SHEAF_OK;
}
