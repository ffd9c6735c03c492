/* Turns tables, items and records into engine keys and stored values. Know before editing: every
 * byte here is format; a change needs a
 * new format number and a way to read the old one. */
#include "core/rows.h"

#include "base/limits.h"
#include "core/state.h"

#include <assert.h>

/* Sort bytes with room for `tie` at the end, in the arena. */
static sheaf_rc finish_key(struct ctx *c, struct buf *s, sheaf_engine_key *key)
{
    if (s->failed) return err_nomem(c->err);
    key->s = buf_span(s);
    return SHEAF_OK;
}

sheaf_rc row_item_key(struct core *core, struct ctx *c, const struct table *t, val hash, val range,
                      sheaf_engine_key *key_out)
{
    assert(hash.p && (range.p != NULL) == t->has_range);
    struct buf s;
    buf_init(&s, c->arena, LIMIT_ENGINE_KEY_BYTES);
    key_out->p = key_place(core_secret(core), t->space, 1, &hash);
    if (t->has_range) key_put_sort(&s, range);
    return finish_key(c, &s, key_out);
}

/* All attributes of a key schema; false when one is missing or cannot be a key: an item that was
 * there before the index may have such, and stays out of it. */
static bool take_attributes(const struct core_key *keys, uint32_t n, uint32_t max_bytes, val item,
                            val out[4])
{
    for (uint32_t i = 0; i < n; i++) {
        out[i] = val_find(item, keys[i].name);
        if (val_type(out[i]) != keys[i].type) return false;
        span bytes = val_bytes(out[i]);
        if (bytes.n == 0 || bytes.n > max_bytes) return false;
    }
    return true;
}

sheaf_rc row_index_key(struct core *core, struct ctx *c, const struct table *t,
                       const struct table_index *x, val item, sheaf_engine_key *key_out,
                       bool *has_entry_out)
{
    val hash[4], range[4];
    *has_entry_out = false;
    *key_out = (sheaf_engine_key){.s = SPAN_NONE};
    if (!take_attributes(x->def.hash, x->def.n_hash, LIMIT_PARTITION_KEY_BYTES, item, hash))
        return SHEAF_OK;
    if (!take_attributes(x->def.range, x->def.n_range, LIMIT_SORT_KEY_BYTES, item, range))
        return SHEAF_OK;
    struct buf s;
    buf_init(&s, c->arena, LIMIT_ENGINE_KEY_BYTES);
    key_out->p = key_place(core_secret(core), x->space, x->def.n_hash, hash);
    for (uint32_t i = 0; i < x->def.n_range; i++) key_put_sort(&s, range[i]);
    uint8_t tie[KEY_HASH_BYTES];
    key_tie(core_secret(core), table_hash_of(t, item), table_range_of(t, item), tie);
    buf_put(&s, tie, sizeof tie);
    *has_entry_out = true;
    return finish_key(c, &s, key_out);
}

static bool is_key_name(const struct table *t, const struct table_index *x, span name)
{
    if (span_eq(name, t->hash.name) || (t->has_range && span_eq(name, t->range.name))) return true;
    for (uint32_t i = 0; i < x->def.n_hash; i++)
        if (span_eq(name, x->def.hash[i].name)) return true;
    for (uint32_t i = 0; i < x->def.n_range; i++)
        if (span_eq(name, x->def.range[i].name)) return true;
    return false;
}

bool row_index_has(const struct table *t, const struct table_index *x, span name)
{
    if (x->def.projection == CORE_PROJECT_ALL || is_key_name(t, x, name)) return true;
    if (x->def.projection == CORE_PROJECT_INCLUDE)
        for (uint32_t i = 0; i < x->def.n_include; i++)
            if (span_eq(name, x->def.include[i])) return true;
    return false;
}

sheaf_rc row_index_value(struct ctx *c, const struct table *t, const struct table_index *x,
                         span item, span *value_out)
{
    if (x->def.projection == CORE_PROJECT_ALL) {
        *value_out = item;
        return SHEAF_OK;
    }
    val m = item_map(item);
    struct vb b;
    vb_init(&b, c, item.n + 64);
    vb_map_begin(&b);
    for (uint32_t i = 0, n = val_count(m); i < n; i++) {
        span name = val_name_at(m, i);
        if (!row_index_has(t, x, name)) continue;
        vb_name(&b, name);
        vb_raw(&b, val_at(m, i));
    }
    vb_end(&b);
    return vb_finish_item(&b, value_out);
}

void row_stats_key(const struct table *t, uint64_t space, const sheaf_place *place,
                   uint8_t s_out[8], sheaf_engine_key *key_out)
{
    static const uint8_t whole[16];
    cat_number_bytes(space, s_out);
    *key_out = (sheaf_engine_key){sheaf_place_make(t->stats_space, place ? place->b + 8 : whole),
                                  SPAN(s_out, 8)};
}

sheaf_place row_shard_place(const struct table_stream *stream, uint32_t shard)
{
    uint8_t hash[16] = {0};
    for (int i = 0; i < 4; i++) hash[i] = (uint8_t)(shard >> (24 - 8 * i));
    return sheaf_place_make(stream->space, hash);
}

uint32_t row_shard_of(const sheaf_place *item_place)
{
    _Static_assert(STREAM_SHARDS == 4, "two bits of the hash choose the shard");
    return item_place->b[8] >> 6;
}

sheaf_rc row_ttl_key(struct core *core, struct ctx *c, const struct table *t, int64_t seconds,
                     val hash, val range, sheaf_engine_key *key_out)
{
    assert(seconds >= 0 && t->ttl_space);
    uint8_t *s = arena_bytes(c->arena, 8 + KEY_HASH_BYTES);
    if (!s) return err_nomem(c->err);
    cat_number_bytes((uint64_t)seconds, s);
    key_tie(core_secret(core), hash, range, s + 8);
    uint8_t bucket[16] = {0};
    bucket[0] = s[8] & (TTL_BUCKETS - 1);
    *key_out =
        (sheaf_engine_key){sheaf_place_make(t->ttl_space, bucket), SPAN(s, 8 + KEY_HASH_BYTES)};
    return SHEAF_OK;
}

sheaf_place row_ttl_place(const struct table *t, uint32_t bucket)
{
    uint8_t hash[16] = {0};
    hash[0] = (uint8_t)bucket;
    return sheaf_place_make(t->ttl_space, hash);
}
