/* Turns capacity units into heat, and, when asked to, into ProvisionedThroughputExceededException.
 *
 * Two limits, both on the core's clock: what one partition can take (3,000 read and 1,000 write
 * units per second and key, no burst), and for provisioned tables and global indexes their units,
 * with up to 300 seconds of unused ones kept, as the service does. A new table has all of its
 * burst. A local index lives on the table's throughput.
 *
 * Know before editing: a bucket that has refilled is as good as none, so keys are forgotten when
 * their seat is wanted and a second has gone by. A set whose eight keys were all used within the
 * last second forgives the fullest one its debt: memory stays bounded and errs on the side of
 * letting a request through. */
#include "core/gauges.h"

#include "base/mem.h"

#include <assert.h>

#define TABLE_EXCEEDED                                                                             \
    "The level of configured provisioned throughput for the table was exceeded. Consider "         \
    "increasing your provisioning level with the UpdateTable API."
#define INDEX_EXCEEDED                                                                             \
    "The level of configured provisioned throughput for one or more global secondary indexes of "  \
    "the table was exceeded. Consider increasing your provisioning level for the under-"           \
    "provisioned global secondary indexes with the UpdateTable API."
#define KEY_EXCEEDED                                                                               \
    "Throughput exceeds the current capacity of your table or index. DynamoDB is automatically "   \
    "scaling your table or index so please try again shortly. If exceptions persist, check if "    \
    "you have a hot key: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/"        \
    "bp-partition-key-design.html"

enum { KEY_SETS = 2048, KEY_WAYS = 8, BURST_S = 300 };
static const double key_rates[2] = {3000, 1000}; /* HEAT_READ, HEAT_WRITE */

/* Units left; below zero after a request that was larger than the whole bucket. */
struct bucket {
    double left;
    int64_t at_us;
    bool is_used;
};
struct key_bucket {
    uint8_t hash[16];
    struct bucket b;
};
struct buckets {
    struct bucket own[2]; /* of the table or index */
    double own_rate[2];   /* as of the last look: a change of the units scales what is left */
    struct key_bucket keys[KEY_SETS][KEY_WAYS];
};

void buckets_free(struct buckets *b) { mem_free(b); }

/* ---- one bucket ---- */

static void refill(struct bucket *b, double rate, double max, int64_t now_us)
{
    if (!b->is_used) *b = (struct bucket){max, now_us, true};
    int64_t elapsed = now_us - b->at_us;
    if (elapsed > 0) b->left += (double)elapsed * rate / 1e6;
    if (b->left > max) b->left = max;
    b->at_us = now_us; /* also when the clock went back */
}

/* A request larger than the bucket goes through when the bucket is full. */
static bool has(const struct bucket *b, double units, double max)
{
    return b->left >= (units < max ? units : max);
}

/* ---- keys ---- */

/* Reads and writes of a key are two keys. */
static void key_hash_of(const sheaf_place *place, int kind, uint8_t out[16])
{
    memcpy(out, place->b + 8, 16);
    out[15] = (uint8_t)((out[15] & ~1) | kind);
}

static struct bucket *key_bucket(struct buckets *all, const sheaf_place *place, int kind,
                                 int64_t now_us)
{
    uint8_t hash[16];
    key_hash_of(place, kind, hash);
    uint32_t set = ((uint32_t)hash[0] << 8 | hash[1]) % KEY_SETS;
    struct key_bucket *fullest = NULL;
    double best = 0;
    for (int way = 0; way < KEY_WAYS; way++) {
        struct key_bucket *k = &all->keys[set][way];
        if (k->b.is_used && memcmp(k->hash, hash, sizeof hash) == 0) return &k->b;
        double rate = key_rates[k->hash[15] & 1];
        double left = k->b.is_used ? (k->b.left + (double)(now_us - k->b.at_us) * rate / 1e6) / rate
                                   : 2; /* emptiest of all seats: nobody there */
        if (fullest && left <= best) continue;
        fullest = k;
        best = left;
    }
    memcpy(fullest->hash, hash, sizeof hash);
    fullest->b.is_used = false;
    return &fullest->b;
}

/* ---- a table or index ---- */

static double provisioned(const struct table *t, const struct table_index *x, int kind)
{
    if (!t->is_provisioned) return 0;
    uint64_t units = x ? (kind == HEAT_READ ? x->def.read_units : x->def.write_units)
                       : (kind == HEAT_READ ? t->read_units : t->write_units);
    return (double)units;
}

