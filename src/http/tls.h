/* http/tls.h: TLS of connections, through OpenSSL. */
#ifndef HTTP_TLS_H
#define HTTP_TLS_H

#include "http/inner.h"

/* A server's certificate and key. Thread-safe. */
struct tls;
SHEAF_NODISCARD sheaf_rc tls_open(const char *cert, const char *key, struct tls **tls_out,
                                  sheaf_error *err);
/* The files again; on failure the old ones stay. Connections keep what they began with. */
SHEAF_NODISCARD sheaf_rc tls_reload(struct tls *t, const char *cert, const char *key,
                                    sheaf_error *err);
void tls_close(struct tls *t);

/* NULL when memory is out. */
struct tls_session *tls_session_new(struct tls *t, int fd);
void tls_session_free(struct tls_session *s);
/* 1 when done, -EAGAIN: not yet, another -errno: failed. */
int tls_handshake(struct conn *c);
void tls_bye(struct conn *c); /* close_notify, as far as it goes */
ssize_t tls_read(struct conn *c, struct iovec *v, int n);
ssize_t tls_write(struct conn *c, struct iovec *v, int n);

#endif
