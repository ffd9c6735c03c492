/* TransactWriteItems and TransactGetItems over the wire. */
#include "support/wire.h"

#define TCE "TransactionCanceledException"
#define CANCELLED "Transaction cancelled, please refer cancellation reasons for specific reasons "
#define ENUM_RCC AT("BOGUS", "returnConsumedCapacity") ENUM(CAPACITIES)
#define ENUM_RICM AT("BOGUS2", "returnItemCollectionMetrics") ENUM("[SIZE, NONE]")
#define PUT(table, item) "{'Put':{'TableName':'" table "','Item':" item "}}"
#define GET(table, key) "{'Get':{'TableName':'" table "','Key':" key "}}"
#define SYNTAX "Invalid ConditionExpression: Syntax error; token: \"<EOF>\", near: \"(\""
#define CHECK_SYNTAX                                                                               \
    "{'ConditionCheck':{'TableName':'Hash','Key':{'pk':{'S':'cc'}},'ConditionExpression':"         \
    "'attribute_not_exists('}}"
#define UNUSED "Value provided in ExpressionAttributeValues unused in expressions: keys: {:v}"
#define CHECK_UNUSED                                                                               \
    "{'ConditionCheck':{'TableName':'Hash','Key':{'pk':{'S':'cc'}},'ConditionExpression':"         \
    "'attribute_not_exists(pk)','ExpressionAttributeValues':{':v':{'S':'x'}}}}"
#define MULTIPLE "Transaction request cannot include multiple operations on one item"
#define EMPTY_S                                                                                    \
    "One or more parameter values are not valid. The AttributeValue for a key attribute cannot "   \
    "contain an empty string value. Key: pk"

static void test_transact__parameters_do_what_they_say(void **state)
{
    static const struct wire_row rows[] = {
        {"TransactWriteItems",
         "{'TransactItems':[" PUT("Hash", "{'pk':{'S':'a'},'n':{'N':'1'}}") "," PUT(
             "Local", "{'pk':{'S':'a'},'sk':{'S':'b'}}") "],'ReturnConsumedCapacity':'INDEXES',"
                                                         "'ReturnItemCollectionMetrics':'SIZE'}",
         NULL,
         "{'ConsumedCapacity':[{'TableName':'Hash','CapacityUnits':2.0,'WriteCapacityUnits':2.0,"
         "'Table':{'CapacityUnits':2.0,'WriteCapacityUnits':2.0}},{'TableName':'Local',"
         "'CapacityUnits':2.0,'WriteCapacityUnits':2.0,'Table':{'CapacityUnits':2.0,"
         "'WriteCapacityUnits':2.0}}],'ItemCollectionMetrics':{'Local':[{'ItemCollectionKey':{'pk':"
         "{"
         "'S':'a'}},'SizeEstimateRangeGB':[0.0,1.0]}]}}",
         GUIDE},
        {"TransactWriteItems",
         "{'TransactItems':[{'Update':{'TableName':'Hash','Key':{'pk':{'S':'a'}},"
         "'UpdateExpression':'SET #n = #n + :i','ConditionExpression':'attribute_exists(pk)',"
         "'ExpressionAttributeNames':{'#n':'n'},'ExpressionAttributeValues':{':i':{'N':'4'}}}},"
         "{'Delete':{'TableName':'Hash','Key':{'pk':{'S':'zz'}}}},{'ConditionCheck':{'TableName':"
         "'Local','Key':{'pk':{'S':'a'},'sk':{'S':'b'}},'ConditionExpression':"
         "'attribute_exists(pk)'}}],'ClientRequestToken':'token'}",
         NULL, "{}", GUIDE},
        {"TransactGetItems",
         "{'TransactItems':[" GET("Hash", "{'pk':{'S':'a'}}") "," GET("Hash",
                                                                      "{'pk':{'S':'nix'}}") "]}",
         NULL, "{'Responses':[{'Item':{'n':{'N':'5'},'pk':{'S':'a'}}},{}]}", GUIDE},
        {"TransactGetItems",
         "{'TransactItems':[{'Get':{'TableName':'Hash','Key':{'pk':{'S':'a'}},"
         "'ProjectionExpression':'#n','ExpressionAttributeNames':{'#n':'n'}}}],"
         "'ReturnConsumedCapacity':'TOTAL'}",
         NULL,
         "{'ConsumedCapacity':[{'TableName':'Hash','CapacityUnits':2.0,'ReadCapacityUnits':2.0}],"
         "'Responses':[{'Item':{'n':{'N':'5'}}}]}",
         GUIDE},
        {"TransactWriteItems",
         "{'TransactItems':[{'Update':{'TableName':'Hash','Key':{'pk':{'S':'a'}},"
         "'UpdateExpression':'SET #n = #n + :i','ConditionExpression':'attribute_exists(pk)',"
         "'ExpressionAttributeNames':{'#n':'n'},'ExpressionAttributeValues':{':i':{'N':'5'}}}}],"
         "'ClientRequestToken':'token'}",
         "IdempotentParameterMismatchException", "…", GUIDE},
        {"TransactWriteItems",
         "{'TransactItems':[" PUT("arn:aws:dynamodb:us-east-1:000000000000:table/Hash",
                                  "{'pk':{'S':'arn'}}") "],'ReturnConsumedCapacity':'TOTAL'}",
         NULL,
         "{'ConsumedCapacity':[{'TableName':'arn:aws:dynamodb:us-east-1:000000000000:table/Hash',…",
         GUIDE},
    };
    WIRE_CHECK(*state, "transaction parameters", rows);
}

