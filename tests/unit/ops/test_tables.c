/* The operations on tables, tags, time to live and streams over the wire. */
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

#define ARN "arn:aws:dynamodb:us-east-1:000000000000:table/"
#define KEYS "'KeySchema':[{'AttributeName':'a','KeyType':'HASH'}]"
#define DEFS "'AttributeDefinitions':[{'AttributeName':'a','AttributeType':'S'}]"
#define ON_DEMAND "'BillingMode':'PAY_PER_REQUEST'"
#define INVALID "One or more parameter values were invalid: "

static void test_create_table__is_described_until_it_is_deleted(void **state)
{
    static const struct wire_row rows[] = {
        {"CreateTable", "{'TableName':'New'," DEFS "," KEYS "," ON_DEMAND "}", NULL,
         "{'TableDescription':{'AttributeDefinitions':[{'AttributeName':'a','AttributeType':'S'}],"
         "'TableName':'New','KeySchema':[{'AttributeName':'a','KeyType':'HASH'}],"
         "'TableStatus':'CREATING','CreationDateTime':…",
         GUIDE},
        {"DescribeTable", "{'TableName':'New'}", NULL,
         "{'Table':{'AttributeDefinitions':[{'AttributeName':'a','AttributeType':'S'}],"
         "'TableName':'New','KeySchema':[{'AttributeName':'a','KeyType':'HASH'}],"
         "'TableStatus':'ACTIVE',…",
         GUIDE},
        {"ListTables", "{'ExclusiveStartTableName':'Local','Limit':2}", NULL,
         "{'LastEvaluatedTableName':'Number','TableNames':['New','Number']}", GUIDE},
        {"DeleteTable", "{'TableName':'" ARN "New'}", NULL,
         "{'TableDescription':{'AttributeDefinitions':…", GUIDE},
        {"DescribeTable", "{'TableName':'New'}", "ResourceNotFoundException",
         "Requested resource not found: Table: New not found", DYNALITE},
    };
    WIRE_CHECK(*state, "the life of a table", rows);
}

static void test_create_table__refuses_what_is_no_table(void **state)
{
    static const struct wire_row rows[] = {
        {"CreateTable", "{'TableName':'New'," DEFS "}", "ValidationException",
         "1 validation error detected: Value null at 'keySchema' failed to satisfy constraint: "
         "Member must not be null",
         DYNALITE},
        {"CreateTable", "{'TableName':'New'," DEFS ",'KeySchema':[]," ON_DEMAND "}",
         "ValidationException",
         "1 validation error detected: Value '[]' at 'keySchema' failed to satisfy constraint: "
         "Member must have length greater than or equal to 1",
         DYNALITE},
        {"CreateTable",
         "{'TableName':'New'," DEFS
         ",'KeySchema':[{'AttributeName':'a','KeyType':'RANGE'}]," ON_DEMAND "}",
         "ValidationException",
         "Invalid KeySchema: The first KeySchemaElement is not a HASH key type", DYNALITE},
        {"CreateTable", "{'TableName':'New'," DEFS "," KEYS "}", "ValidationException",
         INVALID "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode "
                 "is PROVISIONED",
         DYNALITE},
        {"CreateTable",
         "{'TableName':'New'," DEFS "," KEYS
         ",'ProvisionedThroughput':{'ReadCapacityUnits':0,'WriteCapacityUnits':1}}",
         "ValidationException",
         "1 validation error detected: Value '0' at 'provisionedThroughput.readCapacityUnits' "
         "failed to satisfy constraint: Member must have value greater than or equal to 1",
         DYNALITE},
        {"CreateTable",
         "{'TableName':'New'," DEFS "," KEYS "," ON_DEMAND ",'GlobalSecondaryIndexes':[]}",
         "ValidationException", INVALID "List of GlobalSecondaryIndexes is empty", DYNALITE},
        {"CreateTable",
         "{'TableName':'New'," DEFS "," KEYS "," ON_DEMAND
         ",'GlobalSecondaryIndexes':[{'IndexName':'byA'," KEYS ",'Projection':{}}]}",
         "ValidationException", INVALID "Unknown ProjectionType: null", DYNALITE},
        {"CreateTable",
         "{'TableName':'New'," DEFS "," KEYS "," ON_DEMAND
         ",'StreamSpecification':{'StreamEnabled':true}}",
         "ValidationException",
         INVALID "StreamViewType must be specified when StreamEnabled is true", UNVERIFIED},
        {"CreateTable", "{'TableName':'Hash'," DEFS "," KEYS "," ON_DEMAND "}",
         "ResourceInUseException", "Table already exists: Hash", DYNALITE},
        {"CreateTable", "{'TableName':'New'," DEFS "," KEYS "," ON_DEMAND ",'ResourcePolicy':'x'}",
         "ValidationException", "ResourcePolicy is not supported by Sheaf; leave it out", OURS},
    };
    WIRE_CHECK(*state, "refused tables", rows);
}

