/* Key attributes to places and to ordered bytes.
 *
 * THE INPUT OF THE HASH
 *      purpose u8, then for each attribute: type u8 ('S', 'N' or 'B'), length u32 little-endian,
 *      bytes (a number's are its encoding).
 *  Every part says how long it is, so that no two lists of attributes are the same input. The
 *  purpose keeps a tie apart from a place.
 *
 * Know before editing: the hash of an input, like the bytes of a sort key, is on disk in every
 * database. Neither may change without a new format version.
 */
#include "key/key.h"

#include "base/hash.h"
#include "base/limits.h"
#include "base/utf8.h"

#include <assert.h>

enum { GROUP = 8, FULL = 0xFF, PART_HEADER = 5, FIRST_POSITIVE = 0x80, END_NEGATIVE = 0x66 };
enum purpose { PURPOSE_PLACE = 'P', PURPOSE_TIE = 'T', PURPOSE_DIGEST = 'D' };

_Static_assert(KEY_SECRET_BYTES >= XXH3_SECRET_SIZE_MIN, "the hash wants a longer secret");
_Static_assert(KEY_SORT_MAX == (LIMIT_SORT_KEY_BYTES / GROUP + 1) * (GROUP + 1), "growth is 9/8");
_Static_assert(SHEAF_PLACE_BYTES + KEY_MAX_ATTRIBUTES * KEY_SORT_MAX + KEY_HASH_BYTES <=
                   LIMIT_ENGINE_KEY_BYTES,
               "four RANGE attributes and a tie fit an engine key");
_Static_assert(SHEAF_PLACE_BYTES + KEY_SORT_MAX + KEY_HASH_BYTES <= LIMIT_ENGINE_KEY_BYTES_ORDINARY,
               "one RANGE attribute and a tie fit an ordinary engine key");

/* ---- places ---- */

static uint8_t type_letter(val v)
{
    enum val_type t = val_type(v);
    assert(t == VAL_S || t == VAL_N || t == VAL_B);
    return t == VAL_S ? 'S' : t == VAL_N ? 'N' : 'B';
}

static void put_header(uint8_t to[PART_HEADER], val v, uint32_t n)
{
    to[0] = type_letter(v);
    for (int i = 0; i < 4; i++) to[1 + i] = (uint8_t)(n >> (8 * i));
}

/* Inputs that fit `room`: nearly all. Hashing bytes that lie together is twice as fast. */
static XXH128_hash_t hash_short(const struct key_secret *secret, enum purpose purpose, size_t n,
                                const val attributes[], uint8_t *room)
{
    uint8_t *to = room;
    *to++ = (uint8_t)purpose;
    for (size_t i = 0; i < n; i++) {
        span bytes = val_bytes(attributes[i]);
        put_header(to, attributes[i], (uint32_t)bytes.n);
        if (bytes.n) memcpy(to + PART_HEADER, bytes.p, bytes.n);
        to += PART_HEADER + bytes.n;
    }
    return XXH3_128bits_withSecret(room, (size_t)(to - room), secret->b, KEY_SECRET_BYTES);
}

/* The same hash of any length. */
static XXH128_hash_t hash_long(const struct key_secret *secret, enum purpose purpose, size_t n,
                               const val attributes[])
{
    XXH3_state_t state;
    XXH3_INITSTATE(&state);
    uint8_t first = (uint8_t)purpose;
    (void)XXH3_128bits_reset_withSecret(&state, secret->b, KEY_SECRET_BYTES);
    (void)XXH3_128bits_update(&state, &first, 1);
    for (size_t i = 0; i < n; i++) {
        span bytes = val_bytes(attributes[i]);
        uint8_t header[PART_HEADER];
        put_header(header, attributes[i], (uint32_t)bytes.n);
        (void)XXH3_128bits_update(&state, header, sizeof header);
        (void)XXH3_128bits_update(&state, bytes.p, bytes.n);
    }
    return XXH3_128bits_digest(&state);
}

static void put_hash(XXH128_hash_t h, uint8_t out[KEY_HASH_BYTES])
{
    XXH128_canonical_t canonical; /* big-endian: the same bytes on every machine */
    XXH128_canonicalFromHash(&canonical, h);
    _Static_assert(sizeof canonical.digest == KEY_HASH_BYTES, "128 bits");
    memcpy(out, canonical.digest, KEY_HASH_BYTES);
}

static void hash(const struct key_secret *secret, enum purpose purpose, size_t n,
                 const val attributes[], uint8_t out[KEY_HASH_BYTES])
{
    uint8_t room[640];
    size_t need = 1;
    for (size_t i = 0; i < n; i++) need += PART_HEADER + val_bytes(attributes[i]).n;
    XXH128_hash_t h = need <= sizeof room ? hash_short(secret, purpose, n, attributes, room)
                                          : hash_long(secret, purpose, n, attributes);
    put_hash(h, out);
}

