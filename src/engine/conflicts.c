/* Turns keys into stripes and stripes into "may commit". Know before editing: eng_reads_add runs
 * without the commit mutex and must not look at the stripes' positions. */
#include "engine/conflicts.h"

#include "base/hash.h"
#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>

sheaf_rc eng_conflicts_init(struct eng_conflicts *c, uint32_t n_stripes, sheaf_error *err)
{
    uint32_t n = n_stripes ? n_stripes : ENG_STRIPES;
    *c = (struct eng_conflicts){0};
    if (n > ENG_STRIPES_MAX || (n & (n - 1)) != 0)
        return err_validation(err, "the number of stripes must be a power of two up to %d",
                              ENG_STRIPES_MAX);
    c->last = mem_zalloc(n * sizeof *c->last);
    if (!c->last) return err_nomem(err);
    c->mask = n - 1;
    return SHEAF_OK;
}

void eng_conflicts_deinit(struct eng_conflicts *c)
{
    mem_free(c->last);
    *c = (struct eng_conflicts){0};
}

/* The two parts are hashed apart, so that nobody has to join them. */
static uint32_t stripe(const struct eng_conflicts *c, const void *p, span s)
{
    uint64_t h = XXH3_64bits(p, SHEAF_PLACE_BYTES) * 0x9E3779B97F4A7C15u;
    if (s.n) h += XXH3_64bits(s.p, s.n);
    return (uint32_t)(h >> 32) & c->mask;
}

void eng_reads_init(struct eng_reads *r)
{
    *r = (struct eng_reads){.cap = sizeof r->few / sizeof r->few[0]};
}

void eng_reads_deinit(struct eng_reads *r)
{
    mem_free(r->stripes);
    eng_reads_init(r);
}

void eng_reads_start(struct eng_reads *r, sheaf_position begin)
{
    assert(!r->has_begun && r->n == 0);
    r->has_begun = true;
    r->begin = begin;
}

static uint32_t *stripes_of(struct eng_reads *r) { return r->stripes ? r->stripes : r->few; }

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void forget_doubles(struct eng_reads *r)
{
    uint32_t *s = stripes_of(r), kept = 0;
    qsort(s, r->n, sizeof *s, by_number);
    for (uint32_t i = 0; i < r->n; i++)
        if (i == 0 || s[i] != s[kept - 1]) s[kept++] = s[i];
    r->n = kept;
}

/* Grows up to twice the number of stripes; from there on at least half of a full array are doubles,
 * so that the array never grows further and the sorting is paid by the adds between. */
static bool make_room(struct eng_reads *r, uint32_t n_stripes)
{
    if (r->cap >= 2 * n_stripes) {
        forget_doubles(r);
        assert(r->n <= n_stripes);
        return true;
    }
    uint32_t *grown = mem_realloc(r->stripes, (size_t)r->cap * 2 * sizeof *grown);
    if (!grown) return false;
    if (!r->stripes) memcpy(grown, r->few, r->n * sizeof *grown);
    r->stripes = grown;
    r->cap *= 2;
    return true;
}

sheaf_rc eng_reads_add(struct eng_reads *r, const struct eng_conflicts *c,
                       const sheaf_engine_key *key, sheaf_error *err)
{
    assert(r->has_begun);
    uint32_t mine = stripe(c, key->p.b, key->s);
    uint32_t *s = stripes_of(r);
    if (r->n > 0 && s[r->n - 1] == mine) return SHEAF_OK;
    if (r->n == r->cap) {
        if (!make_room(r, c->mask + 1)) return err_nomem(err);
        s = stripes_of(r);
    }
    assert(r->n < r->cap);
    s[r->n++] = mine;
    return SHEAF_OK;
}

bool eng_conflicts_check(const struct eng_conflicts *c, const struct eng_reads *r)
{
    if (r->n == 0) return true;
    assert(r->has_begun);
    if (c->floor > r->begin) return false;
    const uint32_t *s = r->stripes ? r->stripes : r->few;
    for (uint32_t i = 0; i < r->n; i++)
        if (c->last[s[i]] > r->begin) return false;
    return true;
}

void eng_conflicts_stamp(struct eng_conflicts *c, span key, sheaf_position position)
{
    assert(key.n >= SHEAF_PLACE_BYTES);
    uint32_t mine = stripe(c, key.p, span_from(key, SHEAF_PLACE_BYTES));
    assert(c->last[mine] <= position);
    c->last[mine] = position;
}

void eng_conflicts_stamp_all(struct eng_conflicts *c, sheaf_position position)
{
    assert(c->floor <= position);
    c->floor = position;
}
