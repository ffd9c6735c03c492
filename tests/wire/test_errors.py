"""Every error class over the wire as SDKs see it, JSON that is none, parameters that are not
built, and the order in which a request that breaks several rules is judged."""
from cases import *

DEEP = b'{"a":' * 200_000


class Errors(Wire):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.t = cls().table("pk:S")

    def test_boto3_knows_the_class(self):
        db, e = self.db, self.db.exceptions
        cases = [
            (e.ResourceNotFoundException, lambda: db.describe_table(TableName="never-made")),
            (e.ResourceInUseException, lambda: db.create_table(**table_request(self.t))),
            (e.ConditionalCheckFailedException, lambda: db.delete_item(
                TableName=self.t, Key={"pk": {"S": "x"}}, ConditionExpression="v = :v",
                ExpressionAttributeValues={":v": {"N": "1"}})),
            (e.TransactionCanceledException, lambda: db.transact_write_items(TransactItems=[
                {"ConditionCheck": {"TableName": self.t, "Key": {"pk": {"S": "x"}},
                                    "ConditionExpression": "attribute_exists(pk)"}}])),
            (e.TableNotFoundException,
             lambda: db.describe_continuous_backups(TableName="never-made")),
            (e.LimitExceededException, lambda: db.update_table(
                TableName=self.t, GlobalSecondaryIndexUpdates=[
                    {"Delete": {"IndexName": "abc"}}, {"Delete": {"IndexName": "abd"}}])),
            (self.streams.exceptions.ResourceNotFoundException,
             lambda: self.streams.describe_stream(StreamArn=ARN + "never-made/stream/2026")),
        ]
        for kind, call in cases:
            with self.assertRaises(kind) as caught:
                call()
            response = caught.exception.response
            self.assertEqual(response["ResponseMetadata"]["HTTPStatusCode"], 400)
            self.assertEqual(len(response["ResponseMetadata"]["RequestId"]), 52)
        for n in range(2):
            put = {"ClientRequestToken": "once", "TransactItems": [
                {"Put": {"TableName": self.t, "Item": {"pk": {"S": f"m{n}"}}}}]}
            if n == 0:
                db.transact_write_items(**put)
        with self.assertRaises(e.IdempotentParameterMismatchException):
            db.transact_write_items(**put)

    def test_validation_and_unknown_operations(self):
        self.raises(VALIDATION, None, self.db.get_item, TableName=self.t, Key={})
        for target in ("DynamoDB_20120810.Nope", "DynamoDB_20111205.GetItem",
                       "DynamoDBStreams_20120810.GetItem", "DynamoDB_20120810.GetRecords",
                       "getitem", "DynamoDB_20120810.getitem"):
            answer = self.server.post(target, {})
            self.assertEqual(answer.status, 400, target)
            self.assertEqual(answer.json,
                             {"__type": "com.amazon.coral.service#UnknownOperationException"})
        for name in ("SearchVectors", "ExecuteStatement", "CreateBackup", "ListBackups"):
            answer = self.server.post(name, {})
            self.assertEqual(answer.status, 400, name)
            self.assertEqual(answer.json, {
                "__type": "com.amazon.coral.service#UnknownOperationException",
                "message": f"{name} is not supported by Sheaf yet"})

    def test_json_that_is_none(self):
        bad = [b"", b" ", b"x", b"{", b"}", b"[]", b"null", b"1", b'"text"', b"{}{}", b"{}x",
               b'{"a"}', b'{"a":}', b'{"a":1,}', b"{a:1}", b"{'a':1}", b'{"a":01}', b'{"a":+1}',
               b'{"a":.5}', b'{"a":1.}', b'{"a":0x1}', b'{"a":NaN}', b'{"a":tru}', b'{"a":"\x01"}',
               b'{"a":"\\x"}', b'{"a":"\\u12"}', b'{"a":"\\ud800"}', b'{"a":"\xff"}',
               b'{"a":"\xc0\x80"}', b'{"a":"\xed\xa0\x80"}', b"\xef\xbb\xbf{}", b'{"a":1 "b":2}',
               b'{"a"::1}', b'{"a":[1,]}', b'{"a":[1 2]}', b'{"a":"unended', b"{/**/}", DEEP]
        for body in bad:
            for operation in ("ListTables", "PutItem", "CreateTable"):
                answer = self.ask(operation, body)
                self.assertEqual(answer.status, 400, body[:40])
                self.assertEqual(answer.json["__type"],
                                 "com.amazon.coral.service#SerializationException", body[:40])

    def test_members_of_another_type(self):
        rows = [("GetItem", "TableName", 1), ("GetItem", "Key", "x"), ("GetItem", "Key", []),
                ("GetItem", "ConsistentRead", {}), ("Scan", "Limit", "1"), ("Scan", "Limit", {}),
                ("PutItem", "Item", [1]), ("PutItem", "Item", {"pk": "x"}),
                ("PutItem", "Item", {"pk": {"S": 1}}), ("PutItem", "Item", {"pk": {"N": 1}}),
                ("PutItem", "Item", {"pk": {"BOOL": []}}),
                ("PutItem", "Item", {"pk": {"SS": "x"}}), ("PutItem", "Item", {"pk": {"L": {}}}),
                ("PutItem", "Item", {"pk": {"M": []}}), ("PutItem", "Item", {"pk": {"B": 7}}),
                ("CreateTable", "KeySchema", {}), ("CreateTable", "KeySchema", ["x"]),
                ("CreateTable", "Tags", "x"), ("CreateTable", "ProvisionedThroughput", []),
                ("CreateTable", "ProvisionedThroughput", {"ReadCapacityUnits": "1"}),
                ("UpdateTable", "GlobalSecondaryIndexUpdates", {}),
                ("TagResource", "Tags", {}), ("UntagResource", "TagKeys", [1]),
                ("UpdateTimeToLive", "TimeToLiveSpecification", {"Enabled": []}),
                ("BatchGetItem", "RequestItems", []), ("TransactWriteItems", "TransactItems", {}),
                ("GetRecords", "ShardIterator", 1), ("ListStreams", "Limit", True)]
        for operation, member, wrong in rows:
            answer = self.ask(operation, {"TableName": self.t, member: wrong})
            self.assertEqual((answer.status, answer.json["__type"]),
                             (400, "com.amazon.coral.service#SerializationException"),
                             (operation, member, wrong, answer.body))

    def test_parameters_of_older_days_are_refused_by_name(self):
        old = {"ComparisonOperator": "EQ", "AttributeValueList": [value(1)]}
        for operation, member, given in (
                ("GetItem", "AttributesToGet", ["a"]), ("Query", "KeyConditions", {"pk": old}),
                ("Query", "QueryFilter", {"a": old}), ("Scan", "ScanFilter", {"a": old}),
                ("PutItem", "Expected", {"a": {"Exists": False}}),
                ("UpdateItem", "AttributeUpdates", {"a": {"Action": "DELETE"}})):
            request = {"TableName": self.t, member: given}
            if operation in ("GetItem", "UpdateItem"):
                request["Key"] = item(pk="x")
            if operation == "PutItem":
                request["Item"] = item(pk="x")
            answer = self.ask(operation, request)
            self.assertEqual(answer.status, 400, operation)
            self.assertIn(member, answer.json["message"])

    def test_shape_before_meaning_before_existence(self):
        key = item(pk="x")
        self.rows([
            # shape, although the table is not there and the expression is wrong
            ("GetItem", {"TableName": "never-made", "Key": key, "ReturnConsumedCapacity": "x",
                         "ProjectionExpression": "(("}, VALIDATION,
             errors(at("x", "returnConsumedCapacity", enum("INDEXES, TOTAL, NONE"))), DYNALITE),
            # the expression, although the table is not there
            ("PutItem", {"TableName": "never-made", "Item": key, "ConditionExpression": ""},
             VALIDATION, "1 validation error detected: Invalid ConditionExpression: The expression "
             "can not be empty;", PARITY),
            ("Query", {"TableName": "never-made", "KeyConditionExpression": "",
                       "ExpressionAttributeValues": {":v": value(1)}}, VALIDATION,
             "Invalid KeyConditionExpression: The expression can not be empty;", DYNALITE),
            # the table, although the key is wrong
            ("GetItem", {"TableName": "never-made", "Key": item(no=1)}, NOT_FOUND,
             "Requested resource not found", DYNALITE),
            # the key
            ("GetItem", {"TableName": self.t, "Key": item(no=1)}, VALIDATION,
             "The provided key element does not match the schema", DYNALITE),
            ("GetItem", {"TableName": self.t, "Key": item(pk=1)}, VALIDATION,
             "The provided key element does not match the schema", DYNALITE),
        ])

    def test_nothing_that_is_asked_wrongly_is_the_servers_fault(self):
        """Every operation with every kind of nonsense for a member: never 5xx, never silence."""
        members = ["TableName", "Key", "Item", "RequestItems", "TransactItems", "KeySchema", "Tags",
                   "AttributeDefinitions", "GlobalSecondaryIndexes", "GlobalSecondaryIndexUpdates",
                   "ResourceArn", "TagKeys", "StreamArn", "ShardId", "ShardIterator", "Limit",
                   "ShardIteratorType", "TimeToLiveSpecification", "ExclusiveStartKey", "NextToken",
                   "ExclusiveStartTableName", "ExclusiveStartStreamArn", "ExpressionAttributeNames",
                   "ExpressionAttributeValues", "ConditionExpression", "UpdateExpression",
                   "KeyConditionExpression", "FilterExpression", "ProjectionExpression", "Segment",
                   "StreamSpecification", "SSESpecification", "ProvisionedThroughput",
                   "OnDemandThroughput", "WarmThroughput", "ShardFilter", "SequenceNumber"]
        nonsense = [None, "", "x", "arn:", "arn:aws:dynamodb:::table/", "\u0000", 0, -1, 2**63,
                    -2**63, 1e300, True, [], [None], [[]], [{}], {}, {"": ""}, {"a": {}},
                    {"a": {"S": "x"}}, {"a": [{}]}]
        operations = ["BatchGetItem", "BatchWriteItem", "CreateTable", "DeleteItem", "DeleteTable",
                      "DescribeContinuousBackups", "DescribeEndpoints", "DescribeLimits",
                      "DescribeStream", "DescribeTable", "DescribeTimeToLive", "GetItem",
                      "GetRecords", "GetShardIterator", "ListStreams", "ListTables",
                      "ListTagsOfResource", "PutItem", "Query", "Scan", "TagResource",
                      "TransactGetItems", "TransactWriteItems", "UntagResource", "UpdateItem",
                      "UpdateTable", "UpdateTimeToLive"]
        base = {"TableName": self.t, "Key": item(pk="x"), "Item": item(pk="x"),
                "ResourceArn": ARN + self.t, "StreamArn": ARN + self.t + "/stream/2026-01-01",
                "ShardId": "shardId-00000000000000000000-00000000", "ShardIteratorType": "LATEST"}
        for operation in operations:
            for member in members:
                for wrong in nonsense:
                    if operation == "DeleteTable":
                        request = {"TableName": wrong, member: wrong}
                    else:
                        request = {**base, member: wrong}
                    answer = self.ask(operation, request)
                    self.assertIn(answer.status, (200, 400), (operation, member, wrong))
                    if answer.status == 400:
                        self.assertIn("Exception", answer.json["__type"])


