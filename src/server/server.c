/* Turns options into a server that runs until it is told to end.
 *
 *   options → listen → keys → database → loops → "ready" → signals → drain → close
 *
 * Know before editing: signals are blocked before the first thread is made and taken by sigwait
 * here; the only handler is the one that ends the process at a second signal. It listens before the database is opened, so that the
 * directory's lock can name the port; nothing is accepted before the loops start. */
#include "server/server.h"

#include "server/faults.h"
#include "server/state.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EXIT_OK, EXIT_FAILED, EXIT_USAGE };
enum { OPTIONS_ARENA_MAX = 16 << 20, FILES_BESIDE_CONNECTIONS = 2048 };

static int complain(const sheaf_error *err, int status)
{
    fprintf(stderr, "sheaf: %s\n", err->message);
    return status;
}

/* ---- opening ---- */

static const char *listen_host(const struct server_options *o)
{
    return strcmp(o->host, "localhost") == 0 ? "127.0.0.1" : o->host;
}

/* Where a program of this machine finds it: "any address" is none to connect to. */
static const char *reachable_host(const struct server_options *o)
{
    const char *host = listen_host(o);
    return strcmp(host, "0.0.0.0") == 0 ? "127.0.0.1" : strcmp(host, "::") == 0 ? "::1" : host;
}

static sheaf_rc listen_on(struct server *s, sheaf_error *err)
{
    const struct server_options *o = &s->options;
    struct http_options h = {
        .host = listen_host(o),
        .port = (uint16_t)o->port,
        .n_loops = (uint32_t)o->loops,
        .tls_cert = *o->tls_cert ? o->tls_cert : NULL,
        .tls_key = *o->tls_key ? o->tls_key : NULL,
        .max_connections = (uint32_t)o->max_connections,
        .memory_budget = o->memory_budget,
        .head_ms = (uint32_t)o->head_timeout_ms,
        .body_ms = (uint32_t)o->body_timeout_ms,
        .idle_ms = (uint32_t)o->idle_timeout_ms,
        .write_ms = (uint32_t)o->write_timeout_ms,
    };
    struct http_handler handler = server_handler(s);
    return http_server_open(&h, &handler, &s->http, err);
}

static sheaf_rc split_regions(struct server *s, sheaf_error *err)
{
    const char *at = s->options.auth_regions;
    while (*at) {
        size_t n = strcspn(at, ",");
        if (s->n_regions == REGIONS_MAX)
            return err_validation(err, "--auth-regions names more than %d", REGIONS_MAX);
        if (n) s->regions[s->n_regions++] = SPAN(at, n);
        at += n + (at[n] == ',');
    }
    return SHEAF_OK;
}

/* The engine's message ends as an embedded program needs it; here the directory is an option. */
static sheaf_rc name_the_option(sheaf_rc rc, sheaf_error *err)
{
    static const char there[] = "another directory", here[] = "another --data";
    size_t n = strlen(err->message);
    if (rc == SHEAF_OK || n < sizeof there) return rc;
    char *end = err->message + n - (sizeof there - 1);
    if (strcmp(end, there) == 0) memcpy(end, here, sizeof here);
    return rc;
}

/* The seed is drawn here, not by the database: a failure can be repeated only if it was told. */
static sheaf_rc read_faults(struct server *s, struct sheaf_fault **faults_out, size_t *n_out,
                            sheaf_error *err)
{
    struct server_options *o = &s->options;
    *faults_out = NULL;
    *n_out = 0;
    if (!*o->faults) return SHEAF_OK;
    TRY(faults_read(&s->arena, o->faults, faults_out, n_out, err));
    for (size_t i = 0; i < *n_out; i++) s->has_random_faults |= (*faults_out)[i].one_in != 0;
    if (s->has_random_faults && o->seed == 0) o->seed = (uint64_t)clock_now_us(s->clock);
    return SHEAF_OK;
}

