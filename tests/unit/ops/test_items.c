/* GetItem, PutItem, UpdateItem and DeleteItem over the wire: what each parameter does, and what
 * each refusal says. */
#include "support/wire.h"

/* ---- what works ---- */

static void test_items__parameters_do_what_they_say(void **state)
{
    static const struct wire_row rows[] = {
        {"PutItem", "{'TableName':'Hash','Item':{'pk':{'S':'a'},'n':{'N':'1.50'}}}", NULL, "{}",
         GUIDE},
        {"GetItem", "{'TableName':'Hash','Key':{'pk':{'S':'a'}}}", NULL,
         "{'Item':{'n':{'N':'1.5'},'pk':{'S':'a'}}}", GUIDE},
        {"GetItem", "{'TableName':'Hash','Key':{'pk':{'S':'b'}}}", NULL, "{}", GUIDE},
        {"GetItem", "{'Key':{'pk':{'S':'a'}},'TableName':'Hash','Unknown':{'x':[1,{}]}}", NULL,
         "{'Item':{'n':{'N':'1.5'},'pk':{'S':'a'}}}", GUIDE},
        {"GetItem",
         "{'TableName':'Hash','Key':{'pk':{'S':'a'}},'ProjectionExpression':null,"
         "'ReturnConsumedCapacity':null,'ConsistentRead':null}",
         NULL, "{'Item':{'n':{'N':'1.5'},'pk':{'S':'a'}}}", DYNALITE},
        {"GetItem", "{'TableName':'Hash','Key':{'pk':{'S':'a'}},'ProjectionExpression':'n'}", NULL,
         "{'Item':{'n':{'N':'1.5'}}}", GUIDE},
        {"GetItem", "{'TableName':'Hash','Key':{'pk':{'S':'a'}},'ProjectionExpression':'zz'}", NULL,
         "{'Item':{}}", GUIDE},
        {"GetItem",
         "{'TableName':'Hash','Key':{'pk':{'S':'a'}},'ProjectionExpression':'#x',"
         "'ExpressionAttributeNames':{'#x':'n'}}",
         NULL, "{'Item':{'n':{'N':'1.5'}}}", GUIDE},
        {"GetItem", "{'TableName':'Hash','Key':{'pk':{'S':'a'}},'ReturnConsumedCapacity':'TOTAL'}",
         NULL,
         "{'ConsumedCapacity':{'TableName':'Hash','CapacityUnits':0.5},"
         "'Item':{'n':{'N':'1.5'},'pk':{'S':'a'}}}",
         GUIDE},
        {"GetItem",
         "{'TableName':'Hash','Key':{'pk':{'S':'a'}},'ReturnConsumedCapacity':'TOTAL',"
         "'ConsistentRead':true}",
         NULL, "{'ConsumedCapacity':{'TableName':'Hash','CapacityUnits':1.0},…", GUIDE},
        {"GetItem",
         "{'TableName':'Hash','Key':{'pk':{'S':'zz'}},'ReturnConsumedCapacity':'INDEXES',"
         "'ConsistentRead':false}",
         NULL,
         "{'ConsumedCapacity':{'TableName':'Hash','CapacityUnits':0.5,'Table':{'CapacityUnits':0.5}"
         "}}",
         GUIDE},
        {"GetItem", "{'TableName':'Hash','Key':{'pk':{'S':'a'}},'ReturnConsumedCapacity':'NONE'}",
         NULL, "{'Item':{'n':{'N':'1.5'},'pk':{'S':'a'}}}", GUIDE},
        {"GetItem",
         "{'TableName':'arn:aws:dynamodb:us-east-1:000000000000:table/Hash','Key':{'pk':{'S':'zz'}}"
         ",'ReturnConsumedCapacity':'TOTAL'}",
         NULL,
         "{'ConsumedCapacity':{'TableName':'arn:aws:dynamodb:us-east-1:000000000000:table/Hash',"
         "'CapacityUnits':0.5}}",
         GUIDE},
        {"PutItem",
         "{'TableName':'Hash','Item':{'pk':{'S':'a'},'n':{'N':'2'}},'ReturnValues':'ALL_OLD'}",
         NULL, "{'Attributes':{'n':{'N':'1.5'},'pk':{'S':'a'}}}", GUIDE},
        {"PutItem", "{'TableName':'Hash','Item':{'pk':{'S':'new'}},'ReturnValues':'ALL_OLD'}", NULL,
         "{}", GUIDE},
        {"PutItem", "{'TableName':'Hash','Item':{'pk':{'S':'new'}},'ReturnValues':'NONE'}", NULL,
         "{}", GUIDE},
        {"PutItem",
         "{'TableName':'Hash','Item':{'pk':{'S':'a'}},'ConditionExpression':"
         "'attribute_not_exists(pk)'}",
         CCF, "The conditional request failed", PARITY},
        {"PutItem",
         "{'TableName':'Hash','Item':{'pk':{'S':'a'}},'ConditionExpression':'#n = :n',"
         "'ExpressionAttributeNames':{'#n':'n'},'ExpressionAttributeValues':{':n':{'N':'2'}}}",
         NULL, "{}", GUIDE},
        {"PutItem",
         "{'TableName':'Global','Item':{'pk':{'S':'a'},'g':{'S':'x'},'h':{'N':'1'}},"
         "'ReturnConsumedCapacity':'INDEXES'}",
         NULL,
         "{'ConsumedCapacity':{'TableName':'Global','CapacityUnits':3.0,'Table':{'CapacityUnits':"
         "1.0},'GlobalSecondaryIndexes':{'byG':{'CapacityUnits':1.0},'keys':{'CapacityUnits':1.0}}}"
         "}",
         GUIDE},
        {"PutItem",
         "{'TableName':'Local','Item':{'pk':{'S':'a'},'sk':{'S':'1'},'a':{'S':'x'}},"
         "'ReturnConsumedCapacity':'INDEXES','ReturnItemCollectionMetrics':'SIZE'}",
         NULL,
         "{'ConsumedCapacity':{'TableName':'Local','CapacityUnits':2.0,'Table':{'CapacityUnits':1.0"
         "},'LocalSecondaryIndexes':{'byA':{'CapacityUnits':1.0}}},'ItemCollectionMetrics':{"
         "'ItemCollectionKey':{'pk':{'S':'a'}},'SizeEstimateRangeGB':[0.0,1.0]}}",
         PARITY},
        {"PutItem",
         "{'TableName':'Hash','Item':{'pk':{'S':'a'}},'ReturnItemCollectionMetrics':'SIZE'}", NULL,
         "{}", PARITY},
        {"PutItem",
         "{'TableName':'Local','Item':{'pk':{'S':'a'},'sk':{'S':'1'}},"
         "'ReturnItemCollectionMetrics':'NONE'}",
         NULL, "{}", GUIDE},
        {"UpdateItem",
         "{'TableName':'Hash','Key':{'pk':{'S':'u'}},'UpdateExpression':'SET a = :a, b = :b',"
         "'ExpressionAttributeValues':{':a':{'N':'1'},':b':{'M':{'c':{'L':[{'S':'x'}]}}}}}",
         NULL, "{}", GUIDE},
        {"UpdateItem",
         "{'TableName':'Hash','Key':{'pk':{'S':'u'}},'UpdateExpression':'ADD a :a',"
         "'ExpressionAttributeValues':{':a':{'N':'1'}},'ReturnValues':'UPDATED_NEW'}",
         NULL, "{'Attributes':{'a':{'N':'2'}}}", GUIDE},
        {"UpdateItem",
         "{'TableName':'Hash','Key':{'pk':{'S':'u'}},'UpdateExpression':'ADD a :a',"
         "'ExpressionAttributeValues':{':a':{'N':'1'}},'ReturnValues':'UPDATED_OLD'}",
         NULL, "{'Attributes':{'a':{'N':'2'}}}", GUIDE},
        {"UpdateItem",
         "{'TableName':'Hash','Key':{'pk':{'S':'u'}},'UpdateExpression':'REMOVE b',"
         "'ReturnValues':'ALL_NEW'}",
         NULL, "{'Attributes':{'a':{'N':'3'},'pk':{'S':'u'}}}", GUIDE},
        {"UpdateItem",
         "{'TableName':'Hash','Key':{'pk':{'S':'u'}},'UpdateExpression':'REMOVE a',"
         "'ReturnValues':'ALL_OLD'}",
         NULL, "{'Attributes':{'a':{'N':'3'},'pk':{'S':'u'}}}", GUIDE},
        {"UpdateItem",
         "{'TableName':'Hash','Key':{'pk':{'S':'u'}},'UpdateExpression':'REMOVE a',"
         "'ReturnValues':'NONE'}",
         NULL, "{}", GUIDE},
        {"UpdateItem", "{'TableName':'Hash','Key':{'pk':{'S':'only'}},'ReturnValues':'ALL_NEW'}",
         NULL, "{'Attributes':{'pk':{'S':'only'}}}", GUIDE},
        {"UpdateItem",
         "{'TableName':'Hash','Key':{'pk':{'S':'u'}},'UpdateExpression':'SET z = :z',"
         "'ConditionExpression':'attribute_exists(zz)','ExpressionAttributeValues':{':z':{'N':'1'}}"
         ",'ReturnValuesOnConditionCheckFailure':'ALL_OLD'}",
         CCF, "The conditional request failed", PARITY},
        {"UpdateItem",
         "{'TableName':'Hash','Key':{'pk':{'S':'u'}},'UpdateExpression':'SET z = :z',"
         "'ExpressionAttributeValues':{':z':{'N':'1'}},'ReturnConsumedCapacity':'TOTAL'}",
         NULL, "{'ConsumedCapacity':{'TableName':'Hash','CapacityUnits':1.0}}", GUIDE},
        {"DeleteItem", "{'TableName':'Hash','Key':{'pk':{'S':'u'}},'ReturnValues':'ALL_OLD'}", NULL,
         "{'Attributes':{'pk':{'S':'u'},'z':{'N':'1'}}}", GUIDE},
        {"DeleteItem", "{'TableName':'Hash','Key':{'pk':{'S':'u'}},'ReturnValues':'ALL_OLD'}", NULL,
         "{}", GUIDE},
        {"DeleteItem",
         "{'TableName':'Hash','Key':{'pk':{'S':'u'}},'ConditionExpression':'attribute_exists(pk)'}",
         CCF, "The conditional request failed", PARITY},
        {"DeleteItem",
         "{'TableName':'Local','Key':{'pk':{'S':'a'},'sk':{'S':'1'}},'ReturnConsumedCapacity':"
         "'TOTAL','ReturnItemCollectionMetrics':'SIZE'}",
         NULL,
         "{'ConsumedCapacity':{'TableName':'Local','CapacityUnits':1.0},'ItemCollectionMetrics':{"
         "'ItemCollectionKey':{'pk':{'S':'a'}},'SizeEstimateRangeGB':[0.0,1.0]}}",
         GUIDE},
        {"PutItem", "{'TableName':'Binary','Item':{'pk':{'B':'AAEC'},'s':{'BS':['AA==','/w==']}}}",
         NULL, "{}", GUIDE},
        {"GetItem", "{'TableName':'Binary','Key':{'pk':{'B':'AAEC'}}}", NULL,
         "{'Item':{'pk':{'B':'AAEC'},'s':{'BS':['AA==','/w==']}}}", GUIDE},
        {"PutItem",
         "{'TableName':'Number','Item':{'pk':{'N':'1e2'},'b':{'BOOL':true},'z':{'NULL':true},"
         "'l':{'L':[{'S':''},{'NS':['3','1']}]},'m':{'M':{}},'e':{'S':''}}}",
         NULL, "{}", GUIDE},
        {"GetItem", "{'TableName':'Number','Key':{'pk':{'N':'100.0'}}}", NULL,
         "{'Item':{'b':{'BOOL':true},'e':{'S':''},'l':{'L':[{'S':''},{'NS':['1','3']}]},'m':{'M':{}"
         "},'pk':{'N':'100'},'z':{'NULL':true}}}",
         GUIDE},
    };
    WIRE_CHECK(*state, "item parameters", rows);
}

