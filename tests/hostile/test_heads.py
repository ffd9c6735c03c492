"""Heads that are malformed, too long, or strange: each rule of the strict scan, at N and N+1."""
import hostile
from hostile import KEEP, KIB, Row, head

GOOD = head()


def line(text):
    return head(first=text)


def long_line(n):
    """A request line of n bytes without its CRLF."""
    text = b"GET /%s HTTP/1.1"
    return line(text % (b"a" * (n - len(text) + 2)))


def long_headers(n):
    """Header lines of n bytes with their CRLFs."""
    host = b"Host: a\r\n"
    parts, left = [], n - len(host)
    while left:
        size = min(left, 4000) if left - 4000 > 10 or left <= 4000 else left - 100
        parts.append(b"X: " + b"v" * (size - 5) + b"\r\n")
        left -= size
    return b"GET / HTTP/1.1\r\n" + host + b"".join(parts) + b"\r\n"


def many_headers(n):
    return head(*[b"X-%d: v" % i for i in range(n - 1)])


LINES = [
    # A line ends in CRLF and in nothing else.
    Row("the request line ends in LF alone", b"GET / HTTP/1.1\nHost: a\r\n\r\n", 400, "LF alone"),
    Row("a header line ends in LF alone", b"GET / HTTP/1.1\r\nHost: a\n\r\n", 400, "LF alone"),
    Row("the head ends in LF alone", b"GET / HTTP/1.1\r\nHost: a\r\n\n", 400, "LF alone"),
    Row("every line ends in LF alone", b"GET / HTTP/1.1\nHost: a\n\n", 400, "LF alone"),
    Row("the request line ends in CR alone", b"GET / HTTP/1.1\rHost: a\r\n\r\n", 400, "CR without"),
    Row("a header line ends in CR alone", b"GET / HTTP/1.1\r\nHost: a\rX: b\r\n\r\n", 400,
        "CR without"),
    Row("the head ends in CR CR LF", b"GET / HTTP/1.1\r\nHost: a\r\n\r\r\n", 400, "CR without"),
    Row("a CR before the CRLF", b"GET / HTTP/1.1\r\r\nHost: a\r\n\r\n", 400, "CR without"),
    Row("a CR inside a value", head(b"X: a\rb"), 400, "CR without"),
    Row("a CR inside a name", head(b"X\rY: a"), 400, "CR without"),
    Row("an LF inside a name", head(b"X\nY: a"), 400, "LF alone"),
    Row("LF CR in place of CR LF", b"GET / HTTP/1.1\n\rHost: a\n\r\n\r", 400, "LF alone"),
    Row("a form feed in place of CR LF", b"GET / HTTP/1.1\x0cHost: a\r\n\r\n", 400, "control"),
    Row("a vertical tab in place of CR LF", b"GET / HTTP/1.1\x0bHost: a\r\n\r\n", 400, "control"),
    Row("a Unicode line separator is no line", head(b"X: a\xe2\x80\xa8Y: b"), 200, then=KEEP),
    # obs-fold
    Row("a value goes on behind a space", head(b"X: a\r\n b"), 400, "second line"),
    Row("a value goes on behind a tab", head(b"X: a\r\n\tb"), 400, "second line"),
    Row("the first header line begins with a space", head(host=b" Host: a"), 400, "second line"),
    Row("the first header line begins with a tab", head(host=b"\tHost: a"), 400, "second line"),
    Row("a line of one space", head(b" "), 400, "second line"),
    Row("a line of one tab", head(b"\t"), 400, "second line"),
    Row("a folded Transfer-Encoding", head(b"Transfer-Encoding:\r\n chunked"), 400),
    Row("a folded Content-Length", head(b"Content-Length: 1\r\n 0"), 400, "second line"),
    # empty lines before a request
    Row("one empty line before the request", b"\r\n" + GOOD, 200, then=KEEP),
    Row("two empty lines before the request", b"\r\n\r\n" + GOOD, 400, "empty lines"),
    Row("a thousand empty lines", b"\r\n" * 1000, 400, "empty lines"),
    Row("LF before the request", b"\n" + GOOD, 400, "LF alone"),
    Row("CR before the request", b"\r" + GOOD, 400, "CR without"),
    Row("a space before the request", b" " + GOOD, 400, "method"),
    Row("a tab before the request", b"\t" + GOOD, 400, "method"),
    Row("a byte order mark before the request", b"\xef\xbb\xbf" + GOOD, 400, "method"),
    Row("an empty line between two requests", GOOD + b"\r\n" + GOOD, [200, 200], then=KEEP),
    Row("two empty lines between two requests", GOOD + b"\r\n\r\n" + GOOD, [200, 400], "empty"),
]

