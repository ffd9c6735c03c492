/* The credentials file: what it grants, what is refused and how that is said. */
#include "support/support.h"

#include "auth/ring.h"
#include "base/mem.h"

#include <sys/stat.h>
#include <unistd.h>

static sheaf_error err;

static struct auth_ring *ring_of(const char *text)
{
    struct auth_ring *ring;
    if (auth_ring_parse("f", span_cstr(text), &ring, &err) != SHEAF_OK) fail_msg("%s", err.message);
    return ring;
}

static struct auth_identity identity(const struct auth_ring *ring, const char *id)
{
    const struct auth_key *key = auth_ring_find(ring, span_cstr(id));
    assert_non_null(key);
    return (struct auth_identity){.key = key, .key_id = span_cstr(key->id)};
}

static void test_auth_ring_parse__finds_every_key(void **state)
{
    (void)state;
    struct auth_ring *ring =
        ring_of("# keys\n[B]\nsecret=2\n[A]\r\nsecret : 1\r\n\n; x\n[C]\nsecret = 3 ; no\n");
    assert_int_equal(auth_ring_count(ring), 3);
    for (const char *id = "ABC"; *id; id++) assert_non_null(auth_ring_find(ring, SPAN(id, 1)));
    assert_null(auth_ring_find(ring, SPAN_LIT("")));
    assert_null(auth_ring_find(ring, SPAN_LIT("a")));
    assert_null(auth_ring_find(ring, SPAN_LIT("AB")));
    assert_null(auth_ring_find(ring, SPAN_LIT("D")));
    auth_ring_unref(ring);
}

static void test_auth_may__holds_tables_and_access(void **state)
{
    (void)state;
    struct auth_ring *ring =
        ring_of("[all]\nsecret = s\n"
                "[reader]\nsecret = s\naccess = read-only\n"
                "[some]\nsecret = s\ntables = orders, audit-*,\n  last\naccess = read-write\n"
                "[star]\nsecret = s\ntables = *\n"
                "[both]\nsecret = s\naccess = read-only\ntables = a\n");
    static const struct {
        const char *id, *table;
        bool may_read, may_write;
    } rows[] = {{"all", "orders", true, true},   {"reader", "orders", true, false},
                {"some", "orders", true, true},  {"some", "orders2", false, false},
                {"some", "order", false, false}, {"some", "Orders", false, false},
                {"some", "audit-", true, true},  {"some", "audit-2026", true, true},
                {"some", "audit", false, false}, {"some", "last", true, true},
                {"some", "audit-*", true, true}, {"star", "anything", true, true},
                {"both", "a", true, false},      {"both", "b", false, false},
                {"some", "", true, true},        {"both", "", true, false}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct auth_identity who = identity(ring, rows[i].id);
        span table = span_cstr(rows[i].table);
        if (auth_may(&who, false, table) != rows[i].may_read ||
            auth_may(&who, true, table) != rows[i].may_write)
            fail_msg("row %zu", i);
    }
    auth_ring_unref(ring);
}

/* Form of the message: many answers of DynamoDB, for one eksworkshop.com's page on pod identity. */
static void test_auth_denied__speaks_as_iam(void **state)
{
    (void)state;
    struct auth_ring *ring = ring_of("[AKID]\nsecret = s\n");
    struct auth_identity who = identity(ring, "AKID");
    assert_rc(
        auth_denied(&err, &who, SPAN_LIT("PutItem"), SPAN_LIT("eu-west-1"), SPAN_LIT("orders")),
        SHEAF_ACCESS_DENIED);
    assert_string_equal(err.exception, "AccessDeniedException");
    assert_string_equal(err.message, "User: arn:aws:iam::000000000000:user/AKID is not authorized "
                                     "to perform: dynamodb:PutItem on resource: "
                                     "arn:aws:dynamodb:eu-west-1:000000000000:table/orders because "
                                     "no identity-based policy allows the "
                                     "dynamodb:PutItem action");
    assert_rc(auth_denied(&err, &who, SPAN_LIT("ListTables"), SPAN_LIT("r"), SPAN_NONE),
              SHEAF_ACCESS_DENIED);
    assert_non_null(strstr(err.message, ":table/* because"));
    auth_ring_unref(ring);
}

