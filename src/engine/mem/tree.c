/* Turns one published tree and a row of changes into the next tree.
 *
 * Know before editing: a build may run out of memory anywhere, and is then thrown away as a whole
 * by walking what it made (birth == number). So at every point where an allocation can fail, each
 * object the build made must be reachable from build.tree.root exactly once, or be in the hands of
 * the function that fails. Nothing else needs to be undone. */
#include "engine/mem/node.h"

#include "base/mem.h"

/* What one change can take out of the tree: per level a copied node, a joined one and its
 * separator, and the records of one leaf. */
enum { DEAD_PER_CHANGE = 4 * MEM_HEIGHT_MAX + MEM_LEAF_MAX, CHUNK_MAX = 8192 };

void mem_build_init(struct mem_build *b, const struct mem_tree *from, uint64_t number,
                    struct mem_garbage *spare)
{
    assert(!spare || (spare->n == 0 && !spare->next));
    *b = (struct mem_build){.tree = *from, .number = number, .garbage = spare};
}

/* ---- making and dropping objects ---- */

static bool reserve(struct mem_build *b)
{
    struct mem_garbage *g = b->garbage;
    if (g && g->cap - g->n >= DEAD_PER_CHANGE) return true;
    uint32_t cap = g ? g->cap * 2 : DEAD_PER_CHANGE;
    if (cap > CHUNK_MAX) cap = CHUNK_MAX;
    struct mem_garbage *more = mem_alloc(sizeof *more + cap * sizeof more->dead[0]);
    if (!more) return false;
    more->next = g;
    more->n = 0;
    more->cap = cap;
    b->garbage = more;
    return true;
}

static void drop(struct mem_build *b, void *p, uint64_t birth, size_t size)
{
    if (birth == b->number) {
        b->bytes_new -= size;
        mem_free(p);
        return;
    }
    struct mem_garbage *g = b->garbage;
    assert(birth < b->number && g && g->n < g->cap && size <= UINT32_MAX);
    g->dead[g->n++] = (struct mem_dead){.p = p, .birth = birth, .size = (uint32_t)size};
}
static void drop_rec(struct mem_build *b, struct mem_rec *r)
{
    drop(b, r, r->birth, mem_rec_size(r));
}
static void drop_node(struct mem_build *b, struct mem_node *n)
{
    drop(b, n, n->birth, mem_node_size(n));
}

struct mem_rec *mem_build_rec(struct mem_build *b, span key, size_t vlen)
{
    assert(key.n <= UINT32_MAX / 4 && vlen <= UINT32_MAX / 2);
    size_t size = sizeof(struct mem_rec) + key.n + vlen;
    struct mem_rec *r = mem_alloc(size);
    if (!r) return NULL;
    r->birth = b->number;
    r->klen = (uint32_t)key.n;
    r->vlen = (uint32_t)vlen;
    if (key.n) memcpy(r->bytes, key.p, key.n);
    b->bytes_new += size;
    return r;
}

void mem_build_forget(struct mem_build *b, struct mem_rec *r)
{
    assert(r->birth == b->number);
    drop_rec(b, r);
}

static struct mem_node *new_node(struct mem_build *b, unsigned level)
{
    size_t size = level ? sizeof(struct mem_inner) : sizeof(struct mem_leaf);
    struct mem_node *n = mem_alloc(size);
    if (!n) return NULL;
    *n = (struct mem_node){.birth = b->number, .level = (uint8_t)level};
    if (level) mem_keys(n)[0] = NULL;
    b->bytes_new += size;
    return n;
}

/* Sees to it that the node in the slot is the build's own. */
static bool own(struct mem_build *b, struct mem_node **slot)
{
    struct mem_node *old = *slot;
    if (old->birth == b->number) return true;
    struct mem_node *n = new_node(b, old->level);
    if (!n) return false;
    n->n = old->n;
    n->plen = old->plen;
    memcpy(n->prefix, old->prefix, sizeof n->prefix);
    memcpy(mem_heads(n), mem_heads(old), old->n * sizeof(uint64_t));
    memcpy(mem_keys(n), mem_keys(old), old->n * sizeof(struct mem_rec *));
    if (n->level)
        memcpy(mem_children(n), mem_children(old), old->n * sizeof(struct mem_node *));
    else
        memcpy(((struct mem_leaf *)n)->print, ((struct mem_leaf *)old)->print, old->n);
    *slot = n;
    drop_node(b, old);
    return true;
}

