"""What boto3 makes of each error: its class, its code and, where a source is known, its message."""
import pytest
from botocore.exceptions import ClientError

from conftest import av, values

KEY = av(pk="p", sk="s")
ITEM = {**KEY, "n": {"N": "1"}, "t": {"S": "text"}}

# operation, what is added to the request, a part of the message, who said so.
# A part only: since 2026 the service puts "1 validation error detected: " before some of them.
LOCAL = "DynamoDB Local 2.6"
AWS = "dynalite's tests, which were run on AWS"
REFUSED = [
    ("get_item", {"Key": av(pk="p")},
     "The provided key element does not match the schema", AWS),
    ("get_item", {"Key": {**KEY, **av(x="y")}},
     "The provided key element does not match the schema", AWS),
    ("get_item", {"Key": av(pk="p", sk=1)},
     "The provided key element does not match the schema", AWS),
    ("put_item", {"Item": av(pk="p")},
     "One or more parameter values were invalid: Missing the key sk in the item", AWS),
    ("put_item", {"Item": av(pk="p", sk=1)},
     "One or more parameter values were invalid: Type mismatch for key sk expected: S actual: N",
     AWS),
    ("put_item", {"Item": av(pk="p", sk="")},
     "The AttributeValue for a key attribute cannot contain an empty string value. Key: sk", LOCAL),
    ("put_item", {"Item": ITEM, "ConditionExpression": "name = :x",
                  "ExpressionAttributeValues": values(x=1)},
     "Invalid ConditionExpression: Attribute name is a reserved keyword; reserved keyword: name",
     LOCAL),
    ("put_item", {"Item": ITEM, "ConditionExpression": "n = :x"},
     "Invalid ConditionExpression: An expression attribute value used in expression is not defined;"
     " attribute value: :x", LOCAL),
    ("put_item", {"Item": ITEM, "ConditionExpression": "#n = :x",
                  "ExpressionAttributeValues": values(x=1)},
     "Invalid ConditionExpression: An expression attribute name used in the document path is not"
     " defined; attribute name: #n", LOCAL),
    ("put_item", {"Item": ITEM, "ConditionExpression": "n = :x",
                  "ExpressionAttributeValues": values(x=1, y=2)},
     "Value provided in ExpressionAttributeValues unused in expressions: keys: {:y}", LOCAL),
    ("put_item", {"Item": ITEM, "ConditionExpression": "attribute_exists(n)",
                  "ExpressionAttributeNames": {"#y": "y"}},
     "Value provided in ExpressionAttributeNames unused in expressions: keys: {#y}", LOCAL),
    ("put_item", {"Item": ITEM, "ConditionExpression": ""},
     "Invalid ConditionExpression: The expression can not be empty;", LOCAL),
    ("put_item", {"Item": ITEM, "ExpressionAttributeValues": values(x=1)},
     "ExpressionAttributeValues can only be specified when using expressions", LOCAL),
    ("update_item", {"Key": KEY, "UpdateExpression": "SET n = n + t"},
     "An operand in the update expression has an incorrect data type", LOCAL),
    ("update_item", {"Key": KEY, "UpdateExpression": "SET n = absent"},
     "The provided expression refers to an attribute that does not exist in the item", LOCAL),
    ("update_item", {"Key": KEY, "UpdateExpression": "SET a.b = :x",
                     "ExpressionAttributeValues": values(x=1)},
     "The document path provided in the update expression is invalid for update", LOCAL),
    ("update_item", {"Key": KEY, "UpdateExpression": "SET sk = :x",
                     "ExpressionAttributeValues": values(x="y")},
     "One or more parameter values were invalid: Cannot update attribute sk."
     " This attribute is part of the key", LOCAL),
    ("update_item", {"Key": KEY, "UpdateExpression": "SET a = :x, a = :x",
                     "ExpressionAttributeValues": values(x=1)},
     "Invalid UpdateExpression: Two document paths overlap with each other; must remove or rewrite"
     " one of these paths; path one: [a], path two: [a]", LOCAL),
    ("query", {"KeyConditionExpression": "sk = :x", "ExpressionAttributeValues": values(x="s")},
     "Query condition missed key schema element: pk", AWS),
    ("query", {"KeyConditionExpression": "pk = :x AND n = :x",
               "ExpressionAttributeValues": values(x="s")},
     "Query condition missed key schema element: sk", AWS),
    ("query", {"KeyConditionExpression": "pk > :x", "ExpressionAttributeValues": values(x="s")},
     "Query key condition not supported", LOCAL),
    ("query", {"IndexName": "absent", "KeyConditionExpression": "pk = :x",
               "ExpressionAttributeValues": values(x="s")},
     "The table does not have the specified index: absent", LOCAL),
    ("query", {"KeyConditionExpression": "pk = :x", "FilterExpression": "sk = :x",
               "ExpressionAttributeValues": values(x="s")},
     "Filter Expression can only contain non-primary key attributes: Primary key attribute: sk",
     LOCAL),
    ("query", {"KeyConditionExpression": "pk = :x AND begins_with(sk, :n)",
               "ExpressionAttributeValues": values(x="s", n=1)},
     "Incorrect operand type for operator or function; operator or function: begins_with,"
     " operand type: N", LOCAL),
    ("scan", {"Segment": 3, "TotalSegments": 3},
     "The Segment parameter is zero-based and must be less than parameter TotalSegments",
     AWS),
    ("scan", {"FilterExpression": "size(n) = :x", "ProjectionExpression": "a, a",
              "ExpressionAttributeValues": values(x=1)},
     "Invalid ProjectionExpression: Two document paths overlap with each other; must remove or"
     " rewrite one of these paths; path one: [a], path two: [a]", LOCAL),
]


