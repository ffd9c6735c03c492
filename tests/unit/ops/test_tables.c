/* The operations on tables, tags, time to live and streams: what each refusal says, and in which
 * order rules are judged. What they do when they succeed is told by tests/wire. */
#include "support/wire.h"

/* Others who asked the service and wrote down what it said. */
#define QUIRKS "ack-api-quirks, run on AWS in October 2026"
#define ALTERNATOR "ScyllaDB Alternator's tests, run on AWS"

#define ARN "arn:aws:dynamodb:us-east-1:000000000000:table/"
#define KEY(name, kind) "{'AttributeName':'" name "','KeyType':'" kind "'}"
#define DEF(name, type) "{'AttributeName':'" name "','AttributeType':'" type "'}"
#define KEYS "'KeySchema':[" KEY("a", "HASH") "]"
#define DEFS "'AttributeDefinitions':[" DEF("a", "S") "]"
#define KEYS_2 "'KeySchema':[" KEY("a", "HASH") "," KEY("b", "RANGE") "]"
#define DEFS_2 "'AttributeDefinitions':[" DEF("a", "S") "," DEF("b", "S") "]"
#define UNITS(r, w) "{'ReadCapacityUnits':" r ",'WriteCapacityUnits':" w "}"
#define PAID "'ProvisionedThroughput':" UNITS("1", "1")
#define ON_DEMAND "'BillingMode':'PAY_PER_REQUEST'"
#define NEW(rest) "{'TableName':'New'," rest "}"
/* A table of one key, on demand, and something more. */
#define SIMPLE(rest) NEW(DEFS "," KEYS "," ON_DEMAND "," rest)
/* A table with keys a and b, provisioned, and an index. */
#define LOCAL(keys, projection)                                                                    \
    NEW(DEFS_2 "," KEYS_2 "," PAID                                                                 \
               ",'LocalSecondaryIndexes':[{'IndexName':'abc','KeySchema':[" keys                   \
               "],'Projection':" projection "}]")
#define GLOBAL(keys, projection)                                                                   \
    NEW(DEFS_2 "," KEYS_2 "," PAID                                                                 \
               ",'GlobalSecondaryIndexes':[{'IndexName':'abc','KeySchema':[" keys                  \
               "],'Projection':" projection ",'ProvisionedThroughput':" UNITS("1", "1") "}]")
#define ALL "{'ProjectionType':'ALL'}"
#define AB KEY("a", "HASH") "," KEY("b", "RANGE")
#define MISSING_NAME "The parameter 'TableName' is required but was not present in the request"
#define NO_TABLE "Requested resource not found: Table: None not found"
#define INDEX_AT "globalSecondaryIndexes.1.member."
#define ADD_AT "globalSecondaryIndexUpdates.1.member.create."
#define UPDATE(rest) "{'TableName':'Global'," rest "}"
#define CHANGES(list) "'GlobalSecondaryIndexUpdates':[" list "]"
#define AT_LEAST                                                                                   \
    "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, "                    \
    "GlobalSecondaryIndexUpdates, SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, "    \
    "ReplicaTransitRoleArn, MultiRegionConsistency, DeletionProtectionEnabled, "                   \
    "OnDemandThroughput, WarmThroughput or TableClass is required"
#define SAME_NAME "Both the Hash Key and the Range Key element in the KeySchema have the same name"
#define NOT_HASH "Invalid KeySchema: The first KeySchemaElement is not a HASH key type"
#define NOT_RANGE "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type"
#define UNDEFINED                                                                                  \
    INVALID "Some index key attributes are not defined in AttributeDefinitions. Keys: "
#define VIEWS "[OLD_IMAGE, KEYS_ONLY, NEW_AND_OLD_IMAGES, NEW_IMAGE]"
#define BILLING "[PROVISIONED, PAY_PER_REQUEST]"
#define WRITE "provisionedThroughput.writeCapacityUnits"
#define READ "provisionedThroughput.readCapacityUnits"
#define LACKS(i, member) NULL_AT("localSecondaryIndexes." i ".member." member)
#define NO_INDEX(i) LACKS(i, "keySchema") "; " LACKS(i, "projection") "; " LACKS(i, "indexName")
#define UPDATE_AT(i, member) "globalSecondaryIndexUpdates." i ".member.update." member
#define NO_UNITS(i) NULL_AT(UPDATE_AT(i, WRITE)) "; " NULL_AT(UPDATE_AT(i, READ))
#define BAD_UPDATES                                                                                \
    "{'Update':{'IndexName':'a','ProvisionedThroughput':{}}},"                                     \
    "{'Update':{'IndexName':'abc;','ProvisionedThroughput':" UNITS("1000000000001", "0") "}}"

/* ---- names ---- */

static void test_named_table__is_judged_alike_by_all_operations(void **state)
{
    static const char *const operations[] = {
        "CreateTable",        "DeleteTable", "DescribeTable",   "DescribeContinuousBackups",
        "DescribeTimeToLive", "UpdateTable", "UpdateTimeToLive"};
    static const struct wire_row rows[] = {
        {NULL, "{{}}", V, MISSING_NAME, DYNALITE},
        {NULL, "{'TableName':null{}}", V, MISSING_NAME, DYNALITE},
        {NULL, "{'TableName':''{}}", V,
         SEVERAL("2") AT("", "tableName") SHORT("3") "; " AT("", "tableName") PATTERN, QUIRKS},
        {NULL, "{'TableName':'ab'{}}", V, ONE AT("ab", "tableName") SHORT("3"), PARITY},
        {NULL, "{'TableName':'a;'{}}", V,
         SEVERAL("2") AT("a;", "tableName") SHORT("3") "; " AT("a;", "tableName") PATTERN,
         UNVERIFIED},
        {NULL, "{'TableName':'abc;'{}}", V, ONE AT("abc;", "tableName") PATTERN, DYNALITE},
    };
    static const char rest[] = DEFS
        "," KEYS "," ON_DEMAND ",'TimeToLiveSpecification':{'Enabled':true,'AttributeName':'t'}";
    struct wire_test *w = *state;
    for (size_t o = 0; o < sizeof operations / sizeof *operations; o++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            struct wire_row row = rows[i];
            const char *with = i == 0 ? rest : wire_fill(w, ",{}", rest);
            row.operation = operations[o];
            row.request = wire_fill(w, row.request, with);
            if (o > 0 && row.source == UNVERIFIED) row.source = MODEL; /* counted once */
            wire_check(w, &row);
        }
    printf("names of tables: %zu rows of %zu operations, 1 unverified\n",
           sizeof rows / sizeof *rows, sizeof operations / sizeof *operations);
}

static void test_named_table__that_is_not_there(void **state)
{
    static const struct wire_row rows[] = {
        {"DescribeTable", "{'TableName':'None'}", RNF, NO_TABLE, DYNALITE},
        {"DescribeTable", "{'TableName':'" ARN "None'}", RNF, NO_TABLE, QUIRKS},
        {"DeleteTable", "{'TableName':'None'}", RNF, NO_TABLE, DYNALITE},
        {"UpdateTable", "{'TableName':'None'," PAID "}", RNF, NO_TABLE, DYNALITE},
        {"DescribeTimeToLive", "{'TableName':'None'}", RNF, NO_TABLE, DYNALITE},
        {"UpdateTimeToLive",
         "{'TableName':'None','TimeToLiveSpecification':{'Enabled':true,'AttributeName':'x'}}", RNF,
         NO_TABLE, DYNALITE},
        {"DescribeContinuousBackups", "{'TableName':'None'}", "TableNotFoundException",
         "Table not found: None", QUIRKS},
        {"DescribeContinuousBackups", "{'TableName':'" ARN "None'}", "TableNotFoundException",
         "Table not found: None", UNVERIFIED},
    };
    WIRE_CHECK(*state, "tables that are not there", rows);
}

