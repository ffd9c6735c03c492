/* api/api.h: what the files of the public API share.
 *
 * Layer rule: api includes core, client, ops, value and base, and the public headers. It turns C
 * structs into core requests and outcomes into results; it decides nothing. A handle runs its
 * requests in core, or through the client on a server: same requests, same outcomes.
 */
#ifndef API_API_H
#define API_API_H

#include "base/err.h"
#include "client/client.h"
#include "core/core.h"

#include <pthread.h>
#include <sheaf/sheaf.h>

enum { API_ITEM_BYTES_MAX = 16 << 20 }; /* of a request's item, encoded */

struct sheaf_db {
    struct core *core;       /* NULL: a remote handle */
    struct client *remote;   /* NULL: an embedded one */
    struct api_clock *clock; /* NULL: the system's */
    enum sheaf_durability durability;
    struct api_worker *worker; /* background thread; NULL: none */
    /* Held shared by every call under way, so that closing waits for them. */
    pthread_rwlock_t in_use;
};

/* ---- the background thread (db.c) ---- */

/* How long it rests behind a round that took so long: as long as it takes to let at most 40,000
 * items expire in a second, so that foreground work has the engine to itself in between. With
 * nothing more to do twenty times the round, at least half a second and at most ten. */
uint32_t api_rest_ms(const struct core_background *did, uint64_t took_ns);

/* ---- items (item.c, view.c) ---- */

/* A map, list or set that was read, as the getters see it. `item` and `list` are what the caller
 * holds; their impl_ points back here. Strings get their NUL and numbers their digits once, when
 * first asked for. */
struct api_view {
    sheaf_item item;
    sheaf_list list;
    val v;
    uint32_t place;      /* among the items of its result */
    struct arena *arena; /* the result's; a result is used by one thread at a time */
    sheaf_attr *cache;   /* one per entry; value.type SHEAF_NONE: not looked at yet */
};
/* NULL when memory is out. v: M, L or a set. */
struct api_view *api_view_new(struct arena *arena, val v);
/* A copy of a value as getters hand it out; everything of it lies in the arena. false: no memory. */
bool api_copy_value(struct arena *arena, val v, sheaf_value *out);
/* NULL for an absent item (p == NULL) or when memory is out. */
const sheaf_item *api_item_view(struct arena *arena, span item);

/* Any item to an encoded one, in the context's arena. NULL is SHEAF_VALIDATION with `what` named.
 */
SHEAF_NODISCARD sheaf_rc api_encode_item(struct ctx *c, const sheaf_item *item, const char *what,
                                         span *item_out);
/* One value into a builder. */
void api_put_value(struct vb *b, const sheaf_value *v);
/* ExpressionAttributeNames and ExpressionAttributeValues; either may be NULL. */
SHEAF_NODISCARD sheaf_rc api_env(struct ctx *c, const struct sheaf_name *names,
                                 const sheaf_item *values, struct expr_env **env_out);
/* NULL stays p == NULL. */
static inline span api_text(const char *s) { return s ? span_cstr(s) : SPAN_NONE; }

/* ---- results (result.c) ---- */

struct sheaf_result {
    struct arena arena;
    sheaf_error spare; /* detail when the caller named no error */
    struct ctx ctx;
    bool is_done;  /* committed: whatever comes after, the call has happened */
    bool is_short; /* memory ran out while the answer was filled in */
    const sheaf_item *item;
    const sheaf_item **items;
    const char **item_tables;
    size_t n_items;
    uint64_t matched, scanned;
    const sheaf_item *last_key;
    struct {
        size_t table, key;
    } * unprocessed;
    size_t n_unprocessed;
    struct sheaf_reason *reasons;
    size_t n_reasons;
    struct sheaf_capacity *capacity;
    size_t n_capacity;
    struct {
        const sheaf_item *key;
        uint64_t bytes;
    } * metrics;
    size_t n_metrics;
    struct sheaf_table_description *table;
    const char **names;
    size_t n_names;
    const char *last_name;
    struct sheaf_stream_description *streams;
    size_t n_streams;
    struct sheaf_shard_description *shards;
    size_t n_shards;
    struct sheaf_stream_record *records;
    size_t n_records;
    const char *iterator;
    const char *json; /* of sheaf_call */
    struct sheaf_collection *collections;
    size_t n_collections;
    /* The arena's first bytes: an ordinary request and its answer fit. Not zeroed. */
    _Alignas(16) uint8_t room[4096];
};

