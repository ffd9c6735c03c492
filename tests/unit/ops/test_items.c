/* GetItem, PutItem, UpdateItem and DeleteItem over the wire: what each parameter does, and what
 * each refusal says. */
#include "support/wire.h"

static int setup(void **state)
{
    static struct wire_test w;
    wire_init(&w);
    *state = &w;
    return 0;
}

static int teardown(void **state)
{
    wire_deinit(*state);
    return 0;
}

static void test_get_item__gives_what_put_item_took(void **state)
{
    static const struct wire_row rows[] = {
        {"PutItem", "{'TableName':'Hash','Item':{'pk':{'S':'a'},'n':{'N':'1.50'}}}", NULL, "{}",
         GUIDE},
        {"GetItem", "{'TableName':'Hash','Key':{'pk':{'S':'a'}}}", NULL,
         "{'Item':{'n':{'N':'1.5'},'pk':{'S':'a'}}}", GUIDE},
        {"GetItem", "{'TableName':'Hash','Key':{'pk':{'S':'b'}}}", NULL, "{}", GUIDE},
    };
    WIRE_CHECK(*state, "put and get", rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_get_item__gives_what_put_item_took, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
