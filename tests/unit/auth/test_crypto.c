#include "support/support.h"

#include "auth/crypto.h"
#include "base/mem.h"

#include <pthread.h>

#define SECRET "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"

static sheaf_error err;

static void assert_hex(const uint8_t hash[SIG_HASH], const char *want)
{
    char hex[SIG_HEX];
    sig_hex(hash, hex);
    assert_memory_equal(hex, want, SIG_HEX);
}

/* FIPS 180-4's examples. */
static void test_sig_sha256__gives_the_published_hashes(void **state)
{
    (void)state;
    uint8_t hash[SIG_HASH];
    assert_ok(sig_sha256(&err, SPAN_LIT("abc"), hash));
    assert_hex(hash, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_ok(sig_sha256(&err, SPAN_NONE, hash));
    assert_hex(hash, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

/* The value is of Python's hmac and hashlib, five steps by hand. */
static void test_sig_hmac__derives_the_signing_key(void **state)
{
    (void)state;
    uint8_t hash[SIG_HASH];
    struct sig_secret *secret = sig_secret_new(SPAN_LIT(SECRET));
    for (int i = 0; i < 3; i++) { /* derived, then kept */
        assert_ok(sig_hmac(&err, secret, SPAN_LIT("20150830"), SPAN_LIT("us-east-1"),
                           SPAN_LIT("hello"), hash));
        assert_hex(hash, "c4e438d8dbabd0c172feac7c196fff34c421b06bd37018de6ff990c413854dcd");
    }
    sig_secret_free(secret);
}

static void test_sig_hmac__keeps_more_scopes_than_slots_apart(void **state)
{
    (void)state;
    enum { REGIONS = 3 * SIG_SLOTS };
    uint8_t first[REGIONS][SIG_HASH], hash[SIG_HASH];
    struct sig_secret *secret = sig_secret_new(SPAN_LIT(SECRET));
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < REGIONS; i++) {
            char region[32], day[32];
            int n = snprintf(region, sizeof region, "region-%d", i / 2);
            snprintf(day, sizeof day, "2015083%d", i % 2);
            assert_ok(sig_hmac(&err, secret, SPAN(day, 8), SPAN(region, (size_t)n), SPAN_LIT("x"),
                               round ? hash : first[i]));
            if (round) assert_memory_equal(hash, first[i], SIG_HASH);
            for (int j = 0; !round && j < i; j++)
                assert_memory_not_equal(first[i], first[j], SIG_HASH);
        }
    }
    sig_secret_free(secret);
}

struct job {
    struct sig_secret *secret;
    const uint8_t (*want)[SIG_HASH];
    unsigned start, wrong;
};

static span region_of(unsigned i, char room[16])
{
    return SPAN(room, (size_t)snprintf(room, 16, "region-%u", i));
}

static void *sign_much(void *arg)
{
    struct job *job = arg;
    sheaf_error mine;
    for (unsigned i = 0; i < 2000; i++) {
        unsigned at = (job->start + i / 3) % 8; /* twice as many as there are slots */
        char room[16];
        uint8_t hash[SIG_HASH];
        sheaf_rc rc = sig_hmac(&mine, job->secret, SPAN_LIT("20150830"), region_of(at, room),
                               SPAN_LIT("x"), hash);
        job->wrong += rc != SHEAF_OK || memcmp(hash, job->want[at], SIG_HASH) != 0;
    }
    return NULL;
}

static void test_sig_hmac__is_the_same_from_many_threads(void **state)
{
    (void)state;
    uint8_t want[8][SIG_HASH];
    struct sig_secret *secret = sig_secret_new(SPAN_LIT(SECRET));
    for (unsigned i = 0; i < 8; i++) {
        char room[16];
        assert_ok(sig_hmac(&err, secret, SPAN_LIT("20150830"), region_of(i, room), SPAN_LIT("x"),
                           want[i]));
    }
    struct job jobs[4];
    pthread_t threads[4];
    for (unsigned i = 0; i < 4; i++) {
        jobs[i] = (struct job){secret, (const uint8_t(*)[SIG_HASH])want, 2 * i, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, sign_much, &jobs[i]), 0);
    }
    for (unsigned i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(jobs[i].wrong, 0);
    }
    sig_secret_free(secret);
}

static void test_sig_unhex__takes_64_digits_of_lower_case(void **state)
{
    (void)state;
    uint8_t hash[SIG_HASH], back[SIG_HASH];
    char hex[SIG_HEX];
    for (int i = 0; i < SIG_HASH; i++) hash[i] = (uint8_t)(i * 9 + 1);
    sig_hex(hash, hex);
    assert_true(sig_unhex(SPAN(hex, SIG_HEX), back));
    assert_memory_equal(back, hash, SIG_HASH);
    assert_false(sig_unhex(SPAN(hex, SIG_HEX - 1), back));
    for (int i = 0; i < SIG_HEX; i++) {
        for (const char *bad = "gG AF/:`@"; *bad; bad++) {
            char was = hex[i];
            hex[i] = *bad;
            assert_false(sig_unhex(SPAN(hex, SIG_HEX), back));
            hex[i] = was;
        }
    }
}

static void test_sig_same__sees_every_bit(void **state)
{
    (void)state;
    uint8_t a[SIG_HASH] = {0}, b[SIG_HASH] = {0};
    assert_true(sig_same(a, b, sizeof a));
    for (int bit = 0; bit < 8 * SIG_HASH; bit++) {
        b[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_false(sig_same(a, b, sizeof a));
        b[bit / 8] = 0;
    }
}

static void test_sig_secret_new__fails_when_memory_is_out(void **state)
{
    (void)state;
    mem_fail_at(1, false);
    struct sig_secret *secret = sig_secret_new(SPAN_LIT(SECRET));
    mem_fail_at(0, false);
    assert_null(secret);
    sig_secret_free(NULL);
}

static void test_sig_secret_new__takes_256_bytes(void **state)
{
    (void)state;
    static const char text[SIG_SECRET_MAX + 1] = "s";
    struct sig_secret *secret = sig_secret_new(SPAN(text, SIG_SECRET_MAX));
    assert_non_null(secret);
    sig_secret_free(secret);
    assert_null(sig_secret_new(SPAN(text, SIG_SECRET_MAX + 1)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sig_sha256__gives_the_published_hashes),
        cmocka_unit_test(test_sig_hmac__derives_the_signing_key),
        cmocka_unit_test(test_sig_hmac__keeps_more_scopes_than_slots_apart),
        cmocka_unit_test(test_sig_hmac__is_the_same_from_many_threads),
        cmocka_unit_test(test_sig_unhex__takes_64_digits_of_lower_case),
        cmocka_unit_test(test_sig_same__sees_every_bit),
        cmocka_unit_test(test_sig_secret_new__fails_when_memory_is_out),
        cmocka_unit_test(test_sig_secret_new__takes_256_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
