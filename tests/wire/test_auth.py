"""--auth: signatures of boto3 and by hand, every way to be refused, what a key may do, new keys."""
import hashlib, hmac, signal, time
from cases import *

KEYS = """
[AKIDFULL]
secret = full/secret+1

[AKIDREAD]
secret = read-secret
access = read-only

[AKIDSOME]
secret = some-secret
tables = orders, order-*

[ASIASESSION]
secret = session-secret
session_token = the-token-of-the-session

[ASIAEXPIRED]
secret = expired-secret
session_token = old-token
expires = 2020-01-01T00:00:00Z
"""
INVALID_TOKEN = "The security token included in the request is invalid."


def sign(target, body, key="AKIDFULL", secret="full/secret+1", when=None, signed=None, token=None,
         region="us-east-1", service="dynamodb", day=None, headers=None):
    """The bytes of a request, signed as Signature Version 4 says."""
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(when if when is not None else time.time()))
    day = day or stamp[:8]
    have = {"host": "localhost", "x-amz-date": stamp, "x-amz-target": "DynamoDB_20120810." + target,
            "content-type": "application/x-amz-json-1.0", **(headers or {})}
    if token:
        have["x-amz-security-token"] = token
    names = sorted(signed if signed is not None else have)
    body = json.dumps(body).encode() if isinstance(body, dict) else body
    canonical = "\n".join(["POST", "/", "", *[f"{n}:{have[n]}" for n in names], "",
                           ";".join(names), hashlib.sha256(body).hexdigest()])
    scope = f"{day}/{region}/{service}/aws4_request"
    text = "\n".join(["AWS4-HMAC-SHA256", stamp, scope,
                      hashlib.sha256(canonical.encode()).hexdigest()])
    k = ("AWS4" + secret).encode()
    for part in (day, region, service, "aws4_request", text):
        k = hmac.new(k, part.encode(), hashlib.sha256).digest()
    authorization = (f"AWS4-HMAC-SHA256 Credential={key}/{scope}, SignedHeaders={';'.join(names)}, "
                     f"Signature={k.hex()}")
    return have, authorization, body


def as_bytes(have, authorization, body):
    head = "".join(f"{n}: {v}\r\n" for n, v in have.items())
    if authorization is not None:
        head += f"Authorization: {authorization}\r\n"
    return f"POST / HTTP/1.1\r\n{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


