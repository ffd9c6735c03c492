/* Turns one node's sorted keys into positions and keeps its prefix and heads true.
 *
 * Know before editing: plen may be shorter than the prefix the keys really share (removing keys
 * does not lengthen it), never longer. */
#include "engine/mem/node.h"

size_t mem_lcp(span a, span b, size_t max)
{
    const uint8_t *x = a.p, *y = b.p;
    size_t n = a.n < b.n ? a.n : b.n, i = 0;
    if (n > max) n = max;
    while (i < n && x[i] == y[i]) i++;
    return i;
}

uint64_t mem_head_of(span key, size_t at)
{
    const uint8_t *b = (const uint8_t *)key.p + at;
    uint64_t head = 0;
    assert(at <= key.n);
    if (key.n - at >= 8) {
        memcpy(&head, b, 8);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        head = __builtin_bswap64(head);
#endif
        return head;
    }
    for (size_t i = 0; i < key.n - at; i++) head |= (uint64_t)b[i] << (56 - 8 * i);
    return head;
}

uint8_t mem_print_of(span key)
{
    const uint8_t *b = key.p;
    uint64_t h = key.n, word;
    for (size_t left = key.n; left > 0;) {
        size_t n = left < 8 ? left : 8;
        word = 0;
        memcpy(&word, b, n);
        h = (h ^ word) * 0x9E3779B97F4A7C15u;
        h ^= h >> 32;
        b += n;
        left -= n;
    }
    return (uint8_t)(h >> 16);
}

static span prefix_of(struct mem_node *n)
{
    return n->plen <= MEM_PREFIX_MAX ? SPAN(n->prefix, n->plen)
                                     : SPAN(mem_keys(n)[mem_first(n)]->bytes, n->plen);
}

/* <0: the key comes before every key with the node's prefix; >0: after; 0: it has the prefix. A
 * long prefix is in the first key; mostly what is in the node decides without touching that. */
static int cmp_prefix(span key, struct mem_node *node)
{
    size_t near = node->plen < MEM_PREFIX_MAX ? node->plen : MEM_PREFIX_MAX;
    if (key.n < near) near = key.n;
    int c = memcmp(key.p, node->prefix, near);
    if (c) return c;
    span prefix = prefix_of(node);
    size_t n = key.n < prefix.n ? key.n : prefix.n;
    if (n > near)
        c = memcmp((const uint8_t *)key.p + near, (const uint8_t *)prefix.p + near, n - near);
    return c ? c : (key.n < prefix.n ? -1 : 0);
}

static void set_prefix(struct mem_node *n, span key, size_t plen)
{
    assert(plen <= key.n && plen <= UINT16_MAX);
    n->plen = (uint16_t)plen;
    if (plen) memcpy(n->prefix, key.p, plen < MEM_PREFIX_MAX ? plen : MEM_PREFIX_MAX);
}

unsigned mem_node_seek(const struct mem_node *n, span key, bool *is_equal_out)
{
    struct mem_node *node = (struct mem_node *)(uintptr_t)n;
    const uint64_t *heads = mem_heads(node);
    struct mem_rec *const *keys = mem_keys(node);
    unsigned first = mem_first(n), end = n->n;
    *is_equal_out = false;
    if (first >= end) return first;
    if (n->plen) {
        int c = cmp_prefix(key, node);
        if (c) return c < 0 ? first : end;
    }
    uint64_t head = mem_head_of(key, n->plen);
    unsigned lo = first + mem_count_less(heads + first, end - first, head), hi = lo;
    while (hi < end && heads[hi] == head) hi++;
    while (lo < hi) {
        unsigned mid = lo + (hi - lo) / 2;
        int c = span_cmp(mem_rec_key(keys[mid]), key);
        if (c == 0) {
            *is_equal_out = true;
            return mid;
        }
        if (c < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static void fill_heads(struct mem_node *n, unsigned at, unsigned end)
{
    uint64_t *heads = mem_heads(n);
    struct mem_rec **keys = mem_keys(n);
    for (unsigned i = at; i < end; i++) __builtin_prefetch(keys[i]);
    for (unsigned i = at; i < end; i++) heads[i] = mem_head_of(mem_rec_key(keys[i]), n->plen);
}

void mem_node_rehead(struct mem_node *n)
{
    unsigned first = mem_first(n), end = n->n;
    n->plen = 0;
    if (first >= end) return;
    struct mem_rec **keys = mem_keys(n);
    span low = mem_rec_key(keys[first]), high = mem_rec_key(keys[end - 1]);
    set_prefix(n, low, mem_lcp(low, high, UINT16_MAX)); /* what lies between shares it */
    fill_heads(n, first, end);
    for (unsigned i = 0; n->level == 0 && i < end; i++)
        ((struct mem_leaf *)n)->print[i] = mem_print_of(mem_rec_key(keys[i]));
}

/* Makes sure that the key has the node's prefix, by shortening that. */
static void admit(struct mem_node *n, span key)
{
    unsigned first = mem_first(n);
    if (first >= n->n) {
        set_prefix(n, key, key.n < UINT16_MAX ? key.n : UINT16_MAX);
        return;
    }
    size_t shared = mem_lcp(key, prefix_of(n), n->plen);
    if (shared == n->plen) return;
    n->plen = (uint16_t)shared;
    fill_heads(n, first, n->n);
}

void mem_node_insert(struct mem_node *n, unsigned at, struct mem_rec *key, struct mem_node *child)
{
    uint64_t *heads = mem_heads(n);
    struct mem_rec **keys = mem_keys(n);
    size_t behind = n->n - at;
    assert(n->n < mem_node_max(n) && at >= mem_first(n) && at <= n->n);
    admit(n, mem_rec_key(key));
    memmove(heads + at + 1, heads + at, behind * sizeof *heads);
    memmove(keys + at + 1, keys + at, behind * sizeof *keys);
    heads[at] = mem_head_of(mem_rec_key(key), n->plen);
    keys[at] = key;
    if (n->level) {
        struct mem_node **children = mem_children(n);
        memmove(children + at + 1, children + at, behind * sizeof *children);
        children[at] = child;
    } else {
        uint8_t *prints = ((struct mem_leaf *)n)->print;
        memmove(prints + at + 1, prints + at, behind);
        prints[at] = mem_print_of(mem_rec_key(key));
    }
    n->n++;
}

void mem_node_remove(struct mem_node *n, unsigned at, unsigned end)
{
    uint64_t *heads = mem_heads(n);
    struct mem_rec **keys = mem_keys(n);
    size_t behind = n->n - end;
    assert(at < end && end <= n->n);
    memmove(heads + at, heads + end, behind * sizeof *heads);
    memmove(keys + at, keys + end, behind * sizeof *keys);
    if (n->level) {
        struct mem_node **children = mem_children(n);
        memmove(children + at, children + end, behind * sizeof *children);
    } else {
        uint8_t *prints = ((struct mem_leaf *)n)->print;
        memmove(prints + at, prints + end, behind);
    }
    n->n = (uint8_t)(n->n - (end - at));
}

void mem_node_set_key(struct mem_node *n, unsigned at, struct mem_rec *key)
{
    assert(n->level > 0 && at >= mem_first(n) && at < n->n);
    admit(n, mem_rec_key(key)); /* the old key is still there to compare with */
    mem_keys(n)[at] = key;
    mem_heads(n)[at] = mem_head_of(mem_rec_key(key), n->plen);
}
