/* <sheaf/fields.h>: the field lists of <sheaf/mapper.h>. Only macros and the descriptors they make.
 *
 * Layer rule: includes <sheaf/value.h> only. Compiles alone, in C11, C++17 and C++20.
 *
 * A kind lives in one place: SHEAF_CHECK_<KIND> (what the member must be; a hard error whose text
 * names the field), SHEAF_DESC_<KIND> (its descriptor), SHEAF_KIND_<KIND> (the word in a list) and
 * a constant of enum sheaf_kind. Two doors lead to the same tables:
 *
 *   SHEAF_ENTITY(order, "Order", KEY(PK, "CUST#{customer_id}") STR(id) …)       words side by side
 *   SHEAF_ENTITY_X(order, "Order", ORDER_FIELDS)      #define ORDER_FIELDS(F) F(STR, id) F(INT, …)
 *
 * The second is for files that have macros of their own named STR, KEY or VERSION.
 *
 * HOW  SHEAF_ENTITY pastes SHEAF_KIND_ onto the first word; SHEAF_KIND_STR(id) expands to
 * `STR (id, "", ~), GO,` and so cuts itself off the rest; a ladder of macros repeats that. No macro
 * named STR is ever defined. The list is expanded twice inside a function, where a typedef of a
 * fixed name can be local: first the checks, then the descriptors, which are static const data.
 */
#ifndef SHEAF_FIELDS_H
#define SHEAF_FIELDS_H

#ifndef SHEAF_NO_SYSTEM_HEADER_
#pragma GCC system_header /* a mistake gives one line instead of the macros' backtrace */
#endif

#include <sheaf/value.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A moment, in microseconds since 1970. A struct, so that TIME and INT can be told apart. */
typedef struct sheaf_time {
    int64_t us;
} sheaf_time;
/* An entry of a MAP. */
struct sheaf_pair {
    const char *name, *value;
};

/* What a member is in the struct … */
enum sheaf_rep {
    SHEAF_REP_OTHER,
    SHEAF_REP_INT,
    SHEAF_REP_UINT,
    SHEAF_REP_F64,
    SHEAF_REP_BOOL,
    SHEAF_REP_CSTR,
    SHEAF_REP_STR,
    SHEAF_REP_CHARS, /* char[N] */
    SHEAF_REP_SPAN,
    SHEAF_REP_TIME,
    SHEAF_REP_OPT = 16 /* a pointer to one of the above: NULL is absent */
};
/* … and what it is in the item. */
enum sheaf_kind {
    SHEAF_IS_END,
    SHEAF_IS_KEY,
    SHEAF_IS_STR,
    SHEAF_IS_BYTES,
    SHEAF_IS_INT,
    SHEAF_IS_DOUBLE,
    SHEAF_IS_DECIMAL,
    SHEAF_IS_BOOL,
    SHEAF_IS_ENUM,
    SHEAF_IS_TIME,
    SHEAF_IS_EPOCH,
    SHEAF_IS_VERSION,
    SHEAF_IS_CREATED,
    SHEAF_IS_UPDATED,
    SHEAF_IS_COUNTER,
    SHEAF_IS_TTL,
    SHEAF_IS_ULID,
    SHEAF_IS_KSUID,
    SHEAF_IS_UUID,
    SHEAF_IS_NEST,
    SHEAF_IS_LIST,
    SHEAF_IS_STRS,
    SHEAF_IS_STRSET,
    SHEAF_IS_INTSET,
    SHEAF_IS_BYTESET,
    SHEAF_IS_MAP,
    SHEAF_IS_EXTRA
};
typedef struct sheaf_field {
    const char *attr;   /* attribute's name; "": the member's */
    const char *member; /* member's name; of a key: the template */
    uint16_t kind, rep;
    uint32_t offset, size, count_offset;
    uint32_t item_size; /* size of what an optional pointer or a list points to */
    const void *aux;    /* names of an enum, shape of a nested struct */
    size_t n_aux;
} sheaf_field;
typedef struct sheaf_shape {
    const char *name;
    size_t size;
    const sheaf_field *(*fields)(size_t *n_out);
    size_t field_size; /* of the sheaf_field that the program was compiled with */
} sheaf_shape;
/* Identity is by address; one definition in a program. */
typedef struct sheaf_entity {
    sheaf_shape shape;
    const char *type; /* the discriminator's value */
} sheaf_entity;
/* A struct with the entity it belongs to: SHEAF_REF(customer, .id = "123"), SHEAF_OF(order, &o). */
struct sheaf_ref {
    const sheaf_entity *entity;
    const void *value;
};
struct sheaf_ref_rw {
    const sheaf_entity *entity;
    void *value;
};

#ifdef __cplusplus
}
#endif

/* ---- the representation of a member ---- */

/* A pointer to one: the size of what it points to goes along, above the representation. */
#define SHEAF_REP_TO_(r, T) ((int)SHEAF_REP_OPT | (int)(r) | (int)(sizeof(T) << 8))

#ifndef __cplusplus
#define SHEAF_STATIC_ASSERT_ _Static_assert
/* The address is taken, so that an array does not decay into a pointer. */
#define SHEAF_REP_(T, m)                                                                           \
    _Generic(&((T *)0)->m,                                                                         \
        signed char *: SHEAF_REP_INT,                                                              \
        short *: SHEAF_REP_INT,                                                                    \
        int *: SHEAF_REP_INT,                                                                      \
        long *: SHEAF_REP_INT,                                                                     \
        long long *: SHEAF_REP_INT,                                                                \
        unsigned char *: SHEAF_REP_UINT,                                                           \
        unsigned short *: SHEAF_REP_UINT,                                                          \
        unsigned *: SHEAF_REP_UINT,                                                                \
        unsigned long *: SHEAF_REP_UINT,                                                           \
        unsigned long long *: SHEAF_REP_UINT,                                                      \
        double *: SHEAF_REP_F64,                                                                   \
        _Bool *: SHEAF_REP_BOOL,                                                                   \
        char **: SHEAF_REP_CSTR,                                                                   \
        const char **: SHEAF_REP_CSTR,                                                             \
        sheaf_str *: SHEAF_REP_STR,                                                                \
        struct sheaf_span *: SHEAF_REP_SPAN,                                                       \
        sheaf_time *: SHEAF_REP_TIME,                                                              \
        int **: SHEAF_REP_TO_(SHEAF_REP_INT, int),                                                 \
        const int **: SHEAF_REP_TO_(SHEAF_REP_INT, int),                                           \
        long **: SHEAF_REP_TO_(SHEAF_REP_INT, long),                                               \
        const long **: SHEAF_REP_TO_(SHEAF_REP_INT, long),                                         \
        long long **: SHEAF_REP_TO_(SHEAF_REP_INT, long long),                                     \
        const long long **: SHEAF_REP_TO_(SHEAF_REP_INT, long long),                               \
        short **: SHEAF_REP_TO_(SHEAF_REP_INT, short),                                             \
        const short **: SHEAF_REP_TO_(SHEAF_REP_INT, short),                                       \
        signed char **: SHEAF_REP_TO_(SHEAF_REP_INT, signed char),                                 \
        const signed char **: SHEAF_REP_TO_(SHEAF_REP_INT, signed char),                           \
        unsigned **: SHEAF_REP_TO_(SHEAF_REP_UINT, unsigned),                                      \
        const unsigned **: SHEAF_REP_TO_(SHEAF_REP_UINT, unsigned),                                \
        unsigned long **: SHEAF_REP_TO_(SHEAF_REP_UINT, unsigned long),                            \
        const unsigned long **: SHEAF_REP_TO_(SHEAF_REP_UINT, unsigned long),                      \
        unsigned long long **: SHEAF_REP_TO_(SHEAF_REP_UINT, unsigned long long),                  \
        const unsigned long long **: SHEAF_REP_TO_(SHEAF_REP_UINT, unsigned long long),            \
        unsigned short **: SHEAF_REP_TO_(SHEAF_REP_UINT, unsigned short),                          \
        const unsigned short **: SHEAF_REP_TO_(SHEAF_REP_UINT, unsigned short),                    \
        unsigned char **: SHEAF_REP_TO_(SHEAF_REP_UINT, unsigned char),                            \
        const unsigned char **: SHEAF_REP_TO_(SHEAF_REP_UINT, unsigned char),                      \
        double **: SHEAF_REP_TO_(SHEAF_REP_F64, double),                                           \
        const double **: SHEAF_REP_TO_(SHEAF_REP_F64, double),                                     \
        _Bool **: SHEAF_REP_TO_(SHEAF_REP_BOOL, _Bool),                                            \
        const _Bool **: SHEAF_REP_TO_(SHEAF_REP_BOOL, _Bool),                                      \
        sheaf_time **: SHEAF_REP_TO_(SHEAF_REP_TIME, sheaf_time),                                  \
        const sheaf_time **: SHEAF_REP_TO_(SHEAF_REP_TIME, sheaf_time),                            \
        default: _Generic(((T *)0)->m, char *: SHEAF_REP_CHARS, default: SHEAF_REP_OTHER))