static void test_transact__reasons_stand_in_their_places(void **state)
{
    struct wire_test *w = *state;
    wire_send(w, "PutItem", "{'TableName':'Hash','Item':{'pk':{'S':'a'},'n':{'N':'1'}}}");
    wire_send(w, "TransactWriteItems",
              "{'TransactItems':[" PUT(
                  "Hash", "{'pk':{'S':'new'}}") ",{'Put':{'TableName':'Hash',"
                                                "'Item':{'pk':{'S':'a'}},'ConditionExpression':'"
                                                "attribute_not_exists(pk)',"
                                                "'ReturnValuesOnConditionCheckFailure':'ALL_OLD'}},"
                                                "{'Update':{'TableName':'Hash','Key'"
                                                ":{'pk':{'N':'5'}},'UpdateExpression':'SET a = "
                                                ":v','ExpressionAttributeValues':{':v':"
                                                "{'S':'x'}}}}]}");
    assert_string_equal(
        w->body,
        "{\"__type\":\"com.amazonaws.dynamodb.v20120810#TransactionCanceledException\","
        "\"CancellationReasons\":[{\"Code\":\"None\"},{\"Code\":\"ConditionalCheckFailed\","
        "\"Item\":"
        "{\"n\":{\"N\":\"1\"},\"pk\":{\"S\":\"a\"}},\"Message\":\"The conditional request "
        "failed\"},"
        "{\"Code\":\"ValidationError\",\"Message\":\"The provided key element does not match the "
        "schema\"}],\"Message\":\"Transaction cancelled, please refer cancellation reasons for "
        "specific reasons [None, ConditionalCheckFailed, ValidationError]\"}");
    assert_int_equal(w->status, 400);
}

/* An error holds 495 bytes; a hundred reasons need two thousand. */
static void test_transact__a_hundred_reasons_are_told_in_full(void **state)
{
    struct wire_test *w = *state;
    const char *actions = wire_list(w,
                                    "{'ConditionCheck':{'TableName':'Hash','Key':{'pk':{'S':'k#'}},"
                                    "'ConditionExpression':'attribute_exists(pk)'}}",
                                    100);
    const char *codes = wire_list(w, " ConditionalCheckFailed", 100);
    const struct wire_row row = {"TransactWriteItems",
                                 wire_fill(w, "{'TransactItems':[{}]}", actions), TCE,
                                 wire_fill(w, CANCELLED "[{}]", codes + 1), PARITY};
    wire_check(w, &row);
}