/* ---- CreateTable ---- */

static void test_create_table__shapes(void **state)
{
    static const struct wire_row rows[] = {
        {"CreateTable", "{'TableName':'abc;'}", V,
         SEVERAL("3") NULL_AT("attributeDefinitions") "; " AT("abc;", "tableName") PATTERN
         "; " NULL_AT("keySchema"),
         DYNALITE},
        {"CreateTable", "{'TableName':'abc','AttributeDefinitions':[]}", V,
         ONE NULL_AT("keySchema"), DYNALITE},
        {"CreateTable", "{'TableName':'abc','AttributeDefinitions':[],'ProvisionedThroughput':{}}",
         V,
         SEVERAL("3") NULL_AT("provisionedThroughput.writeCapacityUnits") "; " NULL_AT(
             "provisionedThroughput.readCapacityUnits") "; " NULL_AT("keySchema"),
         DYNALITE},
        {"CreateTable",
         "{'TableName':'abc','AttributeDefinitions':[],'KeySchema':[],'"
         "ProvisionedThroughput':"
         "" UNITS("-1", "-1") "}",
         V,
         SEVERAL("3") AT("-1", "provisionedThroughput.writeCapacityUnits")
             LOW("1") "; " AT("-1", "provisionedThroughput.readCapacityUnits")
                 LOW("1") "; " AT("[]", "keySchema") SHORT("1"),
         DYNALITE},
        {"CreateTable",
         NEW("'AttributeDefinitions':[],'KeySchema':[{'KeyType':'HASH'},{'AttributeName':'"
             "a'},"
             "{'KeyType':'Woop','AttributeName':'a'}]"),
         V,
         SEVERAL("4") AT("[KeySchemaElement(attributeName=null, keyType=HASH), KeySchemaElement("
                         "attributeName=a, keyType=null), KeySchemaElement(attributeName=a, "
                         "keyType=Woop)]",
                         "keySchema")
             LONG("2") "; " NULL_AT("keySchema.1.member.attributeName") "; " NULL_AT(
                 "keySchema.2.member.keyType") "; " AT("Woop", "keySchema.3.member.keyType")
                 ENUM("[HASH, RANGE]"),
         DYNALITE},
        {"CreateTable",
         NEW("'AttributeDefinitions':[" DEF("pk", "S") "," DEF("sk", "S") "," DEF(
             "extra",
             "S") "],'KeySchema':[" KEY("pk", "HASH") "," KEY("sk",
                                                              "RANGE") "," KEY("extra",
                                                                               "RANGE") "]"
                                                                                        "," PAID),
         V,
         ONE AT("[KeySchemaElement(attributeName=pk, keyType=HASH), KeySchemaElement("
                "attributeName=sk, keyType=RANGE), KeySchemaElement(attributeName=extra, "
                "keyType=RANGE)]",
                "keySchema") LONG("2"),
         PARITY},
        {"CreateTable", NEW(DEFS ",'KeySchema':[" KEY("a", "INVALID") "]," PAID), V,
         ONE AT("INVALID", "keySchema.1.member.keyType") ENUM("[HASH, RANGE]"), PARITY},
        {"CreateTable", NEW("'AttributeDefinitions':[" DEF("a", "INVALID") "]," KEYS "," PAID), V,
         ONE AT("INVALID", "attributeDefinitions.1.member.attributeType") ENUM("[B, N, S]"),
         PARITY},
        {"CreateTable", NEW("'AttributeDefinitions':[" DEF("b", "SS") "]," KEYS "," PAID), V,
         ONE AT("SS", "attributeDefinitions.1.member.attributeType") ENUM("[B, N, S]"), DYNALITE},
        {"CreateTable", NEW("'AttributeDefinitions':[{}]," KEYS "," ON_DEMAND), V,
         SEVERAL("2") NULL_AT("attributeDefinitions.1.member.attributeType") "; " NULL_AT(
             "attributeDefinitions.1.member.attributeName"),
         QUIRKS},
        {"CreateTable", NEW(DEFS ",'KeySchema':[{}]," ON_DEMAND), V,
         SEVERAL("2")
             NULL_AT("keySchema.1.member.attributeName") "; " NULL_AT("keySchema.1.member.keyType"),
         QUIRKS},
        {"CreateTable", NEW(DEFS ",'KeySchema':[]," ON_DEMAND), V,
         ONE AT("[]", "keySchema") SHORT("1"), QUIRKS},
        {"CreateTable", NEW(DEFS "," KEYS ",'BillingMode':''"), V,
         ONE AT("", "billingMode") ENUM(BILLING), QUIRKS},
        {"CreateTable", NEW(DEFS "," KEYS ",'BillingMode':'INVALID_MODE'"), V,
         ONE AT("INVALID_MODE", "billingMode") ENUM(BILLING), PARITY},
        {"CreateTable", SIMPLE("'StreamSpecification':{'StreamEnabled':true,'StreamViewType':''}"),
         V, ONE AT("", "streamSpecification.streamViewType") ENUM(VIEWS), QUIRKS},
        {"CreateTable", SIMPLE("'StreamSpecification':{}"), V,
         ONE NULL_AT("streamSpecification.streamEnabled"), MODEL},
        {"CreateTable", SIMPLE("'SSESpecification':{'Enabled':true,'KMSMasterKeyId':''}"), V,
         ONE AT("", "sSESpecification.kMSMasterKeyId") SHORT("1"), QUIRKS},
        {"CreateTable", SIMPLE("'SSESpecification':{'Enabled':true,'SSEType':'AES-256'}"), V,
         ONE AT("AES-256", "sSESpecification.sSEType") ENUM("[AES256, KMS]"), GUIDE},
        {"CreateTable",
         SIMPLE("'LocalSecondaryIndexes':[{'IndexName':'l1','KeySchema':[" AB "],'Projection':" ALL
                "}],'GlobalSecondaryIndexes':[{'IndexName':'g1','KeySchema':["
                "" KEY("a", "HASH") "],'Projection':" ALL "}]"),
         V,
         SEVERAL("2") AT("g1", "globalSecondaryIndexes.1.member.indexName")
             SHORT("3") "; " AT("l1", "localSecondaryIndexes.1.member.indexName") SHORT("3"),
         PARITY},
        {"CreateTable",
         SIMPLE("'GlobalSecondaryIndexes':[{'IndexName':'','KeySchema':[" KEY(
             "a", "HASH") "],'Projection':" ALL "}]"),
         V,
         SEVERAL("2") AT("", INDEX_AT "indexName") SHORT("3") "; " AT("", INDEX_AT "indexName")
             PATTERN,
         QUIRKS},
        {"CreateTable", SIMPLE("'GlobalSecondaryIndexes':[{}]"), V,
         SEVERAL("3") NULL_AT(INDEX_AT "keySchema") "; " NULL_AT(
             INDEX_AT "projection") "; " NULL_AT(INDEX_AT "indexName"),
         DYNALITE},
        {"CreateTable", SIMPLE("'LocalSecondaryIndexes':[{},{},{},{}]"), V,
         SEVERAL("10")
             NO_INDEX("1") "; " NO_INDEX("2") "; " NO_INDEX("3") "; " LACKS("4", "keySchema"),
         DYNALITE},
        {"CreateTable", LOCAL(AB, "{'NonKeyAttributes':[],'ProjectionType':'abc'}"), V,
         SEVERAL("2") AT("abc", "localSecondaryIndexes.1.member.projection.projectionType")
             ENUM("[ALL, INCLUDE, KEYS_ONLY]") "; " AT(
                 "[]", "localSecondaryIndexes.1.member.projection.nonKeyAttributes") SHORT("1"),
         DYNALITE},
        {"CreateTable", GLOBAL(AB, "{'NonKeyAttributes':[''],'ProjectionType':'INCLUDE'}"), V,
         ONE AT("[]", INDEX_AT "projection.nonKeyAttributes") "Member must satisfy constraint: "
                                                              "[" LONG("255") ", " SHORT("1") "]",
         UNVERIFIED},
        {"CreateTable",
         NEW(DEFS_2 "," KEYS_2 "," PAID ",'LocalSecondaryIndexes':[{'IndexName':'abc','KeySchema':"
                    "[" AB "," KEY("c", "RANGE") "],'Projection':" ALL "}]"),
         V,
         ONE AT("[KeySchemaElement(attributeName=a, keyType=HASH), "
                "KeySchemaElement(attributeName="
                "b, keyType=RANGE), KeySchemaElement(attributeName=c, keyType=RANGE)]",
                "localSecondaryIndexes.1.member.keySchema") LONG("2"),
         QUIRKS},
    };
    WIRE_CHECK(*state, "shapes of new tables", rows);
}

