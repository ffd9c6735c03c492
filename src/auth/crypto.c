/* Turns a secret access key into signatures.
 *
 *   key(day)    = HMAC("AWS4" + secret, day)
 *   key(region) = HMAC(key(day), region)
 *   key(signing)= HMAC(HMAC(key(region), "dynamodb"), "aws4_request")
 *   signature   = HMAC(key(signing), string to sign)
 *
 * Know before editing: a signing key is good for a day and a region, so each secret keeps the last
 * SIG_SLOTS of them, as HMAC contexts that have absorbed the key. A thread takes a context out,
 * uses it alone and brings it back; when all of a slot are out it derives one more. (Duplicating
 * a kept context costs as much as the HMAC itself.) */
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

/* The HMAC of one text; the context can be used again. NULL is an error like any other. */
static bool mac_of(EVP_MAC_CTX *mac, span text, uint8_t out[SIG_HASH])
{
    size_t n = 0;
    return mac && EVP_MAC_init(mac, NULL, 0, NULL) && EVP_MAC_update(mac, text.p, text.n) &&
           EVP_MAC_final(mac, out, &n, SIG_HASH) && n == SIG_HASH;
}

/* ---- secrets ---- */

/* Contexts of one key that are not in use; as many threads can be at it without a derivation. */
enum { SPARES = 16 };

struct slot {
    uint8_t day[SIG_DAY], region[SIG_REGION_MAX];
    size_t region_n;
    unsigned n;
    EVP_MAC_CTX *spares[SPARES];
};

struct sig_secret {
    pthread_mutex_t lock; /* over slots and next; held for no more than a search */
    struct slot slots[SIG_SLOTS];
    unsigned next; /* the slot to be given up next */
    size_t n;
    uint8_t text[4 + SIG_SECRET_MAX]; /* "AWS4" and the secret */
};

struct sig_secret *sig_secret_new(span text)
{
    struct sig_secret *s = text.n <= SIG_SECRET_MAX ? mem_zalloc(sizeof *s) : NULL;
    if (!s) return NULL;
    if (pthread_mutex_init(&s->lock, NULL) != 0) {
        mem_free(s);
        return NULL;
    }
    memcpy(s->text, "AWS4", 4);
    if (text.n) memcpy(s->text + 4, text.p, text.n);
    s->n = 4 + text.n;
    return s;
}

static void empty(struct slot *slot)
{
    while (slot->n) EVP_MAC_CTX_free(slot->spares[--slot->n]); /* wipes its key */
}

void sig_secret_free(struct sig_secret *s)
{
    if (!s) return;
    for (int i = 0; i < SIG_SLOTS; i++) empty(&s->slots[i]);
    pthread_mutex_destroy(&s->lock);
    explicit_bzero(s, sizeof *s);
    mem_free(s);
}

/* The context of the signing key, of the caller's. */
static EVP_MAC_CTX *derive(const struct sig_secret *s, span day, span region)
{
    const span steps[] = {day, region, SPAN_LIT("dynamodb"), SPAN_LIT("aws4_request")};
    uint8_t key[SIG_HASH];
    EVP_MAC_CTX *mac = keyed(s->text, s->n);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        bool is_done = mac_of(mac, steps[i], key);
        EVP_MAC_CTX_free(mac);
        mac = is_done ? keyed(key, sizeof key) : NULL;
    }
    OPENSSL_cleanse(key, sizeof key);
    return mac;
}

static struct slot *find(struct sig_secret *s, span day, span region)
{
    for (int i = 0; i < SIG_SLOTS; i++) {
        struct slot *at = &s->slots[i];
        if (memcmp(at->day, day.p, SIG_DAY) == 0 && span_eq(SPAN(at->region, at->region_n), region))
            return at;
    }
    return NULL;
}

/* A context to use alone, with put_back after it; NULL when OpenSSL refuses. */
static EVP_MAC_CTX *take(struct sig_secret *s, span day, span region)
{
    pthread_mutex_lock(&s->lock);
    struct slot *at = find(s, day, region);
    EVP_MAC_CTX *mac = at && at->n ? at->spares[--at->n] : NULL;
    pthread_mutex_unlock(&s->lock);
    return mac ? mac : derive(s, day, region);
}

/* Gives up the oldest slot when there is none for this day and region. */
static void put_back(struct sig_secret *s, span day, span region, EVP_MAC_CTX *mac)
{
    pthread_mutex_lock(&s->lock);
    struct slot *at = find(s, day, region);
    if (!at) {
        at = &s->slots[s->next++ % SIG_SLOTS];
        empty(at);
        memcpy(at->day, day.p, SIG_DAY);
        memcpy(at->region, region.p, region.n);
        at->region_n = region.n;
    }
    if (at->n < SPARES) {
        at->spares[at->n++] = mac;
        mac = NULL;
    }
    pthread_mutex_unlock(&s->lock);
    EVP_MAC_CTX_free(mac);
}

sheaf_rc sig_hmac(sheaf_error *err, struct sig_secret *secret, span day, span region, span text,
                  uint8_t out[SIG_HASH])
{
    assert(day.n == SIG_DAY && region.n > 0 && region.n <= SIG_REGION_MAX);
    if (!have_algorithms()) return refused(err);
    EVP_MAC_CTX *mac = take(secret, day, region);
    if (!mac_of(mac, text, out)) {
        EVP_MAC_CTX_free(mac);
        return refused(err);
    }
    put_back(secret, day, region, mac);
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
