/* sig_verify: who is let in, and what the others are told. */
#include "support/support.h"

#include "auth/crypto.h"
#include "base/mem.h"
#include "support/signing.h"

/* Where a message comes from. DYNALITE: dynalite's tests and the notes of its request handler, which
 * were made against DynamoDB. PHP: aws-sdk-php issue 2469, an answer of DynamoDB in 2022. HASHED:
 * answers of API Gateway since 2025, when AWS ceased to repeat the header. S3: an answer of S3. */
enum source { DYNALITE, PHP, HASHED, S3, OURS, UNVERIFIED };

#define AUTH(rest) "AWS4-HMAC-SHA256 " rest
#define SCOPE "AKIDEXAMPLE/20150830/us-east-1/dynamodb/aws4_request"
#define NAMES "SignedHeaders=content-type;host;x-amz-date;x-amz-target"
#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"
#define MISMATCH                                                                                   \
    "The request signature we calculated does not match the signature you provided. Check your "   \
    "AWS Secret Access Key and signing method. Consult the service documentation for details."

/* A signed request with one header set (value NULL: removed) and another query. */
struct row {
    const char *header, *value, *query;
    sheaf_rc rc;
    const char *message; /* "…%s" ends in the hash of the value */
    enum source source;
};

static const struct row rows[] = {
    /* Which form. */
    {"Authorization", NULL, "", SHEAF_MISSING_AUTH, "Request is missing Authentication Token",
     DYNALITE},
    {"Authorization", "AWS4", "", SHEAF_MISSING_AUTH, "Request is missing Authentication Token",
     DYNALITE},
    {"Authorization", "X", "X-Amz-Algorith", SHEAF_MISSING_AUTH,
     "Request is missing Authentication Token", DYNALITE},
    {"Authorization", "Basic dTpw", "", SHEAF_MISSING_AUTH,
     "Request is missing Authentication Token", DYNALITE},
    {"Authorization", NULL,
     "X-Amz-Credential=a&X-Amz-Signature=b&X-Amz-SignedHeaders=c&X-Amz-Date=d", SHEAF_MISSING_AUTH,
     "Request is missing Authentication Token", DYNALITE},
    {"Authorization", "X", "X-Amz-Algorithm", SHEAF_INVALID_SIGNATURE,
     "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header.",
     DYNALITE},
    {"Authorization", NULL, "X-Amz-Algorithm", SHEAF_INCOMPLETE_SIGNATURE,
     "AWS query-string parameters must include 'X-Amz-Algorithm'. AWS query-string parameters must "
     "include 'X-Amz-Credential'. "
     "AWS query-string parameters must include 'X-Amz-Signature'. AWS query-string parameters must "
     "include 'X-Amz-SignedHeaders'. "
     "AWS query-string parameters must include 'X-Amz-Date'. Re-examine the query-string "
     "parameters.",
     DYNALITE},
    {"Authorization", NULL, "X-Amz-Algorithm=a&X-Amz-Credential=b&X-Amz-Signature=c&X-Amz-Date=d",
     SHEAF_INCOMPLETE_SIGNATURE,
     "AWS query-string parameters must include 'X-Amz-SignedHeaders'. Re-examine the query-string "
     "parameters.",
     DYNALITE},
    {"Authorization", NULL,
     "X-Amz-Algorithm=a&X-Amz-Credential=b&X-Amz-Signature=c&X-Amz-Date=d&X-Amz-SignedHeaders=e",
     SHEAF_INVALID_SIGNATURE, "Presigned URLs are not accepted. Sign with an Authorization header.",
     OURS},
    /* What the header lacks. */
    {"Authorization", AUTH("Signature=b Credential=a"), "", SHEAF_INCOMPLETE_SIGNATURE,
     "Authorization header requires 'SignedHeaders' parameter. (Hashed with SHA-256 and encoded "
     "with Base64) Authorization=%s",
     HASHED},
    {"Authorization", AUTH("Signature=b,Credential=a"), "", SHEAF_INCOMPLETE_SIGNATURE,
     "Authorization header requires 'SignedHeaders' parameter. (Hashed with SHA-256 and encoded "
     "with Base64) Authorization=%s",
     HASHED},
    {"Authorization", AUTH("Foo=Bar"), "", SHEAF_INCOMPLETE_SIGNATURE,
     "Authorization header requires 'Credential' parameter. Authorization header requires "
     "'Signature' parameter. "
     "Authorization header requires 'SignedHeaders' parameter. (Hashed with SHA-256 and encoded "
     "with Base64) Authorization=%s",
     HASHED},
    {"Authorization", AUTH("Credential=, Signature=, SignedHeaders="), "",
     SHEAF_INCOMPLETE_SIGNATURE,
     "Authorization header requires 'Credential' parameter. Authorization header requires "
     "'Signature' parameter. "
     "(Hashed with SHA-256 and encoded with Base64) Authorization=%s",
     UNVERIFIED},
    {"Authorization", AUTH("Credential=a Signature=b SignedHeaders"), "",
     SHEAF_INCOMPLETE_SIGNATURE,
     "Invalid key=value pair (missing equal-sign) in Authorization header (hashed with SHA-256 and "
     "encoded with Base64): '%s'.",
     HASHED},
    {"Authorization", AUTH("Credential=a Credential=b"), "", SHEAF_INCOMPLETE_SIGNATURE,
     "Authorization header has more than one 'Credential' parameter.", OURS},
    /* Date. */
    {"X-Amz-Date", "201", "", SHEAF_INCOMPLETE_SIGNATURE,
     "Date must be in ISO-8601 'basic format'. Got '201'. See "
     "http://en.wikipedia.org/wiki/ISO_8601",
     DYNALITE},
    {"X-Amz-Date", "20130301T000000Z", "", SHEAF_INVALID_SIGNATURE,
     "Signature expired: 20130301T000000Z is now earlier than 20150830T122100Z (20150830T123600Z - "
     "15 min.)",
     DYNALITE},
    {"X-Amz-Date", "30200101T010101Z", "", SHEAF_INVALID_SIGNATURE,
     "Signature not yet current: 30200101T010101Z is still later than 20150830T125100Z "
     "(20150830T123600Z + 15 min.)",
     DYNALITE},
    /* Signed headers, before the algorithm and the scope. */
    {"Authorization", "AWS4-X Credential=a SignedHeaders=x-amz-date Signature=b", "",
     SHEAF_INVALID_SIGNATURE,
     "'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization.", PHP},
    {"Authorization", AUTH("Credential=a SignedHeaders=host;x-amz-date Signature=b"), "",
     SHEAF_INVALID_SIGNATURE, "'x-amz-target' must be a 'SignedHeader' in the AWS Authorization.",
     UNVERIFIED},
    {"X-Amz-Meta", "1", "", SHEAF_INVALID_SIGNATURE,
     "'x-amz-meta' must be a 'SignedHeader' in the AWS Authorization.", UNVERIFIED},
    /* Algorithm and scope. */
    {"Authorization", "AWS4-HMAC-SHA25 Credential=a " NAMES " Signature=b", "",
     SHEAF_INCOMPLETE_SIGNATURE,
     "Unsupported AWS 'algorithm': 'AWS4-HMAC-SHA25' (only AWS4-HMAC-SHA256 for now). ", DYNALITE},
    {"Authorization", AUTH("Credential=a/b/c/d " NAMES " Signature=b"), "",
     SHEAF_INCOMPLETE_SIGNATURE,
     "Credential must have exactly 5 slash-delimited elements, e.g. "
     "keyid/date/region/service/term, got 'a/b/c/d'",
     DYNALITE},
    {"Authorization", AUTH("Credential=a/b/c/d// " NAMES " Signature=b"), "",
     SHEAF_INCOMPLETE_SIGNATURE,
     "Credential must have exactly 5 slash-delimited elements, e.g. "
     "keyid/date/region/service/term, got 'a/b/c/d//'",
     DYNALITE},
    {"Authorization", AUTH("Credential=a/b/c/d/e/f " NAMES " Signature=b"), "",
     SHEAF_INCOMPLETE_SIGNATURE,
     "Credential must have exactly 5 slash-delimited elements, e.g. "
     "keyid/date/region/service/term, got 'a/b/c/d/e/f'",
     DYNALITE},
    {"Authorization", AUTH("Credential=a/b/c/d/e " NAMES " Signature=b"), "",
     SHEAF_INVALID_SIGNATURE,
     "Credential should be scoped to a valid region, not 'c'. Credential should be scoped to "
     "correct service: 'dynamodb'. "
     "Credential should be scoped with a valid terminator: 'aws4_request', not 'e'. "
     "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: "
     "'b' != '20150830', from "
     "'20150830T123600Z'.",
     DYNALITE},
    {"Authorization",
     AUTH("Credential=AKIDEXAMPLE/20150830/us-east-1/s3/aws4_request " NAMES " Signature=b"), "",
     SHEAF_INVALID_SIGNATURE, "Credential should be scoped to correct service: 'dynamodb'. ",
     DYNALITE},
    {"Authorization",
     AUTH("Credential=AKIDEXAMPLE/20150829/us-east-1/dynamodb/aws4_request " NAMES " Signature=b"),
     "", SHEAF_INVALID_SIGNATURE,
     "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: "
     "'20150829' != '20150830', from "
     "'20150830T123600Z'.",
     DYNALITE},
    /* The key before the signature, and the signature. */
    {"Authorization",
     AUTH("Credential=AKIDNOBODY/20150830/us-east-1/dynamodb/aws4_request " NAMES " Signature=b"),
     "", SHEAF_UNRECOGNIZED_CLIENT, "The security token included in the request is invalid.",
     DYNALITE},
    {"Authorization",
     AUTH("Credential=/20150830/us-east-1/dynamodb/aws4_request " NAMES " Signature=b"), "",
     SHEAF_UNRECOGNIZED_CLIENT, "The security token included in the request is invalid.", DYNALITE},
    {"Authorization", AUTH("Credential=" SCOPE " " NAMES " Signature=" ZEROS), "",
     SHEAF_INVALID_SIGNATURE, MISMATCH, DYNALITE},
    {"Authorization", AUTH("Credential=" SCOPE " " NAMES " Signature=123"), "",
     SHEAF_INVALID_SIGNATURE, MISMATCH, DYNALITE},
    {"Authorization", AUTH("Credential=" SCOPE " " NAMES ";x-none Signature=" ZEROS), "",
     SHEAF_INVALID_SIGNATURE, MISMATCH, DYNALITE},
    {"Host", "localhost:8001", "", SHEAF_INVALID_SIGNATURE, MISMATCH, DYNALITE},
    {"Content-Type", NULL, "", SHEAF_INVALID_SIGNATURE, MISMATCH, DYNALITE},
    {"User-Agent", "x", "a=b", SHEAF_INVALID_SIGNATURE, MISMATCH, DYNALITE},
    /* The token last. */
    {"X-Amz-Security-Token", "token", "", SHEAF_UNRECOGNIZED_CLIENT,
     "The security token included in the request is invalid", DYNALITE},
};

