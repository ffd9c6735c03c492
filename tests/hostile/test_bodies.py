"""Bodies that inflate, nest, repeat and lie; targets and types that are none."""
import hostile
from hostile import KEEP, MIB, SANITIZER, Row, deflated, post

GZIP, ZLIB, RAW = 31, 15, -15
FULL = 16 * MIB
DEEP = 200000
MANY = 250000 if "thread" in SANITIZER else 1000000
LIST = b"{}"
BAD_JSON = "SerializationException"
BAD_VALUE = "ValidationException"
TABLES = "TableNames"


def spaces(n):
    return b"{" + b" " * (n - 2) + b"}"


def encoded(encoding, body, **more):
    return post(body, headers={"Content-Encoding": encoding, **more})


def fine(name, send):
    return Row(name, send, 200, TABLES, KEEP)


def bad(name, send, why=BAD_JSON, status=400):
    """Refused by the service, not by the connection: it goes on."""
    return Row(name, send, status, why, KEEP)


def bomb(n):
    """n bytes that a thousandth of them makes."""
    return lambda: [encoded("gzip", deflated(b" " * n, GZIP))]


GOOD = deflated(LIST, GZIP)

ENCODINGS = [
    fine("gzip", encoded("gzip", GOOD)),
    fine("gzip in capitals", encoded("GZIP", GOOD)),
    fine("x-gzip", encoded("x-gzip", GOOD)),
    fine("deflate that is zlib", encoded("deflate", deflated(LIST, ZLIB))),
    fine("deflate that is raw", encoded("deflate", deflated(LIST, RAW))),
    fine("identity", encoded("identity", LIST)),
    fine("no encoding at all", encoded("", LIST)),
    fine("gzip of two members", encoded("gzip", deflated(b"{", GZIP) + deflated(b"}", GZIP))),
    fine("gzip of 100,000 empty members",
         lambda: [encoded("gzip", deflated(b"", GZIP) * 100000 + GOOD)]),
    fine("gzip without compression", encoded("gzip", deflated(LIST, GZIP, 0))),
    fine("gzip with a name, a comment and a field",
         encoded("gzip", b"\x1f\x8b\x08\x1c" + bytes(6) + b"\x04\x00abcd" + b"name\x00comment\x00"
                 + GOOD[10:])),
    bad("gzip that is cut off", encoded("gzip", GOOD[:-5])),
    bad("gzip without its trailer", encoded("gzip", GOOD[:-8])),
    bad("gzip that ends in its header", encoded("gzip", GOOD[:6])),
    bad("gzip of one byte", encoded("gzip", b"\x1f")),
    bad("gzip of nothing", encoded("gzip", b"")),
    bad("gzip with a wrong CRC", encoded("gzip", GOOD[:-8] + bytes(4) + GOOD[-4:])),
    bad("gzip with a wrong length", encoded("gzip", GOOD[:-4] + b"\xff\xff\xff\xff")),
    bad("gzip with bytes behind it", encoded("gzip", GOOD + b"x")),
    bad("gzip with a request behind it", encoded("gzip", GOOD + b"GET / HTTP/1.1\r\n\r\n")),
    bad("gzip of another method", encoded("gzip", GOOD[:2] + b"\x07" + GOOD[3:])),
    bad("gzip with reserved flags", encoded("gzip", GOOD[:3] + b"\xe0" + GOOD[4:])),
    bad("gzip with a name that has no end", encoded("gzip", GOOD[:3] + b"\x08" + GOOD[4:10]
                                                    + b"a" * 1000)),
    bad("gzip with a field longer than the body",
        encoded("gzip", GOOD[:3] + b"\x04" + GOOD[4:10] + b"\xff\xff" + GOOD[10:])),
    bad("gzip with a bad block", encoded("gzip", GOOD[:10] + b"\xff" * 8 + GOOD[-8:])),
    bad("gzip that is plain", encoded("gzip", LIST)),
    bad("deflate that is gzip", encoded("deflate", GOOD)),
    bad("gzip that is zlib", encoded("gzip", deflated(LIST, ZLIB))),
    bad("deflate that is plain", encoded("deflate", LIST)),
    bad("deflate with a wrong checksum", encoded("deflate", deflated(LIST, ZLIB)[:-4] + bytes(4))),
    bad("deflate that is cut off", encoded("deflate", deflated(LIST, ZLIB)[:-6])),
    bad("deflate with a dictionary", encoded("deflate", b"\x78\xbb\x00\x00\x00\x01\x03\x00")),
    *[bad(f"the encoding {v!r}", encoded(v, GOOD), "Content-Encoding") for v in (
        "br", "zstd", "compress", "gzip, gzip", "gzip,gzip", "identity, gzip", "deflate, gzip",
        "gzip;q=1", "gzipx", "xgzip", "*", '"gzip"', "chunked", "aws-chunked")],
    bad("two encodings in two headers",
        encoded("gzip\r\nContent-Encoding: gzip", deflated(GOOD, GZIP)), "Content-Encoding"),
    bad("an encoding twice, applied once", encoded("gzip\r\nContent-Encoding: gzip", GOOD),
        "Content-Encoding"),
    bad("gzip twice is inflated once", encoded("gzip", deflated(GOOD, GZIP))),
    fine("16 MiB after inflating", lambda: [encoded("gzip", deflated(spaces(FULL), GZIP))]),
    bad("16 MiB and a byte after inflating",
        lambda: [encoded("gzip", deflated(spaces(FULL + 1), GZIP))], "", 413),
    bad("16 MiB and a byte after inflating zlib",
        lambda: [encoded("deflate", deflated(spaces(FULL + 1), ZLIB))], "", 413),
    bad("16 MiB and a byte after inflating raw",
        lambda: [encoded("deflate", deflated(spaces(FULL + 1), RAW))], "", 413),
    bad("16 MiB and a byte in two members",
        lambda: [encoded("gzip", deflated(b" " * FULL, GZIP) + deflated(b" ", GZIP))], "", 413),
    bad("a bomb of 64 MiB", bomb(64 * MIB), "", 413),
    bad("a bomb of a thousand members",
        lambda: [encoded("gzip", deflated(b" " * MIB, GZIP) * 1000)], "", 413),
    bad("a bomb that says it is small",
        lambda: [encoded("gzip", deflated(b" " * 17 * MIB, GZIP)[:-4] + b"\x02\x00\x00\x00")], "",
        413),
    bad("a small body that says it is a bomb", encoded("gzip", GOOD[:-4] + b"\xff\xff\xff\x7f")),
]


