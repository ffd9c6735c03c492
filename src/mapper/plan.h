/* mapper/plan.h: what a map knows about its table, and how structs, keys and items turn into each
 * other. Shared by the files of the mapper.
 *
 * Layer rule: the mapper includes base and the public headers. Of the engine, the values and the
 * core it knows what any program knows, so that it works over every handle.
 *
 * A plan is made once, by sheaf_map_open, and never changes: any thread may read it.
 */
#ifndef MAPPER_PLAN_H
#define MAPPER_PLAN_H

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/rng.h"

#include <pthread.h>
#include <sheaf/mapper.h>

enum {
    MAP_NEST_MAX = 32,        /* levels of documents, as the service has it */
    MAP_ARENA_MAX = 64 << 20, /* of one call's working memory */
    MAP_ROWS_MAX = 1 << 30,   /* of the structs of one sheaf_rows */
    MAP_KEY_MAX = 2048,       /* the longest rendered key attribute; the service checks too */
    MAP_TIME_TEXT = 27        /* 2020-11-25T00:00:00.000000Z */
};

struct map_shape;

/* A field, or (field.kind SHEAF_IS_KEY) an attribute that is known and no field. */
struct map_field {
    const sheaf_field *f;
    const char *attr;
    size_t attr_n;
    const struct map_shape *shape; /* of NEST and LIST */
    bool is_table_key;             /* the attribute is itself a key attribute of the table */
    bool is_in_table_key;          /* that, or a template of the table's key names the field */
};
struct map_shape {
    const sheaf_shape *shape;
    struct map_field *fields; /* in the order of the struct's list; keys are not among them */
    size_t n_fields;
    const struct map_field **by_attr; /* in the order of attribute names, EXTRA is not among them */
    size_t n_by_attr;
    const struct map_field *extra; /* NULL: none */
    struct map_shape *next;        /* of the map's list of shapes */
};

/* "ORDER#{id}": a literal, then a field (NULL behind the last literal). */
struct map_part {
    span literal;
    const struct map_field *field;
    uint8_t width;    /* {version:08}: zero padded to so many digits; 0: not */
    uint8_t time_len; /* of a time: how many bytes of its ISO text; 0: not a time */
};
struct map_template {
    const char *attr, *text;
    struct map_part *parts;
    size_t n_parts;
    bool is_table_key;
};
/* Where an entity's value of a key attribute comes from; neither: it has none. */
struct map_key {
    const char *attr;
    const struct map_template *template_;
    const struct map_field *field;
};

struct map_plan {
    const sheaf_entity *entity;
    struct map_shape shape;
    struct map_template *templates;
    size_t n_templates;
    struct map_key partition_key, sort_key; /* of the table; sort_key.attr NULL: none */
    const struct map_field *version, *created, *updated, *ttl; /* NULL: none */
};

/* The table itself (name NULL) or an index. */
struct map_index {
    const char *name;
    const char *partition_key[4], *sort_key[4];
    uint32_t n_partition_key, n_sort_key;
    bool has_type; /* the discriminator is projected */
};

struct sheaf_map {
    sheaf_db *db;
    struct sheaf_table table;
    const char *discriminator, *ttl;
    struct map_plan *plans;
    size_t n_plans;
    struct map_index *indexes; /* the first is the table */
    size_t n_indexes;
    struct map_shape *shapes;
    struct arena arena;
    uint8_t token_key[16];
    struct clock_source *clock; /* of stamps and back-off; tests put their own here */
    pthread_mutex_t lock;       /* of rng */
    struct rng rng;             /* jitter */
};

/* Microseconds since 1970: the table's clock, or the map's. */
int64_t map_now(const sheaf_map *map);
/* Waits before attempt `n` (1 = the second) of something that was throttled: 50 ms doubling, at
 * most 5 s, with jitter. */
void map_back_off(sheaf_map *map, uint32_t n);
/* A request of the caller's size into one of ours, as <sheaf/sheaf.h> has it. */
SHEAF_NODISCARD sheaf_rc map_take(void *to, size_t to_n, const void *from, size_t from_n,
                                  sheaf_error *err);
#define MAP_ERROR(q, size)                                                                         \
    ((q) && (size) >= offsetof(__typeof__(*(q)), error) + sizeof((q)->error) ? (q)->error : NULL)

/* ---- finding (plan.c) ---- */

SHEAF_NODISCARD sheaf_rc map_plan_of(const sheaf_map *map, const sheaf_entity *entity,
                                     sheaf_error *err, const struct map_plan **plan_out);
