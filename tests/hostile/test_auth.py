"""Authorization of every wrong kind, with --auth on. Each request would make a table; none may."""
import datetime, hashlib, hmac, os, shutil, tempfile
import hostile
from hostile import KEEP, MIB, Row, deflated, request_bytes

KEY, SECRET, REGION = "AKIDHOSTILE", "secret-of-the-hostile-tests", "us-east-1"
BODY = (b'{"TableName":"stolen","BillingMode":"PAY_PER_REQUEST","KeySchema":[{"AttributeName":"a",'
        b'"KeyType":"HASH"}],"AttributeDefinitions":[{"AttributeName":"a","AttributeType":"S"}]}')
TARGET = "DynamoDB_20120810.CreateTable"
INCOMPLETE, MISSING = "IncompleteSignatureException", "MissingAuthenticationTokenException"
# The names of signed headers are sorted, put in lower case and taken once before they count: such
# variants sign the same request and are no rows here.
INVALID, UNKNOWN = "InvalidSignatureException", "UnrecognizedClientException"


def mac(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def stamp(offset_s=0):
    now = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=offset_s)
    return now.strftime("%Y%m%dT%H%M%SZ")


def sign(body=BODY, target=TARGET, key=KEY, secret=SECRET, region=REGION, service="dynamodb",
         date=None, scope_date=None, names=("host", "x-amz-date", "x-amz-target"),
         end="aws4_request"):
    """{name: value} of the headers that sign a request."""
    date = date or stamp()
    values = {"host": "localhost", "x-amz-date": date, "x-amz-target": target}
    signed = ";".join(names)
    lines = [f"{n}:{values.get(n, '')}" for n in names]
    canonical = "\n".join(["POST", "/", "", *lines, "", signed, hashlib.sha256(body).hexdigest()])
    scope = f"{scope_date or date[:8]}/{region}/{service}/{end}"
    text = "\n".join(["AWS4-HMAC-SHA256", date, scope,
                      hashlib.sha256(canonical.encode()).hexdigest()])
    k = mac(("AWS4" + secret).encode(), scope_date or date[:8])
    for part in (region, service, end):
        k = mac(k, part)
    return {"X-Amz-Date": date, "Authorization":
            f"AWS4-HMAC-SHA256 Credential={key}/{scope}, SignedHeaders={signed}, "
            f"Signature={mac(k, text).hex()}"}


def signed(body=BODY, send=None, headers=None, **how):
    """A signed request; `send` goes in place of the body that was signed, headers in place of the
    signed ones."""
    target = how.get("target", TARGET)
    return request_bytes(target, body if send is None else send,
                         {**sign(body=body, **how), **(headers or {})})


def authorized(value):
    return lambda: [request_bytes(TARGET, BODY, {"X-Amz-Date": stamp(), "Authorization": value})]


def changed(old, new):
    """A good Authorization with one thing changed."""
    def make():
        headers = sign()
        assert old in headers["Authorization"], old
        headers["Authorization"] = headers["Authorization"].replace(old, new, 1)
        return [request_bytes(TARGET, BODY, headers)]
    return make


def bad(name, send, why=""):
    return Row(name, send, 400, why or "Exception", KEEP)


GARBAGE = [
    "", " ", "x", "Basic dXNlcjpwYXNz", "Bearer abc", "AWS4-HMAC-SHA256", "AWS4-HMAC-SHA256 ",
    "AWS4-HMAC-SHA256 Credential=", "AWS4-HMAC-SHA256 Signature=", "AWS4-HMAC-SHA256 =", ",,,,",
    "AWS4-HMAC-SHA256 ,", "AWS4-HMAC-SHA256 Credential=a/b/c/d/e", "AWS4-HMAC-SHA256 Credential",
    "AWS4-HMAC-SHA256 Credential=a/b/c/d/e, SignedHeaders=, Signature=",
    "AWS4-HMAC-SHA256 Credential=////, SignedHeaders=host, Signature=" + "0" * 64,
    "AWS4-HMAC-SHA256 " + "Credential=a," * 500, "AWS4-HMAC-SHA256 " + "=" * 5000,
    "AWS4-HMAC-SHA256 Credential=" + "/" * 5000, "AWS4-HMAC-SHA256 Credential=" + "A" * 5000,
    "AWS4-HMAC-SHA256 SignedHeaders=" + ";" * 5000, "AWS4-HMAC-SHA256 Signature=" + "f" * 5000,
    "AWS4-HMAC-SHA256 SignedHeaders=" + ";".join(f"h{i}" for i in range(2000)),
    "AWS4-ECDSA-P256-SHA256 Credential=a/b/c/d/e, SignedHeaders=host, Signature=" + "0" * 64,
    "AWS4-HMAC-SHA512 Credential=a/b/c/d/e, SignedHeaders=host, Signature=" + "0" * 64,
    "aws4-hmac-sha256 Credential=a/b/c/d/e, SignedHeaders=host, Signature=" + "0" * 64,
    "AWS3-HTTPS AWSAccessKeyId=a,Algorithm=HmacSHA256,Signature=b", "AWS a:b",
    "AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/dynamodb/aws4_request",
    "AWS4-HMAC-SHA256\tCredential=a", "%s%n%x", "\xe9" * 100, '{"Credential":"a"}',
    "AWS4-HMAC-SHA256 Credential=\xff/\xff/\xff/\xff/\xff, SignedHeaders=\xff, Signature=\xff",
]


