/* What one request costs the HTTP room: a POST of 600 bytes with the headers of an AWS SDK, a
 * constant answer of 400 bytes, keep-alive connections, one loop.
 *
 *   bench_http [SECONDS [CONNECTIONS]]           our server, in this process
 *   bench_http SECONDS CONNECTIONS PORT PID      another server, for comparison
 *
 * The figure is the server's CPU time per request: the load comes from a process of its own, so a
 * busy machine slows both but is not counted. */
#include "http/http.h"
#include "common/bench.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 4096, BODY = 600, ANSWER = 400 };

static _Atomic uint64_t *g_requests; /* shared with the load */

static double seconds_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- load ---- */

static size_t make_request(char *to, size_t cap)
{
    int n = snprintf(
        to, cap,
        "POST / HTTP/1.1\r\nHost: localhost:8000\r\nAccept-Encoding: identity\r\n"
        "X-Amz-Target: DynamoDB_20120810.PutItem\r\nContent-Type: application/x-amz-json-1.0\r\n"
        "User-Agent: aws-sdk-java/2.20.0 Linux/6.1 OpenJDK_64-Bit_Server_VM/17.0.9 Java/17.0.9 "
        "vendor/Debian io/sync http/Apache cfg/retry-mode/legacy\r\n"
        "amz-sdk-invocation-id: 4f1c3fbd-3c4b-4f4e-9f0e-3f1f6c6f5d1a\r\n"
        "amz-sdk-request: attempt=1; max=3\r\nX-Amz-Date: 20260101T000000Z\r\n"
        "Authorization: AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260101/us-east-1/dynamodb/"
        "aws4_request, SignedHeaders=amz-sdk-invocation-id;content-type;host;x-amz-date;"
        "x-amz-target, "
        "Signature=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\r\n"
        "Content-Length: %d\r\n\r\n",
        BODY);
    memset(to + n, 'b', BODY);
    return (size_t)n + BODY;
}

static int dial(uint16_t port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof a) != 0)
        bench_die("connect", strerror(errno));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

/* Each connection has one request under way. Answers are told by their size, seen once. */
static void load(uint16_t port, int connections)
{
    static char request[8192], answer[65536];
    static size_t have[MOST];
    static int fds[MOST];
    size_t n = make_request(request, sizeof request), whole = 0;
    int epoll = epoll_create1(0);
    for (int i = 0; i < connections; i++) {
        fds[i] = dial(port);
        struct epoll_event e = {.events = EPOLLIN, .data.u32 = (uint32_t)i};
        epoll_ctl(epoll, EPOLL_CTL_ADD, fds[i], &e);
        if (write(fds[i], request, n) != (ssize_t)n) bench_die("write", strerror(errno));
    }
    for (;;) {
        struct epoll_event events[64];
        int got = epoll_wait(epoll, events, 64, -1);
        for (int k = 0; k < got; k++) {
            uint32_t i = events[k].data.u32;
            ssize_t r = read(fds[i], answer, sizeof answer - 1);
            if (r <= 0) bench_die("read", "the server closed the connection");
            if (whole == 0) {
                answer[r] = 0;
                const char *end = strstr(answer, "\r\n\r\n");
                if (!end || memcmp(answer, "HTTP/1.1 200", 12) != 0)
                    bench_die("answer", "is not a 200 in one piece");
                whole = (size_t)(end + 4 - answer) + ANSWER;
            }
            have[i] += (size_t)r;
            if (have[i] < whole) continue;
            have[i] = 0;
            (*g_requests)++;
            if (write(fds[i], request, n) != (ssize_t)n) bench_die("write", strerror(errno));
        }
    }
}

/* ---- servers ---- */

static char g_answer[ANSWER];

static void on_request(void *ctx, struct http_exchange *x)
{
    (void)ctx;
    http_add_header(x, SPAN_LIT("Content-Type"), SPAN_LIT("application/x-amz-json-1.0"));
    http_answer(x, 200, SPAN(g_answer, ANSWER));
}

/* CPU seconds of a process, ours or another. */
static double cpu_of(pid_t pid)
{
    if (pid == getpid()) return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *in = fopen(path, "r");
    if (!in || !fgets(text, sizeof text, in)) bench_die(path, "cannot be read");
    fclose(in);
    unsigned long user, system;
    const char *behind = strrchr(text, ')');
    if (!behind || sscanf(behind + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
                          &system) != 2)
        bench_die(path, "is not understood");
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

static void measure(const char *name, pid_t server, double seconds)
{
    struct timespec warm = {0, 300000000}, rest = {(time_t)seconds, 0};
    nanosleep(&warm, NULL);
    double wall = seconds_of(CLOCK_MONOTONIC), cpu = cpu_of(server);
    uint64_t before = *g_requests;
    nanosleep(&rest, NULL);
    cpu = cpu_of(server) - cpu;
    wall = seconds_of(CLOCK_MONOTONIC) - wall;
    double n = (double)(*g_requests - before);
    printf("%-8s %9.0f requests/s  %6.2f CPU us/request  (%.0f requests in %.1f s)\n", name,
           n / wall, cpu * 1e6 / n, n, wall);
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 3;
    int connections = argc > 2 ? atoi(argv[2]) : 32;
    if (seconds <= 0 || connections < 1 || connections > MOST || argc == 4)
        bench_die("usage", "bench_http [SECONDS [CONNECTIONS [PORT PID]]]");
    g_requests = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    memset(g_answer, 'a', sizeof g_answer);
    struct http_server *s = NULL;
    uint16_t port = argc > 4 ? (uint16_t)atoi(argv[3]) : 0;
    sheaf_error err;
    struct http_options o = {.n_loops = 1};
    struct http_handler h = {.request = on_request};
    if (argc <= 4) {
        if (http_server_open(&o, &h, &s, &err) != SHEAF_OK) bench_die("server", err.message);
        port = http_server_port(s);
    }
    pid_t child = fork();
    if (child == 0) load(port, connections);
    if (s && http_server_start(s, &err) != SHEAF_OK) bench_die("server", err.message);
    measure(s ? "sheaf" : "other", argc > 4 ? (pid_t)atoi(argv[4]) : getpid(), seconds);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    http_server_close(s);
    return 0;
}
