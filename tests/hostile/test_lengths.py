"""Where a body ends: lengths, transfer encodings and chunks that lie, and bodies of 16 MiB and one
byte more, however they come."""
import hostile
from hostile import KEEP, MIB, Row, chunk, chunked, head, post

FULL = 16 * MIB
LIST = b"{}"


def sized(*lines, body=b""):
    """A POST with these lines and no Content-Length of ours."""
    return head(b"X-Amz-Target: DynamoDB_20120810.ListTables",
                b"Content-Type: application/x-amz-json-1.0", *lines,
                first=b"POST / HTTP/1.1") + body


def length(value, body=LIST):
    return sized(b"Content-Length: " + value, body=body)


def coded(*values, body=chunk(LIST) + b"0\r\n\r\n"):
    return sized(*[b"Transfer-Encoding: " + v for v in values], body=body)


def spaces(n):
    """{} in n bytes."""
    return b"{" + b" " * (n - 2) + b"}"


LENGTHS = [
    Row("a length", length(b"2"), 200, "TableNames", KEEP),
    Row("a length with zeros in front", length(b"0000002"), 200, "TableNames", KEEP),
    Row("a length with spaces around it", length(b" \t2  "), 200, "TableNames", KEEP),
    # llhttp takes no tab there, and what two parsers read differently is refused.
    Row("a length with a tab behind it", length(b"2\t"), 400, "malformed"),
    Row("no length is no body", sized(), 400, "SerializationException", KEEP),
    Row("a length of 0", length(b"0", b""), 400, "SerializationException", KEEP),
    *[Row(f"the length {v!r}", length(v), 400, "Content-Length") for v in (
        b"", b"-1", b"-2", b"+2", b"2.0", b"2e0", b"0x2", b"2x", b"x2", b"2 2", b"2,2", b"2, 2",
        b"2;2", b'"2"', b"\xc2\xb2", b"two", b"2_0", b"(2)", b"0x", b"1e1000", b"--2", b"2-")],
    *[Row(f"the length {v} overflows", length(v), 400, "out of range") for v in (
        b"18446744073709551616", b"18446744073709551618", b"99999999999999999999",
        b"9" * 1000, b"36893488147419103234")],
    *[Row(f"the length {v} is too large", length(v), 413, "too large") for v in (
        b"16777217", b"16777218", b"2147483647", b"2147483648", b"4294967295", b"4294967296",
        b"4294967298", b"9223372036854775807", b"9223372036854775808", b"18446744073709551615")],
    Row("two equal lengths", sized(b"Content-Length: 2", b"Content-Length: 2", body=LIST), 400,
        "two Content-Length"),
    Row("two different lengths", sized(b"Content-Length: 2", b"Content-Length: 0", body=LIST), 400,
        "two Content-Length"),
    Row("two lengths, one in capitals",
        sized(b"content-length: 2", b"CONTENT-LENGTH: 2", body=LIST), 400, "two Content-Length"),
    Row("two lengths far apart",
        sized(b"Content-Length: 2", *[b"X: y"] * 50, b"Content-Length: 20", body=LIST), 400, "two"),
    Row("a length with an underscore is another header",
        sized(b"Content_Length: 5000", b"Content-Length: 2", body=LIST), 200, "TableNames", KEEP),
    Row("a GET with a body", head(b"Content-Length: 5") + b"hello", 200, then=KEEP),
    Row("an OPTIONS with a body",
        head(b"Origin: x", b"Content-Length: 5", first=b"OPTIONS / HTTP/1.1") + b"hello", 200,
        then=KEEP),
    Row("a GET with chunks", head(b"Transfer-Encoding: chunked") + b"1\r\na\r\n0\r\n\r\n", 200,
        then=KEEP),
]

