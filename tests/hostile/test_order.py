"""What stands behind a request: a second one hidden in it is never executed, good ones before a bad
one are answered in order, and clients may leave at any stage."""
import socket, time
import hostile
from hostile import CLOSE, KEEP, Row, chunk, head, post, request_bytes, reset

GET = head()
END = b"0\r\n\r\n"


def put(key):
    return request_bytes("PutItem", {"TableName": "things", "Item": {
        "PK": {"S": key}, "SK": {"S": "x"}}})


HIDDEN = put("hidden")
N = b"%d" % len(HIDDEN)


def sized(*lines, body=b"", first=b"POST / HTTP/1.1"):
    return head(b"X-Amz-Target: DynamoDB_20120810.ListTables",
                b"Content-Type: application/x-amz-json-1.0", *lines, first=first) + body


CHUNKED = b"Transfer-Encoding: chunked"


def length(value):
    return b"Content-Length: " + value


# In each a PutItem lies where one reading of the bytes sees a body and another sees a request. The
# front of the queue gets the statuses; the hidden one must not be among those executed.
SMUGGLED = [
    Row("CL.TE", sized(length(N), CHUNKED, body=END + HIDDEN), 400, "both"),
    Row("TE.CL", sized(CHUNKED, length(b"4"), body=chunk(HIDDEN) + END), 400, "both"),
    Row("CL.0", sized(length(b"0"), length(N), body=HIDDEN), 400, "two"),
    Row("CL.CL", sized(length(N), length(b"0"), body=HIDDEN), 400, "two"),
    Row("CL.CL in one line", sized(length(b"0, " + N), body=HIDDEN), 400),
    Row("CL with a plus", sized(length(b"+0"), body=HIDDEN), 400),
    Row("CL with a minus", sized(length(b"-0"), body=HIDDEN), 400),
    Row("CL in hex", sized(length(b"0x0"), body=HIDDEN), 400),
    Row("CL that wraps to 0 in 32 bits", sized(length(b"4294967296"), body=HIDDEN), 413),
    Row("CL that wraps to 0 in 64 bits", sized(length(b"18446744073709551616"), body=HIDDEN), 400),
    Row("CL behind a NUL", sized(length(b"0\x00" + N), body=HIDDEN), 400),
    Row("CL behind an underscore", sized(b"Content_Length: " + N, length(b"0\x0b"), body=HIDDEN),
        400),
    Row("CL with a space before the colon", sized(b"Content-Length : " + N, body=HIDDEN), 400),
    Row("CL with a tab before the colon", sized(b"Content-Length\t: " + N, body=HIDDEN), 400),
    Row("CL folded", sized(b"Content-Length:\r\n " + N, body=HIDDEN), 400),
    Row("CL behind LF", sized(b"X: y\nContent-Length: " + N, body=HIDDEN), 400),
    Row("CL behind CR", sized(b"X: y\rContent-Length: " + N, body=HIDDEN), 400),
    *[Row(f"TE.TE with {v!r}", sized(CHUNKED, v, body=END + HIDDEN), 400) for v in (
        b"Transfer-Encoding: cow", b"Transfer-Encoding: identity", b"Transfer-Encoding: chunked",
        b"Transfer-Encoding:", b"transfer-encoding: x", b"Transfer-Encoding : chunked",
        b" Transfer-Encoding: chunked", b"Transfer-Encoding\t: chunked")],
    *[Row(f"TE obfuscated as {v!r}", sized(v, length(b"4"), body=chunk(HIDDEN) + END), 400)
      for v in (b"Transfer-Encoding: xchunked", b"Transfer-Encoding : chunked",
                b"Transfer-Encoding:\x0bchunked", b"Transfer-Encoding:\x00chunked",
                b"Transfer-Encoding: \x0cchunked", b"Transfer-Encoding\n: chunked",
                b"Transfer-Encoding:\n chunked", b"Transfer-Encoding:\r\n chunked",
                b"X: y\nTransfer-Encoding: chunked", b"X: y\rTransfer-Encoding: chunked",
                b"Transfer-Encoding: chunked\r", b"Transfer-Encoding: chunk\xef\xbc\xa5d",
                b'Transfer-Encoding: "chunked"', b"Transfer-Encoding: chunked, identity",
                b"\xe2\x80\x8bTransfer-Encoding: chunked", b"Transfer-Encoding;: chunked")],
    Row("TE in HTTP/1.0", sized(CHUNKED, b"Connection: keep-alive", body=END + HIDDEN,
                                first=b"POST / HTTP/1.0"), 400),
    Row("TE and CL in HTTP/1.0", sized(CHUNKED, length(N), b"Connection: keep-alive",
                                       body=END + HIDDEN, first=b"POST / HTTP/1.0"), 400),
    Row("a chunk's size that wraps",
        sized(CHUNKED, body=b"10000000000000000\r\n\r\n" + HIDDEN), 400),
    Row("a chunk's size with a space", sized(CHUNKED, body=b"0 \r\n\r\n" + HIDDEN), 400),
    Row("a chunk's size in hex notation", sized(CHUNKED, body=b"0x0\r\n\r\n" + HIDDEN), 400),
    Row("a chunk's size that ends in LF", sized(CHUNKED, body=b"0\n\n" + HIDDEN), 400),
    Row("a chunk's extension with an LF", sized(CHUNKED, body=b"2;\nxx\r\n{}\r\n" + END + HIDDEN),
        400),
    Row("a chunk that ends in LF", sized(CHUNKED, body=b"2\r\n{}\n" + END + HIDDEN), 400),
    Row("a chunk of no end", sized(CHUNKED, body=b"2\r\n{}" + END + HIDDEN), 400),
    Row("a trailer that is a request", sized(CHUNKED, body=b"0\r\n" + HIDDEN), 400),
    Row("a trailer that folds", sized(CHUNKED, body=b"0\r\nX: y\r\n " + HIDDEN), 400),
    Row("a body that is the request", sized(length(N), body=HIDDEN), 400, "Serialization", KEEP),
    Row("chunks that are the request", sized(CHUNKED, body=chunk(HIDDEN) + END), 400,
        "Serialization", KEEP),
    Row("a GET whose body is the request", head(length(N)) + HIDDEN, 200, then=KEEP),
    Row("a HEAD whose body is the request", head(length(N), first=b"HEAD / HTTP/1.1") + HIDDEN,
        200, then="head"),
    Row("an unknown operation whose body is the request",
        request_bytes("Nothing", HIDDEN), 400, "UnknownOperation", KEEP),
    Row("a refused expectation with the request behind it",
        head(b"Expect: x", length(N), first=b"POST / HTTP/1.1") + HIDDEN, 417),
    Row("a body too large with the request in it",
        sized(length(b"99999999"), body=HIDDEN), 413),
    Row("Connection: close with the request behind it", head(b"Connection: close") + HIDDEN, 200),
    Row("HTTP/1.0 with the request behind it", head(first=b"GET / HTTP/1.0") + HIDDEN, 200),
    Row("a malformed line with the request behind it", b"GET / HTTP/1.1\n" + HIDDEN, 400),
    Row("an upgrade with the request behind it is no tunnel",
        head(b"Connection: Upgrade", b"Upgrade: h2c", length(N)) + HIDDEN, 200, then=KEEP),
    Row("Connection names the length", head(b"Connection: content-length", length(N)) + HIDDEN, 200,
        then=KEEP),
    Row("an absolute target with the request in it",
        head(first=b"GET http://a/\r\n" + HIDDEN[:20] + b" HTTP/1.1"), 400),
    Row("a header with the request in it", head(b"X: " + HIDDEN.split(b"\r\n")[0]) + b"", 200,
        then=KEEP),
    Row("an origin that would split the answer",
        head(b"Origin: a%0d%0aX: b", first=b"OPTIONS / HTTP/1.1"), 200, then=KEEP),
]