static void test_transact__constraints_are_told_in_order(void **state)
{
    struct wire_test *w = *state;
    static const struct wire_row rows[] = {
        {"TransactWriteItems", "{}", V, ONE NULL_AT("transactItems"), MODEL},
        {"TransactWriteItems", "{'TransactItems':[]}", V, NEW_AT("TransactItems") SHORT("1"),
         PARITY},
        {"TransactWriteItems",
         "{'TransactItems':[" PUT("Hash", "{'pk':{'S':'a'}}") "],'ReturnConsumedCapacity':'BOGUS'}",
         V, ONE ENUM_RCC, PARITY},
        {"TransactWriteItems",
         "{'TransactItems':[" PUT("Hash",
                                  "{'pk':{'S':'a'}}") "],'ReturnItemCollectionMetrics':'BOGUS2'}",
         V, ONE ENUM_RICM, PARITY},
        {"TransactWriteItems",
         "{'TransactItems':[" PUT("Hash", "{'pk':{'S':'a'}}") "],'ReturnConsumedCapacity':'BOGUS',"
                                                              "'ReturnItemCollectionMetrics':"
                                                              "'BOGUS2'}",
         V, SEVERAL("2") ENUM_RCC "; " ENUM_RICM, PARITY},
        {"TransactWriteItems",
         "{'TransactItems':[" PUT("Nope", "{'pk':{'S':'a'}}") "],'ReturnConsumedCapacity':'BOGUS'}",
         V, ONE ENUM_RCC, PARITY},
        {"TransactWriteItems",
         "{'TransactItems':[" PUT("Hash", "{'pk':{'S':'a'}}") "],'ClientRequestToken':''}", V,
         NEW_AT("ClientRequestToken") SHORT("1"), MODEL},
        {"TransactWriteItems", "{'TransactItems':[{}]}", V,
         "Invalid Request: TransactWriteRequest should contain Delete or Put or Update request",
         PARITY},
        {"TransactWriteItems",
         "{'TransactItems':[{'Put':{'TableName':'Hash','Item':{}},'Delete':{'TableName':'Hash','"
         "Key'"
         ":{}}}]}",
         V, "TransactItems can only contain one of Check, Put, Update or Delete", UNVERIFIED},
        {"TransactWriteItems", "{'TransactItems':[null]}", V, ONE NULL_AT("transactItems.1.member"),
         UNVERIFIED},
        {"TransactWriteItems", "{'TransactItems':[{'Put':{}}]}", V,
         SEVERAL("2") NULL_AT("transactItems.1.member.put.item") "; " NULL_AT(
             "transactItems.1.member.put.tableName"),
         MODEL},
        {"TransactWriteItems",
         "{'TransactItems':[" PUT("Hash", "{}") ",{'Update':{'TableName':'Hash'}}]}", V,
         SEVERAL("2") NULL_AT("transactItems.2.member.update.key") "; " NULL_AT(
             "transactItems.2.member.update.updateExpression"),
         MODEL},
        {"TransactWriteItems", "{'TransactItems':[{'Delete':{'Key':{}}}]}", V,
         ONE NULL_AT("transactItems.1.member.delete.tableName"), MODEL},
        {"TransactWriteItems",
         "{'TransactItems':[{'ConditionCheck':{'TableName':'Hash','Key':{}}}]}", V,
         ONE NULL_AT("transactItems.1.member.conditionCheck.conditionExpression"), MODEL},
        {"TransactWriteItems", "{'TransactItems':[" PUT("a;b", "{}") "]}", V,
         ONE AT("a;b", "transactItems.1.member.put.tableName") PATTERN, PARITY},
        {"TransactWriteItems",
         "{'TransactItems':[" PUT(
             "Hash",
             "{'pk':{'S':'a'}}") ",{'Update':{'TableName':'bad!name',"
                                 "'Key':{'pk':{'S':'a'}},'UpdateExpression':'SET a = :a'}}]}",
         V, ONE AT("bad!name", "transactItems.2.member.update.tableName") PATTERN, PARITY},
        {"TransactWriteItems",
         "{'TransactItems':[{'Delete':{'TableName':'bad!name','Key':{'pk':{'S':'a'}}}}]}", V,
         ONE AT("bad!name", "transactItems.1.member.delete.tableName") PATTERN, PARITY},
        {"TransactWriteItems",
         "{'TransactItems':[{'ConditionCheck':{'TableName':'bad!name','Key':{'pk':{'S':'a'}},"
         "'ConditionExpression':'attribute_exists(pk)'}}]}",
         V, ONE AT("bad!name", "transactItems.1.member.conditionCheck.tableName") PATTERN, PARITY},
        {"TransactWriteItems", "{'TransactItems':[" PUT("ab", "{}") "]}", V,
         ONE AT("ab", "transactItems.1.member.put.tableName") SHORT("3"), MODEL},
        {"TransactWriteItems",
         "{'TransactItems':[{'Put':{'TableName':'Hash','Item':{},"
         "'ReturnValuesOnConditionCheckFailure':'x'}}]}",
         V,
         ONE AT("x", "transactItems.1.member.put.returnValuesOnConditionCheckFailure")
             ENUM("[ALL_OLD, NONE]"),
         MODEL},
        {"TransactGetItems", "{}", V, ONE NULL_AT("transactItems"), MODEL},
        {"TransactGetItems", "{'TransactItems':[]}", V, NEW_AT("TransactItems") SHORT("1"), PARITY},
        {"TransactGetItems",
         "{'TransactItems':[" GET("Hash", "{'pk':{'S':'a'}}") "],'ReturnConsumedCapacity':'BOGUS'}",
         V, ONE ENUM_RCC, PARITY},
        {"TransactGetItems",
         "{'TransactItems':[" GET("Nope", "{'pk':{'S':'a'}}") "],'ReturnConsumedCapacity':'BOGUS'}",
         V, ONE ENUM_RCC, PARITY},
        {"TransactGetItems", "{'TransactItems':[{}]}", V, ONE NULL_AT("transactItems.1.member.get"),
         MODEL},
        {"TransactGetItems", "{'TransactItems':[{'Get':{}}]}", V,
         SEVERAL("2") NULL_AT("transactItems.1.member.get.tableName") "; " NULL_AT(
             "transactItems.1.member.get.key"),
         MODEL},
        {"TransactGetItems", "{'TransactItems':[{'Get':{'TableName':'Hash'}}]}", V,
         ONE NULL_AT("transactItems.1.member.get.key"), MODEL},
    };
    WIRE_CHECK(w, "transaction constraints", rows);
    static const char puts[] = "{'TransactItems':[{}]}";
    static const char token[] =
        "{'TransactItems':[" PUT("Hash", "{'pk':{'S':'tok'}}") "],'ClientRequestToken':'{}'}";
    static const char both[] = "{'TransactItems':[" PUT(
        "Hash", "{'pk':{'S':'tok'}}") "],"
                                      "'ClientRequestToken':'{}','ReturnConsumedCapacity':'BOGUS'}";
    const struct wire_row bounds[] = {
        {"TransactWriteItems",
         wire_fill(w, puts, wire_list(w, PUT("Hash", "{'pk':{'S':'k#'}}"), 100)), NULL, "{}",
         PARITY},
        {"TransactWriteItems",
         wire_fill(w, puts, wire_list(w, PUT("Hash", "{'pk':{'S':'k#'}}"), 101)), V,
         NEW_AT("TransactItems") LONG("100"), PARITY},
        {"TransactGetItems",
         wire_fill(w, puts, wire_list(w, GET("Hash", "{'pk':{'S':'k#'}}"), 100)), NULL,
         "{'Responses':[{'Item':{'pk':{'S':'k0'}}},…", PARITY},
        {"TransactGetItems",
         wire_fill(w, puts, wire_list(w, GET("Hash", "{'pk':{'S':'k#'}}"), 101)), V,
         NEW_AT("TransactItems") LONG("100"), PARITY},
        {"TransactWriteItems", wire_repeat(w, token, 'x', 36), NULL, "{}", PARITY},
        {"TransactWriteItems", wire_repeat(w, token, 'x', 37), V,
         NEW_AT("ClientRequestToken") LONG("36"), PARITY},
        {"TransactWriteItems", wire_repeat(w, both, 'x', 37), V,
         NEW_AT("ClientRequestToken") LONG("36"), PARITY},
    };
    WIRE_CHECK(w, "transaction bounds", bounds);
}

