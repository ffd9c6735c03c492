/* tests/crash/work.c: from a number to a transaction. See work.h.
 *
 * To know before editing: writer and checker must agree, and they do because both call this. */
#include "work.h"

#include "base/err.h"
#include "base/rng.h"

#include <string.h>

enum style { PUT_ALL, DELETE_MOST, DELETE_RANGE, PUT_LARGE };

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

static enum style style_of(uint64_t n) { return (enum style)(mix(n) >> 8 & 3); }

unsigned work_group(uint64_t n) { return (unsigned)(mix(n) & (WORK_GROUPS - 1)); }

static sheaf_place place_in(uint64_t space, uint64_t what)
{
    uint8_t hash[16];
    uint64_t a = mix(what * 2 + 1), b = mix(a);
    memcpy(hash, &a, 8);
    memcpy(hash + 8, &b, 8);
    return sheaf_place_make(space, hash);
}

static sheaf_place place(uint64_t what) { return place_in(WORK_SPACE, what); }

sheaf_engine_key work_key(unsigned group, unsigned k)
{
    static const char names[WORK_KEYS][2] = {"k0", "k1", "k2", "k3", "k4", "k5"};
    return (sheaf_engine_key){.p = place(group * 2 + (k >= 3)), .s = {names[k], 2}};
}

sheaf_engine_key work_counter(void) { return (sheaf_engine_key){.p = place(1000), .s = {"", 0}}; }

sheaf_place work_log(void) { return place(2000); }

static size_t fill(uint64_t n, uint64_t salt, size_t size, uint8_t *to)
{
    struct rng r;
    rng_init(&r, n * 8 + salt);
    memcpy(to, &n, 8);
    for (size_t i = 8; i < size; i += 8) {
        uint64_t x = rng_u64(&r);
        memcpy(to + i, &x, size - i < 8 ? size - i : 8);
    }
    return size;
}

sheaf_engine_key work_catalog(void)
{
    return (sheaf_engine_key){.p = place_in(WORK_CATALOG_SPACE, 1), .s = {"live", 4}};
}

sheaf_engine_key work_row_key(uint64_t g, unsigned i)
{
    return (sheaf_engine_key){.p = place_in(work_space(g), i), .s = {"row", 3}};
}

size_t work_row(uint64_t g, unsigned i, uint8_t *to)
{
    return fill(g, 1000 + i, WORK_ROW_BYTES - i % 8, to);
}

size_t work_value(uint64_t n, unsigned k, uint8_t *to)
{
    enum style style = style_of(n);
    if (style == DELETE_MOST && k > 0) return 0;
    if (style == DELETE_RANGE && k >= 3) return 0;
    size_t size = 16 + mix(n + k) % 200;
    if (style == PUT_LARGE) size += mix(n - k) % 3000;
    /* Over a block of RocksDB's log (32 KiB), now and then. */
    if (style == PUT_LARGE && (mix(n) >> 32) % 64 == 0) size = WORK_VALUE_MAX - 16 - k;
    return fill(n, k, size, to);
}

size_t work_record(uint64_t n, uint64_t found, uint8_t *to)
{
    size_t size = fill(n, 7, WORK_RECORD_MIN + mix(n) % 64, to);
    memcpy(to + 8, &found, 8);
    return size;
}

static uint64_t word(const void *p, size_t i)
{
    uint64_t x;
    memcpy(&x, (const uint8_t *)p + 8 * i, 8);
    return x;
}

uint64_t work_number(const void *record) { return word(record, 0); }
uint64_t work_found(const void *record) { return word(record, 1); }

static sheaf_rc write_keys(sheaf_txn *t, uint64_t n, unsigned from, unsigned to, sheaf_error *err)
{
    uint8_t value[WORK_VALUE_MAX];
    for (unsigned k = from; k < to; k++) {
        sheaf_engine_key key = work_key(work_group(n), k);
        size_t size = work_value(n, k, value);
        if (size > 0)
            TRY(eng_put(t, &key, SPAN(value, size), err));
        else if (style_of(n) == DELETE_MOST)
            TRY(eng_del(t, &key, err));
        else if (k == 3)
            TRY(eng_del_range(t, &key.p, SPAN_NONE, SPAN_NONE, err));
    }
    return SHEAF_OK;
}

sheaf_rc work_write(sheaf_txn *t, uint64_t n, uint64_t found, enum work_part part, sheaf_error *err)
{
    if (part != WORK_SECOND_HALF) TRY(write_keys(t, n, 0, 3, err));
    if (part == WORK_FIRST_HALF) return SHEAF_OK;
    TRY(write_keys(t, n, 3, WORK_KEYS, err));
    const int64_t deltas[2] = {1, (int64_t)n};
    sheaf_engine_key counter = work_counter();
    TRY(eng_add(t, &counter, 2, deltas, err));
    uint8_t record[WORK_RECORD_MAX];
    sheaf_place log = work_log();
    return eng_append(t, &log, SPAN(record, work_record(n, found, record)), err);
}