#define SHEAF_IS_(T, m, U) _Generic(&((T *)0)->m, U * : 1, default : 0)
#else
#include <type_traits>
namespace sheaf
{
namespace detail
{
template <class sheaf_m_> struct scalar_rep {
    static constexpr int value =
        std::is_same<sheaf_m_, bool>::value                                  ? SHEAF_REP_BOOL
        : std::is_same<sheaf_m_, double>::value                              ? SHEAF_REP_F64
        : std::is_same<sheaf_m_, char>::value                                ? SHEAF_REP_OTHER
        : std::is_enum<sheaf_m_>::value || std::is_unsigned<sheaf_m_>::value ? SHEAF_REP_UINT
        : std::is_integral<sheaf_m_>::value                                  ? SHEAF_REP_INT
        : std::is_same<sheaf_m_, sheaf_str>::value                           ? SHEAF_REP_STR
        : std::is_same<sheaf_m_, sheaf_span>::value                          ? SHEAF_REP_SPAN
        : std::is_same<sheaf_m_, sheaf_time>::value                          ? SHEAF_REP_TIME
                                                                             : SHEAF_REP_OTHER;
};
template <class sheaf_m_> struct rep : scalar_rep<sheaf_m_> {
};
template <> struct rep<char *> {
    static constexpr int value = SHEAF_REP_CSTR;
};
template <> struct rep<const char *> {
    static constexpr int value = SHEAF_REP_CSTR;
};
template <std::size_t sheaf_n_> struct rep<char[sheaf_n_]> {
    static constexpr int value = SHEAF_REP_CHARS;
};
template <class sheaf_m_> struct rep<sheaf_m_ *> {
    static constexpr int pointed = scalar_rep<typename std::remove_const<sheaf_m_>::type>::value;
    static constexpr int value = pointed ? SHEAF_REP_TO_(pointed, sheaf_m_) : int(SHEAF_REP_OTHER);
};
} // namespace detail
} // namespace sheaf
#define SHEAF_STATIC_ASSERT_ static_assert
#define SHEAF_REP_(T, m) (::sheaf::detail::rep<decltype(T::m)>::value)
#define SHEAF_IS_(T, m, U) (::std::is_same<decltype(T::m), U>::value)
#endif

/* ---- checks: each is a hard error, its condition a name, because compilers print conditions ---- */

#define SHEAF_CHECK_(kind, ...)                                                                    \
    (void)SHEAF_IS_##kind;                                                                         \
    SHEAF_CHECK_##kind(__VA_ARGS__, "", ~)
#define SHEAF_MUST_AS_(name, what, cond)                                                           \
    enum { name = !(cond) };                                                                       \
    SHEAF_STATIC_ASSERT_(!name, what);
/* A kind's word stands beside # and ## only, here and in the helpers below: elsewhere a program's own
 * macro VERSION or STR would be expanded. */
