/* Turns what epoll says, what other threads post and what the clock says into the work of one turn.
 *
 * Know before editing: the order within a turn is part of the contract (inner.h): answers leave at
 * its end, after turn_end, so that writes that arrived together can share one durability. */
#include "http/inner.h"

#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* ---- posts ---- */

void loop_wake(struct http_loop *l)
{
    if (atomic_exchange(&l->is_woken, true)) return;
    uint64_t one = 1;
    ssize_t n = write(l->wake, &one, sizeof one);
    (void)n; /* fails only when the counter is full: then it is awake anyway */
}

void loop_wake_all(struct http_server *s)
{
    for (uint32_t i = 0; i < s->n_loops; i++) loop_wake(&s->loops[i]);
}

static bool posts_add(struct posts *p, struct post post)
{
    if (p->n == p->cap) {
        size_t cap = p->cap ? p->cap * 2 : 64;
        struct post *more = mem_realloc(p->p, cap * sizeof *more);
        if (!more) return false;
        p->p = more;
        p->cap = cap;
    }
    p->p[p->n++] = post;
    return true;
}

sheaf_rc http_loop_post(struct http_loop *l, void (*fn)(void *ctx), void *ctx)
{
    pthread_mutex_lock(&l->inbox_lock);
    bool is_added = posts_add(&l->inbox, (struct post){fn, ctx});
    pthread_mutex_unlock(&l->inbox_lock);
    if (!is_added) return SHEAF_NOMEM;
    loop_wake(l);
    return SHEAF_OK;
}

/* Those posted so far; what they post comes in the next turn. The two arrays change places, so that
 * steady traffic allocates nothing. */
static void run_posts(struct http_loop *l)
{
    pthread_mutex_lock(&l->inbox_lock);
    struct posts now = l->inbox;
    l->inbox = l->running;
    l->running = now;
    pthread_mutex_unlock(&l->inbox_lock);
    for (size_t i = 0; i < now.n; i++) now.p[i].fn(now.p[i].ctx);
    l->running.n = 0;
}

/* ---- one turn ---- */

static void look(struct http_loop *l, const struct epoll_event *e)
{
    if (e->data.ptr == &l->listener) {
        (void)listen_accept(l); /* what is left keeps the socket readable */
    } else if (e->data.ptr == &l->wake) {
        uint64_t n;
        ssize_t got = read(l->wake, &n, sizeof n);
        (void)got;
        /* Before the inbox and the flags are looked at, and read as well as written, so that what
         * a waker did before is seen: no post is missed. */
        (void)atomic_exchange(&l->is_woken, false);
    } else {
        conn_event(e->data.ptr, e->events);
    }
}

static void go_on(struct http_loop *l)
{
    struct conn *ready = l->ready;
    l->ready = NULL;
    while (ready) {
        struct conn *c = ready;
        ready = c->next_ready;
        c->is_ready = false;
        if (c->phase != PHASE_CLOSED && c->phase != PHASE_HANDSHAKE) conn_read(c);
    }
}

/* Those waiting for memory, in order; who needs less may go before who needs more. */
static void admit_waiting(struct http_loop *l)
{
    struct conn *next;
    for (struct conn *c = l->waiting; c; c = next) {
        next = c->next_waiting;
        conn_read(c);
    }
}

static bool is_memory_short(const struct http_loop *l)
{
    return atomic_load_explicit(&l->server->budget.n_waiting, memory_order_relaxed) != 0;
}

/* Room for those who wait, from those who make us wait. What one leaves goes to the former before
 * anybody new is heard. */
static void make_room(struct http_loop *l)
{
    for (int i = 0; i < SHEDS && is_memory_short(l) && shed_slow(l); i++) admit_waiting(l);
}

static void look_at_clock(struct http_loop *l)
{
    struct wheel_entry *e;
    while ((e = wheel_pop(&l->wheel, l->now_ns))) {
        if (e == &l->accept_timer)
            listen_resume(l);
        else
            conn_timer((struct conn *)e);
    }
}

static void write_answers(struct http_loop *l)
{
    while (l->dirty) {
        struct conn *c = l->dirty;
        l->dirty = c->next_dirty;
        c->is_dirty = false;
        conn_flush(c);
    }
}

/* Stops accepting and ends what is idle; once. A request that is in a socket already is still
 * read. */
