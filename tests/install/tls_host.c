/* A host program with much thread-local data, which loads libsheaf.so late, as a plugin would, and
 * uses it from a second thread. Arguments: the library, and a directory when RocksDB is to be
 * opened too. Know before editing: the initialised array is what makes the static TLS block large.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <sheaf/sys/engine.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static __thread char crowd[1 << 20] = "much thread-local data";

struct host {
    const char *(*exception)(sheaf_rc);
    sheaf_rc (*open_rocks)(const char *, const struct sheaf_rocks_options *, sheaf_engine **,
                           sheaf_error *);
    const char *directory;
    char complaint[600];
};

/* dlsym answers with an object pointer; ISO C wants the bytes copied into a function pointer. */
static int find(void *library, const char *name, void *function_out)
{
    void *p = dlsym(library, name);
    memcpy(function_out, &p, sizeof p);
    if (!p) printf("no %s: %s\n", name, dlerror());
    return p != NULL;
}

static sheaf_rc put_and_get(sheaf_engine *e, sheaf_error *err)
{
    static const uint8_t hash[16] = "a place";
    sheaf_engine_key key = {sheaf_place_make(1, hash), {"k", 1}};
    sheaf_txn *t;
    sheaf_rc rc = e->ops->begin(e, SHEAF_TXN_RW, &t, err);
    if (rc != SHEAF_OK) return rc;
    rc = e->ops->put(t, &key, (struct sheaf_span){"value", 5}, err);
    sheaf_position at = 0;
    if (rc == SHEAF_OK)
        rc = e->ops->commit(t, &at, NULL, err);
    else
        e->ops->rollback(t);
    if (rc == SHEAF_OK) rc = e->ops->sync(e, at, err);
    struct sheaf_span got = {NULL, 0};
    void *pin = NULL;
    if (rc == SHEAF_OK) rc = e->ops->read(e, &key, &got, &pin, err);
    if (rc == SHEAF_OK && (got.n != 5 || memcmp(got.p, "value", 5) != 0)) rc = SHEAF_CORRUPT;
    e->ops->read_done(e, pin);
    return rc;
}

static void *work(void *arg)
{
    struct host *h = arg;
    crowd[sizeof crowd - 1] = 'x'; /* this thread's own copy */
    if (strcmp(h->exception(SHEAF_VALIDATION), "ValidationException") != 0)
        snprintf(h->complaint, sizeof h->complaint, "a wrong exception name");
    if (!h->directory) return NULL;
    sheaf_engine *e = NULL;
    sheaf_error err = {.message = "no message"};
    sheaf_rc rc = h->open_rocks(h->directory, NULL, &e, &err);
    if (rc == SHEAF_OK) rc = put_and_get(e, &err);
    if (rc != SHEAF_OK) snprintf(h->complaint, sizeof h->complaint, "rc %d: %s", rc, err.message);
    sheaf_engine_close(e);
    return NULL;
}

int main(int argc, char **argv)
{
    struct host h = {.directory = argc > 2 ? argv[2] : NULL};
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library) {
        printf("dlopen: %s\n", argc > 1 ? dlerror() : "no library was named");
        return 1;
    }
    if (!find(library, "sheaf_rc_exception", &h.exception)) return 1;
    if (h.directory && !find(library, "sheaf_engine_open_rocks", &h.open_rocks)) return 1;
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, &h) != 0) return 1;
    pthread_join(thread, NULL);
    if (h.complaint[0]) printf("%s\n", h.complaint);
    return h.complaint[0] || strcmp(crowd, "much thread-local data") != 0;
}