def flip(i):
    """A good request with one hex digit of its signature changed."""
    def make():
        headers = sign()
        at = len(headers["Authorization"]) - 64 + i
        digit = headers["Authorization"][at]
        headers["Authorization"] = (headers["Authorization"][:at] + ("1" if digit == "0" else "0")
                                    + headers["Authorization"][at + 1:])
        return [request_bytes(TARGET, BODY, headers)]
    return make


ROWS = [
    bad("no Authorization", lambda: [request_bytes(TARGET, BODY)], MISSING),
    bad("no Authorization and no body", lambda: [request_bytes(TARGET, b"")], MISSING),
    bad("no Authorization and JSON that is none", lambda: [request_bytes(TARGET, b"{")], MISSING),
    bad("no Authorization and a bomb", lambda: [request_bytes(
        TARGET, deflated(b" " * 64 * MIB, 31), {"Content-Encoding": "gzip"})], MISSING),
    bad("no Authorization and 200,000 arrays", lambda: [request_bytes(TARGET, b"[" * 200000)],
        MISSING),
    *[bad(f"the Authorization {v[:60]!r}", authorized(v)) for v in GARBAGE],
    *[bad(f"digit {i} of the signature changed", flip(i), INVALID)
      for i in (0, 1, 31, 32, 62, 63)],
    bad("a signature of zeros", lambda: [signed(headers={"Authorization": sign()["Authorization"][
        :-64] + "0" * 64})], INVALID),
    bad("a signature one digit short", lambda: [signed(headers={
        "Authorization": sign()["Authorization"][:-1]})]),
    bad("a signature one digit long", lambda: [signed(headers={
        "Authorization": sign()["Authorization"] + "0"})]),
    bad("a signature that is no hex", lambda: [signed(headers={
        "Authorization": sign()["Authorization"][:-1] + "g"})]),
    bad("the secret of another", lambda: [signed(secret="x" + SECRET)], INVALID),
    bad("an empty secret", lambda: [signed(secret="")], INVALID),
    bad("a key nobody has", lambda: [signed(key="AKIDNOBODY")], UNKNOWN),
    bad("a key in lower case", lambda: [signed(key=KEY.lower())], UNKNOWN),
    bad("a key with something behind it", lambda: [signed(key=KEY + "X")], UNKNOWN),
    bad("the first part of a key", lambda: [signed(key=KEY[:-1])], UNKNOWN),
    bad("no key", lambda: [signed(key="")]),
    bad("a key of 5,000 letters", lambda: [signed(key="A" * 5000)]),
    bad("another service", lambda: [signed(service="s3")]),
    bad("another end of the scope", lambda: [signed(end="aws5_request")]),
    bad("a scope of another day", lambda: [signed(scope_date="20200101")]),
    bad("a date an hour ago", lambda: [signed(date=stamp(-3600))], INVALID),
    bad("a date in an hour", lambda: [signed(date=stamp(3600))], INVALID),
    bad("a date 901 seconds ago", lambda: [signed(date=stamp(-905))], INVALID),
    bad("a date of another century", lambda: [signed(date="19700101T000000Z")], INVALID),
    bad("a date that is none", lambda: [signed(date="20269999T999999Z")]),
    bad("a date of letters", lambda: [signed(date="yesterdayyyyyyyZ")]),
    bad("a date of 5,000 digits", lambda: [signed(date="2" * 5000)]),
    bad("an empty date", lambda: [signed(headers={"X-Amz-Date": ""})]),
    bad("no date", lambda: [signed(headers={"X-Amz-Date": None})]),
    bad("two dates", lambda: [signed(headers={"X-Amz-Date": f"{stamp()}\r\nX-Amz-Date: {stamp()}"})]
        ),
    bad("a body that was not signed", lambda: [signed(send=BODY + b" ")], INVALID),
    bad("no body in place of the signed one", lambda: [signed(send=b"")], INVALID),
    bad("a target that was not signed", lambda: [signed(
        target="DynamoDB_20120810.ListTables", headers={"X-Amz-Target": TARGET})], INVALID),
    bad("a target outside the signed headers", lambda: [signed(names=("host", "x-amz-date"))]),
    bad("a second target behind the signed one", lambda: [signed(headers={
        "X-Amz-Target": f"{TARGET}\r\nX-Amz-Target: {TARGET}"})]),
    bad("a date outside the signed headers", lambda: [signed(names=("host", "x-amz-target"))]),
    bad("a Host outside the signed headers", lambda: [signed(names=("x-amz-date", "x-amz-target"))]
        ),
    bad("no signed headers", lambda: [signed(names=())]),
    bad("a signed header that is not there", lambda: [signed(
        names=("host", "x-amz-date", "x-amz-none", "x-amz-target"))]),
    bad("another Host than signed", lambda: [signed(headers={"Host": "elsewhere"})], INVALID),
    bad("another header of the service, not signed", lambda: [signed(headers={"X-Amz-Other": "a"})]
        ),
    bad("a token nobody gave", lambda: [signed(headers={"X-Amz-Security-Token": "abc"})]),
    bad("a digest of another body", lambda: [signed(headers={"X-Amz-Content-Sha256": "0" * 64})]),
    bad("a payload that is not signed", lambda: [signed(headers={
        "X-Amz-Content-Sha256": "UNSIGNED-PAYLOAD"})]),
    bad("two Authorizations, both good", lambda: [signed(headers={"Authorization": "%s\r\n"
        "Authorization: %s" % (sign()["Authorization"], sign()["Authorization"])})]),
    bad("a bad Authorization before a good one", lambda: [signed(headers={
        "Authorization": f"x\r\nAuthorization: {sign()['Authorization']}"})]),
    bad("a good Authorization before a bad one", lambda: [signed(headers={
        "Authorization": f"{sign()['Authorization']}\r\nAuthorization: x"})]),
    *[bad(f"{new!r} in place of {old!r}", changed(old, new)) for old, new in (
        ("AWS4-HMAC-SHA256", "AWS4-HMAC-SHA1"), ("Credential=", "credential="),
        ("Credential=", ""), ("SignedHeaders=", "Signedheaders="), ("Signature=", "signature="),
        ("host;", "host,"),
        ("/us-east-1/", "/us-west-2/"), ("/us-east-1/", "//"), ("/us-east-1/", "/us-east-1/x/"),
        ("/aws4_request", ""), ("/aws4_request", "/aws4_request/x"), (", Sig", "Sig"),
        ("Credential=", "Credential=x, Credential="), ("Signature=", "Signature=0, Signature="),
        ("SignedHeaders=", "SignedHeaders=host, SignedHeaders="), (KEY, KEY + "\x80"),
        ("Credential", "Credential\xa0"))],
    bad("a presigned request", lambda: [request_bytes(
        TARGET, BODY, path="/?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=" + KEY
        + "&X-Amz-Date=20260101T000000Z&X-Amz-SignedHeaders=host&X-Amz-Signature=" + "0" * 64)]),
    Row("the health of the server is no secret", request_bytes(method="GET"), 200, "healthy", KEEP),
]


class Authorization(hostile.Suite):
    @classmethod
    def setUpClass(cls):
        cls.keys = tempfile.mkdtemp(prefix="sheaf-hostile-")
        path = os.path.join(cls.keys, "keys.ini")
        with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "w") as f:
            f.write(f"[{KEY}]\nsecret = {SECRET}\n")
        cls.args = ["--memory", "--auth", path]
        super().setUpClass()

    @classmethod
    def tearDownClass(cls):
        try:
            body, target = b"{}", "DynamoDB_20120810.ListTables"
            answer = cls.server.send(signed(body, target=target))
            assert (answer.status, answer.json) == (200, {"TableNames": []}), answer
            assert SECRET not in cls.server.stderr()
        finally:
            super().tearDownClass()
            shutil.rmtree(cls.keys)


hostile.table(ROWS)(Authorization)

if __name__ == "__main__":
    hostile.main()