static void test_create_table__billing_comes_before_keys(void **state)
{
    static const struct wire_row rows[] = {
        {"CreateTable", NEW("'AttributeDefinitions':[]," KEYS), V,
         INVALID "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode "
                 "is PROVISIONED",
         QUIRKS},
        {"CreateTable", NEW(DEFS "," KEYS ",'BillingMode':'PROVISIONED'"), V,
         INVALID "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode "
                 "is PROVISIONED",
         QUIRKS},
        {"CreateTable",
         NEW("'AttributeDefinitions':[]," KEYS
             ",'ProvisionedThroughput':" UNITS("1000000000001", "1000000000001")),
         V, "Given value 1000000000001 for ReadCapacityUnits is out of bounds", DYNALITE},
        {"CreateTable",
         NEW("'AttributeDefinitions':[]," KEYS
             ",'ProvisionedThroughput':" UNITS("1000000000000", "1000000000001")),
         V, "Given value 1000000000001 for WriteCapacityUnits is out of bounds", DYNALITE},
        {"CreateTable",
         NEW("'AttributeDefinitions':[]," KEYS
             ",'ProvisionedThroughput':" UNITS("1000000000001", "-1")),
         V, ONE AT("-1", "provisionedThroughput.writeCapacityUnits") LOW("1"), DYNALITE},
        {"CreateTable", SIMPLE(PAID), V,
         INVALID "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when "
                 "BillingMode is PAY_PER_REQUEST",
         QUIRKS},
    };
    WIRE_CHECK(*state, "billing of new tables", rows);
}

static void test_create_table__keys(void **state)
{
    static const struct wire_row rows[] = {
        {"CreateTable",
         NEW("'AttributeDefinitions':[],'KeySchema':[" KEY("a", "HASH") "," KEY("a",
                                                                                "HASH") "]," PAID),
         V, "Invalid KeySchema: Some index key attribute have no definition", DYNALITE},
        {"CreateTable", NEW(DEFS ",'KeySchema':[" KEY("a", "HASH") "," KEY("a", "RANGE") "]," PAID),
         V, "Invalid KeySchema: Some index key attribute have no definition", PARITY},
        {"CreateTable", NEW("'AttributeDefinitions':[" DEF("b", "S") "]," KEYS "," PAID), V,
         UNDEFINED "[a], AttributeDefinitions: [b]", DYNALITE},
        {"CreateTable",
         NEW("'AttributeDefinitions':[" DEF("b", "S") "],'KeySchema':[" KEY("a", "HASH") "," KEY(
             "b", "RANGE") "]," PAID),
         V, "Invalid KeySchema: Some index key attribute have no definition", DYNALITE},
        {"CreateTable",
         NEW(DEFS_2 ",'KeySchema':[" KEY("a", "HASH") "," KEY("a", "HASH") "]," PAID), V, SAME_NAME,
         DYNALITE},
        {"CreateTable",
         NEW(DEFS_2 ",'KeySchema':[" KEY("a", "HASH") "," KEY("b", "HASH") "]," PAID), V, NOT_RANGE,
         DYNALITE},
        {"CreateTable",
         NEW(DEFS_2 ",'KeySchema':[" KEY("a", "RANGE") "," KEY("b", "HASH") "]," PAID), V, NOT_HASH,
         DYNALITE},
        {"CreateTable",
         NEW(DEFS_2 ",'KeySchema':[" KEY("a", "RANGE") "," KEY("b", "RANGE") "]," PAID), V,
         NOT_HASH, DYNALITE},
        {"CreateTable", NEW(DEFS ",'KeySchema':[" KEY("a", "RANGE") "]," PAID), V, NOT_HASH,
         ALTERNATOR},
        {"CreateTable",
         NEW("'AttributeDefinitions':[" DEF("a", "S") "," DEF("c", "S") "," DEF(
             "b", "S") "]," KEYS_2 "," PAID),
         V,
         INVALID "Number of attributes in KeySchema does not exactly match number of attributes "
                 "defined in AttributeDefinitions",
         DYNALITE},
        {"CreateTable",
         NEW("'AttributeDefinitions':[" DEF("a", "S") "," DEF("a", "N") "]," KEYS "," PAID), V,
         "Attribute Name is duplicated: a", QUIRKS},
        {"CreateTable", "{'TableName':'Hash'," DEFS "," KEYS "," ON_DEMAND "}",
         "ResourceInUseException", "Table already exists: Hash", QUIRKS},
        {"CreateTable", "{'TableName':'Hash'," DEFS "," KEYS_2 "," ON_DEMAND "}", V,
         "Invalid KeySchema: Some index key attribute have no definition", QUIRKS},
    };
    WIRE_CHECK(*state, "keys of new tables", rows);
}