@pytest.mark.parametrize("operation, request_, message, source", REFUSED,
                         ids=[f"{n}-{row[0]}" for n, row in enumerate(REFUSED)])
def test_a_refused_request_says_why(ddb, table, operation, request_, message, source):
    ddb.put_item(TableName=table, Item=ITEM)
    with pytest.raises(ClientError) as failure:
        getattr(ddb, operation)(TableName=table, **request_)
    assert failure.value.response["Error"]["Code"] == "ValidationException"
    assert failure.value.response["ResponseMetadata"]["HTTPStatusCode"] == 400
    assert message in failure.value.response["Error"]["Message"], source


@pytest.mark.parametrize("operation, request_", [
    ("get_item", {"Key": KEY}), ("put_item", {"Item": ITEM}), ("delete_item", {"Key": KEY}),
    ("update_item", {"Key": KEY}), ("scan", {}), ("describe_table", {}), ("delete_table", {}),
    ("query", {"KeyConditionExpression": "pk = :x", "ExpressionAttributeValues": values(x="y")}),
    ("describe_time_to_live", {}),
    ("update_table", {"BillingMode": "PAY_PER_REQUEST"})])
def test_a_missing_table_is_not_found(ddb, operation, request_):
    with pytest.raises(ddb.exceptions.ResourceNotFoundException) as failure:
        getattr(ddb, operation)(TableName="interop-absent", **request_)
    assert failure.value.response["ResponseMetadata"]["HTTPStatusCode"] == 400


# Words that boto3 lets through and the service refuses before anything else.
@pytest.mark.parametrize("operation, request_", [
    ("put_item", {"Item": ITEM, "ReturnValues": "SOME"}), ("scan", {"Select": "NOTHING"}),
    ("scan", {"ReturnConsumedCapacity": "YES"})])
def test_a_word_that_is_none_of_the_enum_is_refused(ddb, table, operation, request_):
    with pytest.raises(ClientError) as failure:
        getattr(ddb, operation)(TableName=table, **request_)
    assert failure.value.response["Error"]["Code"] == "ValidationException"
    assert "satisfy constraint: Member must satisfy enum value set: [" in (
        failure.value.response["Error"]["Message"])


def test_an_error_is_also_caught_as_client_error_with_its_operation(ddb):
    with pytest.raises(ClientError) as failure:
        ddb.get_item(TableName="interop-absent", Key=KEY)
    assert failure.value.operation_name == "GetItem"
    assert failure.value.response["ResponseMetadata"]["RequestId"]
