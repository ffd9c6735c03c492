/* Query and Scan over the wire: what each parameter does, and what each refusal says. */
#include "support/wire.h"

#define KEYED "'KeyConditionExpression':'pk = :p','ExpressionAttributeValues':{':p':{'S':'a'}}"

static void put_some(struct wire_test *w)
{
    static const char *const items[] = {"{'pk':{'S':'a'},'sk':{'S':'1'},'n':{'N':'1'}}",
                                        "{'pk':{'S':'a'},'sk':{'S':'2'},'n':{'N':'2'}}",
                                        "{'pk':{'S':'a'},'sk':{'S':'3'},'n':{'N':'3'}}",
                                        "{'pk':{'S':'b'},'sk':{'S':'1'},'n':{'N':'9'}}"};
    for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
        const struct wire_row row = {"PutItem",
                                     wire_fill(w, "{'TableName':'Range','Item':{}}", items[i]),
                                     NULL, "{}", GUIDE};
        wire_check(w, &row);
    }
    wire_send(w, "PutItem",
              "{'TableName':'Global','Item':{'pk':{'S':'x'},'g':{'S':'a'},'h':{'N':'1'},'z':{'S':"
              "'w'}}}");
    wire_send(w, "PutItem",
              "{'TableName':'Local','Item':{'pk':{'S':'x'},'sk':{'S':'y'},'a':{'S':'q'}}}");
}

#define I1 "{'n':{'N':'1'},'pk':{'S':'a'},'sk':{'S':'1'}}"
#define I2 "{'n':{'N':'2'},'pk':{'S':'a'},'sk':{'S':'2'}}"
#define I3 "{'n':{'N':'3'},'pk':{'S':'a'},'sk':{'S':'3'}}"