static void test_update_item__tells_the_item_that_refused_it(void **state)
{
    struct wire_test *w = *state;
    wire_send(w, "PutItem", "{'TableName':'Hash','Item':{'pk':{'S':'a'},'n':{'N':'1'}}}");
    wire_send(w, "DeleteItem",
              "{'TableName':'Hash','Key':{'pk':{'S':'a'}},'ConditionExpression':'n > :n',"
              "'ExpressionAttributeValues':{':n':{'N':'5'}},"
              "'ReturnValuesOnConditionCheckFailure':'ALL_OLD'}");
    assert_string_equal(w->body, "{\"__type\":\"com.amazonaws.dynamodb.v20120810#"
                                 "ConditionalCheckFailedException\",\"Item\":{\"n\":{\"N\":\"1\"},"
                                 "\"pk\":{\"S\":\"a\"}},\"message\":\"The conditional request "
                                 "failed\"}");
    wire_send(w, "DeleteItem",
              "{'TableName':'Hash','Key':{'pk':{'S':'a'}},'ConditionExpression':'n > :n',"
              "'ExpressionAttributeValues':{':n':{'N':'5'}},"
              "'ReturnValuesOnConditionCheckFailure':'NONE'}");
    assert_string_equal(w->body, "{\"__type\":\"com.amazonaws.dynamodb.v20120810#"
                                 "ConditionalCheckFailedException\",\"message\":\"The conditional "
                                 "request failed\"}");
}

