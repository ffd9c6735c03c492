/* Turns outcomes into results that a C program reads and frees once. Know before editing:
 * everything a result points to lies in its arena, together with the request it answers. */
#include "api/api.h"

#include "base/mem.h"

#include <assert.h>

/* A page of 1 MB, its copy for the getters, and the request; a batch of 16 MB likewise. */
enum { RESULT_BYTES_MAX = 256 << 20 };

sheaf_result *api_begin(sheaf_db *db, sheaf_error *err)
{
    sheaf_result *r = mem_alloc(sizeof *r);
    if (!r) {
        (void)err_nomem(err);
        return NULL;
    }
    memset(r, 0, offsetof(struct sheaf_result, spare));
    memset(&r->ctx, 0, offsetof(struct sheaf_result, room) - offsetof(struct sheaf_result, ctx));
    arena_init_in(&r->arena, r->room, sizeof r->room, RESULT_BYTES_MAX);
    r->ctx = (struct ctx){&r->arena, err ? err : &r->spare};
    err_clear(r->ctx.err);
    pthread_rwlock_rdlock(&db->in_use);
    return r;
}

void sheaf_result_free(sheaf_result *r)
{
    if (!r) return;
    arena_deinit(&r->arena);
    mem_free(r);
}

static bool carries_data(sheaf_rc rc)
{
    return rc == SHEAF_OK || rc == SHEAF_CONDITIONAL_CHECK_FAILED ||
           rc == SHEAF_TRANSACTION_CANCELED;
}

sheaf_rc api_short(sheaf_result *r)
{
    r->is_short = true;
    return SHEAF_NOMEM;
}

/* A refusal with data stays what it is when the data could not be filled in; so does success when
 * the change has been made. Only an answer to a read is nothing without its parts. */
static sheaf_rc judge(sheaf_result *r, sheaf_rc rc)
{
    if (r->is_done) return SHEAF_OK;
    if (!r->is_short || (rc != SHEAF_OK && rc != SHEAF_NOMEM)) return rc;
    return err_nomem(r->ctx.err);
}

sheaf_rc api_finish(sheaf_db *db, sheaf_result *r, sheaf_rc rc, sheaf_position position,
                    sheaf_result **result_out)
{
    rc = judge(r, rc);
    if (position && db->durability == SHEAF_SYNC) {
        sheaf_rc synced = eng_sync(core_engine(db->core), position, r->ctx.err);
        if (synced != SHEAF_OK) rc = synced;
    }
    pthread_rwlock_unlock(&db->in_use);
    if (result_out && carries_data(rc))
        *result_out = r;
    else
        sheaf_result_free(r);
    return rc;
}

sheaf_rc api_no_handle(sheaf_error *err) { return err_validation(err, "the handle is NULL"); }

sheaf_rc api_need_list(struct ctx *c, const void *list, size_t n, const char *what)
{
    if (list || n == 0) return SHEAF_OK;
    return err_validation(c->err, "%s is NULL, but n_%s is %zu", what, what, n);
}

/* Walked as arrays, in steps of a size that programs have compiled in. */
#define FROZEN(T, n) _Static_assert(sizeof(void *) != 8 || sizeof(struct T) == (n), #T " is frozen")
FROZEN(sheaf_key, 16);
FROZEN(sheaf_name, 16);
FROZEN(sheaf_throughput, 16);
FROZEN(sheaf_index, 184);
FROZEN(sheaf_fault, 56);
FROZEN(sheaf_batch_get, 64);
FROZEN(sheaf_batch_write, 40);
FROZEN(sheaf_transact_write, 80);
FROZEN(sheaf_transact_get, 48);
#undef FROZEN

static sheaf_rc unknown_member(sheaf_error *err, const char *what)
{
    return err_validation(err,
                          "%s uses a member that this version of libsheaf does not know; update "
                          "the library",
                          what);
}

sheaf_rc api_need_zero(struct ctx *c, const void *const room[2], const char *what)
{
    return room[0] || room[1] ? unknown_member(c->err, what) : SHEAF_OK;
}

sheaf_rc api_take(void *to, size_t to_n, const void *from, size_t from_n, sheaf_error *err)
{
    memset(to, 0, to_n);
    if (!from) return err_validation(err, "The request is missing (NULL)");
    memcpy(to, from, from_n < to_n ? from_n : to_n);
    for (size_t i = to_n; i < from_n; i++)
        if (((const char *)from)[i] != 0) return unknown_member(err, "The request");
    return SHEAF_OK;
}

const char *api_cstr(sheaf_result *r, span s)
{
    if (!s.p) return NULL;
    uint8_t *p = arena_bytes(&r->arena, s.n + 1);
    if (!p) {
        (void)api_short(r);
        return "";
    }
    memcpy(p, s.p, s.n);
    p[s.n] = '\0';
    return (const char *)p;
}

/* ---- filling ---- */

sheaf_rc api_set_items(sheaf_result *r, const span *items, uint32_t n)
{
    r->items = ARENA_ARRAY(&r->arena, const sheaf_item *, n + 1);
    if (!r->items) return api_short(r);
    for (uint32_t i = 0; i < n; i++) {
        r->items[i] = api_item_view(&r->arena, items[i]);
        if (items[i].p && !r->items[i]) return api_short(r);
        if (items[i].p) ((struct api_view *)r->items[i]->impl_)->place = i;
    }
    r->n_items = n;
    return SHEAF_OK;
}

