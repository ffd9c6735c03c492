/* Turns options into a server: its loops, their threads, and the way to the end. */
#include "http/inner.h"
#include "http/tls.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

static void default_u32(uint32_t *option, uint32_t value)
{
    if (*option == 0) *option = value;
}

static void fill_in(struct http_options *o)
{
    if (!o->host) o->host = "127.0.0.1";
    if (!o->clock) o->clock = clock_system();
    default_u32(&o->max_line, 16384);
    default_u32(&o->max_head, 16384);
    default_u32(&o->max_headers, 100);
    default_u32(&o->max_body, 16 << 20);
    default_u32(&o->max_connections, 10000);
    default_u32(&o->max_pipelined, 64);
    if (o->memory_budget == 0) o->memory_budget = 512ull << 20;
    default_u32(&o->head_ms, 10000);
    default_u32(&o->body_ms, 60000);
    default_u32(&o->idle_ms, 60000);
    default_u32(&o->write_ms, 60000);
    default_u32(&o->tls_ms, 10000);
}

static uint32_t n_cores(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > 256 ? 256 : (uint32_t)n;
}

static sheaf_rc open_all(struct http_server *s, sheaf_error *err)
{
    s->drained = eventfd(0, EFD_CLOEXEC);
    if (s->drained < 0)
        return err_set(err, SHEAF_IO, "An event descriptor cannot be made: %s", strerror(errno));
    uint32_t n = s->options.n_loops ? s->options.n_loops : n_cores();
    s->loops = mem_zalloc(n * sizeof *s->loops);
    if (!s->loops) return err_nomem(err);
    while (s->n_loops < n) {
        sheaf_rc rc = loop_init(&s->loops[s->n_loops++], s, err);
        if (rc != SHEAF_OK) return rc;
    }
    const struct http_options *o = &s->options;
    if (o->tls_cert) TRY(tls_open(o->tls_cert, o->tls_key, &s->tls, err));
    return listen_open(s, err);
}

sheaf_rc http_server_open(const struct http_options *options, const struct http_handler *handler,
                          struct http_server **server_out, sheaf_error *err)
{
    *server_out = NULL;
    struct http_server *s = mem_zalloc(sizeof *s);
    if (!s) return err_nomem(err);
    s->options = *options;
    s->handler = *handler;
    s->drained = s->unix_folder = -1;
    fill_in(&s->options);
    budget_init(&s->budget, s->options.memory_budget);
    sheaf_rc rc = open_all(s, err);
    if (rc != SHEAF_OK) {
        http_server_close(s);
        return rc;
    }
    *server_out = s;
    return SHEAF_OK;
}

uint16_t http_server_port(const struct http_server *s) { return s->port; }

sheaf_rc http_server_start(struct http_server *s, sheaf_error *err)
{
    for (uint32_t i = 0; i < s->n_loops; i++) TRY(loop_start(&s->loops[i], err));
    return SHEAF_OK;
}

sheaf_rc http_server_reload_tls(struct http_server *s, sheaf_error *err)
{
    if (!s->tls) return SHEAF_OK;
    return tls_reload(s->tls, s->options.tls_cert, s->options.tls_key, err);
}

void http_server_poke(struct http_server *s) { loop_wake_all(s); }

bool http_server_drain(struct http_server *s, uint32_t ms)
{
    struct clock_source *clock = clock_system(); /* poll waits in its time, whatever is injected */
    uint64_t end_ns = clock_mono_ns(clock) + ms * 1000000ull;
    atomic_store_explicit(&s->is_draining, true, memory_order_release);
    loop_wake_all(s);
    for (;;) {
        uint64_t now_ns = clock_mono_ns(clock);
        int left_ms = now_ns >= end_ns ? 0 : (int)((end_ns - now_ns + 999999) / 1000000);
        struct pollfd p = {.fd = s->drained, .events = POLLIN};
        int n = poll(&p, 1, left_ms);
        if (n > 0) return true; /* left unread: it stays drained */
        if (n == 0) return false;
    }
}

void http_server_close(struct http_server *s)
{
    if (!s) return;
    atomic_store_explicit(&s->is_ending, true, memory_order_release);
    loop_wake_all(s);
    for (uint32_t i = 0; i < s->n_loops; i++)
        if (s->loops[i].is_started) pthread_join(s->loops[i].thread, NULL);
    for (uint32_t i = 0; i < s->n_loops; i++) loop_deinit(&s->loops[i]);
    listen_unix_close(s);
    if (s->drained >= 0) close(s->drained);
    tls_close(s->tls);
    mem_free(s->loops);
    mem_free(s);
}

void http_server_stats(struct http_server *s, struct http_stats *out)
{
    *out = (struct http_stats){.connections = atomic_load(&s->n_conns),
                               .memory = atomic_load(&s->budget.used),
                               .memory_peak = atomic_load(&s->budget.peak)};
    for (uint32_t i = 0; i < s->n_loops; i++) {
        struct figures *f = &s->loops[i].figures;
        out->accepted += atomic_load_explicit(&f->accepted, memory_order_relaxed);
        out->requests += atomic_load_explicit(&f->requests, memory_order_relaxed);
        out->refused += atomic_load_explicit(&f->refused, memory_order_relaxed);
        out->bytes_in += atomic_load_explicit(&f->bytes_in, memory_order_relaxed);
        out->bytes_out += atomic_load_explicit(&f->bytes_out, memory_order_relaxed);
    }
}