NAMES = [
    Row("a space before the colon", head(b"X : a"), 400, "name and a colon"),
    Row("a tab before the colon", head(b"X\t: a"), 400, "name and a colon"),
    Row("a space before the colon of Content-Length", head(b"Content-Length : 5"), 400, "name"),
    Row("a space before the colon of Transfer-Encoding", head(b"Transfer-Encoding : chunked"), 400),
    Row("a space before the colon of Host", head(host=b"Host : a"), 400, "name"),
    Row("an empty name", head(b": a"), 400, "name and a colon"),
    Row("a line without a colon", head(b"X a"), 400, "name and a colon"),
    Row("a line of one colon", head(b":"), 400, "name and a colon"),
    Row("a space in a name", head(b"X Y: a"), 400, "name and a colon"),
    Row("an 8-bit byte in a name", head(b"X\xe9: a"), 400, "name and a colon"),
    Row("a NUL in a name", head(b"X\x00: a"), 400, "control"),
    Row("a NUL behind Content-Length", head(b"Content-Length\x00: 5"), 400, "control"),
    Row("a DEL in a name", head(b"X\x7f: a"), 400, "control"),
    *[Row(f"the byte {c!r} in a name", head(b"X%cY: a" % c), 400, "name and a colon")
      for c in b'"(),/;<=>?@[\\]{}'],
    *[Row(f"the byte {c!r} in a name is fine", head(b"X%cY: a" % c), 200, then=KEEP)
      for c in b"!#$%&'*+-.^_`|~"],
    *[Row(f"the control byte {c:#04x} in a value", head(b"X: a%cb" % c), 400, "control")
      for c in [*range(0, 9), 0x0b, 0x0c, *range(0x0e, 0x20), 0x7f]],
    *[Row(f"the control byte {c:#04x} in a name", head(b"X%cY: a" % c), 400, "control")
      for c in (1, 8, 0x0b, 0x1b, 0x1f)],
    Row("8-bit bytes in a value", head(b"X: \xff\xfe\x80"), 200, then=KEEP),
    Row("a tab in a value", head(b"X: a\tb"), 200, then=KEEP),
    Row("an empty value", head(b"X:"), 200, then=KEEP),
    Row("a value of spaces", head(b"X:" + b" " * 500), 200, then=KEEP),
    Row("no space behind the colon", head(b"X:a"), 200, then=KEEP),
    Row("a name of 8,000 bytes", head(b"X" * 8000 + b": a"), 200, then=KEEP),
]