def item(value, target="PutItem"):
    return post(b'{"TableName":"things","Item":{"PK":{"S":"a"},"SK":{"S":"b"},"v":' + value + b'}}',
                target)


def nest(open_, inner, close, n):
    return open_ * n + inner + close * n


def lists(n):
    return item(nest(b'{"L":[', b'{"NULL":true}', b"]}", n))


def maps(n):
    return item(nest(b'{"M":{"a":', b'{"NULL":true}', b"}}", n))


def condition(text):
    return post(b'{"TableName":"things","Item":{"PK":{"S":"a"},"SK":{"S":"b"}},'
                b'"ConditionExpression":"' + text
                + b'","ExpressionAttributeValues":{":a":{"S":"a"}}}', "PutItem")


NESTING = [
    bad("200,000 arrays", post(nest(b"[", b"", b"]", DEEP))),
    bad("200,000 arrays that do not end", post(b"[" * DEEP)),
    bad("200,000 objects", post(nest(b'{"a":', b"1", b"}", DEEP))),
    bad("200,000 objects that do not end", post(b'{"a":' * DEEP)),
    bad("200,000 arrays in a member nobody knows", post(b'{"x":' + nest(b"[", b"", b"]", DEEP)
                                                        + b"}")),
    bad("200,000 arrays for a name", post(b'{"TableName":' + nest(b"[", b"", b"]", DEEP) + b"}",
                                          "DescribeTable")),
    bad("200,000 lists in an attribute", lists(DEEP)),
    bad("200,000 maps in an attribute", maps(DEEP)),
    bad("200,000 lists that do not end", item(b'{"L":[' * DEEP)),
    bad("200,000 maps that do not end", item(b'{"M":{"a":' * DEEP)),
    bad("200,000 lists in a key", post(b'{"TableName":"things","Key":{"PK":'
                                       + nest(b'{"L":[', b"", b"]}", DEEP) + b"}}", "GetItem")),
    Row("31 lists in an attribute", lists(31), 200, then=KEEP),
    bad("32 lists in an attribute", lists(32), "Nesting Levels"),
    bad("31 maps and one", maps(32), "Nesting Levels"),
    bad("closing brackets alone", post(b"]" * DEEP)),
    bad("brackets that do not match", post(b"[{" * 60 + b"]}" * 60)),
    bad("2,000 parentheses in a condition", condition(b"(" * 2000 + b"a=:a" + b")" * 2000),
        BAD_VALUE),
    bad("1,000 times NOT", condition(b"NOT " * 1000 + b"a=:a"), BAD_VALUE),
    bad("4,000 parentheses that do not end", condition(b"(" * 4000), BAD_VALUE),
    bad("8 million parentheses", lambda: [condition(b"(" * 8000000)], BAD_VALUE),
    bad("a path of 1,000 steps", condition(b"a" + b".b" * 1000 + b" = :a"), BAD_VALUE),
    bad("a path of 1,000 indexes", condition(b"a" + b"[0]" * 1000 + b" = :a"), BAD_VALUE),
    bad("an index that overflows", condition(b"a[99999999999999999999] = :a"), BAD_VALUE),
    bad("a NUL in an expression", condition(b"a\\u0000 = :a"), BAD_VALUE),
]