static void test_query__parameters_do_what_they_say(void **state)
{
    static const struct wire_row rows[] = {
        {"Query", "{'TableName':'Range'," KEYED "}", NULL,
         "{'Count':3,'Items':[" I1 "," I2 "," I3 "],'ScannedCount':3}", GUIDE},
        {"Query", "{'TableName':'Range','ScanIndexForward':true," KEYED "}", NULL,
         "{'Count':3,'Items':[" I1 "," I2 "," I3 "],'ScannedCount':3}", GUIDE},
        {"Query", "{'TableName':'Range','ScanIndexForward':false," KEYED "}", NULL,
         "{'Count':3,'Items':[" I3 "," I2 "," I1 "],'ScannedCount':3}", GUIDE},
        {"Query", "{'TableName':'Range','Limit':2," KEYED "}", NULL,
         "{'Count':2,'Items':[" I1 "," I2 "],'LastEvaluatedKey':{'pk':{'S':'a'},'sk':{'S':'2'}},"
         "'ScannedCount':2}",
         GUIDE},
        {"Query", "{'TableName':'Range','Limit':1.9," KEYED "}", NULL,
         "{'Count':1,'Items':[" I1 "],…", UNVERIFIED},
        {"Query", "{'TableName':'Range','Limit':99999999999999999999," KEYED "}", NULL,
         "{'Count':3,…", UNVERIFIED},
        {"Query",
         "{'TableName':'Range','ExclusiveStartKey':{'pk':{'S':'a'},'sk':{'S':'2'}}," KEYED "}",
         NULL, "{'Count':1,'Items':[" I3 "],'ScannedCount':1}", GUIDE},
        {"Query",
         "{'TableName':'Range','KeyConditionExpression':'pk = :p and sk > :s','FilterExpression':"
         "'n <> :n','ExpressionAttributeValues':{':p':{'S':'a'},':s':{'S':'1'},':n':{'N':'2'}}}",
         NULL, "{'Count':1,'Items':[" I3 "],'ScannedCount':2}", GUIDE},
        {"Query", "{'TableName':'Range','ProjectionExpression':'n'," KEYED "}", NULL,
         "{'Count':3,'Items':[{'n':{'N':'1'}},{'n':{'N':'2'}},{'n':{'N':'3'}}],'ScannedCount':3}",
         GUIDE},
        {"Query",
         "{'TableName':'Range','KeyConditionExpression':'#p = :p','ExpressionAttributeNames':{'#p':"
         "'pk'},'ExpressionAttributeValues':{':p':{'S':'b'}},'ConsistentRead':true}",
         NULL,
         "{'Count':1,'Items':[{'n':{'N':'9'},'pk':{'S':'b'},'sk':{'S':'1'}}],'ScannedCount':1}",
         GUIDE},
        {"Query", "{'TableName':'Range','Select':'COUNT'," KEYED "}", NULL,
         "{'Count':3,'ScannedCount':3}", GUIDE},
        {"Query", "{'TableName':'Range','Select':'ALL_ATTRIBUTES','Limit':1," KEYED "}", NULL,
         "{'Count':1,'Items':[" I1 "],…", GUIDE},
        {"Query",
         "{'TableName':'Range','Select':'SPECIFIC_ATTRIBUTES','ProjectionExpression':'sk','Limit':"
         "1," KEYED "}",
         NULL, "{'Count':1,'Items':[{'sk':{'S':'1'}}],…", GUIDE},
        {"Query",
         "{'TableName':'Range','ReturnConsumedCapacity':'TOTAL','Select':'COUNT'," KEYED "}", NULL,
         "{'ConsumedCapacity':{'TableName':'Range','CapacityUnits':0.5},'Count':3,'ScannedCount':"
         "3}",
         GUIDE},
        {"Query",
         "{'TableName':'Global','IndexName':'byG','KeyConditionExpression':'g = :p','ExpressionAttr"
         "ibuteValues':{':p':{'S':'a'}},'ReturnConsumedCapacity':'INDEXES'}",
         NULL,
         "{'ConsumedCapacity':{'TableName':'Global','CapacityUnits':0.5,'Table':{'CapacityUnits':0."
         "0"
         "},'GlobalSecondaryIndexes':{'byG':{'CapacityUnits':0.5}}},'Count':1,'Items':[{'g':{'S':'"
         "a'"
         "},'h':{'N':'1'},'pk':{'S':'x'},'z':{'S':'w'}}],'ScannedCount':1}",
         GUIDE},
        {"Query",
         "{'TableName':'Global','IndexName':'keys','KeyConditionExpression':'g = :p','Select':'ALL_"
         "PROJECTED_ATTRIBUTES','ExpressionAttributeValues':{':p':{'S':'a'}}}",
         NULL, "{'Count':1,'Items':[{'g':{'S':'a'},'pk':{'S':'x'}}],'ScannedCount':1}", GUIDE},
        {"Query",
         "{'TableName':'Local','IndexName':'byA','KeyConditionExpression':'pk = :p','ExpressionAttr"
         "ibuteValues':{':p':{'S':'x'}},'ReturnConsumedCapacity':'INDEXES','ConsistentRead':true}",
         NULL,
         "{'ConsumedCapacity':{'TableName':'Local','CapacityUnits':1.0,'Table':{'CapacityUnits':0."
         "0}"
         ",'LocalSecondaryIndexes':{'byA':{'CapacityUnits':1.0}}},'Count':1,…",
         GUIDE},
        {"Query",
         "{'TableName':'arn:aws:dynamodb:eu-west-1:123456789012:table/Range','Select':'COUNT',"
         "'ReturnConsumedCapacity':'TOTAL'," KEYED "}",
         NULL,
         "{'ConsumedCapacity':{'TableName':'arn:aws:dynamodb:eu-west-1:123456789012:table/Range',…",
         GUIDE},
        {"Scan", "{'TableName':'Local'}", NULL,
         "{'Count':1,'Items':[{'a':{'S':'q'},'pk':{'S':'x'},'sk':{'S':'y'}}],'ScannedCount':1}",
         GUIDE},
        {"Scan", "{'TableName':'Range','Select':'COUNT'}", NULL, "{'Count':4,'ScannedCount':4}",
         GUIDE},
        {"Scan",
         "{'TableName':'Range','FilterExpression':'n = :n','ExpressionAttributeValues':{':n':{'N':"
         "'9'}},'ProjectionExpression':'pk'}",
         NULL, "{'Count':1,'Items':[{'pk':{'S':'b'}}],'ScannedCount':4}", GUIDE},
        {"Scan", "{'TableName':'Range','Limit':1}", NULL, "{'Count':1,'Items':[…", GUIDE},
        {"Scan",
         "{'TableName':'Range','ExclusiveStartKey':{'pk':{'S':'a'},'sk':{'S':'3'}},"
         "'Select':'COUNT','Segment':0,'TotalSegments':1}",
         NULL, "{'Count':…", GUIDE},
        {"Scan", "{'TableName':'Global','IndexName':'byG','Select':'COUNT'}", NULL,
         "{'Count':1,'ScannedCount':1}", GUIDE},
        {"Scan", "{'TableName':'Hash','ReturnConsumedCapacity':'TOTAL','ConsistentRead':true}",
         NULL,
         "{'ConsumedCapacity':{'TableName':'Hash','CapacityUnits':1.0},'Count':0,'Items':[],"
         "'ScannedCount':0}",
         UNVERIFIED},
        {"Scan", "{'TableName':'Hash','Segment':999999,'TotalSegments':1000000}", NULL,
         "{'Count':0,'Items':[],'ScannedCount':0}", MODEL},
    };
    put_some(*state);
    WIRE_CHECK(*state, "query and scan parameters", rows);
}

