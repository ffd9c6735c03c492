/* Turns encrypted sockets into the reads and writes of io.c.
 *
 * Know before editing: OpenSSL may want to repeat a write that did not go through with the same
 * bytes and no fewer of them. The queue of a connection only grows at its end, and every write
 * gathers the same bytes from its front, so that holds. */
#include "http/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <errno.h>

struct tls {
    pthread_mutex_t lock;
    SSL_CTX *current; /* under lock */
};

static SSL *ssl_of(const struct conn *c) { return (SSL *)c->tls; }

/* ---- certificates ---- */

static sheaf_rc failed(SSL_CTX *ctx, const char *file, const char *what, sheaf_error *err)
{
    char text[256];
    ERR_error_string_n(ERR_get_error(), text, sizeof text);
    ERR_clear_error();
    SSL_CTX_free(ctx);
    return err_set(err, SHEAF_IO, "%s: %s (%s)", file, what, text);
}

/* A key with a passphrase would have the server ask at its terminal. */
static int no_passphrase(char *buf, int size, int is_write, void *ctx)
{
    (void)buf, (void)size, (void)is_write, (void)ctx;
    return -1;
}

static int choose_protocol(SSL *ssl, const unsigned char **out, unsigned char *out_n,
                           const unsigned char *in, unsigned in_n, void *arg)
{
    static const unsigned char ours[] = "\x08http/1.1";
    (void)ssl, (void)arg;
    unsigned char *chosen;
    if (SSL_select_next_proto(&chosen, out_n, ours, sizeof ours - 1, in, in_n) !=
        OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

static void set_up(SSL_CTX *ctx)
{
    SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
    SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                              SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF); /* tickets hold the state */
    SSL_CTX_set_alpn_select_cb(ctx, choose_protocol, NULL);
    SSL_CTX_set_default_passwd_cb(ctx, no_passphrase);
}

static sheaf_rc load(const char *cert, const char *key, SSL_CTX **ctx_out, sheaf_error *err)
{
    ERR_clear_error();
    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
    if (!ctx) return failed(NULL, cert, "TLS cannot be set up", err);
    set_up(ctx);
    if (SSL_CTX_use_certificate_chain_file(ctx, cert) != 1)
        return failed(ctx, cert, "no certificate in PEM can be read from it", err);
    if (SSL_CTX_use_PrivateKey_file(ctx, key, SSL_FILETYPE_PEM) != 1)
        return failed(ctx, key, "no private key in PEM that fits the certificate can be read", err);
    if (SSL_CTX_check_private_key(ctx) != 1)
        return failed(ctx, key, "the key does not belong to the certificate", err);
    *ctx_out = ctx;
    return SHEAF_OK;
}

sheaf_rc tls_open(const char *cert, const char *key, struct tls **tls_out, sheaf_error *err)
{
    SSL_CTX *ctx;
    TRY(load(cert, key ? key : cert, &ctx, err));
    struct tls *t = mem_zalloc(sizeof *t);
    if (!t) {
        SSL_CTX_free(ctx);
        return err_nomem(err);
    }
    pthread_mutex_init(&t->lock, NULL);
    t->current = ctx;
    *tls_out = t;
    return SHEAF_OK;
}

sheaf_rc tls_reload(struct tls *t, const char *cert, const char *key, sheaf_error *err)
{
    SSL_CTX *ctx;
    TRY(load(cert, key ? key : cert, &ctx, err));
    pthread_mutex_lock(&t->lock);
    SSL_CTX *old = t->current;
    t->current = ctx;
    pthread_mutex_unlock(&t->lock);
    SSL_CTX_free(old); /* sessions hold their own reference */
    return SHEAF_OK;
}

void tls_close(struct tls *t)
{
    if (!t) return;
    SSL_CTX_free(t->current);
    pthread_mutex_destroy(&t->lock);
    mem_free(t);
}

/* ---- sessions ---- */

struct tls_session *tls_session_new(struct tls *t, int fd)
{
    pthread_mutex_lock(&t->lock);
    SSL *ssl = SSL_new(t->current);
    pthread_mutex_unlock(&t->lock);
    if (!ssl) return NULL;
    if (SSL_set_fd(ssl, fd) != 1) {
        SSL_free(ssl);
        return NULL;
    }
    SSL_set_accept_state(ssl);
    return (struct tls_session *)ssl;
}

void tls_session_free(struct tls_session *s) { SSL_free((SSL *)s); }

static int result(const struct conn *c, int ret)
{
    switch (SSL_get_error(ssl_of(c), ret)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
        return -EAGAIN;
    case SSL_ERROR_ZERO_RETURN:
        return 0;
    default:
        ERR_clear_error();
        return -ECONNRESET;
    }
}

int tls_handshake(struct conn *c)
{
    ERR_clear_error();
    int n = SSL_do_handshake(ssl_of(c));
    if (n == 1) return 1;
    int r = result(c, n);
    return r == 0 ? -ECONNRESET : r;
}

void tls_bye(struct conn *c)
{
    ERR_clear_error();
    (void)SSL_shutdown(ssl_of(c));
    ERR_clear_error();
}

static int at_most_record(size_t n) { return n > READ_BYTES ? READ_BYTES : (int)n; }

ssize_t tls_read(struct conn *c, struct iovec *v, int n)
{
    (void)n; /* a record at a time: the first place is enough */
    ERR_clear_error();
    int got = SSL_read(ssl_of(c), v[0].iov_base, at_most_record(v[0].iov_len));
    return got > 0 ? got : result(c, got);
}

/* One record of what is at the front. */
ssize_t tls_write(struct conn *c, struct iovec *v, int n)
{
    const uint8_t *from = v[0].iov_base;
    size_t len = v[0].iov_len;
    if (len < READ_BYTES && n > 1) {
        uint8_t *to = c->loop->scratch;
        len = 0;
        for (int i = 0; i < n && len < READ_BYTES; i++) {
            size_t room = READ_BYTES - len;
            size_t part = v[i].iov_len < room ? v[i].iov_len : room;
            memcpy(to + len, v[i].iov_base, part);
            len += part;
        }
        from = to;
    }
    ERR_clear_error();
    int sent = SSL_write(ssl_of(c), from, at_most_record(len));
    if (sent > 0) return sent;
    int r = result(c, sent);
    return r == 0 ? -EPIPE : r;
}