static sheaf_rc open_database(struct server *s, sheaf_error *err)
{
    const struct server_options *o = &s->options;
    struct sheaf_fault *faults;
    size_t n_faults;
    char owner[64];
    TRY(read_faults(s, &faults, &n_faults, err));
    snprintf(owner, sizeof owner, "sheaf serve on port %u", http_server_port(s->http));
    struct sheaf_options d = {.durability = s->is_relaxed ? SHEAF_RELAXED : SHEAF_SYNC,
                              .region = o->region,
                              .owner = owner,
                              .cache_bytes = o->cache,
                              .gsi_lag_ms = (uint32_t)o->gsi_lag_ms,
                              .throttle = o->throttle,
                              .faults = faults,
                              .n_faults = n_faults,
                              .seed = o->seed};
    TRY(name_the_option(sheaf_open(o->memory ? ":memory:" : o->data, &d, &s->db, err), err));
    s->core = s->db->core;
    s->engine = core_engine(s->core);
    return SHEAF_OK;
}

static sheaf_rc open_all(struct server *s, sheaf_error *err)
{
    const struct server_options *o = &s->options;
    s->is_relaxed = strcmp(o->durability, "relaxed") == 0;
    TRY(split_regions(s, err));
    if (*o->auth) {
        TRY(auth_ring_load(o->auth, &s->ring, err));
        atomic_store(&s->ring_version, 1);
    }
    TRY(access_log_open(&s->log, o->access_log, err));
    TRY(listen_on(s, err));
    TRY(open_database(s, err));
    /* Some file systems know no sockets: a reason to say so, not to refuse. */
    if (!o->memory && admin_open(s, err) != SHEAF_OK)
        fprintf(stderr, "sheaf: backup and verify will need the server stopped: %s\n",
                err->message);
    return http_server_start(s->http, err);
}

/* ---- the screen ---- */

static void format_url(const struct server *s, const char *host, char *to, size_t n)
{
    bool is_v6 = strchr(host, ':') != NULL;
    snprintf(to, n, "%s://%s%s%s:%u", *s->options.tls_cert ? "https" : "http", is_v6 ? "[" : "",
             host, is_v6 ? "]" : "", http_server_port(s->http));
}

/* Whoever wonders about a failure should find here that it was asked for. */
static void name_emulation(const struct server *s)
{
    const struct server_options *o = &s->options;
    if (!o->throttle && !o->gsi_lag_ms && !*o->faults) return;
    printf("emulation on:");
    if (o->throttle) printf("  --throttle");
    if (o->gsi_lag_ms) printf("  --gsi-lag-ms %llu", (unsigned long long)o->gsi_lag_ms);
    if (*o->faults) printf("  --faults %s", o->faults);
    if (s->has_random_faults) printf("  --seed %llu", (unsigned long long)o->seed);
    printf("\n");
}

static void greet(const struct server *s)
{
    const struct server_options *o = &s->options;
    char listens[128], url[128], data[300];
    format_url(s, listen_host(o), listens, sizeof listens);
    format_url(s, reachable_host(o), url, sizeof url);
    if (o->memory)
        snprintf(data, sizeof data, "data in memory (gone at the end)");
    else
        snprintf(data, sizeof data, "data in %.200s (rocksdb, %s)", o->data,
                 s->is_relaxed ? "relaxed" : "durable");
    const char *auth = s->ring                        ? "authentication on"
                       : options_is_loopback(o->host) ? "authentication off (loopback only)"
                                                      : "authentication OFF, reachable by others";
    printf("sheaf %s  listening on %s  ·  %s  ·  %s\n", SHEAF_VERSION_TEXT, listens, data, auth);
    name_emulation(s);
    printf("try:  aws dynamodb list-tables --endpoint-url %s%s\n", url,
           s->ring ? "" : "   (any credentials and region)");
    printf("ready %s\n", url);
    fflush(stdout);
}

static void warn(const struct server_options *o)
{
    for (uint32_t i = 0; i < o->n_notes; i++) fprintf(stderr, "sheaf: %s\n", o->notes[i]);
    if (*o->auth && !*o->tls_cert && !options_is_loopback(o->host))
        fprintf(stderr, "sheaf: without --tls-cert others on the network can read what is sent\n");
}

/* ---- signals ---- */

static void set_of_signals(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGHUP);
}

static void block_signals(void)
{
    sigset_t set;
    set_of_signals(&set);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
}

/* By the signal, as its sender expects; but process 1 of a container has no default actions. */
static void end_at_once(int which)
{
    signal(which, SIG_DFL);
    raise(which);
    _exit(128 + which);
}

