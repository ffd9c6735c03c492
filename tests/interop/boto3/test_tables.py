"""Tables: creating, describing, listing, changing, deleting; tags, TTL settings, limits."""
import datetime
import uuid

import pytest
from botocore.exceptions import ClientError, WaiterError

from conftest import av, definitions, index, keys


def code(failure):
    return failure.value.response["Error"]["Code"]


@pytest.fixture
def indexed(make):
    return make(
        AttributeDefinitions=definitions(pk="S", sk="S", gpk="S", gsk="N", lsk="S"),
        GlobalSecondaryIndexes=[index("by-g", "gpk", "gsk", "INCLUDE", ["colour"])],
        LocalSecondaryIndexes=[index("by-l", "pk", "lsk", "KEYS_ONLY")],
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"})


def test_create_table_answers_with_the_whole_description(ddb, new_name):
    name = new_name()
    answer = ddb.create_table(TableName=name, BillingMode="PAY_PER_REQUEST", KeySchema=keys("pk"),
                              AttributeDefinitions=definitions(pk="S"))["TableDescription"]
    assert answer["TableName"] == name
    assert answer["TableStatus"] in ("CREATING", "ACTIVE")
    assert answer["KeySchema"] == keys("pk")
    assert answer["AttributeDefinitions"] == definitions(pk="S")
    assert answer["ItemCount"] == 0 and answer["TableSizeBytes"] == 0
    assert answer["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    assert answer["TableArn"].startswith("arn:aws:dynamodb:")
    assert answer["TableArn"].endswith(f":table/{name}")
    assert isinstance(answer["CreationDateTime"], datetime.datetime)
    ddb.delete_table(TableName=name)


def test_a_new_table_can_be_used_at_once(ddb, table):
    ddb.put_item(TableName=table, Item=av(pk="a", sk="b"))
    assert "Item" in ddb.get_item(TableName=table, Key=av(pk="a", sk="b"))


def test_the_waiter_sees_the_table_become_active(ddb, table):
    ddb.get_waiter("table_exists").wait(
        TableName=table, WaiterConfig={"Delay": 1, "MaxAttempts": 5})
    assert ddb.describe_table(TableName=table)["Table"]["TableStatus"] == "ACTIVE"


def test_describe_table_has_a_table_id(ddb, table):
    assert uuid.UUID(ddb.describe_table(TableName=table)["Table"]["TableId"])


def test_describe_table_tells_of_a_global_index(ddb, indexed):
    [found] = ddb.describe_table(TableName=indexed)["Table"]["GlobalSecondaryIndexes"]
    assert found["IndexName"] == "by-g"
    assert found["IndexStatus"] == "ACTIVE"
    assert found["KeySchema"] == keys("gpk", "gsk")
    assert found["Projection"] == {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["colour"]}
    assert found["IndexArn"].endswith(f":table/{indexed}/index/by-g")


def test_describe_table_tells_of_a_local_index(ddb, indexed):
    [found] = ddb.describe_table(TableName=indexed)["Table"]["LocalSecondaryIndexes"]
    assert found["IndexName"] == "by-l"
    assert found["KeySchema"] == keys("pk", "lsk")
    assert found["Projection"] == {"ProjectionType": "KEYS_ONLY"}


def test_describe_table_tells_of_its_stream(ddb, indexed):
    found = ddb.describe_table(TableName=indexed)["Table"]
    assert found["StreamSpecification"] == {
        "StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
    label = found["LatestStreamLabel"]
    assert found["LatestStreamArn"].endswith(f":table/{indexed}/stream/{label}")


def test_provisioned_throughput_is_kept(ddb, make):
    name = make(BillingMode="PROVISIONED",
                ProvisionedThroughput={"ReadCapacityUnits": 7, "WriteCapacityUnits": 3})
    found = ddb.describe_table(TableName=name)["Table"]["ProvisionedThroughput"]
    assert (found["ReadCapacityUnits"], found["WriteCapacityUnits"]) == (7, 3)
    assert found["NumberOfDecreasesToday"] == 0


def test_update_table_changes_throughput(ddb, make):
    name = make(BillingMode="PROVISIONED",
                ProvisionedThroughput={"ReadCapacityUnits": 7, "WriteCapacityUnits": 3})
    ddb.update_table(TableName=name, ProvisionedThroughput={
        "ReadCapacityUnits": 9, "WriteCapacityUnits": 4})
    ddb.get_waiter("table_exists").wait(TableName=name, WaiterConfig={"Delay": 1, "MaxAttempts": 9})
    found = ddb.describe_table(TableName=name)["Table"]["ProvisionedThroughput"]
    assert (found["ReadCapacityUnits"], found["WriteCapacityUnits"]) == (9, 4)


def test_update_table_changes_the_billing_mode(ddb, table):
    ddb.update_table(TableName=table, BillingMode="PROVISIONED", ProvisionedThroughput={
        "ReadCapacityUnits": 2, "WriteCapacityUnits": 1})
    found = ddb.describe_table(TableName=table)["Table"]["ProvisionedThroughput"]
    assert (found["ReadCapacityUnits"], found["WriteCapacityUnits"]) == (2, 1)


def test_deletion_protection_protects(ddb, make):
    name = make(DeletionProtectionEnabled=True)
    assert ddb.describe_table(TableName=name)["Table"]["DeletionProtectionEnabled"] is True
    with pytest.raises(ClientError) as failure:
        ddb.delete_table(TableName=name)
    assert code(failure) == "ValidationException"
    ddb.update_table(TableName=name, DeletionProtectionEnabled=False)
    ddb.delete_table(TableName=name)


def test_a_table_can_be_named_by_its_arn(ddb, table):
    arn = ddb.describe_table(TableName=table)["Table"]["TableArn"]
    ddb.put_item(TableName=arn, Item=av(pk="a", sk="b", n=1))
    assert ddb.get_item(TableName=table, Key=av(pk="a", sk="b"))["Item"] == av(pk="a", sk="b", n=1)
    assert ddb.describe_table(TableName=arn)["Table"]["TableName"] == table


def test_a_second_table_of_that_name_is_refused(ddb, table):
    with pytest.raises(ddb.exceptions.ResourceInUseException):
        ddb.create_table(TableName=table, BillingMode="PAY_PER_REQUEST", KeySchema=keys("pk"),
                         AttributeDefinitions=definitions(pk="S"))


def test_delete_table_deletes(ddb, table):
    answer = ddb.delete_table(TableName=table)["TableDescription"]
    assert answer["TableName"] == table
    ddb.get_waiter("table_not_exists").wait(
        TableName=table, WaiterConfig={"Delay": 1, "MaxAttempts": 5})
    with pytest.raises(ddb.exceptions.ResourceNotFoundException):
        ddb.describe_table(TableName=table)


def test_a_deleted_name_can_be_used_again_and_is_empty(ddb, make):
    name = make()
    ddb.put_item(TableName=name, Item=av(pk="a", sk="b"))
    ddb.delete_table(TableName=name)
    ddb.create_table(TableName=name, BillingMode="PAY_PER_REQUEST", KeySchema=keys("pk", "sk"),
                     AttributeDefinitions=definitions(pk="S", sk="S"))
    assert ddb.scan(TableName=name)["Count"] == 0


def test_the_waiter_of_a_missing_table_gives_up(ddb):
    with pytest.raises(WaiterError):
        ddb.get_waiter("table_exists").wait(
            TableName="interop-absent", WaiterConfig={"Delay": 0, "MaxAttempts": 1})


def test_list_tables_pages_through_names_in_order(ddb, make):
    made = sorted(make(KeySchema=keys("pk"), AttributeDefinitions=definitions(pk="S"))
                  for _ in range(5))
    pages = list(ddb.get_paginator("list_tables").paginate(PaginationConfig={"PageSize": 2}))
    listed = [name for page in pages for name in page["TableNames"]]
    assert set(made) <= set(listed)
    assert listed == sorted(listed)
    assert all(len(page["TableNames"]) <= 2 for page in pages)
    assert ddb.list_tables(ExclusiveStartTableName=made[0], Limit=1)["TableNames"] == [made[1]]


def test_an_index_can_be_added_and_removed(ddb, table):
    ddb.put_item(TableName=table, Item=av(pk="a", sk="b", gpk="x"))
    ddb.update_table(TableName=table, AttributeDefinitions=definitions(gpk="S"),
                     GlobalSecondaryIndexUpdates=[{"Create": index("late", "gpk")}])
    wait_for_index(ddb, table)
    found = ddb.query(TableName=table, IndexName="late", KeyConditionExpression="gpk = :x",
                      ExpressionAttributeValues={":x": {"S": "x"}})
    assert found["Items"] == [av(pk="a", sk="b", gpk="x")]
    ddb.update_table(TableName=table,
                     GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "late"}}])
    wait_for_index(ddb, table)
    assert "GlobalSecondaryIndexes" not in ddb.describe_table(TableName=table)["Table"]


