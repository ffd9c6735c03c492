"""TransactWriteItems and TransactGetItems: all or nothing, cancellation reasons, tokens."""
import uuid

import pytest
from botocore.exceptions import ClientError

from conftest import av, values


def put(table, pk, **more):
    return {"Put": {"TableName": table, "Item": av(pk=pk, **more)}}


def check(table, pk, condition="attribute_exists(pk)", **more):
    return {"ConditionCheck": {"TableName": table, "Key": av(pk=pk),
                               "ConditionExpression": condition, **more}}


def transfer(table, amount):
    """Moves an amount from a to b, unless a has too little."""
    return [
        {"Update": {"TableName": table, "Key": av(pk="a"),
                    "UpdateExpression": "SET balance = balance - :x",
                    "ConditionExpression": "balance >= :x",
                    "ExpressionAttributeValues": values(x=amount)}},
        {"Update": {"TableName": table, "Key": av(pk="b"),
                    "UpdateExpression": "SET balance = balance + :x",
                    "ExpressionAttributeValues": values(x=amount)}}]


def balances(ddb, table):
    found = ddb.scan(TableName=table)["Items"]
    return {item["pk"]["S"]: int(item["balance"]["N"]) for item in found}


@pytest.fixture
def bank(ddb, simple):
    ddb.transact_write_items(TransactItems=[
        put(simple, "a", balance=100), put(simple, "b", balance=0)])
    return simple


def test_all_four_actions_happen_together(ddb, simple):
    for pk in ("checked", "changed", "gone"):
        ddb.put_item(TableName=simple, Item=av(pk=pk, n=1))
    ddb.transact_write_items(TransactItems=[
        check(simple, "checked"), put(simple, "new"),
        {"Update": {"TableName": simple, "Key": av(pk="changed"), "UpdateExpression": "ADD n :one",
                    "ExpressionAttributeValues": values(one=1)}},
        {"Delete": {"TableName": simple, "Key": av(pk="gone")}}])
    found = {item["pk"]["S"]: item for item in ddb.scan(TableName=simple)["Items"]}
    assert set(found) == {"checked", "changed", "new"}
    assert found["changed"]["n"] == {"N": "2"}


def test_a_transfer_moves_money(ddb, bank):
    ddb.transact_write_items(TransactItems=transfer(bank, 30))
    assert balances(ddb, bank) == {"a": 70, "b": 30}


def test_a_failed_condition_cancels_everything(ddb, bank):
    with pytest.raises(ddb.exceptions.TransactionCanceledException) as failure:
        ddb.transact_write_items(TransactItems=transfer(bank, 101))
    assert balances(ddb, bank) == {"a": 100, "b": 0}
    assert failure.value.response["ResponseMetadata"]["HTTPStatusCode"] == 400


def test_the_reasons_stand_in_the_order_of_the_actions(ddb, bank):
    with pytest.raises(ddb.exceptions.TransactionCanceledException) as failure:
        ddb.transact_write_items(TransactItems=[
            put(bank, "new"), check(bank, "absent"), *transfer(bank, 101)])
    reasons = failure.value.response["CancellationReasons"]
    assert [reason["Code"] for reason in reasons] == [
        "None", "ConditionalCheckFailed", "ConditionalCheckFailed", "None"]
    assert reasons[1]["Message"] == "The conditional request failed"


def test_the_message_lists_the_reasons(ddb, bank):
    with pytest.raises(ddb.exceptions.TransactionCanceledException) as failure:
        ddb.transact_write_items(TransactItems=[put(bank, "new"), check(bank, "absent")])
    assert failure.value.response["Error"]["Message"] == (
        "Transaction cancelled, please refer cancellation reasons for specific reasons "
        "[None, ConditionalCheckFailed]")


