/* Turns one malloc into many small allocations. Know before editing: blocks double from 4 KiB to
 * 256 KiB, a request larger than that gets a block of its own, and a block is never moved, so
 * pointers into an arena stay good until reset or deinit. */
#include "base/arena.h"

#include "base/mem.h"

#include <assert.h>

enum { ALIGN = 16, FIRST_BLOCK = 4096, AFTER_ROOM = 16384, LAST_BLOCK = 256 * 1024 };

struct arena_block {
    struct arena_block *next;
    size_t size; /* header included */
};

_Static_assert(sizeof(struct arena_block) % ALIGN == 0,
               "the first allocation of a block must be aligned");

void arena_init(struct arena *a, size_t ceiling) { *a = (struct arena){.ceiling = ceiling}; }

void arena_init_in(struct arena *a, void *room, size_t n, size_t ceiling)
{
    assert(((uintptr_t)room & (ALIGN - 1)) == 0);
    *a = (struct arena){.ceiling = ceiling, .room = room, .room_n = n};
    a->at = a->room;
    a->end = a->room + n;
}

/* Nothing of the heap in use: back to the caller's storage, when there is some. */
static void start_over(struct arena *a)
{
    if (a->room)
        arena_init_in(a, a->room, a->room_n, a->ceiling);
    else
        arena_init(a, a->ceiling);
}

void arena_deinit(struct arena *a)
{
    struct arena_block *next;
    for (struct arena_block *b = a->head; b; b = next) {
        next = b->next;
        mem_free(b);
    }
    start_over(a);
}

void arena_reset(struct arena *a)
{
    struct arena_block *keep = a->head;
    if (!keep) {
        start_over(a);
        return;
    }
    a->head = keep->next;
    arena_deinit(a);
    keep->next = NULL;
    a->head = keep;
    a->at = (uint8_t *)keep + sizeof *keep;
    a->end = (uint8_t *)keep + keep->size;
    a->used = keep->size;
}

void arena_rewind(struct arena *a, struct arena_mark mark)
{
    while (a->head != mark.head) {
        struct arena_block *newest = a->head;
        assert(newest); /* else the mark is not of this arena */
        a->head = newest->next;
        a->used -= newest->size;
        mem_free(newest);
    }
    a->at = mark.at;
    a->end = a->head ? (uint8_t *)a->head + a->head->size : a->room ? a->room + a->room_n : NULL;
}

static bool refuse(struct arena *a)
{
    a->is_over = true;
    return false;
}

/* A new newest block with room for n bytes. */
static bool grow(struct arena *a, size_t n)
{
    if (n > a->ceiling) return refuse(a);
    size_t size = a->head ? a->head->size * 2 : a->room ? AFTER_ROOM : FIRST_BLOCK;
    if (size > LAST_BLOCK) size = LAST_BLOCK;
    if (size < n + sizeof(struct arena_block)) size = n + sizeof(struct arena_block);
    if (a->used + size > a->ceiling) {
        size = n + sizeof(struct arena_block); /* near the ceiling: no more than is needed */
        if (a->used + size > a->ceiling) return refuse(a);
    }
    struct arena_block *b = mem_alloc(size);
    if (!b) return false;
    b->next = a->head;
    b->size = size;
    a->head = b;
    a->used += size;
    a->at = (uint8_t *)b + sizeof *b;
    a->end = (uint8_t *)b + size;
    return true;
}

void *arena_alloc(struct arena *a, size_t n)
{
    if (n == 0) n = 1;
    uint8_t *p = (uint8_t *)(((uintptr_t)a->at + (ALIGN - 1)) & ~(uintptr_t)(ALIGN - 1));
    if (!a->at || p > a->end || n > (size_t)(a->end - p)) {
        if (!grow(a, n)) return NULL;
        p = a->at;
    }
    assert(((uintptr_t)p & (ALIGN - 1)) == 0);
    a->at = p + n;
    return p;
}

void *arena_zalloc(struct arena *a, size_t n)
{
    void *p = arena_alloc(a, n);
    if (p) memset(p, 0, n);
    return p;
}

void *arena_zalloc_array(struct arena *a, size_t n, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(n, size, &total)) return NULL;
    return arena_zalloc(a, total);
}

uint8_t *arena_bytes(struct arena *a, size_t n)
{
    if (n == 0) n = 1;
    if (!a->at || n > (size_t)(a->end - a->at)) {
        if (!grow(a, n)) return NULL;
    }
    uint8_t *p = a->at;
    a->at += n;
    return p;
}

span arena_dup(struct arena *a, span s)
{
    uint8_t *p = arena_bytes(a, s.n);
    if (!p) return SPAN_NONE;
    if (s.n) memcpy(p, s.p, s.n);
    return SPAN(p, s.n);
}
