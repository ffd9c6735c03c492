"""The resource interface, as most Python programs use it: Table, conditions, batch_writer."""
import decimal

import pytest
from boto3.dynamodb.conditions import Attr, Key
from boto3.dynamodb.types import Binary

from conftest import definitions, index, keys

D = decimal.Decimal


@pytest.fixture(scope="module")
def resource(sheaf):
    return sheaf.resource()


@pytest.fixture
def orders(resource, new_name):
    table = resource.create_table(
        TableName=new_name(), BillingMode="PAY_PER_REQUEST", KeySchema=keys("customer", "number"),
        AttributeDefinitions=definitions(customer="S", number="N", state="S"),
        GlobalSecondaryIndexes=[index("by-state", "state", "number")])
    table.wait_until_exists()
    with table.batch_writer() as batch:
        for n in range(40):
            batch.put_item(Item={"customer": f"c{n % 2}", "number": n, "amount": D(n) / 4,
                                 "state": "open" if n % 5 else "done", "tags": {"t", f"t{n % 3}"}})
    yield table
    table.delete()
    table.wait_until_not_exists()


def test_the_table_describes_itself(orders):
    orders.reload()
    assert orders.table_status == "ACTIVE"
    assert orders.item_count == 40
    assert orders.key_schema == keys("customer", "number")
    assert orders.global_secondary_indexes[0]["IndexName"] == "by-state"


def test_the_collection_of_tables_holds_it(resource, orders):
    assert orders.name in [table.name for table in resource.tables.all()]


def test_python_types_come_back(orders):
    item = {"customer": "x", "number": D("1"), "text": "é", "data": Binary(b"\x00\xff"),
            "no": None, "yes": True, "list": [D("1.5"), "a", {"deep": [D("-2")]}], "numbers": {D("1"), D("2")},
            "words": {"a", "b"}, "blobs": {Binary(b"a"), Binary(b"b")}}
    orders.put_item(Item=item)
    assert orders.get_item(Key={"customer": "x", "number": 1})["Item"] == item


@pytest.mark.parametrize("condition, expected", [
    (Key("number").eq(6), [6]), (Key("number").lt(5), [0, 2, 4]), (Key("number").lte(4), [0, 2, 4]),
    (Key("number").gt(33), [34, 36, 38]), (Key("number").gte(36), [36, 38]),
    (Key("number").between(10, 14), [10, 12, 14])])
def test_key_conditions(orders, condition, expected):
    answer = orders.query(KeyConditionExpression=Key("customer").eq("c0") & condition)
    assert [int(item["number"]) for item in answer["Items"]] == expected


@pytest.mark.parametrize("name, condition, expected", [
    ("eq", Attr("amount").eq(D("2.5")), [10]), ("ne", Attr("state").ne("open"), [0, 10, 20, 30]),
    ("in", Attr("number").is_in([2, 4, 99]), None), ("contains", Attr("tags").contains("t2"), 7),
    ("size", Attr("tags").size().eq(2), 20), ("exists", Attr("amount").exists(), 20),
    ("not exists", Attr("absent").not_exists(), 20),
    ("type", Attr("tags").attribute_type("SS"), 20),
    ("and", Attr("amount").gt(1) & Attr("amount").lt(3), [6, 8, 10]),
    ("or", Attr("amount").lt(1) | Attr("amount").gte(9), [0, 2, 36, 38]),
    ("not", ~Attr("state").begins_with("op"), [0, 10, 20, 30])])
def test_filters(resource, orders, name, condition, expected):
    request = dict(KeyConditionExpression=Key("customer").eq("c0"), FilterExpression=condition)
    if expected is None:  # a filter on a key attribute
        with pytest.raises(resource.meta.client.exceptions.ClientError) as failure:
            orders.query(**request)
        assert failure.value.response["Error"]["Code"] == "ValidationException"
        return
    items = orders.query(**request)["Items"]
    assert expected in (len(items), [int(item["number"]) for item in items])


def test_an_index_is_queried_backwards(orders):
    answer = orders.query(IndexName="by-state", ScanIndexForward=False, Limit=3,
                          KeyConditionExpression=Key("state").eq("done"))
    assert [int(item["number"]) for item in answer["Items"]] == [35, 30, 25]
    assert set(answer["LastEvaluatedKey"]) == {"customer", "number", "state"}


def test_update_and_return_values(orders):
    answer = orders.update_item(
        Key={"customer": "c0", "number": 0}, ReturnValues="UPDATED_NEW",
        UpdateExpression="SET amount = if_not_exists(amount, :zero) + :step, #n = :n",
        ExpressionAttributeNames={"#n": "note"},
        ExpressionAttributeValues={":zero": 0, ":step": D("0.1"), ":n": "x"})
    assert answer["Attributes"] == {"amount": D("0.1"), "note": "x"}


def test_a_condition_object_guards_a_put(resource, orders):
    with pytest.raises(resource.meta.client.exceptions.ConditionalCheckFailedException):
        orders.put_item(Item={"customer": "c0", "number": 0},
                        ConditionExpression=Attr("customer").not_exists())
    orders.put_item(Item={"customer": "c0", "number": 0, "amount": 1},
                    ConditionExpression=Attr("amount").eq(0) & Attr("state").eq("done"))


def test_batch_writer_sends_more_than_a_batch(orders):
    with orders.batch_writer() as batch:
        for n in range(40):
            batch.delete_item(Key={"customer": f"c{n % 2}", "number": n})
        for n in range(60):
            batch.put_item(Item={"customer": "many", "number": n})
    assert orders.scan(Select="COUNT")["Count"] == 60


def test_batch_writer_drops_duplicates_when_told(orders):
    with orders.batch_writer(overwrite_by_pkeys=["customer", "number"]) as batch:
        for n in range(10):
            batch.put_item(Item={"customer": "same", "number": 1, "n": n})
    assert orders.get_item(Key={"customer": "same", "number": 1})["Item"]["n"] == 9


def test_batch_get_through_the_resource(resource, orders):
    answer = resource.batch_get_item(RequestItems={
        orders.name: {"Keys": [{"customer": "c0", "number": n} for n in (2, 4, 5)]}})
    assert sorted(item["amount"] for item in answer["Responses"][orders.name]) == [D("0.5"), D("1")]


def test_scan_with_a_filter_and_a_projection(orders):
    answer = orders.scan(FilterExpression=Attr("amount").gt(9), ProjectionExpression="amount")
    assert sorted(item["amount"] for item in answer["Items"]) == [D("9.25"), D("9.5"), D("9.75")]


def test_optimistic_locking_by_hand(resource, orders):
    key = {"customer": "locked", "number": 1}
    orders.put_item(Item={**key, "version": 1})
    change = dict(Key=key, UpdateExpression="SET version = version + :one",
                  ConditionExpression=Attr("version").eq(1), ExpressionAttributeValues={":one": 1})
    orders.update_item(**change)
    with pytest.raises(resource.meta.client.exceptions.ConditionalCheckFailedException):
        orders.update_item(**change)
    assert orders.get_item(Key=key)["Item"]["version"] == 2