/* By discriminator, else by the only entity whose key templates fit; NULL: none of the table's. */
const struct map_plan *map_plan_of_item(const sheaf_map *map, const sheaf_item *item);
const struct map_field *map_field_named(const struct map_shape *shape, span member);
const struct map_field *map_field_stored(const struct map_shape *shape, const char *attr, size_t n);
struct map_key map_key_of(const struct map_plan *plan, const char *attr);
SHEAF_NODISCARD sheaf_rc map_index_of(const sheaf_map *map, const char *name, sheaf_error *err,
                                      const struct map_index **index_out);

/* ---- templates (template.c) ---- */

SHEAF_NODISCARD sheaf_rc template_parse(struct ctx *c, const sheaf_map *map, struct map_plan *plan,
                                        const sheaf_field *key, struct map_template *t);
bool template_uses(const struct map_template *t, const struct map_field *field);

enum key_extent {
    KEY_WHOLE, /* every field must be there */
    KEY_PREFIX /* up to the first that is not, or that `before` names */
};
struct key_text {
    sheaf_value value;               /* SHEAF_NONE: no attribute; text is in the context's arena */
    const struct map_field *missing; /* the first field that has no value; NULL: none */
    bool is_whole;
    bool ends_in_field; /* the last thing rendered is a field's value */
};
/* The value of a key attribute for a struct. A missing field is no error here: see `missing`. */
SHEAF_NODISCARD sheaf_rc key_render(struct ctx *c, const struct map_plan *plan,
                                    const struct map_key *key, const void *object,
                                    enum key_extent extent, const char *before,
                                    struct key_text *out);
/* The text of the field of part `at` within a key that the template made; false: it did not. With
 * at == SIZE_MAX only the fit is asked. */
bool template_match(const struct map_template *t, span key, size_t at, span *text_out);
/* Undoes the escaping; p NULL when memory is out. */
span template_unescape(struct arena *arena, span text);

/* ---- values (encode.c, decode.c) ---- */

/* Where something went wrong, for messages: the entity, the item's key and the way to the field. */
struct map_place {
    const struct map_plan *plan;
    const void *object;     /* encoding: the whole struct; else NULL */
    const sheaf_item *item; /* decoding: the whole item; else NULL */
    const struct map_step {
        const struct map_step *up;
        const struct map_field *field;
        size_t i; /* of a list; SIZE_MAX: not one */
    } * step;
};
SHEAF_NODISCARD sheaf_rc map_fail(struct ctx *c, const struct map_place *place,
                                  const struct map_field *field, const char *format, ...)
    SHEAF_PRINTF_(4, 5);

/* One field as a value; type SHEAF_NONE: it is absent. Points into the struct where it can. */
SHEAF_NODISCARD sheaf_rc map_value_of(struct ctx *c, const struct map_place *place,
                                      const struct map_field *field, const void *object,
                                      sheaf_value *out);
/* The whole item: discriminator, keys, fields, EXTRA. Points into the struct and the arena. */
SHEAF_NODISCARD sheaf_rc map_encode(struct ctx *c, const sheaf_map *map,
                                    const struct map_plan *plan, const void *object,
                                    sheaf_item *out);
/* The table's key of a struct, as an item of one or two strings. */
SHEAF_NODISCARD sheaf_rc map_encode_key(struct ctx *c, const struct map_plan *plan,
                                        const void *object, sheaf_item *out);
/* Fills a zeroed struct. What it points to is the item's, or in the arena. */
SHEAF_NODISCARD sheaf_rc map_decode(struct ctx *c, const struct map_plan *plan,
                                    const sheaf_item *item, void *object);
/* A field from the text that a template made of it. */
SHEAF_NODISCARD sheaf_rc map_decode_text(struct ctx *c, const struct map_place *place,
                                         const struct map_field *field, span text, void *object);

/* ---- members of structs ---- */

static inline const void *map_at(const void *object, const struct map_field *f)
{
    return (const uint8_t *)object + f->f->offset;
}
/* What a pointer and a count are in an item; a map of strings is not among them. */
static inline sheaf_type map_many_type(unsigned kind)
{
    return kind == SHEAF_IS_STRSET    ? SHEAF_SS
           : kind == SHEAF_IS_INTSET  ? SHEAF_NS
           : kind == SHEAF_IS_BYTESET ? SHEAF_BS
                                      : SHEAF_L;
}
/* Integers of 1, 2, 4 or 8 bytes. */
int64_t map_load_int(const void *p, size_t size);
uint64_t map_load_uint(const void *p, size_t size);
/* false: it does not fit. */
bool map_store_int(void *p, size_t size, bool is_unsigned, int64_t i);

/* ---- times (times.c) ---- */

/* Years 0 to 9999; false outside. Not terminated. */
bool map_time_format(int64_t us, char out[MAP_TIME_TEXT]);
/* ISO-8601: a date, or a date and a time with "Z" or an offset. */
bool map_time_parse(span text, int64_t *us_out);

