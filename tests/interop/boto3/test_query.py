"""Item collections: Query and Scan on tables and indexes, pages, filters, heterogeneous items."""
import pytest
from botocore.exceptions import ClientError

from conftest import av, definitions, index, keys, values


@pytest.fixture
def shop(ddb, make):
    """One customer's collection of four kinds of items, and a second customer."""
    name = make(
        AttributeDefinitions=definitions(pk="S", sk="S", GSI1PK="S", GSI1SK="S", placed="S"),
        GlobalSecondaryIndexes=[index("GSI1", "GSI1PK", "GSI1SK")],
        LocalSecondaryIndexes=[index("placed", "pk", "placed", "INCLUDE", ["Type"])])
    rows = [
        av(pk="CUSTOMER#1", sk="PROFILE", Type="Customer", name="Ada"),
        av(pk="CUSTOMER#1", sk="ADDRESS#home", Type="Address", city="London"),
        *(av(pk="CUSTOMER#1", sk=f"ORDER#{n:03}", Type="Order", amount=n * 10,
             placed=f"2024-{12 - n:02}-01", GSI1PK=f"STATUS#{'OPEN' if n % 2 else 'DONE'}",
             GSI1SK=f"{n:03}") for n in range(1, 9)),
        av(pk="CUSTOMER#2", sk="PROFILE", Type="Customer", name="Bob"),
        av(pk="CUSTOMER#2", sk="ORDER#001", Type="Order", amount=1, placed="2024-01-01",
           GSI1PK="STATUS#OPEN", GSI1SK="900"),
    ]
    ddb.batch_write_item(RequestItems={name: [{"PutRequest": {"Item": row}} for row in rows]})
    return name


def query(ddb, table, condition="pk = :pk", more=None, **bound):
    bound.setdefault("pk", "CUSTOMER#1")
    return ddb.query(TableName=table, KeyConditionExpression=condition,
                     ExpressionAttributeValues=values(**bound), **(more or {}))


def sort_keys(answer):
    return [item["sk"]["S"] for item in answer["Items"]]


ORDERS = [f"ORDER#{n:03}" for n in range(1, 9)]


def test_a_collection_comes_whole_and_in_order(ddb, shop):
    answer = query(ddb, shop)
    assert sort_keys(answer) == ["ADDRESS#home", *ORDERS, "PROFILE"]
    assert answer["Count"] == answer["ScannedCount"] == 10
    assert "LastEvaluatedKey" not in answer


def test_kinds_are_told_apart_by_their_type(ddb, shop):
    kinds = {}
    for item in query(ddb, shop)["Items"]:
        kinds.setdefault(item["Type"]["S"], []).append(item)
    assert {kind: len(items) for kind, items in kinds.items()} == {
        "Customer": 1, "Address": 1, "Order": 8}
    assert kinds["Customer"][0]["name"] == {"S": "Ada"}
    assert sum(int(order["amount"]["N"]) for order in kinds["Order"]) == 360


@pytest.mark.parametrize("condition, bound, expected", [
    ("pk = :pk AND sk = :a", {"a": "ORDER#003"}, ORDERS[2:3]),
    ("pk = :pk AND sk < :a", {"a": "ORDER#002"}, ["ADDRESS#home", "ORDER#001"]),
    ("pk = :pk AND sk <= :a", {"a": "ORDER#002"}, ["ADDRESS#home", "ORDER#001", "ORDER#002"]),
    ("pk = :pk AND sk > :a", {"a": "ORDER#007"}, ["ORDER#008", "PROFILE"]),
    ("pk = :pk AND sk >= :a", {"a": "ORDER#008"}, ["ORDER#008", "PROFILE"]),
    ("pk = :pk AND sk BETWEEN :a AND :b", {"a": "ORDER#002", "b": "ORDER#004"}, ORDERS[1:4]),
    ("pk = :pk AND begins_with(sk, :a)", {"a": "ORDER#"}, ORDERS),
    ("begins_with(sk, :a) AND :pk = pk", {"a": "PRO"}, ["PROFILE"]),
])
def test_key_conditions(ddb, shop, condition, bound, expected):
    assert sort_keys(query(ddb, shop, condition, **bound)) == expected


def test_backwards(ddb, shop):
    answer = query(ddb, shop, "pk = :pk AND begins_with(sk, :a)",
                   {"ScanIndexForward": False, "Limit": 2}, a="ORDER#")
    assert sort_keys(answer) == ["ORDER#008", "ORDER#007"]
    assert answer["LastEvaluatedKey"] == av(pk="CUSTOMER#1", sk="ORDER#007")


def test_a_limit_ends_a_page_and_the_key_resumes(ddb, shop):
    first = query(ddb, shop, more={"Limit": 4})
    assert first["Count"] == 4
    rest = query(ddb, shop, more={"ExclusiveStartKey": first["LastEvaluatedKey"]})
    assert sort_keys(first) + sort_keys(rest) == ["ADDRESS#home", *ORDERS, "PROFILE"]


