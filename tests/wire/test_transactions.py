"""TransactWriteItems and TransactGetItems."""
import threading
from cases import *


class Transactions(Wire):
    def write(self, *actions, **more):
        return self.ok("TransactWriteItems", TransactItems=list(actions), **more)

    def test_all_four_actions_at_once(self):
        t, u = self.table("pk:S"), self.table("pk:S", "sk:N")
        self.put(t, pk="check", v=1)
        self.put(t, pk="update", v=1)
        self.put(u, pk="delete", sk=1)
        got = self.db.transact_write_items(TransactItems=[
            {"ConditionCheck": {"TableName": t, "Key": {"pk": {"S": "check"}},
                                "ConditionExpression": "v = :v",
                                "ExpressionAttributeValues": {":v": {"N": "1"}}}},
            {"Put": {"TableName": t, "Item": {"pk": {"S": "put"}},
                     "ConditionExpression": "attribute_not_exists(pk)"}},
            {"Update": {"TableName": t, "Key": {"pk": {"S": "update"}},
                        "UpdateExpression": "SET v = v + :v",
                        "ExpressionAttributeValues": {":v": {"N": "1"}}}},
            {"Delete": {"TableName": u, "Key": {"pk": {"S": "delete"}, "sk": {"N": "1"}}}}],
            ReturnConsumedCapacity="TOTAL")
        units = {c["TableName"]: (c["CapacityUnits"], c["WriteCapacityUnits"])
                 for c in got["ConsumedCapacity"]}
        self.assertEqual(units, {t: (6.0, 6.0), u: (2.0, 2.0)})
        self.assertEqual(self.ok("Scan", TableName=u)["Count"], 0)
        got = self.db.transact_get_items(TransactItems=[
            {"Get": {"TableName": t, "Key": {"pk": {"S": k}},
                     "ProjectionExpression": "#v", "ExpressionAttributeNames": {"#v": "v"}}}
            for k in ("update", "put", "never")], ReturnConsumedCapacity="TOTAL")
        self.assertEqual(got["Responses"], [{"Item": {"v": {"N": "2"}}}, {"Item": {}}, {}])
        self.assertEqual(got["ConsumedCapacity"][0]["CapacityUnits"], 6.0)

    def test_cancelled_as_a_whole_with_reasons(self):
        t = self.table("pk:S")
        self.put(t, pk="a", v=1)
        error = self.refused("TransactWriteItems", {"TransactItems": [
            {"Put": {"TableName": t, "Item": item(pk="new")}},
            {"Put": {"TableName": t, "Item": item(pk="a"),
                     "ConditionExpression": "attribute_not_exists(pk)",
                     "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}},
            {"Update": {"TableName": t, "Key": item(pk="b"), "UpdateExpression": "SET v = v + :n",
                        "ExpressionAttributeValues": {":n": value(1)}}}]},
            "TransactionCanceledException",
            "Transaction cancelled, please refer cancellation reasons for specific reasons "
            "[None, ConditionalCheckFailed, ValidationError]")
        none, condition, wrong = error["CancellationReasons"]
        self.assertEqual(none, {"Code": "None"})
        self.assertEqual(condition, {"Code": "ConditionalCheckFailed", "Item": item(pk="a", v=1),
                                     "Message": "The conditional request failed"})
        self.assertEqual(wrong["Code"], "ValidationError")
        self.assertEqual(self.ok("Scan", TableName=t)["Count"], 1)

    def test_token_makes_it_happen_once(self):
        t = self.table("pk:S")
        self.put(t, pk="n", v=0)
        add = {"Update": {"TableName": t, "Key": item(pk="n"), "UpdateExpression": "ADD v :one",
                          "ExpressionAttributeValues": {":one": value(1)}}}
        for _ in range(3):
            self.write(add, ClientRequestToken="t" * 36)
        self.assertEqual(self.ok("GetItem", TableName=t, Key=item(pk="n"))["Item"]["v"], value(1))
        other = {"Put": {"TableName": t, "Item": item(pk="other")}}
        answer = self.ask("TransactWriteItems", {"TransactItems": [other],
                                                 "ClientRequestToken": "t" * 36})
        self.assertEqual(answer.json["__type"].split("#")[1],
                         "IdempotentParameterMismatchException")

    def test_hundred_actions_and_no_more(self):
        t = self.table("pk:S")
        puts = [{"Put": {"TableName": t, "Item": item(pk=f"k{i}")}} for i in range(101)]
        self.write(*puts[:100])
        self.assertEqual(self.ok("Scan", TableName=t, Select="COUNT")["Count"], 100)
        answer = self.ask("TransactWriteItems", {"TransactItems": puts})
        self.assertIn("Member must have length less than or equal to 100", answer.json["message"])
        gets = [{"Get": {"TableName": t, "Key": item(pk=f"k{i}")}} for i in range(101)]
        self.assertEqual(len(self.ok("TransactGetItems", TransactItems=gets[:100])["Responses"]),
                         100)
        answer = self.ask("TransactGetItems", {"TransactItems": gets})
        self.assertIn("Member must have length less than or equal to 100", answer.json["message"])

    def test_each_item_once(self):
        t = self.table("pk:S")
        self.refused("TransactWriteItems", {"TransactItems": [
            {"Put": {"TableName": t, "Item": item(pk="x")}},
            {"Delete": {"TableName": t, "Key": item(pk="x")}}]}, VALIDATION,
            "Transaction request cannot include multiple operations on one item")

    def test_four_megabytes_and_no_more(self):
        t = self.table("pk:S")
        full, limit = 400_000, 4 * 1024 * 1024
        sizes = [full] * 10 + [limit - 10 * full]

        def puts(sizes):
            return [{"Put": {"TableName": t, "Item": item(pk=f"k{i:02}", v="x" * (n - 6))}}
                    for i, n in enumerate(sizes)]
        self.write(*puts(sizes))
        answer = self.ask("TransactWriteItems", {
            "TransactItems": puts(sizes[:-1] + [sizes[-1] + 1])})
        self.assertEqual(answer.status, 400)
        self.assertEqual(answer.json["__type"].split("#")[1], VALIDATION)
        self.assertEqual(self.ok("GetItem", TableName=t, Key=item(pk="k10"),
                                 ProjectionExpression="pk")["Item"], item(pk="k10"))

    def test_readers_never_see_half(self):
        t = self.table("pk:S")
        keys = [f"k{i}" for i in range(5)]
        stop, seen = threading.Event(), []

        def read():
            client = self.server.client()
            while not stop.is_set():
                got = client.transact_get_items(TransactItems=[
                    {"Get": {"TableName": t, "Key": {"pk": {"S": k}}}} for k in keys])
                seen.append({r.get("Item", {}).get("v", {}).get("N") for r in got["Responses"]})
            client.close()
        reader = threading.Thread(target=read)
        reader.start()
        for n in range(60):
            self.write(*[{"Put": {"TableName": t, "Item": item(pk=k, v=n)}} for k in keys])
        stop.set()
        reader.join()
        self.assertTrue(seen)
        self.assertEqual([s for s in seen if len(s) != 1], [])


if __name__ == "__main__":
    main()