static void test_update_table__changes_indexes_and_settings(void **state)
{
    static const struct wire_row rows[] = {
        {"UpdateTable",
         "{'TableName':'Hash','AttributeDefinitions':[{'AttributeName':'g','AttributeType':'N'}],"
         "'GlobalSecondaryIndexUpdates':[{'Create':{'IndexName':'byG','KeySchema':"
         "[{'AttributeName':'g','KeyType':'HASH'}],'Projection':{'ProjectionType':'ALL'}}}]}",
         NULL, "{'TableDescription':{…", GUIDE},
        {"UpdateTable",
         "{'TableName':'Global','GlobalSecondaryIndexUpdates':[{'Delete':{'IndexName':'byG'}},"
         "{'Delete':{'IndexName':'keys'}}]}",
         "LimitExceededException",
         "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously "
         "per table",
         GUIDE},
        {"UpdateTable", "{'TableName':'Global','GlobalSecondaryIndexUpdates':[{}]}",
         "ValidationException",
         INVALID "One of GlobalSecondaryIndexUpdate, CreateGlobalSecondaryIndexAction or "
                 "DeleteGlobalSecondaryIndexAction must not be null",
         UNVERIFIED},
        {"UpdateTable", "{'TableName':'Range','DeletionProtectionEnabled':true}", NULL,
         "{'TableDescription':{…", GUIDE},
        {"DeleteTable", "{'TableName':'Range'}", "ValidationException",
         "Resource cannot be deleted as it is currently protected against deletion. Disable "
         "deletion protection first.",
         GUIDE},
        {"UpdateTable", "{'TableName':'Range','ReplicaUpdates':[]}", "ValidationException",
         "ReplicaUpdates is not supported by Sheaf; leave it out", OURS},
    };
    WIRE_CHECK(*state, "changed tables", rows);
}

static void test_ttl_tags_and_account__answer(void **state)
{
    static const struct wire_row rows[] = {
        {"DescribeTimeToLive", "{'TableName':'Hash'}", NULL,
         "{'TimeToLiveDescription':{'TimeToLiveStatus':'DISABLED'}}", GUIDE},
        {"UpdateTimeToLive",
         "{'TableName':'Hash','TimeToLiveSpecification':{'Enabled':true,'AttributeName':'t'}}",
         NULL, "{'TimeToLiveSpecification':{'Enabled':true,'AttributeName':'t'}}", GUIDE},
        {"DescribeTimeToLive", "{'TableName':'Hash'}", NULL,
         "{'TimeToLiveDescription':{'TimeToLiveStatus':'ENABLED','AttributeName':'t'}}", GUIDE},
        {"TagResource", "{'ResourceArn':'" ARN "Hash','Tags':[{'Key':'k','Value':'v'}]}", NULL,
         "{}", GUIDE},
        {"ListTagsOfResource", "{'ResourceArn':'" ARN "Hash'}", NULL,
         "{'Tags':[{'Key':'k','Value':'v'}]}", GUIDE},
        {"UntagResource", "{'ResourceArn':'" ARN "Hash','TagKeys':['k']}", NULL, "{}", GUIDE},
        {"ListTagsOfResource", "{'ResourceArn':'" ARN "Hash'}", NULL, "{'Tags':[]}", GUIDE},
        {"DescribeContinuousBackups", "{'TableName':'Hash'}", NULL,
         "{'ContinuousBackupsDescription':{'ContinuousBackupsStatus':'DISABLED',"
         "'PointInTimeRecoveryDescription':{'PointInTimeRecoveryStatus':'DISABLED'}}}",
         OURS},
        {"DescribeContinuousBackups", "{'TableName':'None'}", "TableNotFoundException",
         "Table not found: None", GUIDE},
        {"DescribeLimits", "{}", NULL,
         "{'AccountMaxReadCapacityUnits':80000,'AccountMaxWriteCapacityUnits':80000,"
         "'TableMaxReadCapacityUnits':40000,'TableMaxWriteCapacityUnits':40000}",
         GUIDE},
        {"DescribeEndpoints", "{}", NULL,
         "{'Endpoints':[{'Address':'dynamodb.us-east-1.amazonaws.com','CachePeriodInMinutes':1440}"
         "]}",
         GUIDE},
    };
    WIRE_CHECK(*state, "time to live, tags and the account", rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_create_table__is_described_until_it_is_deleted, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_create_table__refuses_what_is_no_table, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_update_table__changes_indexes_and_settings, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_ttl_tags_and_account__answer, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