void key_hash(const struct key_secret *secret, size_t n, const val attributes[],
              uint8_t out[KEY_HASH_BYTES])
{
    assert(n >= 1 && n <= KEY_MAX_ATTRIBUTES);
    hash(secret, PURPOSE_PLACE, n, attributes, out);
}

sheaf_place key_place(const struct key_secret *secret, uint64_t space, size_t n,
                      const val attributes[])
{
    uint8_t h[KEY_HASH_BYTES];
    key_hash(secret, n, attributes, h);
    return sheaf_place_make(space, h);
}

void key_tie(const struct key_secret *secret, val partition, val sort, uint8_t out[KEY_HASH_BYTES])
{
    const val attributes[2] = {partition, sort};
    hash(secret, PURPOSE_TIE, val_is_absent(sort) ? 1 : 2, attributes, out);
}

void key_digest(const struct key_secret *secret, size_t n, const span parts[],
                uint8_t out[KEY_HASH_BYTES])
{
    XXH3_state_t state;
    XXH3_INITSTATE(&state);
    uint8_t first = PURPOSE_DIGEST;
    (void)XXH3_128bits_reset_withSecret(&state, secret->b, KEY_SECRET_BYTES);
    (void)XXH3_128bits_update(&state, &first, 1);
    for (size_t i = 0; i < n; i++) {
        uint8_t length[8];
        for (int k = 0; k < 8; k++) length[k] = (uint8_t)((uint64_t)parts[i].n >> (8 * k));
        (void)XXH3_128bits_update(&state, length, sizeof length);
        if (parts[i].n) (void)XXH3_128bits_update(&state, parts[i].p, parts[i].n);
    }
    put_hash(XXH3_128bits_digest(&state), out);
}

/* ---- sort keys ---- */

/* Groups of 8 bytes and FF, and a last one of 0 … 7 bytes with its count. */
static void put_groups(struct buf *s, span v)
{
    size_t whole = v.n / GROUP, rest = v.n % GROUP, n = (whole + 1) * (GROUP + 1);
    uint8_t *to = buf_room(s, n);
    const uint8_t *from = v.p;
    if (!to) return;
    for (size_t i = 0; i < whole; i++, from += GROUP) {
        memcpy(to, from, GROUP);
        to[GROUP] = FULL;
        to += GROUP + 1;
    }
    memset(to, 0, GROUP);
    if (rest) memcpy(to, from, rest);
    to[GROUP] = (uint8_t)rest;
    s->n += n;
}

static void put_number(struct buf *s, span enc)
{
    assert(num_check(enc));
    uint8_t *to = buf_room(s, NUM_ENC_MAX + 1);
    if (!to) return;
    memcpy(to, enc.p, enc.n);
    to[enc.n] = 0;
    s->n += enc.n + (to[0] >= FIRST_POSITIVE);
}

void key_put_sort(struct buf *s, val attribute)
{
    enum val_type t = val_type(attribute);
    assert(t == VAL_S || t == VAL_N || t == VAL_B);
    if (t == VAL_N)
        put_number(s, val_bytes(attribute));
    else
        put_groups(s, val_bytes(attribute));
}

static bool is_zero(const uint8_t *p, size_t n)
{
    while (n > 0 && p[n - 1] == 0) n--;
    return n == 0;
}

/* Takes groups off *s up to the last one. */
static bool take_groups(span *s, struct buf *out)
{
    for (;;) {
        if (s->n < GROUP + 1) return false;
        const uint8_t *group = s->p;
        size_t n = group[GROUP];
        bool is_last = n != FULL;
        if (is_last && (n >= GROUP || !is_zero(group + n, GROUP - n))) return false;
        buf_put(out, group, is_last ? n : GROUP);
        *s = span_from(*s, GROUP + 1);
        if (is_last) return !out->failed;
    }
}

static bool take_number(span *s, struct buf *out)
{
    const uint8_t *b = s->p;
    if (s->n == 0) return false;
    bool is_negative = b[0] < FIRST_POSITIVE;
    size_t n = 1;
    while (n < s->n && n < NUM_ENC_MAX && b[n] != (is_negative ? END_NEGATIVE : 0)) n++;
    if (n == s->n || b[n] != (is_negative ? END_NEGATIVE : 0)) return false;
    span enc = SPAN(b, n + is_negative); /* 66 belongs to the number, 00 does not */
    if (!num_check(enc)) return false;
    buf_put_span(out, enc);
    *s = span_from(*s, n + 1);
    return !out->failed;
}

bool key_take_sort(span *s, enum val_type type, struct buf *out)
{
    assert(type == VAL_S || type == VAL_N || type == VAL_B);
    span rest = *s;
    size_t before = out->n;
    bool is_good = type == VAL_N ? take_number(&rest, out) : take_groups(&rest, out);
    if (is_good && type == VAL_S && out->n > before) {
        is_good = utf8_check(span_from(buf_span(out), before));
    }
    if (is_good)
        *s = rest;
    else
        out->n = before;
    return is_good;
}