static void test_query__constraints_are_told_in_order(void **state)
{
    static const struct wire_row rows[] = {
        {"Query", "{}", V, ONE NULL_AT("tableName"), DYNALITE},
        {"Query", "{'TableName':''}", V, NEW_EMPTY, UNVERIFIED},
        {"Query", "{'TableName':'a;'}", V,
         SEVERAL("2") AT("a;", "tableName") PATTERN "; " AT("a;", "tableName") SHORT("3"),
         DYNALITE},
        {"Query", "{'TableName':'abc','IndexName':''}", V,
         SEVERAL("2") AT("", "indexName") PATTERN "; " AT("", "indexName") SHORT("3"), DYNALITE},
        {"Query", "{'TableName':'abc','IndexName':'a;'}", V,
         SEVERAL("2") AT("a;", "indexName") PATTERN "; " AT("a;", "indexName") SHORT("3"),
         DYNALITE},
        {"Query", "{'TableName':'abc','IndexName':'ab'}", V, ONE AT("ab", "indexName") SHORT("3"),
         DYNALITE},
        {"Query", "{'TableName':'Range','Limit':0," KEYED "}", V, NEW_AT("Limit") LOW("1"), PARITY},
        {"Query", "{'TableName':'Range','Limit':-5," KEYED "}", V, NEW_AT("Limit") LOW("1"),
         PARITY},
        {"Query", "{'TableName':'Range','Select':'hi'," KEYED "}", V,
         ONE AT("hi", "select") ENUM(SELECTS), DYNALITE},
        {"Query",
         "{'TableName':'abc;','ReturnConsumedCapacity':'hi','IndexName':'abc;','Select':'hi'}", V,
         SEVERAL("4") AT("hi", "returnConsumedCapacity") ENUM(CAPACITIES) "; " AT("hi", "select")
             ENUM(SELECTS) "; " AT("abc;", "tableName") PATTERN "; " AT("abc;", "indexName")
                 PATTERN,
         DYNALITE},
        {"Query", "{'Limit':-1,'Select':'hi'}", V,
         SEVERAL("3") AT("-1", "limit") LOW("1") "; " AT("hi", "select")
             ENUM(SELECTS) "; " NULL_AT("tableName"),
         DYNALITE},
        {"Scan", "{}", V, ONE NULL_AT("tableName"), DYNALITE},
        {"Scan", "{'TableName':'a;'}", V,
         SEVERAL("2") AT("a;", "tableName") PATTERN "; " AT("a;", "tableName") SHORT("3"),
         DYNALITE},
        {"Scan", "{'TableName':'Hash','Limit':0}", V, ONE AT("0", "limit") LOW("1"), DYNALITE},
        {"Scan", "{'TableName':'Hash','Limit':-1}", V, ONE AT("-1", "limit") LOW("1"), DYNALITE},
        {"Scan", "{'TableName':'Hash','Segment':-1,'TotalSegments':1}", V,
         ONE AT("-1", "segment") LOW("0"), DYNALITE},
        {"Scan", "{'TableName':'Hash','Segment':1000000,'TotalSegments':1}", V,
         ONE AT("1000000", "segment") HIGH("999999"), MODEL},
        {"Scan", "{'TableName':'Hash','Segment':0,'TotalSegments':0}", V,
         ONE AT("0", "totalSegments") LOW("1"), DYNALITE},
        {"Scan", "{'TableName':'Hash','Segment':0,'TotalSegments':1000001}", V,
         ONE AT("1000001", "totalSegments") HIGH("1000000"), MODEL},
        {"Scan",
         "{'TableName':'abc;','ReturnConsumedCapacity':'hi','IndexName':'abc;','Segment':-1,"
         "'TotalSegments':-1,'Select':'hi','Limit':-1}",
         V,
         SEVERAL("7") AT("-1", "limit") LOW("1") "; " AT("hi", "returnConsumedCapacity")
             ENUM(CAPACITIES) "; " AT("-1", "segment") LOW("0") "; " AT("hi", "select")
                 ENUM(SELECTS) "; " AT("-1", "totalSegments") LOW("1") "; " AT("abc;", "tableName")
                     PATTERN "; " AT("abc;", "indexName") PATTERN,
         DYNALITE},
        {"Scan", "{'TableName':'Hash','Segment':1}", V,
         "The TotalSegments parameter is required but was not present in the request when Segment "
         "parameter is present",
         DYNALITE},
        {"Scan", "{'TableName':'Hash','TotalSegments':1}", V,
         "The Segment parameter is required but was not present in the request when parameter "
         "TotalSegments is present",
         DYNALITE},
        {"Scan", "{'TableName':'Hash','Segment':1,'TotalSegments':1}", V,
         "The Segment parameter is zero-based and must be less than parameter TotalSegments: "
         "Segment: 1 is not less than TotalSegments: 1",
         DYNALITE},
    };
    struct wire_test *w = *state;
    WIRE_CHECK(w, "query and scan constraints", rows);
    const struct wire_row lengths[] = {
        {"Query", wire_repeat(w, "{'TableName':'Range','IndexName':'{}'," KEYED "}", 'a', 255), V,
         wire_repeat(w, "The table does not have the specified index: {}", 'a', 255), DYNALITE},
        {"Query", wire_repeat(w, "{'TableName':'Range','IndexName':'{}'," KEYED "}", 'a', 256), V,
         wire_repeat(w, ONE AT("{}", "indexName") LONG("255"), 'a', 256), DYNALITE},
        {"Scan", wire_repeat(w, "{'TableName':'Range','IndexName':'{}'}", 'a', 256), V,
         wire_repeat(w, ONE AT("{}", "indexName") LONG("255"), 'a', 256), DYNALITE},
    };
    WIRE_CHECK(w, "lengths of index names", lengths);
}