#define LONG "0123456789012345678901234567890123456789012345678"

static void test_auth_ring_parse__says_what_is_wrong_and_where(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"", "f:1: there is no key"},
        {"# nothing\n", "f:1: there is no key"},
        {"secret = s\n", "f:1: begin with the access key id in brackets: [AKID]"},
        {"[A]\n", "f:1: this key has no secret"},
        {"[A]\n[B]\nsecret = s\n", "f:1: this key has no secret"},
        {"[B]\nsecret = s\n\n[A]\naccess = read-only\n", "f:4: this key has no secret"},
        {"[A]\nsecret = s\nsecret = t\n", "f:3: secret is given twice"},
        {"[A]\nsecret = s\n  t\n", "f:3: secret is given twice"},
        {"[A]\nsecret =\n", "f:2: a secret is not empty"},
        {"[A]\nsecret = s\n[B]\nsecret = t\n[A]\nsecret = u\n", "f:5: the key of line 1 again"},
        {"[A]\nsecret = s\n[A]\nsecret = u\n", "f:3: the key of line 1 again"},
        {"[A]\nsecret = s\nwhat = 1\n", "f:3: a key has secret, session_token, expires, tables, "
                                        "access and admin, and nothing else"},
        {"[A]\nSecret = s\n", "f:2: a key has secret, session_token, expires, tables, access and "
                              "admin, and nothing else"},
        {"[A]\nnonsense\n", "f:2: neither [a section] nor name = value"},
        {"[A\nsecret = s\n", "f:1: neither [a section] nor name = value"},
        {"[]\nsecret = s\n", "f:1: an access key id has 1 to 49 characters"},
        {"[" LONG "]\nsecret = s\n", NULL},
        {"[" LONG "9]\nsecret = s\n", "f:1: an access key id has 1 to 49 characters"},
        {"[A/B]\nsecret = s\n", "f:1: an access key id has no / , = or space"},
        {"[A]\nsecret = s\naccess = write\n", "f:3: access is read-only or read-write"},
        {"[A]\nsecret = s\nadmin = true\n", "f:3: admin is yes or no"},
        {"[A]\nsecret = s\nadmin = yes\ntables = a\n",
         "f:1: an admin is not restricted: leave out tables and access"},
        {"[A]\nsecret = s\naccess = read-only\nadmin = yes\n",
         "f:1: an admin is not restricted: leave out tables and access"},
        {"[A]\nsecret = s\nexpires = 2026-01-01T00:00:00Z\n",
         "f:1: expires goes with a session_token"},
        {"[A]\nsecret = s\nsession_token = t\nexpires = tomorrow\n",
         "f:4: expires is a moment like 2026-12-31T23:59:59Z"},
        {"[A]\nsecret = s\nsession_token =\n", "f:3: a session token has 1 to 8192 characters"},
        {"[A]\nsecret = s\ntables = a*b\n", "f:3: tables are names of a-z A-Z 0-9 _ . - separated "
                                            "by commas, with a * at the end or none"},
        {"[A]\nsecret = s\ntables = a,,b\n", "f:3: tables are names of a-z A-Z 0-9 _ . - separated "
                                             "by commas, with a * at the end or none"},
        {"[A]\nsecret = s\ntables =\n", "f:3: tables are names of a-z A-Z 0-9 _ . - separated by "
                                        "commas, with a * at the end or none"},
        {"[A]\nsecret = s\ntables = a b\n", "f:3: tables are names of a-z A-Z 0-9 _ . - separated "
                                            "by commas, with a * at the end or none"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct auth_ring *ring;
        sheaf_rc rc = auth_ring_parse("f", span_cstr(rows[i].text), &ring, &err);
        if (!rows[i].message) {
            assert_ok(rc);
            auth_ring_unref(ring);
            continue;
        }
        assert_null(ring);
        if (rc != SHEAF_VALIDATION || strcmp(err.message, rows[i].message) != 0)
            fail_msg("row %zu: rc %d %s", i, (int)rc, err.message);
    }
}