/* The message with the header's hash put in. */
static void expand(char *to, size_t n, const struct row *row)
{
    const char *at = strstr(row->message, "%s");
    if (!at) {
        snprintf(to, n, "%s", row->message);
        return;
    }
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint8_t hash[36] = {0};
    char base64[45] = {0};
    assert_ok(sig_sha256(NULL, span_cstr(row->value), hash));
    for (int i = 0; i < 44; i++) {
        unsigned bits = (unsigned)hash[i / 4 * 3] << 16 | (unsigned)hash[i / 4 * 3 + 1] << 8 |
                        hash[i / 4 * 3 + 2];
        base64[i] = digits[bits >> (18 - 6 * (i % 4)) & 63];
    }
    base64[43] = '=';
    snprintf(to, n, "%.*s%s%s", (int)(at - row->message), row->message, base64, at + 2);
}

static void test_sig_verify__answers_in_the_words_of_aws(void **state)
{
    (void)state;
    static const span regions[] = {SPAN_LIT("eu-west-1"), SPAN_LIT("us-east-1")};
    size_t unverified = 0, n = sizeof rows / sizeof rows[0];
    for (size_t i = 0; i < n; i++) {
        struct signing s;
        char want[600];
        signing_init(&s, "");
        signing_sign(&s, NULL);
        s.gate.regions = regions;
        s.gate.n_regions = 2;
        assert_ok(signing_verify(&s, 0));
        signing_set(&s, rows[i].header, rows[i].value);
        s.r.query = span_cstr(rows[i].query);
        sheaf_rc rc = signing_verify(&s, 0);
        expand(want, sizeof want, &rows[i]);
        if (rc != rows[i].rc || strcmp(s.err.message, want) != 0)
            fail_msg("row %zu: rc %d\n got %s\nwant %s", i, (int)rc, s.err.message, want);
        assert_null(s.who.key);
        unverified += rows[i].source == UNVERIFIED;
        signing_deinit(&s);
    }
    printf("verify: %zu rows\nunverified rows: %zu\n", n, unverified);
}

