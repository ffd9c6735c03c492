/* A whole server in this process, and every allocation of a request failing in turn: an answer, or
 * a lost connection, and never a crash, a hang or a lie. */
#include "support/support.h"

#include "base/mem.h"
#include "server/state.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

struct scene {
    struct server s;
    int fd; /* of the connection; -1: none */
};

static void begin(struct scene *x)
{
    sheaf_error err;
    struct server *s = &x->s;
    *x = (struct scene){.fd = -1, .s = {.clock = clock_system(), .admin_fd = -1}};
    s->log.fd = -1;
    arena_init(&s->arena, 1 << 20);
    assert_ok(options_read(&s->arena, 0, NULL, NULL, &s->options, &err));
    pthread_mutex_init(&s->mutex, NULL);
    jobs_init(&s->jobs, s->clock);
    struct sheaf_options quiet = {.no_background = true};
    assert_ok(sheaf_open(":memory:", &quiet, &s->db, &err));
    s->core = s->db->core;
    s->engine = core_engine(s->core);
    struct http_options o = {.host = "127.0.0.1", .n_loops = 1};
    struct http_handler handler = server_handler(s);
    assert_ok(http_server_open(&o, &handler, &s->http, &err));
    assert_ok(http_server_start(s->http, &err));
}

static void end(struct scene *x)
{
    struct server *s = &x->s;
    if (x->fd >= 0) close(x->fd);
    jobs_wait(&s->jobs);
    server_loops_close(s);
    http_server_close(s->http);
    sheaf_close(s->db);
    server_loops_free(s);
    jobs_deinit(&s->jobs);
    pthread_mutex_destroy(&s->mutex);
    arena_deinit(&s->arena);
}

static void connect_to(struct scene *x)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(http_server_port(x->s.http))};
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    x->fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(x->fd, (struct sockaddr *)&a, sizeof a), 0);
}

/* Reads until the body is whole; 0 when the connection ended before. A minute without a byte is a
 * hang. */
static int read_answer(struct scene *x, char *to, size_t cap)
{
    size_t n = 0;
    for (;;) {
        struct pollfd p = {.fd = x->fd, .events = POLLIN};
        assert_int_equal(poll(&p, 1, 60000), 1);
        ssize_t got = recv(x->fd, to + n, cap - 1 - n, 0);
        if (got <= 0) return 0;
        n += (size_t)got;
        to[n] = 0;
        const char *body = strstr(to, "\r\n\r\n"), *length = strstr(to, "Content-Length: ");
        if (body && length && n >= (size_t)(body + 4 - to) + strtoul(length + 16, NULL, 10))
            return atoi(to + 9);
    }
}

/* The status; 0: the connection was lost. */
static int ask(struct scene *x, const char *head, const char *body, char *answer, size_t cap)
{
    char request[2048];
    if (x->fd < 0) connect_to(x);
    int n = snprintf(request, sizeof request,
                     "%s\r\nHost: x\r\nContent-Type: application/x-amz-json-1.0\r\n"
                     "Content-Length: %zu\r\n\r\n%s",
                     head, strlen(body), body);
    int status = 0;
    if (send(x->fd, request, (size_t)n, MSG_NOSIGNAL) == n) status = read_answer(x, answer, cap);
    if (status == 0 || status == 503) { /* http closes behind its own 503 */
        close(x->fd);
        x->fd = -1;
    }
    return status;
}

#define POST(operation) "POST / HTTP/1.1\r\nX-Amz-Target: DynamoDB_20120810." operation
static const char create[] =
    "{\"TableName\":\"things\",\"BillingMode\":\"PAY_PER_REQUEST\","
    "\"KeySchema\":[{\"AttributeName\":\"a\",\"KeyType\":\"HASH\"}],"
    "\"AttributeDefinitions\":[{\"AttributeName\":\"a\",\"AttributeType\":\"S\"}]}";

static const struct {
    const char *head, *body, *holds; /* holds: what a 200 must say */
} requests[] = {
    {POST("PutItem"), "{\"TableName\":\"things\",\"Item\":{\"a\":{\"S\":\"x\"}}}", "{}"},
    {POST("GetItem"), "{\"TableName\":\"things\",\"Key\":{\"a\":{\"S\":\"x\"}}}",
     "{\"Item\":{\"a\":{\"S\":\"x\"}}}"},
    {POST("ListTables"), "{}", "{\"TableNames\":[\"things\"]}"},
    {POST("Nonsense"), "{}", NULL},
    {"GET / HTTP/1.1", "", "healthy: dynamodb.us-east-1.amazonaws.com "},
    {"GET /metrics HTTP/1.1", "", "sheaf_table_items{table=\"things\"} 1\n"},
};

static void test_serve__any_allocation_of_a_request_may_fail(void **state)
{
    (void)state;
    static char answer[1 << 20];
    struct scene x;
    begin(&x);
    assert_int_equal(ask(&x, POST("CreateTable"), create, answer, sizeof answer), 200);
    unsigned failed = 0, lost = 0, refused = 0;
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        bool is_reached = true;
        for (uint64_t nth = 1; is_reached && nth < 2000; nth++) {
            if (x.fd >= 0) close(x.fd); /* a connection of its own: accepting allocates as well */
            x.fd = -1;
            uint64_t before = mem_count();
            mem_fail_at(nth, false);
            int status = ask(&x, requests[i].head, requests[i].body, answer, sizeof answer);
            mem_fail_at(0, false);
            is_reached = mem_count() - before >= nth;
            failed += is_reached;
            lost += status == 0;
            refused += status >= 500;
            if (status != 0 && status != 200 && status != 400 && status != 500 && status != 503)
                fail_msg("%s: allocation %llu: status %d", requests[i].head,
                         (unsigned long long)nth, status);
            if (status == 200 && requests[i].holds && !strstr(answer, requests[i].holds))
                fail_msg("%s: allocation %llu: 200 without %s", requests[i].head,
                         (unsigned long long)nth, requests[i].holds);
        }
        assert_false(is_reached);
    }
    print_message("%u allocations failed: %u connections lost, %u refusals\n", failed, lost,
                  refused);
    assert_true(failed >= 10 && refused > 0);
    assert_int_equal(ask(&x, POST("ListTables"), "{}", answer, sizeof answer), 200);
    end(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_serve__any_allocation_of_a_request_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