/* ---- constraints ---- */

static void test_items__constraints_are_told_in_order(void **state)
{
    static const struct wire_row rows[] = {
        {"GetItem", "{}", V,
         "2 validation errors detected: " NULL_AT("tableName") "; " NULL_AT("key"), DYNALITE},
        {"GetItem", "{'TableName':'Hash'}", V, ONE NULL_AT("key"), DYNALITE},
        {"GetItem", "{'TableName':null,'Key':{}}", V, ONE NULL_AT("tableName"), DYNALITE},
        {"GetItem", "{'TableName':'','Key':{}}", V, NEW_EMPTY, UNVERIFIED},
        {"GetItem", "{'TableName':''}", V,
         "2 validation errors detected: " AT("", "tableName") SHORT("1") "; " NULL_AT("key"),
         UNVERIFIED},
        {"GetItem", "{'TableName':'ab','Key':{}}", V, ONE AT("ab", "tableName") SHORT("3"),
         DYNALITE},
        {"GetItem", "{'TableName':'abc','Key':{}}", RNF, NOT_FOUND, DYNALITE},
        {"GetItem", "{'TableName':'abc;','Key':{}}", V, ONE AT("abc;", "tableName") PATTERN,
         DYNALITE},
        {"GetItem", "{'TableName':'a;','Key':{}}", V,
         "2 validation errors detected: " AT("a;", "tableName") PATTERN "; " AT("a;", "tableName")
             SHORT("3"),
         DYNALITE},
        {"GetItem", "{'TableName':'abc;','ReturnConsumedCapacity':'hi'}", V,
         "3 validation errors detected: " AT("hi", "returnConsumedCapacity")
             ENUM(CAPACITIES) "; " AT("abc;", "tableName") PATTERN "; " NULL_AT("key"),
         DYNALITE},
        {"GetItem", "{'TableName':'Hash','Key':{},'ReturnConsumedCapacity':''}", V,
         ONE AT("", "returnConsumedCapacity") ENUM(CAPACITIES), MODEL},
        {"GetItem", "{'TableName':'Hash','Key':{},'ReturnConsumedCapacity':'total'}", V,
         ONE AT("total", "returnConsumedCapacity") ENUM(CAPACITIES), MODEL},
        {"PutItem", "{}", V,
         "2 validation errors detected: " NULL_AT("tableName") "; " NULL_AT("item"), DYNALITE},
        {"PutItem", "{'Item':{'pk':{'S':'a'}}}", V, ONE NULL_AT("tableName"), PARITY},
        {"PutItem", "{'TableName':'','Item':{'pk':{'S':'a'}}}", V, NEW_EMPTY, PARITY},
        {"PutItem", "{'TableName':'','Item':{'pk':{'S':'a'}},'ReturnValues':'INVALID'}", V,
         NEW_EMPTY, PARITY},
        {"PutItem", "{'TableName':'bad table!@#','Item':{'pk':{'S':'a'}}}", V,
         ONE AT("bad table!@#", "tableName") PATTERN, PARITY},
        {"PutItem", "{'TableName':'ab','Item':{'pk':{'S':'a'}}}", V,
         ONE AT("ab", "tableName") SHORT("3"), DYNALITE},
        {"PutItem", "{'TableName':'Hash','Item':{'pk':{'S':'a'}},'ReturnValues':'hi'}", V,
         NEW_RETURNS, MODEL},
        {"PutItem",
         "{'TableName':'Hash','Item':{'pk':{'S':'a'}},'ReturnItemCollectionMetrics':'x'}", V,
         ONE AT("x", "returnItemCollectionMetrics") ENUM("[SIZE, NONE]"), DYNALITE},
        {"PutItem",
         "{'TableName':'Hash','Item':{'pk':{'S':'a'}},'ReturnValuesOnConditionCheckFailure':"
         "'ALL_NEW'}",
         V, ONE AT("ALL_NEW", "returnValuesOnConditionCheckFailure") ENUM("[ALL_OLD, NONE]"),
         MODEL},
        {"PutItem", "{'TableName':'Hash','Item':{'pk':{'S':'a'}},'ReturnValues':'ALL_NEW'}", V,
         ONE "ReturnValues can only be ALL_OLD or NONE", PARITY},
        {"PutItem", "{'TableName':'Hash','Item':{'pk':{'S':'a'}},'ReturnValues':'UPDATED_OLD'}", V,
         ONE "ReturnValues can only be ALL_OLD or NONE", PARITY},
        {"UpdateItem",
         "{'TableName':'','UpdateExpression':'SET a = :a',"
         "'ExpressionAttributeValues':{':a':{'S':'x'}}}",
         V, "2 validation errors detected: " AT("", "tableName") SHORT("1") "; " NULL_AT("key"),
         PARITY},
        {"UpdateItem",
         "{'TableName':'','UpdateExpression':'SET a = :a','ExpressionAttributeValues':{':a':{'S':"
         "'x'}},'ReturnConsumedCapacity':'INVALID','ReturnValues':'INVALID'}",
         V,
         "4 validation errors detected: " AT("INVALID", "returnConsumedCapacity")
             ENUM(CAPACITIES) "; " AT("", "tableName") SHORT("1") "; " AT("INVALID", "returnValues")
                 ENUM(RETURNS) "; " NULL_AT("key"),
         PARITY},
        {"UpdateItem", "{'TableName':'','Key':{}}", V, NEW_EMPTY, PARITY},
        {"UpdateItem",
         "{'TableName':'Nope','Key':{'pk':{'S':'a'}},'ReturnValues':'INVALID',"
         "'ReturnConsumedCapacity':'INVALID'}",
         V, NEW_RETURNS, PARITY},
        {"UpdateItem", "{'TableName':'Hash','Key':{'pk':{'S':'a'}},'ReturnConsumedCapacity':'X'}",
         V, ONE AT("X", "returnConsumedCapacity") ENUM(CAPACITIES), DYNALITE},
        {"UpdateItem", "{'TableName':'Hash'}", V, ONE NULL_AT("key"), DYNALITE},
        {"UpdateItem", "{'Key':{}}", V, ONE NULL_AT("tableName"), DYNALITE},
        {"DeleteItem", "{}", V,
         "2 validation errors detected: " NULL_AT("tableName") "; " NULL_AT("key"), DYNALITE},
        {"DeleteItem", "{'TableName':'','Key':{}}", V, NEW_EMPTY, UNVERIFIED},
        {"DeleteItem", "{'TableName':'Hash','Key':{'pk':{'S':'a'}},'ReturnValues':'BOGUS'}", V,
         NEW_RETURNS, PARITY},
        {"DeleteItem", "{'TableName':'Hash','Key':{'pk':{'S':'a'}},'ReturnValues':'ALL_NEW'}", V,
         ONE "ReturnValues can only be ALL_OLD or NONE", PARITY},
        {"DeleteItem", "{'TableName':'Hash','Key':{'pk':{'S':'a'}},'ReturnValues':'UPDATED_NEW'}",
         V, ONE "ReturnValues can only be ALL_OLD or NONE", PARITY},
        {"DeleteItem", "{'TableName':'Hash','ReturnItemCollectionMetrics':'x','ReturnValues':'y'}",
         V,
         "3 validation errors detected: " AT("y", "returnValues") ENUM(RETURNS) "; " AT(
             "x", "returnItemCollectionMetrics") ENUM("[SIZE, NONE]") "; " NULL_AT("key"),
         DYNALITE},
    };
    WIRE_CHECK(*state, "item constraints", rows);
}

