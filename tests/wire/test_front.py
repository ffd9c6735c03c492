"""What every answer has, and what is answered to what is no operation. The forms of the service's
answers (404 with a scrap of XML, CORS headers, content types, request ids, CRCs) are those of
dynalite's connection tests, which their authors ran against AWS."""
import gzip, json, re, unittest, zlib
import harness
from harness import Case, JSON, Server, request_bytes

UNKNOWN = b"<UnknownOperationException/>\n"


class Front(Case):
    def send(self, *args, **kwargs):
        return self.server.send(request_bytes(*args, **kwargs))

    def check_common(self, answer):
        self.assertRegex(answer.headers["x-amzn-requestid"], "^[0-9A-Z]{52}$")
        self.assertEqual(int(answer.headers["x-amz-crc32"]), zlib.crc32(answer.body))
        self.assertIn("date", answer.headers)

    def test_get_is_health(self):
        answer = self.server.get("/")
        self.assertEqual(answer.status, 200)
        self.assertEqual(answer.body, b"healthy: dynamodb.us-east-1.amazonaws.com ")
        self.assertEqual(answer.headers["x-amz-crc32"], "3128867991")
        self.check_common(answer)

    def test_head_is_get_without_its_body(self):
        for path, status in ("/", 200), ("/nothing", 404):
            with self.server.connect() as c:
                c.send(request_bytes(method="HEAD", path=path) + request_bytes(method="GET"))
                head, get = c.read_answer(to_head=True), c.read_answer()
                self.assertEqual((head.status, get.status), (status, 200))
                self.assertEqual(head.headers["content-length"],
                                 self.server.get(path).headers["content-length"])

    def test_what_is_no_request_of_the_service_gets_404(self):
        for method, path, body, headers in [
                ("PUT", "/", b"", {}), ("DELETE", "/", b"", {}), ("OPTIONS", "/", b"", {}),
                ("GET", "/nothing", b"", {}), ("PATCH", "/", b"", {}),
                ("POST", "/", b"hi", {"Content-Type": None}),
                ("POST", "/", b"hi", {"Content-Type": "whatever"}),
                ("POST", "/", b"hi", {"Content-Type": "application/x-amz-json-1.1"}),
                ("POST", "/", b"hi", {"Content-Type": "application/jsonasdf"})]:
            answer = self.send(method=method, path=path, body=body, headers=headers)
            self.assertEqual((answer.status, answer.body), (404, UNKNOWN), (method, path, headers))
            self.assertEqual(answer.headers["x-amz-crc32"], "3552371480")
            self.check_common(answer)

    def test_unknown_targets(self):
        for target in (None, "whatever.x", "DynamoDB_20120810.ListTable", "DynamoDB_20120810.",
                       ".ListTables", "DynamoDBStreams_20120810.ListTables"):
            answer = self.send(target=target, body=b"{}")
            self.assertEqual(answer.status, 400)
            self.assertEqual(answer.body,
                             b'{"__type":"com.amazon.coral.service#UnknownOperationException"}')
            self.assertEqual(answer.headers["x-amz-crc32"], "1368724161")
            self.check_common(answer)

    def test_answer_has_the_type_of_the_request(self):
        for sent, got in [(JSON, JSON), ("application/json", "application/json"),
                          ("application/json;charset=x", "application/json"),
                          ("  application/json  ;  x", "application/json"),
                          (JSON + ";blah", JSON)]:
            answer = self.send("ListTables", {}, {"Content-Type": sent})
            self.assertEqual((answer.status, answer.headers["content-type"]), (200, got), sent)
        answer = self.send("ListTables", b"", {"Content-Type": None})
        self.assertEqual(answer.headers["content-type"], "application/json")

    def test_malformed_and_empty_bodies(self):
        for body in (b"", b"hi", b"{", b"[]", b'{"TableName":1}', b"\xff"):
            answer = self.send("DescribeTable", body)
            self.assertEqual(answer.status, 400, body)
            self.assertTrue(answer.json["__type"].endswith("#SerializationException"), answer)
            self.check_common(answer)

    def test_path_does_not_matter_to_a_post(self):
        self.assertEqual(self.send("ListTables", {}, path="/x?y=z").status, 200)

    def test_cors(self):
        answer = self.send("ListTables", {}, {"Origin": "http://a"})
        self.assertEqual(answer.headers["access-control-allow-origin"], "*")
        answer = self.send("ListTables", {})
        self.assertNotIn("access-control-allow-origin", answer.headers)
        answer = self.send(method="OPTIONS", headers={
            "Origin": "http://a", "Access-Control-Request-Headers": "a, b, c",
            "Access-Control-Request-Method": "POST"})
        self.assertEqual((answer.status, answer.body), (200, b""))
        self.assertEqual(answer.headers["access-control-allow-headers"], "a, b, c")
        self.assertEqual(answer.headers["access-control-allow-methods"], "POST")
        self.assertEqual(answer.headers["access-control-max-age"], "172800")
        self.check_common(answer)

    def test_cors_for_some_origins_or_none(self):
        for cors, origin, allowed in [("http://a,http://b", "http://b", "http://b"),
                                      ("http://a,http://b", "http://c", None),
                                      ("http://a", "http://", None), ("none", "http://a", None)]:
            with Server("--memory", "--cors", cors) as s:
                answer = s.post("ListTables", {}, {"Origin": origin})
                self.assertEqual(answer.headers.get("access-control-allow-origin"), allowed)
                answer = s.send(request_bytes(method="OPTIONS", headers={"Origin": origin}))
                self.assertEqual(answer.status, 200 if allowed else 404)

    def test_large_answers_are_gzip_for_who_takes_it(self):
        with Server("--memory") as s:
            s.create_table()
            s.put("a", "1", text={"S": "x" * 5000})
            get = {"TableName": "things", "Key": {"PK": {"S": "a"}, "SK": {"S": "1"}}}
            plain = s.post("GetItem", get)
            self.assertNotIn("content-encoding", plain.headers)
            packed = s.post("GetItem", get, {"Accept-Encoding": "deflate, gzip"})
            self.assertEqual(packed.headers["content-encoding"], "gzip")
            self.assertLess(len(packed.body), 1000)
            self.assertEqual(gzip.decompress(packed.body), plain.body)
            self.check_common(packed)
            refused = s.post("GetItem", get, {"Accept-Encoding": "gzip;q=0"})
            self.assertNotIn("content-encoding", refused.headers)
            small = s.post("ListTables", {}, {"Accept-Encoding": "gzip"})
            self.assertNotIn("content-encoding", small.headers)

    def test_bodies_may_be_compressed(self):
        body = json.dumps({"Limit": 5}).encode()
        for name, packed in [("gzip", gzip.compress(body)), ("deflate", zlib.compress(body)),
                             ("identity", body)]:
            answer = self.send("ListTables", packed, {"Content-Encoding": name})
            self.assertEqual(answer.status, 200, name)
        bad = self.send("ListTables", b"no gzip", {"Content-Encoding": "gzip"})
        self.assertTrue(bad.json["__type"].endswith("#SerializationException"), bad)
        unknown = self.send("ListTables", body, {"Content-Encoding": "br"})
        self.assertEqual(unknown.status, 400)
        bomb = gzip.compress(b" " * (16 * 1024 * 1024 + 1))
        self.assertEqual(self.send("ListTables", bomb, {"Content-Encoding": "gzip"}).status, 413)
        whole = gzip.compress(b"{}" + b" " * (16 * 1024 * 1024 - 2))
        self.assertEqual(self.send("ListTables", whole, {"Content-Encoding": "gzip"}).status, 200)

    def test_arns_have_the_region_of_the_credentials(self):
        with Server("--memory", "--region", "eu-north-1") as s:
            client = s.client(region="ap-south-1")
            arn = client.create_table(
                TableName="t-1", BillingMode="PAY_PER_REQUEST",
                KeySchema=[{"AttributeName": "a", "KeyType": "HASH"}],
                AttributeDefinitions=[{"AttributeName": "a", "AttributeType": "S"}])[
                    "TableDescription"]["TableArn"]
            self.assertEqual(arn, "arn:aws:dynamodb:ap-south-1:000000000000:table/t-1")
            plain = s.post("DescribeTable", {"TableName": "t-1"}).json["Table"]["TableArn"]
            self.assertEqual(plain, "arn:aws:dynamodb:eu-north-1:000000000000:table/t-1")
            evil = s.post("DescribeTable", {"TableName": "t-1"}, {
                "Authorization": 'AWS4-HMAC-SHA256 Credential=a/b/"x"/dynamodb/aws4_request'})
            self.assertEqual(evil.json["Table"]["TableArn"], plain)

    def test_request_ids_differ(self):
        ids = {self.server.get("/").headers["x-amzn-requestid"] for _ in range(50)}
        self.assertEqual(len(ids), 50)


if __name__ == "__main__":
    harness.main()
