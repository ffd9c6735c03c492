/* BatchGetItem and BatchWriteItem over the wire. */
#include "support/wire.h"

#define KEYS "Map keys must satisfy constraint: [" LONG("255") ", " SHORT("3") ", " PATTERN "]"
#define LISTS "Map value must satisfy constraint: [" LONG("25") ", " SHORT("1") "]"
#define ENUM_RCC AT("BOGUS", "returnConsumedCapacity") ENUM(CAPACITIES)
#define ENUM_RICM AT("BOGUS2", "returnItemCollectionMetrics") ENUM("[SIZE, NONE]")
#define SUPPLIED                                                                                   \
    "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the "    \
    "supported datatypes"
#define DUPLICATES "Provided list of item keys contains duplicates"
#define SCHEMA "The provided key element does not match the schema"

static void test_batch__parameters_do_what_they_say(void **state)
{
    static const struct wire_row rows[] = {
        {"BatchWriteItem",
         "{'RequestItems':{'Hash':[{'PutRequest':{'Item':{'pk':{'S':'a'},'n':{'N':'1'}}}},"
         "{'PutRequest':{'Item':{'pk':{'S':'b'}}}}],'Range':[{'PutRequest':{'Item':{'pk':{'S':'r'},"
         "'sk':{'S':'s'}}}}]}}",
         NULL, "{'UnprocessedItems':{}}", GUIDE},
        {"BatchGetItem",
         "{'RequestItems':{'Hash':{'Keys':[{'pk':{'S':'a'}},{'pk':{'S':'zz'}}]},'Range':{'Keys':[{"
         "'pk':{'S':'r'},'sk':{'S':'s'}}]},'Number':{'Keys':[{'pk':{'N':'1'}}]}}}",
         NULL,
         "{'Responses':{'Hash':[{'n':{'N':'1'},'pk':{'S':'a'}}],'Range':[{'pk':{'S':'r'},'sk':{'S':"
         "'s'}}],'Number':[]},'UnprocessedKeys':{}}",
         GUIDE},
        {"BatchGetItem",
         "{'RequestItems':{'Hash':{'Keys':[{'pk':{'S':'a'}}],'ProjectionExpression':'#n',"
         "'ExpressionAttributeNames':{'#n':'n'},'ConsistentRead':true}},"
         "'ReturnConsumedCapacity':'TOTAL'}",
         NULL,
         "{'ConsumedCapacity':[{'TableName':'Hash','CapacityUnits':1.0}],'Responses':{'Hash':[{'n':"
         "{'N':'1'}}]},'UnprocessedKeys':{}}",
         GUIDE},
        {"BatchGetItem",
         "{'RequestItems':{'arn:aws:dynamodb:us-east-1:000000000000:table/Hash':{'Keys':[{'pk':{'S'"
         ":'b'}}]}},'ReturnConsumedCapacity':'INDEXES'}",
         NULL,
         "{'ConsumedCapacity':[{'TableName':'arn:aws:dynamodb:us-east-1:000000000000:table/Hash',"
         "'CapacityUnits':0.5,'Table':{'CapacityUnits':0.5}}],'Responses':{"
         "'arn:aws:dynamodb:us-east-1:000000000000:table/Hash':[{'pk':{'S':'b'}}]},"
         "'UnprocessedKeys':{}}",
         GUIDE},
        {"BatchWriteItem",
         "{'RequestItems':{'Hash':[{'DeleteRequest':{'Key':{'pk':{'S':'a'}}}}],'Local':[{"
         "'PutRequest':{'Item':{'pk':{'S':'x'},'sk':{'S':'y'},'a':{'S':'z'}}}}]},"
         "'ReturnConsumedCapacity':'INDEXES','ReturnItemCollectionMetrics':'SIZE'}",
         NULL,
         "{'ConsumedCapacity':[{'TableName':'Hash','CapacityUnits':1.0,'Table':{'CapacityUnits':1.0"
         "}},{'TableName':'Local','CapacityUnits':2.0,'Table':{'CapacityUnits':1.0},"
         "'LocalSecondaryIndexes':{'byA':{'CapacityUnits':1.0}}}],'ItemCollectionMetrics':{'Local':"
         "["
         "{'ItemCollectionKey':{'pk':{'S':'x'}},'SizeEstimateRangeGB':[0.0,1.0]}]},"
         "'UnprocessedItems':{}}",
         GUIDE},
        {"BatchGetItem", "{'RequestItems':{'Hash':{'Keys':[{'pk':{'S':'a'}}]}}}", NULL,
         "{'Responses':{'Hash':[]},'UnprocessedKeys':{}}", GUIDE},
        {"BatchWriteItem",
         "{'RequestItems':{'Hash':[{'PutRequest':null,'DeleteRequest':{'Key':{'pk':{'S':'a'}}}}]}}",
         NULL, "{'UnprocessedItems':{}}", UNVERIFIED},
    };
    WIRE_CHECK(*state, "batch parameters", rows);
}