TEXTS = [
    *[bad(f"the body {v!r}", post(v)) for v in (
        b"", b" ", b"null", b"true", b"1", b'"x"', b"[]", b"{", b"}", b'{"a"', b'{"a":', b'{"a":1',
        b'{"a":1,', b'{"a":1,}', b"{,}", b"{a:1}", b"{'a':1}", b'{"a" 1}', b'{"a"::1}', b"{}x",
        b"{}{}", b"{}\x00", b"\x00{}", b'{"a":nul}', b'{"a":NULL}', b'{"a":tru}', b'{"a":01}',
        b'{"a":1.}', b'{"a":.1}', b'{"a":+1}', b'{"a":1e}', b'{"a":--1}', b'{"a":0x1}',
        b'{"a":NaN}', b'{"a":Infinity}', b'{"a":"\n"}', b'{"a":"\t"}', b'{"a":"\\x"}',
        b'{"a":"\\u12"}', b'{"a":"\\u12g4"}', b'{"a":"b}', b'{"a":"\\', b"{}//", b"/**/{}",
        b"\xef\xbb\xbf{}", b"\xff\xfe{\x00}\x00", b"\x00{\x00}", b'{"\xff":1}', b'{"a":[1 2]}',
        b'{"a":[1,]}', b"%7B%7D", b"<xml/>", b"a=b&c=d", b"\x1f\x8b\x08\x00")],
    *[bad(f"the text {v!r} in an attribute", item(b'{"S":"' + v + b'"}')) for v in (
        b"\\ud800", b"\\udc00", b"\\udc00\\ud800", b"\\ud800x", b"\\ud800\\u0041", b"\\ud800\\n",
        b"\xff", b"\xc0\xaf", b"\xc1\xbf", b"\xe0\x80\xaf", b"\xf0\x80\x80\xaf", b"\xed\xa0\x80",
        b"\xed\xbf\xbf", b"\xe2\x82", b"\xf0\x9f\x98", b"\xf4\x90\x80\x80", b"\xf5\x80\x80\x80",
        b"\xf8\x88\x80\x80\x80", b"\x80", b"\xbf", b"a\x00b", b"a\x1fb", b"a\nb")],
    *[Row(f"the text {v!r} in an attribute is fine", item(b'{"S":"' + v + b'"}'), 200, then=KEEP)
      for v in (b"\\u0000", b"\\ud83d\\ude00", b"\xf0\x9f\x98\x80", b"\xef\xbf\xbf",
                b"\xf4\x8f\xbf\xbf", b"\x7f", b"\\u001f", b"")],
    bad("a name twice", post(b'{"TableName":"things","TableName":"x"}', "DescribeTable"), "twice"),
    bad("a name twice, once escaped",
        post(b'{"TableName":"things","T\\u0061bleName":"x"}', "DescribeTable"), "twice"),
    bad("a name a million times", post(b"{" + b'"k":1,' * 999999 + b'"k":1}'), "twice"),
    bad("an attribute twice", item(b'{"S":"x"},"v":{"S":"y"}'), BAD_VALUE),
    bad("a type twice", item(b'{"S":"x","S":"y"}'), "twice"),
    bad("two types", item(b'{"S":"x","N":"1"}'), "more than one datatypes"),
    bad("no type", item(b"{}"), BAD_VALUE),
    bad("a type nobody knows", item(b'{"X":"x"}'), BAD_VALUE),
    bad("a number for a text", item(b'{"S":1}')),
    bad("a text for an object", post(b'{"TableName":"things","Item":"x"}', "PutItem")),
    bad("an array for an object", post(b'{"TableName":"things","Item":[]}', "PutItem")),
]

