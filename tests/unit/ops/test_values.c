/* Bad attribute values, in every place of every operation that takes one: what is said, in whose
 * words, and whether "1 validation error detected: " stands before it. */
#include "support/wire.h"

#define NOT_NUMERIC "The parameter cannot be converted to a numeric value"
#define OVERFLOW_                                                                                  \
    "Number overflow. Attempting to store a number with magnitude larger than supported range"
#define UNDERFLOW_                                                                                 \
    "Number underflow. Attempting to store a number with magnitude smaller than supported range"
#define DIGITS "Attempting to store more than 38 significant digits in a Number"
#define EMPTY                                                                                      \
    "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
#define MANY                                                                                       \
    "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the "    \
    "supported datatypes"

static const struct {
    const char *value, *older, *newer; /* newer NULL: the same */
    const char *source;
} values[] = {
    {"{'N':''}", NOT_NUMERIC, NOT_NUMERIC ": ", PARITY},
    {"{'N':'abc'}", NOT_NUMERIC ": abc", NULL, PARITY},
    {"{'N':'1.2.3'}", NOT_NUMERIC ": 1.2.3", NULL, PARITY},
    {"{'N':' 1'}", NOT_NUMERIC ":  1", NULL, PARITY},
    {"{'N':'0x10'}", NOT_NUMERIC ": 0x10", NULL, PARITY},
    {"{'N':'NaN'}", NOT_NUMERIC ": NaN", NULL, PARITY},
    {"{'N':'1e126'}", OVERFLOW_, NULL, PARITY},
    {"{'N':'-1e126'}", OVERFLOW_, NULL, DYNALITE},
    {"{'N':'1e-131'}", UNDERFLOW_, NULL, PARITY},
    {"{'N':'123456789012345678901234567890123456789'}", DIGITS, NULL, DYNALITE},
    {"{'NS':['1','b']}", NOT_NUMERIC ": b", NULL, DYNALITE},
    {"{'NS':['2','1','2']}", "Input collection contains duplicates",
     INVALID "Input collection contains duplicates.", PARITY},
    {"{'SS':[]}", INVALID "An string set  may not be empty", NULL, PARITY},
    {"{'NS':[]}", INVALID "An number set  may not be empty", NULL, PARITY},
    {"{'BS':[]}", INVALID "Binary sets should not be empty", NULL, PARITY},
    {"{'NULL':false}", INVALID "Null attribute value types must have the value of true", NULL,
     PARITY},
    {"{}", EMPTY, NULL, DYNALITE},
    {"{'a':''}", EMPTY, NULL, DYNALITE},
    {"{'M':{'a':{}}}", EMPTY, NULL, DYNALITE},
    {"{'L':[{}]}", EMPTY, NULL, DYNALITE},
    {"{'S':'a','N':'1'}", MANY, NULL, DYNALITE},
};

enum words { OLDER, NEWER, ENVELOPED, STARTING, WRAPPED };
static const struct {
    const char *operation, *request;
    enum words words;
} places[] = {
    {"PutItem", "{'TableName':'abc','Item':{'a':{}}}", ENVELOPED},
    {"PutItem",
     "{'TableName':'abc','Item':{'a':{'S':'a'}},'ConditionExpression':'a = :v',"
     "'ExpressionAttributeValues':{':v':{}}}",
     ENVELOPED},
    {"UpdateItem", "{'TableName':'abc','Key':{'a':{}}}", ENVELOPED},
    {"UpdateItem",
     "{'TableName':'abc','Key':{'a':{'S':'a'}},'UpdateExpression':'SET a = :v',"
     "'ExpressionAttributeValues':{':v':{}}}",
     ENVELOPED},
    {"DeleteItem", "{'TableName':'abc','Key':{'a':{}}}", ENVELOPED},
    {"DeleteItem",
     "{'TableName':'abc','Key':{'a':{'S':'a'}},'ConditionExpression':'a = :v',"
     "'ExpressionAttributeValues':{':v':{}}}",
     ENVELOPED},
    {"GetItem", "{'TableName':'abc','Key':{'a':{}}}", NEWER},
    {"BatchGetItem", "{'RequestItems':{'abc':{'Keys':[{'a':{}}]}}}", NEWER},
    {"Query",
     "{'TableName':'abc','KeyConditionExpression':'a = :v','ExpressionAttributeValues':{':v':{}}}",
     NEWER},
    {"Query",
     "{'TableName':'abc','KeyConditionExpression':'a = :v','ExpressionAttributeValues':{':v':{'S':"
     "'a'}},'ExclusiveStartKey':{'a':{}}}",
     NEWER},
    {"Scan", "{'TableName':'abc','ExclusiveStartKey':{'a':{}}}", STARTING},
    {"Scan",
     "{'TableName':'abc','FilterExpression':'a = :v','ExpressionAttributeValues':{':v':{}}}",
     WRAPPED},
    {"BatchWriteItem", "{'RequestItems':{'abc':[{'PutRequest':{'Item':{'a':{}}}}]}}", OLDER},
    {"BatchWriteItem", "{'RequestItems':{'abc':[{'DeleteRequest':{'Key':{'a':{}}}}]}}", OLDER},
    {"TransactWriteItems", "{'TransactItems':[{'Put':{'TableName':'abc','Item':{'a':{}}}}]}",
     OLDER},
    {"TransactWriteItems", "{'TransactItems':[{'Delete':{'TableName':'abc','Key':{'a':{}}}}]}",
     OLDER},
    {"TransactGetItems", "{'TransactItems':[{'Get':{'TableName':'abc','Key':{'a':{}}}}]}", OLDER},
};

