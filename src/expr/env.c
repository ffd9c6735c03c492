/* Turns the placeholders of a request into names and values. Know before editing: a request may
 * bring as many placeholders as fit into 16 MB, so nothing here may be quadratic: expr_env_check
 * sorts them, lookups halve. */
#include "expr/expr.h"

#include "base/limits.h"
#include "expr/parse.h"

#include <assert.h>

/* ---- sorting: heap sort, because it takes no memory and has no bad inputs ---- */

struct rows {
    uint8_t *p;
    size_t size; /* of one; its first member is the placeholder */
};

_Static_assert(offsetof(struct expr_name, placeholder) == 0 &&
                   offsetof(struct expr_value, placeholder) == 0,
               "rows are sorted by their first member");

static span key_of(const struct rows *r, size_t i) { return *(const span *)(r->p + i * r->size); }

static void swap(const struct rows *r, size_t i, size_t j)
{
    uint8_t t[64];
    assert(r->size <= sizeof t);
    memcpy(t, r->p + i * r->size, r->size);
    memcpy(r->p + i * r->size, r->p + j * r->size, r->size);
    memcpy(r->p + j * r->size, t, r->size);
}

static void sift(const struct rows *r, size_t root, size_t n)
{
    for (size_t child; (child = 2 * root + 1) < n; root = child) {
        if (child + 1 < n && span_cmp(key_of(r, child), key_of(r, child + 1)) < 0) child++;
        if (span_cmp(key_of(r, root), key_of(r, child)) >= 0) return;
        swap(r, root, child);
    }
}

static void sort(const struct rows *r, size_t n)
{
    for (size_t i = n / 2; i-- > 0;) sift(r, i, n);
    for (size_t i = n; i-- > 1;) {
        swap(r, 0, i);
        sift(r, 0, i);
    }
}

/* The index of the placeholder, or n. */
static size_t find(const struct rows *r, size_t n, span placeholder, bool is_sorted)
{
    size_t low = 0, high = n;
    while (is_sorted && low < high) {
        size_t middle = low + (high - low) / 2;
        int c = span_cmp(key_of(r, middle), placeholder);
        if (c == 0) return middle;
        if (c < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = 0; !is_sorted && i < n; i++) {
        if (span_eq(key_of(r, i), placeholder)) return i;
    }
    return n;
}

struct expr_name *expr_env_name(const struct expr_env *env, span placeholder)
{
    if (!env || !env->n_names) return NULL;
    struct rows r = {(uint8_t *)env->names, sizeof *env->names};
    size_t i = find(&r, env->n_names, placeholder, env->is_sorted);
    return i < env->n_names ? &env->names[i] : NULL;
}

struct expr_value *expr_env_value(const struct expr_env *env, span placeholder)
{
    if (!env || !env->n_values) return NULL;
    struct rows r = {(uint8_t *)env->values, sizeof *env->values};
    size_t i = find(&r, env->n_values, placeholder, env->is_sorted);
    return i < env->n_values ? &env->values[i] : NULL;
}

/* ---- checks ---- */

#define NAMES "ExpressionAttributeNames"
#define VALUES "ExpressionAttributeValues"

/* The sign, then one or more letters, digits and _. */
static bool is_well_formed(span key, char sign)
{
    const char *p = key.p;
    if (key.n < 2 || p[0] != sign) return false;
    for (size_t i = 1; i < key.n; i++) {
        char c = p[i];
        bool is_good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!is_good && c != '_') return false;
    }
    return true;
}

/* The service tells the size of a long key for names and not for values. */
static sheaf_rc check_key(const char *map, char sign, span key, sheaf_error *err)
{
    if (key.n == 0)
        return err_validation(err,
                              "%s contains invalid key: The expression attribute map contains an "
                              "empty key;",
                              map);
    if (key.n > LIMIT_PLACEHOLDER_BYTES) {
        static const char what[] = "The expression attribute map contains a key that is too long;";
        if (sign == '#')
            return err_validation(err, "%s contains invalid key: %s size of key: %zu", map, what,
                                  key.n);
        return err_validation(err, "%s contains invalid key: %s", map, what);
    }
    if (!is_well_formed(key, sign))
        return err_validation(err, "%s contains invalid key: Syntax error; key: \"%.*s\"", map,
                              SPAN_ARG(key));
    return SHEAF_OK;
}