ENCODINGS = [
    Row("chunked", coded(b"chunked"), 200, "TableNames", KEEP),
    Row("Chunked", coded(b"Chunked"), 200, "TableNames", KEEP),
    Row("CHUNKED with spaces around it", coded(b" \tCHUNKED  "), 200, "TableNames", KEEP),
    Row("chunked with a tab behind it", coded(b"chunked\t"), 400, "malformed"),
    *[Row(f"the encoding {v!r}", coded(v), 400, "Transfer-Encoding") for v in (
        b"", b"chunked, chunked", b"chunked,chunked", b"gzip, chunked", b"chunked, gzip",
        b"deflate", b"gzip", b"compress, chunked", b"identity", b"identity, chunked",
        b"chunked, identity", b"xchunked", b"chunkedx", b"chunke", b"chunk", b"x-chunked",
        b"chunked;q=1", b'"chunked"', b"'chunked'", b",chunked", b"chunked,", b"chunked ,",
        b"chunked;", b"cow", b"chun ked", b"chunked chunked", b"\xc4\x8dhunked", b"chunked\xa0")],
    Row("a vertical tab before chunked", coded(b"\x0bchunked"), 400, "control"),
    Row("a NUL behind chunked", coded(b"chunked\x00"), 400, "control"),
    Row("two encodings", coded(b"chunked", b"chunked"), 400, "two Transfer-Encoding"),
    Row("an encoding of each kind", coded(b"gzip", b"chunked"), 400, "Transfer-Encoding"),
    Row("identity behind chunked", coded(b"chunked", b"identity"), 400, "Transfer-Encoding"),
    Row("both kinds of length", sized(b"Content-Length: 2", b"Transfer-Encoding: chunked",
                                      body=b"0\r\n\r\n"), 400, "both"),
    Row("both kinds of length, the other way round",
        sized(b"Transfer-Encoding: chunked", b"Content-Length: 2", body=b"0\r\n\r\n"), 400, "both"),
    Row("both kinds of length, a length of 0",
        sized(b"Transfer-Encoding: chunked", b"Content-Length: 0", body=b"0\r\n\r\n"), 400, "both"),
    Row("both, and a bad length",
        sized(b"Transfer-Encoding: chunked", b"Content-Length: x", body=b"0\r\n\r\n"), 400),
    Row("an underscore for the dash is another header",
        sized(b"Transfer_Encoding: chunked", b"Content-Length: 2", body=LIST), 200, "TableNames",
        KEEP),
    Row("TE alone says nothing of this body", sized(b"TE: chunked", b"Content-Length: 2",
                                                    body=LIST), 200, "TableNames", KEEP),
    Row("chunks in HTTP/1.0", head(b"Transfer-Encoding: chunked", first=b"POST / HTTP/1.0")
        + b"0\r\n\r\n", 400, "HTTP/1.0"),
    Row("both kinds of length in HTTP/1.0",
        head(b"Transfer-Encoding: chunked", b"Content-Length: 5", first=b"POST / HTTP/1.0")
        + b"0\r\n\r\n", 400),
]


def framing(name, data, status=400, why="", then=hostile.CLOSE):
    return Row(name, chunked(data), status, why, then)


END = b"0\r\n\r\n"
TRAILER_MAX = 4096

CHUNKS = [
    framing("one chunk", chunk(LIST) + END, 200, "TableNames", KEEP),
    framing("two chunks", chunk(b"{") + chunk(b"}") + END, 200, "TableNames", KEEP),
    framing("a size with zeros in front", b"0000000000000002\r\n{}\r\n" + END, 200, "TableNames",
            KEEP),
    framing("a size of 17 digits", b"00000000000000002\r\n{}\r\n" + END, 400, "out of range"),
    framing("a size in capitals", b"A\r\n{        }\r\n" + END, 200, "TableNames", KEEP),
    framing("a last chunk of many zeros", chunk(LIST) + b"0000\r\n\r\n", 200, "TableNames", KEEP),
    framing("no chunk but the last", END, 400, "SerializationException", KEEP),
    *[framing(f"the size {v!r}", v + b"\r\n{}\r\n" + END, 400, "size") for v in (
        b"", b"-2", b"+2", b" 2", b"2 ", b"\t2", b"0x2", b"2x", b"g", b"2,", b"2.0", b"2 ;a",
        b"\xb2", b"2\x00", b"\x002", b"_2", b"2_0")],
    *[framing(f"the size {v} overflows", v + b"\r\n{}\r\n" + END, s) for v, s in (
        (b"ffffffffffffffff", 413), (b"8000000000000000", 413), (b"7fffffffffffffff", 413),
        (b"100000000", 413), (b"ffffffff", 413), (b"80000000", 413), (b"1000001", 413),
        (b"10000000000000002", 400), (b"f" * 17, 400), (b"f" * 300, 400))],
    framing("sizes whose sum overflows",
            chunk(LIST) + b"fffffffffffffffe\r\n{}\r\n" + END, 413, "too large"),
    framing("a size line that ends in LF alone", b"2\n{}\r\n" + END, 400, "size"),
    framing("a size line that ends in CR alone", b"2\r{}\r\n" + END, 400, "CRLF"),
    framing("data that ends in LF alone", b"2\r\n{}\n" + END, 400, "longer than its size"),
    framing("data that ends in CR alone", b"2\r\n{}\r" + END, 400, "CRLF"),
    framing("data without an end", b"2\r\n{}" + END, 400, "longer than its size"),
    framing("data longer than its size", b"1\r\n{}\r\n" + END, 400, "longer than its size"),
    framing("data shorter than its size", b"4\r\n{}\r\n" + END, 400, "longer than its size"),
    framing("an empty line before the first size", b"\r\n" + chunk(LIST) + END, 400, "size"),
    framing("an extension", chunk(LIST, b";a=b") + END, 200, "TableNames", KEEP),
    framing("extensions with quotes", chunk(LIST, b';a="b;c";d') + END, 200, "TableNames", KEEP),
    framing("an extension of 254 bytes", chunk(LIST, b";" + b"a" * 254) + END, 200, "TableNames",
            KEEP),
    framing("an extension of 300 bytes", chunk(LIST, b";" + b"a" * 300) + END, 400, "too long"),
    framing("an extension without an end", b"2;" + b"a" * 70000, 400, "too long"),
    framing("a NUL in an extension", chunk(LIST, b";a\x00") + END, 400, "control"),
    framing("an LF in an extension", chunk(LIST, b";a\nGET / HTTP/1.1") + END, 400, "control"),
    framing("a CR in an extension", chunk(LIST, b";a\rb") + END, 400, "CRLF"),
    framing("a trailer", chunk(LIST) + b"0\r\nX: y\r\n\r\n", 200, "TableNames", KEEP),
    framing("a trailer says nothing of the body", chunk(LIST) + b"0\r\nContent-Length: 5\r\n\r\n",
            200, "TableNames", KEEP),
    framing("trailers just short enough",
            chunk(LIST) + b"0\r\n" + b"X: " + b"y" * (TRAILER_MAX - 16) + b"\r\n\r\n", 200,
            "TableNames", KEEP),
    framing("trailers too long", chunk(LIST) + b"0\r\n" + b"X: y\r\n" * 1000 + b"\r\n", 431,
            "trailers are too long"),
    framing("one trailer too long", chunk(LIST) + b"0\r\nX: " + b"y" * 5000 + b"\r\n\r\n", 431,
            "trailers are too long"),
    framing("a trailer without a colon", chunk(LIST) + b"0\r\nX\r\n\r\n", 400, "trailer"),
    framing("a trailer without a name", chunk(LIST) + b"0\r\n: x\r\n\r\n", 400, "trailer"),
    framing("a trailer with a space before the colon", chunk(LIST) + b"0\r\nX : y\r\n\r\n", 400,
            "trailer"),
    framing("a folded trailer", chunk(LIST) + b"0\r\nX: y\r\n z\r\n\r\n", 400, "trailer"),
    framing("a trailer that ends in LF alone", chunk(LIST) + b"0\r\nX: y\n\r\n", 400, "trailer"),
    framing("trailers that end in LF alone", chunk(LIST) + b"0\r\n\n", 400, "trailer"),
    framing("a request for a trailer", chunk(LIST) + b"0\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 400,
            "trailer"),
    framing("a control byte in a trailer", chunk(LIST) + b"0\r\nX: \x01\r\n\r\n", 400, "trailer"),
    framing("a thousand chunks of a byte", chunk(b" ") * 1000 + chunk(LIST) + END, 200,
            "TableNames", KEEP),
    framing("a hundred thousand chunks of a byte", chunk(b" ") * 100000 + chunk(LIST) + END, 400,
            "too small"),
    framing("chunks of a byte with extensions", chunk(b" ", b";" + b"a" * 200) * 1000 + END, 400,
            "too small"),
    framing("chunks of three bytes", chunk(b"   ") * 30000 + chunk(LIST) + END, 200, "TableNames",
            KEEP),
]


