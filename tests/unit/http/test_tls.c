/* TLS against OpenSSL's own client, with certificates made here. */
#include "world.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/stat.h>

#define GET(path) "GET " path " HTTP/1.1\r\nHost: x\r\n\r\n"

struct files {
    char folder[64], cert[128], key[128];
};

/* A self-signed certificate with this serial number, and its key. */
static void make_certificate(const struct files *f, long serial)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = X509_new();
    X509_NAME *name = X509_get_subject_name(cert);
    X509_set_version(cert, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(cert), serial);
    X509_gmtime_adj(X509_getm_notBefore(cert), -3600);
    X509_gmtime_adj(X509_getm_notAfter(cert), 86400);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"localhost", -1, -1,
                               0);
    X509_set_issuer_name(cert, name);
    X509_set_pubkey(cert, key);
    assert_true(X509_sign(cert, key, EVP_sha256()) > 0);
    FILE *out = fopen(f->cert, "w");
    assert_non_null(out);
    PEM_write_X509(out, cert);
    fclose(out);
    out = fopen(f->key, "w");
    assert_non_null(out);
    PEM_write_PrivateKey(out, key, NULL, NULL, 0, NULL, NULL);
    fclose(out);
    X509_free(cert);
    EVP_PKEY_free(key);
}

static void make_files(struct files *f)
{
    strcpy(f->folder, "/tmp/sheaf-tls-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->cert, sizeof f->cert, "%s/cert.pem", f->folder);
    snprintf(f->key, sizeof f->key, "%s/key.pem", f->folder);
    make_certificate(f, 1);
}

static void remove_files(struct files *f)
{
    unlink(f->cert);
    unlink(f->key);
    rmdir(f->folder);
}

struct client {
    int fd;
    SSL_CTX *ctx;
    SSL *ssl;
};

static bool dial(struct client *c, uint16_t port, int max_version)
{
    c->fd = client_connect(port);
    c->ctx = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_max_proto_version(c->ctx, max_version);
    SSL_CTX_set_cipher_list(c->ctx, "DEFAULT@SECLEVEL=0"); /* ours to offer the old ones */
    SSL_CTX_set_min_proto_version(c->ctx, TLS1_VERSION);
    SSL_CTX_set_alpn_protos(c->ctx, (const unsigned char *)"\x02h2\x08http/1.1", 12);
    c->ssl = SSL_new(c->ctx);
    SSL_set_fd(c->ssl, c->fd);
    return SSL_connect(c->ssl) == 1;
}

static void hang_up(struct client *c)
{
    SSL_free(c->ssl);
    SSL_CTX_free(c->ctx);
    close(c->fd);
    ERR_clear_error();
}

static void tell(struct client *c, const void *p, size_t n)
{
    size_t sent;
    assert_int_equal(SSL_write_ex(c->ssl, p, n, &sent), 1);
    assert_int_equal(sent, n);
}

/* A whole answer's bytes; 0 at the end. */
static size_t hear(struct client *c, char *to, size_t cap)
{
    size_t n = 0, want = SIZE_MAX, got;
    while (n < want && n < cap - 1) {
        if (SSL_read_ex(c->ssl, to + n, want == SIZE_MAX ? 1 : want - n, &got) != 1) return 0;
        n += got;
        to[n] = 0;
        if (want != SIZE_MAX || n < 4 || memcmp(to + n - 4, "\r\n\r\n", 4) != 0) continue;
        const char *length = strstr(to, "Content-Length: ");
        want = n + (length ? strtoul(length + 16, NULL, 10) : 0);
    }
    return n;
}

static long serial_of(struct client *c)
{
    X509 *cert = SSL_get1_peer_certificate(c->ssl);
    assert_non_null(cert);
    long serial = ASN1_INTEGER_get(X509_get0_serialNumber(cert));
    X509_free(cert);
    return serial;
}

static void begin(struct world *w, struct files *f, struct clock_source *clock)
{
    make_files(f);
    struct http_options o = {.n_loops = 1, .tls_cert = f->cert, .tls_key = f->key, .clock = clock};
    start(w, &o);
}

static void end(struct world *w, struct files *f)
{
    stop(w);
    remove_files(f);
}

static void test_tls__serves_over_1_2_and_1_3_and_nothing_older(void **state)
{
    (void)state;
    struct world w;
    struct files f;
    begin(&w, &f, NULL);
    static const struct {
        int version;
        bool want;
    } rows[] = {{TLS1_3_VERSION, true}, {TLS1_2_VERSION, true}, {TLS1_1_VERSION, false}};
    for (size_t i = 0; i < 3; i++) {
        struct client c;
        assert_int_equal(dial(&c, w.port, rows[i].version), rows[i].want);
        if (rows[i].want) {
            const unsigned char *alpn;
            unsigned alpn_n;
            SSL_get0_alpn_selected(c.ssl, &alpn, &alpn_n);
            assert_true(span_eq(SPAN(alpn, alpn_n), SPAN_LIT("http/1.1")));
            char text[4096];
            for (int round = 0; round < 3; round++) {
                tell(&c, GET("/a"), strlen(GET("/a")));
                assert_true(hear(&c, text, sizeof text) > 0);
                assert_non_null(strstr(text, "200 OK"));
                assert_non_null(strstr(text, "GET /a "));
            }
        }
        hang_up(&c);
    }
    end(&w, &f);
}

static void test_tls__moves_large_bodies_both_ways(void **state)
{
    (void)state;
    struct world w;
    struct files f;
    begin(&w, &f, NULL);
    struct client c;
    assert_true(dial(&c, w.port, TLS1_3_VERSION));
    enum { N = 3 << 20 };
    char *body = malloc(N), *answer = malloc(N + 4096);
    assert_true(body && answer);
    for (size_t i = 0; i < N; i++) body[i] = (char)('a' + i % 23);
    const char *head = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3145728\r\n\r\n";
    for (int round = 0; round < 2; round++) {
        tell(&c, head, strlen(head));
        tell(&c, body, N);
        size_t n = hear(&c, answer, N + 4096);
        assert_true(n > N);
        assert_memory_equal(answer + n - N, body, N);
    }
    free(body);
    free(answer);
    hang_up(&c);
    end(&w, &f);
}

static void test_tls__answers_pipelined_requests_in_order(void **state)
{
    (void)state;
    struct world w;
    struct files f;
    begin(&w, &f, NULL);
    struct client c;
    char text[4096];
    assert_true(dial(&c, w.port, TLS1_3_VERSION));
    tell(&c, GET("/late/1") GET("/2") GET("/late/3"), 3 * strlen(GET("")) + 7 + 2 + 7);
    wait_late(&w, 2);
    let_go(&w, 1);
    let_go(&w, 0);
    static const char *const want[] = {"GET /late/1 ", "GET /2 ", "GET /late/3 "};
    for (int i = 0; i < 3; i++) {
        assert_true(hear(&c, text, sizeof text) > 0);
        assert_non_null(strstr(text, want[i]));
    }
    hang_up(&c);
    end(&w, &f);
}

static void test_tls__takes_a_new_certificate_and_keeps_the_old_one_when_it_is_bad(void **state)
{
    (void)state;
    struct world w;
    struct files f;
    begin(&w, &f, NULL);
    struct client old, new;
    char text[4096];
    sheaf_error err;
    assert_true(dial(&old, w.port, TLS1_3_VERSION));
    assert_int_equal(serial_of(&old), 1);
    make_certificate(&f, 2);
    assert_ok(http_server_reload_tls(w.server, &err));
    assert_true(dial(&new, w.port, TLS1_3_VERSION));
    assert_int_equal(serial_of(&new), 2);
    tell(&old, GET("/"), strlen(GET("/"))); /* goes on */
    assert_true(hear(&old, text, sizeof text) > 0);
    hang_up(&new);
    FILE *out = fopen(f.cert, "w");
    fputs("not a certificate\n", out);
    fclose(out);
    assert_rc(http_server_reload_tls(w.server, &err), SHEAF_IO);
    assert_non_null(strstr(err.message, "cert.pem"));
    assert_true(dial(&new, w.port, TLS1_3_VERSION));
    assert_int_equal(serial_of(&new), 2);
    hang_up(&new);
    hang_up(&old);
    end(&w, &f);
}

static void test_tls__refuses_files_that_do_not_fit(void **state)
{
    (void)state;
    struct files a, b;
    make_files(&a);
    make_files(&b);
    struct http_handler h = {.request = on_request};
    struct http_server *s;
    sheaf_error err;
    struct http_options o = {.tls_cert = a.cert, .tls_key = b.key};
    assert_rc(http_server_open(&o, &h, &s, &err), SHEAF_IO);
    o.tls_key = "/nowhere/key.pem";
    assert_rc(http_server_open(&o, &h, &s, &err), SHEAF_IO);
    assert_non_null(strstr(err.message, "/nowhere/key.pem"));
    o.tls_cert = "/nowhere/cert.pem";
    assert_rc(http_server_open(&o, &h, &s, &err), SHEAF_IO);
    remove_files(&a);
    remove_files(&b);
}

static void test_tls__ends_who_does_not_shake_hands(void **state)
{
    (void)state;
    struct world w;
    struct files f;
    struct clock_manual clock;
    clock_manual_init(&clock, 1000000000);
    begin(&w, &f, &clock.base);
    int plain = client_connect(w.port), silent = client_connect(w.port);
    client_say(plain, GET("/"));
    char byte[512];
    while (client_recv(plain, byte, sizeof byte)) {} /* an alert, and the end */
    wait_connections(&w, 1);
    clock_manual_advance(&clock, 9000000);
    http_server_poke(w.server);
    assert_true(client_is_quiet(silent));
    clock_manual_advance(&clock, 1200000);
    http_server_poke(w.server);
    assert_true(client_is_closed(silent));
    close(plain);
    close(silent);
    end(&w, &f);
}

static void test_tls__closes_with_a_word(void **state)
{
    (void)state;
    struct world w;
    struct files f;
    begin(&w, &f, NULL);
    struct client c;
    char text[4096];
    assert_true(dial(&c, w.port, TLS1_3_VERSION));
    const char *ask = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    tell(&c, ask, strlen(ask));
    assert_true(hear(&c, text, sizeof text) > 0);
    int n = SSL_read(c.ssl, text, 1);
    assert_int_equal(SSL_get_error(c.ssl, n), SSL_ERROR_ZERO_RETURN);
    hang_up(&c);
    end(&w, &f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tls__serves_over_1_2_and_1_3_and_nothing_older),
        cmocka_unit_test(test_tls__moves_large_bodies_both_ways),
        cmocka_unit_test(test_tls__answers_pipelined_requests_in_order),
        cmocka_unit_test(test_tls__takes_a_new_certificate_and_keeps_the_old_one_when_it_is_bad),
        cmocka_unit_test(test_tls__refuses_files_that_do_not_fit),
        cmocka_unit_test(test_tls__ends_who_does_not_shake_hands),
        cmocka_unit_test(test_tls__closes_with_a_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
