/* Opens and closes clients, and carries the calls that need no encoding: any operation by its name,
 * and those that no server has. */
#include "base/mem.h"
#include "client/wire.h"

static sheaf_rc take_credentials(struct client *k, const struct client_options *o, sheaf_error *err)
{
    struct credentials who;
    TRY(credentials_find(o, &k->where, &who, err));
    memcpy(k->key_id, who.key_id, sizeof k->key_id);
    memcpy(k->region, who.region, sizeof k->region);
    k->secret = sig_secret_new(span_cstr(who.secret));
    size_t n = strlen(who.token) + 1;
    if (n > 1) k->token = mem_alloc(n);
    if (k->token) memcpy(k->token, who.token, n);
    bool is_good = k->secret && (n == 1 || k->token);
    credentials_wipe(&who);
    return is_good ? SHEAF_OK : err_nomem(err);
}

static sheaf_rc open_all(struct client *k, const struct client_options *o, sheaf_error *err)
{
    uint64_t seed = o->seed;
    TRY(endpoint_parse(o->url, &k->where, err));
    TRY(take_credentials(k, o, err));
    if (!seed && !rng_secret(&seed, sizeof seed)) seed = (uint64_t)clock_now_us(k->clock);
    rng_init(&k->dice, seed);
    return k->transport ? SHEAF_OK : curl_transport_new(o->ca_file, &k->transport, err);
}

sheaf_rc client_open(const struct client_options *o, struct client **client_out, sheaf_error *err)
{
    *client_out = NULL;
    struct client *k = mem_zalloc(sizeof *k);
    if (!k) {
        if (o->transport) o->transport->close(o->transport);
        return err_nomem(err);
    }
    k->transport = o->transport;
    k->clock = o->clock ? o->clock : clock_system();
    k->timeout_ms = o->timeout_ms ? o->timeout_ms : CLIENT_TIMEOUT_MS;
    k->max_attempts = o->max_attempts ? o->max_attempts : CLIENT_ATTEMPTS;
    pthread_mutex_init(&k->dice_lock, NULL);
    sheaf_rc rc = open_all(k, o, err);
    if (rc != SHEAF_OK) {
        client_close(k);
        return rc;
    }
    *client_out = k;
    return SHEAF_OK;
}

void client_close(struct client *k)
{
    if (!k) return;
    if (k->transport) k->transport->close(k->transport);
    sig_secret_free(k->secret);
    if (k->token) explicit_bzero(k->token, strlen(k->token));
    mem_free(k->token);
    pthread_mutex_destroy(&k->dice_lock);
    mem_free(k);
}

void client_cancel(struct client *k) { atomic_fetch_add(&k->cancels, 1); }

/* ---- any operation ---- */

static bool is_streams(span name)
{
    static const char *const names[] = {"ListStreams", "DescribeStream", "GetShardIterator",
                                        "GetRecords"};
    for (size_t i = 0; i < 4; i++)
        if (span_eq(name, span_cstr(names[i]))) return true;
    return false;
}

/* What only reads, so that a lost answer leaves nothing unknown. */
static bool is_read(span name)
{
    static const char *const heads[] = {"Get",  "BatchGet", "TransactGet", "Query",
                                        "Scan", "List",     "Describe"};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        if (span_starts(name, span_cstr(heads[i]))) return true;
    return false;
}

sheaf_rc client_call(struct client *k, struct ctx *c, span operation, span body, span *answer_out)
{
    char name[65];
    *answer_out = SPAN_NONE;
    const char *p = operation.p;
    bool is_name = operation.n > 0 && operation.n < sizeof name;
    for (size_t i = 0; is_name && i < operation.n; i++)
        is_name = (p[i] >= 'A' && p[i] <= 'Z') || (p[i] >= 'a' && p[i] <= 'z');
    if (!is_name)
        return err_set(c->err, SHEAF_UNKNOWN_OPERATION, "%.*s is no operation",
                       SPAN_ARG(operation));
    memcpy(name, p, operation.n);
    name[operation.n] = '\0';
    const struct client_op op = {name, is_streams(operation), !is_read(operation)};
    return client_send(k, c, &op, body, answer_out);
}

/* ---- what no server has ---- */

sheaf_rc client_unsupported(sheaf_error *err, const char *what, const char *instead)
{
    return err_set(err, SHEAF_UNSUPPORTED,
                   "%s is not part of DynamoDB's API, so a remote handle has no such call; %s",
                   what, instead);
}

#define ON_THE_DATA "call it where the data is, on a handle of the directory"

sheaf_rc client_collection(struct client *k, struct ctx *c, span table, span index, span key,
                           struct core_collection *out)
{
    (void)k, (void)table, (void)index, (void)key;
    *out = (struct core_collection){.items = 0};
    return client_unsupported(c->err, "describe_collection", ON_THE_DATA);
}

sheaf_rc client_largest(struct client *k, struct ctx *c, span table, span index, uint32_t limit,
                        struct core_collections *out)
{
    (void)k, (void)table, (void)index, (void)limit;
    *out = (struct core_collections){.n = 0};
    return client_unsupported(c->err, "largest_collections", ON_THE_DATA);
}

sheaf_rc client_hottest(struct client *k, struct ctx *c, span table, span index, uint32_t limit,
                        struct core_collections *out)
{
    (void)k, (void)table, (void)index, (void)limit;
    *out = (struct core_collections){.n = 0};
    return client_unsupported(c->err, "hot_keys", ON_THE_DATA);
}
