/* Turns an engine into a database: its header row, its secret, its tables. Know before editing: the
 * secret decides where every row
 * lives, so it is written once, in the first commit of a new database, and never again. */
#include "base/mem.h"
#include "core/background.h"
#include "core/tables.h"

#include <assert.h>

/* 1: the first. 2: a table's row has settings and tags (table_codec.c). */
enum { FORMAT = 2 };

static const sheaf_place meta_place; /* space 0, hash 0 */

static sheaf_engine_key meta_key(const char *name)
{
    return (sheaf_engine_key){meta_place, span_cstr(name)};
}

static uint64_t load_be(span s)
{
    uint64_t x = 0;
    for (size_t i = 0; i < s.n; i++) x = x << 8 | ((const uint8_t *)s.p)[i];
    return x;
}

static sheaf_rc put_format(sheaf_txn *t, sheaf_error *err)
{
    sheaf_engine_key format = meta_key("format");
    const uint8_t version = FORMAT;
    return eng_put(t, &format, SPAN(&version, 1), err);
}

/* The header of a new database. */
static sheaf_rc create(struct core *core, sheaf_txn *t, sheaf_error *err)
{
    if (!rng_secret(core->secret.b, sizeof core->secret.b))
        return err_set(err, SHEAF_IO,
                       "the system has no randomness to make a new database's secret of");
    core->next_space = SPACE_FIRST_FREE;
    sheaf_engine_key secret = meta_key("secret"), next = meta_key("next");
    uint8_t number[8];
    cat_number_bytes(core->next_space, number);
    TRY(put_format(t, err));
    TRY(eng_put(t, &secret, SPAN(core->secret.b, sizeof core->secret.b), err));
    return eng_put(t, &next, SPAN(number, sizeof number), err);
}

static sheaf_rc check_header(struct core *core, const span values[3], sheaf_error *err)
{
    span format = values[0], secret = values[1], next = values[2];
    if (format.n != 1 || secret.n != sizeof core->secret.b || next.n != 8)
        return err_set(err, SHEAF_CORRUPT, "the database's header is damaged");
    unsigned version = *(const uint8_t *)format.p;
    if (version > FORMAT)
        return err_set(err, SHEAF_FORMAT,
                       "the database has format %u; this release reads up to %d: use a newer sheaf",
                       version, FORMAT);
    memcpy(core->secret.b, secret.p, secret.n);
    core->next_space = load_be(next);
    return SHEAF_OK;
}

static sheaf_rc open_header(void *ctx, sheaf_txn *t, sheaf_error *err)
{
    struct core *core = ctx;
    sheaf_engine_key keys[3] = {meta_key("format"), meta_key("secret"), meta_key("next")};
    span values[3];
    TRY(eng_get(t, 3, keys, values, err));
    if (!values[0].p && !values[1].p && !values[2].p) return create(core, t, err);
    TRY(check_header(core, values, err));
    /* An older one becomes a database of this release: what is older must not open it again. */
    return *(const uint8_t *)values[0].p < FORMAT ? put_format(t, err) : SHEAF_OK;
}

static sheaf_rc copy_region(struct core *core, span region, sheaf_error *err)
{
    if (!region.n) region = SPAN_LIT("us-east-1");
    core->region_text = mem_alloc(region.n + 1);
    if (!core->region_text) return err_nomem(err);
    memcpy(core->region_text, region.p, region.n);
    core->region_text[region.n] = '\0';
    core->region = SPAN(core->region_text, region.n);
    return SHEAF_OK;
}

static void deinit(struct core *core)
{
    cat_unload(core);
    lag_close(core);
    faults_close(core);
    ttl_forget_walks(core);
    pthread_rwlock_destroy(&core->catalog_lock);
    pthread_mutex_destroy(&core->background);
    pthread_mutex_destroy(&core->drops_lock);
    mem_free(core->region_text);
    mem_free(core);
}

/* Who changes a schema goes before readers that come later; as a reader never enters twice, that is
 * safe. By default readers go first, and requests that come without a pause keep every schema
 * change waiting for ever. */
static void init_catalog_lock(struct core *core)
{
    pthread_rwlockattr_t how;
    pthread_rwlockattr_init(&how);
    pthread_rwlockattr_setkind_np(&how, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&core->catalog_lock, &how);
    pthread_rwlockattr_destroy(&how);
}

sheaf_rc core_open(sheaf_engine *engine, const struct core_options *options, struct core **core_out,
                   sheaf_error *err)
{
    static const struct core_options defaults;
    const struct core_options *o = options ? options : &defaults;
    *core_out = NULL;
    struct core *core = mem_zalloc(sizeof *core);
    if (!core) return err_nomem(err);
    core->engine = engine;
    eng_caps(engine, &core->caps);
    core->clock = o->clock ? o->clock : clock_system();
    core->allow_sort_key_filter = o->allow_sort_key_filter;
    core->is_throttling = o->throttle;
    core->gsi_lag_ms = o->gsi_lag_ms;
    core->max_collection_bytes =
        o->max_collection_bytes ? o->max_collection_bytes : UINT64_C(10) << 30;
    core->seed = o->seed ? o->seed : (uint64_t)core_now_us(core);
    init_catalog_lock(core);
    pthread_mutex_init(&core->background, NULL);
    pthread_mutex_init(&core->drops_lock, NULL);
    sheaf_rc rc;
    TRY_OUT(copy_region(core, o->region, err));
    TRY_OUT(sheaf_engine_run(engine, open_header, core,
                             &(struct sheaf_run_options){.seed = core_seed(core)}, NULL, err));
    TRY_OUT(cat_load(core, err));
    TRY_OUT(tables_finish_drops(core, err));
    TRY_OUT(faults_open(core, o, err));
    TRY_OUT(lag_open(core, err));
    *core_out = core;
out:
    if (rc != SHEAF_OK) deinit(core);
    return rc;
}

void core_close(struct core *core)
{
    if (!core) return;
    sheaf_engine *engine = core->engine;
    deinit(core);
    sheaf_engine_close(engine);
}

sheaf_engine *core_engine(struct core *core) { return core->engine; }

span core_region(struct core *core) { return core->region; }

const struct key_secret *core_secret(struct core *core) { return &core->secret; }

uint64_t core_seed(struct core *core)
{
    return atomic_fetch_add_explicit(&core->seed, 1, memory_order_relaxed) | 1;
}

int64_t core_now_us(struct core *core) { return clock_now_us(core->clock); }
