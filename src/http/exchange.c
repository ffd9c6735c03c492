/* Turns blocks of a loop's pool into exchanges and back.
 *
 * Know before editing: an exchange and the first bytes of its arena are one block, kept by the loop
 * for the next request, so that a small request takes nothing from the heap. */
#include "http/inner.h"

enum { ROOM_AT = (sizeof(struct http_exchange) + 15) & ~15u };

_Static_assert(ROOM_AT < EXCHANGE_BYTES / 8, "most of the block is the arena's");

struct http_exchange *exchange_new(struct http_loop *l, struct conn *c)
{
    struct http_exchange *x = l->spare;
    if (x) {
        l->spare = x->next;
        l->n_spare--;
    } else {
        x = mem_alloc(EXCHANGE_BYTES);
        if (!x) return NULL;
    }
    *x = (struct http_exchange){.loop = l, .conn = c, .right = l->exchanges};
    size_t ceiling = (size_t)l->server->options.max_body * 8 + ((size_t)64 << 20);
    arena_init_in(&x->arena, (uint8_t *)x + ROOM_AT, EXCHANGE_BYTES - ROOM_AT, ceiling);
    buf_init(&x->extra, &x->arena, 1 << 20);
    if (x->right) x->right->left = x;
    l->exchanges = x;
    l->n_exchanges++;
    return x;
}

void exchange_reserve(struct http_exchange *x, uint64_t n)
{
    if (n <= x->reserved) return;
    budget_force(&x->loop->server->budget, n - x->reserved);
    x->reserved = n;
}

void exchange_free(struct http_exchange *x)
{
    struct http_loop *l = x->loop;
    struct http_server *s = l->server;
    if (x->is_handed && s->handler.done) s->handler.done(s->handler.ctx, x);
    arena_deinit(&x->arena);
    mem_free(x->heap_body);
    if (x->right) x->right->left = x->left;
    if (x->left) x->left->right = x->right;
    if (l->exchanges == x) l->exchanges = x->right;
    l->n_exchanges--;
    if (x->reserved && budget_release(&s->budget, x->reserved)) loop_wake_all(s);
    if (l->n_spare == SPARE_EXCHANGES) {
        mem_free(x);
        return;
    }
    x->next = l->spare;
    l->spare = x;
    l->n_spare++;
}

void exchange_lose(struct http_exchange *x)
{
    x->conn = NULL;
    x->next = NULL;
    /* One that the handler works on is freed by its answer. */
    if (x->status || !x->is_handed) exchange_free(x);
}

void exchange_pool_deinit(struct http_loop *l)
{
    while (l->spare) {
        struct http_exchange *x = l->spare;
        l->spare = x->next;
        mem_free(x);
    }
    l->n_spare = 0;
}

/* ---- what the handler sees ---- */

const struct http_request *http_request(const struct http_exchange *x) { return &x->request; }

span http_header(const struct http_exchange *x, span name)
{
    for (uint32_t i = 0; i < x->request.n_headers; i++)
        if (span_eq(x->request.headers[i].name, name)) return x->request.headers[i].value;
    return SPAN_NONE;
}

struct arena *http_arena(struct http_exchange *x) { return &x->arena; }
void http_hold(struct http_exchange *x) { exchange_reserve(x, x->arena.used + EXCHANGE_BYTES); }
struct http_loop *http_exchange_loop(struct http_exchange *x) { return x->loop; }
void http_set_user(struct http_exchange *x, void *user) { x->user = user; }
void *http_user(const struct http_exchange *x) { return x->user; }
uint64_t http_started_ns(const struct http_exchange *x) { return x->started_ns; }
int http_status(const struct http_exchange *x) { return x->status; }
uint64_t http_bytes_out(const struct http_exchange *x) { return x->sent; }
