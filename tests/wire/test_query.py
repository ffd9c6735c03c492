"""Query and Scan: key conditions, pages of every size on tables and indexes in both directions,
segments, Select, filters."""
from cases import *

GSI = {"byG": "g:S|h:N ALL", "only": "g:S KEYS_ONLY", "many": "g:S,pk:S|h:N,sk:S ALL"}


class Pages(Wire):
    """12 items in one collection, which every index holds, and 9 of other collections."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        self = cls()
        cls.t = self.table("pk:S", "sk:S", gsi=GSI, lsi={"byL": "pk:S|l:N ALL"})
        cls.items = [item(pk="a", sk=f"s{i:02}", g="g", h=(i * 7) % 12, l=(i * 5) % 12, v=i)
                     for i in range(12)]
        self.fill(cls.t, cls.items + [item(pk=f"x{i}", sk="s", v=i) for i in range(9)])

    def pages(self, operation, limit, **request):
        got, start = [], {}
        while True:
            page = self.ok(operation, TableName=self.t, Limit=limit, **request, **start)
            self.assertLessEqual(page["ScannedCount"], limit)
            self.assertEqual(page["Count"], len(page["Items"]))
            got += page["Items"]
            if "LastEvaluatedKey" not in page:
                return got
            start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}

    def orders(self):
        by = {None: "sk", "byL": "l", "byG": "h", "only": None}
        for name, attribute in by.items():
            key = "pk" if name in (None, "byL") else "g"
            request = {"KeyConditionExpression": f"{key} = :k", "ExpressionAttributeValues": {
                ":k": value("a" if key == "pk" else "g")}}
            if name:
                request["IndexName"] = name
            yield name, attribute, request
        yield "many", "h", {"IndexName": "many", "KeyConditionExpression": "g = :g AND pk = :p",
                            "ExpressionAttributeValues": {":g": value("g"), ":p": value("a")}}

    def test_query_by_pages_of_every_size_forward_and_backward(self):
        for name, attribute, request in self.orders():
            whole = self.ok("Query", TableName=self.t, **request)["Items"]
            self.assertEqual(len(whole), 12, name)
            if attribute:
                keys = [x[attribute].get("S") or int(x[attribute]["N"]) for x in whole]
                self.assertEqual(keys, sorted(keys), name)
            back = self.ok("Query", TableName=self.t, ScanIndexForward=False, **request)["Items"]
            self.assertEqual(back, whole[::-1], name)
            for limit in range(1, 14):
                self.assertEqual(self.pages("Query", limit, **request), whole, (name, limit))
                self.assertEqual(self.pages("Query", limit, ScanIndexForward=False, **request),
                                 whole[::-1], (name, limit, "backward"))

    def test_filters_do_not_change_the_pages(self):
        for name, _, request in self.orders():
            if name == "only":
                continue
            request = dict(request, FilterExpression="v < :five")
            request["ExpressionAttributeValues"] = {
                **request["ExpressionAttributeValues"], ":five": value(5)}
            for limit in (1, 5, 12):
                got = self.pages("Query", limit, **request)
                self.assertEqual({x["v"]["N"] for x in got}, set("01234"), (name, limit))

    def test_scan_by_pages_of_every_size(self):
        for name in (None, "byL", "byG", "only", "many"):
            request = {"IndexName": name} if name else {}
            whole = self.ok("Scan", TableName=self.t, **request)["Items"]
            self.assertEqual(len(whole), 12 if name else 21)
            for limit in range(1, 23):
                self.assertEqual(self.pages("Scan", limit, **request), whole, (name, limit))

    def test_segments_are_a_partition(self):
        for name in (None, "byL", "byG"):
            request = {"IndexName": name} if name else {}
            whole = self.ok("Scan", TableName=self.t, **request)["Items"]
            for total in (1, 2, 3, 7, 64):
                got = []
                for segment in range(total):
                    got += self.pages("Scan", 4, Segment=segment, TotalSegments=total, **request)
                self.assertEqual(sorted(map(str, got)), sorted(map(str, whole)), (name, total))

    def test_paginators_of_boto3(self):
        for size in (1, 5, 100):
            pages = self.db.get_paginator("scan").paginate(
                TableName=self.t, PaginationConfig={"PageSize": size})
            self.assertEqual(sum(p["Count"] for p in pages), 21)
            pages = self.db.get_paginator("query").paginate(
                TableName=self.t, IndexName="byG", KeyConditionExpression="g = :g",
                ExpressionAttributeValues={":g": {"S": "g"}}, PaginationConfig={"PageSize": size})
            self.assertEqual(sum(p["Count"] for p in pages), 12)

    def test_last_key_names_table_and_index_keys(self):
        for name, keys in ((None, {"pk", "sk"}), ("byL", {"pk", "sk", "l"}),
                           ("byG", {"pk", "sk", "g", "h"}), ("only", {"pk", "sk", "g"}),
                           ("many", {"pk", "sk", "g", "h"})):
            request = next(r for n, _, r in self.orders() if n == name)
            page = self.ok("Query", TableName=self.t, Limit=3, **request)
            self.assertEqual(set(page["LastEvaluatedKey"]), keys, name)

    def test_start_keys_that_are_none(self):
        query = {"TableName": self.t, "KeyConditionExpression": "pk = :a",
                 "ExpressionAttributeValues": {":a": value("a")}}
        for start in ({}, item(pk="a"), item(pk="a", sk=1), item(pk="a", sk="x", more="y")):
            answer = self.ask("Query", {**query, "ExclusiveStartKey": start})
            self.assertEqual(answer.status, 400, start)
            self.assertEqual(answer.json["__type"].split("#")[1], VALIDATION, start)
        self.refused("Query", {**query, "ExclusiveStartKey": item(pk="b", sk="x")}, VALIDATION,
                     "The provided starting key is outside query boundaries based on provided "
                     "conditions")
        self.ok("Query", **query, ExclusiveStartKey=item(pk="a", sk="never there"))

    def test_select(self):
        for name, _, request in self.orders():
            counted = self.ok("Query", TableName=self.t, Select="COUNT", **request)
            self.assertEqual(counted, {"Count": 12, "ScannedCount": 12})
        all_keys = self.ok("Query", TableName=self.t, IndexName="only",
                           Select="ALL_PROJECTED_ATTRIBUTES", KeyConditionExpression="g = :g",
                           ExpressionAttributeValues={":g": value("g")})["Items"]
        self.assertEqual(set(all_keys[0]), {"pk", "sk", "g"})
        got = self.ok("Scan", TableName=self.t, Select="SPECIFIC_ATTRIBUTES",
                      ProjectionExpression="v", Limit=1)["Items"]
        self.assertEqual(set(got[0]), {"v"})
        self.refused("Query", {"TableName": self.t, "IndexName": "only",
                               "Select": "ALL_ATTRIBUTES", "KeyConditionExpression": "g = :g",
                               "ExpressionAttributeValues": {":g": value("g")}}, VALIDATION,
                     INVALID + "Select type ALL_ATTRIBUTES is not supported for global secondary "
                     "index only because its projection type is not ALL")

    def test_global_indexes_are_not_read_consistently(self):
        self.refused("Query", {"TableName": self.t, "IndexName": "byG", "ConsistentRead": True,
                               "KeyConditionExpression": "g = :g",
                               "ExpressionAttributeValues": {":g": value("g")}}, VALIDATION,
                     "Consistent reads are not supported on global secondary indexes")
        self.assertEqual(self.ok("Scan", TableName=self.t, IndexName="byL",
                                 ConsistentRead=True)["Count"], 12)


class Conditions(Wire):
    def query(self, t, condition, **values):
        got = self.ok("Query", TableName=t, KeyConditionExpression=condition,
                      ExpressionAttributeValues={":" + k: value(v) for k, v in values.items()})
        return [x["sk"].get("S") or x["sk"].get("N") or x["sk"]["B"] for x in got["Items"]]

    def test_of_strings(self):
        t = self.table("pk:S", "sk:S")
        self.fill(t, [item(pk="p", sk=s) for s in ("a", "aa", "ab", "b", "é", "😀", "~")])
        for condition, values, want in (
                ("pk = :p", {}, ["a", "aa", "ab", "b", "~", "é", "😀"]),
                ("pk = :p AND sk = :x", {"x": "ab"}, ["ab"]),
                ("pk = :p AND sk < :x", {"x": "ab"}, ["a", "aa"]),
                ("pk = :p AND sk <= :x", {"x": "ab"}, ["a", "aa", "ab"]),
                ("pk = :p AND sk > :x", {"x": "b"}, ["~", "é", "😀"]),
                ("pk = :p AND sk >= :x", {"x": "b"}, ["b", "~", "é", "😀"]),
                ("pk = :p AND sk BETWEEN :x AND :y", {"x": "aa", "y": "b"}, ["aa", "ab", "b"]),
                ("pk = :p AND begins_with(sk, :x)", {"x": "a"}, ["a", "aa", "ab"]),
                ("begins_with(sk, :x) AND pk = :p", {"x": "é"}, ["é"]),
                ("(pk = :p) AND (sk = :x)", {"x": "none"}, [])):
            self.assertEqual(self.query(t, condition, p="p", **values), want, condition)

    def test_of_numbers(self):
        t = self.table("pk:N", "sk:N")
        numbers = ["-1E+125", "-100", "-1.5", "-0.001", "0", "0.001", "1.5", "2", "10", "1E+125"]
        self.fill(t, [{"pk": {"N": "1"}, "sk": {"N": n}} for n in numbers])
        got = self.ok("Query", TableName=t, KeyConditionExpression="pk = :p",
                      ExpressionAttributeValues={":p": {"N": "1.0"}})["Items"]
        self.assertEqual([float(x["sk"]["N"]) for x in got], [float(n) for n in numbers])
        self.assertEqual(self.query(t, "pk = :p AND sk BETWEEN :a AND :b", p=1, a=-2, b=1.5),
                         ["-1.5", "-0.001", "0", "0.001", "1.5"])

    def test_of_bytes(self):
        t = self.table("pk:B", "sk:B")
        keys = [b"\x00", b"\x00\x00", b"\x00\xff", b"\x7f", b"\x80", b"\xff"]
        self.fill(t, [item(pk=b"p", sk=k) for k in keys])
        got = self.ok("Query", TableName=t, KeyConditionExpression="pk = :p",
                      ExpressionAttributeValues={":p": value(b"p")})["Items"]
        self.assertEqual([base64.b64decode(x["sk"]["B"]) for x in got], keys)
        self.assertEqual(len(self.query(t, "pk = :p AND begins_with(sk, :x)", p=b"p", x=b"\x00")),
                         3)

    def test_of_several_attributes(self):
        t = self.table("pk:S", gsi={"geo": "country:S,city:S|street:S,nr:N ALL"})
        for i, (street, number) in enumerate((("a", 1), ("a", 2), ("a", 10), ("b", 1))):
            self.put(t, pk=f"{i}", country="ch", city="bern", street=street, nr=number)
        self.put(t, pk="not indexed", country="ch", city="bern", street="a")

        def query(condition, **values):
            return [(x["street"]["S"], int(x["nr"]["N"])) for x in self.ok(
                "Query", TableName=t, IndexName="geo", KeyConditionExpression=condition,
                ExpressionAttributeValues={":" + k: value(v) for k, v in values.items()})["Items"]]
        both = {"c": "ch", "t": "bern"}
        self.assertEqual(query("country = :c AND city = :t", **both),
                         [("a", 1), ("a", 2), ("a", 10), ("b", 1)])
        self.assertEqual(query("country = :c AND city = :t AND street = :s", s="a", **both),
                         [("a", 1), ("a", 2), ("a", 10)])
        self.assertEqual(query("country = :c AND city = :t AND street = :s AND nr > :n",
                               s="a", n=1, **both), [("a", 2), ("a", 10)])
        answer = self.ask("Query", {"TableName": t, "IndexName": "geo",
                                    "KeyConditionExpression": "country = :c",
                                    "ExpressionAttributeValues": {":c": value("ch")}})
        self.assertEqual(answer.status, 400)

    def test_resource_conditions(self):
        import boto3
        from boto3.dynamodb.conditions import Attr, Key
        db = boto3.resource("dynamodb", endpoint_url=self.server.url, region_name="us-east-1",
                            aws_access_key_id="k", aws_secret_access_key="s")
        table = db.Table(self.table("pk:S", "sk:N"))
        for i in range(10):
            table.put_item(Item={"pk": "p", "sk": i, "odd": i % 2 == 1})
        got = table.query(KeyConditionExpression=Key("pk").eq("p") & Key("sk").between(2, 8),
                          FilterExpression=Attr("odd").eq(True), ProjectionExpression="sk",
                          ScanIndexForward=False)
        self.assertEqual([int(x["sk"]) for x in got["Items"]], [7, 5, 3])
        self.assertEqual(got["ScannedCount"], 7)
        db.meta.client.close()


class Megabyte(Wire):
    def test_a_page_ends_behind_a_megabyte(self):
        t = self.table("pk:S", "sk:N", gsi={"byG": "g:S|sk:N ALL"})
        for i in range(6):
            self.put(t, pk="p", sk=i, g="g", v="x" * 300_000)
        for request in ({"KeyConditionExpression": "pk = :k",
                         "ExpressionAttributeValues": {":k": value("p")}},
                        {"IndexName": "byG", "KeyConditionExpression": "g = :k",
                         "ExpressionAttributeValues": {":k": value("g")}}):
            first = self.ok("Query", TableName=t, **request)
            self.assertEqual(first["Count"], 4)
            none = self.ok("Query", TableName=t, FilterExpression="sk2 = :k", **request)
            self.assertEqual((none["Count"], none["ScannedCount"]), (0, 4))
            self.assertEqual(none["LastEvaluatedKey"], first["LastEvaluatedKey"])
            rest = self.ok("Query", TableName=t, ExclusiveStartKey=first["LastEvaluatedKey"],
                           **request)
            self.assertEqual(rest["Count"], 2)
            self.assertNotIn("LastEvaluatedKey", rest)
        self.assertEqual(self.ok("Scan", TableName=t)["Count"], 4)
        self.assertEqual(self.ok("Scan", TableName=t, Select="COUNT")["Count"], 4)


if __name__ == "__main__":
    main()
