/* Turns keys into records: point lookups, and paths that move in either direction.
 *
 * Know before editing: these run without any lock, on trees that cannot change. They are the hot
 * path of every read; the prefetches are what keeps a scan ahead of main memory. */
#include "engine/mem/node.h"

const struct mem_rec *mem_tree_get(const struct mem_tree *t, span key)
{
    const struct mem_node *n = t->root;
    if (!n) return NULL;
    while (n->level) {
        n = ((const struct mem_inner *)n)->child[mem_node_child(n, key)];
        mem_node_prefetch(n);
    }
    const struct mem_leaf *leaf = (const struct mem_leaf *)n;
    assert(n->n > 0 && n->n <= MEM_LEAF_MAX);
    if (key.n < n->plen) return NULL;
    /* The prefix need not be compared: a key without it is in no record of this leaf, and the
     * comparison of whole keys says so. */
    uint64_t head = mem_head_of(key, n->plen);
    unsigned at = mem_count_less(leaf->head, n->n, head), end = at;
    while (end < n->n && leaf->head[end] == head) end++;
    bool has_choice = end - at > 1;
    uint8_t print = has_choice ? mem_print_of(key) : 0;
    for (; at < end; at++) {
        const struct mem_rec *r = leaf->key[at];
        if (has_choice && leaf->print[at] != print) continue;
        __builtin_prefetch((const char *)r + 64);
        if (r->klen == key.n && memcmp(r->bytes, key.p, key.n) == 0) return r;
    }
    return NULL;
}

enum { AHEAD = 10 };

static void prefetch_rec(const struct mem_leaf *leaf, unsigned at)
{
    if (at >= leaf->node.n) return;
    __builtin_prefetch(leaf->key[at]);
    __builtin_prefetch((const char *)leaf->key[at] + 64);
}

static void push(struct mem_path *p, struct mem_node *n, unsigned at)
{
    assert(p->depth < MEM_HEIGHT_MAX);
    p->step[p->depth].node = n;
    p->step[p->depth].at = at;
    p->depth++;
}

/* From the child at the last step down to a leaf, along its low or its high edge. */
static void descend(struct mem_path *p, bool is_high)
{
    for (;;) {
        assert(p->depth > 0);
        struct mem_node *n = p->step[p->depth - 1].node;
        if (n->level == 0) break;
        n = mem_children(n)[p->step[p->depth - 1].at];
        mem_node_prefetch(n);
        push(p, n, is_high ? n->n - 1u : 0);
    }
    const struct mem_leaf *leaf = (const struct mem_leaf *)p->step[p->depth - 1].node;
    unsigned at = p->step[p->depth - 1].at;
    for (unsigned i = 0; i < AHEAD; i++) {
        if (!is_high)
            prefetch_rec(leaf, at + i);
        else if (at >= i)
            prefetch_rec(leaf, at - i);
    }
}

/* Climbs to where there is a next child in the direction, and goes down to its near edge. */
static bool turn(struct mem_path *p, bool is_back)
{
    while (p->depth > 1) {
        p->depth--;
        struct mem_node *n = p->step[p->depth - 1].node;
        unsigned at = p->step[p->depth - 1].at;
        if (is_back ? at == 0 : at + 1 >= n->n) continue;
        p->step[p->depth - 1].at = is_back ? at - 1 : at + 1;
        descend(p, is_back);
        return true;
    }
    p->depth = 0;
    return false;
}

/* Down to the leaf where the key belongs; the step there is the first record not below it, or one
 * behind the last. */
static void seek(struct mem_path *p, struct mem_node *root, span key)
{
    struct mem_node *n = root;
    bool is_equal;
    while (n->level) {
        unsigned at = mem_node_child(n, key);
        push(p, n, at);
        n = mem_children(n)[at];
        mem_node_prefetch(n);
    }
    push(p, n, mem_node_seek(n, key, &is_equal));
}

bool mem_path_seek(struct mem_path *p, const struct mem_tree *t, span key)
{
    p->depth = 0;
    if (!t->root) return false;
    seek(p, t->root, key);
    if (p->step[p->depth - 1].at == p->step[p->depth - 1].node->n) return turn(p, false);
    descend(p, false);
    return true;
}

bool mem_path_seek_before(struct mem_path *p, const struct mem_tree *t, span key)
{
    p->depth = 0;
    if (!t->root) return false;
    if (!key.p) {
        push(p, t->root, t->root->n - 1u);
        descend(p, true);
        return true;
    }
    seek(p, t->root, key);
    if (p->step[p->depth - 1].at == 0) return turn(p, true);
    p->step[p->depth - 1].at--;
    descend(p, true);
    return true;
}

bool mem_path_next(struct mem_path *p)
{
    assert(p->depth > 0);
    struct mem_node *n = p->step[p->depth - 1].node;
    unsigned at = ++p->step[p->depth - 1].at;
    if (at >= n->n) return turn(p, false);
    prefetch_rec((const struct mem_leaf *)n, at + AHEAD - 1);
    return true;
}

bool mem_path_prev(struct mem_path *p)
{
    assert(p->depth > 0);
    struct mem_node *n = p->step[p->depth - 1].node;
    if (p->step[p->depth - 1].at == 0) return turn(p, true);
    unsigned at = --p->step[p->depth - 1].at;
    if (at >= AHEAD - 1) prefetch_rec((const struct mem_leaf *)n, at - (AHEAD - 1));
    return true;
}