static void test_create_table__local_indexes(void **state)
{
    static const struct wire_row rows[] = {
        {"CreateTable", NEW(DEFS_2 "," KEYS "," PAID ",'LocalSecondaryIndexes':[]"), V,
         INVALID "List of LocalSecondaryIndexes is empty", QUIRKS},
        {"CreateTable",
         NEW(DEFS_2 "," KEYS "," PAID ",'LocalSecondaryIndexes':[{'IndexName':'abc','KeySchema':["
                    "" KEY("c", "RANGE") "],'Projection':{}}]"),
         V,
         INVALID "Table KeySchema does not have a range key, which is required when specifying a "
                 "LocalSecondaryIndex",
         DYNALITE},
        {"CreateTable", LOCAL(KEY("c", "RANGE") "," KEY("d", "RANGE"), "{}"), V,
         UNDEFINED "[c, d], AttributeDefinitions: [a, b]", DYNALITE},
        {"CreateTable", LOCAL(KEY("a", "HASH") "," KEY("c", "RANGE"), "{}"), V,
         UNDEFINED "[a, c], AttributeDefinitions: [a, b]", DYNALITE},
        {"CreateTable", LOCAL(KEY("a", "RANGE"), "{}"), V, NOT_HASH, DYNALITE},
        {"CreateTable", LOCAL(KEY("a", "HASH") "," KEY("a", "HASH"), "{}"), V, SAME_NAME, DYNALITE},
        {"CreateTable", LOCAL(KEY("a", "HASH") "," KEY("b", "HASH"), "{}"), V, NOT_RANGE, DYNALITE},
        {"CreateTable", LOCAL(KEY("b", "HASH"), "{}"), V,
         INVALID "Index KeySchema does not have a range key for index: abc", DYNALITE},
        {"CreateTable", LOCAL(KEY("b", "HASH") "," KEY("a", "RANGE"), "{}"), V,
         INVALID "Index KeySchema does not have the same leading hash key as table KeySchema for "
                 "index: abc. index hash key: b, table hash key: a",
         DYNALITE},
        {"CreateTable", LOCAL(KEY("a", "HASH") "," KEY("a", "RANGE"), "{}"), V, SAME_NAME,
         DYNALITE},
        {"CreateTable", LOCAL(AB, "{}"), V, INVALID "Unknown ProjectionType: null", DYNALITE},
        {"CreateTable", LOCAL(AB, "{'NonKeyAttributes':['a']}"), V,
         INVALID "Unknown ProjectionType: null", DYNALITE},
        {"CreateTable", LOCAL(AB, "{'ProjectionType':'ALL','NonKeyAttributes':['a']}"), V,
         INVALID "ProjectionType is ALL, but NonKeyAttributes is specified", DYNALITE},
        {"CreateTable", LOCAL(AB, "{'ProjectionType':'KEYS_ONLY','NonKeyAttributes':['a']}"), V,
         INVALID "ProjectionType is KEYS_ONLY, but NonKeyAttributes is specified", DYNALITE},
        {"CreateTable", LOCAL(AB, "{'ProjectionType':'INCLUDE'}"), V,
         INVALID "ProjectionType is INCLUDE, but NonKeyAttributes is not specified", QUIRKS},
        {"CreateTable", LOCAL(AB, "{'ProjectionType':'INCLUDE','NonKeyAttributes':['x','x']}"), V,
         INVALID "Duplicate element in NonKeyAttributes: x", QUIRKS},
    };
    WIRE_CHECK(*state, "local indexes of new tables", rows);
}

static void test_create_table__global_indexes(void **state)
{
    static const struct wire_row rows[] = {
        {"CreateTable", NEW(DEFS_2 "," KEYS "," PAID ",'GlobalSecondaryIndexes':[]"), V,
         INVALID "List of GlobalSecondaryIndexes is empty", QUIRKS},
        {"CreateTable", GLOBAL(KEY("c", "RANGE"), "{}"), V,
         UNDEFINED "[c], AttributeDefinitions: [a, b]", DYNALITE},
        {"CreateTable", GLOBAL(KEY("a", "RANGE"), "{}"), V, NOT_HASH, DYNALITE},
        {"CreateTable", GLOBAL(KEY("b", "RANGE") "," KEY("a", "HASH"), ALL), V, NOT_HASH, QUIRKS},
        {"CreateTable", GLOBAL(KEY("a", "HASH") "," KEY("a", "HASH"), "{}"), V, SAME_NAME,
         DYNALITE},
        {"CreateTable", GLOBAL(KEY("a", "HASH") "," KEY("b", "RANGE") "," KEY("a", "RANGE"), ALL),
         V, "The KeySchema contains multiple key attributes with the same name", QUIRKS},
        {"CreateTable",
         NEW("'AttributeDefinitions':[" DEF("a", "S") "," DEF("b", "S") "," DEF(
             "c", "S") "]," KEYS_2 "," PAID
                       ",'GlobalSecondaryIndexes':[{'IndexName':'abc','KeySchema':[" AB
                       "," KEY("c", "HASH") "],'Projection':" ALL "}]"),
         V, INVALID "All HASH key attributes must precede RANGE key attributes in the KeySchema",
         QUIRKS},
        {"CreateTable",
         GLOBAL(KEY("a", "HASH") "," KEY("b", "HASH") "," KEY("c", "HASH") "," KEY(
                    "d", "HASH") "," KEY("e", "HASH"),
                ALL),
         V, INVALID "The KeySchema exceeds the maximum allowed number of HASH key attributes",
         QUIRKS},
        {"CreateTable",
         GLOBAL(KEY("a", "HASH") "," KEY("b", "RANGE") "," KEY("c", "RANGE") "," KEY(
                    "d", "RANGE") "," KEY("e", "RANGE") "," KEY("f", "RANGE"),
                ALL),
         V, INVALID "The KeySchema exceeds the maximum allowed number of RANGE key attributes",
         QUIRKS},
        {"CreateTable", GLOBAL(AB, "{}"), V, INVALID "Unknown ProjectionType: null", DYNALITE},
        {"CreateTable", GLOBAL(AB, "{'ProjectionType':'ALL','NonKeyAttributes':['a']}"), V,
         INVALID "ProjectionType is ALL, but NonKeyAttributes is specified", DYNALITE},
        {"CreateTable",
         NEW("'AttributeDefinitions':[" DEF("a", "S") "," DEF("b", "S") "," DEF(
             "c", "S") "]," KEYS "," ON_DEMAND
                       ",'GlobalSecondaryIndexes':[{'IndexName':'abc','KeySchema':[" KEY(
                           "b", "HASH") "],'Projection':{}}]"),
         V,
         INVALID "Some AttributeDefinitions are not used. AttributeDefinitions: [a, b, c], keys "
                 "used: [a, b]",
         QUIRKS},
        {"CreateTable",
         SIMPLE("'GlobalSecondaryIndexes':[{'IndexName':'abc'," KEYS ",'Projection':" ALL
                ",'ProvisionedThroughput':" UNITS("1", "1") "}]"),
         V,
         INVALID "ProvisionedThroughput should not be specified for index: abc when BillingMode is "
                 "PAY_PER_REQUEST",
         QUIRKS},
        {"CreateTable",
         NEW(DEFS "," KEYS "," PAID ",'GlobalSecondaryIndexes':[{'IndexName':'abc'," KEYS
                  ",'Projection':" ALL "}]"),
         V, INVALID "ProvisionedThroughput is not specified for index: abc", QUIRKS},
        {"CreateTable",
         SIMPLE("'GlobalSecondaryIndexes':[{'IndexName':'abc'," KEYS ",'Projection':" ALL
                "},{'IndexName':'abc'," KEYS ",'Projection':" ALL "}]"),
         V, INVALID "Duplicate index name: abc", PARITY},
        {"CreateTable",
         NEW(DEFS_2 "," KEYS_2 "," ON_DEMAND ",'LocalSecondaryIndexes':[{'IndexName':'abc'," KEYS_2
                    ",'Projection':" ALL "}],'GlobalSecondaryIndexes':[{'IndexName':'abc'," KEYS
                    ",'Projection':" ALL "}]"),
         V, INVALID "Duplicate index name: abc", DYNALITE},
        {"CreateTable",
         SIMPLE("'GlobalSecondaryIndexes':[{'IndexName':'abc'," KEYS ",'Projection':" ALL
                ",'OnDemandThroughput':{'MaxReadRequestUnits':0}}]"),
         V,
         INVALID "Requested MaxReadRequestUnits for OnDemandThroughput for index : abc is outside "
                 "of valid range",
         QUIRKS},
    };
    WIRE_CHECK(*state, "global indexes of new tables", rows);
}