/* Keys, in the order given, then duplicates once the rows are sorted. */
static sheaf_rc check_keys(const struct rows *r, size_t n, const char *map, char sign,
                           sheaf_error *err)
{
    for (size_t i = 0; i < n; i++) TRY(check_key(map, sign, key_of(r, i), err));
    sort(r, n);
    for (size_t i = 1; i < n; i++) {
        if (span_eq(key_of(r, i - 1), key_of(r, i)))
            return err_validation(err, "%s contains invalid key: Duplicate key; key: \"%.*s\"", map,
                                  SPAN_ARG(key_of(r, i)));
    }
    return SHEAF_OK;
}

static sheaf_rc check_names(const struct expr_env *env, sheaf_error *err)
{
    struct rows r = {(uint8_t *)env->names, sizeof *env->names};
    TRY(check_keys(&r, env->n_names, NAMES, '#', err));
    for (uint32_t i = 0; i < env->n_names; i++) {
        const struct expr_name *row = &env->names[i];
        if (row->name.n == 0)
            return err_validation(
                err, NAMES " contains invalid value: Empty attribute name for key %.*s",
                SPAN_ARG(row->placeholder));
        if (row->name.n > LIMIT_ATTRIBUTE_NAME_BYTES)
            return err_validation(err,
                                  NAMES " contains invalid value: Attribute name is too large, "
                                        "must be less than 65536 bytes for key %.*s",
                                  SPAN_ARG(row->placeholder));
    }
    return SHEAF_OK;
}

static sheaf_rc check_values(const struct expr_env *env, sheaf_error *err)
{
    struct rows r = {(uint8_t *)env->values, sizeof *env->values};
    TRY(check_keys(&r, env->n_values, VALUES, ':', err));
    uint64_t total = 0;
    for (uint32_t i = 0; i < env->n_values; i++) {
        assert(!val_is_absent(env->values[i].value));
        total += val_size(env->values[i].value);
    }
    if (total > LIMIT_PLACEHOLDER_VALUES_BYTES)
        return err_validation(err, VALUES " exceeds the maximum allowed size of %d bytes",
                              LIMIT_PLACEHOLDER_VALUES_BYTES);
    return SHEAF_OK;
}

sheaf_rc expr_env_check(struct expr_env *env, sheaf_error *err)
{
    assert((env->names || !env->n_names) && (env->values || !env->n_values));
    if (env->has_names && !env->n_names) return err_validation(err, NAMES " must not be empty");
    if (env->n_names) TRY(check_names(env, err));
    if (env->has_values && !env->n_values) return err_validation(err, VALUES " must not be empty");
    if (env->n_values) TRY(check_values(env, err));
    env->is_sorted = true;
    return SHEAF_OK;
}

/* ---- what no expression used ---- */

/* " {#a, #b}" into the fixed text that a message holds; returns whether there was any. */
struct unused {
    char text[400];
    size_t n;
    bool is_any;
};

static void add_unused(struct unused *u, span placeholder)
{
    size_t need = placeholder.n + (u->is_any ? 2 : 0);
    assert(u->n <= sizeof u->text);
    u->is_any = true;
    if (need > sizeof u->text - u->n) return; /* the message would be cut there anyway */
    if (u->n) {
        memcpy(u->text + u->n, ", ", 2);
        u->n += 2;
    }
    memcpy(u->text + u->n, placeholder.p, placeholder.n);
    u->n += placeholder.n;
}

static sheaf_rc report(const struct unused *u, const char *map, sheaf_error *err)
{
    assert(u->is_any);
    return err_validation(err, "Value provided in %s unused in expressions: keys: {%.*s}", map,
                          (int)u->n, u->text);
}

sheaf_rc expr_env_check_unused(const struct expr_env *env, sheaf_error *err)
{
    struct unused names, values; /* their texts are written before they are read */
    names.n = values.n = 0;
    names.is_any = values.is_any = false;
    for (uint32_t i = 0; i < env->n_names; i++) {
        if (!env->names[i].is_used) add_unused(&names, env->names[i].placeholder);
    }
    if (names.is_any) return report(&names, NAMES, err);
    for (uint32_t i = 0; i < env->n_values; i++) {
        if (!env->values[i].is_used) add_unused(&values, env->values[i].placeholder);
    }
    return values.is_any ? report(&values, VALUES, err) : SHEAF_OK;
}
