"""Streams through the streams client, and what TTL leaves in them."""
import time

import pytest
from botocore.exceptions import ClientError

from conftest import av, values

KEY = av(pk="p", sk="s")


def stream_of(ddb, table):
    return ddb.describe_table(TableName=table)["Table"]["LatestStreamArn"]


def records(streams, arn, iterator_type="TRIM_HORIZON"):
    """Everything that is in the stream now, shard after shard."""
    found = []
    for shard in streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]:
        first = streams.get_shard_iterator(
            StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType=iterator_type)
        iterator = first["ShardIterator"]
        while iterator:
            page = streams.get_records(ShardIterator=iterator)
            found += page["Records"]
            iterator = page.get("NextShardIterator") if page["Records"] else None
    return found


@pytest.fixture
def make_stream(make):
    return lambda view: make(StreamSpecification={"StreamEnabled": True, "StreamViewType": view})


def insert_modify_remove(ddb, table):
    ddb.put_item(TableName=table, Item={**KEY, **av(n=1)})
    ddb.update_item(TableName=table, Key=KEY, UpdateExpression="SET n = :two",
                    ExpressionAttributeValues=values(two=2))
    ddb.delete_item(TableName=table, Key=KEY)


def test_each_change_leaves_a_record_in_order(ddb, streams, make_stream):
    table = make_stream("NEW_AND_OLD_IMAGES")
    insert_modify_remove(ddb, table)
    found = records(streams, stream_of(ddb, table))
    assert [r["eventName"] for r in found] == ["INSERT", "MODIFY", "REMOVE"]
    assert [r["dynamodb"].get("OldImage", {}).get("n") for r in found] == [
        None, {"N": "1"}, {"N": "2"}]
    assert [r["dynamodb"].get("NewImage", {}).get("n") for r in found] == [
        {"N": "1"}, {"N": "2"}, None]
    numbers = [int(r["dynamodb"]["SequenceNumber"]) for r in found]
    assert numbers == sorted(numbers) and len(set(numbers)) == 3


def test_a_record_tells_where_it_comes_from(ddb, streams, make_stream):
    table = make_stream("KEYS_ONLY")
    ddb.put_item(TableName=table, Item=KEY)
    [record] = records(streams, stream_of(ddb, table))
    assert record["eventSource"] == "aws:dynamodb"
    assert record["awsRegion"] and record["eventVersion"] and record["eventID"]
    assert record["dynamodb"]["Keys"] == KEY
    assert record["dynamodb"]["SizeBytes"] > 0
    assert record["dynamodb"]["ApproximateCreationDateTime"].timestamp() > 1_600_000_000


@pytest.mark.parametrize("view, images", [
    ("KEYS_ONLY", set()), ("NEW_IMAGE", {"NewImage"}), ("OLD_IMAGE", {"OldImage"}),
    ("NEW_AND_OLD_IMAGES", {"NewImage", "OldImage"})])
def test_a_view_decides_which_images_there_are(ddb, streams, make_stream, view, images):
    table = make_stream(view)
    insert_modify_remove(ddb, table)
    modify = records(streams, stream_of(ddb, table))[1]
    assert modify["dynamodb"]["StreamViewType"] == view
    assert {"NewImage", "OldImage"} & set(modify["dynamodb"]) == images


def test_writes_that_change_nothing_leave_no_record(ddb, streams, make_stream):
    table = make_stream("NEW_IMAGE")
    for _ in range(2):
        ddb.put_item(TableName=table, Item=KEY)
    ddb.delete_item(TableName=table, Key=av(pk="absent", sk="s"))
    assert len(records(streams, stream_of(ddb, table))) == 1


def test_a_transaction_leaves_one_record_for_each_item(ddb, streams, make_stream):
    table = make_stream("NEW_IMAGE")
    ddb.transact_write_items(TransactItems=[
        {"Put": {"TableName": table, "Item": av(pk="p", sk=str(n))}} for n in range(5)])
    found = records(streams, stream_of(ddb, table))
    assert sorted(r["dynamodb"]["Keys"]["sk"]["S"] for r in found) == ["0", "1", "2", "3", "4"]