def test_the_paginator_reads_every_page(ddb, shop):
    pages = list(ddb.get_paginator("query").paginate(
        TableName=shop, KeyConditionExpression="pk = :pk",
        ExpressionAttributeValues=values(pk="CUSTOMER#1"), PaginationConfig={"PageSize": 3}))
    assert [page["Count"] for page in pages] in ([3, 3, 3, 1], [3, 3, 3, 1, 0])
    assert sum((sort_keys(page) for page in pages), []) == ["ADDRESS#home", *ORDERS, "PROFILE"]


def test_the_paginator_stops_at_max_items(ddb, shop):
    pages = ddb.get_paginator("scan").paginate(
        TableName=shop, PaginationConfig={"PageSize": 5, "MaxItems": 7})
    assert len(pages.build_full_result()["Items"]) == 7


def test_a_filter_comes_after_the_limit(ddb, shop):
    answer = query(ddb, shop, "pk = :pk AND begins_with(sk, :a)",
                   {"FilterExpression": "amount > :t", "Limit": 5}, a="ORDER#", t=30)
    assert sort_keys(answer) == ["ORDER#004", "ORDER#005"]
    assert (answer["Count"], answer["ScannedCount"]) == (2, 5)


def test_count_only(ddb, shop):
    answer = query(ddb, shop, more={"Select": "COUNT"})
    assert answer["Count"] == 10 and "Items" not in answer


def test_a_projection_of_a_query(ddb, shop):
    answer = ddb.query(TableName=shop, KeyConditionExpression="pk = :pk AND sk = :sk",
                       ExpressionAttributeValues=values(pk="CUSTOMER#1", sk="PROFILE"),
                       ProjectionExpression="#n", ExpressionAttributeNames={"#n": "name"})
    assert answer["Items"] == [av(name="Ada")]


def test_a_global_index_gathers_across_collections(ddb, shop):
    answer = ddb.query(TableName=shop, IndexName="GSI1", KeyConditionExpression="GSI1PK = :s",
                       ExpressionAttributeValues=values(s="STATUS#OPEN"))
    assert [item["GSI1SK"]["S"] for item in answer["Items"]] == ["001", "003", "005", "007", "900"]


def test_a_global_index_page_resumes_with_all_its_keys(ddb, shop):
    request = dict(TableName=shop, IndexName="GSI1", KeyConditionExpression="GSI1PK = :s",
                   ExpressionAttributeValues=values(s="STATUS#DONE"))
    first = ddb.query(Limit=3, **request)
    assert set(first["LastEvaluatedKey"]) == {"pk", "sk", "GSI1PK", "GSI1SK"}
    rest = ddb.query(ExclusiveStartKey=first["LastEvaluatedKey"], **request)
    assert [item["GSI1SK"]["S"] for item in first["Items"] + rest["Items"]] == [
        "002", "004", "006", "008"]


def test_a_global_index_follows_its_items(ddb, shop):
    ddb.update_item(TableName=shop, Key=av(pk="CUSTOMER#1", sk="ORDER#001"),
                    UpdateExpression="SET GSI1PK = :s",
                    ExpressionAttributeValues=values(s="STATUS#DONE"))
    ddb.update_item(TableName=shop, Key=av(pk="CUSTOMER#1", sk="ORDER#003"),
                    UpdateExpression="REMOVE GSI1PK")
    ddb.delete_item(TableName=shop, Key=av(pk="CUSTOMER#1", sk="ORDER#005"))
    found = ddb.query(TableName=shop, IndexName="GSI1", KeyConditionExpression="GSI1PK = :s",
                      ExpressionAttributeValues=values(s="STATUS#OPEN"))
    assert [item["GSI1SK"]["S"] for item in found["Items"]] == ["007", "900"]


def test_a_sparse_index_holds_only_items_with_its_key(ddb, shop):
    assert ddb.scan(TableName=shop, IndexName="GSI1")["Count"] == 9


def test_a_local_index_orders_a_collection_anew(ddb, shop):
    answer = query(ddb, shop, more={"IndexName": "placed", "ConsistentRead": True})
    assert sort_keys(answer) == ORDERS[::-1]


def test_a_local_index_has_what_it_projects_and_can_fetch_the_rest(ddb, shop):
    projected = query(ddb, shop, more={"IndexName": "placed"})["Items"][0]
    assert set(projected) == {"pk", "sk", "placed", "Type"}
    fetched = query(ddb, shop, more={"IndexName": "placed", "Select": "ALL_ATTRIBUTES"})["Items"][0]
    assert fetched["amount"] == {"N": "80"}


def test_a_consistent_read_of_a_global_index_is_refused(ddb, shop):
    with pytest.raises(ClientError) as failure:
        ddb.scan(TableName=shop, IndexName="GSI1", ConsistentRead=True)
    assert failure.value.response["Error"]["Code"] == "ValidationException"


