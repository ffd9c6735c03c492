"""Requests that break several rules at once: which one the service tells. Each row has been sent to
the service by others; where its regions differ, the answer of most of them is wanted."""
from cases import *

RCC = at("BOGUS", "returnConsumedCapacity", enum("INDEXES, TOTAL, NONE"))
RICM = at("BOGUS2", "returnItemCollectionMetrics", enum("SIZE, NONE"))
RETURNS = at("BOGUS", "returnValues", enum("ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW"))
NEST = ("Nesting Levels have exceeded supported limits: Attributes in the item have nested levels "
        "beyond supported limit")
SYNTAX = 'Invalid ConditionExpression: Syntax error; token: "=", near: "= = b"'
OPEN = 'Invalid ConditionExpression: Syntax error; token: "<EOF>", near: "("'
UNUSED = "Value provided in ExpressionAttributeValues unused in expressions: keys: {:v}"
EMPTY_NAME = "Empty attribute name"
GONE = "never-made"


def deep(levels):
    got = {"S": "leaf"}
    for _ in range(levels):
        got = {"M": {"n": got}}
    return got


class Orders(Wire):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        self = cls()
        cls.t = self.table("pk:S")
        cls.c = self.table("pk:S", "sk:S")

    def test_transactions_tell_their_shape_first(self):
        put = {"Put": {"TableName": self.t, "Item": item(pk="a")}}
        gone = {"Put": {"TableName": GONE, "Item": item(pk="a")}}
        twice = [put, {"Delete": {"TableName": self.t, "Key": item(pk="a")}}]
        get = {"Get": {"TableName": self.t, "Key": item(pk="a")}}
        far = {"Get": {"TableName": GONE, "Key": item(pk="a")}}
        bogus = {"ReturnConsumedCapacity": "BOGUS"}
        write, read = "TransactWriteItems", "TransactGetItems"
        self.rows([
            (write, {"TransactItems": [put], **bogus}, VALIDATION, errors(RCC), PARITY),
            (write, {"TransactItems": [put], "ReturnItemCollectionMetrics": "BOGUS2"}, VALIDATION,
             errors(RICM), PARITY),
            (write, {"TransactItems": [put], "ReturnItemCollectionMetrics": "BOGUS2", **bogus},
             VALIDATION, errors(RCC, RICM), PARITY),
            (write, {"TransactItems": [gone], **bogus}, VALIDATION, errors(RCC), PARITY),
            (write, {"TransactItems": twice, **bogus}, VALIDATION, errors(RCC), PARITY),
            (read, {"TransactItems": [get], **bogus}, VALIDATION, errors(RCC), PARITY),
            (read, {"TransactItems": [far], **bogus}, VALIDATION, errors(RCC), PARITY),
            (read, {"TransactItems": [get, get], **bogus}, VALIDATION, errors(RCC), PARITY),
        ])
        self.assertEqual(self.ok("Scan", TableName=self.t)["Count"], 0)

    def test_actions_are_judged_one_after_the_other_before_any_table(self):
        def write(*actions):
            return "TransactWriteItems", {"TransactItems": list(actions)}

        def put(**more):
            return {"Put": {"TableName": GONE, "Item": {**item(pk="a", sk="1"), **more}}}

        def check(key=None, condition="attribute_exists(a)", **values):
            made = {"TableName": GONE, "Key": key or item(pk="b", sk="1"),
                    "ConditionExpression": condition}
            if values:
                made["ExpressionAttributeValues"] = {":" + k: v for k, v in values.items()}
            return {"ConditionCheck": made}
        deep_key = {"pk": deep(40), "sk": value("1")}
        deeper_key = {"pk": deep(100), "sk": value("1")}
        wrong_put = {"Put": {"TableName": GONE, "Item": item(pk="a", sk="1"),
                             "ConditionExpression": "a = = b"}}
        long_condition = "a = :v" + " AND a = :v" * 373
        long_update = "SET " + ", ".join(f"a{i} = :v" for i in range(500))
        nameless = put(**{"": value("x")})
        update = {"TableName": GONE, "Key": item(pk="a", sk="1")}
        self.rows([(*write(*actions), VALIDATION, message, PARITY) for actions, message in (
            ([put(d=deep(40)), nameless], NEST),
            ([nameless, put(d=deep(100))], EMPTY_NAME),
            ([put(m={"M": {"": value("x")}}, d=deep(40))], NEST),
            ([nameless, check(condition="d = :deep", deep=deep(100))], EMPTY_NAME),
            ([{"Delete": {"TableName": GONE, "Key": deep_key}}, wrong_put], NEST),
            ([check(key=deep_key), {"Update": {**update, "UpdateExpression": "SET a = :v",
                                               "ExpressionAttributeValues": {
                                                   ":v": value("x"), ":u": value("y")}}}], NEST),
            ([wrong_put, {"Delete": {"TableName": GONE, "Key": deeper_key}}], SYNTAX),
            ([{"Delete": {"TableName": GONE, "Key": deeper_key,
                          "ConditionExpression": "a = = b"}}], SYNTAX),
            ([{"Delete": {"TableName": GONE, "Key": deeper_key,
                          "ConditionExpression": long_condition,
                          "ExpressionAttributeValues": {":v": value("x")}}}],
             "Invalid ConditionExpression: Expression size has exceeded the maximum allowed size; "
             "expression size: 4109"),
            ([{"Update": {**update, "UpdateExpression": long_update,
                          "ExpressionAttributeValues": {":v": value("x")}}},
              check(key=deeper_key)],
             "Invalid UpdateExpression: Expression size has exceeded the maximum allowed size;"),
            ([{"Update": {**update, "UpdateExpression": "SET a = :v", "ExpressionAttributeValues": {
                ":v": value("x"), ":u": value("y")}}}, check(key=deeper_key)],
             UNUSED.replace(":v", ":u")),
            ([put(), check(condition="attribute_not_exists(")], OPEN),
            ([check(condition="attribute_not_exists("), put(data=deep(32))], OPEN),
            ([put(data=deep(32)), check(condition="attribute_not_exists(")], NEST),
            ([put(), check(condition="attribute_not_exists(pk)", v=value("x"))], UNUSED),
            ([check(condition="attribute_not_exists(pk)", v=value("x")), put()], UNUSED),
        )])
        answer = self.ask(*write(check(condition="d = :deep", deep=deep(40)), nameless))
        self.assertIn(answer.json["message"], (  # the service's regions differ
            f"ExpressionAttributeValues contains invalid value: {NEST} for key :deep", NEST))

    def test_batches_tell_their_shape_first(self):
        put = [{"PutRequest": {"Item": item(pk="a")}}]
        bogus = {"ReturnConsumedCapacity": "BOGUS"}
        keys = {"Keys": [item(pk="a")]}
        bad_name = at('{"bad!name":{"Keys":[{"pk":{"S":"a"}}]}}', "requestItems",
                      "Map keys must satisfy constraint: [Member must have length less than or "
                      "equal to 255, Member must have length greater than or equal to 3, " + PATTERN
                      + "]")
        write, read = "BatchWriteItem", "BatchGetItem"
        self.rows([
            (write, {"RequestItems": {self.t: put}, **bogus}, VALIDATION, errors(RCC), PARITY),
            (write, {"RequestItems": {self.t: put}, "ReturnItemCollectionMetrics": "BOGUS2"},
             VALIDATION, errors(RICM), PARITY),
            (write, {"RequestItems": {self.t: put}, "ReturnItemCollectionMetrics": "BOGUS2",
                     **bogus}, VALIDATION, errors(RCC, RICM), PARITY),
            (write, {"RequestItems": {GONE: put}, **bogus}, VALIDATION, errors(RCC), PARITY),
            (write, {"RequestItems": {"bad!name": put}, **bogus}, VALIDATION, errors(RCC), PARITY),
            (read, {"RequestItems": {self.t: keys}, **bogus}, VALIDATION, errors(RCC), PARITY),
            (read, {"RequestItems": {GONE: keys}, **bogus}, VALIDATION, errors(RCC), PARITY),
            (read, {"RequestItems": {"bad!name": keys}, **bogus}, VALIDATION,
             errors(bad_name, RCC), PARITY),
        ])
        for operation in (write, read):
            answer = self.ask(operation, {"RequestItems": {}})
            self.assertIn("requestitems", answer.json["message"].lower())

    def test_updates_without_a_key(self):
        update = {"UpdateExpression": "SET a = :a", "ExpressionAttributeValues": {":a": value("x")}}
        empty = at("", "tableName", short(1))
        invalid = {"ReturnConsumedCapacity": "BOGUS", "ReturnValues": "BOGUS"}
        self.rows([
            ("UpdateItem", {"TableName": "", **update}, VALIDATION, errors(empty, missing("key")),
             PARITY),
            ("UpdateItem", {"TableName": "", **update, **invalid}, VALIDATION,
             errors(RCC, empty, RETURNS, missing("key")), PARITY),
            ("UpdateItem", {"TableName": "", "Key": {}}, VALIDATION,
             "1 validation error detected: Value at 'TableName' failed to satisfy constraint: "
             + short(1), PARITY),
            ("UpdateItem", {"TableName": GONE, "Key": item(pk="x"), **invalid}, VALIDATION,
             "1 validation error detected: Failed to satisfy constraint: " + enum(
                 "ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE"), PARITY),
        ])

    def test_key_conditions_are_judged_clause_by_clause(self):
        operand = ("Invalid KeyConditionExpression: Incorrect operand type for operator or "
                   "function; operator or function: begins_with, operand type: N")
        undefined = ("Invalid KeyConditionExpression: An expression attribute value used in "
                     "expression is not defined; attribute value: :missing")

        def query(condition, table=None, **values):
            return "Query", {"TableName": table or self.c, "KeyConditionExpression": condition,
                             "ExpressionAttributeValues": {":" + k: value(v)
                                                           for k, v in values.items()}}
        self.rows([(*request, VALIDATION, message, PARITY) for request, message in (
            (query("pk = :missing AND begins_with(sk, :n)", n=1), undefined),
            (query("begins_with(sk, :n) AND pk = :missing", n=1), operand),
            (query("pk = :p AND begins_with(sk, :n) AND sk = :missing", p="q", n=1), operand),
            (query("pk = :p AND begins_with(sk, :n) AND sk > :s", p="q", n=1, s="a"), operand),
            (query("pk = :p AND begins_with(sk, :n)", table=GONE, p="q", n=1), operand),
        )])
        self.rows([(*query("pk = :p AND begins_with(sk, :s)", table=GONE, p="q", s="a"), NOT_FOUND,
                    "Requested resource not found", PARITY)])

    def test_wrong_values_in_the_words_of_each_operation(self):
        """Numbers and sets that are none: the writes of one item in an envelope, reads bare, and
        what the service has not moved yet in its older words."""
        numeric = "The parameter cannot be converted to a numeric value"
        over = ("Number overflow. Attempting to store a number with magnitude larger than "
                "supported range")
        now = {"abc": numeric + ": abc", "": numeric + ": ", "1e126": over, "1e2147483647": over}
        older = {**now, "": numeric}
        one = "1 validation error detected: "
        t, rows = self.t, []
        for text in now:
            wrong = {"N": text}
            rows += [
                ("PutItem", {"TableName": t, "Item": {**item(pk="v"), "n": wrong}},
                 one + now[text]),
                ("PutItem", {"TableName": t, "Item": {**item(pk="v"), "n": {"NS": ["1", text]}}},
                 one + now[text]),
                ("PutItem", {"TableName": t, "Item": {**item(pk="v"), "n": {"M": {
                    "x": {"L": [wrong]}}}}}, one + now[text]),
                ("PutItem", {"TableName": t, "Item": item(pk="v"), "ConditionExpression":
                             "attribute_not_exists(pk) OR n = :v",
                             "ExpressionAttributeValues": {":v": wrong}}, one + now[text]),
                ("UpdateItem", {"TableName": t, "Key": item(pk="v"), "UpdateExpression":
                                "SET n = :v", "ExpressionAttributeValues": {":v": wrong}},
                 one + now[text]),
                ("DeleteItem", {"TableName": t, "Key": {"pk": wrong}}, one + now[text]),
                ("GetItem", {"TableName": t, "Key": {"pk": wrong}}, now[text]),
                ("BatchGetItem", {"RequestItems": {t: {"Keys": [{"pk": wrong}]}}}, now[text]),
                ("Query", {"TableName": t, "KeyConditionExpression": "pk = :p",
                           "FilterExpression": "n = :v", "ExpressionAttributeValues": {
                               ":p": value("x"), ":v": wrong}}, now[text]),
                ("BatchWriteItem", {"RequestItems": {t: [{"PutRequest": {"Item": {
                    **item(pk="v"), "n": wrong}}}]}}, older[text]),
            ]
        twice, told = {"NS": ["2", "1", "2"]}, INVALID + "Input collection contains duplicates."
        rows += [
            ("PutItem", {"TableName": t, "Item": {**item(pk="v"), "s": twice}}, one + told),
            ("GetItem", {"TableName": t, "Key": {"pk": twice}}, told),
            ("DeleteItem", {"TableName": t, "Key": {"pk": twice}}, one + told),
        ]
        self.rows([(operation, request, VALIDATION, message, PARITY)
                   for operation, request, message in rows])


if __name__ == "__main__":
    main()