/* The first action at fault, whatever the fault is. */
static void test_transact__actions_are_judged_in_order(void **state)
{
    static const struct wire_row rows[] = {
        {"TransactWriteItems",
         "{'TransactItems':[" PUT("Hash", "{'pk':{'S':'a'},'':{'S':'x'}}") "," CHECK_SYNTAX "]}", V,
         "Empty attribute name", PARITY},
        {"TransactWriteItems", "{'TransactItems':[" PUT("Nope", "{'pk':{'S':'x'}}") "]}", RNF,
         NOT_FOUND, PARITY},
        {"TransactWriteItems",
         "{'TransactItems':[" PUT("Nope", "{'pk':{'S':'a'}}") "," CHECK_SYNTAX "]}", V, SYNTAX,
         PARITY},
        {"TransactWriteItems",
         "{'TransactItems':[" PUT("Nope", "{'pk':{'S':'a'}}") "," CHECK_UNUSED "]}", V, UNUSED,
         PARITY},
        {"TransactWriteItems",
         "{'TransactItems':[" CHECK_UNUSED "," PUT("Nope", "{'pk':{'S':'a'}}") "]}", V, UNUSED,
         PARITY},
        {"TransactWriteItems",
         "{'TransactItems':[" PUT("Hash", "{'pk':{'S':'cc'}}") "," CHECK_UNUSED "]}", V, UNUSED,
         PARITY},
        {"TransactWriteItems",
         "{'TransactItems':[" PUT("Hash", "{'pk':{'S':'a'},'x':{'SS':[]}}") "," CHECK_SYNTAX "]}",
         V, INVALID "An string set  may not be empty", PARITY},
        {"TransactWriteItems",
         "{'TransactItems':[" CHECK_SYNTAX "," PUT("Hash", "{'pk':{'S':'a'},'x':{'SS':[]}}") "]}",
         V, SYNTAX, PARITY},
        {"TransactWriteItems",
         "{'TransactItems':[" PUT("Hash", "{'pk':{'S':'d'}}") "," PUT("Hash",
                                                                      "{'pk':{'S':'d'}}") "]}",
         V, MULTIPLE, PARITY},
        {"TransactWriteItems", "{'TransactItems':[" PUT("Hash", "{'pk':{'N':'5'}}") "]}", TCE,
         CANCELLED "[ValidationError]", PARITY},
        {"TransactWriteItems", "{'TransactItems':[" PUT("Hash", "{'pk':{'S':''}}") "]}", V, EMPTY_S,
         PARITY},
        {"TransactWriteItems",
         "{'TransactItems':[{'Delete':{'TableName':'Hash','Key':{'pk':{'S':''}}}}]}", V, EMPTY_S,
         PARITY},
        {"TransactWriteItems",
         "{'TransactItems':[{'Delete':{'TableName':'Hash','Key':{'pk':{'L':[{'S':'x'}]}}}}]}", TCE,
         CANCELLED "[ValidationError]", PARITY},
        {"TransactWriteItems",
         "{'TransactItems':[{'Put':{'TableName':'Hash','Item':{'pk':{'S':'a'}},"
         "'ExpressionAttributeNames':{'#a':'a'}}}]}",
         V, "ExpressionAttributeNames can only be specified when using expressions", DYNALITE},
        {"TransactWriteItems",
         "{'TransactItems':[{'Delete':{'TableName':'Hash','Key':{'pk':{'S':'e'}},"
         "'ConditionExpression':''}}]}",
         V, "Invalid ConditionExpression: The expression can not be empty;", PARITY},
        {"TransactGetItems", "{'TransactItems':[" GET("Nope", "{'pk':{'S':'x'}}") "]}", RNF,
         NOT_FOUND, PARITY},
        {"TransactGetItems",
         "{'TransactItems':[{'Get':{'TableName':'Hash','Key':{'pk':{'S':'x'}},"
         "'ProjectionExpression':'!!!'}}]}",
         V, "Invalid ProjectionExpression: Syntax error; token: \"!\", near: \"!!\"", PARITY},
        {"TransactGetItems", "{'TransactItems':[" GET("Hash", "{}") "]}", TCE,
         CANCELLED "[ValidationError]", PARITY},
        {"TransactGetItems",
         "{'TransactItems':[" GET("Hash", "{'pk':{'S':'x'}}") "," GET("Hash",
                                                                      "{'pk':{'S':'x'}}") "]}",
         V, MULTIPLE, PARITY},
        {"TransactGetItems", "{'TransactItems':[" GET("Hash", "{'pk':{'N':'x'}}") "]}", V,
         "The parameter cannot be converted to a numeric value: x", PARITY},
    };
    WIRE_CHECK(*state, "order of actions", rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_transact__parameters_do_what_they_say, wire_setup,
                                        wire_teardown),
        cmocka_unit_test_setup_teardown(test_transact__reasons_stand_in_their_places, wire_setup,
                                        wire_teardown),
        cmocka_unit_test_setup_teardown(test_transact__a_hundred_reasons_are_told_in_full,
                                        wire_setup, wire_teardown),
        cmocka_unit_test_setup_teardown(test_transact__constraints_are_told_in_order, wire_setup,
                                        wire_teardown),
        cmocka_unit_test_setup_teardown(test_transact__actions_are_judged_in_order, wire_setup,
                                        wire_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