static void test_auth_ring_parse__refuses_lines_that_would_be_cut(void **state)
{
    (void)state;
    for (int n = 190; n < 215; n++) {
        char text[300];
        struct auth_ring *ring;
        int used = snprintf(text, sizeof text, "[A]\nsecret = %0*d\n", n - 10, 7);
        sheaf_rc rc = auth_ring_parse("f", SPAN(text, (size_t)used), &ring, &err);
        size_t line = (size_t)used - 4;
        assert_int_equal(rc == SHEAF_OK, line <= 196);
        if (rc != SHEAF_OK)
            assert_string_equal(
                err.message, "f:2: a line has at most 196 bytes; indent what goes on on the next");
        auth_ring_unref(ring);
    }
    struct auth_ring *ring;
    assert_rc(auth_ring_parse("f", SPAN_LIT("[A]\nsecret = a\0b\n"), &ring, &err),
              SHEAF_VALIDATION);
    assert_string_equal(err.message, "f:2: there is a NUL byte");
}

static void test_auth_ring_parse__joins_long_tokens(void **state)
{
    (void)state;
    char text[2000] = "[A]\nsecret = s\nsession_token = ", want[1001] = "";
    for (int i = 0; i < 10; i++) {
        char part[101];
        memset(part, 'a' + i, 100);
        part[100] = '\0';
        strcat(want, part);
        strcat(strcat(strcat(text, i ? "  " : ""), part), "\n");
    }
    struct auth_ring *ring = ring_of(text);
    assert_string_equal(ring->keys[0].token, want);
    auth_ring_unref(ring);
}

/* A section with `lines` lines of 100 letters for `name`; the last line has `last` letters. */
static span long_value(char *room, size_t cap, const char *name, int lines, int last)
{
    size_t n = (size_t)snprintf(room, cap, "[A]\nsecret = s\n%s =", name);
    for (int i = 0; i < lines; i++) {
        int letters = i + 1 < lines ? 100 : last;
        n +=
            (size_t)snprintf(room + n, cap - n, " %0*d%s\n", letters, 0, name[0] == 't' ? "," : "");
    }
    return SPAN(room, n);
}