static void begin_drain(struct http_loop *l)
{
    while (listen_accept(l)) {}
    listen_close(l);
    l->is_draining = true;
    struct conn *next;
    for (struct conn *c = l->conns; c; c = next) {
        next = c->right;
        if (c->phase == PHASE_HANDSHAKE) {
            conn_close(c);
            continue;
        }
        c->is_readable = true;
        conn_read(c);
        if (conn_is_idle(c)) conn_close(c);
    }
}

static void report_drained(struct http_loop *l)
{
    if (!l->is_draining || l->is_drained || l->n_conns || l->n_exchanges) return;
    struct http_server *s = l->server;
    l->is_drained = true;
    if (atomic_fetch_add(&s->n_drained, 1) + 1 < s->n_loops) return;
    uint64_t one = 1;
    ssize_t n = write(s->drained, &one, sizeof one);
    (void)n;
}

static int wait_ms(const struct http_loop *l)
{
    if (l->ready) return 0;
    uint64_t ns = wheel_wait(&l->wheel, l->now_ns);
    if (is_memory_short(l) && ns > SHED_LOOK_MS * 1000000ull) return SHED_LOOK_MS;
    if (ns == UINT64_MAX) return -1;
    return (int)(ns / 1000000 + 1);
}

static void turn(struct http_loop *l)
{
    struct epoll_event events[EVENTS];
    struct http_server *s = l->server;
    int n = epoll_wait(l->epoll, events, EVENTS, wait_ms(l));
    l->now_ns = clock_mono_ns(l->clock);
    admit_waiting(l); /* before anybody new takes what they wait for */
    for (int i = 0; i < n; i++) look(l, &events[i]);
    run_posts(l);
    go_on(l);
    make_room(l);
    look_at_clock(l);
    if (!l->is_draining && atomic_load_explicit(&s->is_draining, memory_order_acquire))
        begin_drain(l);
    if (l->had_request && s->handler.turn_end) s->handler.turn_end(s->handler.ctx, l);
    l->had_request = false;
    write_answers(l);
    shed_unread(l);
    conn_reap(l);
    report_drained(l);
}

static void *run(void *arg)
{
    struct http_loop *l = arg;
    /* A lost client is an error of a call, not a signal (OpenSSL writes without MSG_NOSIGNAL), and
     * the process's signals are not for this thread. */
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    while (!atomic_load_explicit(&l->server->is_ending, memory_order_acquire)) turn(l);
    run_posts(l);
    write_answers(l);
    return NULL;
}

/* ---- life ---- */

static bool watch(struct http_loop *l, int fd, void *what)
{
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = what};
    return epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &e) == 0;
}

sheaf_rc loop_init(struct http_loop *l, struct http_server *s, sheaf_error *err)
{
    l->server = s;
    l->clock = s->options.clock;
    l->listener = -1;
    l->now_ns = clock_mono_ns(l->clock);
    l->date_s = INT64_MIN;
    wheel_init(&l->wheel, l->now_ns);
    pthread_mutex_init(&l->inbox_lock, NULL);
    l->epoll = epoll_create1(EPOLL_CLOEXEC);
    l->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    l->scratch = mem_alloc(READ_BYTES);
    if (!l->scratch) return err_nomem(err);
    if (l->epoll < 0 || l->wake < 0 || !watch(l, l->wake, &l->wake))
        return err_set(err, SHEAF_IO, "An event loop cannot be made: %s", strerror(errno));
    return SHEAF_OK;
}

sheaf_rc loop_start(struct http_loop *l, sheaf_error *err)
{
    listen_resume(l);
    int e = pthread_create(&l->thread, NULL, run, l);
    if (e) return err_set(err, SHEAF_IO, "A thread cannot be started: %s", strerror(e));
    l->is_started = true;
    return SHEAF_OK;
}

void loop_deinit(struct http_loop *l)
{
    listen_close(l);
    while (l->conns) conn_close(l->conns);
    conn_reap(l);
    while (l->exchanges) exchange_free(l->exchanges);
    exchange_pool_deinit(l);
    if (l->wake >= 0) close(l->wake);
    l->wake = -1; /* loops that end later may still want to wake this one */
    if (l->epoll >= 0) close(l->epoll);
    mem_free(l->inbox.p);
    mem_free(l->running.p);
    mem_free(l->scratch);
    pthread_mutex_destroy(&l->inbox_lock);
}

void *http_loop_user(struct http_loop *l) { return l->user; }
void http_loop_set_user(struct http_loop *l, void *user) { l->user = user; }
