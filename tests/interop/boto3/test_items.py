"""Single items through the low-level client: every type, update, condition and ReturnValues."""
import decimal

import pytest
from boto3.dynamodb.types import Binary, TypeDeserializer
from botocore.exceptions import ClientError

from conftest import av, values

KEY = av(pk="p", sk="s")


def put(ddb, table, **attributes):
    ddb.put_item(TableName=table, Item={**KEY, **av(**attributes)})


def get(ddb, table):
    return ddb.get_item(TableName=table, Key=KEY, ConsistentRead=True).get("Item")


def update(ddb, table, expression, returns="ALL_NEW", **bound):
    """The attributes that UpdateItem returns, without the key."""
    more = {"ExpressionAttributeValues": values(**bound)} if bound else {}
    answer = ddb.update_item(TableName=table, Key=KEY, UpdateExpression=expression,
                             ReturnValues=returns, **more)
    return {k: v for k, v in answer.get("Attributes", {}).items() if k not in KEY}


TYPES = {
    "string": {"S": "text"}, "empty string": {"S": ""}, "unicode": {"S": "é𝄞\u0000 \"\\/\n"},
    "integer": {"N": "42"}, "negative": {"N": "-0.5"}, "zero": {"N": "0"},
    "38 digits": {"N": "12345678901234567890123456789012345678"},
    "binary": {"B": bytes(range(256))}, "empty binary": {"B": b""},
    "true": {"BOOL": True}, "false": {"BOOL": False}, "null": {"NULL": True},
    "list": {"L": [{"S": "a"}, {"N": "1"}, {"L": []}]}, "empty list": {"L": []},
    "map": {"M": {"a": {"M": {"b": {"S": "c"}}}}}, "empty map": {"M": {}},
}


@pytest.mark.parametrize("kind", sorted(TYPES))
def test_a_value_comes_back_as_it_went(ddb, table, kind):
    value = TYPES[kind]
    ddb.put_item(TableName=table, Item={**KEY, "v": value})
    assert get(ddb, table)["v"] == value


@pytest.mark.parametrize("kind, members", [
    ("SS", ["a", "b", "ü"]), ("NS", ["-1", "0", "2.5"]), ("BS", [b"\x00", b"\xff", b"ab"])])
def test_a_set_comes_back_with_its_members(ddb, table, kind, members):
    ddb.put_item(TableName=table, Item={**KEY, "v": {kind: members}})
    assert sorted(get(ddb, table)["v"][kind]) == sorted(members)


@pytest.mark.parametrize("sent, stored", [
    ("1.0", "1"), ("1.50", "1.5"), ("1e3", "1000"), ("-0", "0"), ("00012", "12"), ("+7", "7"),
    ("1E-3", "0.001"), (".5", "0.5")])
def test_a_number_is_stored_in_its_plain_form(ddb, table, sent, stored):
    ddb.put_item(TableName=table, Item={**KEY, "v": {"N": sent}})
    assert get(ddb, table)["v"] == {"N": stored}


@pytest.mark.parametrize("number", ["9.9999999999999999999999999999999999999E+125", "1E-130",
                                    "-9.9999999999999999999999999999999999999E+125"])
def test_the_largest_and_smallest_numbers_are_kept(ddb, table, number):
    ddb.put_item(TableName=table, Item={**KEY, "v": {"N": number}})
    assert decimal.Decimal(get(ddb, table)["v"]["N"]) == decimal.Decimal(number)


@pytest.mark.parametrize("number", ["1E+126", "1E-131", "123456789012345678901234567890123456789",
                                    "abc", "", "1,5", "NaN", "Infinity"])
def test_other_numbers_are_refused(ddb, table, number):
    with pytest.raises(ClientError) as failure:
        ddb.put_item(TableName=table, Item={**KEY, "v": {"N": number}})
    assert failure.value.response["Error"]["Code"] == "ValidationException"


@pytest.mark.parametrize("value", [
    {"SS": []}, {"SS": ["a", "a"]}, {"NS": ["1", "1.0"]}, {"BS": [b"x", b"x"]}, {"NULL": False}])
def test_values_that_are_none_are_refused(ddb, table, value):
    with pytest.raises(ClientError) as failure:
        ddb.put_item(TableName=table, Item={**KEY, "v": value})
    assert failure.value.response["Error"]["Code"] == "ValidationException"


def test_a_missing_item_has_no_item_member(ddb, table):
    assert "Item" not in ddb.get_item(TableName=table, Key=KEY)


def test_put_replaces_the_whole_item(ddb, table):
    put(ddb, table, a=1, b=2)
    put(ddb, table, c=3)
    assert get(ddb, table) == {**KEY, **av(c=3)}