static void test_items__names_of_tables_have_bounds(void **state)
{
    struct wire_test *w = *state;
    static const struct {
        const char *operation, *request;
    } all[] = {
        {"GetItem", "{'TableName':'{}','Key':{'pk':{'S':'a'}}}"},
        {"PutItem", "{'TableName':'{}','Item':{'pk':{'S':'a'}}}"},
        {"UpdateItem", "{'TableName':'{}','Key':{'pk':{'S':'a'}}}"},
        {"DeleteItem", "{'TableName':'{}','Key':{'pk':{'S':'a'}}}"},
        {"Scan", "{'TableName':'{}'}"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const char *op = all[i].operation, *q = all[i].request;
        const char *arn = wire_fill(w, q, "arn:aws:dynamodb:us-east-1:000000000000:table/{}");
        const struct wire_row rows[] = {
            {op, wire_repeat(w, q, 'a', 3), RNF, NOT_FOUND, DYNALITE},
            {op, wire_repeat(w, q, 'a', 255), RNF, NOT_FOUND, DYNALITE},
            {op, wire_repeat(w, q, 'a', 256), V,
             wire_repeat(w, ONE AT("{}", "tableName") LONG("255"), 'a', 256), PARITY},
            {op, wire_repeat(w, arn, 'a', 1024 - 46), RNF, NOT_FOUND, MODEL},
            {op, wire_repeat(w, arn, 'a', 1024 - 45), V,
             wire_repeat(w,
                         ONE AT("arn:aws:dynamodb:us-east-1:000000000000:table/{}", "tableName")
                             LONG("1024"),
                         'a', 1024 - 45),
             MODEL},
        };
        WIRE_CHECK(w, op, rows);
    }
}

/* ---- parameters that do not go together ---- */

static void test_items__parameters_are_checked_together(void **state)
{
    static const struct wire_row rows[] = {
        {"GetItem",
         "{'TableName':'abc','Key':{'a':{}},'AttributesToGet':['a'],'ExpressionAttributeNames':{},"
         "'ProjectionExpression':''}",
         V, BOTH "{AttributesToGet} Expression parameters: {ProjectionExpression}", DYNALITE},
        {"GetItem",
         "{'TableName':'abc','Key':{'a':{}},'AttributesToGet':['a'],'ExpressionAttributeNames':{}}",
         V, "ExpressionAttributeNames can only be specified when using expressions", DYNALITE},
        {"GetItem", "{'TableName':'abc','Key':{'pk':{'S':'a'}},'AttributesToGet':['a']}", V,
         LEGACY_("AttributesToGet"), OURS},
        {"GetItem", "{'TableName':'abc','Key':{},'ExpressionAttributeNames':{'#a':'a'}}", V,
         "ExpressionAttributeNames can only be specified when using expressions", DYNALITE},
        {"GetItem",
         "{'TableName':'abc','Key':{},'ExpressionAttributeNames':{},'ProjectionExpression':''}", V,
         "ExpressionAttributeNames must not be empty", DYNALITE},
        {"GetItem",
         "{'TableName':'abc','Key':{},'ExpressionAttributeNames':{'a':'a'},"
         "'ProjectionExpression':''}",
         V, "ExpressionAttributeNames contains invalid key: Syntax error; key: \"a\"", DYNALITE},
        {"GetItem", "{'TableName':'abc','Key':{},'ProjectionExpression':''}", V,
         "Invalid ProjectionExpression: The expression can not be empty;", DYNALITE},
        {"GetItem", "{'TableName':'abc','Key':{},'ProjectionExpression':'a,b,a,#a'}", V,
         "Invalid ProjectionExpression: An expression attribute name used in the document path is "
         "not defined; attribute name: #a",
         DYNALITE},
        {"GetItem",
         "{'TableName':'abc','Key':{},'ProjectionExpression':'a',"
         "'ExpressionAttributeNames':{'#a':'a','#b':'b'}}",
         V, "Value provided in ExpressionAttributeNames unused in expressions: keys: {#a, #b}",
         DYNALITE},
        {"PutItem",
         "{'TableName':'Hash','Item':{'pk':{'S':'a'}},'Expected':{'pk':{'Exists':false}},"
         "'ConditionExpression':'attribute_not_exists(pk)'}",
         V, ONE BOTH "{Expected} Expression parameters: {ConditionExpression}", PARITY},
        {"PutItem", "{'TableName':'Hash','Item':{'pk':{'S':'a'}},'Expected':{}}", V,
         ONE LEGACY_("Expected"), OURS},
        {"PutItem", "{'TableName':'Hash','Item':{'pk':{'S':'a'}},'ConditionalOperator':'AND'}", V,
         ONE "ConditionalOperator cannot be used without Filter or Expected", DYNALITE},
        {"PutItem",
         "{'TableName':'Hash','Item':{'pk':{'S':'a'}},'ExpressionAttributeValues':{':v':{'S':'x'}}"
         "}",
         V, ONE "ExpressionAttributeValues can only be specified when using expressions", PARITY},
        {"PutItem",
         "{'TableName':'Hash','Item':{'pk':{'S':'a'}},'ExpressionAttributeNames':{'#a':'a'}}", V,
         ONE "ExpressionAttributeNames can only be specified when using expressions", PARITY},
        {"PutItem", "{'TableName':'Hash','Item':{'pk':{'S':'a'}},'ConditionExpression':''}", V,
         ONE "Invalid ConditionExpression: The expression can not be empty;", PARITY},
        {"PutItem",
         "{'TableName':'Hash','Item':{'pk':{'S':'a'}},"
         "'ConditionExpression':'((attribute_not_exists(pk)))'}",
         V, ONE "Invalid ConditionExpression: The expression has redundant parentheses;", PARITY},
        {"PutItem",
         "{'TableName':'Hash','Item':{'pk':{'S':'a'}},'ConditionExpression':'contains(#a, #a)',"
         "'ExpressionAttributeNames':{'#a':'data'}}",
         V,
         ONE "Invalid ConditionExpression: The first operand must be distinct from the remaining "
             "operands for this operator or function; operator: contains, first operand: [data]",
         PARITY},
        {"UpdateItem",
         "{'TableName':'Hash','Key':{'pk':{'S':'a'}},'UpdateExpression':'SET attr1 = :v',"
         "'ExpressionAttributeValues':{':v':{'S':'val'}},'AttributeUpdates':{}}",
         V, ONE BOTH "{AttributeUpdates} Expression parameters: {UpdateExpression}", PARITY},
        {"UpdateItem",
         "{'TableName':'Hash','Key':{'pk':{'S':'a'}},'UpdateExpression':'SET a = :v',"
         "'ConditionExpression':'a = :v','AttributeUpdates':{},'Expected':{}}",
         V,
         ONE BOTH "{AttributeUpdates, Expected} Expression parameters: {UpdateExpression, "
                  "ConditionExpression}",
         DYNALITE},
        {"UpdateItem", "{'TableName':'Hash','Key':{'pk':{'S':'a'}},'AttributeUpdates':{}}", V,
         ONE LEGACY_("AttributeUpdates"), OURS},
        {"UpdateItem",
         "{'TableName':'Hash','Key':{'pk':{'S':'a'}},'UpdateExpression':'INVALID SYNTAX HERE'}", V,
         ONE "Invalid UpdateExpression: Syntax error; token: \"INVALID\", near: \"INVALID SYNTAX\"",
         PARITY},
        {"UpdateItem",
         "{'TableName':'Hash','Key':{'pk':{'S':'a'}},'UpdateExpression':'SET attr1 = :v',"
         "'ExpressionAttributeValues':{':v':{'S':'val'}},"
         "'ExpressionAttributeNames':{'#unused':'x'}}",
         V, ONE "Value provided in ExpressionAttributeNames unused in expressions: keys: {#unused}",
         PARITY},
        {"UpdateItem",
         "{'TableName':'Hash','Key':{'pk':{'S':'a'}},'UpdateExpression':'SET attr1 = :v',"
         "'ExpressionAttributeValues':{':v':{'S':'val'},':unused':{'S':'x'}}}",
         V,
         ONE "Value provided in ExpressionAttributeValues unused in expressions: keys: {:unused}",
         PARITY},
        {"UpdateItem",
         "{'TableName':'Hash','Key':{'pk':{'S':'a'}},'UpdateExpression':'SET attr1 = :v'}", V,
         ONE "Invalid UpdateExpression: An expression attribute value used in expression is not "
             "defined; attribute value: :v",
         PARITY},
        {"UpdateItem",
         "{'TableName':'Hash','Key':{'pk':{'S':'a'}},'UpdateExpression':'SET b = :w',"
         "'ConditionExpression':'a = :v','ExpressionAttributeValues':{':w':{'S':'x'}}}",
         V,
         ONE "Invalid ConditionExpression: An expression attribute value used in expression is not "
             "defined; attribute value: :v",
         PARITY},
        {"UpdateItem", "{'TableName':'Hash','Key':{'pk':{'S':'a'}},'UpdateExpression':''}", V,
         ONE "Invalid UpdateExpression: The expression can not be empty;", PARITY},
        {"DeleteItem",
         "{'TableName':'Hash','Key':{'pk':{'S':'a'}},'Expected':{},"
         "'ConditionExpression':'attribute_not_exists(pk)'}",
         V, ONE BOTH "{Expected} Expression parameters: {ConditionExpression}", PARITY},
        {"DeleteItem",
         "{'TableName':'Hash','Key':{'pk':{'S':'a'}},'Expected':{'a':{'Exists':false}},"
         "'ExpressionAttributeNames':{'#a':'a'}}",
         V, ONE "ExpressionAttributeNames can only be specified when using expressions", PARITY},
        {"DeleteItem", "{'TableName':'Hash','Key':{'pk':{'S':'a'}},'Expected':{}}", V,
         ONE LEGACY_("Expected"), OURS},
        {"DeleteItem",
         "{'TableName':'Hash','Key':{'pk':{'S':'a'}},'ExpressionAttributeValues':{':v':{'S':'x'}}}",
         V, ONE "ExpressionAttributeValues can only be specified when using expressions", PARITY},
        {"DeleteItem",
         "{'TableName':'Hash','Key':{'pk':{'S':'a'}},'ExpressionAttributeNames':{'#a':'a'}}", V,
         ONE "ExpressionAttributeNames can only be specified when using expressions", PARITY},
        {"DeleteItem",
         "{'TableName':'Hash','Key':{'pk':{'S':'a'}},'ConditionExpression':'attribute_exists(a)',"
         "'ExpressionAttributeValues':{}}",
         V, ONE "ExpressionAttributeValues must not be empty", PARITY},
        {"DeleteItem",
         "{'TableName':'Hash','Key':{'pk':{'S':'a'}},'ConditionExpression':'attribute_exists(a)',"
         "'ExpressionAttributeNames':{}}",
         V, ONE "ExpressionAttributeNames must not be empty", PARITY},
        {"DeleteItem", "{'TableName':'Hash','Key':{'pk':{'S':'a'}},'ConditionExpression':''}", V,
         ONE "Invalid ConditionExpression: The expression can not be empty;", PARITY},
    };
    WIRE_CHECK(*state, "item parameters together", rows);
}

/* ---- tables and keys ---- */

static void test_items__tables_and_keys_come_last_and_bare(void **state)
{
    static const char empty_s[] = "One or more parameter values are not valid. The AttributeValue "
                                  "for a key attribute cannot contain an empty string value. Key: "
                                  "pk";
    static const char empty_b[] = "One or more parameter values are not valid. The AttributeValue "
                                  "for a key attribute cannot contain an empty binary value. Key: "
                                  "pk";
    static const char schema[] = "The provided key element does not match the schema";
    const struct wire_row rows[] = {
        {"GetItem", "{'TableName':'Nope','Key':{}}", RNF, NOT_FOUND, DYNALITE},
        {"PutItem", "{'TableName':'Nope','Item':{}}", RNF, NOT_FOUND, DYNALITE},
        {"UpdateItem", "{'TableName':'Nope','Key':{}}", RNF, NOT_FOUND, DYNALITE},
        {"DeleteItem", "{'TableName':'Nope','Key':{'pk':{'S':'test'}}}", RNF, NOT_FOUND, PARITY},
        {"GetItem", "{'TableName':'Hash','Key':{}}", V, schema, DYNALITE},
        {"GetItem", "{'TableName':'Hash','Key':{'b':{'S':'a'}}}", V, schema, DYNALITE},
        {"GetItem", "{'TableName':'Hash','Key':{'pk':{'S':'a'},'b':{'S':'a'}}}", V, schema,
         DYNALITE},
        {"GetItem", "{'TableName':'Hash','Key':{'pk':{'N':'1'}}}", V, schema, DYNALITE},
        {"GetItem", "{'TableName':'Hash','Key':{'pk':{'BOOL':true}}}", V, schema, DYNALITE},
        {"GetItem", "{'TableName':'Hash','Key':{'pk':{'M':{}}}}", V, schema, DYNALITE},
        {"GetItem", "{'TableName':'Range','Key':{'pk':{'S':'a'}}}", V, schema, DYNALITE},
        {"DeleteItem", "{'TableName':'Range','Key':{'pk':{'S':'test'}}}", V, schema, PARITY},
        {"DeleteItem", "{'TableName':'Binary','Key':{'pk':{'B':''}}}", V, empty_b, PARITY},
        {"PutItem", "{'TableName':'Binary','Item':{'pk':{'B':''}}}", V, empty_b, PARITY},
        {"PutItem", "{'TableName':'Hash','Item':{'pk':{'S':''}}}", V, empty_s, PARITY},
        {"UpdateItem",
         "{'TableName':'Binary','Key':{'pk':{'B':''}},'UpdateExpression':'SET attr1 = :v',"
         "'ExpressionAttributeValues':{':v':{'S':'x'}}}",
         V, empty_b, PARITY},
        {"PutItem", "{'TableName':'Hash','Item':{'a':{'S':'x'}}}", V,
         INVALID "Missing the key pk in the item", DYNALITE},
        {"PutItem", "{'TableName':'Hash','Item':{'pk':{'N':'1'}}}", V,
         INVALID "Type mismatch for key pk expected: S actual: N", DYNALITE},
        {"PutItem", "{'TableName':'Global','Item':{'pk':{'S':'1'},'g':{'N':'1'}}}", V,
         INVALID "Type mismatch for Index Key g Expected: S Actual: N IndexName: byG", DYNALITE},
        {"UpdateItem",
         "{'TableName':'Hash','Key':{'pk':{'S':'a'}},'UpdateExpression':'SET pk = :v',"
         "'ExpressionAttributeValues':{':v':{'S':'new-val'}}}",
         V, INVALID "Cannot update attribute pk. This attribute is part of the key", PARITY},
        {"UpdateItem",
         "{'TableName':'Range','Key':{'pk':{'S':'a'},'sk':{'S':'b'}},'UpdateExpression':"
         "'SET sk = :v','ExpressionAttributeValues':{':v':{'S':'new-sk'}}}",
         V, INVALID "Cannot update attribute sk. This attribute is part of the key", PARITY},
        {"UpdateItem",
         "{'TableName':'Hash','Key':{'pk':{'S':'none'}},'UpdateExpression':'SET a = b'}", V,
         "The provided expression refers to an attribute that does not exist in the item", PARITY},
    };
    WIRE_CHECK(*state, "tables and keys", rows);
}

static void test_put_item__keys_have_a_size(void **state)
{
    struct wire_test *w = *state;
    static const char hash[] = "{'TableName':'Hash','Item':{'pk':{'S':'{}'}}}";
    static const char range[] = "{'TableName':'Range','Item':{'pk':{'S':'a'},'sk':{'S':'{}'}}}";
    const struct wire_row rows[] = {
        {"PutItem", wire_repeat(w, hash, 'a', 2048), NULL, "{}", DYNALITE},
        {"PutItem", wire_repeat(w, hash, 'a', 2049), V,
         INVALID "Size of hashkey has exceeded the maximum size limit of2048 bytes", DYNALITE},
        {"PutItem", wire_repeat(w, range, 'a', 1024), NULL, "{}", DYNALITE},
        {"PutItem", wire_repeat(w, range, 'a', 1025), V,
         INVALID "Aggregated size of all range keys has exceeded the size limit of 1024 bytes",
         DYNALITE},
        {"PutItem",
         wire_repeat(w, "{'TableName':'Hash','Item':{'pk':{'S':'a'},'b':{'S':'{}'}}}", 'a',
                     409600 - 4),
         NULL, "{}", DYNALITE},
        {"PutItem",
         wire_repeat(w, "{'TableName':'Hash','Item':{'pk':{'S':'a'},'b':{'S':'{}'}}}", 'a',
                     409600 - 3),
         V, ONE "Item size has exceeded the maximum allowed size", UNVERIFIED},
        {"PutItem",
         wire_repeat(w,
                     "{'TableName':'Hash','Item':{'pk':{'S':'a'}},'ConditionExpression':"
                     "'a = :v','ExpressionAttributeValues':{':v':{'S':'{}'}}}",
                     'a', 100),
         CCF, "The conditional request failed", GUIDE},
    };
    WIRE_CHECK(w, "sizes", rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_items__parameters_do_what_they_say, wire_setup,
                                        wire_teardown),
        cmocka_unit_test_setup_teardown(test_update_item__tells_the_item_that_refused_it,
                                        wire_setup, wire_teardown),
        cmocka_unit_test_setup_teardown(test_items__constraints_are_told_in_order, wire_setup,
                                        wire_teardown),
        cmocka_unit_test_setup_teardown(test_items__names_of_tables_have_bounds, wire_setup,
                                        wire_teardown),
        cmocka_unit_test_setup_teardown(test_items__parameters_are_checked_together, wire_setup,
                                        wire_teardown),
        cmocka_unit_test_setup_teardown(test_items__tables_and_keys_come_last_and_bare, wire_setup,
                                        wire_teardown),
        cmocka_unit_test_setup_teardown(test_put_item__keys_have_a_size, wire_setup, wire_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