static void test_sig_verify__names_the_key_and_the_region(void **state)
{
    (void)state;
    struct signing s;
    signing_init(&s, "admin = yes\n");
    signing_sign(&s, NULL);
    assert_ok(signing_verify(&s, 0));
    assert_span(s.who.key_id, SIGNING_ID);
    assert_span(s.who.region, "us-east-1");
    assert_true(s.who.is_admin);
    signing_deinit(&s);
}

static void test_sig_verify__takes_parts_in_any_order_and_dress(void **state)
{
    (void)state;
    static const char *const forms[] = {"AWS4-HMAC-SHA256 %1$s, %2$s, %3$s",
                                        "AWS4-HMAC-SHA256 %1$s,%2$s,%3$s",
                                        "AWS4-HMAC-SHA256 %1$s %2$s %3$s",
                                        "AWS4-HMAC-SHA256 %3$s,%1$s %2$s",
                                        " AWS4-HMAC-SHA256\t%2$s,\t%3$s ,, %1$s,",
                                        "AWS4-HMAC-SHA256,%1$s,%2$s,%3$s",
                                        "AWS4-HMAC-SHA256 %1$s/, %2$s, %3$s, Other=1"};
    struct signing s;
    signing_init(&s, "");
    signing_sign(&s, NULL);
    char whole[512], *parts[3], text[1024];
    span value = s.headers[s.r.n_headers - 1].value;
    snprintf(whole, sizeof whole, "%.*s", SPAN_ARG(value));
    strtok(whole, " ,");
    for (int i = 0; i < 3; i++) assert_non_null(parts[i] = strtok(NULL, " ,"));
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(text, sizeof text, forms[i], parts[0], parts[1], parts[2]);
#pragma GCC diagnostic pop
        signing_set(&s, "Authorization", text);
        if (signing_verify(&s, 0) != SHEAF_OK) fail_msg("%s: %s", text, s.err.message);
    }
    signing_deinit(&s);
}

