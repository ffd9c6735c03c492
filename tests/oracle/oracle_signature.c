/* Answers signature.py, one line for one line. Every field is hex with an x before it.
 *
 *   V now_s window_s method path query body [name value]...
 *       -> ok KEYID REGION
 *       -> ExceptionName message
 *   S now_s keyid secret token region method path query body [name value]...
 *       -> X-Amz-Date|Authorization|X-Amz-Security-Token
 *
 * The argument is the credentials file. */
#include "auth/auth.h"

#include <stdio.h>
#include <stdlib.h>

enum { FIELDS = 128 };

static struct {
    char *line;
    size_t cap;
    span fields[FIELDS];
    size_t n;
} in;

static void give_up(const char *why)
{
    fprintf(stderr, "oracle_signature: %s\n", why);
    exit(2);
}

static unsigned digit(char c) { return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10); }

/* Decodes the fields in place. */
static bool read_line(void)
{
    if (getline(&in.line, &in.cap, stdin) < 0) return false;
    in.n = 0;
    for (char *word = strtok(in.line + 1, " \n"); word; word = strtok(NULL, " \n")) {
        if (in.n == FIELDS || *word != 'x') give_up("a field is malformed");
        size_t n = strlen(word + 1) / 2;
        for (size_t i = 0; i < n; i++)
            word[i] = (char)(digit(word[1 + 2 * i]) << 4 | digit(word[2 + 2 * i]));
        in.fields[in.n++] = SPAN(word, n);
    }
    return true;
}

static int64_t number(span s)
{
    char text[32];
    snprintf(text, sizeof text, "%.*s", SPAN_ARG(s));
    return strtoll(text, NULL, 10);
}

static struct sig_request request_at(size_t at, struct sig_header *headers)
{
    if (in.n < at + 4 || (in.n - at) % 2) give_up("a request is too short");
    struct sig_request r = {.method = in.fields[at],
                            .path = in.fields[at + 1],
                            .query = in.fields[at + 2],
                            .body = in.fields[at + 3],
                            .headers = headers};
    for (size_t i = at + 4; i < in.n; i += 2)
        headers[r.n_headers++] = (struct sig_header){in.fields[i], in.fields[i + 1]};
    return r;
}

static void verify(struct ctx *c, struct auth_ring *ring)
{
    struct sig_header headers[FIELDS];
    struct auth_identity who;
    struct sig_request r = request_at(2, headers);
    struct sig_gate gate = {.ring = ring, .window_s = (uint32_t)number(in.fields[1])};
    sheaf_rc rc = sig_verify(c, &gate, &r, number(in.fields[0]) * 1000000, &who);
    if (rc == SHEAF_OK)
        printf("ok %.*s %.*s\n", SPAN_ARG(who.key_id), SPAN_ARG(who.region));
    else
        printf("%s %s\n", c->err->exception, c->err->message);
}

static void sign(struct ctx *c)
{
    struct sig_header headers[FIELDS];
    struct sig_headers out;
    struct sig_request r = request_at(5, headers);
    struct sig_credentials who = {in.fields[1], sig_secret_new(in.fields[2]), in.fields[3],
                                  in.fields[4]};
    if (sig_sign(c, &who, &r, number(in.fields[0]) * 1000000, &out) != SHEAF_OK)
        give_up(c->err->message);
    printf("%.*s|%.*s|%.*s\n", SPAN_ARG(out.x_amz_date), SPAN_ARG(out.authorization),
           SPAN_ARG(out.x_amz_security_token));
    sig_secret_free(who.secret);
}

int main(int argc, char **argv)
{
    struct arena arena;
    sheaf_error err;
    struct ctx c = {&arena, &err};
    struct auth_ring *ring;
    if (argc != 2) give_up("usage: oracle_signature CREDENTIALS");
    if (auth_ring_load(argv[1], &ring, &err) != SHEAF_OK) give_up(err.message);
    arena_init(&arena, 64 << 20);
    while (read_line()) {
        arena_reset(&arena);
        err_clear(&err);
        if (in.line[0] == 'V' && in.n >= 2)
            verify(&c, ring);
        else if (in.line[0] == 'S' && in.n >= 5)
            sign(&c);
        else
            give_up("neither V nor S");
        fflush(stdout);
    }
    arena_deinit(&arena);
    auth_ring_unref(ring);
    free(in.line);
    return 0;
}