class Injected(Wire):
    """What --faults brings about reaches SDKs as the service's, and their retries get over it."""
    args = None
    FAULTS = {"PutItem": ("TransactionConflictException", 400),
              "GetItem": ("ProvisionedThroughputExceededException", 400),
              "Scan": ("InternalServerError", 500)}

    def test_retryable_errors_are_retried_by_boto3(self):
        from botocore.config import Config
        import boto3
        ini = self.write("faults.ini", "".join(
            f"[{operation}]\noperation = {operation}\nerror = {error}\nevery = 2\n"
            for operation, (error, _) in self.FAULTS.items()))
        with Server("--memory", "--faults", ini) as server:
            server.create_table("things")
            key = {"PK": {"S": "a"}, "SK": {"S": "1"}}
            calls = {"PutItem": {"TableName": "things", "Item": key},
                     "GetItem": {"TableName": "things", "Key": key},
                     "Scan": {"TableName": "things"}}
            for operation, (error, status) in self.FAULTS.items():
                answers = [server.post(operation, calls[operation]) for _ in range(2)]
                [bad] = [a for a in answers if a.status != 200]
                self.assertEqual(bad.status, status)
                self.assertEqual(bad.json["__type"], "com.amazonaws.dynamodb.v20120810#" + error)
            for mode in ("legacy", "standard"):
                client = boto3.client(
                    "dynamodb", endpoint_url=server.url, region_name="us-east-1",
                    aws_access_key_id="k", aws_secret_access_key="s",
                    config=Config(retries={"mode": mode, "max_attempts": 5}))
                tries = 0
                for _ in range(4):
                    got = client.get_item(**calls["GetItem"])
                    tries += got["ResponseMetadata"]["RetryAttempts"]
                    tries += client.scan(**calls["Scan"])["ResponseMetadata"]["RetryAttempts"]
                self.assertGreater(tries, 0, mode)
                client.close()


if __name__ == "__main__":
    main()