TARGETS = [
    Row("no version", line(b"GET /"), 400, "version"),
    Row("HTTP/0.9", b"GET /\r\n", [400], "version"),
    Row("no target", line(b"GET HTTP/1.1"), 400),
    Row("no target but two spaces", line(b"GET  HTTP/1.1"), 400),
    Row("no method", line(b"/ HTTP/1.1"), 400, "method"),
    Row("a method alone", line(b"GET"), 400, "method"),
    Row("a method and a space", line(b"GET "), 400, "version"),
    Row("two spaces behind the method", line(b"GET  / HTTP/1.1"), 400),
    Row("two spaces before the version", line(b"GET /  HTTP/1.1"), 400, "version"),
    Row("a space behind the version", line(b"GET / HTTP/1.1 "), 400, "version"),
    Row("a tab for a space", line(b"GET\t/\tHTTP/1.1"), 400, "method"),
    Row("a space in the target", line(b"GET /a b HTTP/1.1"), 400, "version"),
    Row("a tab in the target", line(b"GET /a\tb HTTP/1.1"), 400, "byte"),
    Row("a NUL in the target", line(b"GET /a\x00b HTTP/1.1"), 400, "control"),
    Row("a NUL in the method", line(b"GE\x00T / HTTP/1.1"), 400, "control"),
    Row("a DEL in the target", line(b"GET /a\x7fb HTTP/1.1"), 400, "control"),
    Row("an 8-bit byte in the target", line(b"GET /\xc3\xa9 HTTP/1.1"), 400, "byte"),
    Row("a fragment in the target", line(b"GET /#a HTTP/1.1"), 400, "byte"),
    Row("a target without a slash", line(b"GET metrics HTTP/1.1"), 400, "neither"),
    Row("a target with a scheme of its own", line(b"GET ftp://a/ HTTP/1.1"), 400, "neither"),
    Row("absolute form", line(b"GET http://a/ HTTP/1.1"), 200, then=KEEP),
    Row("absolute form of https", line(b"GET https://a/ HTTP/1.1"), 200, then=KEEP),
    Row("absolute form in capitals", line(b"GET HTTP://A/ HTTP/1.1"), 200, then=KEEP),
    Row("absolute form without a path", line(b"GET http://a HTTP/1.1"), 200, then=KEEP),
    Row("absolute form without a host", line(b"GET http:/// HTTP/1.1"), 400, "neither"),
    Row("a name and password in absolute form are not looked at",
        line(b"GET http://u:p@a/ HTTP/1.1"), 200, then=KEEP),
    Row("absolute form to elsewhere is not forwarded", line(b"GET http://example.com/x HTTP/1.1"),
        404, then=KEEP),
    Row("authority form", line(b"GET a:80 HTTP/1.1"), 400, "neither"),
    Row("CONNECT", line(b"CONNECT a:80 HTTP/1.1"), 405, "method"),
    Row("TRACE", line(b"TRACE / HTTP/1.1"), 405, "method"),
    Row("asterisk form of OPTIONS", head(b"Origin: x", first=b"OPTIONS * HTTP/1.1"), 200,
        then=KEEP),
    Row("asterisk form of GET", line(b"GET * HTTP/1.1"), 400, "neither"),
    Row("asterisk form of POST", line(b"POST * HTTP/1.1"), 400, "neither"),
    Row("an unknown method", line(b"BREW / HTTP/1.1"), 405, "method"),
    Row("a method in lower case", line(b"get / HTTP/1.1"), 405, "method"),
    Row("a method with a quote", line(b'G"T / HTTP/1.1'), 400, "method"),
    Row("a method of 5,000 letters", line(b"G" * 5000 + b" / HTTP/1.1"), 405, "method"),
    Row("PUT has nothing here", head(b"Content-Length: 0", first=b"PUT / HTTP/1.1"), 404,
        then=KEEP),
    Row("DELETE has nothing here", line(b"DELETE / HTTP/1.1"), 404, then=KEEP),
    Row("PATCH has nothing here", line(b"PATCH / HTTP/1.1"), 404, then=KEEP),
    Row("a path to climb out", line(b"GET /../../../../etc/passwd HTTP/1.1"), 404, then=KEEP),
    Row("a path to climb out, encoded", line(b"GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1"), 404,
        then=KEEP),
    Row("an encoded NUL in the path", line(b"GET /metrics%00 HTTP/1.1"), 404, then=KEEP),
    Row("a second slash", line(b"GET //metrics HTTP/1.1"), 404, then=KEEP),
    Row("a bad escape in the path", line(b"GET /%zz HTTP/1.1"), 404, then=KEEP),
    Row("a query of noise", line(b"GET /?%00=&&&a=%ff HTTP/1.1"), 200, then=KEEP),
]