/* The list may be written in any order and case; what is signed is the sorted one. */
static void test_sig_verify__sorts_signed_headers_itself(void **state)
{
    (void)state;
    struct signing s;
    signing_init(&s, "");
    signing_sign(&s, NULL);
    char text[512];
    span value = s.headers[s.r.n_headers - 1].value;
    const char *signature = strstr(value.p, "Signature=");
    snprintf(text, sizeof text,
             AUTH("Credential=" SCOPE
                  ", SignedHeaders=X-Amz-Target;host;;content-type;Host;x-amz-date, %s"),
             signature);
    signing_set(&s, "Authorization", text);
    if (signing_verify(&s, 0) != SHEAF_OK) fail_msg("%s", s.err.message);
    signing_deinit(&s);
}

static void test_sig_verify__holds_the_clock_window(void **state)
{
    (void)state;
    static const struct {
        uint32_t window_s;
        int64_t later_s;
        bool is_ok;
    } clocks[] = {{0, 0, true},      {0, 899, true},    {0, 900, true},     {0, 901, false},
                  {0, -899, true},   {0, -900, true},   {0, -901, false},   {300, 300, true},
                  {300, 301, false}, {300, -300, true}, {300, -301, false}, {90, 91, false}};
    for (size_t i = 0; i < sizeof clocks / sizeof clocks[0]; i++) {
        struct signing s;
        signing_init(&s, "");
        signing_sign(&s, NULL);
        s.gate.window_s = clocks[i].window_s;
        sheaf_rc rc = signing_verify(&s, clocks[i].later_s);
        if ((rc == SHEAF_OK) != clocks[i].is_ok) fail_msg("row %zu: rc %d", i, (int)rc);
        if (clocks[i].window_s == 90)
            assert_string_equal(s.err.message,
                                "Signature expired: 20150830T123600Z is now earlier than "
                                "20150830T123601Z (20150830T123731Z - 90 s.)");
        signing_deinit(&s);
    }
}

static void test_sig_verify__takes_the_date_header_when_there_is_no_other(void **state)
{
    (void)state;
    struct signing s;
    signing_init(&s, "");
    signing_sign(&s, NULL);
    signing_set(&s, "X-Amz-Date", NULL);
    signing_set(&s, "Date", "Sun, 30 Aug 2015 12:36:00 GMT");
    /* x-amz-date was signed and is gone; but the date was taken, and in the window. */
    assert_rc(signing_verify(&s, 0), SHEAF_INVALID_SIGNATURE);
    assert_string_equal(s.err.message, MISMATCH);
    signing_set(&s, "Date", "Sun, 30 Aug 2015 12:20:59 GMT");
    assert_rc(signing_verify(&s, 0), SHEAF_INVALID_SIGNATURE);
    assert_string_equal(s.err.message, "Signature expired: 20150830T122059Z is now earlier than "
                                       "20150830T122100Z (20150830T123600Z - 15 min.)");
    signing_set(&s, "Date", NULL);
    assert_rc(signing_verify(&s, 0), SHEAF_INCOMPLETE_SIGNATURE);
    assert_non_null(strstr(s.err.message, "Authorization header requires existence of either a "
                                          "'X-Amz-Date' or a 'Date' header. (Hashed"));
    signing_deinit(&s);
}