def test_scan_finds_everything(ddb, shop):
    answer = ddb.scan(TableName=shop)
    assert answer["Count"] == 12
    answer = ddb.scan(TableName=shop, FilterExpression="#t = :t",
                      ExpressionAttributeNames={"#t": "Type"},
                      ExpressionAttributeValues=values(t="Order"))
    assert (answer["Count"], answer["ScannedCount"]) == (9, 12)


def test_parallel_segments_share_the_table(ddb, simple):
    for start in range(0, 100, 25):
        ddb.batch_write_item(RequestItems={simple: [
            {"PutRequest": {"Item": av(pk=f"key-{n}")}} for n in range(start, start + 25)]})
    segments = [[item["pk"]["S"] for item in
                 ddb.scan(TableName=simple, TotalSegments=4, Segment=s)["Items"]] for s in range(4)]
    found = sum(segments, [])
    assert len(found) == 100 and len(set(found)) == 100
    assert sum(1 for segment in segments if segment) > 1


def test_a_page_ends_at_one_megabyte(ddb, table):
    for n in range(4):
        ddb.put_item(TableName=table, Item=av(pk="p", sk=str(n), v="x" * 390_000))
    answer = query(ddb, table, pk="p")
    assert answer["Count"] == 3
    assert answer["LastEvaluatedKey"] == av(pk="p", sk="2")


def test_numbers_sort_as_numbers(ddb, make):
    table = make(AttributeDefinitions=definitions(pk="S", sk="N"))
    numbers = ["-1000", "-2.5", "-0.001", "0", "0.5", "3", "20", "100"]
    for n in numbers[::-1]:
        ddb.put_item(TableName=table, Item={"pk": {"S": "p"}, "sk": {"N": n}})
    assert [i["sk"]["N"] for i in query(ddb, table, pk="p")["Items"]] == numbers


def test_bytes_sort_unsigned(ddb, make):
    table = make(AttributeDefinitions=definitions(pk="S", sk="B"))
    wanted = [b"\x00", b"\x00\x00", b"\x01", b"\x7f", b"\x80", b"\xff", b"\xff\x00"]
    for b in wanted[::-1]:
        ddb.put_item(TableName=table, Item={"pk": {"S": "p"}, "sk": {"B": b}})
    assert [i["sk"]["B"] for i in query(ddb, table, pk="p")["Items"]] == wanted


def test_strings_sort_by_their_utf8_bytes(ddb, table):
    wanted = ["A", "Z", "a", "é", "￿", "𝄞"]
    for s in wanted[::-1]:
        ddb.put_item(TableName=table, Item=av(pk="p", sk=s))
    assert sort_keys(query(ddb, table, pk="p")) == wanted


def test_capacity_of_a_page_is_rounded_once(ddb, shop):
    answer = query(ddb, shop, more={"ReturnConsumedCapacity": "TOTAL"})
    assert answer["ConsumedCapacity"]["CapacityUnits"] == 0.5


def test_capacity_by_index(ddb, shop):
    answer = ddb.query(TableName=shop, IndexName="GSI1", KeyConditionExpression="GSI1PK = :s",
                       ExpressionAttributeValues=values(s="STATUS#OPEN"),
                       ReturnConsumedCapacity="INDEXES")["ConsumedCapacity"]
    assert answer["GlobalSecondaryIndexes"]["GSI1"]["CapacityUnits"] == 0.5
    assert answer["Table"]["CapacityUnits"] == 0


def test_item_collection_metrics_of_a_table_with_a_local_index(ddb, shop):
    answer = ddb.put_item(TableName=shop, Item=av(pk="CUSTOMER#1", sk="NOTE", Type="Note"),
                          ReturnItemCollectionMetrics="SIZE")["ItemCollectionMetrics"]
    assert answer["ItemCollectionKey"] == av(pk="CUSTOMER#1")
    low, high = answer["SizeEstimateRangeGB"]
    assert 0 <= low <= high


def test_an_index_with_several_key_attributes(ddb, make):
    wide = {"IndexName": "wide", "Projection": {"ProjectionType": "ALL"}, "KeySchema": [
        {"AttributeName": name, "KeyType": kind} for name, kind in
        (("tenant", "HASH"), ("region", "HASH"), ("year", "RANGE"), ("month", "RANGE"))]}
    table = make(
        KeySchema=keys("pk"), GlobalSecondaryIndexes=[wide],
        AttributeDefinitions=definitions(pk="S", tenant="S", region="S", year="N", month="N"))
    for n, (year, month) in enumerate([(2024, 12), (2023, 5), (2024, 2), (2024, 7)]):
        ddb.put_item(TableName=table, Item=av(
            pk=str(n), tenant="t", region="eu", year=year, month=month))
    found = ddb.query(
        TableName=table, IndexName="wide",
        ExpressionAttributeNames={"#y": "year", "#m": "month", "#r": "region"},
        KeyConditionExpression="tenant = :t AND #r = :r AND #y = :y AND #m > :m",
        ExpressionAttributeValues=values(t="t", r="eu", y=2024, m=2))
    assert [item["month"]["N"] for item in found["Items"]] == ["7", "12"]
