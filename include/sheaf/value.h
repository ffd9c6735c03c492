/* <sheaf/value.h>: attribute values and items, for writing and for reading.
 *
 * Layer rule: includes <sheaf/error.h> and <sheaf/span.h> only.
 *
 * WRITING  Literals: SHEAF_ITEM({"PK", sheaf_s("CUSTOMER#1")}, {"total", sheaf_n("129.99")}). A
 * literal lives until the end of the
 * enclosing block and belongs inside the call that uses it; what is kept longer is built with
 * sheaf_item_new() … sheaf_item_free().
 * The library keeps nothing of a request after the call returns.
 *
 * READING  An item read is borrowed from its result and valid until sheaf_result_free. Getters give
 * NULL (or false) when the
 * attribute is absent or of another type. One thread at a time per result.
 */
#ifndef SHEAF_VALUE_H
#define SHEAF_VALUE_H

#include <sheaf/error.h>
#include <sheaf/span.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum sheaf_type {
    SHEAF_NONE,
    SHEAF_S,
    SHEAF_N,
    SHEAF_B,
    SHEAF_BOOL,
    SHEAF_NULL,
    SHEAF_M,
    SHEAF_L,
    SHEAF_SS,
    SHEAF_NS,
    SHEAF_BS
} sheaf_type;

/* Text with its length; NUL-terminated after n as a courtesy when the library hands it out. */
typedef struct sheaf_str {
    const char *p;
    size_t n;
} sheaf_str;

typedef struct sheaf_item sheaf_item;
typedef struct sheaf_list sheaf_list;

/* One value. Make it with the functions below. */
typedef struct sheaf_value {
    sheaf_type type;
    bool boolean;
    char reserved_[3];
    union {
        const void *p; /* S, N, B: bytes; n == SIZE_MAX: a NUL-terminated string */
        const sheaf_item *map;
        const sheaf_list *list; /* of L, SS, NS, BS */
        int64_t i64;            /* N with n == SHEAF_N_INT64_ */
    } u;
    size_t n;
} sheaf_value;

typedef struct sheaf_attr {
    const char *name;
    sheaf_value value;
} sheaf_attr;

/* An item: a literal or built one has attrs, one read from a result has impl_. Only the functions
 * below look inside. */
struct sheaf_item {
    const sheaf_attr *attrs;
    size_t n;
    const void *impl_;
};
struct sheaf_list {
    const sheaf_value *values;
    size_t n;
    const void *impl_;
};

#define SHEAF_N_INT64_ (SIZE_MAX - 1)

static inline sheaf_value sheaf_make_(sheaf_type t, const void *p, size_t n)
{
    sheaf_value v;
    v.type = t;
    v.boolean = false;
    v.reserved_[0] = v.reserved_[1] = v.reserved_[2] = 0;
    v.u.p = p;
    v.n = n;
    return v;
}
static inline sheaf_value sheaf_s(const char *text) { return sheaf_make_(SHEAF_S, text, SIZE_MAX); }
static inline sheaf_value sheaf_sn(const char *text, size_t n)
{
    return sheaf_make_(SHEAF_S, text, n);
}
/* A number by its digits: "129.99", "-1E-130". */
static inline sheaf_value sheaf_n(const char *digits)
{
    return sheaf_make_(SHEAF_N, digits, SIZE_MAX);
}
static inline sheaf_value sheaf_int(int64_t i)
{
    sheaf_value v = sheaf_make_(SHEAF_N, NULL, SHEAF_N_INT64_);
    v.u.i64 = i;
    return v;
}
static inline sheaf_value sheaf_b(const void *p, size_t n) { return sheaf_make_(SHEAF_B, p, n); }
static inline sheaf_value sheaf_bool(bool b)
{
    sheaf_value v = sheaf_make_(SHEAF_BOOL, NULL, 0);
    v.boolean = b;
    return v;
}
static inline sheaf_value sheaf_null(void) { return sheaf_make_(SHEAF_NULL, NULL, 0); }
static inline sheaf_value sheaf_m(const sheaf_item *map) { return sheaf_make_(SHEAF_M, map, 0); }
static inline sheaf_value sheaf_l(const sheaf_list *list) { return sheaf_make_(SHEAF_L, list, 0); }
/* Sets: a list of strings, numbers or binaries without duplicates. */
static inline sheaf_value sheaf_ss(const sheaf_list *list)
{
    return sheaf_make_(SHEAF_SS, list, 0);
}
static inline sheaf_value sheaf_ns(const sheaf_list *list)
{
    return sheaf_make_(SHEAF_NS, list, 0);
}
static inline sheaf_value sheaf_bs(const sheaf_list *list)
{
    return sheaf_make_(SHEAF_BS, list, 0);
}

