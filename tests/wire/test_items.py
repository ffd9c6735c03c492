"""PutItem, GetItem, UpdateItem, DeleteItem with boto3: every parameter, every type."""
from decimal import Decimal
from cases import *

EVERYTHING = {
    "s": "text", "empty": "", "utf8": "é𝄞 \u0000 \"\\/\b\f\n\r\t\u2028", "n": 1.5, "big": 10**37,
    "b": b"\x00\xff", "empty-b": b"", "t": True, "f": False, "null": None,
    "l": [1, "two", [b"3"], {}], "m": {"deep": {"er": [None]}, "": 1}, "el": [], "em": {},
    "ss": {"a", "b", ""}, "ns": {1, 2, 3}, "bs": {b"x", b"", b"yz"},
}


class Items(Wire):
    def test_every_type_comes_back(self):
        t = self.table("pk:S")
        put = item(pk="x", **EVERYTHING)
        self.ok("PutItem", TableName=t, Item=put)
        got = self.ok("GetItem", TableName=t, Key=item(pk="x"))["Item"]
        for name in put:
            want, have = put[name], got[name]
            if name in ("ss", "ns", "bs"):
                [(kind, members)] = want.items()
                self.assertEqual(sorted(have[kind]), sorted(members), name)
            else:
                self.assertEqual(have, want, name)
        self.assertEqual(set(got), set(put))
        through = self.db.get_item(TableName=t, Key={"pk": {"S": "x"}})["Item"]
        self.assertEqual(through["b"]["B"], b"\x00\xff")
        self.assertEqual(set(through["bs"]["BS"]), {b"x", b"", b"yz"})

    def test_attributes_are_written_in_name_order(self):
        t = self.table("pk:S")
        self.ok("PutItem", TableName=t, Item=item(z=1, pk="x", a={"y": 1, "b": 2}, M=3))
        body = self.ask("GetItem", {"TableName": t, "Key": item(pk="x")}).body
        self.assertEqual(body, b'{"Item":{"M":{"N":"3"},"a":{"M":{"b":{"N":"2"},"y":{"N":"1"}}},'
                               b'"pk":{"S":"x"},"z":{"N":"1"}}}')

    def test_numbers_are_told_in_their_shortest_form(self):
        t = self.table("pk:N")
        for given, told in (("1.50", "1.5"), ("-0", "0"), ("0.0e9", "0"), ("1E3", "1000"),
                            ("+7", "7"), ("1e-3", "0.001"), ("00012", "12"), ("123.0", "123"),
                            ("9" * 38, "9" * 38), (".5", "0.5")):
            self.ok("PutItem", TableName=t, Item={"pk": {"N": given}, "v": {"N": given}})
            got = self.ok("GetItem", TableName=t, Key={"pk": {"N": told}})["Item"]
            self.assertEqual((got["pk"]["N"], got["v"]["N"]), (told, told), given)

    def test_resource_api(self):
        import boto3
        from boto3.dynamodb.conditions import Attr
        db = boto3.resource("dynamodb", endpoint_url=self.server.url, region_name="us-east-1",
                            aws_access_key_id="k", aws_secret_access_key="s")
        table = db.Table(self.table("pk:S", "sk:N"))
        table.put_item(Item={"pk": "a", "sk": 1, "v": Decimal("1.25"), "set": {"x", "y"},
                             "list": [1, {"m": b"\x01"}], "none": None, "yes": True})
        got = table.get_item(Key={"pk": "a", "sk": 1}, ConsistentRead=True)["Item"]
        self.assertEqual(got["v"], Decimal("1.25"))
        self.assertEqual(got["set"], {"x", "y"})
        self.assertEqual(bytes(got["list"][1]["m"].value), b"\x01")
        self.assertIsNone(got["none"])
        new = table.update_item(
            Key={"pk": "a", "sk": 1}, UpdateExpression="SET v = v + :d REMOVE #l[0] ADD n :d "
            "DELETE #s :gone", ExpressionAttributeNames={"#l": "list", "#s": "set"},
            ExpressionAttributeValues={":d": 1, ":gone": {"x"}}, ReturnValues="ALL_NEW",
            ConditionExpression=Attr("yes").eq(True) & Attr("v").between(1, 2))["Attributes"]
        self.assertEqual((new["v"], new["n"], new["set"], len(new["list"])),
                         (Decimal("2.25"), 1, {"y"}, 1))
        with table.batch_writer(overwrite_by_pkeys=["pk", "sk"]) as batch:
            for i in range(30):
                batch.put_item(Item={"pk": "b", "sk": i})
            batch.delete_item(Key={"pk": "b", "sk": 7})
        self.assertEqual(table.scan(FilterExpression=Attr("pk").eq("b"))["Count"], 29)
        old = table.delete_item(Key={"pk": "a", "sk": 1}, ReturnValues="ALL_OLD")["Attributes"]
        self.assertEqual(old["v"], Decimal("2.25"))
        self.assertNotIn("Item", table.get_item(Key={"pk": "a", "sk": 1}))
        db.meta.client.close()

    def test_projections(self):
        t = self.table("pk:S")
        self.put(t, pk="x", a={"b": [10, 20, {"c": 30}], "d": 1}, **{"e.f": 2})
        for expression, names, want in (
                ("a.b[2].c", {}, {"a": value({"b": [{"c": 30}]})}),
                ("a.b[0], a.b[1]", {}, {"a": value({"b": [10, 20]})}),
                ("a.d, #ef", {"#ef": "e.f"}, {"a": value({"d": 1}), "e.f": value(2)}),
                ("zz", {}, {}), ("a.b[9], pk", {}, {"pk": value("x")})):
            more = {"ExpressionAttributeNames": names} if names else {}
            got = self.ok("GetItem", TableName=t, Key=item(pk="x"),
                          ProjectionExpression=expression, **more)
            self.assertEqual(got["Item"], want, expression)

    def test_return_values_of_updates(self):
        t = self.table("pk:S")
        self.put(t, pk="x", a=1, b={"c": 2, "d": 3})
        update = {"TableName": t, "Key": item(pk="x"), "UpdateExpression": "SET a = :n, b.c = :n",
                  "ExpressionAttributeValues": {":n": value(9)}}
        old = item(pk="x", a=1, b={"c": 2, "d": 3})
        new = item(pk="x", a=9, b={"c": 9, "d": 3})
        for kind, want in (("NONE", None), ("ALL_OLD", old), ("ALL_NEW", new),
                           ("UPDATED_OLD", item(a=1, b={"c": 2})),
                           ("UPDATED_NEW", item(a=9, b={"c": 9}))):
            self.put(t, pk="x", a=1, b={"c": 2, "d": 3})
            got = self.ok("UpdateItem", ReturnValues=kind, **update)
            self.assertEqual(got.get("Attributes"), want, kind)
        for kind in ("ALL_NEW", "UPDATED_NEW"):
            self.put(t, pk="x", a=1, b={"c": 2, "d": 3})
            got = self.ok("UpdateItem", TableName=t, Key=item(pk="new"), ReturnValues=kind,
                          UpdateExpression="SET z = :n", ExpressionAttributeValues={
                              ":n": value(1)})
            self.assertEqual(got["Attributes"],
                             item(pk="new", z=1) if kind == "ALL_NEW" else item(z=1))

    def test_put_and_delete_return_the_old_item(self):
        t = self.table("pk:S")
        self.assertEqual(self.ok("PutItem", TableName=t, Item=item(pk="x", v=1),
                                 ReturnValues="ALL_OLD"), {})
        got = self.ok("PutItem", TableName=t, Item=item(pk="x", v=2), ReturnValues="ALL_OLD")
        self.assertEqual(got, {"Attributes": item(pk="x", v=1)})
        self.assertEqual(self.ok("DeleteItem", TableName=t, Key=item(pk="x")), {})
        self.assertEqual(self.ok("DeleteItem", TableName=t, Key=item(pk="x"),
                                 ReturnValues="ALL_OLD"), {})

    def test_failed_conditions_may_tell_the_item(self):
        t = self.table("pk:S")
        self.put(t, pk="x", v=1)
        condition = {"TableName": t, "ConditionExpression": "v > :n",
                     "ExpressionAttributeValues": {":n": value(5)}}
        for operation, more in (("PutItem", {"Item": item(pk="x")}),
                                ("DeleteItem", {"Key": item(pk="x")}),
                                ("UpdateItem", {"Key": item(pk="x"),
                                                "UpdateExpression": "REMOVE v"})):
            for told in (None, "NONE", "ALL_OLD"):
                extra = {"ReturnValuesOnConditionCheckFailure": told} if told else {}
                error = self.refused(operation, {**condition, **more, **extra},
                                     "ConditionalCheckFailedException",
                                     "The conditional request failed")
                self.assertEqual(error.get("Item"),
                                 item(pk="x", v=1) if told == "ALL_OLD" else None)
        self.raises("ConditionalCheckFailedException", "The conditional request failed",
                    self.db.put_item, TableName=t, Item={"pk": {"S": "x"}},
                    ConditionExpression="attribute_not_exists(pk)")

    def test_every_function_and_operator(self):
        t = self.table("pk:S")
        self.put(t, pk="x", n=5, s="abcdef", l=[1, 2, 3], m={"k": 1}, ss={"a", "b"}, b=b"abc",
                 no=None, yes=True)
        values = {":five": 5, ":six": 6, ":ab": "ab", ":cd": "cd", ":one": 1, ":a": "a",
                  ":ba": b"ab", ":three": 3, ":N": "N", ":S": "S", ":L": "L", ":yes": True}
        true = ["n = :five", "n <> :six", "n < :six", "n <= :five", "n > :one", "n >= :five",
                "n BETWEEN :one AND :six", "n IN (:one, :five)", "attribute_exists(n)",
                "attribute_not_exists(zz)", "attribute_type(n, :N)", "attribute_type(s, :S)",
                "attribute_type(l, :L)", "begins_with(s, :ab)", "begins_with(b, :ba)",
                "contains(s, :cd)", "contains(ss, :a)", "contains(l, :one)", "size(l) = :three",
                "size(s) = :six", "size(m) = :one", "NOT n = :six", "n = :five AND s > :a",
                "n = :six OR n = :five", "NOT (n = :six OR s = :a)", "m.k = :one",
                "l[0] = :one", "yes = :yes", "zz <> :one"]
        for expression in true:
            words = expression.replace("(", " ").replace(")", " ").replace(",", " ").split()
            used = {k: value(v) for k, v in values.items() if k in words}
            more = {"ExpressionAttributeValues": used} if used else {}
            for text, matches in ((expression, 1), (f"NOT ({expression})", 0)):
                got = self.ok("Scan", TableName=t, FilterExpression=text, **more)
                self.assertEqual(got["Count"], matches, text)

    def test_every_update_action(self):
        t = self.table("pk:S")
        self.put(t, pk="x", n=1, l=[1], l2=[5], s={"a", "b"}, gone=1, m={"k": 1})
        got = self.ok(
            "UpdateItem", TableName=t, Key=item(pk="x"), ReturnValues="ALL_NEW",
            UpdateExpression="SET l = list_append(:more, l), c = if_not_exists(c, :one), "
            "d = if_not_exists(n, :more), m.z = n + :one, e = n - :one, l2[9] = :one "
            "REMOVE gone, m.k ADD n :one, fresh :set DELETE s :set",
            ExpressionAttributeValues={":more": value([0]), ":one": value(1),
                                       ":set": value({"a"})})["Attributes"]
        self.assertEqual(got, item(pk="x", n=2, l=[0, 1], l2=[5, 1], s={"b"}, c=1, d=1,
                                   m={"z": 2}, e=0, fresh={"a"}))

    def test_capacity_and_collection_metrics(self):
        t = self.table("pk:S", "sk:S", lsi={"byL": "pk:S|l:S ALL"})
        got = self.ok("PutItem", TableName=t, Item=item(pk="a", sk="1", l="x"),
                      ReturnConsumedCapacity="INDEXES", ReturnItemCollectionMetrics="SIZE")
        self.assertEqual(got["ConsumedCapacity"], {
            "TableName": t, "CapacityUnits": 2.0, "Table": {"CapacityUnits": 1.0},
            "LocalSecondaryIndexes": {"byL": {"CapacityUnits": 1.0}}})
        self.assertEqual(got["ItemCollectionMetrics"], {
            "ItemCollectionKey": item(pk="a"), "SizeEstimateRangeGB": [0.0, 1.0]})
        got = self.db.get_item(TableName=t, Key={"pk": {"S": "a"}, "sk": {"S": "1"}},
                               ConsistentRead=True, ReturnConsumedCapacity="TOTAL")
        self.assertEqual(got["ConsumedCapacity"], {"TableName": t, "CapacityUnits": 1.0})


if __name__ == "__main__":
    main()
