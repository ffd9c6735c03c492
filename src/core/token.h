/* core/token.h: rows that remember a request: what a client asked under its token, and that a
 * commit of unknown outcome took effect.
 *
 * Layer rule: internal to core.
 *
 * Both live in SPACE_TOKENS for ten minutes; the background trims them (token_is_expired).
 *
 *      key    hash of the token; S: 'c' and the client's text, or 'i' and 16 random bytes
 *      value  | time, microseconds, 8 bytes big-endian | fingerprint of the request, 16 bytes |
 *
 * An internal token is written only on engines that may answer SHEAF_UNKNOWN_OUTCOME: those that
 * are shared or behind a network.
 */
#ifndef CORE_TOKEN_H
#define CORE_TOKEN_H

#include "core/state.h"

enum { TOKEN_VALUE_BYTES = 24, TOKEN_CLIENT_MAX = 36 };
#define TOKEN_LIFE_US (INT64_C(600) * 1000000)

struct token {
    bool is_used;
    sheaf_engine_key key; /* S lies in the arena */
    uint8_t fingerprint[KEY_HASH_BYTES];
};

/* A new one that settles unknown outcomes; unused when the engine knows no such. */
SHEAF_NODISCARD sheaf_rc token_internal(struct core *core, struct ctx *c, struct token *out);
/* The client's. The fingerprint is of what it asked. */
SHEAF_NODISCARD sheaf_rc token_of_client(struct core *core, struct ctx *c, span text,
                                         const struct core_write *writes, uint32_t n,
                                         struct token *out);
/* For the run loop; NULL when unused. */
static inline const sheaf_engine_key *token_key(const struct token *t)
{
    return t->is_used ? &t->key : NULL;
}
/* Whether the run loop found the token instead of a clean commit. Then an earlier attempt took
 * effect, whatever a later one, which ran after that had landed, thought of the item. */
bool token_has_settled(const struct token *t, const struct sheaf_run_result *result);
/* Puts its row; nothing when unused. */
SHEAF_NODISCARD sheaf_rc token_write(struct core *core, struct ctx *c, sheaf_txn *txn,
                                     const struct token *t);
/* Whether a stored value (p == NULL: none) is too old to count. */
bool token_is_expired(span value, int64_t now_us);
/* Whether it stands for the same request; the value is there and not expired. */
bool token_is_same(const struct token *t, span value);

#endif