static void test_batch__constraints_are_told_in_order(void **state)
{
    static const struct wire_row rows[] = {
        {"BatchGetItem", "{}", V, ONE NULL_AT("requestItems"), DYNALITE},
        {"BatchGetItem", "{'ReturnConsumedCapacity':'BOGUS'}", V,
         SEVERAL("2") NULL_AT("requestItems") "; " ENUM_RCC, DYNALITE},
        {"BatchGetItem", "{'RequestItems':{}}", V, NEW_AT("RequestItems") SHORT("1"), PARITY},
        {"BatchGetItem", "{'RequestItems':{'Hash':{'Keys':[]}}}", V,
         NEW_AT("RequestItems.Hash.member.Keys") SHORT("1"), PARITY},
        {"BatchGetItem", "{'RequestItems':{'Hash':{}}}", V,
         ONE NULL_AT("requestItems.Hash.member.keys"), DYNALITE},
        {"BatchGetItem", "{'RequestItems':{'Hash':null}}", V,
         ONE NULL_AT("requestItems.Hash.member"), UNVERIFIED},
        {"BatchGetItem", "{'RequestItems':{'Hash':{'Keys':[null]}}}", V,
         ONE NULL_AT("requestItems.Hash.member.keys.1.member"), UNVERIFIED},
        {"BatchGetItem", "{'RequestItems':{'bad!name':{'Keys':[{'pk':{'S':'a'}}]}}}", V,
         ONE AT("{\"bad!name\":{\"Keys\":[{\"pk\":{\"S\":\"a\"}}]}}", "requestItems") KEYS, PARITY},
        /* A key that could not be read has no bytes to repeat. */
        {"BatchGetItem", "{'RequestItems':{'bad!name':{'Keys':[{'pk':{'N':'zz'}}]}}}", V,
         ONE AT("{\"bad!name\":{\"Keys\":[{}]}}", "requestItems") KEYS, UNVERIFIED},
        {"BatchGetItem", "{'RequestItems':{'ab':{'Keys':[{'pk':{'S':'a'}}]}}}", V,
         ONE AT("{\"ab\":{\"Keys\":[{\"pk\":{\"S\":\"a\"}}]}}", "requestItems") KEYS, DYNALITE},
        {"BatchGetItem",
         "{'RequestItems':{'bad!name':{'Keys':[{'pk':{'S':'a'}}]}},'ReturnConsumedCapacity':"
         "'BOGUS'}",
         V,
         SEVERAL("2") AT("{\"bad!name\":{\"Keys\":[{\"pk\":{\"S\":\"a\"}}]}}", "requestItems") KEYS
         "; " ENUM_RCC,
         PARITY},
        {"BatchGetItem", "{'RequestItems':{'aa;':{}},'ReturnConsumedCapacity':'BOGUS'}", V,
         SEVERAL("3") AT("{\"aa;\":{}}", "requestItems") KEYS
         "; " NULL_AT("requestItems.aa;.member.keys") "; " ENUM_RCC,
         DYNALITE},
        {"BatchGetItem",
         "{'RequestItems':{'Hash':{'Keys':[{'pk':{'S':'a'}}]}},'ReturnConsumedCapacity':'BOGUS'}",
         V, ONE ENUM_RCC, PARITY},
        {"BatchGetItem",
         "{'RequestItems':{'Nope':{'Keys':[{'pk':{'S':'a'}}]}},'ReturnConsumedCapacity':'BOGUS'}",
         V, ONE ENUM_RCC, PARITY},
        {"BatchWriteItem", "{}", V, ONE NULL_AT("requestItems"), DYNALITE},
        {"BatchWriteItem",
         "{'ReturnConsumedCapacity':'BOGUS','ReturnItemCollectionMetrics':'BOGUS2'}", V,
         SEVERAL("3") ENUM_RCC "; " ENUM_RICM "; " NULL_AT("requestItems"), DYNALITE},
        {"BatchWriteItem", "{'RequestItems':{}}", V, NEW_AT("RequestItems") SHORT("1"), PARITY},
        {"BatchWriteItem", "{'RequestItems':{'Hash':[]}}", V,
         ONE AT("{Hash=[]}", "requestItems") LISTS, PARITY},
        {"BatchWriteItem",
         "{'RequestItems':{'bad!name':[{'PutRequest':{'Item':{'pk':{'S':'x'}}}}]}}", V,
         ONE "Value '{bad!name=[WriteRequest(putRequest=PutRequest(item={pk=…", PARITY},
        {"BatchWriteItem",
         "{'RequestItems':{'bad!name':[{'PutRequest':{'Item':{'pk':{'S':'x'}}}}]},"
         "'ReturnConsumedCapacity':'BOGUS'}",
         V, ONE ENUM_RCC, PARITY},
        {"BatchWriteItem",
         "{'RequestItems':{'Hash':[{'PutRequest':{'Item':{'pk':{'S':'x'}}}}]},"
         "'ReturnConsumedCapacity':'BOGUS','ReturnItemCollectionMetrics':'BOGUS2'}",
         V, SEVERAL("2") ENUM_RCC "; " ENUM_RICM, PARITY},
        {"BatchWriteItem",
         "{'RequestItems':{'Hash':[{'PutRequest':{'Item':{'pk':{'S':'x'}}}}]},"
         "'ReturnItemCollectionMetrics':'BOGUS2'}",
         V, ONE ENUM_RICM, PARITY},
        {"BatchWriteItem",
         "{'RequestItems':{'Nope':[{'PutRequest':{'Item':{'pk':{'S':'x'}}}}]},"
         "'ReturnConsumedCapacity':'BOGUS'}",
         V, ONE ENUM_RCC, PARITY},
        {"BatchWriteItem", "{'RequestItems':{'Hash':[{'PutRequest':{}}]}}", V,
         ONE NULL_AT("requestItems.Hash.member.1.member.putRequest.item"), DYNALITE},
        {"BatchWriteItem",
         "{'RequestItems':{'Hash':[{'PutRequest':{'Item':{}}},{'DeleteRequest':{}}]}}", V,
         ONE NULL_AT("requestItems.Hash.member.2.member.deleteRequest.key"), DYNALITE},
        {"BatchWriteItem", "{'RequestItems':{'abc':[{}]}}", V, SUPPLIED, DYNALITE},
        {"BatchWriteItem",
         "{'RequestItems':{'abc':[{'PutRequest':{'Item':{}},'DeleteRequest':{'Key':{}}}]}}", V,
         SUPPLIED, UNVERIFIED},
        {"BatchWriteItem", "{'RequestItems':{'Hash':[null]}}", V,
         ONE NULL_AT("requestItems.Hash.member.1.member"), UNVERIFIED},
    };
    WIRE_CHECK(*state, "batch constraints", rows);
}