SIZES = [
    fine("a million members nobody knows",
         lambda: [post(b"{" + b",".join(b'"k%d":1' % i for i in range(MANY)) + b"}")]),
    bad("800,000 attributes", lambda: [post(
        b'{"TableName":"things","Item":{' + b",".join(
            b'"k%d":{"N":"1"}' % i for i in range(MANY * 8 // 10)) + b"}}", "PutItem")],
        "Item size"),
    bad("a text of 16 MB", lambda: [item(b'{"S":"' + b"x" * (FULL - 200) + b'"}')], "Item size"),
    bad("a text of 16 MB in escapes", lambda: [item(b'{"S":"' + b"\\u0041" * 2700000 + b'"}')],
        "Item size"),
    bad("a text of 16 MB without an end", lambda: [item(b'{"S":"' + b"x" * (FULL - 200))]),
    bad("a table's name of 16 MB",
        lambda: [post(b'{"TableName":"' + b"x" * (FULL - 200) + b'"}', "DescribeTable")],
        BAD_VALUE),
    bad("a table's name of 2 million control bytes",
        lambda: [post(b'{"TableName":"' + b"\\u0001" * 2000000 + b'"}', "DescribeTable")],
        BAD_VALUE),
    bad("a member's name of 16 MB", lambda: [post(b'{"' + b"x" * (FULL - 200) + b'":1')]),
    bad("an expression of 16 MB", lambda: [condition(b"a=:a AND " * 1700000 + b"a=:a")], BAD_VALUE),
    bad("an attribute's name of 1 MB", post(
        b'{"TableName":"things","Item":{"PK":{"S":"a"},"SK":{"S":"b"},"' + b"n" * MIB
        + b'":{"S":""}}}', "PutItem"), BAD_VALUE),
    bad("a number of a million digits", item(b'{"N":"' + b"9" * 1000000 + b'"}'), BAD_VALUE),
    bad("a number of a million zeros behind its point", item(b'{"N":"1.' + b"0" * 999999 + b'1"}'),
        BAD_VALUE),
    bad("an exponent that overflows", item(b'{"N":"1e99999999999999999999"}'), BAD_VALUE),
    bad("an exponent that underflows", item(b'{"N":"1e-99999999999999999999"}'), BAD_VALUE),
    bad("a JSON number of a million digits", item(b'{"N":' + b"9" * 1000000 + b"}")),
    bad("a limit of a million digits", post(b'{"Limit":' + b"9" * 1000000 + b"}"), BAD_VALUE),
    bad("a limit of 1e999", post(b'{"Limit":1e999}'), BAD_VALUE),
    bad("a limit of -99999999999999999999", post(b'{"Limit":-99999999999999999999}'), BAD_VALUE),
    bad("a list of a million", lambda: [item(b'{"L":[' + b'{"N":"1"},' * MANY + b'{"N":"1"}]}')],
        "Item size"),
    bad("a set of a million", lambda: [item(b'{"NS":[' + b",".join(
        b'"%d"' % i for i in range(MANY)) + b"]}")], "Item size"),
    bad("a set of the same a million times",
        lambda: [item(b'{"SS":[' + b'"a",' * MANY + b'"a"]}')], BAD_VALUE),
    bad("binary of 12 MB", lambda: [item(b'{"B":"' + b"A" * 12000000 + b'"}')], "Item size"),
    bad("binary of 12 MB that is none", lambda: [item(b'{"B":"' + b"A" * 12000000 + b'!"}')]),
    bad("20,000 puts in a batch", lambda: [post(
        b'{"RequestItems":{"things":[' + b",".join(
            b'{"PutRequest":{"Item":{"PK":{"S":"a"},"SK":{"S":"%d"}}}}' % i for i in range(20000))
        + b"]}}", "BatchWriteItem")], BAD_VALUE),
    bad("200,000 tables in a batch", lambda: [post(
        b'{"RequestItems":{' + b",".join(b'"t%d":{"Keys":[]}' % i for i in range(200000)) + b"}}",
        "BatchGetItem")], BAD_VALUE),
    bad("20,000 writes in a transaction", lambda: [post(
        b'{"TransactItems":[' + b",".join(
            b'{"Put":{"TableName":"things","Item":{"PK":{"S":"a"},"SK":{"S":"%d"}}}}' % i
            for i in range(20000)) + b"]}", "TransactWriteItems")], BAD_VALUE),
    bad("500,000 names of an expression that uses none", lambda: [post(
        b'{"TableName":"things","Key":{"PK":{"S":"a"},"SK":{"S":"b"}},"ProjectionExpression":"#k1",'
        b'"ExpressionAttributeNames":{' + b",".join(b'"#k%d":"a"' % i for i in range(MANY // 2))
        + b"}}", "GetItem")], BAD_VALUE),
    bad("100,000 key attributes", lambda: [post(
        b'{"TableName":"many","KeySchema":[' + b",".join(
            b'{"AttributeName":"a%d","KeyType":"HASH"}' % i for i in range(100000))
        + b'],"AttributeDefinitions":[]}', "CreateTable")], BAD_VALUE),
    bad("a table's name that climbs", post(b'{"TableName":"../../etc/passwd"}', "DescribeTable"),
        BAD_VALUE),
    bad("a table's name that is a statement",
        post(b'{"TableName":"a\'; DROP TABLE things; --"}', "DescribeTable"), BAD_VALUE),
    bad("an ARN of nowhere", post(
        b'{"TableName":"arn:aws:dynamodb:us-east-1:000000000000:table/"}', "DescribeTable"),
        "Exception"),
]


def targeted(target, headers=None, body=LIST):
    more = {} if target is None else {"X-Amz-Target": target}
    return post(body, None, {**more, **(headers or {})})


UNKNOWN = "UnknownOperationException"
PREFIX = "DynamoDB_20120810."

TARGETS = [
    fine("a target", targeted(PREFIX + "ListTables")),
    *[bad(f"the target {v!r}", targeted(v), UNKNOWN) for v in (
        None, "", "ListTables", ".ListTables", PREFIX, PREFIX[:-1], PREFIX + "Nothing",
        PREFIX + "listtables", PREFIX + "LISTTABLES", PREFIX + "ListTables ListTables",
        PREFIX + "ListTables.", PREFIX + ".ListTables", "dynamodb_20120810.ListTables",
        "DynamoDB_20111205.ListTables", "DynamoDBStreams_20120810.ListTables",
        PREFIX + "ListStreams", "DynamoDB_20120810/ListTables", "DynamoDB_20120810ListTables",
        PREFIX + "ListTables\xe9", PREFIX + "L" * 10000, PREFIX + "ListTables,ListTables",
        "Sheaf.ListTables", "*", PREFIX + "*", PREFIX + "ListTable", PREFIX + "ListTabless",
        PREFIX + "../ListTables", "%s%s%n%n")],
    bad("two targets", targeted(PREFIX + "ListTables\r\nX-Amz-Target: " + PREFIX + "DeleteTable"),
        UNKNOWN),
    bad("a target twice", targeted(PREFIX + "ListTables\r\nX-Amz-Target: " + PREFIX
                                   + "ListTables"), UNKNOWN),
    bad("two types", post(headers={"Content-Type": "application/json\r\nContent-Type: text/html"}),
        UNKNOWN, 404),
    *[bad(f"the type {v!r}", post(headers={"Content-Type": v}), UNKNOWN, 404) for v in (
        None, "", "text/html", "application/x-www-form-urlencoded", "multipart/form-data",
        "application/xml", "application/x-amz-json-2.0", "application/jsonx", "json", ";",
        "application/x-amz-json-1.0x", "APPLICATION", "application/cbor")],
    fine("a type with a character set",
         post(headers={"Content-Type": "application/json; charset=utf-8"})),
]


class Bodies(hostile.Suite):
    @classmethod
    def prepare(cls):
        cls.server.create_table()


hostile.table(ENCODINGS + NESTING + TEXTS + SIZES + TARGETS)(Bodies)

if __name__ == "__main__":
    hostile.main()