static void test_create_table__counts_of_indexes(void **state)
{
    struct wire_test *w = *state;
    static const char local[] = "{'IndexName':'abc#','KeySchema':[" AB "],'Projection':" ALL "}";
    static const char global[] = "{'IndexName':'abc#'," KEYS ",'Projection':" ALL "}";
    const struct wire_row rows[] = {
        {"CreateTable",
         wire_fill(w, NEW(DEFS_2 "," KEYS_2 "," ON_DEMAND ",'LocalSecondaryIndexes':[{}]"),
                   wire_list(w, local, 6)),
         V, INVALID "Number of LocalSecondaryIndexes exceeds per-table limit of 5", DYNALITE},
        {"CreateTable",
         wire_fill(w, SIMPLE("'GlobalSecondaryIndexes':[{}]"), wire_list(w, global, 21)), V,
         INVALID "GlobalSecondaryIndex count exceeds the per-table limit of 20", DYNALITE},
        {"CreateTable",
         wire_fill(w, SIMPLE("'GlobalSecondaryIndexes':[{}]"), wire_list(w, global, 20)), NULL,
         "{'TableDescription':…", QUIRKS},
    };
    WIRE_CHECK(w, "counts of indexes", rows);
}

static void test_create_table__settings(void **state)
{
    static const struct wire_row rows[] = {
        {"CreateTable", SIMPLE("'StreamSpecification':{'StreamEnabled':true}"), V,
         INVALID "Table is being created with a stream enabled, UpdateViewType is required",
         QUIRKS},
        {"CreateTable",
         SIMPLE("'StreamSpecification':{'StreamEnabled':false,'StreamViewType':'NEW_IMAGE'}"), V,
         INVALID "Table is being created with a stream disabled, UpdateViewType should not be "
                 "specified",
         QUIRKS},
        {"CreateTable", SIMPLE("'TableClass':'CHEAP'"), V,
         "Invalid table-class parameter provided. Please try again with a valid table-class value: "
         "[STANDARD, STANDARD_INFREQUENT_ACCESS].",
         QUIRKS},
        {"CreateTable", SIMPLE("'SSESpecification':{'Enabled':false,'SSEType':'KMS'}"), V,
         INVALID "SSEType can not be specified if Enabled is false", QUIRKS},
        {"CreateTable", SIMPLE("'SSESpecification':{'Enabled':false,'KMSMasterKeyId':'x'}"), V,
         INVALID "KMSMasterKeyId can not be specified if Enabled is false", QUIRKS},
        {"CreateTable", SIMPLE("'SSESpecification':{'Enabled':true,'KMSMasterKeyId':'x'}"), V,
         INVALID "SSEType KMS is required if KMSMasterKeyId is specified", QUIRKS},
        {"CreateTable", SIMPLE("'SSESpecification':{'Enabled':true,'SSEType':'AES256'}"), V,
         INVALID "SSEType AES256 is not supported", QUIRKS},
        {"CreateTable", SIMPLE("'Tags':[{}]"), V, "The Tag Key provided is invalid, Key: null",
         QUIRKS},
        {"CreateTable", SIMPLE("'Tags':[{'Key':'aws:foo','Value':''}]"), V,
         "Tag Key cannot be prefixed with aws:, Key: aws:foo", QUIRKS},
        {"CreateTable", SIMPLE("'OnDemandThroughput':{'MaxWriteRequestUnits':0}"), V,
         INVALID "Requested MaxWriteRequestUnits for OnDemandThroughput for table is outside of "
                 "valid range",
         QUIRKS},
        {"CreateTable",
         NEW(DEFS "," KEYS "," PAID ",'OnDemandThroughput':{'MaxReadRequestUnits':5}"), V,
         INVALID "MaxReadRequestUnits for OnDemandThroughput cannot be specified when table "
                 "BillingMode is PROVISIONED.",
         QUIRKS},
        {"CreateTable",
         SIMPLE("'WarmThroughput':{'ReadUnitsPerSecond':-1,'WriteUnitsPerSecond':-1}"), V,
         INVALID "Requested ReadUnitsPerSecond for WarmThroughput for table is lower than initial "
                 "throughput for OnDemand. See: https://docs.aws.amazon.com/amazondynamodb/latest/"
                 "developerguide/on-demand-capacity-mode.html#on-demand-capacity-mode-initial",
         QUIRKS},
        {"CreateTable", SIMPLE("'ResourcePolicy':'x'"), V,
         "ResourcePolicy is not supported by Sheaf; leave it out", OURS},
        {"CreateTable", SIMPLE("'VectorIndexes':[]"), V,
         "VectorIndexes is not supported by Sheaf; leave it out", OURS},
    };
    WIRE_CHECK(*state, "settings of new tables", rows);
}

/* ---- UpdateTable ---- */

static void test_update_table__shapes(void **state)
{
    static const struct wire_row rows[] = {
        {"UpdateTable", "{'TableName':'abc','ProvisionedThroughput':{}}", V,
         SEVERAL("2") NULL_AT("provisionedThroughput.writeCapacityUnits") "; " NULL_AT(
             "provisionedThroughput.readCapacityUnits"),
         DYNALITE},
        {"UpdateTable", "{'TableName':'abc','ProvisionedThroughput':" UNITS("-1", "-1") "}", V,
         SEVERAL("2") AT("-1", "provisionedThroughput.writeCapacityUnits")
             LOW("1") "; " AT("-1", "provisionedThroughput.readCapacityUnits") LOW("1"),
         DYNALITE},
        {"UpdateTable",
         "{'TableName':'abc','ProvisionedThroughput':" UNITS("1000000000001", "-1") "}", V,
         ONE AT("-1", "provisionedThroughput.writeCapacityUnits") LOW("1"), DYNALITE},
        {"UpdateTable",
         "{'TableName':'abc','ProvisionedThroughput':" UNITS("1000000000001", "1") "}", V,
         "Given value 1000000000001 for ReadCapacityUnits is out of bounds", DYNALITE},
        {"UpdateTable", "{'TableName':'abc'," CHANGES(BAD_UPDATES) "}", V,
         SEVERAL("5") AT("a", UPDATE_AT("1", "indexName"))
             SHORT("3") "; " NO_UNITS("1") "; " AT("abc;", UPDATE_AT("2", "indexName")) PATTERN
         "; " AT("0", UPDATE_AT("2", WRITE)) LOW("1"),
         DYNALITE},
        {"UpdateTable",
         UPDATE(CHANGES("{'Create':{'IndexName':'','KeySchema':[" KEY(
             "g", "HASH") "],'Projection':" ALL "}}")),
         V,
         SEVERAL("2") AT("", ADD_AT "indexName") SHORT("3") "; " AT("", ADD_AT "indexName") PATTERN,
         QUIRKS},
        {"UpdateTable", UPDATE("'AttributeDefinitions':[{}],'DeletionProtectionEnabled':true"), V,
         SEVERAL("2") NULL_AT("attributeDefinitions.1.member.attributeType") "; " NULL_AT(
             "attributeDefinitions.1.member.attributeName"),
         QUIRKS},
        {"UpdateTable",
         UPDATE("'AttributeDefinitions':[" DEF("a", "") "],'DeletionProtectionEnabled':true"), V,
         ONE AT("", "attributeDefinitions.1.member.attributeType") ENUM("[B, N, S]"), QUIRKS},
        {"UpdateTable", UPDATE("'StreamSpecification':{'StreamEnabled':true,'StreamViewType':''}"),
         V, ONE AT("", "streamSpecification.streamViewType") ENUM(VIEWS), QUIRKS},
        {"UpdateTable", UPDATE("'SSESpecification':{'Enabled':true,'KMSMasterKeyId':''}"), V,
         ONE AT("", "sSESpecification.kMSMasterKeyId") SHORT("1"), QUIRKS},
        {"UpdateTable", UPDATE("'BillingMode':'free'"), V,
         ONE AT("free", "billingMode") ENUM(BILLING), MODEL},
        {"UpdateTable", UPDATE("'TableClass':'CHEAP'"), V,
         "Invalid table-class parameter provided. Please try again with a valid table-class "
         "value: "
         "[STANDARD, STANDARD_INFREQUENT_ACCESS].",
         QUIRKS},
    };
    WIRE_CHECK(*state, "shapes of changes", rows);
}

