/* Turns a secret access key into signatures.
 *
 *   key(day)    = HMAC("AWS4" + secret, day)
 *   key(region) = HMAC(key(day), region)
 *   key(signing)= HMAC(HMAC(key(region), "dynamodb"), "aws4_request")
 *   signature   = HMAC(key(signing), string to sign)
 *
 * Know before editing: a signing key is good for a day and a region, so each secret keeps the last
 * SIG_SLOTS of them as HMAC contexts with the key already absorbed. A context in a slot is never
 * fed: it is duplicated under the read lock, and freed only under the write lock. */
#include "auth/crypto.h"

#include "base/mem.h"

#include <assert.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <pthread.h>

static struct {
    pthread_once_t once;
    EVP_MD *sha256;
    EVP_MAC *hmac;
} algorithms = {.once = PTHREAD_ONCE_INIT};

static void fetch(void)
{
    algorithms.sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
    algorithms.hmac = EVP_MAC_fetch(NULL, "HMAC", NULL);
}

static bool have_algorithms(void)
{
    pthread_once(&algorithms.once, fetch);
    return algorithms.sha256 && algorithms.hmac;
}

static sheaf_rc refused(sheaf_error *err)
{
    return err_set(err, SHEAF_INTERNAL, "OpenSSL has no SHA-256 or HMAC to offer");
}

sheaf_rc sig_sha256(sheaf_error *err, span s, uint8_t out[SIG_HASH])
{
    if (!have_algorithms()) return refused(err);
    const void *p = s.p ? s.p : "";
    if (!EVP_Digest(p, s.n, out, NULL, algorithms.sha256, NULL)) return refused(err);
    return SHEAF_OK;
}

/* ---- HMAC ---- */

/* A context that has absorbed the key; NULL when OpenSSL refuses. */
static EVP_MAC_CTX *keyed(const uint8_t *key, size_t n)
{
    static char digest[] = "SHA256";
    OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
                           OSSL_PARAM_construct_end()};
    EVP_MAC_CTX *mac = EVP_MAC_CTX_new(algorithms.hmac);
    if (mac && EVP_MAC_init(mac, key, n, params)) return mac;
    EVP_MAC_CTX_free(mac);
    return NULL;
}

/* Feeds and finishes the context, and frees it. NULL is an error like any other. */
static bool finish(EVP_MAC_CTX *mac, span text, uint8_t out[SIG_HASH])
{
    size_t n = 0;
    bool is_done = mac && EVP_MAC_update(mac, text.p, text.n) &&
                   EVP_MAC_final(mac, out, &n, SIG_HASH) && n == SIG_HASH;
    EVP_MAC_CTX_free(mac);
    return is_done;
}

/* ---- secrets ---- */

struct slot {
    uint8_t day[SIG_DAY], region[SIG_REGION_MAX];
    size_t region_n;
    EVP_MAC_CTX *mac; /* keyed, never fed; NULL: an empty slot */
};

struct sig_secret {
    pthread_rwlock_t lock; /* over slots and next */
    struct slot slots[SIG_SLOTS];
    unsigned next; /* the slot to be given up next */
    size_t n;
    uint8_t text[4 + SIG_SECRET_MAX]; /* "AWS4" and the secret */
};

struct sig_secret *sig_secret_new(span text)
{
    assert(text.n <= SIG_SECRET_MAX);
    struct sig_secret *s = mem_zalloc(sizeof *s);
    if (!s) return NULL;
    if (pthread_rwlock_init(&s->lock, NULL) != 0) {
        mem_free(s);
        return NULL;
    }
    memcpy(s->text, "AWS4", 4);
    if (text.n) memcpy(s->text + 4, text.p, text.n);
    s->n = 4 + text.n;
    return s;
}

void sig_secret_free(struct sig_secret *s)
{
    if (!s) return;
    for (int i = 0; i < SIG_SLOTS; i++) EVP_MAC_CTX_free(s->slots[i].mac); /* wipes its key */
    pthread_rwlock_destroy(&s->lock);
    explicit_bzero(s, sizeof *s);
    mem_free(s);
}

/* The context of a new signing key, of the caller's. */
static EVP_MAC_CTX *derive(const struct sig_secret *s, span day, span region)
{
    const span steps[] = {day, region, SPAN_LIT("dynamodb"), SPAN_LIT("aws4_request")};
    uint8_t key[SIG_HASH];
    EVP_MAC_CTX *mac = keyed(s->text, s->n);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        bool is_done = finish(mac, steps[i], key);
        mac = is_done ? keyed(key, sizeof key) : NULL;
    }
    OPENSSL_cleanse(key, sizeof key);
    return mac;
}

static const struct slot *find(const struct sig_secret *s, span day, span region)
{
    for (int i = 0; i < SIG_SLOTS; i++) {
        const struct slot *at = &s->slots[i];
        if (at->mac && memcmp(at->day, day.p, SIG_DAY) == 0 &&
            span_eq(SPAN(at->region, at->region_n), region))
            return at;
    }
    return NULL;
}

/* Keeps mac unless another thread was faster, and gives up the oldest for it. */
static void keep(struct sig_secret *s, span day, span region, EVP_MAC_CTX *mac)
{
    EVP_MAC_CTX *old = mac;
    pthread_rwlock_wrlock(&s->lock);
    if (!find(s, day, region)) {
        struct slot *at = &s->slots[s->next++ % SIG_SLOTS];
        old = at->mac;
        memcpy(at->day, day.p, SIG_DAY);
        if (region.n) memcpy(at->region, region.p, region.n);
        at->region_n = region.n;
        at->mac = mac;
    }
    pthread_rwlock_unlock(&s->lock);
    EVP_MAC_CTX_free(old);
}

/* A context of the caller's, ready to be fed. */
static EVP_MAC_CTX *signing(struct sig_secret *s, span day, span region)
{
    pthread_rwlock_rdlock(&s->lock);
    const struct slot *at = find(s, day, region);
    EVP_MAC_CTX *mac = at ? EVP_MAC_CTX_dup(at->mac) : NULL;
    pthread_rwlock_unlock(&s->lock);
    if (at) return mac;

    EVP_MAC_CTX *fresh = derive(s, day, region);
    mac = fresh ? EVP_MAC_CTX_dup(fresh) : NULL;
    if (fresh) keep(s, day, region, fresh);
    return mac;
}

sheaf_rc sig_hmac(sheaf_error *err, struct sig_secret *secret, span day, span region, span text,
                  uint8_t out[SIG_HASH])
{
    assert(day.n == SIG_DAY && region.n <= SIG_REGION_MAX);
    if (!have_algorithms()) return refused(err);
    if (!finish(signing(secret, day, region), text, out)) return refused(err);
    return SHEAF_OK;
}

/* ---- comparing and writing ---- */

bool sig_same(const void *a, const void *b, size_t n) { return CRYPTO_memcmp(a, b, n) == 0; }

void sig_hex(const uint8_t hash[SIG_HASH], char out[SIG_HEX])
{
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < SIG_HASH; i++) {
        out[2 * i] = digits[hash[i] >> 4];
        out[2 * i + 1] = digits[hash[i] & 15];
    }
}

static int digit(uint8_t c)
{
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool sig_unhex(span hex, uint8_t out[SIG_HASH])
{
    const uint8_t *p = hex.p;
    if (hex.n != SIG_HEX) return false;
    for (int i = 0; i < SIG_HASH; i++) {
        int high = digit(p[2 * i]), low = digit(p[2 * i + 1]);
        if (high < 0 || low < 0) return false;
        out[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}