#ifndef __cplusplus
#define SHEAF_ITEM(...)                                                                            \
    (&(const sheaf_item){(const sheaf_attr[]){__VA_ARGS__},                                        \
                         sizeof((const sheaf_attr[]){__VA_ARGS__}) / sizeof(sheaf_attr), NULL})
#define SHEAF_LIST(...)                                                                            \
    (&(const sheaf_list){(const sheaf_value[]){__VA_ARGS__},                                       \
                         sizeof((const sheaf_value[]){__VA_ARGS__}) / sizeof(sheaf_value), NULL})
#endif

#ifdef SHEAF_SHORT_NAMES
#define S(text) sheaf_s(text)
#define N(digits) sheaf_n(digits)
#define B(p, n) sheaf_b((p), (n))
#endif

/* ---- building what outlives a block ---- */

/* An empty item on the heap; NULL when memory is out. Add to it, use it wherever a const sheaf_item
 * * is taken, free it. */
SHEAF_API sheaf_item *sheaf_item_new(void);
SHEAF_API void sheaf_item_free(sheaf_item *item);
/* Adds or replaces; name and value are copied, documents included. What was got from the item
 * before (strings, maps, lists) is no longer valid after a set or unset that replaces. */
SHEAF_API sheaf_rc sheaf_item_set(sheaf_item *item, const char *name,
                                  sheaf_value value) SHEAF_NODISCARD;
SHEAF_API sheaf_rc sheaf_item_unset(sheaf_item *item, const char *name) SHEAF_NODISCARD;
/* A copy of any item (literal, built or read) that the caller owns. */
SHEAF_API sheaf_item *sheaf_item_dup(const sheaf_item *item);

/* ---- reading ---- */

SHEAF_API sheaf_type sheaf_item_type(const sheaf_item *item, const char *name);
/* Any value, borrowed. false when absent. */
SHEAF_API bool sheaf_item_get(const sheaf_item *item, const char *name, sheaf_value *value_out);
/* S as a C string, NULL when absent, no string, or holding a NUL (then use sheaf_item_str). */
SHEAF_API const char *sheaf_item_s(const sheaf_item *item, const char *name);
SHEAF_API sheaf_str sheaf_item_str(const sheaf_item *item, const char *name);
/* N as its digits: canonical ones of an item that was read or built; of a literal the text that was
 * given, and NULL for sheaf_int, which has none (use sheaf_item_i64). */
SHEAF_API const char *sheaf_item_n(const sheaf_item *item, const char *name);
/* N as int64: true only when the number is that integer exactly. */
SHEAF_API bool sheaf_item_i64(const sheaf_item *item, const char *name, int64_t *out);
/* N as the nearest double; *is_exact_out (may be NULL) tells whether it is the same number. */
SHEAF_API bool sheaf_item_double(const sheaf_item *item, const char *name, double *out,
                                 bool *is_exact_out);
SHEAF_API struct sheaf_span sheaf_item_b(const sheaf_item *item, const char *name);
SHEAF_API bool sheaf_item_bool(const sheaf_item *item, const char *name, bool *out);
SHEAF_API const sheaf_item *sheaf_item_m(const sheaf_item *item, const char *name);
/* L, SS, NS or BS. */
SHEAF_API const sheaf_list *sheaf_item_l(const sheaf_item *item, const char *name);

/* By place. Of an item that was read: in the order of the names' bytes; of a literal: as written; of
 * a built one: as added, but an unset moves the last attribute into the gap. */
SHEAF_API size_t sheaf_item_count(const sheaf_item *item);
SHEAF_API bool sheaf_item_at(const sheaf_item *item, size_t i, sheaf_attr *attr_out);
SHEAF_API size_t sheaf_list_count(const sheaf_list *list);
SHEAF_API bool sheaf_list_at(const sheaf_list *list, size_t i, sheaf_value *value_out);

/* What a value got from an item says; the same rules as above. */
SHEAF_API sheaf_str
sheaf_value_str(const sheaf_value *v); /* S: text; N: digits, for values that were read */
SHEAF_API bool sheaf_value_i64(const sheaf_value *v, int64_t *out);
SHEAF_API bool sheaf_value_double(const sheaf_value *v, double *out, bool *is_exact_out);

/* AWS's size of an item in bytes; 0 when it is not a valid item. */
SHEAF_API size_t sheaf_item_size(const sheaf_item *item);

#ifdef __cplusplus
}
#endif
#endif
