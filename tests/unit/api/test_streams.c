/* api: the calls on streams. */
#include "db.h"

static void test_get_shard_iterator__refuses_a_type_out_of_range(void **state)
{
    struct scene *s = *state;
    sheaf_result *r;
    assert_ok(sheaf_update_table(s->db,
                                 &(struct sheaf_update_table){.table = "tab",
                                                              .stream = SHEAF_ON,
                                                              .stream_view = SHEAF_STREAM_NEW_IMAGE,
                                                              .error = &s->err},
                                 &r));
    /* Unverified: AWS has no number there. */
    assert_refused(s,
                   sheaf_get_shard_iterator(s->db,
                                            &(struct sheaf_get_shard_iterator){
                                                .stream_arn = sheaf_result_table(r)->stream_arn,
                                                .shard_id = "shardId-00000000000000000000-00000000",
                                                .type = (enum sheaf_iterator_type)9,
                                                .error = &s->err},
                                            NULL),
                   "1 validation error detected: Value '9' at 'shardIteratorType' failed to "
                   "satisfy constraint: Member must satisfy enum value set: "
                   "[AFTER_SEQUENCE_NUMBER, LATEST, AT_SEQUENCE_NUMBER, TRIM_HORIZON]");
    sheaf_result_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_get_shard_iterator__refuses_a_type_out_of_range,
                                        open_scene, close_scene),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
