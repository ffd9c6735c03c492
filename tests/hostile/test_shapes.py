"""Bodies that are JSON and are not what an operation takes. Of a good request of every operation each
part in turn is taken out, replaced by what does not belong there, or repeated beyond its limit; then
several at once, by chance. Whatever comes of it: 200 or 400, and JSON."""
import copy, json, os, random
import hostile
from hostile import SCALE, request_bytes

ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/things"
KEY, OTHER = ({"PK": {"S": "a"}, "SK": {"S": x}} for x in "bc")
ITEM = {**KEY, "n": {"N": "1"}, "l": {"L": [{"S": "q"}, {"M": {"z": {"BOOL": True}}}]},
        "ss": {"SS": ["a", "b"]}, "b": {"B": "YWJj"}, "nothing": {"NULL": True}}
VALUES = {":v": {"N": "1"}}
KEYS = [{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}]
NAMES = [{"AttributeName": "PK", "AttributeType": "S"}, {"AttributeName": "SK", "AttributeType": "S"}]
UNITS = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}
INDEX = {"IndexName": "index", "KeySchema": KEYS, "Projection": {
    "ProjectionType": "INCLUDE", "NonKeyAttributes": ["q"]}}
STREAM = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
STREAM_ARN, SHARD = ARN + "/stream/2026-01-01T00:00:00.000", "shardId-" + "0" * 20 + "-" + "a" * 8
STREAMS = "DynamoDBStreams_20120810."
GOOD = {
    "GetItem": {"TableName": "things", "Key": KEY, "ProjectionExpression": "n,#l",
                "ExpressionAttributeNames": {"#l": "l"}, "ReturnConsumedCapacity": "TOTAL"},
    "PutItem": {"TableName": "things", "Item": ITEM, "ConditionExpression": "n = :v OR #l = :v",
                "ExpressionAttributeNames": {"#l": "l"}, "ExpressionAttributeValues": VALUES,
                "ReturnValues": "ALL_OLD", "ReturnValuesOnConditionCheckFailure": "ALL_OLD"},
    "UpdateItem": {"TableName": "things", "Key": KEY, "UpdateExpression": "SET n = :v",
                   "ExpressionAttributeValues": VALUES, "ReturnValues": "ALL_NEW"},
    "DeleteItem": {"TableName": "things", "Key": KEY, "ReturnItemCollectionMetrics": "SIZE"},
    "Query": {"TableName": "things", "KeyConditionExpression": "PK = :p", "Limit": 3,
              "ExpressionAttributeValues": {":p": {"S": "a"}}, "ExclusiveStartKey": KEY},
    "Scan": {"TableName": "things", "Segment": 0, "TotalSegments": 2, "ExclusiveStartKey": KEY,
             "FilterExpression": "n > :v", "ExpressionAttributeValues": VALUES},
    "BatchGetItem": {"RequestItems": {"things": {"Keys": [KEY, OTHER], "ConsistentRead": True}}},
    "BatchWriteItem": {"RequestItems": {"things": [{"PutRequest": {"Item": ITEM}}, {
        "DeleteRequest": {"Key": OTHER}}]}, "ReturnConsumedCapacity": "TOTAL"},
    "TransactGetItems": {"TransactItems": [{"Get": {"TableName": "things", "Key": KEY}}]},
    "TransactWriteItems": {"TransactItems": [
        {"Put": {"TableName": "things", "Item": ITEM}},
        {"ConditionCheck": {"TableName": "things", "Key": OTHER,
                            "ConditionExpression": "attribute_not_exists(PK)"}}]},
    "CreateTable": {"TableName": "other", "BillingMode": "PROVISIONED", "KeySchema": KEYS,
                    "AttributeDefinitions": NAMES, "ProvisionedThroughput": UNITS,
                    "LocalSecondaryIndexes": [INDEX], "StreamSpecification": STREAM,
                    "Tags": [{"Key": "a", "Value": "b"}]},
    "UpdateTable": {"TableName": "things", "AttributeDefinitions": NAMES,
                    "GlobalSecondaryIndexUpdates": [{"Create": INDEX}, {"Delete": {
                        "IndexName": "index"}}], "StreamSpecification": STREAM},
    "DescribeTable": {"TableName": "things"},
    "DeleteTable": {"TableName": "other"},
    "ListTables": {"Limit": 3, "ExclusiveStartTableName": "abc"},
    "UpdateTimeToLive": {"TableName": "things", "TimeToLiveSpecification": {
        "AttributeName": "t", "Enabled": True}},
    "TagResource": {"ResourceArn": ARN, "Tags": [{"Key": "a", "Value": "b"}]},
    "UntagResource": {"ResourceArn": ARN, "TagKeys": ["a"]},
    "ListTagsOfResource": {"ResourceArn": ARN, "NextToken": "a"},
    STREAMS + "ListStreams": {"TableName": "things", "ExclusiveStartStreamArn": STREAM_ARN},
    STREAMS + "DescribeStream": {"StreamArn": STREAM_ARN, "Limit": 5, "ExclusiveStartShardId": SHARD},
    STREAMS + "GetShardIterator": {"StreamArn": STREAM_ARN, "ShardId": SHARD,
                                   "ShardIteratorType": "LATEST"},
    STREAMS + "GetRecords": {"ShardIterator": "00" * 60, "Limit": 5},
}
WRONG = [None, {}, [], "", "x", 0, -1, 10 ** 30, True, [None], [{}], [[]], {"a": None}, {"S": None},
         {"L": [None]}, "arn:", ARN, "arn::table/" + "z" * 300, "é" * 5000, "\0", {"": {"S": ""}},
         {"PK": {"S": "a", "N": "1"}}, {"PK": {"SS": [None]}}, {"PK": {"N": "zz"}}, [{"PK": {}}] * 3]