static void test_sig_verify__refuses_headers_that_come_twice(void **state)
{
    (void)state;
    static const char *const names[] = {"Authorization", "X-Amz-Date", "X-Amz-Target",
                                        "X-Amz-Content-Sha256", "Host"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct signing s;
        signing_init(&s, "");
        uint8_t hash[SIG_HASH];
        char hex[SIG_HEX + 1] = {0};
        assert_ok(sig_sha256(NULL, s.r.body, hash));
        sig_hex(hash, hex);
        signing_set(&s, "X-Amz-Content-Sha256", hex);
        signing_sign(&s, NULL);
        assert_ok(signing_verify(&s, 0));
        for (uint32_t h = 0; h < s.r.n_headers; h++) {
            if (span_eq(s.headers[h].name, span_cstr(names[i]))) {
                s.headers[s.r.n_headers++] = s.headers[h];
                break;
            }
        }
        sheaf_rc rc = signing_verify(&s, 0);
        assert_true(rc == SHEAF_INVALID_SIGNATURE || rc == SHEAF_INCOMPLETE_SIGNATURE);
        signing_deinit(&s);
    }
}

static void test_sig_verify__hashes_the_body_as_received(void **state)
{
    (void)state;
    struct signing s;
    uint8_t hash[SIG_HASH];
    signing_init(&s, "");
    signing_sign(&s, NULL);
    assert_ok(sig_sha256(NULL, s.r.body, hash));
    span body = s.r.body;
    s.r.body = SPAN_NONE;
    assert_rc(signing_verify(&s, 0), SHEAF_INVALID_SIGNATURE);
    s.r.body_sha256 = hash; /* the caller's hash is taken in its place */
    assert_ok(signing_verify(&s, 0));
    hash[31] ^= 1;
    assert_rc(signing_verify(&s, 0), SHEAF_INVALID_SIGNATURE);
    s.r.body_sha256 = NULL;
    s.r.body = SPAN(body.p, body.n - 1);
    assert_rc(signing_verify(&s, 0), SHEAF_INVALID_SIGNATURE);
    signing_deinit(&s);
}

/* Messages: the first is S3's, the second ours. */
static void test_sig_verify__checks_the_content_hash_that_is_sent(void **state)
{
    (void)state;
    static const struct {
        const char *value, *message;
        enum source source;
    } sent[] = {
        {ZEROS, "The provided 'x-amz-content-sha256' header does not match what was computed.", S3},
        {"STREAMING-AWS4-HMAC-SHA256-PAYLOAD",
         "The provided 'x-amz-content-sha256' header does not match what was computed.",
         UNVERIFIED},
        {"UNSIGNED-PAYLOAD", "UNSIGNED-PAYLOAD is not accepted: the signature must cover the body.",
         OURS}};
    for (size_t i = 0; i < sizeof sent / sizeof sent[0]; i++) {
        struct signing s;
        signing_init(&s, "");
        signing_set(&s, "X-Amz-Content-Sha256", sent[i].value);
        signing_sign(&s, NULL);
        assert_rc(signing_verify(&s, 0), SHEAF_INVALID_SIGNATURE);
        assert_string_equal(s.err.message, sent[i].message);
        signing_deinit(&s);
    }
    printf("content hash: 3 rows\nunverified rows: 1\n");
}

#define SESSION "session_token = T0ken/+=\nexpires = 2015-08-30T13:00:00Z\n"

