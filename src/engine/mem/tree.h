/* engine/mem/tree.h: the copy-on-write B+tree of the mem engine.
 *
 * Layer rule: base only; keys here are plain bytes in unsigned byte order.
 *
 * A tree that has been published never changes: any number of threads read it without a lock. A
 * *build* makes the next tree out of it. Whatever the build did not make itself it copies before
 * changing it, so the old tree stays as it is, and the two share every node that did not change.
 *
 *     inner  | birth, n, level, plen, prefix | head[64] | child[64] | key[64] |  key[0] is unused
 *     leaf   | birth, n, level, plen, prefix | head[32] | key[32] | print[32] |  key: the records
 *
 *     child i of an inner node holds the keys in [key[i], key[i+1]); the separators are records
 *     without a value, cut to the bytes that tell left from right.
 *
 * plen bytes are shared by all keys of the node, the first 44 of them are in prefix[]; head[i] is
 * the 8 bytes of key i behind them, big-endian, zeros where the key is shorter. A search compares
 * prefix and heads, which lie in a few cache lines, and looks at whole keys only where heads are
 * equal. There a point lookup also has print[i], 8 bits of a hash of key i, so that it seldom
 * touches a record in vain.
 *
 * Lifetimes are intervals, not counts: an object is *born* in one build and dies in a later one
 * (see store.h for who frees it). Copying a node therefore touches none of the objects it points
 * to. */
#ifndef ENGINE_MEM_TREE_H
#define ENGINE_MEM_TREE_H

#include "base/span.h"

enum {
    MEM_LEAF_MAX = 32,
    MEM_LEAF_MIN = 8,
    MEM_INNER_MAX = 64,
    MEM_INNER_MIN = 16,
    MEM_PREFIX_MAX = 44, /* makes the head of a node 56 bytes: with the first head one cache line */
    MEM_HEIGHT_MAX = 16  /* 8 * 16^14 keys at the least fill: more than there is memory for */
};

/* Key and value in one piece. Never changed once its build is published. */
struct mem_rec {
    uint64_t birth; /* number of the build that made it */
    uint32_t klen, vlen;
    uint8_t bytes[]; /* key, then value */
};

struct mem_node {
    uint64_t birth;
    uint16_t plen; /* what all keys share; the beginning of it is in prefix[] */
    uint8_t n;     /* records of a leaf, children of an inner node */
    uint8_t level; /* 0 = leaf */
    uint8_t prefix[MEM_PREFIX_MAX];
};

struct mem_leaf {
    struct mem_node node;
    uint64_t head[MEM_LEAF_MAX];
    struct mem_rec *key[MEM_LEAF_MAX];
    uint8_t print[MEM_LEAF_MAX];
};

struct mem_inner {
    struct mem_node node;
    uint64_t head[MEM_INNER_MAX];
    struct mem_node *child[MEM_INNER_MAX];
    struct mem_rec *key[MEM_INNER_MAX];
};

struct mem_tree {
    struct mem_node *root; /* NULL when empty */
    uint64_t n_keys;
};

static inline span mem_rec_key(const struct mem_rec *r) { return SPAN(r->bytes, r->klen); }
static inline span mem_rec_value(const struct mem_rec *r)
{
    return SPAN(r->bytes + r->klen, r->vlen);
}

/* NULL when there is no such key. Valid as long as the tree is. */
const struct mem_rec *mem_tree_get(const struct mem_tree *t, span key);

/* ---- places in a tree ---- */

/* From the root to one record. Caller's storage; the tree must outlive it. */
struct mem_path {
    unsigned depth; /* steps in use; the last one is in a leaf */
    struct {
        struct mem_node *node;
        unsigned at;
    } step[MEM_HEIGHT_MAX];
};

/* The first record with a key not below `key`; the last one below it, or the last of all when
 * key.p == NULL. false: there is none, and the path is not to be used. */
bool mem_path_seek(struct mem_path *p, const struct mem_tree *t, span key);
bool mem_path_seek_before(struct mem_path *p, const struct mem_tree *t, span key);
bool mem_path_next(struct mem_path *p);
bool mem_path_prev(struct mem_path *p);
static inline const struct mem_rec *mem_path_rec(const struct mem_path *p)
{
    const struct mem_leaf *leaf = (const struct mem_leaf *)p->step[p->depth - 1].node;
    return leaf->key[p->step[p->depth - 1].at];
}

/* ---- building the next tree ---- */

/* Something the build took out of the tree although an older build had made it. */
struct mem_dead {
    void *p;
    uint64_t birth;
    uint32_t size;
};
struct mem_garbage {
    struct mem_garbage *next;
    uint32_t n, cap;
    struct mem_dead dead[];
};

/* Caller's storage; one thread. Every mem_build_* that answers false is out of memory: the only
 * thing left to do is mem_build_abort. */
struct mem_build {
    struct mem_tree tree;        /* as built so far; private until published */
    uint64_t number;             /* larger than that of every earlier published build */
    struct mem_garbage *garbage; /* what dies when this is published, newest chunk first */
    uint64_t bytes_new;          /* of the objects it made and still has */
};

/* `spare` is an empty chunk to begin with, or NULL; the build owns it. */
void mem_build_init(struct mem_build *b, const struct mem_tree *from, uint64_t number,
                    struct mem_garbage *spare);
/* Frees what the build made; the tree it began with is untouched. */
void mem_build_abort(struct mem_build *b);

/* A record with its key copied and its value left to the caller to fill in; NULL when out of
 * memory. It is given away to mem_build_put or given back with mem_build_forget. */
struct mem_rec *mem_build_rec(struct mem_build *b, span key, size_t vlen)
    __attribute__((warn_unused_result));
void mem_build_forget(struct mem_build *b, struct mem_rec *r);
/* Puts the record in, in place of one with the same key. Owns it, also when it fails. */
bool mem_build_put(struct mem_build *b, struct mem_rec *r) __attribute__((warn_unused_result));
bool mem_build_del(struct mem_build *b, span key) __attribute__((warn_unused_result));

/* Removes the keys in [lo, end), end.p == NULL being no end, and stops when `max` or a few more are
 * gone (0 = no limit). */
struct mem_cut {
    span lo, end;
    uint64_t max;
    uint64_t n_removed; /* out */
};
bool mem_build_cut(struct mem_build *b, struct mem_cut *cut) __attribute__((warn_unused_result));

/* ---- whole trees ---- */

/* Frees every node and record. Nobody else may share them. */
void mem_tree_free(struct mem_tree *t);

/* Looks at everything. `complain` gets the key nearest to the trouble (p == NULL: none) and what is
 * wrong; returning false ends the walk. *bytes_out: what the nodes and records take. Returns
 * whether all was well. `number` is that of the build that made the tree. */
struct mem_checker {
    bool (*complain)(void *ctx, span key, const char *what);
    void *ctx;
    uint64_t number;
};
bool mem_tree_check(const struct mem_tree *t, const struct mem_checker *c, uint64_t *bytes_out);

#endif