/* The shortest key that is above `low` and not above `high`. */
static struct mem_rec *new_separator(struct mem_build *b, const struct mem_rec *low,
                                     const struct mem_rec *high)
{
    size_t shared = mem_lcp(mem_rec_key(low), mem_rec_key(high), SIZE_MAX);
    assert(shared < high->klen);
    return mem_build_rec(b, SPAN(high->bytes, shared + 1), 0);
}

/* ---- splitting ---- */

static void move_tail(struct mem_node *from, unsigned mid, struct mem_node *to)
{
    unsigned n = from->n - mid;
    memcpy(mem_keys(to), mem_keys(from) + mid, n * sizeof(struct mem_rec *));
    if (from->level) {
        memcpy(mem_children(to), mem_children(from) + mid, n * sizeof(struct mem_node *));
        mem_keys(to)[0] = NULL;
    }
    to->n = (uint8_t)n;
    from->n = (uint8_t)mid;
    mem_node_rehead(from);
    mem_node_rehead(to);
}

/* Ascending and descending keys leave fuller nodes behind them. Others are split near the middle
 * where the keys differ most: at the border between two P when there is one, which gives the halves
 * longer prefixes, heads that tell more, and a short separator. */
static unsigned split_point(struct mem_node *n, unsigned at)
{
    const uint64_t *heads = mem_heads(n);
    unsigned min = mem_node_min(n), mid = n->n / 2u, best = mid;
    if (at + 1 >= n->n) return n->n - min;
    if (at == 0) return min;
    for (unsigned d = 1; d <= n->n / 6u; d++) {
        if ((heads[mid - d - 1] ^ heads[mid - d]) > (heads[best - 1] ^ heads[best])) best = mid - d;
        if ((heads[mid + d - 1] ^ heads[mid + d]) > (heads[best - 1] ^ heads[best])) best = mid + d;
    }
    return best;
}

/* Splits the full child at `at` of a parent with room; `wanted` is where in the child the next key
 * will go. Parent and child are the build's own. */
static bool split(struct mem_build *b, struct mem_node *parent, unsigned at, unsigned wanted)
{
    struct mem_node *left = mem_children(parent)[at];
    assert(left->n == mem_node_max(left) && parent->n < mem_node_max(parent));
    assert(left->birth == b->number && parent->birth == b->number);
    unsigned mid = split_point(left, wanted);
    struct mem_node *right = new_node(b, left->level);
    if (!right) return false;
    struct mem_rec **keys = mem_keys(left);
    struct mem_rec *sep = left->level ? keys[mid] : new_separator(b, keys[mid - 1], keys[mid]);
    if (!sep) {
        drop_node(b, right);
        return false;
    }
    move_tail(left, mid, right);
    mem_node_insert(parent, at + 1, sep, right);
    return true;
}

static struct mem_node *grow(struct mem_build *b)
{
    struct mem_node *root = new_node(b, b->tree.root->level + 1u);
    if (!root) return NULL;
    assert(root->level < MEM_HEIGHT_MAX);
    mem_children(root)[0] = b->tree.root;
    root->n = 1;
    b->tree.root = root;
    return root;
}

/* Splits *node, which is full and the child `at` of *parent (no parent: it is the root), and goes
 * on with the half where the key belongs. */
static bool make_room(struct mem_build *b, struct mem_node **parent, struct mem_node **node,
                      span key, unsigned wanted)
{
    unsigned at = 0;
    if (!*parent)
        *parent = grow(b);
    else
        at = mem_node_child(*parent, key);
    if (!*parent || !split(b, *parent, at, wanted)) return false;
    *node = mem_children(*parent)[mem_node_child(*parent, key)];
    return true;
}

/* The build's own leaf where the key belongs, with room for it unless it is there already. Full
 * inner nodes are split on the way down, so that a split below always finds room above. */