def wait_for_index(ddb, name):
    """Asks until no index is being filled or removed."""
    for _ in range(100_000):
        found = ddb.describe_table(TableName=name)["Table"]
        if all(i["IndexStatus"] == "ACTIVE" for i in found.get("GlobalSecondaryIndexes", [])):
            return
    pytest.fail("the index did not become active")


def test_item_count_counts(ddb, table):
    for n in range(3):
        ddb.put_item(TableName=table, Item=av(pk="a", sk=str(n)))
    found = ddb.describe_table(TableName=table)["Table"]
    assert found["ItemCount"] == 3
    assert found["TableSizeBytes"] > 0


def test_tags_are_added_listed_and_removed(ddb, table):
    arn = ddb.describe_table(TableName=table)["Table"]["TableArn"]
    ddb.tag_resource(ResourceArn=arn, Tags=[{"Key": "a", "Value": "1"}, {"Key": "b", "Value": "2"}])
    ddb.tag_resource(ResourceArn=arn, Tags=[{"Key": "b", "Value": "3"}])
    ddb.untag_resource(ResourceArn=arn, TagKeys=["a"])
    assert ddb.list_tags_of_resource(ResourceArn=arn)["Tags"] == [{"Key": "b", "Value": "3"}]


def test_tags_can_come_with_the_table(ddb, make):
    name = make(Tags=[{"Key": "team", "Value": "orders"}])
    arn = ddb.describe_table(TableName=name)["Table"]["TableArn"]
    pages = ddb.get_paginator("list_tags_of_resource").paginate(ResourceArn=arn)
    assert [tag for page in pages for tag in page["Tags"]] == [{"Key": "team", "Value": "orders"}]