static void test_auth_ring_parse__bounds_tokens_and_tables(void **state)
{
    (void)state;
    static char room[80000];
    static const struct {
        const char *name;
        int lines, last;
        const char *message; /* NULL: taken */
    } rows[] = {
        {"session_token", 82, 92, NULL}, /* 8,192 letters */
        {"session_token", 82, 93, "f:84: a session token has 1 to 8192 characters"},
        {"tables", 649, 88, NULL}, /* 65,536 bytes with a NUL behind all but the last */
        {"tables", 649, 89, "f:651: too many tables for one key"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct auth_ring *ring;
        span text = long_value(room, sizeof room, rows[i].name, rows[i].lines, rows[i].last);
        sheaf_rc rc = auth_ring_parse("f", text, &ring, &err);
        if ((rc == SHEAF_OK) != !rows[i].message) fail_msg("row %zu: %s", i, err.message);
        if (rows[i].message) assert_string_equal(err.message, rows[i].message);
        auth_ring_unref(ring);
    }
}

/* What is wrong is told without repeating a secret. */
static void test_auth_ring_parse__keeps_secrets_out_of_messages(void **state)
{
    (void)state;
    static const char *const texts[] = {"[A]\nsecret = HUSH\nsecret = HUSH\n",
                                        "[A]\nsecret HUSH\n",
                                        "[A]\nsecret = s\nHUSH = 1\n",
                                        "[A]\nsecret = s\nexpires = HUSH\n",
                                        "HUSH = 1\n",
                                        "[A]\nsecret = s\naccess = HUSH\n"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct auth_ring *ring;
        assert_rc(auth_ring_parse("f", span_cstr(texts[i]), &ring, &err), SHEAF_VALIDATION);
        assert_null(strstr(err.message, "HUSH"));
    }
}

static void test_auth_ring_parse__survives_every_failed_allocation(void **state)
{
    (void)state;
    static const char text[] =
        "[B]\nsecret = s\nsession_token = t\n  u\ntables = a,b,c\n[A]\nsecret = s\n";
    uint64_t refused = 0;
    for (uint64_t nth = 1;; nth++) {
        struct auth_ring *ring;
        mem_fail_at(nth, false);
        sheaf_rc rc = auth_ring_parse("f", span_cstr(text), &ring, &err);
        mem_fail_at(0, false);
        auth_ring_unref(ring);
        if (rc == SHEAF_OK) break;
        assert_int_equal(rc, SHEAF_NOMEM);
        refused++;
    }
    assert_true(refused >= 10);
}

static void test_auth_ring__lives_until_the_last_unref(void **state)
{
    (void)state;
    struct auth_ring *ring = ring_of("[A]\nsecret = s\n");
    assert_ptr_equal(auth_ring_ref(ring), ring);
    auth_ring_unref(ring);
    assert_non_null(auth_ring_find(ring, SPAN_LIT("A")));
    auth_ring_unref(ring);
    auth_ring_unref(NULL);
}

/* ---- the file itself ---- */

static char path[] = "/tmp/sheaf-ring-XXXXXX";

static int make_file(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    static const char text[] = "[A]\nsecret = s\n";
    if (fd < 0 || write(fd, text, sizeof text - 1) < 0) return -1;
    return close(fd);
}

static int drop_file(void **state)
{
    (void)state;
    return unlink(path);
}

static void test_auth_ring_load__refuses_files_that_others_may_read(void **state)
{
    (void)state;
    for (unsigned mode = 0; mode < 0100; mode++) {
        struct auth_ring *ring;
        assert_int_equal(chmod(path, 0600 | mode), 0);
        sheaf_rc rc = auth_ring_load(path, &ring, &err);
        assert_int_equal(rc, mode ? SHEAF_VALIDATION : SHEAF_OK);
        auth_ring_unref(ring);
        char want[100];
        snprintf(want, sizeof want, "%s: others may read it (mode %04o); chmod 600 it", path,
                 0600 | mode);
        if (mode) assert_string_equal(err.message, want);
    }
    assert_int_equal(chmod(path, 0600), 0);
}

static void test_auth_ring_load__refuses_files_of_others(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        print_message("only root can give a file away: not checked here\n");
        skip();
    }
    struct auth_ring *ring;
    assert_int_equal(chown(path, 12345, (gid_t)-1), 0);
    assert_rc(auth_ring_load(path, &ring, &err), SHEAF_VALIDATION);
    assert_non_null(strstr(err.message, ": belongs to another user (uid 12345, and this is 0)"));
    assert_int_equal(chown(path, 0, (gid_t)-1), 0);
}

static void test_auth_ring_load__refuses_what_is_no_file(void **state)
{
    (void)state;
    struct auth_ring *ring;
    assert_rc(auth_ring_load("/nowhere/keys.ini", &ring, &err), SHEAF_VALIDATION);
    assert_string_equal(err.message, "/nowhere/keys.ini: No such file or directory");
    assert_rc(auth_ring_load("/dev/null", &ring, &err), SHEAF_VALIDATION);
    assert_string_equal(err.message, "/dev/null: not a regular file");
    assert_int_equal(truncate(path, (1 << 20) + 1), 0);
    assert_rc(auth_ring_load(path, &ring, &err), SHEAF_VALIDATION);
    assert_non_null(strstr(err.message, ": longer than 1048576 bytes"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_auth_ring_parse__finds_every_key),
        cmocka_unit_test(test_auth_may__holds_tables_and_access),
        cmocka_unit_test(test_auth_denied__speaks_as_iam),
        cmocka_unit_test(test_auth_ring_parse__says_what_is_wrong_and_where),
        cmocka_unit_test(test_auth_ring_parse__refuses_lines_that_would_be_cut),
        cmocka_unit_test(test_auth_ring_parse__joins_long_tokens),
        cmocka_unit_test(test_auth_ring_parse__bounds_tokens_and_tables),
        cmocka_unit_test(test_auth_ring_parse__keeps_secrets_out_of_messages),
        cmocka_unit_test(test_auth_ring_parse__survives_every_failed_allocation),
        cmocka_unit_test(test_auth_ring__lives_until_the_last_unref),
        cmocka_unit_test(test_auth_ring_load__refuses_files_that_others_may_read),
        cmocka_unit_test(test_auth_ring_load__refuses_files_of_others),
        cmocka_unit_test(test_auth_ring_load__refuses_what_is_no_file),
    };
    return cmocka_run_group_tests(tests, make_file, drop_file);
}