static void test_batch__lists_have_bounds(void **state)
{
    struct wire_test *w = *state;
    static const char get[] = "{'RequestItems':{'Hash':{'Keys':[{}]}}}";
    static const char gets[] = "{'RequestItems':{'Hash':{'Keys':[{}]},'Range':{'Keys':[{'pk':{'S':"
                               "'a'},'sk':{'S':'b'}}]}}}";
    static const char write[] = "{'RequestItems':{'Hash':[{}]}}";
    static const char writes[] = "{'RequestItems':{'Hash':[{}],'Range':[{'DeleteRequest':{'Key':{"
                                 "'pk':{'S':'a'},'sk':{'S':'b'}}}}]}}";
    const char *keys100 = wire_list(w, "{'pk':{'S':'k#'}}", 100);
    const char *keys101 = wire_list(w, "{'pk':{'S':'k#'}}", 101);
    const char *puts25 = wire_list(w, "{'PutRequest':{'Item':{'pk':{'S':'k#'}}}}", 25);
    const char *puts26 = wire_list(w, "{'PutRequest':{'Item':{'pk':{'S':'k#'}}}}", 26);
    const struct wire_row rows[] = {
        {"BatchGetItem", wire_fill(w, get, keys100), NULL, "{'Responses':{'Hash':[]}…", DYNALITE},
        {"BatchGetItem", wire_fill(w, get, keys101), V,
         NEW_AT("RequestItems.Hash.member.Keys") LONG("100"), PARITY},
        {"BatchGetItem", wire_fill(w, gets, keys100), V,
         "Too many items requested for the BatchGetItem call", DYNALITE},
        {"BatchGetItem", wire_fill(w, get, wire_list(w, "{'pk':{'S':'k#'}}", 20000)), V,
         NEW_AT("RequestItems.Hash.member.Keys") LONG("100"), PARITY},
        {"BatchWriteItem", wire_fill(w, write, puts25), NULL, "{'UnprocessedItems':{}}", DYNALITE},
        {"BatchWriteItem", wire_fill(w, write, puts26), V,
         NEW_AT("RequestItems.Hash.member") LONG("25"), PARITY},
        {"BatchWriteItem", wire_fill(w, writes, puts25), V,
         "Too many items requested for the BatchWriteItem call", DYNALITE},
        {"BatchWriteItem", wire_fill(w, write, wire_list(w, "{}", 50000)), V,
         NEW_AT("RequestItems.Hash.member") LONG("25"), PARITY},
        {"BatchGetItem",
         wire_fill(w, "{'RequestItems':{{}}}",
                   wire_list(w, "'T0#':{'Keys':[{'pk':{'S':'a'}}]}", 101)),
         V, NEW_AT("RequestItems") LONG("100"), UNVERIFIED},
        {"BatchGetItem",
         wire_fill(w, "{'RequestItems':{{}}}",
                   wire_list(w, "'T0#':{'Keys':[{'pk':{'S':'a'}}]}", 100)),
         RNF, NOT_FOUND, MODEL},
        {"BatchWriteItem",
         wire_fill(w, "{'RequestItems':{{}}}",
                   wire_list(w, "'T0#':[{'DeleteRequest':{'Key':{'pk':{'S':'a'}}}}]", 26)),
         V, NEW_AT("RequestItems") LONG("25"), UNVERIFIED},
        {"BatchWriteItem",
         wire_fill(w, "{'RequestItems':{{}}}",
                   wire_list(w, "'T0#':[{'DeleteRequest':{'Key':{'pk':{'S':'a'}}}}]", 25)),
         RNF, NOT_FOUND, MODEL},
    };
    WIRE_CHECK(w, "lengths of lists", rows);
}