BAD = b"GET / HTTP/1.1\nHost: a\r\n\r\n"
LIST = post()

PIPELINES = [
    Row("two good ones", GET + LIST, [200, 200], then=KEEP),
    Row("fifty good ones", GET * 50, [200] * 50, then=KEEP),
    Row("a thousand good ones", GET * 1000, [200] * 1000, then=KEEP),
    Row("a bad one behind a good one", GET + BAD + HIDDEN, [200, 400], "LF alone"),
    Row("a bad one in the middle", GET * 3 + BAD + HIDDEN * 3, [200, 200, 200, 400], "LF alone"),
    Row("a bad one behind writes", put("a") + put("b") + BAD + HIDDEN, [200, 200, 400], "LF alone"),
    Row("a bad one behind a hundred", LIST * 100 + BAD + HIDDEN, [200] * 100 + [400], "LF alone"),
    Row("a bad length in the middle", LIST + sized(length(b"x")) + HIDDEN, [200, 400]),
    Row("a body too large in the middle", LIST + sized(length(b"16777217")) + HIDDEN, [200, 413]),
    Row("a bad chunk in the middle", LIST + sized(CHUNKED, body=b"x\r\n") + HIDDEN, [200, 400]),
    Row("errors of the service do not end it", LIST + post(b"{") + post(b"[") + LIST,
        [200, 400, 400, 200], then=KEEP),
    Row("an end that was asked for", LIST + head(b"Connection: close") + HIDDEN, [200, 200]),
    Row("garbage behind a good one", GET + b"\x00\x01\x02" + HIDDEN, [200, 400]),
    Row("chunks and lengths in turn",
        (LIST + sized(CHUNKED, body=chunk(b"{}") + END)) * 20, [200] * 40, then=KEEP),
]