VERSIONS = [
    *[Row(f"the version {v!r}", line(b"GET / " + v), 400)
      for v in (b"HTTP/1.2", b"HTTP/1.9", b"HTTP/2.0", b"HTTP/3.0", b"HTTP/0.9", b"HTTP/11",
                b"HTTP/1.", b"HTTP/.1", b"HTTP/1", b"HTTP/", b"HTTP", b"HTTP/1.10", b"HTTP/01.1",
                b"HTTP/1.01", b"HTTP/1.1x", b"HTTP/-1.1", b"HTTP/1,1", b"HTTP 1.1", b"HTTPS/1.1",
                b"http/1.1", b"Http/1.1", b"FTP/1.1", b"HTTP/a.b", b"HTTP/1.\xb2", b"RTSP/1.0",
                b"ICE/1.0", b"x")],
    Row("the preface of HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, "HTTP/2"),
    Row("the preface of HTTP/2 with frames",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\x00\x00\x00\x04\x00\x00\x00\x00\x00", 400,
        "HTTP/2"),
    Row("an upgrade to HTTP/2 is not taken", head(
        b"Connection: Upgrade, HTTP2-Settings", b"Upgrade: h2c", b"HTTP2-Settings: AAMAAABk"), 200,
        then=KEEP),
    Row("an upgrade to a WebSocket is not taken", head(
        b"Connection: Upgrade", b"Upgrade: websocket", b"Sec-WebSocket-Key: dGhl"), 200, then=KEEP),
    Row("a TLS handshake on a plain port",
        bytes.fromhex("16030100c8010000c40303") + bytes(range(40)), 400),
    Row("an SSH greeting", b"SSH-2.0-OpenSSH_9.2\r\n", 400),
    Row("an SMTP greeting", b"EHLO a\r\n", 400),
    Row("a Redis command", b"*1\r\n$4\r\nPING\r\n", 400),
    Row("HTTP/1.0 without a Host", head(first=b"GET / HTTP/1.0", host=None), 200),
    Row("HTTP/1.0 that wants to go on",
        head(b"Connection: keep-alive", first=b"GET / HTTP/1.0", host=None), 200, "keep-alive",
        then=KEEP),
    Row("HTTP/1.1 that wants to end", head(b"Connection: close"), 200),
    Row("HTTP/1.1 that wants to end, in a list", head(b"Connection: x, CLOSE ,y"), 200),
    Row("Connection: close twice", head(b"Connection: close", b"Connection: close"), 200),
    Row("Connection of noise", head(b"Connection: ,,, ,;=closed"), 200, then=KEEP),
]

HOSTS = [
    Row("no Host", head(host=None), 400, "no Host"),
    Row("two Hosts", head(b"Host: a"), 400, "two Host"),
    Row("two different Hosts", head(b"Host: b"), 400, "two Host"),
    Row("two Hosts, one in capitals", head(b"HOST: a"), 400, "two Host"),
    Row("two Hosts in HTTP/1.0", head(b"Host: a", first=b"GET / HTTP/1.0"), 400, "two Host"),
    Row("an empty Host", head(host=b"Host:"), 200, then=KEEP),
    Row("a list of Hosts", head(host=b"Host: a, b"), 400, "Host holds"),
    Row("a space in Host", head(host=b"Host: a b"), 400, "Host holds"),
    Row("a slash in Host", head(host=b"Host: a/b"), 400, "Host holds"),
    Row("an at sign in Host", head(host=b"Host: u@a"), 400, "Host holds"),
    Row("a question mark in Host", head(host=b"Host: a?b"), 400, "Host holds"),
    Row("a backslash in Host", head(host=b"Host: a\\b"), 400, "Host holds"),
    Row("a quote in Host", head(host=b'Host: "a"'), 400, "Host holds"),
    Row("an 8-bit byte in Host", head(host=b"Host: \xe9"), 400, "Host holds"),
    Row("an address and a port in Host", head(host=b"Host: [::1]:8000"), 200, then=KEEP),
    Row("no Host in absolute form", head(first=b"GET http://a/ HTTP/1.1", host=None), 400, "Host"),
]

LIMITS = [
    Row("a request line of 16 KiB", long_line(16 * KIB), 404, then=KEEP),
    Row("a request line of 16 KiB and a byte", long_line(16 * KIB + 1), 414, "too long"),
    Row("a request line of 64 KiB", long_line(64 * KIB), 414, "too long"),
    Row("a request line of 1 MiB", long_line(1024 * KIB), 414, "too long"),
    Row("a request line without an end", b"G" * (17 * KIB), 414, "too long"),
    Row("a query of 16 KiB", line(b"GET /?" + b"q" * (16 * KIB) + b" HTTP/1.1"), 414, "too long"),
    Row("headers of 16 KiB", long_headers(16 * KIB), 200, then=KEEP),
    Row("headers of 16 KiB and a byte", long_headers(16 * KIB + 1), 431, "too long"),
    Row("headers of 17 KiB", long_headers(17 * KIB), 431, "too long"),
    Row("headers of 1 MiB", long_headers(1024 * KIB), 431, "too long"),
    Row("one header of 16 KiB", head(b"X: " + b"v" * (16 * KIB)), 431, "too long"),
    Row("a header without an end", head()[:-2] + b"X: " + b"v" * (17 * KIB), 431, "too long"),
    Row("a name without an end", head()[:-2] + b"X" * (17 * KIB), 431, "too long"),
    Row("a line and headers of 16 KiB each",
        b"GET /%s HTTP/1.1\r\n" % (b"a" * (16 * KIB - 14)) + long_headers(16 * KIB)[16:], 404,
        then=KEEP),
    Row("100 headers", many_headers(100), 200, then=KEEP),
    Row("101 headers", many_headers(101), 431, "too many"),
    Row("1,000 headers", many_headers(1000), 431, "too many"),
    Row("3,000 headers of a byte", head(*[b"a:"] * 3000), 431, "too many"),
    Row("100 times the same header", head(*[b"Cookie: a=b"] * 99), 200, then=KEEP),
]

EXPECTATIONS = [
    Row("an expectation nobody meets", head(b"Expect: 200-maybe"), 417, "expectation"),
    Row("two expectations", head(b"Expect: 100-continue, x"), 417, "expectation"),
    Row("an empty expectation", head(b"Expect:"), 417, "expectation"),
    Row("100-continue without a body", head(b"Expect: 100-continue"), 200, then=KEEP),
    Row("an expectation in HTTP/1.0", head(b"Expect: x", first=b"GET / HTTP/1.0"), 200),
]

ROWS = LINES + NAMES + TARGETS + VERSIONS + HOSTS + LIMITS + EXPECTATIONS


@hostile.table(ROWS)
class Whole(hostile.Suite):
    """Each head in one piece."""


def cut(row):
    """The same bytes, one by one up to 100, then in pieces of a prime length."""
    pieces = []
    for data in row.pieces():
        pieces += [data[i:i + 1] for i in range(min(len(data), 100))]
        pieces += [data[i:i + 997] for i in range(100, len(data), 997)]
    return Row(row.name, pieces, row.statuses, row.why, row.then)


@hostile.table([cut(r) for r in ROWS if len(r.send) < 40 * KIB])
class Cut(hostile.Suite):
    """The same in pieces: the verdict is the same."""


if __name__ == "__main__":
    hostile.main()