def test_put_returns_the_old_item_when_asked(ddb, table):
    put(ddb, table, a=1)
    answer = ddb.put_item(TableName=table, Item=KEY, ReturnValues="ALL_OLD")
    assert answer["Attributes"] == {**KEY, **av(a=1)}
    ddb.delete_item(TableName=table, Key=KEY)
    assert "Attributes" not in ddb.put_item(TableName=table, Item=KEY, ReturnValues="ALL_OLD")


def test_delete_returns_the_old_item_when_asked(ddb, table):
    put(ddb, table, a=1)
    answer = ddb.delete_item(TableName=table, Key=KEY, ReturnValues="ALL_OLD")
    assert answer["Attributes"] == {**KEY, **av(a=1)}
    assert "Attributes" not in ddb.delete_item(TableName=table, Key=KEY, ReturnValues="ALL_OLD")


def test_a_projection_picks_nested_parts(ddb, table):
    put(ddb, table, doc={"list": ["a", "b", "c"], "name": "n"}, n=1)
    answer = ddb.get_item(TableName=table, Key=KEY, ProjectionExpression="#d.#l[1], n",
                          ExpressionAttributeNames={"#d": "doc", "#l": "list"})
    assert answer["Item"] == av(doc={"list": ["b"]}, n=1)


def test_set_creates_and_changes(ddb, table):
    assert update(ddb, table, "SET a = :x, b = :y", x=1, y="z") == av(a=1, b="z")
    assert update(ddb, table, "SET a = a + :x", x=5) == av(a=6, b="z")
    assert update(ddb, table, "SET a = :x - a", x=10) == av(a=4, b="z")


def test_if_not_exists_and_list_append(ddb, table):
    expression = "SET notes = list_append(if_not_exists(notes, :none), :more)"
    update(ddb, table, expression, none=[], more=["one"])
    assert update(ddb, table, expression, none=[], more=["two"]) == av(notes=["one", "two"])


def test_add_counts_and_joins_sets(ddb, table):
    update(ddb, table, "ADD n :one, tags :t", one=1, t={"a"})
    found = update(ddb, table, "ADD n :one, tags :t", one=41, t={"b"})
    assert found["n"] == {"N": "42"}
    assert sorted(found["tags"]["SS"]) == ["a", "b"]


def test_delete_takes_from_a_set_until_it_is_gone(ddb, table):
    put(ddb, table, tags={"a", "b"})
    assert update(ddb, table, "DELETE tags :t", t={"a"}) == av(tags={"b"})
    assert update(ddb, table, "DELETE tags :t", t={"b"}) == {}


def test_remove_takes_attributes_and_elements(ddb, table):
    put(ddb, table, a=1, l=["x", "y", "z"], m={"k": 1, "j": 2})
    assert update(ddb, table, "REMOVE a, l[0], l[2], m.k") == av(l=["y"], m={"j": 2})


def test_all_clauses_together_read_the_old_item(ddb, table):
    put(ddb, table, a=1, b=2, c=3, s={"x", "y"})
    found = update(ddb, table, "SET a = b, b = a REMOVE c ADD n :n DELETE s :s", n=7, s={"x"})
    assert found == av(a=2, b=1, n=7, s={"y"})


@pytest.mark.parametrize("returns, expected", [
    ("NONE", {}),
    ("ALL_OLD", av(a=1, m={"x": 1, "y": 2})),
    ("ALL_NEW", av(a=2, m={"x": 9, "y": 2})),
    ("UPDATED_OLD", av(a=1, m={"x": 1})),
    ("UPDATED_NEW", av(a=2, m={"x": 9})),
])
def test_return_values_of_update(ddb, table, returns, expected):
    put(ddb, table, a=1, m={"x": 1, "y": 2})
    assert update(ddb, table, "SET a = :a, m.x = :x", returns, a=2, x=9) == expected


def test_an_update_of_nothing_creates_the_item(ddb, table):
    ddb.update_item(TableName=table, Key=KEY)
    assert get(ddb, table) == KEY


def test_remove_on_a_missing_item_creates_nothing(ddb, table):
    update(ddb, table, "REMOVE a")
    assert get(ddb, table) is None


CONDITIONS = [
    ("attribute_exists(n)", {}, True),
    ("attribute_not_exists(n)", {}, False),
    ("attribute_type(n, :t)", {"t": "N"}, True),
    ("n = :x", {"x": 5}, True),
    ("n <> :x", {"x": 5}, False),
    ("absent <> :x", {"x": 5}, True),
    ("absent = :x", {"x": 5}, False),
    ("n BETWEEN :x AND :y", {"x": 5, "y": 6}, True),
    ("n IN (:x, :y)", {"x": 4, "y": 5}, True),
    ("begins_with(t, :x)", {"x": "he"}, True),
    ("contains(t, :x)", {"x": "ell"}, True),
    ("contains(l, :x)", {"x": 2}, True),
    ("contains(ss, :x)", {"x": "b"}, True),
    ("size(t) = :x", {"x": 5}, True),
    ("size(l) > :x", {"x": 2}, False),
    ("m.k = :x", {"x": "v"}, True),
    ("l[1] = :x", {"x": 2}, True),
    ("NOT n < :x", {"x": 5}, True),
    ("n = :x OR t = :y AND n = :y", {"x": 5, "y": "hello"}, True),
    ("(n = :x OR t = :y) AND n = :y", {"x": 5, "y": "hello"}, False),
]


