"""Secondary indexes over the wire: what they hold as items change, added and removed indexes."""
import time
from cases import *


class Indexes(Wire):
    def scan(self, t, name):
        return sorted(self.ok("Scan", TableName=t, IndexName=name)["Items"], key=str)

    def wait_active(self, t, name):
        end = time.monotonic() + 30
        while time.monotonic() < end:
            for x in self.ok("DescribeTable", TableName=t)["Table"]["GlobalSecondaryIndexes"]:
                if x["IndexName"] == name and x["IndexStatus"] == "ACTIVE":
                    return
            time.sleep(0.02)
        self.fail(f"{name} did not become active")

    def test_sparse_moved_and_removed_entries(self):
        t = self.table("pk:S", "sk:S", gsi={"byG": "g:S|h:N ALL"}, lsi={"byL": "pk:S|l:S ALL"})
        self.put(t, pk="a", sk="1", g="x", h=1, l="l1")
        self.put(t, pk="a", sk="2", g="x")
        self.put(t, pk="a", sk="3", h=1)
        self.assertEqual([x["sk"]["S"] for x in self.scan(t, "byG")], ["1"])
        self.assertEqual([x["sk"]["S"] for x in self.scan(t, "byL")], ["1"])
        self.put(t, pk="a", sk="1", g="y", h=2, l="l2")
        self.assertEqual([(x["g"]["S"], x["h"]["N"]) for x in self.scan(t, "byG")], [("y", "2")])
        self.ok("UpdateItem", TableName=t, Key=item(pk="a", sk="1"), UpdateExpression="REMOVE g")
        self.assertEqual(self.scan(t, "byG"), [])
        self.ok("DeleteItem", TableName=t, Key=item(pk="a", sk="1"))
        self.assertEqual(self.scan(t, "byL"), [])

    def test_projections(self):
        t = self.table("pk:S", gsi={"all": "g:S ALL", "keys": "g:S KEYS_ONLY",
                                    "some": "g:S INCLUDE a,b"})
        self.put(t, pk="x", g="g", a=1, b=2, c=3)
        self.assertEqual(self.scan(t, "all"), [item(pk="x", g="g", a=1, b=2, c=3)])
        self.assertEqual(self.scan(t, "keys"), [item(pk="x", g="g")])
        self.assertEqual(self.scan(t, "some"), [item(pk="x", g="g", a=1, b=2)])

    def test_local_indexes_fetch_what_they_do_not_hold(self):
        t = self.table("pk:S", "sk:S", lsi={"byL": "pk:S|l:S KEYS_ONLY"})
        self.put(t, pk="a", sk="1", l="x", far=7)
        request = {"TableName": t, "IndexName": "byL", "KeyConditionExpression": "pk = :a",
                   "ExpressionAttributeValues": {":a": value("a")}}
        self.assertEqual(self.ok("Query", **request)["Items"], [item(pk="a", sk="1", l="x")])
        self.assertEqual(self.ok("Query", **request, ProjectionExpression="far")["Items"],
                         [item(far=7)])
        self.assertEqual(self.ok("Query", **request, Select="ALL_ATTRIBUTES")["Items"],
                         [item(pk="a", sk="1", l="x", far=7)])

    def test_index_keys_have_their_type(self):
        t = self.table("pk:S", gsi={"byG": "g:S|h:N ALL"})
        for attribute, wrong, got, want in (("g", 1, "N", "S"), ("h", "x", "S", "N")):
            answer = self.ask("PutItem", {"TableName": t, "Item": item(
                **{"pk": "x", "g": "g", "h": 1, attribute: wrong})})
            self.assertEqual(answer.status, 400)
            self.assertIn(f"Type mismatch for Index Key {attribute} Expected: {want} Actual: {got} "
                          "IndexName: byG", answer.json["message"])
        answer = self.ask("PutItem", {"TableName": t, "Item": item(pk="x", g="", h=1)})
        self.assertIn("empty string", answer.json["message"])

    def test_an_index_is_added_filled_and_removed(self):
        t = self.table("pk:S")
        self.fill(t, [item(pk=f"k{i:03}", g=f"g{i % 3}", v=i) for i in range(200)])
        made, definitions = index("byG", "g:S ALL")
        told = self.ok("UpdateTable", TableName=t, AttributeDefinitions=definitions,
                       GlobalSecondaryIndexUpdates=[{"Create": made}])["TableDescription"]
        self.assertEqual(told["GlobalSecondaryIndexes"][0]["IndexStatus"], "CREATING")
        self.wait_active(t, "byG")
        got = self.ok("Query", TableName=t, IndexName="byG", KeyConditionExpression="g = :g",
                      ExpressionAttributeValues={":g": value("g1")})
        self.assertEqual(got["Count"], 67)
        told = self.ok("DescribeTable", TableName=t)["Table"]
        self.assertEqual({d["AttributeName"] for d in told["AttributeDefinitions"]}, {"pk", "g"})
        told = self.ok("UpdateTable", TableName=t, GlobalSecondaryIndexUpdates=[
            {"Delete": {"IndexName": "byG"}}])["TableDescription"]
        self.assertEqual(told["GlobalSecondaryIndexes"][0]["IndexStatus"], "DELETING")
        told = self.ok("DescribeTable", TableName=t)["Table"]
        self.assertNotIn("GlobalSecondaryIndexes", told)
        self.assertEqual([d["AttributeName"] for d in told["AttributeDefinitions"]], ["pk"])
        self.refused("Query", {"TableName": t, "IndexName": "byG",
                               "KeyConditionExpression": "g = :g",
                               "ExpressionAttributeValues": {":g": value("g1")}}, VALIDATION,
                     "The table does not have the specified index: byG")

    def test_throughput_of_an_index(self):
        t = self.table("pk:S", ProvisionedThroughput={"ReadCapacityUnits": 5,
                                                      "WriteCapacityUnits": 5})
        made, definitions = index("byG", "g:S ALL")
        made["ProvisionedThroughput"] = {"ReadCapacityUnits": 2, "WriteCapacityUnits": 2}
        self.ok("UpdateTable", TableName=t, AttributeDefinitions=definitions,
                GlobalSecondaryIndexUpdates=[{"Create": made}])
        self.wait_active(t, "byG")
        self.ok("UpdateTable", TableName=t, GlobalSecondaryIndexUpdates=[{"Update": {
            "IndexName": "byG", "ProvisionedThroughput": {"ReadCapacityUnits": 9,
                                                          "WriteCapacityUnits": 2}}}])
        [told] = self.ok("DescribeTable", TableName=t)["Table"]["GlobalSecondaryIndexes"]
        self.assertEqual(told["ProvisionedThroughput"]["ReadCapacityUnits"], 9)

    def test_eight_key_attributes(self):
        text = ",".join(f"h{i}:S" for i in range(4)) + "|" + ",".join(f"r{i}:N" for i in range(4))
        t = self.table("pk:S", gsi={"wide": text + " ALL"})
        whole = {**{f"h{i}": "x" for i in range(4)}, **{f"r{i}": i for i in range(4)}}
        self.put(t, pk="in", **whole)
        self.put(t, pk="out", **{k: v for k, v in whole.items() if k != "r3"})
        self.assertEqual([x["pk"]["S"] for x in self.scan(t, "wide")], ["in"])
        names = " AND ".join(f"h{i} = :x" for i in range(4))
        got = self.ok("Query", TableName=t, IndexName="wide",
                      KeyConditionExpression=names + " AND r0 = :zero AND r1 > :zero",
                      ExpressionAttributeValues={":x": value("x"), ":zero": value(0)})
        self.assertEqual(got["Count"], 1)


class Lag(Wire):
    args = ["--memory", "--gsi-lag-ms", "1500"]

    def test_global_indexes_lag_when_told_and_tables_do_not(self):
        t = self.table("pk:S", "sk:S", gsi={"byG": "g:S ALL"}, lsi={"byL": "pk:S|l:S ALL"})
        self.put(t, pk="a", sk="1", g="g", l="l")
        began = time.monotonic()

        def count(**more):
            return self.ok("Scan", TableName=t, Select="COUNT", **more)["Count"]
        lagging = count(IndexName="byG")
        self.assertTrue(lagging == 0 or time.monotonic() - began > 1)
        self.assertEqual((count(), count(IndexName="byL")), (1, 1))
        while count(IndexName="byG") == 0:
            self.assertLess(time.monotonic() - began, 30)
            time.sleep(0.05)


if __name__ == "__main__":
    main()