static void set_one_capacity(sheaf_result *r, const struct core_capacity *c)
{
    const char *table = api_cstr(r, c->table);
    struct sheaf_capacity whole = {.table = table, .units = c->units};
    whole.read_units = c->is_write ? 0 : c->units;
    whole.write_units = c->is_write ? c->units : 0;
    r->capacity[r->n_capacity++] = whole;
    for (uint32_t i = 0; i < c->n_arms; i++) {
        struct sheaf_capacity arm = {.table = table, .units = c->arms[i].units};
        arm.index = c->arms[i].index.p ? api_cstr(r, c->arms[i].index) : "";
        arm.read_units = c->is_write ? 0 : arm.units;
        arm.write_units = c->is_write ? arm.units : 0;
        r->capacity[r->n_capacity++] = arm;
    }
}

sheaf_rc api_set_capacity(sheaf_result *r, const struct core_capacity *c, uint32_t n)
{
    size_t total = 0;
    for (uint32_t i = 0; i < n; i++) total += c[i].table.p ? 1 + c[i].n_arms : 0;
    r->capacity = ARENA_ARRAY(&r->arena, struct sheaf_capacity, total + 1);
    if (!r->capacity) return api_short(r);
    for (uint32_t i = 0; i < n; i++)
        if (c[i].table.p) set_one_capacity(r, &c[i]);
    return SHEAF_OK;
}

sheaf_rc api_set_metrics(sheaf_result *r, const struct core_metrics *m, uint32_t n)
{
    r->metrics = arena_zalloc_array(&r->arena, n + 1u, sizeof *r->metrics);
    if (!r->metrics) return api_short(r);
    for (uint32_t i = 0; i < n; i++) {
        if (!m[i].table.p) continue;
        r->metrics[r->n_metrics].key = api_item_view(&r->arena, m[i].key);
        if (m[i].key.p && !r->metrics[r->n_metrics].key) return api_short(r);
        r->metrics[r->n_metrics++].bytes = m[i].bytes;
    }
    return SHEAF_OK;
}

/* ---- reading ---- */

bool sheaf_result_is_complete(const sheaf_result *r) { return r && !r->is_short; }

const sheaf_item *sheaf_result_item(const sheaf_result *r) { return r ? r->item : NULL; }

size_t sheaf_result_count(const sheaf_result *r) { return r ? r->n_items : 0; }

const sheaf_item *sheaf_result_at(const sheaf_result *r, size_t i)
{
    return r && i < r->n_items ? r->items[i] : NULL;
}

const char *sheaf_result_table_at(const sheaf_result *r, size_t i)
{
    return r && r->item_tables && i < r->n_items ? r->item_tables[i] : NULL;
}

uint64_t sheaf_result_matched(const sheaf_result *r) { return r ? r->matched : 0; }

uint64_t sheaf_result_scanned(const sheaf_result *r) { return r ? r->scanned : 0; }

const sheaf_item *sheaf_result_last_evaluated_key(const sheaf_result *r)
{
    return r ? r->last_key : NULL;
}

const sheaf_item *sheaf_result_next_(const sheaf_result *r, const sheaf_item *item)
{
    if (!r) return NULL;
    size_t i = item ? ((const struct api_view *)item->impl_)->place + 1 : 0;
    while (i < r->n_items && !r->items[i]) i++; /* absent ones of a TransactGetItems */
    return i < r->n_items ? r->items[i] : NULL;
}

size_t sheaf_result_unprocessed_count(const sheaf_result *r) { return r ? r->n_unprocessed : 0; }

bool sheaf_result_unprocessed_at(const sheaf_result *r, size_t i, size_t *table_out,
                                 size_t *key_out)
{
    *table_out = *key_out = 0;
    if (!r || i >= r->n_unprocessed) return false;
    *table_out = r->unprocessed[i].table;
    *key_out = r->unprocessed[i].key;
    return true;
}

/* Every list of a result is read the same way. */
#define LIST(name, member, T)                                                                      \
    size_t sheaf_result_##name##_count(const sheaf_result *r) { return r ? r->n_##member : 0; }    \
    const struct T *sheaf_result_##name(const sheaf_result *r, size_t i)                           \
    {                                                                                              \
        return r && i < r->n_##member ? &r->member[i] : NULL;                                      \
    }
LIST(reason, reasons, sheaf_reason)
LIST(capacity, capacity, sheaf_capacity)
LIST(stream, streams, sheaf_stream_description)
LIST(shard, shards, sheaf_shard_description)
LIST(record, records, sheaf_stream_record)
LIST(collection, collections, sheaf_collection)
#undef LIST

size_t sheaf_result_metrics_count(const sheaf_result *r) { return r ? r->n_metrics : 0; }

bool sheaf_result_metrics(const sheaf_result *r, size_t i, const sheaf_item **key_out,
                          uint64_t *bytes_out)
{
    *key_out = NULL;
    *bytes_out = 0;
    if (!r || i >= r->n_metrics) return false;
    *key_out = r->metrics[i].key;
    *bytes_out = r->metrics[i].bytes;
    return true;
}

const struct sheaf_table_description *sheaf_result_table(const sheaf_result *r)
{
    return r ? r->table : NULL;
}

const struct sheaf_index_description *sheaf_table_index(const struct sheaf_table_description *table,
                                                        size_t i)
{
    const struct sheaf_index_description *all = table ? table->indexes_ : NULL;
    return all && i < table->n_indexes ? &all[i] : NULL;
}

size_t sheaf_result_name_count(const sheaf_result *r) { return r ? r->n_names : 0; }

const char *sheaf_result_name(const sheaf_result *r, size_t i)
{
    return r && i < r->n_names ? r->names[i] : NULL;
}

const char *sheaf_result_last_name(const sheaf_result *r) { return r ? r->last_name : NULL; }

const char *sheaf_result_iterator(const sheaf_result *r) { return r ? r->iterator : NULL; }