static void test_sig_verify__looks_up_session_tokens(void **state)
{
    (void)state;
    static const struct {
        const char *ring, *token;
        int64_t later_s;
        sheaf_rc rc;
        const char *message;
    } tokens[] = {
        {SESSION, "T0ken/+=", 0, SHEAF_OK, ""},
        {"session_token = T0ken/+=\n", "T0ken/+=", 0, SHEAF_OK, ""},
        {"session_token = T0k\n  en/+=\n", "T0ken/+=", 0, SHEAF_OK, ""},
        {SESSION, NULL, 0, SHEAF_UNRECOGNIZED_CLIENT,
         "The security token included in the request is invalid"},
        {SESSION, "T0ken/+", 0, SHEAF_UNRECOGNIZED_CLIENT,
         "The security token included in the request is invalid"},
        {SESSION, "T0ken/+a", 0, SHEAF_UNRECOGNIZED_CLIENT,
         "The security token included in the request is invalid"},
        {"", "T0ken/+=", 0, SHEAF_UNRECOGNIZED_CLIENT,
         "The security token included in the request is invalid"},
    };
    for (size_t i = 0; i < sizeof tokens / sizeof tokens[0]; i++) {
        struct signing s;
        signing_init(&s, tokens[i].ring);
        signing_sign(&s, tokens[i].token);
        sheaf_rc rc = signing_verify(&s, tokens[i].later_s);
        if (rc != tokens[i].rc || strcmp(s.err.message, tokens[i].message) != 0)
            fail_msg("row %zu: rc %d %s", i, (int)rc, s.err.message);
        signing_deinit(&s);
    }
}

/* Some clients sign the token with the rest, some add it afterwards. */
static void test_sig_verify__takes_tokens_signed_or_not(void **state)
{
    (void)state;
    struct signing s;
    signing_init(&s, SESSION);
    signing_sign(&s, NULL);
    signing_set(&s, "X-Amz-Security-Token", "T0ken/+=");
    assert_ok(signing_verify(&s, 0));
    signing_deinit(&s);
}

static void test_sig_verify__ends_sessions_on_the_second(void **state)
{
    (void)state;
    for (int later_s = -1; later_s <= 0; later_s++) {
        struct signing s;
        signing_init(&s, "session_token = t\nexpires = 20150830T123600Z\n");
        signing_sign(&s, "t");
        assert_rc(signing_verify(&s, later_s), later_s ? SHEAF_OK : SHEAF_EXPIRED_TOKEN);
        if (later_s == 0)
            assert_string_equal(s.err.message,
                                "The security token included in the request is expired");
        signing_deinit(&s);
    }
}

static void test_sig_verify__answers_when_memory_is_out(void **state)
{
    (void)state;
    struct signing s;
    signing_init(&s, "");
    signing_sign(&s, NULL);
    struct arena big = s.arena;
    size_t refused = 0;
    for (size_t ceiling = 0;; ceiling += 64) {
        arena_init(&s.arena, ceiling);
        sheaf_rc rc = signing_verify(&s, 0);
        arena_deinit(&s.arena);
        if (rc == SHEAF_OK) break;
        assert_int_equal(rc, SHEAF_NOMEM);
        refused++;
    }
    assert_true(refused > 0);
    s.arena = big;
    signing_deinit(&s);
}

static void test_sig_verify__shows_no_bytes_that_are_not_text(void **state)
{
    (void)state;
    struct signing s;
    signing_init(&s, "");
    signing_sign(&s, NULL);
    signing_set(&s, "X-Amz-Date", "\x80\xFF\n2015");
    assert_rc(signing_verify(&s, 0), SHEAF_INCOMPLETE_SIGNATURE);
    assert_string_equal(s.err.message,
                        "Date must be in ISO-8601 'basic format'. Got '???2015'. See "
                        "http://en.wikipedia.org/wiki/ISO_8601");
    signing_deinit(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sig_verify__answers_in_the_words_of_aws),
        cmocka_unit_test(test_sig_verify__names_the_key_and_the_region),
        cmocka_unit_test(test_sig_verify__takes_parts_in_any_order_and_dress),
        cmocka_unit_test(test_sig_verify__sorts_signed_headers_itself),
        cmocka_unit_test(test_sig_verify__holds_the_clock_window),
        cmocka_unit_test(test_sig_verify__takes_the_date_header_when_there_is_no_other),
        cmocka_unit_test(test_sig_verify__refuses_headers_that_come_twice),
        cmocka_unit_test(test_sig_verify__hashes_the_body_as_received),
        cmocka_unit_test(test_sig_verify__checks_the_content_hash_that_is_sent),
        cmocka_unit_test(test_sig_verify__looks_up_session_tokens),
        cmocka_unit_test(test_sig_verify__takes_tokens_signed_or_not),
        cmocka_unit_test(test_sig_verify__ends_sessions_on_the_second),
        cmocka_unit_test(test_sig_verify__answers_when_memory_is_out),
        cmocka_unit_test(test_sig_verify__shows_no_bytes_that_are_not_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