static void test_query__parameters_are_checked_together(void **state)
{
#define OLD                                                                                        \
    "'QueryFilter':{'a':{'ComparisonOperator':'EQ','AttributeValueList':[{}]}},"                   \
    "'AttributesToGet':['a','a'],'ExclusiveStartKey':{'a':{}},'ConditionalOperator':'OR',"         \
    "'Select':'SPECIFIC_ATTRIBUTES'"
#define OLD_SCAN                                                                                   \
    "'ScanFilter':{'a':{'ComparisonOperator':'EQ','AttributeValueList':[{}]}},'Segment':1,"        \
    "'Limit':1,'AttributesToGet':['a','a'],'ExclusiveStartKey':{'a':{}},'ConditionalOperator':'"   \
    "OR'"                                                                                          \
    ",'Select':'SPECIFIC_ATTRIBUTES'"
    static const struct wire_row rows[] = {
        {"Query",
         "{'TableName':'abc'," OLD
         ",'KeyConditions':{},'ProjectionExpression':'','FilterExpression'"
         ":'','KeyConditionExpression':'','ExpressionAttributeNames':{},'ExpressionAttributeValues'"
         ":{}}",
         V,
         BOTH "{AttributesToGet, QueryFilter, ConditionalOperator, KeyConditions} Expression "
              "parameters: {ProjectionExpression, FilterExpression, KeyConditionExpression}",
         DYNALITE},
        {"Query",
         "{'TableName':'abc'," OLD ",'KeyConditionExpression':'','FilterExpression':'',"
         "'ProjectionExpression':''}",
         V,
         BOTH "{AttributesToGet, QueryFilter, ConditionalOperator} Expression parameters: "
              "{ProjectionExpression, FilterExpression, KeyConditionExpression}",
         DYNALITE},
        {"Query",
         "{'TableName':'abc'," OLD ",'ExpressionAttributeNames':{},'ExpressionAttributeValues':{}}",
         V, "ExpressionAttributeNames can only be specified when using expressions", DYNALITE},
        {"Query", "{'TableName':'abc'," OLD ",'ExpressionAttributeValues':{}}", V,
         "ExpressionAttributeValues can only be specified when using expressions: FilterExpression "
         "and KeyConditionExpression are null",
         DYNALITE},
        {"Query", "{'TableName':'abc','KeyConditions':{}}", V, LEGACY_("KeyConditions"), OURS},
        {"Query", "{'TableName':'abc','QueryFilter':{}}", V, LEGACY_("QueryFilter"), OURS},
        {"Query", "{'TableName':'abc'}", V,
         "Either the KeyConditions or KeyConditionExpression parameter must be specified in the "
         "request.",
         DYNALITE},
        {"Query", "{'TableName':'abc','ExpressionAttributeNames':{'#a':'a'}}", V,
         "ExpressionAttributeNames can only be specified when using expressions", DYNALITE},
        {"Query", "{'TableName':'abc','KeyConditionExpression':''}", V,
         "Invalid KeyConditionExpression: The expression can not be empty;", DYNALITE},
        {"Query", "{'TableName':'Nope'," KEYED "}", RNF, NOT_FOUND, DYNALITE},
        {"Query",
         "{'TableName':'Nope','KeyConditionExpression':'pk = :p AND begins_with(sk, :n)',"
         "'ExpressionAttributeValues':{':p':{'S':'q'},':n':{'N':'1'}}}",
         V,
         "Invalid KeyConditionExpression: Incorrect operand type for operator or function; "
         "operator "
         "or function: begins_with, operand type: N",
         PARITY},
        {"Query",
         "{'TableName':'Nope','KeyConditionExpression':'pk = :p AND begins_with(sk, :s)',"
         "'ExpressionAttributeValues':{':p':{'S':'q'},':s':{'S':'a'}}}",
         RNF, NOT_FOUND, PARITY},
        {"Query",
         "{'TableName':'Nope','KeyConditionExpression':'pk = :p','ExpressionAttributeValues':{':p':"
         "{'S':'q'},':u':{'S':'q'}}}",
         V, "Value provided in ExpressionAttributeValues unused in expressions: keys: {:u}",
         DYNALITE},
        {"Query", "{'TableName':'Range','Select':'ALL_PROJECTED_ATTRIBUTES'," KEYED "}", V,
         "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName", DYNALITE},
        {"Query", "{'TableName':'Range','Select':'SPECIFIC_ATTRIBUTES'," KEYED "}", V,
         ONE "Must specify the AttributesToGet or ProjectionExpression when choosing to get "
             "SPECIFIC_ATTRIBUTES",
         PARITY},
        {"Scan", "{'TableName':'Range','Select':'SPECIFIC_ATTRIBUTES'}", V,
         "Must specify the AttributesToGet or ProjectionExpression when choosing to get "
         "SPECIFIC_ATTRIBUTES",
         PARITY},
        {"Query", "{'TableName':'Range','Select':'COUNT','ProjectionExpression':'n'," KEYED "}", V,
         "Cannot specify the ProjectionExpression when choosing to get only the Count", DYNALITE},
        {"Query",
         "{'TableName':'Range','Select':'ALL_ATTRIBUTES','ProjectionExpression':'n'," KEYED "}", V,
         "Cannot specify the ProjectionExpression when choosing to get ALL_ATTRIBUTES", DYNALITE},
        {"Query",
         "{'TableName':'Global','IndexName':'byG','ConsistentRead':true,'KeyConditionExpression':"
         "'g = :p','ExpressionAttributeValues':{':p':{'S':'a'}}}",
         V, "Consistent reads are not supported on global secondary indexes", DYNALITE},
        {"Query", "{'TableName':'Range','IndexName':'nope'," KEYED "}", V,
         "The table does not have the specified index: nope", DYNALITE},
        {"Query", "{'TableName':'Range','ExclusiveStartKey':{'bad':{'S':'a'}}," KEYED "}", V,
         "The provided starting key is invalid", PARITY},
        {"Query", "{'TableName':'Range','ExclusiveStartKey':{'pk':{'SS':[]}}," KEYED "}", V,
         INVALID "An string set  may not be empty", PARITY},
        {"Scan",
         "{'TableName':'abc'," OLD_SCAN ",'FilterExpression':'','ProjectionExpression':'',"
         "'ExpressionAttributeNames':{},'ExpressionAttributeValues':{}}",
         V,
         BOTH "{AttributesToGet, ScanFilter, ConditionalOperator} Expression parameters: "
              "{ProjectionExpression, FilterExpression}",
         DYNALITE},
        {"Scan",
         "{'TableName':'abc'," OLD_SCAN
         ",'ExpressionAttributeNames':{},'ExpressionAttributeValues':{}}",
         V, "ExpressionAttributeNames can only be specified when using expressions", DYNALITE},
        {"Scan", "{'TableName':'abc'," OLD_SCAN ",'ExpressionAttributeValues':{}}", V,
         "ExpressionAttributeValues can only be specified when using expressions: FilterExpression "
         "is null",
         DYNALITE},
        {"Scan", "{'TableName':'abc','ExpressionAttributeValues':{':a':{'S':'a'}}}", V,
         "ExpressionAttributeValues can only be specified when using expressions: FilterExpression "
         "is null",
         DYNALITE},
        {"Scan", "{'TableName':'abc','ScanFilter':{}}", V, LEGACY_("ScanFilter"), OURS},
        {"Scan", "{'TableName':'abc','AttributesToGet':['a']}", V, LEGACY_("AttributesToGet"),
         OURS},
        {"Scan", "{'TableName':'Range','ExclusiveStartKey':{'pk':{'SS':[]}}}", V,
         "The provided starting key is invalid: " INVALID "An string set  may not be empty",
         DYNALITE},
        {"Scan",
         "{'TableName':'Range','FilterExpression':'a = :v','ExpressionAttributeValues':{':v':{'N':"
         "'x'}}}",
         V,
         "ExpressionAttributeValues contains invalid value: The parameter cannot be converted to a "
         "numeric value: x for key :v",
         PARITY},
        {"Scan", "{'TableName':'Nope'}", RNF, NOT_FOUND, DYNALITE},
        {"Scan", "{'TableName':'abc','FilterExpression':''}", V,
         "Invalid FilterExpression: The expression can not be empty;", DYNALITE},
    };
    WIRE_CHECK(*state, "query and scan parameters together", rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_query__parameters_do_what_they_say, wire_setup,
                                        wire_teardown),
        cmocka_unit_test_setup_teardown(test_query__constraints_are_told_in_order, wire_setup,
                                        wire_teardown),
        cmocka_unit_test_setup_teardown(test_query__parameters_are_checked_together, wire_setup,
                                        wire_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
