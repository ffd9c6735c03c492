"""BatchGetItem and BatchWriteItem."""
from cases import *


class Batches(Wire):
    def test_hundred_keys_of_several_tables(self):
        a, b = self.table("pk:S"), self.table("pk:S", "sk:N")
        self.fill(a, [item(pk=f"k{i}", v=i) for i in range(60)])
        self.fill(b, [item(pk="p", sk=i, v=i, w=1) for i in range(40)])
        got = self.db.batch_get_item(RequestItems={
            a: {"Keys": [{"pk": {"S": f"k{i}"}} for i in range(60)], "ConsistentRead": True},
            b: {"Keys": [{"pk": {"S": "p"}, "sk": {"N": str(i)}} for i in range(40)],
                "ProjectionExpression": "#v, sk", "ExpressionAttributeNames": {"#v": "v"}}},
            ReturnConsumedCapacity="TOTAL")
        self.assertEqual(len(got["Responses"][a]), 60)
        self.assertEqual({x["v"]["N"] for x in got["Responses"][b]}, {str(i) for i in range(40)})
        self.assertEqual(set(got["Responses"][b][0]), {"v", "sk"})
        self.assertEqual(got["UnprocessedKeys"], {})
        units = {c["TableName"]: c["CapacityUnits"] for c in got["ConsumedCapacity"]}
        self.assertEqual(units, {a: 60.0, b: 20.0})

    def test_missing_items_are_left_out(self):
        t = self.table("pk:S")
        self.put(t, pk="there")
        got = self.ok("BatchGetItem", RequestItems={t: {"Keys": [item(pk="there"),
                                                                 item(pk="gone")]}})
        self.assertEqual(got, {"Responses": {t: [item(pk="there")]}, "UnprocessedKeys": {}})

    def test_what_exceeds_16_megabytes_is_unprocessed(self):
        t = self.table("pk:S")
        for i in range(45):
            self.put(t, pk=f"k{i}", v="x" * 400_000)
        keys, got, rounds = {t: {"Keys": [item(pk=f"k{i}") for i in range(45)]}}, [], 0
        while keys:
            page = self.ok("BatchGetItem", RequestItems=keys)
            got += [x["pk"]["S"] for x in page["Responses"].get(t, [])]
            keys, rounds = page["UnprocessedKeys"], rounds + 1
        self.assertEqual(sorted(got), sorted(f"k{i}" for i in range(45)))
        self.assertEqual(rounds, 2)

    def test_25_writes_and_no_more(self):
        t = self.table("pk:S")
        puts = [{"PutRequest": {"Item": item(pk=f"k{i}")}} for i in range(26)]
        got = self.db.batch_write_item(RequestItems={t: [
            {"PutRequest": {"Item": {"pk": {"S": f"k{i}"}}}} for i in range(25)]},
            ReturnConsumedCapacity="INDEXES", ReturnItemCollectionMetrics="SIZE")
        self.assertEqual(got["UnprocessedItems"], {})
        self.assertEqual(got["ConsumedCapacity"][0]["CapacityUnits"], 25.0)
        answer = self.ask("BatchWriteItem", {"RequestItems": {t: puts}})
        self.assertEqual(answer.status, 400)
        self.assertIn("Member must have length less than or equal to 25",
                      answer.json["message"])
        answer = self.ask("BatchGetItem", {"RequestItems": {t: {
            "Keys": [item(pk=f"k{i}") for i in range(101)]}}})
        self.assertEqual(answer.status, 400)
        self.assertIn("100", answer.json["message"])

    def test_puts_and_deletes_of_several_tables(self):
        a, b = self.table("pk:S"), self.table("pk:S")
        self.put(a, pk="old")
        self.ok("BatchWriteItem", RequestItems={
            a: [{"DeleteRequest": {"Key": item(pk="old")}},
                {"PutRequest": {"Item": item(pk="new", v={1, 2})}}],
            b: [{"PutRequest": {"Item": item(pk="b")}}]})
        self.assertEqual(self.ok("Scan", TableName=a)["Items"], [item(pk="new", v={1, 2})])
        self.assertEqual(self.ok("Scan", TableName=b)["Count"], 1)

    def test_refusals(self):
        t = self.table("pk:S")
        twice = [{"PutRequest": {"Item": item(pk="x")}}, {"DeleteRequest": {"Key": item(pk="x")}}]
        self.rows([
            ("BatchWriteItem", {"RequestItems": {t: twice}}, VALIDATION,
             "Provided list of item keys contains duplicates", DYNALITE),
            ("BatchGetItem", {"RequestItems": {t: {"Keys": [item(pk="x"), item(pk="x")]}}},
             VALIDATION, "Provided list of item keys contains duplicates", DYNALITE),
            ("BatchGetItem", {"RequestItems": {t: {"Keys": [item(no="x")]}}}, VALIDATION,
             "The provided key element does not match the schema", DYNALITE),
            ("BatchGetItem", {"RequestItems": {"never-made": {"Keys": [item(pk="x")]}}}, NOT_FOUND,
             "Requested resource not found", DYNALITE),
            ("BatchWriteItem", {"RequestItems": {"never-made": twice[:1]}}, NOT_FOUND,
             "Requested resource not found", DYNALITE),
            ("BatchWriteItem", {"RequestItems": {t: [{"PutRequest": {"Item": item(x=1)}}]}},
             VALIDATION, "The provided key element does not match the schema", DYNALITE),
        ])


if __name__ == "__main__":
    main()