def test_tags_of_a_missing_table_are_refused(ddb, table):
    arn = ddb.describe_table(TableName=table)["Table"]["TableArn"]
    with pytest.raises(ClientError) as failure:
        ddb.list_tags_of_resource(ResourceArn=arn + "-absent")
    assert code(failure) in ("AccessDeniedException", "ResourceNotFoundException")


def test_ttl_is_off_until_switched_on(ddb, table):
    found = ddb.describe_time_to_live(TableName=table)["TimeToLiveDescription"]
    assert found == {"TimeToLiveStatus": "DISABLED"}


def test_ttl_can_be_switched_on(ddb, table):
    wanted = {"Enabled": True, "AttributeName": "expires"}
    answer = ddb.update_time_to_live(TableName=table, TimeToLiveSpecification=wanted)
    assert answer["TimeToLiveSpecification"] == wanted
    found = ddb.describe_time_to_live(TableName=table)["TimeToLiveDescription"]
    assert found["AttributeName"] == "expires"
    assert found["TimeToLiveStatus"] in ("ENABLING", "ENABLED")


def test_ttl_that_is_on_cannot_be_switched_on_again(ddb, table):
    wanted = {"Enabled": True, "AttributeName": "expires"}
    ddb.update_time_to_live(TableName=table, TimeToLiveSpecification=wanted)
    with pytest.raises(ClientError) as failure:
        ddb.update_time_to_live(TableName=table, TimeToLiveSpecification=wanted)
    assert code(failure) == "ValidationException"


def test_describe_limits_has_four_numbers(ddb):
    found = ddb.describe_limits()
    for name in ("AccountMaxReadCapacityUnits", "AccountMaxWriteCapacityUnits",
                 "TableMaxReadCapacityUnits", "TableMaxWriteCapacityUnits"):
        assert found[name] > 0


def test_describe_endpoints_names_an_address(ddb):
    [found] = ddb.describe_endpoints()["Endpoints"]
    assert found["Address"]
    assert found["CachePeriodInMinutes"] > 0


def test_continuous_backups_are_told_truthfully(ddb, table):
    found = ddb.describe_continuous_backups(TableName=table)["ContinuousBackupsDescription"]
    recovery = found.get("PointInTimeRecoveryDescription", {})
    assert recovery.get("PointInTimeRecoveryStatus", "DISABLED") == "DISABLED"


def test_an_operation_that_is_not_there_is_unknown(ddb):
    with pytest.raises(ClientError) as failure:
        ddb.list_backups()
    assert code(failure) == "UnknownOperationException"
    assert failure.value.response["ResponseMetadata"]["HTTPStatusCode"] == 400


@pytest.mark.parametrize("why, wrong", [
    ("a key attribute is not defined", {"AttributeDefinitions": definitions(pk="S")}),
    ("a definition is not used", {"AttributeDefinitions": definitions(pk="S", sk="S", x="S")}),
    ("a sort key comes first", {"KeySchema": keys("pk", "sk")[::-1]}),
    ("two indexes have one name", {
        "AttributeDefinitions": definitions(pk="S", sk="S", g="S"),
        "GlobalSecondaryIndexes": [index("same", "g"), index("same", "g")]}),
    ("a local index has another partition key", {
        "AttributeDefinitions": definitions(pk="S", sk="S", g="S"),
        "LocalSecondaryIndexes": [index("local", "g", "sk")]}),
    ("the throughput is missing", {"BillingMode": "PROVISIONED"}),
    ("an attribute type is not one of keys", {"AttributeDefinitions": definitions(pk="S", sk="L")}),
])
def test_create_table_refuses(ddb, make, why, wrong):
    with pytest.raises(ClientError) as failure:
        make(**wrong)
    assert code(failure) == "ValidationException", why
    assert failure.value.response["ResponseMetadata"]["HTTPStatusCode"] == 400


@pytest.mark.parametrize("name", ["ab", "a" * 256, "with space", "slash/inside"])
def test_bad_table_names_are_refused(ddb, name):
    bad = {"S": "x"}
    with pytest.raises((ClientError, ValueError)) as failure:
        ddb._make_api_call("GetItem", {"TableName": name, "Key": {"pk": bad}})
    assert code(failure) == "ValidationException"