static struct mem_node *leaf_for(struct mem_build *b, span key, unsigned *at_out,
                                 bool *is_there_out)
{
    if (!b->tree.root && !(b->tree.root = new_node(b, 0))) return NULL;
    if (!own(b, &b->tree.root)) return NULL;
    struct mem_node *parent = NULL, *n = b->tree.root;
    while (n->level) {
        unsigned at = mem_node_child(n, key);
        if (n->n == MEM_INNER_MAX) {
            if (!make_room(b, &parent, &n, key, at)) return NULL;
            at = mem_node_child(n, key);
        }
        if (!own(b, &mem_children(n)[at])) return NULL;
        parent = n;
        n = mem_children(n)[at];
    }
    *at_out = mem_node_seek(n, key, is_there_out);
    if (*is_there_out || n->n < MEM_LEAF_MAX) return n;
    if (!make_room(b, &parent, &n, key, *at_out)) return NULL;
    *at_out = mem_node_seek(n, key, is_there_out);
    return n;
}

bool mem_build_put(struct mem_build *b, struct mem_rec *r)
{
    unsigned at;
    bool is_there;
    assert(r->birth == b->number);
    struct mem_node *leaf = reserve(b) ? leaf_for(b, mem_rec_key(r), &at, &is_there) : NULL;
    if (!leaf) {
        mem_build_forget(b, r);
        return false;
    }
    if (is_there) {
        drop_rec(b, mem_keys(leaf)[at]);
        mem_keys(leaf)[at] = r;
    } else {
        mem_node_insert(leaf, at, r, NULL);
        b->tree.n_keys++;
    }
    return true;
}

/* ---- joining ---- */

/* Takes child `at` out of its parent, with the separator that stood before it (behind it for the
 * first one), which is returned. */
static struct mem_rec *unhook(struct mem_node *parent, unsigned at)
{
    struct mem_rec **keys = mem_keys(parent);
    unsigned key_at = at ? at : 1;
    struct mem_rec *sep = key_at < parent->n ? keys[key_at] : NULL;
    mem_node_remove(parent, at, at + 1);
    if (at == 0) keys[0] = NULL;
    return sep;
}

/* Two neighbours laid out as one node that may be too large. */
struct pair {
    unsigned n, n_left;
    struct mem_rec *keys[2 * MEM_INNER_MAX];
    struct mem_node *children[2 * MEM_INNER_MAX];
};

static void gather(struct pair *p, struct mem_node *left, struct mem_node *right,
                   struct mem_rec *sep)
{
    p->n_left = left->n;
    p->n = left->n + (unsigned)right->n;
    memcpy(p->keys, mem_keys(left), left->n * sizeof p->keys[0]);
    memcpy(p->keys + left->n, mem_keys(right), right->n * sizeof p->keys[0]);
    if (left->level == 0) return;
    p->keys[left->n] = sep; /* comes down to stand before right's first child */
    memcpy(p->children, mem_children(left), left->n * sizeof p->children[0]);
    memcpy(p->children + left->n, mem_children(right), right->n * sizeof p->children[0]);
}

static void scatter(const struct pair *p, unsigned from, unsigned end, struct mem_node *to)
{
    assert(end - from <= mem_node_max(to));
    memcpy(mem_keys(to), p->keys + from, (end - from) * sizeof p->keys[0]);
    if (to->level) {
        memcpy(mem_children(to), p->children + from, (end - from) * sizeof p->children[0]);
        mem_keys(to)[0] = NULL;
    }
    to->n = (uint8_t)(end - from);
    mem_node_rehead(to);
}

/* Joins the children l and l + 1 of the parent: into one when that leaves it room to grow, else
 * each gets half. All three become the build's own. */
static bool join(struct mem_build *b, struct mem_node *parent, unsigned l)
{
    struct mem_node **children = mem_children(parent);
    assert(l + 1 < parent->n && parent->birth == b->number);
    if (!own(b, &children[l]) || !own(b, &children[l + 1])) return false;
    struct mem_node *left = children[l], *right = children[l + 1];
    struct mem_rec *sep = mem_keys(parent)[l + 1];
    struct pair p;
    gather(&p, left, right, sep);
    if (p.n <= mem_node_max(left) / 4 * 3) {
        scatter(&p, 0, p.n, left);
        unhook(parent, l + 1);
        drop_node(b, right);
    } else {
        unsigned mid = p.n / 2;
        struct mem_rec *up =
            left->level ? p.keys[mid] : new_separator(b, p.keys[mid - 1], p.keys[mid]);
        if (!up) return false;
        scatter(&p, 0, mid, left);
        scatter(&p, mid, p.n, right);
        mem_node_set_key(parent, l + 1, up);
    }
    if (left->level == 0) drop_rec(b, sep);
    return true;
}

