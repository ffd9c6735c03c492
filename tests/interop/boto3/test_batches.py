"""BatchWriteItem and BatchGetItem."""
import pytest
from botocore.exceptions import ClientError

from conftest import av


def puts(numbers, **more):
    return [{"PutRequest": {"Item": av(pk=f"k{n:03}", **more)}} for n in numbers]


def test_a_batch_writes_and_deletes_in_several_tables(ddb, simple, table):
    ddb.put_item(TableName=simple, Item=av(pk="old"))
    answer = ddb.batch_write_item(RequestItems={
        simple: [{"DeleteRequest": {"Key": av(pk="old")}}, *puts([1])],
        table: [{"PutRequest": {"Item": av(pk="a", sk="b")}}]})
    assert answer["UnprocessedItems"] == {}
    assert ddb.scan(TableName=simple)["Items"] == [av(pk="k001")]
    assert ddb.scan(TableName=table)["Count"] == 1


def test_25_writes_are_a_batch(ddb, simple):
    ddb.batch_write_item(RequestItems={simple: puts(range(25))})
    assert ddb.scan(TableName=simple)["Count"] == 25


def test_26_writes_are_too_many(ddb, simple):
    with pytest.raises(ClientError) as failure:
        ddb.batch_write_item(RequestItems={simple: puts(range(26))})
    assert failure.value.response["Error"]["Code"] == "ValidationException"
    assert ddb.scan(TableName=simple)["Count"] == 0


def test_one_item_twice_is_refused(ddb, simple):
    with pytest.raises(ClientError) as failure:
        ddb.batch_write_item(RequestItems={simple: puts([1, 1])})
    assert failure.value.response["Error"]["Code"] == "ValidationException"
    assert failure.value.response["Error"]["Message"].endswith(
        "Provided list of item keys contains duplicates")


def test_a_batch_of_a_missing_table_writes_nothing(ddb, simple):
    with pytest.raises(ddb.exceptions.ResourceNotFoundException):
        ddb.batch_write_item(RequestItems={simple: puts([1]), "interop-absent": puts([1])})
    assert ddb.scan(TableName=simple)["Count"] == 0


def test_a_batch_gets_what_is_there(ddb, simple, table):
    ddb.batch_write_item(RequestItems={
        simple: puts(range(3), n=7), table: [{"PutRequest": {"Item": av(pk="a", sk="b")}}]})
    answer = ddb.batch_get_item(RequestItems={
        simple: {"Keys": [av(pk=k) for k in ("k000", "k002", "absent")],
                 "ProjectionExpression": "pk"},
        table: {"Keys": [av(pk="a", sk="b")], "ConsistentRead": True}})
    assert sorted(item["pk"]["S"] for item in answer["Responses"][simple]) == ["k000", "k002"]
    assert all("n" not in item for item in answer["Responses"][simple])
    assert answer["Responses"][table] == [av(pk="a", sk="b")]
    assert answer["UnprocessedKeys"] == {}


def test_100_keys_are_a_batch_and_101_are_too_many(ddb, simple):
    hundred = [av(pk=str(n)) for n in range(100)]
    answer = ddb.batch_get_item(RequestItems={simple: {"Keys": hundred}})
    assert answer["Responses"].get(simple, []) == []
    with pytest.raises(ClientError) as failure:
        ddb.batch_get_item(RequestItems={simple: {"Keys": [*hundred, av(pk="100")]}})
    assert failure.value.response["Error"]["Code"] == "ValidationException"


def test_one_key_twice_is_refused(ddb, simple):
    with pytest.raises(ClientError) as failure:
        ddb.batch_get_item(RequestItems={simple: {"Keys": [av(pk="a"), av(pk="a")]}})
    assert failure.value.response["Error"]["Code"] == "ValidationException"


def test_keys_beyond_16_megabytes_come_back_unprocessed(ddb, simple):
    for n in range(50):
        ddb.put_item(TableName=simple, Item=av(pk=str(n), v="x" * 380_000))
    wanted, found, rounds = {simple: {"Keys": [av(pk=str(n)) for n in range(50)]}}, set(), 0
    while wanted:
        answer = ddb.batch_get_item(RequestItems=wanted)
        found |= {item["pk"]["S"] for item in answer["Responses"][simple]}
        wanted, rounds = answer["UnprocessedKeys"], rounds + 1
    assert rounds == 2
    assert found == {str(n) for n in range(50)}


def test_a_batch_tells_what_each_table_cost(ddb, simple, table):
    answer = ddb.batch_write_item(ReturnConsumedCapacity="TOTAL", RequestItems={
        simple: puts(range(3)), table: [{"PutRequest": {"Item": av(pk="a", sk="b")}}]})
    cost = {c["TableName"]: c["CapacityUnits"] for c in answer["ConsumedCapacity"]}
    assert cost == {simple: 3.0, table: 1.0}
