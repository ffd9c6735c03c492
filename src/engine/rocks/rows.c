/* Keeps rows by their key, in shards of equal size; which go when a shard is full is decided by a
 * clock hand: a row that was found since the hand came by last stays. Know before editing: rows.h
 * says why a row that is found is the newest; every line that takes the mutex is part of it. */
#include "engine/rocks/rows.h"

#include "base/hash.h"
#include "base/mem.h"

#include <assert.h>

enum { ROW_BYTES_USUAL = 512, PARTS_OF_A_SHARD = 8 };

static struct rocks_row_shard *shard_of(const struct rocks_rows *r, uint64_t hash)
{
    return &r->shards[hash >> 56];
}

static struct rocks_row **bucket_of(const struct rocks_rows *r, struct rocks_row_shard *s,
                                    uint64_t hash)
{
    return &s->buckets[hash & r->mask];
}

static uint64_t bytes_of(const struct rocks_row *row) { return sizeof *row + row->room; }

/* Without wasting more than half of it. */
static bool fits(const struct rocks_row *row, size_t n)
{
    enum { LITTLE = 64 };
    return n <= row->room && row->room <= 2 * n + LITTLE;
}

/* ---- life ---- */

static uint32_t buckets_for(uint64_t bytes)
{
    uint32_t n = 8;
    while (n < bytes / ROW_BYTES_USUAL && n < 1u << 20) n *= 2;
    return n;
}

sheaf_rc rocks_rows_init(struct rocks_rows *r, uint64_t max_bytes, sheaf_error *err)
{
    _Static_assert(ROCKS_ROW_SHARDS == 256, "the first byte of the hash chooses the shard");
    *r = (struct rocks_rows){.max_bytes = max_bytes / ROCKS_ROW_SHARDS};
    if (r->max_bytes == 0) return SHEAF_OK;
    uint32_t n = buckets_for(r->max_bytes);
    r->mask = n - 1;
    r->shards = mem_zalloc(ROCKS_ROW_SHARDS * sizeof *r->shards);
    if (!r->shards) return err_nomem(err);
    struct rocks_row **buckets = mem_zalloc((size_t)ROCKS_ROW_SHARDS * n * sizeof *buckets);
    for (size_t i = 0; i < ROCKS_ROW_SHARDS; i++) {
        pthread_mutex_init(&r->shards[i].mutex, NULL);
        if (buckets) r->shards[i].buckets = buckets + i * n;
    }
    return buckets ? SHEAF_OK : err_nomem(err);
}

void rocks_row_done(struct rocks_row *row)
{
    if (atomic_fetch_sub_explicit(&row->refs, 1, memory_order_acq_rel) == 1) mem_free(row);
}

/* Out of bucket and ring. Under the mutex. */
static void unlink_row(const struct rocks_rows *r, struct rocks_row_shard *s, struct rocks_row *row)
{
    struct rocks_row **at = bucket_of(r, s, row->hash);
    while (*at != row) at = &(*at)->next;
    *at = row->next;
    s->bytes -= bytes_of(row);
    if (row->newer == row) {
        s->hand = NULL;
        return;
    }
    row->newer->older = row->older;
    row->older->newer = row->newer;
    if (s->hand == row) s->hand = row->newer;
}

/* Its memory is kept for the next row, when nobody reads it and there is none kept yet. */
static void take_out(const struct rocks_rows *r, struct rocks_row_shard *s, struct rocks_row *row)
{
    unlink_row(r, s, row);
    bool is_mine = atomic_load_explicit(&row->refs, memory_order_acquire) == 1;
    if (is_mine && !s->spare)
        s->spare = row;
    else
        rocks_row_done(row);
}

void rocks_rows_deinit(struct rocks_rows *r)
{
    for (size_t i = 0; r->shards && i < ROCKS_ROW_SHARDS; i++) {
        struct rocks_row_shard *s = &r->shards[i];
        while (s->hand) take_out(r, s, s->hand);
        mem_free(s->spare);
        pthread_mutex_destroy(&s->mutex);
    }
    if (r->shards) mem_free(r->shards[0].buckets);
    mem_free(r->shards);
    *r = (struct rocks_rows){0};
}

uint64_t rocks_rows_bytes(const struct rocks_rows *r)
{
    if (!r->shards) return 0;
    uint64_t n = ROCKS_ROW_SHARDS *
                 (sizeof *r->shards + ((uint64_t)r->mask + 1) * sizeof(struct rocks_row *));
    for (size_t i = 0; i < ROCKS_ROW_SHARDS; i++) {
        pthread_mutex_lock(&r->shards[i].mutex);
        n += r->shards[i].bytes;
        pthread_mutex_unlock(&r->shards[i].mutex);
    }
    return n;
}

/* ---- reading ---- */

/* Under the mutex. */
static struct rocks_row *find(const struct rocks_rows *r, struct rocks_row_shard *s, uint64_t hash,
                              span key)
{
    struct rocks_row *row = *bucket_of(r, s, hash);
    while (row && !(row->hash == hash && span_eq(SPAN(row->bytes, row->n_key), key)))
        row = row->next;
    return row;
}

