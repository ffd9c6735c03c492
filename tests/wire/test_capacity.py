"""ConsumedCapacity of every operation that tells it: sizes at N and N + 1, both kinds of reads,
indexes, failed conditions; and --throttle."""
from cases import *


class Capacity(Wire):
    def units(self, operation, mode="TOTAL", **request):
        got = self.ok(operation, ReturnConsumedCapacity=mode, **request)["ConsumedCapacity"]
        return got[0]["CapacityUnits"] if isinstance(got, list) else got["CapacityUnits"]

    def sized(self, n):
        return item(pk="x", v="v" * (n - 4))  # pk, x and v

    def test_writes_by_the_kilobyte(self):
        t = self.table("pk:S")
        for size, want in ((4, 1), (1024, 1), (1025, 2), (2048, 2), (2049, 3), (10 * 1024, 10)):
            self.ok("DeleteItem", TableName=t, Key=item(pk="x"))
            self.assertEqual(self.units("PutItem", TableName=t, Item=self.sized(size)), want, size)
            self.assertEqual(self.units("PutItem", TableName=t, Item=item(pk="x")), want,
                             "charged for what it replaces")
            self.assertEqual(self.units("PutItem", TableName=t, Item=self.sized(size)), want)
            self.assertEqual(self.units("DeleteItem", TableName=t, Key=item(pk="x")), want)

    def test_reads_by_four_kilobytes(self):
        t = self.table("pk:S")
        for size, want in ((4, 1), (4096, 1), (4097, 2), (8192, 2), (8193, 3)):
            self.ok("PutItem", TableName=t, Item=self.sized(size))
            get = {"TableName": t, "Key": item(pk="x")}
            self.assertEqual(self.units("GetItem", ConsistentRead=True, **get), want, size)
            self.assertEqual(self.units("GetItem", **get), want / 2, size)
            self.assertEqual(self.units("GetItem", ProjectionExpression="pk", **get), want / 2)
            query = {"TableName": t, "KeyConditionExpression": "pk = :x",
                     "ExpressionAttributeValues": {":x": value("x")}}
            self.assertEqual(self.units("Query", ConsistentRead=True, **query), want, size)
            self.assertEqual(self.units("Query", Select="COUNT", **query), want / 2, size)
            self.assertEqual(self.units("Scan", TableName=t), want / 2, size)
            self.assertEqual(self.units("BatchGetItem", RequestItems={
                t: {"Keys": [item(pk="x")], "ConsistentRead": True}}), want, size)
            self.assertEqual(self.units("TransactGetItems", TransactItems=[{"Get": get}]),
                             want * 2, size)
        self.assertEqual(self.units("GetItem", TableName=t, Key=item(pk="none")), 0.5)

    def test_a_page_rounds_its_sum(self):
        t = self.table("pk:S", "sk:N")
        self.fill(t, [item(pk="p", sk=i, v="x" * 100) for i in range(30)])
        query = {"TableName": t, "KeyConditionExpression": "pk = :p",
                 "ExpressionAttributeValues": {":p": value("p")}}
        self.assertEqual(self.units("Query", **query), 0.5)
        self.assertEqual(self.units("Query", ConsistentRead=True, **query), 1.0)

    def test_indexes_tell_what_they_cost(self):
        t = self.table("pk:S", "sk:S", gsi={"byG": "g:S ALL"}, lsi={"byL": "pk:S|l:S KEYS_ONLY"})

        def put(**attributes):
            return self.ok("PutItem", TableName=t, Item=item(pk="a", sk="b", **attributes),
                           ReturnConsumedCapacity="INDEXES")["ConsumedCapacity"]
        first = put(g="g", l="l")
        self.assertEqual(first, {"TableName": t, "CapacityUnits": 3.0,
                                 "Table": {"CapacityUnits": 1.0},
                                 "GlobalSecondaryIndexes": {"byG": {"CapacityUnits": 1.0}},
                                 "LocalSecondaryIndexes": {"byL": {"CapacityUnits": 1.0}}})
        self.assertEqual(put(g="g", l="l")["CapacityUnits"], 1.0)
        moved = put(g="other", l="l")
        self.assertEqual(moved["GlobalSecondaryIndexes"]["byG"]["CapacityUnits"], 2.0)
        self.assertNotIn("LocalSecondaryIndexes", moved)
        gone = put(l="l")
        self.assertEqual(gone["GlobalSecondaryIndexes"]["byG"]["CapacityUnits"], 1.0)
        got = self.ok("Query", TableName=t, IndexName="byL", KeyConditionExpression="pk = :a",
                      ExpressionAttributeValues={":a": value("a")}, Select="ALL_ATTRIBUTES",
                      ReturnConsumedCapacity="INDEXES")["ConsumedCapacity"]
        self.assertEqual(got["LocalSecondaryIndexes"]["byL"]["CapacityUnits"], 0.5)
        self.assertEqual(got["Table"]["CapacityUnits"], 0.5)

    def test_transactions_cost_twice(self):
        t = self.table("pk:S")
        got = self.ok("TransactWriteItems", ReturnConsumedCapacity="INDEXES", TransactItems=[
            {"Put": {"TableName": t, "Item": self.sized(1025)}}])["ConsumedCapacity"]
        self.assertEqual(got, [{"TableName": t, "CapacityUnits": 4.0, "WriteCapacityUnits": 4.0,
                                "Table": {"CapacityUnits": 4.0, "WriteCapacityUnits": 4.0}}])

    def test_none_is_told_unless_asked(self):
        t = self.table("pk:S")
        for mode in (None, "NONE"):
            more = {"ReturnConsumedCapacity": mode} if mode else {}
            self.assertNotIn("ConsumedCapacity", self.ok("Scan", TableName=t, **more))
            self.assertNotIn("ConsumedCapacity",
                             self.ok("PutItem", TableName=t, Item=item(pk="x"), **more))


class Throttled(Wire):
    args = ["--memory", "--throttle"]

    def test_a_table_gives_what_it_has(self):
        t = self.table("pk:S", ProvisionedThroughput={"ReadCapacityUnits": 1,
                                                      "WriteCapacityUnits": 1})
        for i in range(2000):
            answer = self.ask("PutItem", {"TableName": t, "Item": item(pk=f"k{i}", v="x" * 900)})
            if answer.status != 200:
                break
        self.assertEqual(answer.status, 400)
        self.assertEqual(answer.json["__type"], "com.amazonaws.dynamodb.v20120810#"
                         "ProvisionedThroughputExceededException")
        self.assertGreaterEqual(i, 300)  # five minutes of what was not used
        self.raises("ProvisionedThroughputExceededException", None, self.db.put_item, TableName=t,
                    Item={"pk": {"S": "more"}, "v": {"S": "x" * 100_000}})


if __name__ == "__main__":
    main()