/* From now on a signal ends the process. */
static void unblock_signals(void)
{
    sigset_t set;
    struct sigaction end = {.sa_handler = end_at_once, .sa_flags = SA_NODEFER};
    set_of_signals(&set);
    sigaction(SIGINT, &end, NULL);
    sigaction(SIGTERM, &end, NULL);
    signal(SIGHUP, SIG_IGN);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static void say_reload(const char *what, sheaf_rc rc, const sheaf_error *err)
{
    if (rc == SHEAF_OK)
        fprintf(stderr, "sheaf: %s read again\n", what);
    else
        fprintf(stderr, "sheaf: %s: %s; what was read before stays in use\n", what, err->message);
}

static sheaf_rc reload_ring(struct server *s, sheaf_error *err)
{
    struct auth_ring *ring, *old;
    TRY(auth_ring_load(s->options.auth, &ring, err));
    pthread_mutex_lock(&s->mutex);
    old = s->ring;
    s->ring = ring;
    atomic_fetch_add(&s->ring_version, 1);
    pthread_mutex_unlock(&s->mutex);
    auth_ring_unref(old);
    return SHEAF_OK;
}

static void reload(struct server *s)
{
    sheaf_error err;
    if (*s->options.auth) say_reload("credentials", reload_ring(s, &err), &err);
    if (*s->options.tls_cert)
        say_reload("certificate", http_server_reload_tls(s->http, &err), &err);
    if (access_log_is_on(&s->log)) say_reload("access log", access_log_reopen(&s->log, &err), &err);
}

static void run_until_told(struct server *s)
{
    sigset_t set;
    int which = 0;
    set_of_signals(&set);
    while (which != SIGINT && which != SIGTERM) {
        if (sigwait(&set, &which) != 0) continue;
        if (which == SIGHUP) reload(s);
    }
}

/* ---- ending ---- */

static void drain(struct server *s)
{
    fflush(stdout);
    if (!http_server_drain(s->http, (uint32_t)s->options.drain_ms))
        fprintf(stderr, "sheaf: requests were still under way after %llu ms and are cut off\n",
                (unsigned long long)s->options.drain_ms);
}

/* Also of a server that was opened half. In this order, because the engine's thread wakes loops and
 * jobs answer on them. */
static void close_all(struct server *s)
{
    jobs_wait(&s->jobs);
    server_loops_close(s);
    admin_close(s);
    http_server_close(s->http);
    sheaf_close(s->db);
    server_loops_free(s);
    auth_ring_unref(s->ring);
    access_log_close(&s->log);
    jobs_deinit(&s->jobs);
    pthread_mutex_destroy(&s->mutex);
    arena_deinit(&s->arena);
}

/* Connections, the files of the engine, and some. As far as the system lets it. */
static void raise_files(const struct server_options *o)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
    rlim_t wanted = o->max_connections + FILES_BESIDE_CONNECTIONS;
    if (files.rlim_cur >= wanted) return;
    files.rlim_cur = wanted < files.rlim_max ? wanted : files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
}

static void harden(const struct server_options *o)
{
    umask(077);
    if (!o->core_dumps) setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    raise_files(o);
}

int server_main(int argc, char *const argv[], char *const envp[])
{
    struct server s = {.clock = clock_system(), .admin_fd = -1, .log = {.fd = -1}};
    sheaf_error err;
    block_signals();
    arena_init(&s.arena, OPTIONS_ARENA_MAX);
    if (options_read(&s.arena, argc, argv, envp, &s.options, &err) != SHEAF_OK) {
        arena_deinit(&s.arena);
        return complain(&err, EXIT_USAGE);
    }
    harden(&s.options);
    warn(&s.options);
    pthread_mutex_init(&s.mutex, NULL);
    jobs_init(&s.jobs, s.clock);
    bool has_failed = false;
    sheaf_rc rc = open_all(&s, &err);
    if (rc == SHEAF_OK) {
        greet(&s);
        run_until_told(&s);
        unblock_signals();
        drain(&s);
        has_failed = health_has_failed(&s);
    }
    close_all(&s);
    if (rc != SHEAF_OK) return complain(&err, EXIT_FAILED);
    return has_failed ? EXIT_FAILED : EXIT_OK;
}

void server_help(FILE *to) { options_help(to); }
