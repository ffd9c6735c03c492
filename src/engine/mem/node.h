/* engine/mem/node.h: one node of the tree: searching it, and changing one that is the build's own.
 * For tree.c, path.c and check.c only. */
#ifndef ENGINE_MEM_NODE_H
#define ENGINE_MEM_NODE_H

#include "engine/mem/tree.h"

#include <assert.h>

static inline uint64_t *mem_heads(struct mem_node *n)
{
    return n->level ? ((struct mem_inner *)n)->head : ((struct mem_leaf *)n)->head;
}
static inline struct mem_rec **mem_keys(struct mem_node *n)
{
    return n->level ? ((struct mem_inner *)n)->key : ((struct mem_leaf *)n)->key;
}
static inline struct mem_node **mem_children(struct mem_node *n)
{
    assert(n->level > 0);
    return ((struct mem_inner *)n)->child;
}
/* An inner node's first child has no separator. */
static inline unsigned mem_first(const struct mem_node *n) { return n->level ? 1 : 0; }
static inline unsigned mem_node_max(const struct mem_node *n)
{
    return n->level ? MEM_INNER_MAX : MEM_LEAF_MAX;
}
static inline unsigned mem_node_min(const struct mem_node *n)
{
    return n->level ? MEM_INNER_MIN : MEM_LEAF_MIN;
}
static inline size_t mem_node_size(const struct mem_node *n)
{
    return n->level ? sizeof(struct mem_inner) : sizeof(struct mem_leaf);
}
static inline size_t mem_rec_size(const struct mem_rec *r)
{
    return sizeof *r + r->klen + (size_t)r->vlen;
}

/* How many of the first `max` bytes two keys share. */
size_t mem_lcp(span a, span b, size_t max);
/* The 8 bytes of the key at `at`, big-endian, zeros behind its end. */
uint64_t mem_head_of(span key, size_t at);
/* 8 bits of a hash over the whole key. */
uint8_t mem_print_of(span key);
/* How many of n ascending numbers are below x. */
static inline unsigned mem_count_less(const uint64_t *h, unsigned n, uint64_t x)
{
    const uint64_t *base = h;
    while (n > 1) {
        unsigned half = n / 2;
        base += (base[half - 1] < x) * half; /* no branch to mispredict */
        n -= half;
    }
    return (unsigned)(base - h) + (n == 1 && *base < x);
}

/* The first key not below `key`, mem_first(n) … n->n, and whether it is equal. */
unsigned mem_node_seek(const struct mem_node *n, span key, bool *is_equal_out);
/* Which child of an inner node holds the key. */
static inline unsigned mem_node_child(const struct mem_node *n, span key)
{
    bool is_equal;
    unsigned at = mem_node_seek(n, key, &is_equal);
    return is_equal ? at : at - 1;
}
/* Reads ahead what a search in this node will touch. */
static inline void mem_node_prefetch(const struct mem_node *n)
{
    const char *p = (const char *)n;
    for (size_t i = 0; i < sizeof(struct mem_leaf); i += 64) __builtin_prefetch(p + i);
}

/* Makes plen and all heads anew from the keys. */
void mem_node_rehead(struct mem_node *n);
/* Opens a gap at `at` and puts the key in; child only for inner nodes. There must be room. */
void mem_node_insert(struct mem_node *n, unsigned at, struct mem_rec *key, struct mem_node *child);
/* Closes the gap of the keys (and children) in [at, end). They are the caller's to free. */
void mem_node_remove(struct mem_node *n, unsigned at, unsigned end);
/* Another key in the same place, between the same neighbours. */
void mem_node_set_key(struct mem_node *n, unsigned at, struct mem_rec *key);

#endif