class Auth(Wire):
    args = None

    @classmethod
    def setUpClass(cls):
        import os, tempfile
        super().setUpClass()
        handle, cls.keys = tempfile.mkstemp(prefix="sheaf-keys-")
        os.write(handle, KEYS.encode())
        os.close(handle)
        cls.server = Server("--memory", "--auth", cls.keys).start()
        cls.full = cls.server.client(key="AKIDFULL", secret="full/secret+1")
        for name in ("orders", "order-2026", "private"):
            cls.full.create_table(**table_request(name))
            cls.full.put_item(TableName=name, Item={"pk": {"S": "x"}})

    @classmethod
    def tearDownClass(cls):
        import os
        cls.full.close()
        super().tearDownClass()
        os.unlink(cls.keys)

    def send(self, *args, **more):
        return self.server.send(as_bytes(*sign(*args, **more)))

    def refuse(self, answer, exception, message):
        self.assertEqual(answer.status, 400, answer.body)
        self.assertEqual(answer.json["__type"], "com.amazon.coral.service#" + exception)
        got = answer.json.get("message", answer.json.get("Message"))
        if message.endswith("…"):
            self.assertTrue(got.startswith(message[:-1]), got)
        else:
            self.assertEqual(got, message)

    def test_signed_requests_pass(self):
        self.assertEqual(self.send("ListTables", {}).status, 200)
        self.assertGreaterEqual(self.full.scan(TableName="orders")["Count"], 1)
        for region in ("eu-west-1", "local"):
            self.assertEqual(self.send("ListTables", {}, region=region).status, 200)
        self.assertEqual(self.send("ListTables", {}, headers={
            "x-amz-content-sha256": hashlib.sha256(b"{}").hexdigest()}).status, 200)

    def test_missing_and_broken_headers(self):
        have, authorization, body = sign("ListTables", {})
        missing_token = "Request is missing Authentication Token"
        self.refuse(self.server.send(as_bytes(have, None, body)),
                    "MissingAuthenticationTokenException", missing_token)
        self.refuse(self.server.send(as_bytes(have, "AWS4", body)),
                    "MissingAuthenticationTokenException", missing_token)
        self.refuse(self.server.send(as_bytes(have, "Bearer abc", body)),
                    "MissingAuthenticationTokenException", missing_token)
        self.refuse(self.server.send(as_bytes(have, "AWS4-", body)),
                    "IncompleteSignatureException", "…")
        for part, word in ((0, "Credential"), (1, "SignedHeaders"), (2, "Signature")):
            parts = authorization.split(" ", 1)[1].split(", ")
            del parts[part]
            answer = self.server.send(as_bytes(have, "AWS4-HMAC-SHA256 " + ", ".join(parts), body))
            self.refuse(answer, "IncompleteSignatureException",
                        f"Authorization header requires '{word}' parameter.…")
        without = {n: v for n, v in have.items() if n != "x-amz-date"}
        self.refuse(self.server.send(as_bytes(without, authorization, body)),
                    "IncompleteSignatureException",
                    "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' "
                    "header.…")

    def test_wrong_secrets_keys_and_bodies(self):
        mismatch = ("The request signature we calculated does not match the signature you "
                    "provided. Check your AWS Secret Access Key and signing method. Consult the "
                    "service documentation for details.…")
        self.refuse(self.send("ListTables", {}, secret="wrong"), "InvalidSignatureException",
                    mismatch)
        self.refuse(self.send("ListTables", {}, key="AKIDNOBODY"), "UnrecognizedClientException",
                    INVALID_TOKEN)
        have, authorization, body = sign("ListTables", {})
        self.refuse(self.server.send(as_bytes(have, authorization, b"[]")),
                    "InvalidSignatureException", mismatch)
        have["x-amz-target"] = "DynamoDB_20120810.DescribeLimits"
        self.refuse(self.server.send(as_bytes(have, authorization, body)),
                    "InvalidSignatureException", mismatch)
        have, authorization, body = sign("ListTables", {})
        for i in range(authorization.index("Signature=") + 10, len(authorization), 9):
            flipped = "0" if authorization[i] != "0" else "1"
            answer = self.server.send(as_bytes(
                have, authorization[:i] + flipped + authorization[i + 1:], body))
            self.refuse(answer, "InvalidSignatureException", mismatch)

    def test_what_must_be_signed(self):
        for missing_name in ("host", "x-amz-target", "x-amz-date"):
            names = {"host", "x-amz-date", "x-amz-target", "content-type"} - {missing_name}
            answer = self.send("ListTables", {}, signed=names)
            self.refuse(answer, "InvalidSignatureException", "'…")

    def test_clocks(self):
        now = time.time()
        self.assertEqual(self.send("ListTables", {}, when=now - 14 * 60).status, 200)
        self.assertEqual(self.send("ListTables", {}, when=now + 14 * 60).status, 200)
        self.refuse(self.send("ListTables", {}, when=now - 16 * 60), "InvalidSignatureException",
                    "Signature expired: …")
        self.refuse(self.send("ListTables", {}, when=now + 16 * 60), "InvalidSignatureException",
                    "Signature not yet current: …")

    def test_scopes(self):
        for more in ({"service": "s3"}, {"day": "20200101"}):
            answer = self.send("ListTables", {}, **more)
            self.assertEqual(answer.status, 400)
            self.assertIn(answer.json["__type"].split("#")[1],
                          ("InvalidSignatureException", "IncompleteSignatureException"))

    def test_verified_before_json_is_read(self):
        self.refuse(self.send("ListTables", b"{", secret="wrong"), "InvalidSignatureException", "…")
        answer = self.send("ListTables", b"{")
        self.assertEqual(answer.json["__type"].split("#")[1], "SerializationException")

    def test_session_tokens(self):
        session = {"key": "ASIASESSION", "secret": "session-secret"}
        token = "the-token-of-the-session"
        self.assertEqual(self.send("ListTables", {}, token=token, **session).status, 200)
        names = {"host", "x-amz-date", "x-amz-target", "content-type"}
        self.assertEqual(self.send("ListTables", {}, token=token, signed=names,
                                   **session).status, 200)
        for given in (None, "another"):
            self.refuse(self.send("ListTables", {}, token=given, **session),
                        "UnrecognizedClientException", "The security token included in the request "
                        "is invalid…")
        self.refuse(self.send("ListTables", {}, key="ASIAEXPIRED", secret="expired-secret",
                              token="old-token"), "ExpiredTokenException",
                    "The security token included in the request is expired")
        client = self.server.client(key="ASIASESSION", secret="session-secret",
                                    aws_session_token=token)
        self.assertIn("orders", client.list_tables()["TableNames"])
        client.close()

    def denied(self, call, user, action, table, **request):
        self.raises("AccessDeniedException",
                    f"User: arn:aws:iam::000000000000:user/{user} is not authorized to perform: "
                    f"dynamodb:{action} on resource: "
                    f"arn:aws:dynamodb:us-east-1:000000000000:table/{table} because no "
                    f"identity-based policy allows the dynamodb:{action} action", call, **request)

    def test_a_read_only_key(self):
        db = self.server.client(key="AKIDREAD", secret="read-secret")
        key = {"TableName": "orders", "Key": {"pk": {"S": "x"}}}
        self.assertIn("Item", db.get_item(**key))
        db.scan(TableName="orders")
        db.batch_get_item(RequestItems={"orders": {"Keys": [key["Key"]]}})
        db.transact_get_items(TransactItems=[{"Get": key}])
        db.describe_table(TableName="orders")
        db.list_tables()
        for action, call, request in (
                ("PutItem", db.put_item, {"TableName": "orders", "Item": key["Key"]}),
                ("DeleteItem", db.delete_item, key),
                ("UpdateItem", db.update_item, {**key, "UpdateExpression": "REMOVE v"}),
                ("BatchWriteItem", db.batch_write_item, {"RequestItems": {"orders": [
                    {"PutRequest": {"Item": key["Key"]}}]}}),
                ("TransactWriteItems", db.transact_write_items, {"TransactItems": [
                    {"Delete": key}]}),
                ("DeleteTable", db.delete_table, {"TableName": "orders"}),
                ("UpdateTable", db.update_table, {"TableName": "orders",
                                                  "BillingMode": "PAY_PER_REQUEST"}),
                ("TagResource", db.tag_resource, {"ResourceArn": ARN + "orders", "Tags": [
                    {"Key": "k", "Value": "v"}]}),
                ("UpdateTimeToLive", db.update_time_to_live, {
                    "TableName": "orders", "TimeToLiveSpecification": {
                        "Enabled": True, "AttributeName": "t"}})):
            self.denied(call, "AKIDREAD", action, "orders", **request)
        self.denied(db.create_table, "AKIDREAD", "CreateTable", "fresh",
                    **table_request("fresh"))
        db.close()

    def test_a_key_of_some_tables(self):
        db = self.server.client(key="AKIDSOME", secret="some-secret")
        for name in ("orders", "order-2026", ARN + "orders"):
            db.put_item(TableName=name, Item={"pk": {"S": "y"}})
        key = {"pk": {"S": "x"}}
        self.denied(db.get_item, "AKIDSOME", "GetItem", "private", TableName="private", Key=key)
        self.denied(db.get_item, "AKIDSOME", "GetItem", "private", TableName=ARN + "private",
                    Key=key)
        self.denied(db.get_item, "AKIDSOME", "GetItem", "orders2", TableName="orders2", Key=key)
        self.denied(db.batch_get_item, "AKIDSOME", "BatchGetItem", "private", RequestItems={
            "orders": {"Keys": [key]}, "private": {"Keys": [key]}})
        self.denied(db.transact_write_items, "AKIDSOME", "TransactWriteItems", "private",
                    TransactItems=[{"Put": {"TableName": "orders", "Item": key}},
                                   {"Put": {"TableName": "private", "Item": key}}])
        self.denied(db.list_tags_of_resource, "AKIDSOME", "ListTagsOfResource", "private",
                    ResourceArn=ARN + "private")
        self.denied(db.list_tables, "AKIDSOME", "ListTables", "*")
        streams = self.server.client("dynamodbstreams", key="AKIDSOME", secret="some-secret")
        self.denied(streams.list_streams, "AKIDSOME", "ListStreams", "*")
        streams.list_streams(TableName="orders")
        self.assertIn("AccountMaxReadCapacityUnits", db.describe_limits())
        streams.close()
        db.close()

    def test_new_keys_by_sighup(self):
        keys = self.write("rotate.ini", "[AKIDONE]\nsecret = one\n")
        with Server("--memory", "--auth", keys) as server:
            def status(key, secret):
                return server.send(as_bytes(*sign("ListTables", {}, key=key, secret=secret))).status
            self.assertEqual((status("AKIDONE", "one"), status("AKIDTWO", "two")), (200, 400))
            self.write("rotate.ini", "[AKIDTWO]\nsecret = two\n")
            server.signal(signal.SIGHUP)
            end = time.monotonic() + 20
            while status("AKIDTWO", "two") != 200 and time.monotonic() < end:
                time.sleep(0.02)
            self.assertEqual((status("AKIDONE", "one"), status("AKIDTWO", "two")), (400, 200))


if __name__ == "__main__":
    main()