/* ---- rows (rows.c) ---- */

struct sheaf_row {
    const sheaf_rows *rows;
    struct sheaf_row *next;
    const struct map_plan *plan; /* NULL: none of the table's */
    const sheaf_item *item;
    /* the struct follows, when there is a plan */
};
/* No rows; NULL when memory is out. */
sheaf_rows *rows_new(const sheaf_map *map);
/* Takes the result, which is freed with the rows (now, when memory is out). */
SHEAF_NODISCARD sheaf_rc rows_keep(sheaf_rows *rows, sheaf_result *result, sheaf_error *err);
/* The same with a copy of an item. */
SHEAF_NODISCARD sheaf_rc rows_keep_copy(sheaf_rows *rows, const sheaf_item *item, sheaf_error *err,
                                        const sheaf_item **copy_out);
/* Appends a row; the item is owned by something kept. */
SHEAF_NODISCARD sheaf_rc rows_add(sheaf_rows *rows, const sheaf_item *item, sheaf_error *err);
/* Makes what sheaf_rows_all needs: call it when all are added. */
SHEAF_NODISCARD sheaf_rc rows_finish(sheaf_rows *rows, sheaf_error *err);
void rows_set_token(sheaf_rows *rows, const char *token); /* in the rows' arena */
struct arena *rows_arena(sheaf_rows *rows);
const sheaf_row *rows_last(const sheaf_rows *rows);

/* ---- tokens (token.c) ---- */

/* What a token is bound to. */
struct token_query {
    const struct map_index *index;
    span condition; /* any bytes that tell the key condition apart */
    bool is_backward;
};
enum { TOKEN_TEXT_MAX = 48 << 10 };
/* base64url of version, start key and tag, NUL-terminated. SHEAF_VALIDATION when the item lacks a
 * key attribute. */
SHEAF_NODISCARD sheaf_rc token_put(const sheaf_map *map, const struct token_query *q,
                                   const sheaf_item *last, sheaf_error *err, struct buf *out);
/* The ExclusiveStartKey of a token of this query. */
SHEAF_NODISCARD sheaf_rc token_get(struct ctx *c, const sheaf_map *map, const struct token_query *q,
                                   const char *text, sheaf_item *start_out);
/* SipHash-2-4 with 128 bits. */
void siphash128(const uint8_t key[16], span text, uint8_t out[16]);

/* ---- expressions under construction (express.c) ---- */

struct express {
    struct ctx *c;
    struct sheaf_name *names; /* ends in {NULL, NULL} */
    sheaf_attr *values;
    size_t n_names, n_values, cap_names, cap_values;
    sheaf_item values_item;
};
/* Begins with the caller's own names and values; either may be NULL. */
SHEAF_NODISCARD sheaf_rc express_init(struct express *e, struct ctx *c,
                                      const struct sheaf_name *names, const sheaf_item *values);
/* A placeholder for an attribute's name ("#sheaf3") or for a value (":sheaf3"); NULL: no memory. */
const char *express_name(struct express *e, const char *attr);
const char *express_value(struct express *e, sheaf_value v);
/* The values as a request takes them; NULL when there are none. */
const sheaf_item *express_values(struct express *e);
/* The words of "name email", one after the other; false at the end. */
bool next_word(const char **at, span *word_out);
/* "#sheaf1, #sheaf2": the named fields beside the keys and the discriminator; *out is NULL for all.
 * A name is a member or an attribute of `plan` (when given) or of any entity. */
SHEAF_NODISCARD sheaf_rc express_fields(struct express *e, const sheaf_map *map,
                                        const struct map_plan *plan, const struct map_index *index,
                                        const char *fields, const char **out);

/* ---- writing (act.c) ---- */

/* One write, ready for the service, alone or in a transaction. */
struct act {
    const struct map_plan *plan;
    enum sheaf_save_how how;
    void *object;         /* the caller's */
    void *stamped;        /* a copy with version, stamps and ids as they will be stored */
    sheaf_item item, key; /* of a put; of the others */
    const char *update, *condition;
    struct express express;
};
SHEAF_NODISCARD sheaf_rc act_make(struct ctx *c, sheaf_map *map, const struct sheaf_save *q,
                                  struct act *out);
/* After success: what was stored goes into the caller's struct. */
void act_done(const struct act *a);
/* A condition on the key alone. */
SHEAF_NODISCARD sheaf_rc act_make_check(struct ctx *c, sheaf_map *map, bool exists,
                                        const sheaf_entity *entity, const void *object,
                                        struct act *out);
/* Version, stamps and ids of a write that begins now, into a struct. */
SHEAF_NODISCARD sheaf_rc act_stamp(sheaf_map *map, const struct map_plan *plan,
                                   enum sheaf_save_how how, void *object);

#endif
