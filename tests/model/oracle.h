/* tests/model/oracle.h: what the database should hold, kept in the plainest way.
 *
 * A table is an array of items; an index is the items that have its keys, filtered and sorted when
 * somebody asks; a stream is an array of changes. */
#ifndef MODEL_ORACLE_H
#define MODEL_ORACLE_H

#include "model/tree.h"

/* ---- schemas ---- */

struct schema_key {
    const char *name; /* NULL: none */
    sheaf_type type;
};
struct schema_index {
    const char *name;
    bool is_local;
    struct schema_key hash[4], range[4]; /* up to the first without a name */
    enum sheaf_projection_type projection;
    const char *include[3];
};
struct schema {
    struct schema_key hash, range;
    struct schema_index indexes[4];
    uint32_t n_indexes;
    enum sheaf_stream_view stream; /* at its creation */
    bool has_ttl;                  /* of the attribute "ttl", soon after its creation */
};
enum { N_SCHEMAS = 6 };
extern const struct schema schemas[N_SCHEMAS];
/* The global index that UpdateTable adds to any table and takes away again; its keys may have been
 * anything before. */
extern const struct schema_index schema_late;
uint32_t schema_count(const struct schema_key keys[4]);

/* ---- state ---- */

/* Counted and immutable. */
struct stored {
    uint32_t refs;
    struct tree v;
};
struct stored *stored_new(const struct tree *v);
void stored_drop(struct stored *s);

struct logged {
    struct stored *old, *new; /* NULL: none */
    int64_t at_us;
    uint32_t sweep; /* of TTL; 0: not by TTL. Inside one sweep the order is not given */
};
struct model_table {
    char name[24];
    const struct schema *schema;
    bool exists;
    bool has_late, is_late_filling;
    bool has_ttl;
    struct stored **items;
    size_t n, cap;
    enum sheaf_stream_view view; /* of the newest stream; NONE: it never had one */
    bool is_streaming;
    int64_t stream_off_us; /* when the newest stream was switched off */
    struct logged *log;    /* of the newest stream */
    size_t n_log, cap_log;
};

/* ---- indexes ---- */

/* NULL-safe walk over the indexes a table has now: i = 0, 1, … until NULL. */
const struct schema_index *model_index_at(const struct model_table *t, uint32_t i);
/* Whether the item is in the index: has every key attribute, in its type and not empty. */
bool index_holds(const struct schema_index *x, const struct tree *item);
/* What the index shows of the item; x NULL: all of it. */
struct tree index_view(struct arena *a, const struct model_table *t, const struct schema_index *x,
                       const struct tree *item);
bool index_shows(const struct model_table *t, const struct schema_index *x, const char *name);
/* The first index key attribute that has a value which cannot be one, or NULL. */
const char *model_bad_index_key(const struct model_table *t, const struct tree *item);
/* Key attributes only: of the table, and of the index when there is one. */
struct tree key_of(struct arena *a, const struct model_table *t, const struct schema_index *x,
                   const struct tree *item);
bool is_key_name(const struct model_table *t, const char *name);

/* ---- changing ---- */

void model_clear(struct model_table *t);
void model_clear_log(struct model_table *t);
struct stored *model_find(const struct model_table *t, const struct tree *key);
/* The item under a key becomes `after` (NULL: none). A change that changes nothing is none. */
void model_write(struct model_table *t, const struct tree *key, const struct tree *after,
                 int64_t now_us, uint32_t sweep);
/* Items and AWS bytes of the table or an index; of one collection when `partition` (an item with
 * the partition key attributes) is not NULL. */
struct count {
    uint64_t items, bytes;
};
struct count model_count(struct arena *a, const struct model_table *t, const struct schema_index *x,
                         const struct tree *partition);

#endif