def test_iterators_start_where_they_are_told(ddb, streams, make_stream):
    table = make_stream("KEYS_ONLY")
    insert_modify_remove(ddb, table)
    arn = stream_of(ddb, table)
    assert records(streams, arn, "LATEST") == []
    sought = {}
    for shard in streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]:
        first = streams.get_shard_iterator(
            StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON")
        found = streams.get_records(ShardIterator=first["ShardIterator"], Limit=2)["Records"]
        if found:
            sought = {"StreamArn": arn, "ShardId": shard["ShardId"],
                      "SequenceNumber": found[1]["dynamodb"]["SequenceNumber"]}
            assert len(found) == 2
    names = {}
    for kind in ("AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER"):
        iterator = streams.get_shard_iterator(ShardIteratorType=kind, **sought)["ShardIterator"]
        found = streams.get_records(ShardIterator=iterator)["Records"]
        names[kind] = [r["eventName"] for r in found]
    assert names == {
        "AT_SEQUENCE_NUMBER": ["MODIFY", "REMOVE"], "AFTER_SEQUENCE_NUMBER": ["REMOVE"]}


def test_describe_stream_tells_of_the_table(ddb, streams, make_stream):
    table = make_stream("NEW_IMAGE")
    found = streams.describe_stream(StreamArn=stream_of(ddb, table))["StreamDescription"]
    assert found["TableName"] == table
    assert found["StreamStatus"] == "ENABLED"
    assert found["StreamViewType"] == "NEW_IMAGE"
    assert [k["AttributeName"] for k in found["KeySchema"]] == ["pk", "sk"]
    assert found["Shards"]


def test_list_streams_of_a_table(ddb, streams, make_stream):
    table = make_stream("NEW_IMAGE")
    [found] = streams.list_streams(TableName=table)["Streams"]
    assert found["StreamArn"] == stream_of(ddb, table)
    assert found["TableName"] == table


def test_a_stream_can_be_switched_on_and_off(ddb, streams, table):
    on = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
    ddb.update_table(TableName=table, StreamSpecification=on)
    ddb.put_item(TableName=table, Item=KEY)
    arn = stream_of(ddb, table)
    assert len(records(streams, arn)) == 1
    ddb.update_table(TableName=table, StreamSpecification={"StreamEnabled": False})
    assert "StreamSpecification" not in ddb.describe_table(TableName=table)["Table"]


def test_a_missing_stream_is_not_found(ddb, streams, make_stream):
    arn = stream_of(ddb, make_stream("NEW_IMAGE"))
    with pytest.raises(streams.exceptions.ResourceNotFoundException):
        streams.describe_stream(StreamArn=arn.replace(":table/", ":table/absent-"))


def test_an_iterator_that_is_none_is_refused(streams):
    with pytest.raises(ClientError) as failure:
        streams.get_records(ShardIterator="this is no iterator")
    assert failure.value.response["Error"]["Code"] == "ValidationException"


def test_expired_items_go_and_the_stream_says_who_did_it(ddb, streams, make_stream):
    table = make_stream("OLD_IMAGE")
    ddb.update_time_to_live(TableName=table, TimeToLiveSpecification={
        "Enabled": True, "AttributeName": "expires"})
    now = int(time.time())
    ddb.put_item(TableName=table, Item=av(pk="p", sk="old", expires=now - 60))
    ddb.put_item(TableName=table, Item=av(pk="p", sk="young", expires=now + 3600))
    ddb.put_item(TableName=table, Item=av(pk="p", sk="text", expires="soon"))
    deadline = time.monotonic() + 60
    while ddb.scan(TableName=table)["Count"] > 2:
        assert time.monotonic() < deadline, "the expired item is still there"
        time.sleep(0.05)
    assert sorted(i["sk"]["S"] for i in ddb.scan(TableName=table)["Items"]) == ["text", "young"]
    [removed] = [r for r in records(streams, stream_of(ddb, table)) if r["eventName"] == "REMOVE"]
    assert removed["userIdentity"] == {"Type": "Service", "PrincipalId": "dynamodb.amazonaws.com"}
    assert removed["dynamodb"]["OldImage"]["sk"] == {"S": "old"}