static void test_update_table__one_change_at_a_time(void **state)
{
    static const struct wire_row rows[] = {
        {"UpdateTable", "{'TableName':'Hash'}", V, AT_LEAST, QUIRKS},
        {"UpdateTable", "{'TableName':'None'}", V, AT_LEAST, QUIRKS},
        {"UpdateTable", UPDATE(CHANGES("")), V, AT_LEAST, QUIRKS},
        {"UpdateTable", UPDATE(DEFS), V, AT_LEAST, QUIRKS},
        {"UpdateTable", UPDATE(CHANGES("") ",'DeletionProtectionEnabled':true"), V,
         INVALID "List of GlobalSecondaryIndexUpdates is empty", QUIRKS},
        {"UpdateTable", UPDATE(CHANGES("") ",'BillingMode':'PAY_PER_REQUEST'"), V,
         INVALID "List of GlobalSecondaryIndexUpdates is empty", QUIRKS},
        {"UpdateTable",
         UPDATE("'SSESpecification':{'Enabled':true},'DeletionProtectionEnabled':"
                "true"),
         V, INVALID "Server-Side Encryption modification must be the only operation in the request",
         QUIRKS},
        {"UpdateTable", UPDATE("'TableClass':'STANDARD','DeletionProtectionEnabled':true"), V,
         INVALID "TableClass modification must be the only operation in the request", QUIRKS},
        {"UpdateTable", UPDATE("'DeletionProtectionEnabled':true," PAID), V,
         INVALID "DeletionProtection modification must be the only operation in the request",
         QUIRKS},
        {"UpdateTable", UPDATE("'OnDemandThroughput':{'MaxReadRequestUnits':5}," PAID), V,
         INVALID "OnDemandThroughput can only be combined with BillingMode in an UpdateTable "
                 "request",
         QUIRKS},
        {"UpdateTable", UPDATE("'WarmThroughput':{'ReadUnitsPerSecond':5}," PAID), V,
         INVALID "WarmThroughput must be the only operation in the request", QUIRKS},
        {"UpdateTable",
         UPDATE(PAID ",'StreamSpecification':{'StreamEnabled':true,"
                     "'StreamViewType':'NEW_IMAGE'}"),
         V, INVALID "You cannot modify stream status while updating table IOPS", QUIRKS},
        {"UpdateTable", UPDATE(PAID "," CHANGES("{'Delete':{'IndexName':'byG'}}")), V,
         INVALID "You cannot create or delete index while updating table IOPS", QUIRKS},
        {"UpdateTable",
         UPDATE(CHANGES("{'Delete':{'IndexName':'byG'}}") ",'StreamSpecification':"
                                                          "{'StreamEnabled':true,'StreamViewType':'"
                                                          "NEW_IMAGE'}"),
         V, INVALID "You cannot create or delete index while changing stream status", QUIRKS},
        {"UpdateTable", UPDATE("'BillingMode':'PROVISIONED'"), V,
         INVALID "ProvisionedThroughput must be specified when BillingMode is PROVISIONED", QUIRKS},
        {"UpdateTable", UPDATE("'BillingMode':'PAY_PER_REQUEST'," PAID), V,
         INVALID "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when "
                 "BillingMode is PAY_PER_REQUEST",
         QUIRKS},
        {"UpdateTable", UPDATE("'StreamSpecification':{'StreamEnabled':true}"), V,
         INVALID "If stream is being enabled then UpdateViewType is required", QUIRKS},
        {"UpdateTable",
         UPDATE("'StreamSpecification':{'StreamEnabled':false,'StreamViewType':"
                "'NEW_IMAGE'}"),
         V, INVALID "If stream is being disabled, then UpdateViewType must not be specified",
         QUIRKS},
        {"UpdateTable", "{'TableName':'Range','ReplicaUpdates':[]}", V,
         "ReplicaUpdates is not supported by Sheaf; leave it out", OURS},
    };
    WIRE_CHECK(*state, "combined changes", rows);
}

static void test_update_table__against_what_the_table_is(void **state)
{
    static const struct wire_row rows[] = {
        {"UpdateTable",
         UPDATE("'BillingMode':'PROVISIONED','ProvisionedThroughput':" UNITS("5", "5") "," CHANGES(
             "{'Update':{'IndexName':'byG','ProvisionedThroughput':" UNITS(
                 "5", "5") "}},"
                           "{'Update':{'IndexName':'keys','ProvisionedThroughput':" UNITS(
                               "5", "5") "}}")),
         NULL, "{'TableDescription':…", QUIRKS},
        {"UpdateTable", UPDATE("'ProvisionedThroughput':" UNITS("5", "5")), V,
         "The provisioned throughput for the table will not change. The requested value equals the "
         "current value. Current ReadCapacityUnits provisioned for the table: 5. Requested "
         "ReadCapacityUnits: 5. Current WriteCapacityUnits provisioned for the table: 5. Requested "
         "WriteCapacityUnits: 5. Refer to the Amazon DynamoDB Developer Guide for current limits "
         "and how to request higher limits.",
         DYNALITE},
        {"UpdateTable", UPDATE("'StreamSpecification':{'StreamEnabled':false}"), V,
         "Table has no stream to disable: TableName: Global", QUIRKS},
        {"UpdateTable",
         UPDATE("'StreamSpecification':{'StreamEnabled':true,'StreamViewType':"
                "'NEW_IMAGE'}"),
         NULL, "{'TableDescription':…", GUIDE},
        {"UpdateTable",
         UPDATE("'StreamSpecification':{'StreamEnabled':true,'StreamViewType':"
                "'OLD_IMAGE'}"),
         V, "Table already has an enabled stream: TableName: Global", QUIRKS},
        {"UpdateTable", UPDATE("'SSESpecification':{}"), V,
         INVALID "Table is already encrypted by default", QUIRKS},
        {"UpdateTable", UPDATE("'SSESpecification':{'Enabled':true}"), NULL,
         "{'TableDescription':…", GUIDE},
        {"UpdateTable", UPDATE("'SSESpecification':{'Enabled':true}"), V,
         INVALID "Table is already encrypted with given KMSMasterKeyId. Use KMSMasterKeyId "
                 "parameter if you want to change Master Key",
         QUIRKS},
        {"UpdateTable", UPDATE("'OnDemandThroughput':{'MaxReadRequestUnits':5}"), V,
         INVALID "MaxReadRequestUnits for OnDemandThroughput cannot be specified when the table "
                 "BillingMode is PROVISIONED",
         QUIRKS},
        {"UpdateTable",
         UPDATE("'OnDemandThroughput':{'MaxReadRequestUnits':0,"
                "'MaxWriteRequestUnits':0}"),
         V,
         INVALID "Requested MaxReadRequestUnits for OnDemandThroughput for table is outside of "
                 "valid range",
         QUIRKS},
        {"UpdateTable", UPDATE("'WarmThroughput':{'ReadUnitsPerSecond':-1}"), V,
         INVALID "Requested ReadUnitsPerSecond for WarmThroughput for table is lower than current "
                 "WarmThroughput, decreasing WarmThroughput is not supported",
         QUIRKS},
        {"UpdateTable", "{'TableName':'Range','DeletionProtectionEnabled':true}", NULL,
         "{'TableDescription':…", GUIDE},
        {"UpdateTable", "{'TableName':'Range','DeletionProtectionEnabled':true}", NULL,
         "{'TableDescription':…", QUIRKS},
        {"DeleteTable", "{'TableName':'Range'}", V,
         "Resource cannot be deleted as it is currently protected against deletion. Disable "
         "deletion protection first.",
         QUIRKS},
    };
    WIRE_CHECK(*state, "changes of what is so already", rows);
}