#define SHEAF_MUST_(m, KIND, cond, what)                                                           \
    SHEAF_MUST_AS_(m##_is_not_##KIND, "sheaf: " #KIND "(" #m "): " what, cond)
#define SHEAF_REP_OF_(m) enum { m##_rep_ = (int)SHEAF_REP_(sheaf_self_, m) };
#define SHEAF_HAS_(m, r) (((int)m##_rep_ & 15) == (int)(r))
#define SHEAF_ONLY_(m, r) ((int)m##_rep_ == (int)(r))
#define SHEAF_POINTS_(m, U) (SHEAF_IS_(sheaf_self_, m, U *) || SHEAF_IS_(sheaf_self_, m, const U *))
#define SHEAF_COUNT_(m, n)                                                                         \
    SHEAF_MUST_(n, COUNT, SHEAF_IS_(sheaf_self_, n, size_t), "the count of " #m " must be size_t")

#define SHEAF_CHECK_KEY(attr, template_, ...)
#define SHEAF_CHECK_STR(m, ...)                                                                    \
    SHEAF_REP_OF_(m)                                                                               \
    SHEAF_MUST_(m, STR,                                                                            \
                SHEAF_ONLY_(m, SHEAF_REP_CSTR) || SHEAF_ONLY_(m, SHEAF_REP_STR) ||                 \
                    SHEAF_ONLY_(m, SHEAF_REP_CHARS),                                               \
                "the member must be const char *, sheaf_str or char[N]")
#define SHEAF_CHECK_BYTES(m, ...)                                                                  \
    SHEAF_REP_OF_(m)                                                                               \
    SHEAF_MUST_(m, BYTES, SHEAF_ONLY_(m, SHEAF_REP_SPAN), "the member must be struct sheaf_span")
#define SHEAF_CHECK_INT(m, ...)                                                                    \
    SHEAF_REP_OF_(m)                                                                               \
    SHEAF_MUST_(m, INT, SHEAF_HAS_(m, SHEAF_REP_INT) || SHEAF_HAS_(m, SHEAF_REP_UINT),             \
                "the member must be an integer, or a pointer to one if optional")
#define SHEAF_CHECK_DOUBLE(m, ...)                                                                 \
    SHEAF_REP_OF_(m)                                                                               \
    SHEAF_MUST_(m, DOUBLE, SHEAF_HAS_(m, SHEAF_REP_F64),                                           \
                "the member must be double, or a pointer to one if optional")
#define SHEAF_CHECK_DECIMAL(m, ...)                                                                \
    SHEAF_REP_OF_(m)                                                                               \
    SHEAF_MUST_(m, DECIMAL, SHEAF_ONLY_(m, SHEAF_REP_CSTR), "the member must be const char *")
#define SHEAF_CHECK_BOOL(m, ...)                                                                   \
    SHEAF_REP_OF_(m)                                                                               \
    SHEAF_MUST_(m, BOOL, SHEAF_HAS_(m, SHEAF_REP_BOOL),                                            \
                "the member must be bool, or a pointer to one if optional")
#define SHEAF_CHECK_ENUM(m, names, ...)                                                            \
    SHEAF_REP_OF_(m)                                                                               \
    SHEAF_MUST_(m, ENUM, SHEAF_ONLY_(m, SHEAF_REP_INT) || SHEAF_ONLY_(m, SHEAF_REP_UINT),          \
                "the member must be an enum or an integer")
#define SHEAF_CHECK_MOMENT_(m, KIND)                                                               \
    SHEAF_REP_OF_(m)                                                                               \
    SHEAF_MUST_AS_(m##_is_not_##KIND,                                                              \
                   "sheaf: " #KIND "(" #m "): "                                                    \
                   "the member must be sheaf_time, or a pointer to one if optional",               \
                   SHEAF_HAS_(m, SHEAF_REP_TIME))
#define SHEAF_CHECK_TIME(m, ...) SHEAF_CHECK_MOMENT_(m, TIME)
#define SHEAF_CHECK_EPOCH(m, ...) SHEAF_CHECK_MOMENT_(m, EPOCH)
#define SHEAF_CHECK_TTL(m, ...) SHEAF_CHECK_MOMENT_(m, TTL)
#define SHEAF_CHECK_STAMP_(m, KIND)                                                                \
    SHEAF_REP_OF_(m)                                                                               \
    SHEAF_MUST_AS_(m##_is_not_##KIND,                                                              \
                   "sheaf: " #KIND "(" #m "): "                                                    \
                   "the member must be sheaf_time",                                                \
                   SHEAF_ONLY_(m, SHEAF_REP_TIME))
#define SHEAF_CHECK_CREATED(m, ...) SHEAF_CHECK_STAMP_(m, CREATED)
#define SHEAF_CHECK_UPDATED(m, ...) SHEAF_CHECK_STAMP_(m, UPDATED)
#define SHEAF_CHECK_I64_(m, KIND)                                                                  \
    SHEAF_REP_OF_(m)                                                                               \
    SHEAF_MUST_AS_(m##_is_not_##KIND,                                                              \
                   "sheaf: " #KIND "(" #m "): "                                                    \
                   "the member must be int64_t",                                                   \
                   SHEAF_IS_(sheaf_self_, m, int64_t))
#define SHEAF_CHECK_VERSION(m, ...) SHEAF_CHECK_I64_(m, VERSION)
#define SHEAF_CHECK_COUNTER(m, ...) SHEAF_CHECK_I64_(m, COUNTER)
#define SHEAF_CHECK_ID_(m, KIND, n, text)                                                          \
    SHEAF_REP_OF_(m)                                                                               \
    SHEAF_MUST_AS_(m##_is_not_##KIND,                                                              \
                   "sheaf: " #KIND "(" #m "): "                                                    \
                   "the member must be " text,                                                     \
                   SHEAF_ONLY_(m, SHEAF_REP_CHARS) && sizeof(((sheaf_self_ *)0)->m) >= (n))
#define SHEAF_CHECK_ULID(m, ...) SHEAF_CHECK_ID_(m, ULID, 27, "char[27]")
#define SHEAF_CHECK_KSUID(m, ...) SHEAF_CHECK_ID_(m, KSUID, 28, "char[28]")
#define SHEAF_CHECK_UUID(m, ...) SHEAF_CHECK_ID_(m, UUID, 37, "char[37]")
#define SHEAF_CHECK_NEST(m, s, ...)                                                                \
    SHEAF_MUST_(m, NEST, SHEAF_IS_(sheaf_self_, m, s##_sheaf_t) || SHEAF_POINTS_(m, s##_sheaf_t),  \
                "the member must be struct " #s ", or a pointer to one if optional")
#define SHEAF_CHECK_LIST(m, n, s, ...)                                                             \
    SHEAF_MUST_(m, LIST, SHEAF_POINTS_(m, s##_sheaf_t), "the member must be a pointer to " #s)     \
    SHEAF_COUNT_(m, n)
#define SHEAF_CHECK_TEXTS_(m, n, KIND)                                                             \
    SHEAF_MUST_AS_(m##_is_not_##KIND,                                                              \
                   "sheaf: " #KIND "(" #m "): "                                                    \
                   "the member must be const char *const *",                                       \
                   SHEAF_IS_(sheaf_self_, m, const char **) ||                                     \
                       SHEAF_IS_(sheaf_self_, m, const char *const *))                             \
    SHEAF_COUNT_(m, n)
#define SHEAF_CHECK_STRS(m, n, ...) SHEAF_CHECK_TEXTS_(m, n, STRS)
#define SHEAF_CHECK_STRSET(m, n, ...) SHEAF_CHECK_TEXTS_(m, n, STRSET)
#define SHEAF_CHECK_INTSET(m, n, ...)                                                              \
    SHEAF_MUST_(m, INTSET, SHEAF_POINTS_(m, int64_t), "the member must be const int64_t *")        \
    SHEAF_COUNT_(m, n)
#define SHEAF_CHECK_BYTESET(m, n, ...)                                                             \
    SHEAF_MUST_(m, BYTESET, SHEAF_POINTS_(m, struct sheaf_span),                                   \
                "the member must be const struct sheaf_span *")                                    \
    SHEAF_COUNT_(m, n)
#define SHEAF_CHECK_MAP(m, n, ...)                                                                 \
    SHEAF_MUST_(m, MAP, SHEAF_POINTS_(m, struct sheaf_pair),                                       \
                "the member must be const struct sheaf_pair *")                                    \
    SHEAF_COUNT_(m, n)
#define SHEAF_CHECK_EXTRA(m, ...)                                                                  \
    SHEAF_MUST_(m, EXTRA, SHEAF_IS_(sheaf_self_, m, const sheaf_item *),                           \
                "the member must be const sheaf_item *")
#define SHEAF_CHECK_BAD_(...)                                                                      \
    SHEAF_STATIC_ASSERT_(0, "sheaf: no such kind of field: " #__VA_ARGS__);

/* ---- descriptors: positional, so that C++17 reads them too ---- */

#define SHEAF_DESC_(kind, ...) SHEAF_DESC_##kind(__VA_ARGS__, "", ~)
#define SHEAF_MEMBER_(m)                                                                           \
    (uint32_t) offsetof(sheaf_self_, m), (uint32_t)sizeof(((sheaf_self_ *)0)->m)
#define SHEAF_SCALAR_(KIND, m, a)                                                                  \
    {"" a,                                                                                         \
     #m,                                                                                           \
     SHEAF_IS_##KIND,                                                                              \
     (uint16_t)(m##_rep_ & 255),                                                                   \
     SHEAF_MEMBER_(m),                                                                             \
     0,                                                                                            \
     (uint32_t)m##_rep_ >> 8,                                                                      \
     NULL,                                                                                         \
     0},
#define SHEAF_MANY_(KIND, m, n, a, shape_)                                                         \
    {"" a,                                                                                         \
     #m,                                                                                           \
     SHEAF_IS_##KIND,                                                                              \
     0,                                                                                            \
     SHEAF_MEMBER_(m),                                                                             \
     (uint32_t)offsetof(sheaf_self_, n),                                                           \
     (uint32_t)sizeof(*((sheaf_self_ *)0)->m),                                                     \
     shape_,                                                                                       \
     0},
#define SHEAF_DESC_KEY(attr, template_, ...)                                                       \
    {#attr, "" template_, SHEAF_IS_KEY, 0, 0, 0, 0, 0, NULL, 0},
#define SHEAF_DESC_STR(m, a, ...) SHEAF_SCALAR_(STR, m, a)
#define SHEAF_DESC_BYTES(m, a, ...) SHEAF_SCALAR_(BYTES, m, a)
#define SHEAF_DESC_INT(m, a, ...) SHEAF_SCALAR_(INT, m, a)
#define SHEAF_DESC_DOUBLE(m, a, ...) SHEAF_SCALAR_(DOUBLE, m, a)
#define SHEAF_DESC_DECIMAL(m, a, ...) SHEAF_SCALAR_(DECIMAL, m, a)
#define SHEAF_DESC_BOOL(m, a, ...) SHEAF_SCALAR_(BOOL, m, a)
#define SHEAF_DESC_TIME(m, a, ...) SHEAF_SCALAR_(TIME, m, a)
#define SHEAF_DESC_EPOCH(m, a, ...) SHEAF_SCALAR_(EPOCH, m, a)
#define SHEAF_DESC_VERSION(m, a, ...) SHEAF_SCALAR_(VERSION, m, a)
#define SHEAF_DESC_CREATED(m, a, ...) SHEAF_SCALAR_(CREATED, m, a)
#define SHEAF_DESC_UPDATED(m, a, ...) SHEAF_SCALAR_(UPDATED, m, a)
#define SHEAF_DESC_COUNTER(m, a, ...) SHEAF_SCALAR_(COUNTER, m, a)
#define SHEAF_DESC_TTL(m, a, ...) SHEAF_SCALAR_(TTL, m, a)
#define SHEAF_DESC_ULID(m, a, ...) SHEAF_SCALAR_(ULID, m, a)
#define SHEAF_DESC_KSUID(m, a, ...) SHEAF_SCALAR_(KSUID, m, a)
#define SHEAF_DESC_UUID(m, a, ...) SHEAF_SCALAR_(UUID, m, a)
#define SHEAF_DESC_ENUM(m, names, a, ...)                                                          \
    {"" a,                                                                                         \
     #m,                                                                                           \
     SHEAF_IS_ENUM,                                                                                \
     (uint16_t)m##_rep_,                                                                           \
     SHEAF_MEMBER_(m),                                                                             \
     0,                                                                                            \
     0,                                                                                            \
     names,                                                                                        \
     sizeof(names) / sizeof((names)[0])},
#define SHEAF_DESC_NEST(m, s, a, ...)                                                              \
    {"" a,                                                                                         \
     #m,                                                                                           \
     SHEAF_IS_NEST,                                                                                \
     (uint16_t)(SHEAF_IS_(sheaf_self_, m, s##_sheaf_t) ? 0 : SHEAF_REP_OPT),                       \
     SHEAF_MEMBER_(m),                                                                             \
     0,                                                                                            \
     (uint32_t)sizeof(s##_sheaf_t),                                                                \
     &s##_shape,                                                                                   \
     0},
#define SHEAF_DESC_LIST(m, n, s, a, ...) SHEAF_MANY_(LIST, m, n, a, &s##_shape)
#define SHEAF_DESC_STRS(m, n, a, ...) SHEAF_MANY_(STRS, m, n, a, NULL)
#define SHEAF_DESC_STRSET(m, n, a, ...) SHEAF_MANY_(STRSET, m, n, a, NULL)
#define SHEAF_DESC_INTSET(m, n, a, ...) SHEAF_MANY_(INTSET, m, n, a, NULL)
#define SHEAF_DESC_BYTESET(m, n, a, ...) SHEAF_MANY_(BYTESET, m, n, a, NULL)
#define SHEAF_DESC_MAP(m, n, a, ...) SHEAF_MANY_(MAP, m, n, a, NULL)
#define SHEAF_DESC_EXTRA(m, ...) {"", #m, SHEAF_IS_EXTRA, 0, SHEAF_MEMBER_(m), 0, 0, NULL, 0},
#define SHEAF_DESC_BAD_(...)

/* ---- entities and shapes ---- */

#define SHEAF_TYPES_(name) typedef struct name name##_sheaf_t; /* may be repeated */
#define SHEAF_FIELDS_FN_(name, CHECKS, ...)                                                        \
    static const sheaf_field *name##_sheaf_fields_(size_t *n_out)                                  \
    {                                                                                              \
        typedef struct name sheaf_self_;                                                           \
        CHECKS                                                                                     \
        static const sheaf_field fields[] = {__VA_ARGS__};                                         \
        *n_out = sizeof(fields) / sizeof(fields[0]);                                               \
        return fields;                                                                             \
    }
#define SHEAF_DEFINE_ENTITY_(name, type)                                                           \
    SHEAF_ENTITY_EXTERN(name);                                                                     \
    const sheaf_entity name##_entity = {                                                           \
        {#name, sizeof(struct name), name##_sheaf_fields_, sizeof(sheaf_field)}, "" type};         \
    SHEAF_STATIC_ASSERT_(1, "") /* asks for the ; */
#define SHEAF_DEFINE_SHAPE_(name)                                                                  \
    static const sheaf_shape name##_shape = {#name, sizeof(struct name), name##_sheaf_fields_,     \
                                             sizeof(sheaf_field)}
/* In a header, for the other files of a program. */
#ifdef __cplusplus
#define SHEAF_ENTITY_EXTERN(name) SHEAF_TYPES_(name) extern "C" const sheaf_entity name##_entity
#else
#define SHEAF_ENTITY_EXTERN(name) SHEAF_TYPES_(name) extern const sheaf_entity name##_entity
#endif
#define SHEAF_ENTITY(name, type, ...)                                                              \
    SHEAF_TYPES_(name)                                                                             \
    SHEAF_FIELDS_FN_(name, SHEAF_W1(SHEAF_CHECK_, SHEAF_KIND_##__VA_ARGS__ SHEAF_END_),            \
                     SHEAF_W1(SHEAF_DESC_, SHEAF_KIND_##__VA_ARGS__ SHEAF_END_))                   \
    SHEAF_DEFINE_ENTITY_(name, type)
#define SHEAF_SHAPE(name, ...)                                                                     \
    SHEAF_TYPES_(name)                                                                             \
    SHEAF_FIELDS_FN_(name, SHEAF_W1(SHEAF_CHECK_, SHEAF_KIND_##__VA_ARGS__ SHEAF_END_),            \
                     SHEAF_W1(SHEAF_DESC_, SHEAF_KIND_##__VA_ARGS__ SHEAF_END_))                   \
    SHEAF_DEFINE_SHAPE_(name)
#define SHEAF_ENTITY_X(name, type, FIELDS)                                                         \
    SHEAF_TYPES_(name)                                                                             \
    SHEAF_FIELDS_FN_(name, FIELDS(SHEAF_CHECK_), FIELDS(SHEAF_DESC_))                              \
    SHEAF_DEFINE_ENTITY_(name, type)
#define SHEAF_SHAPE_X(name, FIELDS)                                                                \
    SHEAF_TYPES_(name)                                                                             \
    SHEAF_FIELDS_FN_(name, FIELDS(SHEAF_CHECK_), FIELDS(SHEAF_DESC_))                              \
    SHEAF_DEFINE_SHAPE_(name)

/* ---- typed use ---- */

#ifndef __cplusplus
#define SHEAF_CAST_(T, x) ((const T *)(x))
/* A hard error even without -Werror, and one that names the type it got. */
#define SHEAF_IN_(name, ...)                                                                       \
    _Generic((__VA_ARGS__), name##_sheaf_t * : (__VA_ARGS__), const name##_sheaf_t * : (__VA_ARGS__))
#define SHEAF_IO_(name, ...) _Generic((__VA_ARGS__), name##_sheaf_t * : (__VA_ARGS__))
#define SHEAF_REF(name, ...)                                                                       \
    {                                                                                              \
        &name##_entity, &(const struct name) { __VA_ARGS__ }                                       \
    }
/* Lives as long as the block it stands in; at file scope for ever. */
#define SHEAF_ENTITIES(...)                                                                        \
    (const sheaf_entity *const[]) { SHEAF_E1_(__VA_ARGS__, ) NULL }
#else
#define SHEAF_CAST_(T, x) (static_cast<const T *>(static_cast<const void *>(x)))
#define SHEAF_IN_(name, ...) (static_cast<const name##_sheaf_t *>(__VA_ARGS__))
#define SHEAF_IO_(name, ...) (static_cast<name##_sheaf_t *>(__VA_ARGS__))
#endif
#define SHEAF_OF(name, ...)                                                                        \
    {                                                                                              \
        &name##_entity, SHEAF_IO_(name, __VA_ARGS__)                                               \
    }

/* ---- the words, and the ladder that walks over them ---- */

#define SHEAF_KIND_KEY(...) KEY(__VA_ARGS__, "", ~), GO,
#define SHEAF_KIND_STR(...) STR(__VA_ARGS__, "", ~), GO,
#define SHEAF_KIND_BYTES(...) BYTES(__VA_ARGS__, "", ~), GO,
#define SHEAF_KIND_INT(...) INT(__VA_ARGS__, "", ~), GO,
#define SHEAF_KIND_DOUBLE(...) DOUBLE(__VA_ARGS__, "", ~), GO,
#define SHEAF_KIND_DECIMAL(...) DECIMAL(__VA_ARGS__, "", ~), GO,
#define SHEAF_KIND_BOOL(...) BOOL(__VA_ARGS__, "", ~), GO,
#define SHEAF_KIND_ENUM(...) ENUM(__VA_ARGS__, "", ~), GO,
#define SHEAF_KIND_TIME(...) TIME(__VA_ARGS__, "", ~), GO,
#define SHEAF_KIND_EPOCH(...) EPOCH(__VA_ARGS__, "", ~), GO,
#define SHEAF_KIND_VERSION(...) VERSION(__VA_ARGS__, "", ~), GO,
#define SHEAF_KIND_CREATED(...) CREATED(__VA_ARGS__, "", ~), GO,
#define SHEAF_KIND_UPDATED(...) UPDATED(__VA_ARGS__, "", ~), GO,
#define SHEAF_KIND_COUNTER(...) COUNTER(__VA_ARGS__, "", ~), GO,
#define SHEAF_KIND_TTL(...) TTL(__VA_ARGS__, "", ~), GO,
#define SHEAF_KIND_ULID(...) ULID(__VA_ARGS__, "", ~), GO,
#define SHEAF_KIND_KSUID(...) KSUID(__VA_ARGS__, "", ~), GO,
#define SHEAF_KIND_UUID(...) UUID(__VA_ARGS__, "", ~), GO,
#define SHEAF_KIND_NEST(...) NEST(__VA_ARGS__, "", ~), GO,
#define SHEAF_KIND_LIST(...) LIST(__VA_ARGS__, "", ~), GO,
#define SHEAF_KIND_STRS(...) STRS(__VA_ARGS__, "", ~), GO,
#define SHEAF_KIND_STRSET(...) STRSET(__VA_ARGS__, "", ~), GO,
#define SHEAF_KIND_INTSET(...) INTSET(__VA_ARGS__, "", ~), GO,
#define SHEAF_KIND_BYTESET(...) BYTESET(__VA_ARGS__, "", ~), GO,
#define SHEAF_KIND_MAP(...) MAP(__VA_ARGS__, "", ~), GO,
#define SHEAF_KIND_EXTRA(...) EXTRA(__VA_ARGS__, "", ~), GO,
#define SHEAF_KIND_SHEAF_END_ ~, STOP, ~

#define SHEAF_W1(P, ...) SHEAF_W1_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W1_(P, head, go, rest, ...) SHEAF_W1_##go(P, head, rest)
#define SHEAF_W1_GO(P, head, rest) P##head SHEAF_W2(P, SHEAF_KIND_##rest)
#define SHEAF_W1_STOP(P, head, rest)
#define SHEAF_W1_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W2(P, ...) SHEAF_W2_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W2_(P, head, go, rest, ...) SHEAF_W2_##go(P, head, rest)
#define SHEAF_W2_GO(P, head, rest) P##head SHEAF_W3(P, SHEAF_KIND_##rest)
#define SHEAF_W2_STOP(P, head, rest)
#define SHEAF_W2_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W3(P, ...) SHEAF_W3_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W3_(P, head, go, rest, ...) SHEAF_W3_##go(P, head, rest)
#define SHEAF_W3_GO(P, head, rest) P##head SHEAF_W4(P, SHEAF_KIND_##rest)
#define SHEAF_W3_STOP(P, head, rest)
#define SHEAF_W3_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W4(P, ...) SHEAF_W4_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W4_(P, head, go, rest, ...) SHEAF_W4_##go(P, head, rest)
#define SHEAF_W4_GO(P, head, rest) P##head SHEAF_W5(P, SHEAF_KIND_##rest)
#define SHEAF_W4_STOP(P, head, rest)
#define SHEAF_W4_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W5(P, ...) SHEAF_W5_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W5_(P, head, go, rest, ...) SHEAF_W5_##go(P, head, rest)
#define SHEAF_W5_GO(P, head, rest) P##head SHEAF_W6(P, SHEAF_KIND_##rest)
#define SHEAF_W5_STOP(P, head, rest)
#define SHEAF_W5_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W6(P, ...) SHEAF_W6_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W6_(P, head, go, rest, ...) SHEAF_W6_##go(P, head, rest)
#define SHEAF_W6_GO(P, head, rest) P##head SHEAF_W7(P, SHEAF_KIND_##rest)
#define SHEAF_W6_STOP(P, head, rest)
#define SHEAF_W6_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W7(P, ...) SHEAF_W7_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W7_(P, head, go, rest, ...) SHEAF_W7_##go(P, head, rest)
#define SHEAF_W7_GO(P, head, rest) P##head SHEAF_W8(P, SHEAF_KIND_##rest)
#define SHEAF_W7_STOP(P, head, rest)
#define SHEAF_W7_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W8(P, ...) SHEAF_W8_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W8_(P, head, go, rest, ...) SHEAF_W8_##go(P, head, rest)
#define SHEAF_W8_GO(P, head, rest) P##head SHEAF_W9(P, SHEAF_KIND_##rest)
#define SHEAF_W8_STOP(P, head, rest)
#define SHEAF_W8_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W9(P, ...) SHEAF_W9_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W9_(P, head, go, rest, ...) SHEAF_W9_##go(P, head, rest)
#define SHEAF_W9_GO(P, head, rest) P##head SHEAF_W10(P, SHEAF_KIND_##rest)
#define SHEAF_W9_STOP(P, head, rest)
#define SHEAF_W9_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W10(P, ...) SHEAF_W10_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W10_(P, head, go, rest, ...) SHEAF_W10_##go(P, head, rest)
#define SHEAF_W10_GO(P, head, rest) P##head SHEAF_W11(P, SHEAF_KIND_##rest)
#define SHEAF_W10_STOP(P, head, rest)
#define SHEAF_W10_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W11(P, ...) SHEAF_W11_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W11_(P, head, go, rest, ...) SHEAF_W11_##go(P, head, rest)
#define SHEAF_W11_GO(P, head, rest) P##head SHEAF_W12(P, SHEAF_KIND_##rest)
#define SHEAF_W11_STOP(P, head, rest)
#define SHEAF_W11_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W12(P, ...) SHEAF_W12_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W12_(P, head, go, rest, ...) SHEAF_W12_##go(P, head, rest)
#define SHEAF_W12_GO(P, head, rest) P##head SHEAF_W13(P, SHEAF_KIND_##rest)
#define SHEAF_W12_STOP(P, head, rest)
#define SHEAF_W12_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W13(P, ...) SHEAF_W13_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W13_(P, head, go, rest, ...) SHEAF_W13_##go(P, head, rest)
#define SHEAF_W13_GO(P, head, rest) P##head SHEAF_W14(P, SHEAF_KIND_##rest)
#define SHEAF_W13_STOP(P, head, rest)
#define SHEAF_W13_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W14(P, ...) SHEAF_W14_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W14_(P, head, go, rest, ...) SHEAF_W14_##go(P, head, rest)
#define SHEAF_W14_GO(P, head, rest) P##head SHEAF_W15(P, SHEAF_KIND_##rest)
#define SHEAF_W14_STOP(P, head, rest)
#define SHEAF_W14_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W15(P, ...) SHEAF_W15_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W15_(P, head, go, rest, ...) SHEAF_W15_##go(P, head, rest)
#define SHEAF_W15_GO(P, head, rest) P##head SHEAF_W16(P, SHEAF_KIND_##rest)
#define SHEAF_W15_STOP(P, head, rest)
#define SHEAF_W15_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W16(P, ...) SHEAF_W16_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W16_(P, head, go, rest, ...) SHEAF_W16_##go(P, head, rest)
#define SHEAF_W16_GO(P, head, rest) P##head SHEAF_W17(P, SHEAF_KIND_##rest)
#define SHEAF_W16_STOP(P, head, rest)
#define SHEAF_W16_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W17(P, ...) SHEAF_W17_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W17_(P, head, go, rest, ...) SHEAF_W17_##go(P, head, rest)
#define SHEAF_W17_GO(P, head, rest) P##head SHEAF_W18(P, SHEAF_KIND_##rest)
#define SHEAF_W17_STOP(P, head, rest)
#define SHEAF_W17_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W18(P, ...) SHEAF_W18_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W18_(P, head, go, rest, ...) SHEAF_W18_##go(P, head, rest)
#define SHEAF_W18_GO(P, head, rest) P##head SHEAF_W19(P, SHEAF_KIND_##rest)
#define SHEAF_W18_STOP(P, head, rest)
#define SHEAF_W18_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W19(P, ...) SHEAF_W19_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W19_(P, head, go, rest, ...) SHEAF_W19_##go(P, head, rest)
#define SHEAF_W19_GO(P, head, rest) P##head SHEAF_W20(P, SHEAF_KIND_##rest)
#define SHEAF_W19_STOP(P, head, rest)
#define SHEAF_W19_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W20(P, ...) SHEAF_W20_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W20_(P, head, go, rest, ...) SHEAF_W20_##go(P, head, rest)
#define SHEAF_W20_GO(P, head, rest) P##head SHEAF_W21(P, SHEAF_KIND_##rest)
#define SHEAF_W20_STOP(P, head, rest)
#define SHEAF_W20_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W21(P, ...) SHEAF_W21_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W21_(P, head, go, rest, ...) SHEAF_W21_##go(P, head, rest)
#define SHEAF_W21_GO(P, head, rest) P##head SHEAF_W22(P, SHEAF_KIND_##rest)
#define SHEAF_W21_STOP(P, head, rest)
#define SHEAF_W21_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W22(P, ...) SHEAF_W22_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W22_(P, head, go, rest, ...) SHEAF_W22_##go(P, head, rest)
#define SHEAF_W22_GO(P, head, rest) P##head SHEAF_W23(P, SHEAF_KIND_##rest)
#define SHEAF_W22_STOP(P, head, rest)
#define SHEAF_W22_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W23(P, ...) SHEAF_W23_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W23_(P, head, go, rest, ...) SHEAF_W23_##go(P, head, rest)
#define SHEAF_W23_GO(P, head, rest) P##head SHEAF_W24(P, SHEAF_KIND_##rest)
#define SHEAF_W23_STOP(P, head, rest)
#define SHEAF_W23_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W24(P, ...) SHEAF_W24_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W24_(P, head, go, rest, ...) SHEAF_W24_##go(P, head, rest)
#define SHEAF_W24_GO(P, head, rest) P##head SHEAF_W25(P, SHEAF_KIND_##rest)
#define SHEAF_W24_STOP(P, head, rest)
#define SHEAF_W24_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W25(P, ...) SHEAF_W25_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W25_(P, head, go, rest, ...) SHEAF_W25_##go(P, head, rest)
#define SHEAF_W25_GO(P, head, rest) P##head SHEAF_W26(P, SHEAF_KIND_##rest)
#define SHEAF_W25_STOP(P, head, rest)
#define SHEAF_W25_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W26(P, ...) SHEAF_W26_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W26_(P, head, go, rest, ...) SHEAF_W26_##go(P, head, rest)
#define SHEAF_W26_GO(P, head, rest) P##head SHEAF_W27(P, SHEAF_KIND_##rest)
#define SHEAF_W26_STOP(P, head, rest)
#define SHEAF_W26_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W27(P, ...) SHEAF_W27_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W27_(P, head, go, rest, ...) SHEAF_W27_##go(P, head, rest)
#define SHEAF_W27_GO(P, head, rest) P##head SHEAF_W28(P, SHEAF_KIND_##rest)
#define SHEAF_W27_STOP(P, head, rest)
#define SHEAF_W27_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W28(P, ...) SHEAF_W28_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W28_(P, head, go, rest, ...) SHEAF_W28_##go(P, head, rest)
#define SHEAF_W28_GO(P, head, rest) P##head SHEAF_W29(P, SHEAF_KIND_##rest)
#define SHEAF_W28_STOP(P, head, rest)
#define SHEAF_W28_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W29(P, ...) SHEAF_W29_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W29_(P, head, go, rest, ...) SHEAF_W29_##go(P, head, rest)
#define SHEAF_W29_GO(P, head, rest) P##head SHEAF_W30(P, SHEAF_KIND_##rest)
#define SHEAF_W29_STOP(P, head, rest)
#define SHEAF_W29_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W30(P, ...) SHEAF_W30_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W30_(P, head, go, rest, ...) SHEAF_W30_##go(P, head, rest)
#define SHEAF_W30_GO(P, head, rest) P##head SHEAF_W31(P, SHEAF_KIND_##rest)
#define SHEAF_W30_STOP(P, head, rest)
#define SHEAF_W30_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W31(P, ...) SHEAF_W31_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W31_(P, head, go, rest, ...) SHEAF_W31_##go(P, head, rest)
#define SHEAF_W31_GO(P, head, rest) P##head SHEAF_W32(P, SHEAF_KIND_##rest)
#define SHEAF_W31_STOP(P, head, rest)
#define SHEAF_W31_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W32(P, ...) SHEAF_W32_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W32_(P, head, go, rest, ...) SHEAF_W32_##go(P, head, rest)
#define SHEAF_W32_GO(P, head, rest) P##head SHEAF_W33(P, SHEAF_KIND_##rest)
#define SHEAF_W32_STOP(P, head, rest)
#define SHEAF_W32_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W33(P, ...) SHEAF_W33_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W33_(P, head, go, rest, ...) SHEAF_W33_##go(P, head, rest)
#define SHEAF_W33_GO(P, head, rest) P##head SHEAF_W34(P, SHEAF_KIND_##rest)
#define SHEAF_W33_STOP(P, head, rest)
#define SHEAF_W33_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W34(P, ...) SHEAF_W34_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W34_(P, head, go, rest, ...) SHEAF_W34_##go(P, head, rest)
#define SHEAF_W34_GO(P, head, rest) P##head SHEAF_W35(P, SHEAF_KIND_##rest)
#define SHEAF_W34_STOP(P, head, rest)
#define SHEAF_W34_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W35(P, ...) SHEAF_W35_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W35_(P, head, go, rest, ...) SHEAF_W35_##go(P, head, rest)
#define SHEAF_W35_GO(P, head, rest) P##head SHEAF_W36(P, SHEAF_KIND_##rest)
#define SHEAF_W35_STOP(P, head, rest)
#define SHEAF_W35_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W36(P, ...) SHEAF_W36_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W36_(P, head, go, rest, ...) SHEAF_W36_##go(P, head, rest)
#define SHEAF_W36_GO(P, head, rest) P##head SHEAF_W37(P, SHEAF_KIND_##rest)
#define SHEAF_W36_STOP(P, head, rest)
#define SHEAF_W36_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W37(P, ...) SHEAF_W37_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W37_(P, head, go, rest, ...) SHEAF_W37_##go(P, head, rest)
#define SHEAF_W37_GO(P, head, rest) P##head SHEAF_W38(P, SHEAF_KIND_##rest)
#define SHEAF_W37_STOP(P, head, rest)
#define SHEAF_W37_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W38(P, ...) SHEAF_W38_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W38_(P, head, go, rest, ...) SHEAF_W38_##go(P, head, rest)
#define SHEAF_W38_GO(P, head, rest) P##head SHEAF_W39(P, SHEAF_KIND_##rest)
#define SHEAF_W38_STOP(P, head, rest)
#define SHEAF_W38_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W39(P, ...) SHEAF_W39_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W39_(P, head, go, rest, ...) SHEAF_W39_##go(P, head, rest)
#define SHEAF_W39_GO(P, head, rest) P##head SHEAF_W40(P, SHEAF_KIND_##rest)
#define SHEAF_W39_STOP(P, head, rest)
#define SHEAF_W39_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W40(P, ...) SHEAF_W40_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W40_(P, head, go, rest, ...) SHEAF_W40_##go(P, head, rest)
#define SHEAF_W40_GO(P, head, rest) P##head SHEAF_W41(P, SHEAF_KIND_##rest)
#define SHEAF_W40_STOP(P, head, rest)
#define SHEAF_W40_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W41(P, ...) SHEAF_W41_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W41_(P, head, go, rest, ...) SHEAF_W41_##go(P, head, rest)
#define SHEAF_W41_GO(P, head, rest) P##head SHEAF_W42(P, SHEAF_KIND_##rest)
#define SHEAF_W41_STOP(P, head, rest)
#define SHEAF_W41_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W42(P, ...) SHEAF_W42_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W42_(P, head, go, rest, ...) SHEAF_W42_##go(P, head, rest)
#define SHEAF_W42_GO(P, head, rest) P##head SHEAF_W43(P, SHEAF_KIND_##rest)
#define SHEAF_W42_STOP(P, head, rest)
#define SHEAF_W42_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W43(P, ...) SHEAF_W43_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W43_(P, head, go, rest, ...) SHEAF_W43_##go(P, head, rest)
#define SHEAF_W43_GO(P, head, rest) P##head SHEAF_W44(P, SHEAF_KIND_##rest)
#define SHEAF_W43_STOP(P, head, rest)
#define SHEAF_W43_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W44(P, ...) SHEAF_W44_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W44_(P, head, go, rest, ...) SHEAF_W44_##go(P, head, rest)
#define SHEAF_W44_GO(P, head, rest) P##head SHEAF_W45(P, SHEAF_KIND_##rest)
#define SHEAF_W44_STOP(P, head, rest)
#define SHEAF_W44_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W45(P, ...) SHEAF_W45_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W45_(P, head, go, rest, ...) SHEAF_W45_##go(P, head, rest)
#define SHEAF_W45_GO(P, head, rest) P##head SHEAF_W46(P, SHEAF_KIND_##rest)
#define SHEAF_W45_STOP(P, head, rest)
#define SHEAF_W45_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W46(P, ...) SHEAF_W46_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W46_(P, head, go, rest, ...) SHEAF_W46_##go(P, head, rest)
#define SHEAF_W46_GO(P, head, rest) P##head SHEAF_W47(P, SHEAF_KIND_##rest)
#define SHEAF_W46_STOP(P, head, rest)
#define SHEAF_W46_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W47(P, ...) SHEAF_W47_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W47_(P, head, go, rest, ...) SHEAF_W47_##go(P, head, rest)
#define SHEAF_W47_GO(P, head, rest) P##head SHEAF_W48(P, SHEAF_KIND_##rest)
#define SHEAF_W47_STOP(P, head, rest)
#define SHEAF_W47_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W48(P, ...) SHEAF_W48_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W48_(P, head, go, rest, ...) SHEAF_W48_##go(P, head, rest)
#define SHEAF_W48_GO(P, head, rest) P##head SHEAF_W49(P, SHEAF_KIND_##rest)
#define SHEAF_W48_STOP(P, head, rest)
#define SHEAF_W48_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W49(P, ...) SHEAF_W49_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W49_(P, head, go, rest, ...) SHEAF_W49_##go(P, head, rest)
#define SHEAF_W49_GO(P, head, rest) P##head SHEAF_W50(P, SHEAF_KIND_##rest)
#define SHEAF_W49_STOP(P, head, rest)
#define SHEAF_W49_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W50(P, ...) SHEAF_W50_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W50_(P, head, go, rest, ...) SHEAF_W50_##go(P, head, rest)
#define SHEAF_W50_GO(P, head, rest) P##head SHEAF_W51(P, SHEAF_KIND_##rest)
#define SHEAF_W50_STOP(P, head, rest)
#define SHEAF_W50_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W51(P, ...) SHEAF_W51_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W51_(P, head, go, rest, ...) SHEAF_W51_##go(P, head, rest)
#define SHEAF_W51_GO(P, head, rest) P##head SHEAF_W52(P, SHEAF_KIND_##rest)
#define SHEAF_W51_STOP(P, head, rest)
#define SHEAF_W51_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W52(P, ...) SHEAF_W52_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W52_(P, head, go, rest, ...) SHEAF_W52_##go(P, head, rest)
#define SHEAF_W52_GO(P, head, rest) P##head SHEAF_W53(P, SHEAF_KIND_##rest)
#define SHEAF_W52_STOP(P, head, rest)
#define SHEAF_W52_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W53(P, ...) SHEAF_W53_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W53_(P, head, go, rest, ...) SHEAF_W53_##go(P, head, rest)
#define SHEAF_W53_GO(P, head, rest) P##head SHEAF_W54(P, SHEAF_KIND_##rest)
#define SHEAF_W53_STOP(P, head, rest)
#define SHEAF_W53_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W54(P, ...) SHEAF_W54_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W54_(P, head, go, rest, ...) SHEAF_W54_##go(P, head, rest)
#define SHEAF_W54_GO(P, head, rest) P##head SHEAF_W55(P, SHEAF_KIND_##rest)
#define SHEAF_W54_STOP(P, head, rest)
#define SHEAF_W54_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W55(P, ...) SHEAF_W55_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W55_(P, head, go, rest, ...) SHEAF_W55_##go(P, head, rest)
#define SHEAF_W55_GO(P, head, rest) P##head SHEAF_W56(P, SHEAF_KIND_##rest)
#define SHEAF_W55_STOP(P, head, rest)
#define SHEAF_W55_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W56(P, ...) SHEAF_W56_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W56_(P, head, go, rest, ...) SHEAF_W56_##go(P, head, rest)
#define SHEAF_W56_GO(P, head, rest) P##head SHEAF_W57(P, SHEAF_KIND_##rest)
#define SHEAF_W56_STOP(P, head, rest)
#define SHEAF_W56_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W57(P, ...) SHEAF_W57_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W57_(P, head, go, rest, ...) SHEAF_W57_##go(P, head, rest)
#define SHEAF_W57_GO(P, head, rest) P##head SHEAF_W58(P, SHEAF_KIND_##rest)
#define SHEAF_W57_STOP(P, head, rest)
#define SHEAF_W57_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W58(P, ...) SHEAF_W58_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W58_(P, head, go, rest, ...) SHEAF_W58_##go(P, head, rest)
#define SHEAF_W58_GO(P, head, rest) P##head SHEAF_W59(P, SHEAF_KIND_##rest)
#define SHEAF_W58_STOP(P, head, rest)
#define SHEAF_W58_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W59(P, ...) SHEAF_W59_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W59_(P, head, go, rest, ...) SHEAF_W59_##go(P, head, rest)
#define SHEAF_W59_GO(P, head, rest) P##head SHEAF_W60(P, SHEAF_KIND_##rest)
#define SHEAF_W59_STOP(P, head, rest)
#define SHEAF_W59_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W60(P, ...) SHEAF_W60_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W60_(P, head, go, rest, ...) SHEAF_W60_##go(P, head, rest)
#define SHEAF_W60_GO(P, head, rest) P##head SHEAF_W61(P, SHEAF_KIND_##rest)
#define SHEAF_W60_STOP(P, head, rest)
#define SHEAF_W60_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W61(P, ...) SHEAF_W61_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W61_(P, head, go, rest, ...) SHEAF_W61_##go(P, head, rest)
#define SHEAF_W61_GO(P, head, rest) P##head SHEAF_W62(P, SHEAF_KIND_##rest)
#define SHEAF_W61_STOP(P, head, rest)
#define SHEAF_W61_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W62(P, ...) SHEAF_W62_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W62_(P, head, go, rest, ...) SHEAF_W62_##go(P, head, rest)
#define SHEAF_W62_GO(P, head, rest) P##head SHEAF_W63(P, SHEAF_KIND_##rest)
#define SHEAF_W62_STOP(P, head, rest)
#define SHEAF_W62_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W63(P, ...) SHEAF_W63_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W63_(P, head, go, rest, ...) SHEAF_W63_##go(P, head, rest)
#define SHEAF_W63_GO(P, head, rest) P##head SHEAF_W64(P, SHEAF_KIND_##rest)
#define SHEAF_W63_STOP(P, head, rest)
#define SHEAF_W63_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_W64(P, ...) SHEAF_W64_(P, __VA_ARGS__, BAD, ~, ~)
#define SHEAF_W64_(P, head, go, rest, ...) SHEAF_W64_##go(P, head, rest)
#define SHEAF_W64_GO(P, head, rest) P##TOO_MANY_()
#define SHEAF_W64_STOP(P, head, rest)
#define SHEAF_W64_BAD(P, head, rest) P##BAD_(head)
#define SHEAF_CHECK_TOO_MANY_()                                                                    \
    SHEAF_STATIC_ASSERT_(0, "sheaf: more than 63 keys and fields; use SHEAF_ENTITY_X");
#define SHEAF_DESC_TOO_MANY_()

#define SHEAF_E1_(...)                                                                             \
    SHEAF_EN_(__VA_ARGS__, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, \
              15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)                                \
    (__VA_ARGS__)
#define SHEAF_EN_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, \
                  a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, n,    \
                  ...)                                                                             \
    SHEAF_EL_##n
#define SHEAF_EL_1(x)
#define SHEAF_EL_2(x, ...) &x##_entity, SHEAF_EL_1(__VA_ARGS__)
#define SHEAF_EL_3(x, ...) &x##_entity, SHEAF_EL_2(__VA_ARGS__)
#define SHEAF_EL_4(x, ...) &x##_entity, SHEAF_EL_3(__VA_ARGS__)
#define SHEAF_EL_5(x, ...) &x##_entity, SHEAF_EL_4(__VA_ARGS__)
#define SHEAF_EL_6(x, ...) &x##_entity, SHEAF_EL_5(__VA_ARGS__)
#define SHEAF_EL_7(x, ...) &x##_entity, SHEAF_EL_6(__VA_ARGS__)
#define SHEAF_EL_8(x, ...) &x##_entity, SHEAF_EL_7(__VA_ARGS__)
#define SHEAF_EL_9(x, ...) &x##_entity, SHEAF_EL_8(__VA_ARGS__)
#define SHEAF_EL_10(x, ...) &x##_entity, SHEAF_EL_9(__VA_ARGS__)
#define SHEAF_EL_11(x, ...) &x##_entity, SHEAF_EL_10(__VA_ARGS__)
#define SHEAF_EL_12(x, ...) &x##_entity, SHEAF_EL_11(__VA_ARGS__)
#define SHEAF_EL_13(x, ...) &x##_entity, SHEAF_EL_12(__VA_ARGS__)
#define SHEAF_EL_14(x, ...) &x##_entity, SHEAF_EL_13(__VA_ARGS__)
#define SHEAF_EL_15(x, ...) &x##_entity, SHEAF_EL_14(__VA_ARGS__)
#define SHEAF_EL_16(x, ...) &x##_entity, SHEAF_EL_15(__VA_ARGS__)
#define SHEAF_EL_17(x, ...) &x##_entity, SHEAF_EL_16(__VA_ARGS__)
#define SHEAF_EL_18(x, ...) &x##_entity, SHEAF_EL_17(__VA_ARGS__)
#define SHEAF_EL_19(x, ...) &x##_entity, SHEAF_EL_18(__VA_ARGS__)
#define SHEAF_EL_20(x, ...) &x##_entity, SHEAF_EL_19(__VA_ARGS__)
#define SHEAF_EL_21(x, ...) &x##_entity, SHEAF_EL_20(__VA_ARGS__)
#define SHEAF_EL_22(x, ...) &x##_entity, SHEAF_EL_21(__VA_ARGS__)
#define SHEAF_EL_23(x, ...) &x##_entity, SHEAF_EL_22(__VA_ARGS__)
#define SHEAF_EL_24(x, ...) &x##_entity, SHEAF_EL_23(__VA_ARGS__)
#define SHEAF_EL_25(x, ...) &x##_entity, SHEAF_EL_24(__VA_ARGS__)
#define SHEAF_EL_26(x, ...) &x##_entity, SHEAF_EL_25(__VA_ARGS__)
#define SHEAF_EL_27(x, ...) &x##_entity, SHEAF_EL_26(__VA_ARGS__)
#define SHEAF_EL_28(x, ...) &x##_entity, SHEAF_EL_27(__VA_ARGS__)
#define SHEAF_EL_29(x, ...) &x##_entity, SHEAF_EL_28(__VA_ARGS__)
#define SHEAF_EL_30(x, ...) &x##_entity, SHEAF_EL_29(__VA_ARGS__)
#define SHEAF_EL_31(x, ...) &x##_entity, SHEAF_EL_30(__VA_ARGS__)
#define SHEAF_EL_32(x, ...) &x##_entity, SHEAF_EL_31(__VA_ARGS__)
#define SHEAF_EL_33(x, ...) &x##_entity, SHEAF_EL_32(__VA_ARGS__)

#endif