MANY = (26, 101, 102, 3000)


def paths(value, path=()):
    yield path
    inside = value.items() if isinstance(value, dict) else \
        enumerate(value) if isinstance(value, list) else ()
    for name, part in inside:
        yield from paths(part, path + (name,))


def at(value, path):
    for name in path:
        value = value[name]
    return value


def changed(value, path, part):
    if not path:
        return part
    value = copy.deepcopy(value)
    at(value, path[:-1])[path[-1]] = part
    return value


def without(value, path):
    value = copy.deepcopy(value)
    del at(value, path[:-1])[path[-1]]
    return value


def too_many(value, n):
    """The container with n entries, good and bad."""
    if isinstance(value, dict):
        first = next(iter(value.values()))
        return [{f"k{i}": part for i in range(n)} for part in (first, None)]
    return [[part] * n for part in (value[0], None, {}, {"PK": {"N": "zz"}})]


def variants(body):
    for path in paths(body):
        yield from (changed(body, path, wrong) for wrong in WRONG)
        if path:
            yield without(body, path)
        part = at(body, path)
        if isinstance(part, (dict, list)) and part:
            for n in MANY:
                yield from (changed(body, path, more) for more in too_many(part, n))


def by_chance(rng, body):
    for _ in range(rng.randrange(2, 5)):
        path = rng.choice(list(paths(body)))
        part = rng.choice(WRONG) if rng.random() < 0.5 else \
            copy.deepcopy(at(body, rng.choice(list(paths(body)))))
        body = changed(body, path, part)
    return body


class Shapes(hostile.Suite):
    @classmethod
    def prepare(cls):
        cls.server.create_table()

    def hold(self, connection, operation, body):
        connection.send(request_bytes(operation, json.dumps(body)))
        answer = connection.read_answer()
        self.assertIn(answer.status, (200, 400), (operation, body))
        answer.json

    def test_one_part_at_a_time(self):
        with self.server.connect() as c:
            for operation, body in GOOD.items():
                for variant in variants(body):
                    self.hold(c, operation, variant)

    def test_several_parts_by_chance(self):
        seed = int(os.environ.get("SHEAF_SEED", random.randrange(1 << 32)))
        print(f"SHEAF_SEED={seed}", flush=True)
        rng = random.Random(seed)
        with self.server.connect() as c:
            for _ in range(5000 * SCALE):
                operation = rng.choice(list(GOOD))
                self.hold(c, operation, by_chance(rng, GOOD[operation]))


if __name__ == "__main__":
    hostile.main()