/* Begins a call: a new result whose arena holds the request as well. NULL when memory is out (then
 * *err says so, and there is nothing to finish). */
sheaf_result *api_begin(sheaf_db *db, sheaf_error *err);
/* Waits for durability, of a refusal's reason too (a position of 0 waits for nothing), then hands
 * the result over or frees it.
 * Returns rc, or the failure to get durable; SHEAF_NOMEM for an answer that lacks parts, unless the
 * call has committed. */
sheaf_rc api_finish(sheaf_db *db, sheaf_result *r, sheaf_rc rc, sheaf_position position,
                    sheaf_result **result_out);

/* NUL-terminated copies; NULL stays NULL, "" when memory is out. */
const char *api_cstr(sheaf_result *r, span s);
/* Memory ran out while filling: SHEAF_NOMEM. The error is left alone, for it may tell of a failed
 * condition; api_finish judges. */
sheaf_rc api_short(sheaf_result *r);
/* After the core call of a write or a schema change: nothing but durability can fail it now. */
static inline void api_done(sheaf_result *r, sheaf_rc rc) { r->is_done = rc == SHEAF_OK; }
/* Fills the parts of a result from an outcome; SHEAF_NOMEM when that fails. */
SHEAF_NODISCARD sheaf_rc api_set_items(sheaf_result *r, const span *items, uint32_t n);
SHEAF_NODISCARD sheaf_rc api_set_capacity(sheaf_result *r, const struct core_capacity *c,
                                          uint32_t n);
SHEAF_NODISCARD sheaf_rc api_set_metrics(sheaf_result *r, const struct core_metrics *m, uint32_t n);

/* SHEAF_VALIDATION when a list of n members is not there; `what` names it. */
SHEAF_NODISCARD sheaf_rc api_need_list(struct ctx *c, const void *list, size_t n, const char *what);
/* The room at the end of a frozen struct: SHEAF_VALIDATION when it is used. */
SHEAF_NODISCARD sheaf_rc api_need_zero(struct ctx *c, const void *const room[2], const char *what);
/* Copies a request of the caller's size into one of ours; SHEAF_VALIDATION when the caller knows
 * members that this library does not and uses them. */
SHEAF_NODISCARD sheaf_rc api_take(void *to, size_t to_n, const void *from, size_t from_n,
                                  sheaf_error *err);
/* The error pointer is at a fixed place, so that it can be used before the request is taken whole.
 */
#define API_ERROR(q, size)                                                                         \
    ((q) && (size) >= offsetof(__typeof__(*(q)), error) + sizeof((q)->error) ? (q)->error : NULL)

/* What every call with a NULL handle answers. */
sheaf_rc api_no_handle(sheaf_error *err);

/* The head of every call: q is the request of our size, r the result to be; c its context. */
#define API_BEGIN(T)                                                                               \
    struct T whole, *q = &whole;                                                                   \
    if (result_out) *result_out = NULL;                                                            \
    if (!db) return api_no_handle(API_ERROR(given, size));                                         \
    sheaf_result *r = api_begin(db, API_ERROR(given, size));                                       \
    if (!r) return SHEAF_NOMEM;                                                                    \
    struct ctx *c = &r->ctx;                                                                       \
    sheaf_position position = 0;                                                                   \
    sheaf_rc rc;                                                                                   \
    TRY_OUT(api_take(q, sizeof *q, given, size, c->err))
/* Runs a request where the handle has its data. A branch that always falls the same way and a direct
 * call: cheaper than a table of functions, and both sides are checked by the compiler. */
#define API_RUN(db, call, ...)                                                                     \
    ((db)->core ? core_##call((db)->core, __VA_ARGS__) : client_##call((db)->remote, __VA_ARGS__))
/* A call of core whose refusal ends the call; the outcome says what to wait for either way. */
#define API_CORE(call, outcome)                                                                    \
    do {                                                                                           \
        rc = (call);                                                                               \
        position = (outcome).position;                                                             \
        if (rc != SHEAF_OK) goto out;                                                              \
    } while (0)

#endif
