/* Turns tokens and requests into rows of SPACE_TOKENS. Know before editing: the fingerprint covers
 * every part of every action, each with its length, so that two requests never share one by moving
 * bytes from one part to the next. */
#include "core/token.h"

#include "base/rng.h"
#include "core/rows.h"

#include <assert.h>

static void put_be(uint8_t *to, uint64_t x)
{
    for (int i = 0; i < 8; i++) to[i] = (uint8_t)(x >> (56 - 8 * i));
}

/* The place comes from the same bytes as S. */
static sheaf_rc make_key(struct core *core, struct ctx *c, char kind, span text, struct token *out)
{
    uint8_t *s = arena_bytes(c->arena, text.n + 1);
    if (!s) return err_nomem(c->err);
    s[0] = (uint8_t)kind;
    memcpy(s + 1, text.p, text.n);
    span whole = SPAN(s, text.n + 1);
    uint8_t hash[KEY_HASH_BYTES];
    key_digest(core_secret(core), 1, &whole, hash);
    out->key = (sheaf_engine_key){sheaf_place_make(SPACE_TOKENS, hash), whole};
    out->is_used = true;
    return SHEAF_OK;
}

sheaf_rc token_internal(struct core *core, struct ctx *c, struct token *out)
{
    uint8_t random[16];
    *out = (struct token){.is_used = false};
    if (!core->caps.is_shared && !core->caps.may_block) return SHEAF_OK;
    if (!rng_secret(random, sizeof random))
        return err_set(c->err, SHEAF_IO, "the system has no randomness for a token");
    return make_key(core, c, 'i', SPAN(random, sizeof random), out);
}

/* ---- fingerprints ---- */

static size_t count_parts(const struct core_write *writes, uint32_t n)
{
    size_t parts = 0;
    for (uint32_t i = 0; i < n; i++)
        parts += 7 + 2 * ((size_t)writes[i].env->n_names + writes[i].env->n_values);
    return parts;
}

/* Absent and empty are not the same. */
static span *put_part(span *to, span part)
{
    static const char absent[] = "\xff"
                                 "absent";
    *to++ = part.p ? part : SPAN(absent, sizeof absent);
    return to;
}

static span *put_write(span *to, const struct core_write *w, const uint8_t *kind)
{
    const struct expr_env *env = w->env;
    to = put_part(to, SPAN(kind, 4));
    to = put_part(to, w->table);
    to = put_part(to, w->item);
    to = put_part(to, w->update);
    to = put_part(to, w->condition);
    for (uint32_t i = 0; i < env->n_names; i++) {
        to = put_part(to, env->names[i].placeholder);
        to = put_part(to, env->names[i].name);
    }
    to = put_part(to, SPAN_LIT("values"));
    for (uint32_t i = 0; i < env->n_values; i++) {
        to = put_part(to, env->values[i].placeholder);
        to = put_part(to, SPAN(env->values[i].value.p, env->values[i].value.n));
    }
    return to;
}

sheaf_rc token_of_client(struct core *core, struct ctx *c, span text,
                         const struct core_write *writes, uint32_t n, struct token *out)
{
    *out = (struct token){.is_used = false};
    if (!text.p) return SHEAF_OK;
    size_t max = count_parts(writes, n);
    span *parts = ARENA_ARRAY(c->arena, span, max);
    uint8_t *kinds = arena_bytes(c->arena, 4 * (size_t)n);
    if (!parts || !kinds) return err_nomem(c->err);
    span *to = parts;
    for (uint32_t i = 0; i < n; i++) {
        assert(writes[i].env->is_sorted); /* the order of placeholders is no part of a request */
        const uint8_t kind[4] = {(uint8_t)writes[i].action, writes[i].wants_old_on_failure, 0, 0};
        memcpy(kinds + 4 * (size_t)i, kind, 4);
        to = put_write(to, &writes[i], kinds + 4 * (size_t)i);
    }
    assert((size_t)(to - parts) <= max);
    key_digest(core_secret(core), (size_t)(to - parts), parts, out->fingerprint);
    return make_key(core, c, 'c', text, out);
}

/* ---- rows ---- */

sheaf_rc token_write(struct core *core, struct ctx *c, sheaf_txn *txn, const struct token *t)
{
    uint8_t value[TOKEN_VALUE_BYTES];
    if (!t->is_used) return SHEAF_OK;
    put_be(value, (uint64_t)core_now_us(core));
    memcpy(value + 8, t->fingerprint, sizeof t->fingerprint);
    return eng_put(txn, &t->key, SPAN(value, sizeof value), c->err);
}

bool token_has_settled(const struct token *t, const struct sheaf_run_result *result)
{
    static const sheaf_stamp none;
    return t->is_used && memcmp(&result->stamp, &none, sizeof none) == 0;
}

bool token_is_expired(span value, int64_t now_us)
{
    if (!value.p || value.n != TOKEN_VALUE_BYTES) return true;
    uint64_t at = 0;
    for (int i = 0; i < 8; i++) at = at << 8 | ((const uint8_t *)value.p)[i];
    return now_us - (int64_t)at >= TOKEN_LIFE_US;
}

bool token_is_same(const struct token *t, span value)
{
    assert(value.n == TOKEN_VALUE_BYTES);
    return memcmp((const uint8_t *)value.p + 8, t->fingerprint, sizeof t->fingerprint) == 0;
}