static const char *expected(struct wire_test *w, enum words words, size_t v)
{
    const char *older = values[v].older;
    const char *newer = values[v].newer ? values[v].newer : older;
    switch (words) {
    case OLDER:
        return older;
    case NEWER:
        return newer;
    case ENVELOPED:
        return wire_fill(w, ONE "{}", newer);
    case STARTING:
        return wire_fill(w, "The provided starting key is invalid: {}", older);
    case WRAPPED:
        return wire_fill(w, "ExpressionAttributeValues contains invalid value: {} for key :v",
                         older);
    }
    return NULL;
}

static void test_values__are_refused_in_every_place(void **state)
{
    struct wire_test *w = *state;
    for (size_t p = 0; p < sizeof places / sizeof *places; p++)
        for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
            const struct wire_row row = {places[p].operation,
                                         wire_fill(w, places[p].request, values[v].value), V,
                                         expected(w, places[p].words, v), values[v].source};
            wire_check(w, &row);
        }
    printf("values in places: %d rows\n", (int)w->rows);
}

/* What cannot be read at all is no fault of a value. */
static void test_values__of_the_wrong_kind_are_not_read(void **state)
{
    static const struct wire_row rows[] = {
        {"PutItem", "{'TableName':'abc','Item':{'a':{'S':1}}}", S,
         "NUMBER_VALUE cannot be converted to String", DYNALITE},
        {"PutItem", "{'TableName':'abc','Item':{'a':{'S':true}}}", S,
         "TRUE_VALUE cannot be converted to String", DYNALITE},
        {"PutItem", "{'TableName':'abc','Item':{'a':{'BOOL':1}}}", S,
         "NUMBER_VALUE cannot be converted to Boolean", DYNALITE},
        {"PutItem", "{'TableName':'abc','Item':{'a':{'L':{}}}}", S,
         "Start of structure or map found where not expected", DYNALITE},
        {"PutItem", "{'TableName':'abc','Item':[]}", S,
         "Unrecognized collection type java.util.Map<java.lang.String, "
         "com.amazonaws.dynamodb.v20120810.AttributeValue>",
         DYNALITE},
        {"PutItem", "{'TableName':'abc','Item':1}", S, "Unexpected field type", DYNALITE},
        {"PutItem", "{'TableName':1}", S, "NUMBER_VALUE cannot be converted to String", DYNALITE},
        {"PutItem", "{'TableName':{}}", S, "Start of structure or map found where not expected",
         DYNALITE},
        {"PutItem", "{'TableName':[]}", S, "Unrecognized collection type class java.lang.String",
         DYNALITE},
        {"Query", "{'TableName':'abc','Limit':'1'}", S,
         "STRING_VALUE cannot be converted to Integer", DYNALITE},
        {"Query", "{'TableName':'abc','Limit':false}", S,
         "FALSE_VALUE cannot be converted to Integer", DYNALITE},
        {"Query", "{'TableName':'abc','ConsistentRead':1}", S,
         "NUMBER_VALUE cannot be converted to Boolean", DYNALITE},
        {"Query", "{'TableName':'abc','ConsistentRead':'maybe'}", S,
         "Unexpected token received from parser", DYNALITE},
        {"Query", "{'TableName':'abc','ExpressionAttributeNames':{'#a':1}}", S,
         "NUMBER_VALUE cannot be converted to String", DYNALITE},
        {"Query", "{'TableName':'abc','ExpressionAttributeNames':[]}", S,
         "Unrecognized collection type java.util.Map<java.lang.String, java.lang.String>",
         DYNALITE},
        {"BatchGetItem", "{'RequestItems':[]}", S,
         "Unrecognized collection type java.util.Map<java.lang.String, "
         "com.amazonaws.dynamodb.v20120810.KeysAndAttributes>",
         DYNALITE},
        {"BatchGetItem", "{'RequestItems':{'abc':[]}}", S,
         "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.KeysAndAttributes",
         DYNALITE},
        {"BatchGetItem", "{'RequestItems':{'abc':{'Keys':'a'}}}", S, "Unexpected field type",
         DYNALITE},
        {"BatchGetItem", "{'RequestItems':{'abc':{'Keys':{}}}}", S,
         "Start of structure or map found where not expected", DYNALITE},
        {"BatchWriteItem", "{'RequestItems':[]}", S,
         "Unrecognized collection type java.util.Map<java.lang.String, "
         "java.util.List<com.amazonaws.dynamodb.v20120810.WriteRequest>>",
         DYNALITE},
        {"BatchWriteItem", "{'RequestItems':{'abc':[1]}}", S, "Unexpected value type in payload",
         DYNALITE},
        {"BatchWriteItem", "{'RequestItems':{'abc':[{'PutRequest':[]}]}}", S,
         "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.PutRequest",
         DYNALITE},
        {"TransactWriteItems", "{'TransactItems':{}}", S,
         "Start of structure or map found where not expected", MODEL},
        {"TransactWriteItems", "{'TransactItems':[{'Put':1}]}", S, "Unexpected field type", MODEL},
        {"GetItem", "{", S, "", DYNALITE},
        {"GetItem", "hi", S, "", DYNALITE},
        {"GetItem", "", S, "", UNVERIFIED},
        {"GetItem", "[]", S, "", UNVERIFIED},
        {"GetItem", "{'TableName':'abc'} x", S, "", UNVERIFIED},
        {"GetItem", "{'TableName':'abc','TableName':'abc'}", S,
         "A name occurs twice in one object: TableName", OURS},
    };
    WIRE_CHECK(*state, "wrong kinds", rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_values__are_refused_in_every_place, wire_setup,
                                        wire_teardown),
        cmocka_unit_test_setup_teardown(test_values__of_the_wrong_kind_are_not_read, wire_setup,
                                        wire_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
