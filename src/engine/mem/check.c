/* Turns a tree into complaints: everything tree.h promises about nodes, looked at one by one.
 *
 * Know before editing: it must not trust what it checks more than it needs to, but it does trust
 * pointers; it goes as deep as the tree is high, which it checks first. */
#include "engine/mem/node.h"

struct walk {
    const struct mem_checker *checker;
    uint64_t n_keys, bytes;
    bool is_well, has_stopped;
};

static void complain(struct walk *w, const struct mem_rec *near, const char *what)
{
    w->is_well = false;
    if (w->has_stopped) return;
    span key = near ? mem_rec_key(near) : SPAN_NONE;
    w->has_stopped = !w->checker->complain(w->checker->ctx, key, what);
}

static bool has_prefix(struct mem_node *n, span key)
{
    size_t near = n->plen < MEM_PREFIX_MAX ? n->plen : MEM_PREFIX_MAX;
    span first = mem_rec_key(mem_keys(n)[mem_first(n)]);
    return span_starts(key, SPAN(n->prefix, near)) && mem_lcp(key, first, n->plen) == n->plen;
}

/* The keys of one node: order, limits set by the separators above, prefix and heads. */
static void check_keys(struct walk *w, struct mem_node *n, const struct mem_rec *low,
                       const struct mem_rec *high)
{
    struct mem_rec **keys = mem_keys(n);
    unsigned first = mem_first(n);
    for (unsigned i = first; i < n->n; i++) {
        span key = mem_rec_key(keys[i]);
        span before = i > first ? mem_rec_key(keys[i - 1]) : SPAN_NONE;
        if (i > first && span_cmp(before, key) >= 0) complain(w, keys[i], "keys are out of order");
        if (low && span_cmp(mem_rec_key(low), key) > 0)
            complain(w, keys[i], "a key is below the separator before its node");
        if (high && span_cmp(mem_rec_key(high), key) <= 0)
            complain(w, keys[i], "a key is not below the separator after its node");
        if (!has_prefix(n, key))
            complain(w, keys[i], "a key lacks the prefix of its node");
        else if (mem_heads(n)[i] != mem_head_of(key, n->plen))
            complain(w, keys[i], "a head differs from its key");
        if (n->level == 0 && ((struct mem_leaf *)n)->print[i] != mem_print_of(key))
            complain(w, keys[i], "a print differs from its key");
        if (keys[i]->birth > n->birth) complain(w, keys[i], "a record is younger than its node");
        if (n->level && keys[i]->vlen) complain(w, keys[i], "a separator has a value");
        w->bytes += mem_rec_size(keys[i]);
    }
}

static void check_node(struct walk *w, struct mem_node *n, const struct mem_rec *low,
                       const struct mem_rec *high)
{
    const struct mem_rec *near = mem_first(n) < n->n ? mem_keys(n)[mem_first(n)] : low;
    w->bytes += mem_node_size(n);
    if (n->n > mem_node_max(n)) {
        complain(w, near, "a node has more entries than it has room for");
        return;
    }
    if (n->birth > w->checker->number) complain(w, near, "a node is younger than its tree");
    check_keys(w, n, low, high);
    if (n->level == 0) {
        w->n_keys += n->n;
        return;
    }
    struct mem_rec **keys = mem_keys(n);
    for (unsigned i = 0; i < n->n && !w->has_stopped; i++) {
        struct mem_node *child = mem_children(n)[i];
        if (child->level + 1 != n->level) {
            complain(w, near, "a child is not one level below its parent");
            continue;
        }
        if (child->n < mem_node_min(child)) complain(w, near, "a node has too few entries");
        if (child->birth > n->birth) complain(w, near, "a node is younger than its parent");
        check_node(w, child, i ? keys[i] : low, i + 1u < n->n ? keys[i + 1] : high);
    }
}

bool mem_tree_check(const struct mem_tree *t, const struct mem_checker *c, uint64_t *bytes_out)
{
    struct walk w = {.checker = c, .is_well = true};
    struct mem_node *root = t->root;
    if (root && root->level >= MEM_HEIGHT_MAX) {
        complain(&w, NULL, "the tree is too high");
    } else if (root) {
        if (root->n < (root->level ? 2 : 1)) complain(&w, NULL, "the root has too few entries");
        check_node(&w, root, NULL, NULL);
    }
    if (w.n_keys != t->n_keys && !w.has_stopped)
        complain(&w, NULL, "the number of keys is not what was counted");
    *bytes_out = w.bytes;
    return w.is_well;
}