class Order(hostile.Suite):
    @classmethod
    def prepare(cls):
        cls.server.create_table()

    def play(self, row):
        if row.then == "head":  # an answer without its body
            with self.server.connect() as c:
                c.send(row.pieces()[0])
                self.assertEqual(c.read_answer(to_head=True).status, row.statuses[0])
                c.send(GET)
                self.assertEqual(c.read_answer().status, 200)
        else:
            super().play(row)
        self.assertIsNone(self.server.get_item("hidden", "x"))


hostile.table(SMUGGLED + PIPELINES)(Order)


class Leaving(hostile.Suite):
    """Clients that end their side early, or reset, at every stage of a request."""

    @classmethod
    def prepare(cls):
        cls.server.create_table()

    STAGES = {
        "nothing": b"", "a part of the line": b"POST /", "the line": LIST[:16],
        "a part of the headers": LIST[:60], "a head but its last byte": LIST.split(b"\r\n\r\n")[0]
        + b"\r\n\r", "a head": LIST[:-2], "a part of the body": LIST[:-1],
        "a part of a size line": sized(CHUNKED, body=b"2;a"),
        "a part of a chunk": sized(CHUNKED, body=b"8\r\n{"),
        "a chunk": sized(CHUNKED, body=chunk(b"{}")), "the last size": sized(
            CHUNKED, body=chunk(b"{}") + b"0\r\n"),
        "a part of a trailer": sized(CHUNKED, body=chunk(b"{}") + b"0\r\nX: y"),
    }

    def test_a_client_that_ends_its_side_gets_what_it_asked_for(self):
        with self.server.connect() as c:
            c.send(LIST + GET + put("kept"))
            c.socket.shutdown(socket.SHUT_WR)
            self.assertEqual([c.read_answer().status for _ in range(3)], [200, 200, 200])
            self.assertTrue(c.is_closed())
        self.assertIsNotNone(self.server.get_item("kept", "x"))

    def test_a_client_that_ends_within_a_request_is_told_or_left(self):
        for stage, data in self.STAGES.items():
            with self.subTest(stage), self.server.connect() as c:
                c.send(data)
                c.socket.shutdown(socket.SHUT_WR)
                if data:
                    self.assertEqual(c.read_answer().status, 400)
                self.assertTrue(c.is_closed())
                self.assertEqual(c.buffer, b"")

    def test_a_client_that_ends_within_a_second_request_gets_the_first(self):
        for stage, data in self.STAGES.items():
            with self.subTest(stage), self.server.connect() as c:
                c.send(LIST + data)
                c.socket.shutdown(socket.SHUT_WR)
                self.assertEqual(c.read_answer().status, 200)
                if data:
                    self.assertEqual(c.read_answer().status, 400)
                self.assertTrue(c.is_closed())

    def test_a_client_may_reset_at_every_stage(self):
        for _ in range(20):
            for data in [*self.STAGES.values(), LIST, LIST * 50, GET * 500, LIST + BAD]:
                c = self.server.connect()
                c.send(data)
                reset(c.socket)
        self.assertEqual(self.server.get("/").status, 200)

    def test_a_client_may_reset_after_every_byte(self):
        request = put("reset")
        for i in range(len(request)):
            c = self.server.connect()
            c.send(request[:i])
            reset(c.socket)
        self.assertIsNone(self.server.get_item("reset", "x"))

    def test_a_client_may_close_with_answers_unread(self):
        for _ in range(100):
            c = self.server.connect()
            c.send(GET * 200)
            c.close()
        self.assertEqual(self.server.get("/").status, 200)

    def test_a_client_may_reset_while_a_large_answer_comes(self):
        for i in range(8):
            self.server.put("large", str(i), v={"S": "x" * 300000})
        query = request_bytes("Query", {
            "TableName": "things", "KeyConditionExpression": "PK = :p",
            "ExpressionAttributeValues": {":p": {"S": "large"}}})
        for n in (0, 1, 10000, 200000):
            c = self.server.connect()
            c.send(query * 4)
            while n > 0:
                n -= len(c.socket.recv(min(n, 65536)))
            reset(c.socket)
        self.assertEqual(self.server.send(query).status, 200)


