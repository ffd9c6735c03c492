/* The file of --faults. */
#include "support/support.h"

#include "server/faults.h"

#include <unistd.h>

struct read {
    struct arena arena;
    struct sheaf_fault *faults;
    size_t n;
    sheaf_error err;
    char path[64];
};

static sheaf_rc read_text(struct read *r, const char *text)
{
    strcpy(r->path, "/tmp/sheaf_faults_XXXXXX");
    int fd = mkstemp(r->path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    arena_init(&r->arena, 1 << 20);
    sheaf_rc rc = faults_read(&r->arena, r->path, &r->faults, &r->n, &r->err);
    unlink(r->path);
    return rc;
}

static void test_faults_read__each_section_is_one_fault(void **state)
{
    (void)state;
    struct read r;
    assert_ok(read_text(&r, "[tenth put]\noperation = PutItem\ntable = orders\n"
                            "error = ProvisionedThroughputExceededException\nnth = 10\nevery = 5\n"
                            "[at random]\nerror = InternalServerError\none_in = 100\n"));
    assert_int_equal(r.n, 2);
    assert_string_equal(r.faults[0].operation, "PutItem");
    assert_string_equal(r.faults[0].table, "orders");
    assert_int_equal(r.faults[0].rc, SHEAF_THROUGHPUT_EXCEEDED);
    assert_int_equal(r.faults[0].nth, 10);
    assert_int_equal(r.faults[0].every, 5);
    assert_null(r.faults[1].operation);
    assert_null(r.faults[1].table);
    assert_int_equal(r.faults[1].rc, SHEAF_INTERNAL);
    assert_int_equal(r.faults[1].one_in, 100);
    arena_deinit(&r.arena);
}

static void test_faults_read__a_mistake_is_told_with_its_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"error = InternalServerError\n", ":1: a fault begins with a [name]"},
        {"[a]\nerror = Oops\n", ":2: error is 'Oops'; it takes TransactionConflictException, "
                                "ProvisionedThroughputExceededException or InternalServerError"},
        {"[a]\noperation = PutItems\n",
         ":2: operation is 'PutItems'; it takes the name of one, such as PutItem"},
        {"[a]\noperation = ExecuteStatement\n",
         ":2: operation is 'ExecuteStatement'; it takes the name of one, such as PutItem"},
        {"[a]\nnth = 1\n", ":2: [a] has no error"},
        {"[a]\nerror = InternalServerError\n[b]\nerror = InternalServerError\nnth = 1\n",
         ":2: [a] never fails: give it nth, every or one_in"},
        {"[a]\nerror = InternalServerError\nnth = 1\none_in = 2\n",
         ":4: [a] has one_in (at random) and nth or every (counted): choose"},
        {"[a]\nnth = 0\n", ":2: nth is '0'; it takes a number from 1 to 18446744073709551615"},
        {"[a]\none_in = 4294967296\n",
         ":2: one_in is '4294967296'; it takes a number from 1 to 4294967295"},
        {"[a]\nwhen = now\n",
         ":2: a fault has no 'when'; it has operation, table, error, nth, every and one_in"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct read r;
        assert_rc(read_text(&r, rows[i].text), SHEAF_VALIDATION);
        assert_string_equal(r.err.message + strlen(r.path), rows[i].message);
        assert_int_equal(r.n, 0);
        arena_deinit(&r.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faults_read__each_section_is_one_fault),
        cmocka_unit_test(test_faults_read__a_mistake_is_told_with_its_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