static void refill_own(struct buckets *all, int kind, double rate, int64_t now_us)
{
    struct bucket *b = &all->own[kind];
    if (b->is_used && all->own_rate[kind] != rate && all->own_rate[kind] > 0)
        b->left *= rate / all->own_rate[kind];
    all->own_rate[kind] = rate;
    refill(b, rate, rate * BURST_S, now_us);
}

/* Takes from both buckets or from none. Under the lock. */
static const char *take(struct buckets *all, const sheaf_place *place, int kind, double rate,
                        double units, int64_t now_us)
{
    struct bucket *key = place ? key_bucket(all, place, kind, now_us) : NULL;
    double max = key_rates[kind];
    if (key) refill(key, max, max, now_us);
    if (key && !has(key, units, max)) return KEY_EXCEEDED;
    if (rate > 0) {
        refill_own(all, kind, rate, now_us);
        if (!has(&all->own[kind], units, rate * BURST_S)) return TABLE_EXCEEDED;
        all->own[kind].left -= units;
    }
    if (key) key->left -= units;
    return NULL;
}

/* Back into both, as far as they hold it. Under the lock. */
static void give_back(struct buckets *all, const sheaf_place *place, int kind, double rate,
                      double units, int64_t now_us)
{
    struct bucket *key = place ? key_bucket(all, place, kind, now_us) : NULL;
    double max = key_rates[kind];
    if (key && key->is_used) key->left += units;
    if (key) refill(key, max, max, now_us);
    if (rate <= 0) return;
    all->own[kind].left += units;
    refill_own(all, kind, rate, now_us);
}

static sheaf_rc throttle(struct core *core, const struct table *t, const struct table_index *x,
                         const sheaf_place *place, int kind, double units, sheaf_error *err)
{
    if (x && x->def.is_local) x = NULL;
    struct gauge *one = gauges_of(core, t, x ? x->space : t->space);
    if (!one) return err_nomem(err);
    const char *refused = NULL;
    double rate = provisioned(t, x, kind);
    int64_t now_us = core_now_us(core);
    pthread_mutex_lock(&one->bucket_lock);
    if (!one->buckets) one->buckets = mem_zalloc(sizeof *one->buckets);
    bool is_out = !one->buckets;
    if (!is_out) refused = take(one->buckets, place, kind, rate, units, now_us);
    pthread_mutex_unlock(&one->bucket_lock);
    if (is_out) return err_nomem(err);
    if (!refused) return SHEAF_OK;
    /* A provisioned table has no automatic scaling to speak of. */
    if (t->is_provisioned) refused = x ? INDEX_EXCEEDED : TABLE_EXCEEDED;
    return err_set(err, SHEAF_THROUGHPUT_EXCEEDED, "%s", refused);
}

static sheaf_rc charge(struct core *core, const struct table *t, const struct table_index *x,
                       const struct throttle_key *key, int kind, double units, sheaf_error *err)
{
    uint64_t space = x ? x->space : t->space;
    sheaf_place place = sheaf_place_make(space, key->place.b + 8);
    assert(key->n <= 4);
    if (key->n) {
        struct gauge *one = gauges_of(core, t, space);
        if (one)
            heat_note(&one->heat, &place, &(struct heat_units){key->partition, key->n, kind, units},
                      clock_coarse_us(core->clock));
    }
    if (!core->is_throttling || units <= 0) return SHEAF_OK;
    return throttle(core, t, x, key->n ? &place : NULL, kind, units, err);
}

sheaf_rc throttle_read(struct core *core, const struct table *t, const struct table_index *x,
                       const struct throttle_key *key, double units, sheaf_error *err)
{
    return charge(core, t, x, key, HEAT_READ, units, err);
}

sheaf_rc throttle_write(struct core *core, const struct table *t, const struct table_index *x,
                        const struct throttle_key *key, double units, sheaf_error *err)
{
    return charge(core, t, x, key, HEAT_WRITE, units, err);
}

void throttle_unwrite(struct core *core, const struct table *t, const struct table_index *x,
                      const struct throttle_key *key, double units)
{
    if (!core->is_throttling || units <= 0) return;
    if (x && x->def.is_local) x = NULL;
    struct gauge *one = gauges_of(core, t, x ? x->space : t->space);
    if (!one) return;
    int64_t now_us = core_now_us(core);
    pthread_mutex_lock(&one->bucket_lock);
    if (one->buckets)
        give_back(one->buckets, key->n ? &key->place : NULL, HEAT_WRITE,
                  provisioned(t, x, HEAT_WRITE), units, now_us);
    pthread_mutex_unlock(&one->bucket_lock);
}