def by_length(n):
    return lambda: [post(spaces(n))]


def by_chunks(n, size=MIB):
    def make():
        body = spaces(n)
        return [chunked(b"")] + [chunk(body[i:i + size]) for i in range(0, n, size)] + [END]
    return make


SIZES = [
    Row("16 MiB by length", by_length(FULL), 200, "TableNames", KEEP),
    Row("16 MiB and a byte by length", by_length(FULL + 1), 413, "too large"),
    Row("32 MiB by length", by_length(2 * FULL), 413, "too large"),
    Row("16 MiB in one chunk", by_chunks(FULL, FULL), 200, "TableNames", KEEP),
    Row("16 MiB by chunks", by_chunks(FULL), 200, "TableNames", KEEP),
    Row("16 MiB and a byte in one chunk", by_chunks(FULL + 1, FULL + 1), 413, "too large"),
    Row("16 MiB and a byte by chunks", by_chunks(FULL + 1), 413, "too large"),
    Row("16 MiB by chunks of 1 KiB", by_chunks(FULL, 1024), 200, "TableNames", KEEP),
    Row("a body that is refused before it is sent",
        post(LIST, headers={"Content-Length": "999999999", "Expect": "100-continue"}), 413,
        "too large"),
    Row("100-continue before a body by length",
        [post(b"", headers={"Content-Length": "2", "Expect": "100-continue"})], [100], then=None),
    Row("100-continue before chunks",
        [chunked(b"")[:-2] + b"Expect: 100-continue\r\n\r\n"], [100], then=None),
]


class Framing(hostile.Suite):
    def play(self, row):
        if row.then is not None:
            return super().play(row)
        with self.server.connect() as c:  # the body comes when it was asked for
            c.send(row.pieces()[0])
            self.assertEqual(c.read_answer().status, 100)
            c.send(LIST if b"Content-Length" in row.pieces()[0] else chunk(LIST) + END)
            self.assertEqual(c.read_answer().status, 200)


hostile.table(LENGTHS + ENCODINGS + CHUNKS + SIZES)(Framing)


def cut(row):
    data = b"".join(row.pieces())
    return Row(row.name, [data[i:i + 1] for i in range(len(data))], row.statuses, row.why, row.then)


@hostile.table([cut(r) for r in LENGTHS + ENCODINGS + CHUNKS if len(r.send) < 1000])
class Cut(hostile.Suite):
    """The same byte by byte: the verdict is the same."""


if __name__ == "__main__":
    hostile.main()