/* After a leaf has lost records: joins nodes that have too few, from the leaf upwards. The path's
 * nodes are the build's own. */
static bool mend(struct mem_build *b, struct mem_path *p)
{
    for (unsigned d = p->depth - 1; d > 0; d--) {
        struct mem_node *n = p->step[d].node, *parent = p->step[d - 1].node;
        unsigned at = p->step[d - 1].at;
        if (n->n >= mem_node_min(n)) return true;
        if (n->n == 0) {
            struct mem_rec *sep = unhook(parent, at);
            if (sep) drop_rec(b, sep);
            drop_node(b, n);
        } else if (parent->n > 1 && !join(b, parent, at ? at - 1 : 0)) {
            return false;
        }
    }
    struct mem_node *root = b->tree.root;
    while (root->n == (root->level ? 1 : 0)) {
        b->tree.root = root->level ? mem_children(root)[0] : NULL;
        drop_node(b, root);
        root = b->tree.root;
        if (!root) break;
    }
    return true;
}

static bool own_path(struct mem_build *b, struct mem_path *p)
{
    struct mem_node **slot = &b->tree.root;
    for (unsigned d = 0; d < p->depth; d++) {
        if (!own(b, slot)) return false;
        p->step[d].node = *slot;
        if (d + 1 < p->depth) slot = &mem_children(*slot)[p->step[d].at];
    }
    return true;
}

/* Removes the records of the path's leaf from its place up to `end`. */
static bool remove_run(struct mem_build *b, struct mem_path *p, unsigned end)
{
    if (!own_path(b, p)) return false;
    struct mem_node *leaf = p->step[p->depth - 1].node;
    unsigned at = p->step[p->depth - 1].at;
    for (unsigned i = at; i < end; i++) drop_rec(b, mem_keys(leaf)[i]);
    mem_node_remove(leaf, at, end);
    b->tree.n_keys -= end - at;
    return mend(b, p);
}

bool mem_build_del(struct mem_build *b, span key)
{
    struct mem_path p;
    if (!mem_path_seek(&p, &b->tree, key)) return true;
    if (!span_eq(mem_rec_key(mem_path_rec(&p)), key)) return true;
    return reserve(b) && remove_run(b, &p, p.step[p.depth - 1].at + 1);
}

/* Where the records below `end` stop in the path's leaf. */
static unsigned run_end(const struct mem_path *p, span end)
{
    const struct mem_node *leaf = p->step[p->depth - 1].node;
    bool is_equal;
    return end.p ? mem_node_seek(leaf, end, &is_equal) : leaf->n;
}

bool mem_build_cut(struct mem_build *b, struct mem_cut *cut)
{
    struct mem_path p;
    cut->n_removed = 0;
    while (cut->max == 0 || cut->n_removed < cut->max) {
        if (!mem_path_seek(&p, &b->tree, cut->lo)) return true;
        unsigned at = p.step[p.depth - 1].at, end = run_end(&p, cut->end);
        if (end <= at) return true;
        if (!reserve(b) || !remove_run(b, &p, end)) return false;
        cut->n_removed += end - at;
    }
    return true;
}

/* ---- the end of a build, the end of a tree ---- */

/* Frees the objects under n that were born at `birth`, or all when it is 0. A node made by an older
 * build has nothing below it that was made by a newer one. As deep as the tree is high. */
static void free_born(struct mem_node *n, uint64_t birth)
{
    if (birth && n->birth != birth) return;
    struct mem_rec **keys = mem_keys(n);
    for (unsigned i = mem_first(n); i < n->n; i++)
        if (!birth || keys[i]->birth == birth) mem_free(keys[i]);
    for (unsigned i = 0; n->level && i < n->n; i++) free_born(mem_children(n)[i], birth);
    mem_free(n);
}

void mem_build_abort(struct mem_build *b)
{
    if (b->tree.root) free_born(b->tree.root, b->number);
    while (b->garbage) {
        struct mem_garbage *next = b->garbage->next;
        mem_free(b->garbage);
        b->garbage = next;
    }
    b->tree = (struct mem_tree){0};
}

void mem_tree_free(struct mem_tree *t)
{
    if (t->root) free_born(t->root, 0);
    *t = (struct mem_tree){0};
}