class Late(hostile.Suite):
    """The deadlines, shortened."""
    args = ["--memory", "--head-timeout-ms", "400", "--body-timeout-ms", "600",
            "--idle-timeout-ms", "500", "--write-timeout-ms", "500"]

    @classmethod
    def prepare(cls):
        cls.server.create_table()

    def drip(self, data, gap_s, until):
        """Sends byte by byte until the answer comes; its status and how long it took."""
        with self.server.connect() as c:
            c.socket.setblocking(False)
            begin, i, text = time.monotonic(), 0, b""
            while time.monotonic() - begin < until:
                try:
                    if i < len(data):
                        c.socket.send(data[i:i + 1])
                        i += 1
                except OSError:
                    pass
                time.sleep(gap_s)
                try:
                    text += c.socket.recv(65536)
                    break
                except BlockingIOError:
                    pass
            return int(text.split(b" ")[1]) if text else None, time.monotonic() - begin

    def test_a_head_that_drips_is_refused(self):
        status, took = self.drip(head(b"X: " + b"y" * 5000), 0.05, 20)
        self.assertEqual(status, 408)
        self.assertGreater(took, 0.3)

    def test_a_head_that_stops_is_refused(self):
        with self.server.connect() as c:
            c.send(b"GET / HT")
            self.assertEqual(c.read_answer().status, 408)
            self.assertTrue(c.is_closed())

    def test_a_body_that_drips_is_refused(self):
        status, took = self.drip(post(b"{" + b" " * 5000 + b"}"), 0.002, 30)
        self.assertEqual(status, 408)
        self.assertGreater(took, 0.5)

    def test_a_body_that_stops_is_refused(self):
        for data in (post(b"{}")[:-1], sized(CHUNKED, body=b"2\r\n{")):
            with self.server.connect() as c:
                c.send(data)
                self.assertEqual(c.read_answer().status, 408)
                self.assertTrue(c.is_closed())

    def test_a_promised_body_that_never_comes_is_refused(self):
        with self.server.connect() as c:
            c.send(post(b"", headers={"Content-Length": "2", "Expect": "100-continue"}))
            self.assertEqual(c.read_answer().status, 100)
            self.assertEqual(c.read_answer().status, 408)
            self.assertTrue(c.is_closed())

    def test_who_says_nothing_is_closed_without_a_word(self):
        with self.server.connect() as c:
            self.assertTrue(c.is_closed())
            self.assertEqual(c.buffer, b"")
        with self.server.connect() as c:
            c.send(GET)
            self.assertEqual(c.read_answer().status, 200)
            self.assertTrue(c.is_closed())
            self.assertEqual(c.buffer, b"")

    def test_earlier_answers_come_before_the_refusal(self):
        with self.server.connect() as c:
            c.send(GET + put("early") + b"POST / HT")
            self.assertEqual([c.read_answer().status for _ in range(3)], [200, 200, 408])
            self.assertTrue(c.is_closed())

    def test_who_does_not_read_is_closed(self):
        for i in range(8):
            self.server.put("large", str(i), v={"S": "x" * 300000})
        query = request_bytes("Query", {
            "TableName": "things", "KeyConditionExpression": "PK = :p",
            "ExpressionAttributeValues": {":p": {"S": "large"}}})
        with self.server.connect() as c:
            c.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            c.send(query * 20)
            gone = hostile.wait_for(
                lambda: hostile.metrics(self.server)["sheaf_connections"] == 1)
            self.assertTrue(gone)

    def test_urgent_bytes_hurt_nobody_but_who_sends_them(self):
        """The kernel lets a read end before them, and the rest may wait for the deadline."""
        with self.server.connect() as c:
            c.send(GET[:10])
            c.socket.send(b"!", socket.MSG_OOB)
            c.send(GET[10:])
            self.assertIn(c.read_answer().status, (200, 400, 408))


if __name__ == "__main__":
    hostile.main()