static void test_update_table__indexes(void **state)
{
    static const struct wire_row rows[] = {
        {"UpdateTable",
         UPDATE("'BillingMode':'PROVISIONED','ProvisionedThroughput':" UNITS("5", "5") "," CHANGES(
             "{'Update':{'IndexName':'byG','ProvisionedThroughput':" UNITS(
                 "5", "5") "}},"
                           "{'Update':{'IndexName':'keys','ProvisionedThroughput':" UNITS(
                               "5", "5") "}}")),
         NULL, "{'TableDescription':…", QUIRKS},
        {"UpdateTable", "{'TableName':'None'," CHANGES("{}") "}", V,
         INVALID "One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, "
                 "GlobalSecondaryIndexUpdate.Delete must not be null",
         DYNALITE},
        {"UpdateTable",
         UPDATE(CHANGES("{'Update':{'IndexName':'byG'},'Delete':{'IndexName':'byG'}}")), V,
         INVALID "Only one global secondary index action is allowed per GlobalSecondaryIndexUpdate "
                 "object",
         QUIRKS},
        {"UpdateTable",
         "{'TableName':'None'," CHANGES(
             "{'Delete':{'IndexName':'abc'}},{'Delete':{'IndexName':'abc'}}") "}",
         V,
         INVALID "Only one global secondary index update per index is allowed simultaneously. "
                 "Index: abc",
         DYNALITE},
        {"UpdateTable",
         "{'TableName':'None'," CHANGES(
             "{'Delete':{'IndexName':'abc'}},{'Delete':{'IndexName':'abd'}}") "}",
         RNF, NO_TABLE, DYNALITE},
        {"UpdateTable",
         UPDATE(CHANGES("{'Delete':{'IndexName':'byG'}},{'Delete':{'IndexName':'keys'}}")),
         "LimitExceededException",
         "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously "
         "per table",
         DYNALITE},
        {"UpdateTable",
         "{'TableName':'None'," CHANGES("{'Update':{'IndexName':'abc','ProvisionedThroughput':"
                                        "" UNITS("1000000000001", "1") "}}") "}",
         RNF, NO_TABLE, DYNALITE},
        {"UpdateTable", UPDATE(CHANGES("{'Delete':{'IndexName':'ghost'}}")), RNF,
         "Requested resource not found: Index ghost for table Global", QUIRKS},
        {"UpdateTable",
         UPDATE(CHANGES("{'Update':{'IndexName':'ghost','ProvisionedThroughput':"
                        "" UNITS("1", "1") "}}")),
         RNF, "Requested resource not found: Index ghost for table Global", QUIRKS},
        {"UpdateTable",
         "{'TableName':'None'," CHANGES("{'Update':{'IndexName':'ghost','WarmThroughput':{}}}") "}",
         V,
         INVALID "WarmThroughput must have at least one of ReadUnitsPerSecond or "
                 "WriteUnitsPerSecond specified for index: ghost",
         QUIRKS},
        {"UpdateTable",
         UPDATE(CHANGES("{'Update':{'IndexName':'byG','ProvisionedThroughput':"
                        "" UNITS("5", "5") "}}")),
         V,
         "The provisioned throughput for the index byG will not change. The requested value equals "
         "the current value. Current ReadCapacityUnits provisioned for index byG: 5. Requested "
         "ReadCapacityUnits: 5. Current WriteCapacityUnits provisioned for index byG: 5. Requested "
         "WriteCapacityUnits: 5. Refer to the Amazon DynamoDB Developer Guide for current limits "
         "and how to request higher limits.",
         QUIRKS},
        {"UpdateTable", "{'TableName':'Local'," CHANGES("{'Delete':{'IndexName':'byA'}}") "}", V,
         "Cannot delete an index that is not a GlobalSecondaryIndex: byA", QUIRKS},
        {"UpdateTable",
         "{'TableName':'Local'," CHANGES("{'Update':{'IndexName':'byA','ProvisionedThroughput':"
                                         "" UNITS("1", "1") "}}") "}",
         V, "Cannot update an index that is not a GlobalSecondaryIndex: byA", QUIRKS},
        {"UpdateTable",
         UPDATE(CHANGES("{'Create':{'IndexName':'byG','KeySchema':[" KEY(
             "g", "HASH") "],'Projection':" ALL "}}") ",'AttributeDefinitions':[" DEF("g",
                                                                                      "S") "]"),
         V, "Attempting to create an index which already exists", QUIRKS},
        {"UpdateTable",
         UPDATE(CHANGES("{'Create':{'IndexName':'new','KeySchema':[" KEY(
             "x", "HASH") "],'Projection':" ALL "}}")),
         V, INVALID "AttributeDefinitions is not specified for index: new", QUIRKS},
        {"UpdateTable",
         UPDATE(CHANGES("{'Create':{'IndexName':'new','KeySchema':[" KEY(
             "x", "HASH") "],'Projection':" ALL "}}") ",'AttributeDefinitions':[" DEF("x",
                                                                                      "S") "]"),
         V,
         INVALID "Both ReadCapacityUnits and WriteCapacityUnits must be specified for index: new",
         QUIRKS},
        {"UpdateTable",
         UPDATE("'AttributeDefinitions':[" DEF("pk", "N") "],'ProvisionedThroughput':" UNITS("6",
                                                                                             "6")),
         NULL, "{'TableDescription':…", QUIRKS},
        {"UpdateTable",
         UPDATE(CHANGES("{'Create':{'IndexName':'new','KeySchema':[" KEY(
             "x", "HASH") "],'Projection':" ALL
                          ",'ProvisionedThroughput':" UNITS(
                              "1", "1") "}}") ",'AttributeDefinitions':[" DEF("x", "S") "]"),
         NULL, "{'TableDescription':…", GUIDE},
    };
    WIRE_CHECK(*state, "changes of indexes", rows);
}

/* ---- the smaller ones ---- */

