/* Signature Version 4 of a PutItem as an SDK sends it: nine headers and a body of 600 bytes. */
#include "micro/groups.h"

#include "auth/auth.h"

#include <string.h>

struct signatures {
    struct arena arena;
    sheaf_error err;
    struct ctx c;
    struct sig_gate gate;
    struct sig_credentials us;
    struct sig_header headers[12];
    struct sig_request r;
    char body[600];
    uint8_t hash[32]; /* any: to be signed and verified without hashing the body */
};

#define NOW_US (INT64_C(1440938160) * 1000000)

static const struct sig_header sdk_headers[] = {
    {SPAN_LIT("Host"), SPAN_LIT("localhost:8000")},
    {SPAN_LIT("Accept-Encoding"), SPAN_LIT("identity")},
    {SPAN_LIT("Content-Type"), SPAN_LIT("application/x-amz-json-1.0")},
    {SPAN_LIT("X-Amz-Target"), SPAN_LIT("DynamoDB_20120810.PutItem")},
    {SPAN_LIT("User-Agent"), SPAN_LIT("Boto3/1.26.27 Python/3.11.2 Linux/6.1.0 Botocore/1.29.27")},
    {SPAN_LIT("amz-sdk-invocation-id"), SPAN_LIT("7a9c3d0e-3c44-4f0e-9d5f-1b8a2f3c4d5e")},
    {SPAN_LIT("amz-sdk-request"), SPAN_LIT("attempt=1")},
    {SPAN_LIT("Content-Length"), SPAN_LIT("600")},
};

static void run_sign(void *ctx, uint64_t n)
{
    struct signatures *x = ctx;
    struct sig_request r = x->r;
    r.n_headers = sizeof sdk_headers / sizeof sdk_headers[0];
    for (uint64_t i = 0; i < n; i++) {
        struct sig_headers out;
        arena_reset(&x->arena);
        if (sig_sign(&x->c, &x->us, &r, NOW_US, &out) != SHEAF_OK) bench_die("sign", "refused");
        bench_use(out.authorization.n);
    }
}

static void verify(struct signatures *x, const struct sig_request *r, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        struct auth_identity who;
        arena_reset(&x->arena);
        if (sig_verify(&x->c, &x->gate, r, NOW_US, &who) != SHEAF_OK)
            bench_die("verify", x->err.message);
        bench_use(who.key_id.n);
    }
}

static void run_verify(void *ctx, uint64_t n)
{
    struct signatures *x = ctx;
    verify(x, &x->r, n);
}

static void run_verify_hashed(void *ctx, uint64_t n)
{
    struct signatures *x = ctx;
    struct sig_request r = x->r;
    r.body_sha256 = x->hash;
    verify(x, &r, n);
}

/* What a stranger costs: the key is looked for and not found. */
static void run_refuse(void *ctx, uint64_t n)
{
    struct signatures *x = ctx;
    struct sig_request r = x->r;
    struct sig_gate gate = x->gate;
    const char keys[] = "[AKIDNOTME]\nsecret = s\n";
    if (auth_ring_parse("keys", span_cstr(keys), &gate.ring, &x->err) != SHEAF_OK)
        bench_die("ring", x->err.message);
    for (uint64_t i = 0; i < n; i++) {
        struct auth_identity who;
        arena_reset(&x->arena);
        bench_use(sig_verify(&x->c, &gate, &r, NOW_US, &who));
    }
    auth_ring_unref(gate.ring);
}

/* Signs the request and takes the headers in; the hash of the body is left for run_verify_hashed. */
static void prepare(struct signatures *x)
{
    static char authorization[512], date[16];
    struct sig_headers out;
    memcpy(x->headers, sdk_headers, sizeof sdk_headers);
    memset(x->body, 'x', sizeof x->body);
    x->r = (struct sig_request){.method = SPAN_LIT("POST"),
                                .path = SPAN_LIT("/"),
                                .headers = x->headers,
                                .n_headers = sizeof sdk_headers / sizeof sdk_headers[0],
                                .body = SPAN(x->body, sizeof x->body)};
    if (sig_sign(&x->c, &x->us, &x->r, NOW_US, &out) != SHEAF_OK) bench_die("sign", "refused");
    memcpy(authorization, out.authorization.p, out.authorization.n);
    memcpy(date, out.x_amz_date.p, sizeof date);
    x->headers[x->r.n_headers++] =
        (struct sig_header){SPAN_LIT("X-Amz-Date"), SPAN(date, sizeof date)};
    x->headers[x->r.n_headers++] =
        (struct sig_header){SPAN_LIT("Authorization"), SPAN(authorization, out.authorization.n)};
}

void bench_signatures(const struct bench_options *o)
{
    const char *title = "signature";
    if (!bench_wants(o, title)) return;
    static struct signatures x;
    static const char keys[] = "[AKIDEXAMPLE]\nsecret = wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY\n";
    /* SHA-256 of 600 times 'x'. */
    static const uint8_t hash[32] = {0x51, 0x30, 0xb3, 0x3e, 0x6b, 0x87, 0xfb, 0xf5,
                                     0x31, 0x6e, 0xd9, 0x04, 0x9e, 0x98, 0x92, 0x4e,
                                     0xb1, 0x10, 0x80, 0x0b, 0xcb, 0xaa, 0xad, 0x80,
                                     0x50, 0xf6, 0x42, 0xfb, 0xa6, 0xdf, 0x37, 0xc9};
    arena_init(&x.arena, 1 << 20);
    x.c = (struct ctx){&x.arena, &x.err};
    memcpy(x.hash, hash, sizeof hash);
    if (auth_ring_parse("keys", span_cstr(keys), &x.gate.ring, &x.err) != SHEAF_OK)
        bench_die("ring", x.err.message);
    x.us = (struct sig_credentials){
        SPAN_LIT("AKIDEXAMPLE"),
        sig_secret_new(SPAN_LIT("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")), SPAN_NONE,
        SPAN_LIT("us-east-1")};
    if (!x.us.secret) bench_die("secret", "out of memory");
    prepare(&x);
    struct bench b[] = {{.name = "verify a PutItem of 600 bytes", .run = run_verify, .ctx = &x},
                        {.name = "verify, body hashed before", .run = run_verify_hashed, .ctx = &x},
                        {.name = "refuse an unknown key", .run = run_refuse, .ctx = &x},
                        {.name = "sign a PutItem of 600 bytes", .run = run_sign, .ctx = &x}};
    bench_group(o, title, b, 4);
    sig_secret_free(x.us.secret);
    auth_ring_unref(x.gate.ring);
    arena_deinit(&x.arena);
}
