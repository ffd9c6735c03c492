"""Limits at N and at N + 1. Those of lists of tables, tags, batches and transactions stand with
their operations."""
from cases import *

TOO_LARGE = "Item size has exceeded the maximum allowed size"


def nested(levels):
    """A value of so many levels."""
    got = {"S": "x"}
    for i in range(levels - 1):
        got = {"L": [got]} if i % 2 else {"M": {"a": got}}
    return got


class Limits(Wire):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        self = cls()
        cls.t = self.table("pk:S")
        cls.r = self.table("pk:S", "sk:S", gsi={"byG": "g:S|h:S KEYS_ONLY"})

    def both(self, operation, good, bad, message, exception=VALIDATION):
        """N passes, N + 1 is refused; message: the whole, or a part that ends in …"""
        self.ok(operation, **good)
        answer = self.ask(operation, bad)
        self.assertEqual(answer.status, 400, answer.body[:300])
        self.assertEqual(answer.json["__type"].split("#")[1], exception)
        if message.endswith("…"):
            self.assertIn(message[:-1], answer.json["message"])
        else:
            self.assertEqual(answer.json["message"], message)

    def put_of(self, **attributes):
        return {"TableName": self.t, "Item": attributes}

    def test_item_of_409600_bytes(self):
        def sized(n):
            return self.put_of(pk={"S": "x"}, v={"S": "v" * (n - len("pk") - len("x") - len("v"))})
        self.both("PutItem", sized(409_600), sized(409_601), "1 validation error detected: "
                  + TOO_LARGE)
        self.ok("PutItem", **self.put_of(pk={"S": "u"}, v={"S": "v" * 409_000}))
        grow = {"TableName": self.t, "Key": item(pk="u"), "UpdateExpression": "SET w = :w"}
        self.both("UpdateItem", {**grow, "ExpressionAttributeValues": {":w": value("w" * 595)}},
                  {**grow, "ExpressionAttributeValues": {":w": value("w" * 596)}},
                  "Item size to update has exceeded the maximum allowed size")

    def test_names_count_in_bytes(self):
        name = "é" * 32767 + "x"  # 65,535 bytes
        self.both("PutItem", self.put_of(pk={"S": "x"}, **{name: {"NULL": True}}),
                  self.put_of(pk={"S": "x"}, **{name + "y": {"NULL": True}}), "…")

    def test_keys_of_2048_and_1024_bytes(self):
        self.both("PutItem", {"TableName": self.r, "Item": item(pk="p" * 2048, sk="s" * 1024)},
                  {"TableName": self.r, "Item": item(pk="p" * 2049, sk="s")},
                  INVALID + "Size of hashkey has exceeded the "
                  "maximum size limit of2048 bytes")
        self.both("GetItem", {"TableName": self.r, "Key": item(pk="p", sk="é" * 512)},
                  {"TableName": self.r, "Key": item(pk="p", sk="é" * 512 + "x")},
                  INVALID + "Aggregated size of all range keys has exceeded the size limit of 1024 "
                  "bytes")
        self.both("PutItem", {"TableName": self.r, "Item": item(pk="a", sk="b", g="g" * 2048,
                                                                 h="h" * 1024)},
                  {"TableName": self.r, "Item": item(pk="a", sk="b", g="g" * 2049, h="h")}, "…")
        self.both("PutItem", {"TableName": self.r, "Item": item(pk="a", sk="b", g="g")},
                  {"TableName": self.r, "Item": item(pk="a", sk="b", g="g", h="h" * 1025)}, "…")

    def test_empty_keys(self):
        for bad in (item(pk="", sk="x"), item(pk="x", sk="")):
            answer = self.ask("PutItem", {"TableName": self.r, "Item": bad})
            self.assertEqual(answer.status, 400)
            self.assertIn("The AttributeValue for a key attribute cannot contain an empty string "
                          "value. Key: " + ("pk" if bad["pk"]["S"] == "" else "sk"),
                          answer.json["message"])

    def test_nesting_of_32_levels(self):
        self.both("PutItem", self.put_of(pk={"S": "deep"}, v=nested(32)),
                  self.put_of(pk={"S": "deep"}, v=nested(33)),
                  "Nesting Levels have exceeded supported limits…")
        got = self.ok("GetItem", TableName=self.t, Key=item(pk="deep"))["Item"]["v"]
        self.assertEqual(got, nested(32))

    def test_numbers(self):
        def put(text):
            return self.put_of(pk={"S": "n"}, v={"N": text})
        for good, bad, message in (
                ("9" * 38, "9" * 39, "Attempting to store more than 38 significant digits in a "
                 "Number…"),
                ("1." + "1" * 37, "1." + "1" * 38, "Attempting to store more than 38 significant "
                 "digits in a Number…"),
                ("9.9999999999999999999999999999999999999E+125", "1E+126",
                 "Number overflow. Attempting to store a number with magnitude larger than "
                 "supported range…"),
                ("-9.9999999999999999999999999999999999999E+125", "-1E+126",
                 "Number overflow. Attempting to store a number with magnitude larger than "
                 "supported range…"),
                ("1E-130", "1E-131", "Number underflow. Attempting to store a number with "
                 "magnitude smaller than supported range…"),
                ("0", "x", "The parameter cannot be converted to a numeric value: x…"),
                ("0", "", "The parameter cannot be converted to a numeric value…"),
                ("1e5", "1e", "The parameter cannot be converted to a numeric value: 1e…"),
                ("0", "0x10", "The parameter cannot be converted to a numeric value: 0x10…"),
                ("0", "NaN", "The parameter cannot be converted to a numeric value: NaN…")):
            self.both("PutItem", put(good), put(bad), message)

    def test_expression_of_4096_bytes(self):
        self.put(self.t, pk="e")

        def condition(n):
            text = "attribute_exists(pk)"
            return {"TableName": self.t, "Item": item(pk="e"),
                    "ConditionExpression": text + " " * (n - len(text))}
        self.both("PutItem", condition(4096), condition(4097),
                  "Invalid ConditionExpression: Expression size has exceeded the maximum allowed "
                  "size; expression size: 4097…")
        for operation, member, base in (
                ("GetItem", "ProjectionExpression", {"Key": item(pk="e")}),
                ("Scan", "FilterExpression", {}),
                ("UpdateItem", "UpdateExpression", {"Key": item(pk="e")})):
            text = {"ProjectionExpression": "pk", "FilterExpression": "attribute_exists(pk)",
                    "UpdateExpression": "REMOVE zz"}[member]
            self.both(operation, {"TableName": self.t, **base, member: text.ljust(4096)},
                      {"TableName": self.t, **base, member: text.ljust(4097)},
                      f"Invalid {member}: Expression size has exceeded the maximum allowed size;…")

    def test_300_operators(self):
        def scan(n):
            return {"TableName": self.t, "FilterExpression": " OR ".join(["a=:v"] * n),
                    "ExpressionAttributeValues": {":v": value(1)}}
        # n comparisons and n - 1 ORs
        self.both("Scan", scan(150), scan(151),
                  "Invalid FilterExpression: The expression contains too many operators; "
                  "operator count: 301")

    def test_100_operands_of_in(self):
        def scan(n):
            return {"TableName": self.t,
                    "FilterExpression": "a IN (" + ",".join(f":{i}" for i in range(n)) + ")",
                    "ExpressionAttributeValues": {f":{i}": value(i) for i in range(n)}}
        self.both("Scan", scan(100), scan(101),
                  "Invalid FilterExpression: The IN operator is provided with too many operands; "
                  "number of operands: 101")

    def test_placeholders_of_255_bytes(self):
        def get(n):
            name = "#" + "n" * (n - 1)
            return {"TableName": self.t, "Key": item(pk="e"), "ProjectionExpression": name,
                    "ExpressionAttributeNames": {name: "v"}}
        self.both("GetItem", get(255), get(256), "…")

    def test_sets_have_members_once(self):
        for bad in ({"SS": []}, {"NS": []}, {"BS": []}, {"SS": ["a", "a"]}, {"NS": ["1", "1.0"]}):
            answer = self.ask("PutItem", self.put_of(pk={"S": "s"}, v=bad))
            self.assertEqual(answer.status, 400, bad)
        self.ok("PutItem", **self.put_of(pk={"S": "s"}, v={"SS": [""]}))

    def test_limit_and_segments(self):
        for request in ({"Limit": 1}, {"Limit": 2147483647}, {"Segment": 0, "TotalSegments": 1},
                        {"Segment": 999_999, "TotalSegments": 1_000_000}):
            self.ok("Scan", TableName=self.t, **request)
        for request in ({"Limit": 0}, {"Limit": -1}, {"Segment": 0, "TotalSegments": 0},
                        {"Segment": 0, "TotalSegments": 1_000_001},
                        {"Segment": -1, "TotalSegments": 2}, {"Segment": 2, "TotalSegments": 2},
                        {"Segment": 1}, {"TotalSegments": 2},
                        {"Segment": 1_000_000, "TotalSegments": 1_000_000}):
            answer = self.ask("Scan", {"TableName": self.t, **request})
            self.assertEqual((answer.status, answer.json["__type"].split("#")[1]),
                             (400, VALIDATION), request)

    def test_names_of_tables_and_indexes(self):
        def create(name, index_name="abc"):
            return table_request(name, gsi={index_name: "g:S ALL"})
        for good in ("abc", "t" * 255, "A.b-c_9"):
            self.ok("CreateTable", **create(good, good))
        for bad in ("ab", "t" * 256, "a b c", "tä-bel"):
            for request in (create(bad), create("fine" + str(len(bad)), bad)):
                answer = self.ask("CreateTable", request)
                self.assertEqual((answer.status, answer.json["__type"].split("#")[1]),
                                 (400, VALIDATION), bad)

    def test_key_names_of_255_bytes(self):
        name = "é" * 127 + "x"
        t = self.table(name + ":S")
        self.ok("PutItem", TableName=t, Item={name: {"S": "v"}})
        answer = self.ask("CreateTable", table_request(random_name(), name + "y:S"))
        self.assertEqual(answer.status, 400)

    def test_token_of_36_characters(self):
        def write(n):
            return {"TransactItems": [{"Put": {"TableName": self.t, "Item": item(pk="tok")}}],
                    "ClientRequestToken": "t" * n}
        self.both("TransactWriteItems", write(36), write(37),
                  "Member must have length less than or equal to 36…")

    def test_body_of_16_megabytes(self):
        head = f'{{"TableName":"{self.t}","Key":{{"pk":{{"S":"x"}}}}'.encode()
        limit = 16 * 1024 * 1024
        good = head + b" " * (limit - len(head) - 1) + b"}"
        self.assertEqual(self.server.post("GetItem", good).status, 200)
        for headers, body in (({"Content-Length": str(limit + 1)}, b""),
                              ({"Content-Length": str(10**15)}, b"")):
            with self.server.connect() as c:
                c.send(request_bytes("GetItem", body, headers))
                self.assertEqual(c.read_answer().status, 413)

    def test_page_of_gets_has_sixteen_megabytes_of_answer_at_most(self):
        self.ok("PutItem", **self.put_of(pk={"S": "control"}, v={"S": "\u0001" * 400_000}))
        got = self.ok("GetItem", TableName=self.t, Key=item(pk="control"))["Item"]["v"]["S"]
        self.assertEqual(got, "\u0001" * 400_000)


if __name__ == "__main__":
    main()