struct rocks_row *rocks_rows_find(struct rocks_rows *r, span key, struct rocks_row_miss *miss_out)
{
    *miss_out = (struct rocks_row_miss){.is_open = false};
    if (!r->shards) return NULL;
    uint64_t hash = XXH3_64bits(key.p, key.n);
    struct rocks_row_shard *s = shard_of(r, hash);
    pthread_mutex_lock(&s->mutex);
    struct rocks_row *row = find(r, s, hash, key);
    if (row && row->n_changes > 0) row = NULL;
    if (row) {
        row->is_used = true;
        atomic_fetch_add_explicit(&row->refs, 1, memory_order_relaxed);
    } else {
        *miss_out = (struct rocks_row_miss){hash, s->version, s->n_busy == 0};
    }
    pthread_mutex_unlock(&s->mutex);
    return row;
}

/* ---- putting in ---- */

static struct rocks_row *new_row(struct rocks_row *spare, span key, span value)
{
    size_t need = key.n + value.n;
    struct rocks_row *row = spare;
    if (!row || !fits(row, need)) {
        mem_free(row);
        size_t room = (need + 31) & ~(size_t)31; /* values change by a few bytes */
        row = mem_alloc(sizeof *row + room);
        if (!row) return NULL;
        row->room = (uint32_t)room;
    }
    atomic_init(&row->refs, 1);
    row->is_used = false;
    row->n_changes = 0;
    row->n_key = (uint32_t)key.n;
    row->n_value = (uint32_t)value.n;
    memcpy(row->bytes, key.p, key.n);
    if (value.n) memcpy(row->bytes + key.n, value.p, value.n);
    return row;
}

static void link_row(const struct rocks_rows *r, struct rocks_row_shard *s, struct rocks_row *row)
{
    struct rocks_row **bucket = bucket_of(r, s, row->hash), *hand = s->hand;
    row->next = *bucket;
    *bucket = row;
    s->bytes += bytes_of(row);
    if (!hand) {
        s->hand = row->older = row->newer = row;
        return;
    }
    row->newer = hand; /* right behind the hand: it comes by last */
    row->older = hand->older;
    hand->older->newer = row;
    hand->older = row;
}

/* Turns the hand until the shard is small enough. Ends, because a mark is taken off only once. */
static void make_room(const struct rocks_rows *r, struct rocks_row_shard *s)
{
    while (s->bytes > r->max_bytes) {
        struct rocks_row *row = s->hand;
        assert(row);
        s->hand = row->newer;
        if (row->is_used)
            row->is_used = false;
        else
            take_out(r, s, row);
    }
}

void rocks_rows_offer(struct rocks_rows *r, const struct rocks_row_miss *miss, span key, span value)
{
    if (!miss->is_open || key.n + value.n > r->max_bytes / PARTS_OF_A_SHARD) return;
    struct rocks_row_shard *s = shard_of(r, miss->hash);
    pthread_mutex_lock(&s->mutex);
    bool is_newest = s->version == miss->version && s->n_busy == 0;
    if (is_newest && !find(r, s, miss->hash, key)) {
        struct rocks_row *row = new_row(s->spare, key, value);
        s->spare = NULL;
        if (row) {
            row->hash = miss->hash;
            link_row(r, s, row);
            make_room(r, s);
        }
    }
    pthread_mutex_unlock(&s->mutex);
}

/* ---- writing ---- */

void rocks_rows_begin(struct rocks_rows *r, span key)
{
    if (!r->shards) return;
    uint64_t hash = XXH3_64bits(key.p, key.n);
    struct rocks_row_shard *s = shard_of(r, hash);
    pthread_mutex_lock(&s->mutex);
    s->version++;
    s->n_busy++;
    struct rocks_row *row = find(r, s, hash, key);
    if (row) row->n_changes++;
    pthread_mutex_unlock(&s->mutex);
}

/* In place, which nobody sees who has found the row before: false when somebody has, or when it
 * does not fit well. Nobody can find it under the mutex. */
static bool change(struct rocks_row *row, span value)
{
    size_t need = row->n_key + value.n;
    bool is_mine = atomic_load_explicit(&row->refs, memory_order_acquire) == 1;
    if (!value.p || !is_mine || !fits(row, need)) return false;
    if (value.n) memcpy(row->bytes + row->n_key, value.p, value.n);
    row->n_value = (uint32_t)value.n;
    return true;
}

void rocks_rows_end(struct rocks_rows *r, span key, span value)
{
    if (!r->shards) return;
    uint64_t hash = XXH3_64bits(key.p, key.n);
    struct rocks_row_shard *s = shard_of(r, hash);
    pthread_mutex_lock(&s->mutex);
    assert(s->n_busy > 0);
    s->n_busy--;
    struct rocks_row *row = find(r, s, hash, key);
    if (row && change(row, value))
        row->n_changes--;
    else if (row)
        take_out(r, s, row);
    pthread_mutex_unlock(&s->mutex);
}

void rocks_rows_forget_space(struct rocks_rows *r, const uint8_t space[8])
{
    for (size_t i = 0; r->shards && i < ROCKS_ROW_SHARDS; i++) {
        struct rocks_row_shard *s = &r->shards[i];
        pthread_mutex_lock(&s->mutex);
        s->version++;
        for (uint32_t b = 0; s->hand && b <= r->mask; b++)
            for (struct rocks_row *row = s->buckets[b], *next; row; row = next) {
                next = row->next;
                if (memcmp(row->bytes, space, 8) == 0) take_out(r, s, row);
            }
        pthread_mutex_unlock(&s->mutex);
    }
}
