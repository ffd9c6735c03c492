"""The HTTP under the operations: connections, bodies, headers of answers."""
import concurrent.futures, email.utils, gzip, re, time, zlib
from cases import *

LIST = request_bytes("ListTables", {})


class Transport(Wire):
    def assert_checked(self, answer):
        """What every answer of the service carries, over the bytes as they are sent."""
        self.assertEqual(answer.headers["x-amz-crc32"], str(zlib.crc32(answer.body)))
        self.assertRegex(answer.headers["x-amzn-requestid"], r"^[0-9A-Z]{52}$")
        sent = email.utils.parsedate_to_datetime(answer.headers["date"]).timestamp()
        self.assertAlmostEqual(sent, time.time(), delta=30)
        self.assertTrue(answer.headers["date"].endswith(" GMT"))
        self.assertEqual(int(answer.headers["content-length"]), len(answer.body))

    def test_connections_are_kept(self):
        with self.server.connect() as c:
            for _ in range(50):
                c.send(LIST)
                answer = c.read_answer()
                self.assertEqual(answer.status, 200)
                self.assert_checked(answer)
            c.send(request_bytes("ListTables", {}, {"Connection": "close"}))
            self.assertEqual(c.read_answer().status, 200)
            self.assertTrue(c.is_closed())

    def test_http_1_0_closes(self):
        with self.server.connect() as c:
            c.send(LIST.replace(b"HTTP/1.1", b"HTTP/1.0"))
            self.assertEqual(c.read_answer().status, 200)
            self.assertTrue(c.is_closed())

    def test_pipelined_requests_are_answered_in_order(self):
        t = self.table("pk:S")
        for i in range(40):
            self.put(t, pk=f"k{i}", v=i)
        gets = [request_bytes("GetItem", {"TableName": t, "Key": item(pk=f"k{i}")})
                for i in range(40)]
        whole = b"".join(gets)
        for size in (len(whole), 7, 1000):
            with self.server.connect() as c:
                for i in range(0, len(whole), size):
                    c.send(whole[i:i + size])
                got = [c.read_answer().json["Item"]["v"]["N"] for _ in gets]
                self.assertEqual(got, [str(i) for i in range(40)], size)

    def test_pipelined_writes_and_reads_happen_in_order(self):
        t = self.table("pk:S")
        add = request_bytes("UpdateItem", {
            "TableName": t, "Key": item(pk="n"), "UpdateExpression": "ADD v :one",
            "ExpressionAttributeValues": {":one": value(1)}, "ReturnValues": "UPDATED_NEW"})
        with self.server.connect() as c:
            c.send(add * 30)
            got = [int(c.read_answer().json["Attributes"]["v"]["N"]) for _ in range(30)]
        self.assertEqual(got, list(range(1, 31)))

    def test_an_error_does_not_end_the_connection(self):
        with self.server.connect() as c:
            for body in ("{", {"Limit": 0}, {}):
                c.send(request_bytes("ListTables", body))
                answer = c.read_answer()
                self.assertEqual(answer.status, 200 if body == {} else 400)
                self.assert_checked(answer)

    def test_chunked_bodies(self):
        t = self.table("pk:S")
        body = json.dumps({"TableName": t, "Item": item(pk="x", v="é" * 500)}).encode()
        for size in (1, 10, 333, len(body)):
            chunks = b"".join(b"%x\r\n%s\r\n" % (len(body[i:i + size]), body[i:i + size])
                              for i in range(0, len(body), size))
            head = request_bytes("PutItem", b"", {"Content-Length": None,
                                                  "Transfer-Encoding": "chunked"})
            for end in (b"0\r\n\r\n", b"0;x=y\r\nTrailer: z\r\n\r\n"):
                answer = self.server.send(head + chunks + end)
                self.assertEqual(answer.status, 200, (size, answer.body))
                self.assert_checked(answer)

    def test_compressed_bodies_and_answers(self):
        t = self.table("pk:S")
        put = json.dumps({"TableName": t, "Item": item(pk="x", v="abc" * 5000)}).encode()
        for encoding, body in (("gzip", gzip.compress(put)), ("deflate", zlib.compress(put)),
                               ("identity", put), ("GZIP", gzip.compress(put))):
            answer = self.server.post("PutItem", body, {"Content-Encoding": encoding})
            self.assertEqual(answer.status, 200, (encoding, answer.body))
        get = {"TableName": t, "Key": item(pk="x")}
        plain = self.server.post("GetItem", get)
        self.assertNotIn("content-encoding", plain.headers)
        for accept in ("gzip", "deflate, gzip", "gzip;q=0.5", "*"):
            answer = self.server.post("GetItem", get, {"Accept-Encoding": accept})
            if accept != "*":
                self.assertEqual(answer.headers["content-encoding"], "gzip", accept)
                self.assertLess(len(answer.body), 1000)
            self.assert_checked(answer)
            self.assertEqual(answer.json, plain.json)
        for accept in ("identity", "gzip;q=0", "br", ""):
            answer = self.server.post("GetItem", get, {"Accept-Encoding": accept})
            self.assertNotIn("content-encoding", answer.headers, accept)
        for bad in (b"no gzip", gzip.compress(put)[:-9], gzip.compress(b"{")):
            answer = self.server.post("PutItem", bad, {"Content-Encoding": "gzip"})
            self.assertEqual((answer.status, answer.json["__type"].split("#")[1]),
                             (400, "SerializationException"), bad[:20])

    def test_an_inflated_body_has_16_megabytes_at_most(self):
        limit = 16 * 1024 * 1024
        for size, status in ((limit, 200), (limit + 1, 413)):
            body = gzip.compress(b"{" + b" " * (size - 2) + b"}")
            answer = self.server.post("ListTables", body, {"Content-Encoding": "gzip"})
            self.assertEqual(answer.status, status, size)

    def test_expect_100_continue(self):
        body = b"{}"
        head = request_bytes("ListTables", b"", {"Content-Length": "2", "Expect": "100-continue"})
        with self.server.connect() as c:
            c.send(head)
            self.assertEqual(c.read_answer().status, 100)
            c.send(body)
            self.assertEqual(c.read_answer().status, 200)
            c.send(head + body)  # does not wait for it
            statuses = [c.read_answer().status]
            if statuses == [100]:
                statuses.append(c.read_answer().status)
            self.assertEqual(statuses[-1], 200)
        too_long = request_bytes("ListTables", b"", {"Content-Length": str(10**9),
                                                     "Expect": "100-continue"})
        with self.server.connect() as c:
            c.send(too_long)
            self.assertEqual(c.read_answer().status, 413)

    def test_heads_of_16_kilobytes(self):
        def sized(n):
            head = LIST.split(b"\r\n\r\n")[0]
            filler = n - len(head) - len(b"\r\n\r\n") - len(b"\r\nX-Filler: ")
            return LIST.replace(b"\r\n\r\n", b"\r\nX-Filler: " + b"f" * filler + b"\r\n\r\n", 1)
        self.assertEqual(self.server.send(sized(16_000)).status, 200)
        answer = self.server.send(sized(40_000))
        self.assertIn(answer.status, (400, 413, 414, 431))

    def test_100_headers(self):
        def with_headers(n):
            usual = LIST.count(b"\r\n") - 2
            return LIST.replace(b"\r\n", b"\r\n" + b"".join(
                b"X-H%d: v\r\n" % i for i in range(n - usual)), 1)
        self.assertEqual(self.server.send(with_headers(100)).status, 200)
        self.assertIn(self.server.send(with_headers(101)).status, (400, 431))

    def test_header_names_in_any_case(self):
        for change in (str.lower, str.upper, str.swapcase):
            lines = LIST.decode().split("\r\n")
            lines = [lines[0]] + [change(x.split(":")[0]) + ":" + x.split(":", 1)[1] if ":" in x
                                  else x for x in lines[1:]]
            self.assertEqual(self.server.send("\r\n".join(lines).encode()).status, 200)

    def test_content_types(self):
        for kind, told in (("application/x-amz-json-1.0", "application/x-amz-json-1.0"),
                           ("application/json", "application/json"),
                           ("application/x-amz-json-1.0; charset=utf-8",
                            "application/x-amz-json-1.0")):
            answer = self.server.post("ListTables", {}, {"Content-Type": kind})
            self.assertEqual((answer.status, answer.headers["content-type"]), (200, told))
        for kind in ("text/plain", "application/xml", "application/x-amz-json-1.1"):
            answer = self.server.post("ListTables", {}, {"Content-Type": kind})
            self.assertEqual(answer.status, 404, kind)
            self.assertEqual(answer.body, b"<UnknownOperationException/>\n")
            self.assertEqual(answer.headers["x-amz-crc32"], "3552371480")

    def test_other_methods(self):
        for method in ("PUT", "DELETE", "PATCH"):
            answer = self.server.send(request_bytes(method=method, headers={"Content-Length": "0"}))
            self.assertEqual(answer.status, 404, method)
            self.assert_checked(answer)
        with self.server.connect() as c:
            c.send(request_bytes(method="HEAD") + LIST)
            head = c.read_answer(to_head=True)
            self.assertEqual(head.status, 200)
            self.assertEqual(c.read_answer().status, 200)

    def test_answers_of_many_connections_are_their_own(self):
        t = self.table("pk:S")
        for i in range(16):
            self.put(t, pk=f"k{i}", v="x" * (i * 3000))

        def read(i):
            with self.server.connect() as c:
                for _ in range(30):
                    c.send(request_bytes("GetItem", {"TableName": t, "Key": item(pk=f"k{i}")}))
                    answer = c.read_answer()
                    self.assert_checked(answer)
                    assert len(answer.json["Item"]["v"]["S"]) == i * 3000
            return answer.headers["x-amzn-requestid"]
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            ids = list(pool.map(read, range(16)))
        self.assertEqual(len(set(ids)), 16)

    def test_boto3_checks_the_crc(self):
        """boto3 compares x-amz-crc32 with the body of every answer of DynamoDB."""
        got = self.db.list_tables()
        headers = got["ResponseMetadata"]["HTTPHeaders"]
        self.assertTrue(re.fullmatch(r"\d+", headers["x-amz-crc32"]))
        self.assertEqual(got["ResponseMetadata"]["RetryAttempts"], 0)


if __name__ == "__main__":
    main()