@pytest.mark.parametrize("expression, bound, holds", CONDITIONS, ids=[c[0] for c in CONDITIONS])
def test_a_condition_decides(ddb, table, expression, bound, holds):
    put(ddb, table, n=5, t="hello", l=[1, 2], ss={"a", "b"}, m={"k": "v"})
    more = {"ExpressionAttributeValues": values(**bound)} if bound else {}
    request = dict(TableName=table, Key=KEY, ConditionExpression=expression, **more)
    if holds:
        ddb.delete_item(**request)
        assert get(ddb, table) is None
        return
    with pytest.raises(ddb.exceptions.ConditionalCheckFailedException) as failure:
        ddb.delete_item(**request)
    assert failure.value.response["Error"]["Message"] == "The conditional request failed"
    assert get(ddb, table) is not None


def test_the_item_comes_with_a_failed_condition_when_asked(ddb, table):
    put(ddb, table, a=1)
    with pytest.raises(ddb.exceptions.ConditionalCheckFailedException) as failure:
        ddb.put_item(TableName=table, Item=KEY, ConditionExpression="attribute_not_exists(pk)",
                     ReturnValuesOnConditionCheckFailure="ALL_OLD")
    assert failure.value.response["Item"] == {**KEY, **av(a=1)}


def test_no_item_comes_with_a_failed_condition_otherwise(ddb, table):
    put(ddb, table, a=1)
    with pytest.raises(ddb.exceptions.ConditionalCheckFailedException) as failure:
        ddb.update_item(TableName=table, Key=KEY, UpdateExpression="SET a = :x",
                        ConditionExpression="a > :x", ExpressionAttributeValues=values(x=2))
    assert "Item" not in failure.value.response


def test_an_item_of_400_kilobytes_is_the_largest(ddb, table):
    room = 400 * 1024 - len("pk" "p" "sk" "s" "v")
    ddb.put_item(TableName=table, Item={**KEY, "v": {"S": "x" * room}})
    assert len(get(ddb, table)["v"]["S"]) == room
    with pytest.raises(ClientError) as failure:
        ddb.put_item(TableName=table, Item={**KEY, "v": {"S": "x" * (room + 1)}})
    assert failure.value.response["Error"]["Code"] == "ValidationException"
    assert failure.value.response["Error"]["Message"].endswith(
        "Item size has exceeded the maximum allowed size")


def nested(levels):
    value = {"S": "core"}
    for _ in range(levels):
        value = {"M": {"m": value}}
    return value


def test_documents_nest_32_levels(ddb, table):
    ddb.put_item(TableName=table, Item={**KEY, "v": nested(31)})
    assert get(ddb, table)["v"] == nested(31)
    with pytest.raises(ClientError) as failure:
        ddb.put_item(TableName=table, Item={**KEY, "v": nested(40)})
    assert failure.value.response["Error"]["Code"] == "ValidationException"


@pytest.mark.parametrize("size, units", [(100, 0.5), (4096, 0.5), (4097, 1.0), (9000, 1.5)])
def test_reads_cost_half_a_unit_per_4_kilobytes(ddb, table, size, units):
    put(ddb, table, v="x" * (size - len("pkpsksv")))
    for consistent, factor in ((False, 1), (True, 2)):
        answer = ddb.get_item(TableName=table, Key=KEY, ConsistentRead=consistent,
                              ReturnConsumedCapacity="TOTAL")
        assert answer["ConsumedCapacity"]["CapacityUnits"] == units * factor
        assert answer["ConsumedCapacity"]["TableName"] == table


@pytest.mark.parametrize("size, units", [(100, 1.0), (1024, 1.0), (1025, 2.0), (5000, 5.0)])
def test_writes_cost_a_unit_per_kilobyte(ddb, table, size, units):
    answer = ddb.put_item(TableName=table, Item={**KEY, **av(v="x" * (size - len("pkpsksv")))},
                          ReturnConsumedCapacity="TOTAL")
    assert answer["ConsumedCapacity"]["CapacityUnits"] == units


def test_boto3_reads_what_it_wrote(ddb, table):
    wrote = {"pk": "p", "sk": "s", "d": decimal.Decimal("3.14"), "b": Binary(b"\x00\x01"),
             "set": {decimal.Decimal(1), decimal.Decimal(2)}, "none": None, "list": [True, "x"]}
    ddb.put_item(TableName=table, Item=av(**wrote))
    read = TypeDeserializer()
    assert {k: read.deserialize(v) for k, v in get(ddb, table).items()} == wrote