static void test_list_tables__checks_its_page(void **state)
{
    struct wire_test *w = *state;
    const struct wire_row rows[] = {
        {"ListTables", "{'ExclusiveStartTableName':'a;','Limit':500}", V,
         SEVERAL("3") AT("500", "limit") HIGH("100") "; " AT("a;", "exclusiveStartTableName")
             PATTERN "; " AT("a;", "exclusiveStartTableName") SHORT("3"),
         DYNALITE},
        {"ListTables", "{'ExclusiveStartTableName':''}", V,
         SEVERAL("2") AT("", "exclusiveStartTableName") PATTERN
         "; " AT("", "exclusiveStartTableName") SHORT("3"),
         QUIRKS},
        {"ListTables", "{'ExclusiveStartTableName':'" ARN "Hash'}", V,
         ONE AT(ARN "Hash", "exclusiveStartTableName") PATTERN, QUIRKS},
        {"ListTables", wire_repeat(w, "{'ExclusiveStartTableName':'{}'}", 'a', 256), V,
         wire_repeat(w, ONE AT("{}", "exclusiveStartTableName") LONG("255"), 'a', 256), DYNALITE},
        {"ListTables", "{'Limit':0}", V, ONE AT("0", "limit") LOW("1"), QUIRKS},
        {"ListTables", "{'Limit':101}", V, ONE AT("101", "limit") HIGH("100"), DYNALITE},
        {"ListTables", "{'ExclusiveStartTableName':null,'Limit':null,'hi':'yo'}", NULL,
         "{'TableNames':…", DYNALITE},
        {"ListTables", "{'ExclusiveStartTableName':'Local','Limit':1}", NULL,
         "{'LastEvaluatedTableName':'Number','TableNames':['Number']}", GUIDE},
    };
    WIRE_CHECK(w, "lists of tables", rows);
}

static void test_time_to_live__refusals(void **state)
{
    struct wire_test *w = *state;
    const struct wire_row rows[] = {
        {"UpdateTimeToLive", "{'TableName':'abc'}", V, ONE NULL_AT("timeToLiveSpecification"),
         MODEL},
        {"UpdateTimeToLive", "{'TableName':'Hash','TimeToLiveSpecification':{}}", V,
         SEVERAL("2") NULL_AT("timeToLiveSpecification.attributeName") "; " NULL_AT(
             "timeToLiveSpecification.enabled"),
         QUIRKS},
        {"UpdateTimeToLive", "{'TableName':'Hash','TimeToLiveSpecification':{'Enabled':true}}", V,
         ONE NULL_AT("timeToLiveSpecification.attributeName"), QUIRKS},
        {"UpdateTimeToLive", "{'TableName':'Hash','TimeToLiveSpecification':{'AttributeName':'x'}}",
         V, ONE NULL_AT("timeToLiveSpecification.enabled"), QUIRKS},
        {"UpdateTimeToLive",
         "{'TableName':'Hash','TimeToLiveSpecification':{'Enabled':true,'AttributeName':''}}", V,
         ONE AT("", "timeToLiveSpecification.attributeName") SHORT("1"), QUIRKS},
        {"UpdateTimeToLive",
         wire_repeat(w,
                     "{'TableName':'Hash','TimeToLiveSpecification':{'Enabled':true,"
                     "'AttributeName':'{}'}}",
                     'x', 256),
         V,
         wire_repeat(w, ONE AT("{}", "timeToLiveSpecification.attributeName") LONG("255"), 'x',
                     256),
         ALTERNATOR},
        {"UpdateTimeToLive",
         "{'TableName':'Hash','TimeToLiveSpecification':{'Enabled':false,'AttributeName':'t'}}", V,
         "TimeToLive is already disabled", QUIRKS},
        {"UpdateTimeToLive",
         "{'TableName':'Hash','TimeToLiveSpecification':{'Enabled':true,'AttributeName':'t'}}",
         NULL, "{'TimeToLiveSpecification':{'AttributeName':'t','Enabled':true}}", ALTERNATOR},
        {"DescribeTimeToLive", "{'TableName':'Hash'}", NULL,
         "{'TimeToLiveDescription':{'TimeToLiveStatus':'ENABLED','AttributeName':'t'}}",
         ALTERNATOR},
        {"UpdateTimeToLive",
         "{'TableName':'Hash','TimeToLiveSpecification':{'Enabled':true,'AttributeName':'t'}}", V,
         "TimeToLive is already enabled", QUIRKS},
        {"UpdateTimeToLive",
         "{'TableName':'Hash','TimeToLiveSpecification':{'Enabled':true,'AttributeName':'u'}}", V,
         "TimeToLive is active on a different AttributeName: current AttributeName is t", QUIRKS},
        {"UpdateTimeToLive",
         "{'TableName':'Hash','TimeToLiveSpecification':{'Enabled':false,'AttributeName':'u'}}", V,
         "TimeToLive is active on a different AttributeName: current AttributeName is t",
         ALTERNATOR},
        {"DescribeTimeToLive", "{'TableName':'Number'}", NULL,
         "{'TimeToLiveDescription':{'TimeToLiveStatus':'DISABLED'}}", DYNALITE},
    };
    WIRE_CHECK(w, "time to live", rows);
}

static void test_account__answers(void **state)
{
    static const struct wire_row rows[] = {
        {"TagResource", "{'ResourceArn':'" ARN "Hash','Tags':[{'Key':'k','Value':'v'}]}", NULL,
         "{}", GUIDE},
        {"ListTagsOfResource", "{'ResourceArn':'" ARN "Hash'}", NULL,
         "{'Tags':[{'Key':'k','Value':'v'}]}", DYNALITE},
        {"UntagResource", "{'ResourceArn':'" ARN "Hash','TagKeys':['k','never']}", NULL, "{}",
         ALTERNATOR},
        {"ListTagsOfResource", "{'ResourceArn':'" ARN "Hash'}", NULL, "{'Tags':[]}", DYNALITE},
        {"DescribeContinuousBackups", "{'TableName':'Hash'}", NULL,
         "{'ContinuousBackupsDescription':{'ContinuousBackupsStatus':'DISABLED',"
         "'PointInTimeRecoveryDescription':{'PointInTimeRecoveryStatus':'DISABLED'}}}",
         OURS},
        {"DescribeLimits", "{}", NULL,
         "{'AccountMaxReadCapacityUnits':80000,'AccountMaxWriteCapacityUnits':80000,"
         "'TableMaxReadCapacityUnits':40000,'TableMaxWriteCapacityUnits':40000}",
         QUIRKS},
        {"DescribeEndpoints", "{}", NULL,
         "{'Endpoints':[{'Address':'dynamodb.us-east-1.amazonaws.com','CachePeriodInMinutes':1440}"
         "]}",
         GUIDE},
    };
    WIRE_CHECK(*state, "tags and the account", rows);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, wire_setup, wire_teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_named_table__is_judged_alike_by_all_operations),
        CASE(test_named_table__that_is_not_there),
        CASE(test_create_table__shapes),
        CASE(test_create_table__billing_comes_before_keys),
        CASE(test_create_table__keys),
        CASE(test_create_table__local_indexes),
        CASE(test_create_table__global_indexes),
        CASE(test_create_table__counts_of_indexes),
        CASE(test_create_table__settings),
        CASE(test_update_table__shapes),
        CASE(test_update_table__one_change_at_a_time),
        CASE(test_update_table__against_what_the_table_is),
        CASE(test_update_table__indexes),
        CASE(test_list_tables__checks_its_page),
        CASE(test_time_to_live__refusals),
        CASE(test_account__answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