def test_a_reason_carries_the_item_when_asked(ddb, bank):
    with pytest.raises(ddb.exceptions.TransactionCanceledException) as failure:
        ddb.transact_write_items(TransactItems=[
            check(bank, "a", "attribute_not_exists(pk)",
                  ReturnValuesOnConditionCheckFailure="ALL_OLD"),
            check(bank, "b", "attribute_not_exists(pk)")])
    reasons = failure.value.response["CancellationReasons"]
    assert reasons[0]["Item"] == av(pk="a", balance=100)
    assert "Item" not in reasons[1]


def test_a_value_that_cannot_be_changed_so_is_a_reason(ddb, bank):
    with pytest.raises(ddb.exceptions.TransactionCanceledException) as failure:
        ddb.transact_write_items(TransactItems=[{"Update": {
            "TableName": bank, "Key": av(pk="a"), "UpdateExpression": "SET pot = absent + :x",
            "ExpressionAttributeValues": values(x=1)}}])
    assert failure.value.response["CancellationReasons"][0]["Code"] == "ValidationError"


def test_the_same_token_happens_once(ddb, bank):
    token = str(uuid.uuid4())
    for _ in range(3):
        ddb.transact_write_items(TransactItems=transfer(bank, 10), ClientRequestToken=token)
    assert balances(ddb, bank) == {"a": 90, "b": 10}


def test_another_request_with_that_token_is_refused(ddb, bank):
    token = str(uuid.uuid4())
    ddb.transact_write_items(TransactItems=transfer(bank, 10), ClientRequestToken=token)
    with pytest.raises(ddb.exceptions.IdempotentParameterMismatchException):
        ddb.transact_write_items(TransactItems=transfer(bank, 11), ClientRequestToken=token)
    assert balances(ddb, bank) == {"a": 90, "b": 10}


def test_without_a_token_boto3_makes_one_for_each_call(ddb, bank):
    for _ in range(2):
        ddb.transact_write_items(TransactItems=transfer(bank, 10))
    assert balances(ddb, bank) == {"a": 80, "b": 20}


def test_an_item_may_take_part_once(ddb, bank):
    with pytest.raises(ClientError) as failure:
        ddb.transact_write_items(TransactItems=[put(bank, "x"), check(bank, "x")])
    assert failure.value.response["Error"]["Code"] == "ValidationException"
    assert failure.value.response["Error"]["Message"].endswith(
        "Transaction request cannot include multiple operations on one item")


def test_100_actions_are_a_transaction(ddb, simple):
    ddb.transact_write_items(TransactItems=[put(simple, str(n)) for n in range(100)])
    assert ddb.scan(TableName=simple)["Count"] == 100


def test_101_actions_are_too_many(ddb, simple):
    with pytest.raises(ClientError) as failure:
        ddb.transact_write_items(TransactItems=[put(simple, str(n)) for n in range(101)])
    assert failure.value.response["Error"]["Code"] == "ValidationException"


def test_a_missing_table_is_not_found(ddb, simple):
    with pytest.raises(ddb.exceptions.ResourceNotFoundException):
        ddb.transact_write_items(TransactItems=[put(simple, "a"), put("interop-absent", "a")])


def test_transactional_reads_answer_in_order(ddb, bank):
    answer = ddb.transact_get_items(TransactItems=[
        {"Get": {"TableName": bank, "Key": av(pk="b")}},
        {"Get": {"TableName": bank, "Key": av(pk="absent")}},
        {"Get": {"TableName": bank, "Key": av(pk="a"), "ProjectionExpression": "balance"}}])
    assert answer["Responses"] == [{"Item": av(pk="b", balance=0)}, {}, {"Item": av(balance=100)}]


def test_transactions_cost_twice(ddb, bank):
    wrote = ddb.transact_write_items(
        TransactItems=transfer(bank, 1), ReturnConsumedCapacity="TOTAL")
    assert wrote["ConsumedCapacity"][0]["CapacityUnits"] == 4.0
    read = ddb.transact_get_items(ReturnConsumedCapacity="TOTAL", TransactItems=[
        {"Get": {"TableName": bank, "Key": av(pk="a")}}])
    assert read["ConsumedCapacity"][0]["CapacityUnits"] == 2.0