static void test_batch__requests_are_checked_as_a_whole(void **state)
{
    static const struct wire_row rows[] = {
        {"BatchGetItem",
         "{'RequestItems':{'abc':{'Keys':[{}],'AttributesToGet':['a'],'ExpressionAttributeNames':{}"
         ","
         "'ProjectionExpression':''}}}",
         V, BOTH "{AttributesToGet} Expression parameters: {ProjectionExpression}", DYNALITE},
        {"BatchGetItem",
         "{'RequestItems':{'abc':{'Keys':[{}],'AttributesToGet':['a'],"
         "'ExpressionAttributeNames':{}}}}",
         V, "ExpressionAttributeNames can only be specified when using expressions", DYNALITE},
        {"BatchGetItem", "{'RequestItems':{'abc':{'Keys':[{}],'AttributesToGet':['a']}}}", V,
         LEGACY_("AttributesToGet"), OURS},
        {"BatchGetItem",
         "{'RequestItems':{'abc':{'Keys':[{}],'ExpressionAttributeNames':{},"
         "'ProjectionExpression':''}}}",
         V, "ExpressionAttributeNames must not be empty", DYNALITE},
        {"BatchGetItem", "{'RequestItems':{'abc':{'Keys':[{}],'ProjectionExpression':''}}}", V,
         "Invalid ProjectionExpression: The expression can not be empty;", DYNALITE},
        {"BatchGetItem",
         "{'RequestItems':{'Hash':{'Keys':[{'pk':{'S':'a'}}],'ProjectionExpression':'a, a.b'}}}", V,
         "Invalid ProjectionExpression: Two document paths overlap with each other; must remove or "
         "rewrite one of these paths; path one: [a], path two: [a, b]",
         PARITY},
        {"BatchGetItem",
         "{'RequestItems':{'Hash':{'Keys':[{'pk':{'S':'a'}}],'ProjectionExpression':'a, "
         "a'},'Range':"
         "{'Keys':[{'pk':{'S':'a'},'sk':{'S':'z'}}],'ProjectionExpression':'a'}}}",
         V,
         "Invalid ProjectionExpression: Two document paths overlap with each other; must remove or "
         "rewrite one of these paths; path one: [a], path two: [a]",
         PARITY},
        {"BatchGetItem", "{'RequestItems':{'Hash':{'Keys':[{'pk':{'S':'d'}},{'pk':{'S':'d'}}]}}}",
         V, DUPLICATES, PARITY},
        {"BatchGetItem", "{'RequestItems':{'Nope':{'Keys':[{}]}}}", RNF, NOT_FOUND, DYNALITE},
        {"BatchGetItem", "{'RequestItems':{'Hash':{'Keys':[{}]}}}", V, SCHEMA, DYNALITE},
        {"BatchGetItem", "{'RequestItems':{'Hash':{'Keys':[{'pk':{'N':'1'}}]}}}", V, SCHEMA,
         DYNALITE},
        {"BatchGetItem", "{'RequestItems':{'Binary':{'Keys':[{'pk':{'B':''}}]}}}", V,
         "One or more parameter values are not valid. The AttributeValue for a key attribute "
         "cannot "
         "contain an empty binary value. Key: pk",
         PARITY},
        {"BatchWriteItem",
         "{'RequestItems':{'Hash':[{'PutRequest':{'Item':{'pk':{'S':'d'}}}},{'DeleteRequest':{'Key'"
         ":"
         "{'pk':{'S':'d'}}}}]}}",
         V, DUPLICATES, PARITY},
        {"BatchWriteItem",
         "{'RequestItems':{'Nope':[{'PutRequest':{'Item':{'pk':{'S':'d'}}}},{'DeleteRequest':{'Key'"
         ":"
         "{'pk':{'S':'d'}}}}]}}",
         RNF, NOT_FOUND, DYNALITE},
        {"BatchWriteItem", "{'RequestItems':{'Hash':[{'PutRequest':{'Item':{'pk':{'N':'5'}}}}]}}",
         V, SCHEMA, PARITY},
        {"BatchWriteItem",
         "{'RequestItems':{'Hash':[{'PutRequest':{'Item':{'pk':{'L':[{'S':'x'}]}}}}]}}", V, SCHEMA,
         PARITY},
        {"BatchWriteItem",
         "{'RequestItems':{'Hash':[{'PutRequest':{'Item':{'other':{'S':'x'}}}}]}}", V, SCHEMA,
         PARITY},
        {"BatchWriteItem",
         "{'RequestItems':{'Hash':[{'DeleteRequest':{'Key':{'other':{'S':'x'}}}}]}}", V, SCHEMA,
         PARITY},
        {"BatchWriteItem", "{'RequestItems':{'Hash':[{'PutRequest':{'Item':{'pk':{'S':''}}}}]}}", V,
         "One or more parameter values are not valid. The AttributeValue for a key attribute "
         "cannot "
         "contain an empty string value. Key: pk",
         PARITY},
        {"BatchWriteItem",
         "{'RequestItems':{'Binary':[{'DeleteRequest':{'Key':{'pk':{'B':''}}}}]}}", V,
         "One or more parameter values are not valid. The AttributeValue for a key attribute "
         "cannot "
         "contain an empty binary value. Key: pk",
         PARITY},
    };
    WIRE_CHECK(*state, "batches as a whole", rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_batch__parameters_do_what_they_say, wire_setup,
                                        wire_teardown),
        cmocka_unit_test_setup_teardown(test_batch__constraints_are_told_in_order, wire_setup,
                                        wire_teardown),
        cmocka_unit_test_setup_teardown(test_batch__lists_have_bounds, wire_setup, wire_teardown),
        cmocka_unit_test_setup_teardown(test_batch__requests_are_checked_as_a_whole, wire_setup,
                                        wire_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
