"""Compares sig_verify and sig_sign with botocore's SigV4Auth, and with the rules written down a second time in Python.

    signature.py PROGRAM [SEED [ROUNDS]]

Random requests (odd paths, headers, duplicates, queries, session tokens) are signed by botocore and must be let in; each is
then changed in every way below and must be refused with the exception that belongs to the change. What sig_sign signs
must be what botocore signs, byte for byte. The program (oracle_signature.c) answers line by line through a pipe.
"""
import collections
import datetime
import hashlib
import hmac
import os
import random
import re
import subprocess
import sys
import tempfile
import urllib.parse

import botocore.auth
import botocore.awsrequest
import botocore.credentials

INVALID, INCOMPLETE = "InvalidSignatureException", "IncompleteSignatureException"
UNKNOWN, MISSING, EXPIRED = "UnrecognizedClientException", "MissingAuthenticationTokenException", "ExpiredTokenException"
UNSIGNED = ("expect", "user-agent", "x-amzn-trace-id")

LONG_TOKEN = "FwoGZXIvYXdzE" + "Ab3/+=" * 200
KEYS = {  # id: (secret, token)
    "AKIDEXAMPLE": ("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", None),
    "AKIDOTHER": ("otherSecret/with+signs=", None),
    "ASIASESSION": ("sessionSecret", LONG_TOKEN),
    "ASIAOLD": ("oldSecret", "old/token=="),
}
OLD = int(datetime.datetime(2015, 1, 1, tzinfo=datetime.timezone.utc).timestamp())  # when the last session ended


def credentials_file(folder):
    path = os.path.join(folder, "keys.ini")
    with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w") as f:
        for key, (secret, token) in KEYS.items():
            f.write(f"[{key}]\nsecret = {secret}\n")
            for i in range(0, len(token or ""), 120):
                f.write(("session_token = " if i == 0 else "    ") + token[i:i + 120] + "\n")
            if key == "ASIAOLD":
                f.write("expires = 2015-01-01T00:00:00Z\n")
    return path


# ---- requests ----

class Request:
    """What goes over the wire."""

    def __init__(self, method, path, query, headers, body, key, now, region):
        self.method, self.path, self.query, self.headers, self.body = method, path, query, headers, body
        self.key, self.now, self.region, self.window = key, now, region, 0

    def copy(self):
        other = Request(self.method, self.path, self.query, list(self.headers), self.body, self.key, self.now, self.region)
        other.window = self.window
        return other

    def get(self, name):
        return next((v for n, v in self.headers if n.lower() == name), None)

    def without(self, name):
        self.headers = [(n, v) for n, v in self.headers if n.lower() != name]

    def put(self, name, value):
        self.headers = [(n, value if n.lower() == name.lower() else v) for n, v in self.headers]
        if self.get(name.lower()) is None:
            self.headers.append((name, value))

    def fields(self):
        out = [self.method, self.path, self.query, self.body]
        for name, value in self.headers:
            out += [name, value]
        return out


def hexed(fields):
    return " ".join("x" + (f if isinstance(f, bytes) else str(f).encode()).hex() for f in fields)


def draw(rng, letters, most, least=0):
    return "".join(rng.choice(letters) for _ in range(rng.randint(least, most)))


def draw_path(rng):
    if rng.random() < 0.5:
        return "/"
    part = lambda: rng.choice(["", ".", "..", "a", "B c", "%20", "%2F", "x~y", "é", "a+b", "a=b&c", "-_.", "...", "%", "ሴ", "*"])
    return "/" + "/".join(part() for _ in range(rng.randint(1, 6)))


def draw_query(rng):
    if rng.random() < 0.6:
        return ""
    quote = lambda s: urllib.parse.quote(s, safe="-_.~")
    piece = lambda: quote(draw(rng, "abAB01-_.~ /=&+%é$", 4, 1))
    return "&".join(f"{piece()}={piece() if rng.random() < 0.8 else ''}" for _ in range(rng.randint(1, 6)))


def draw_value(rng):
    words = [draw(rng, "abcXYZ019;=/\"'{}é:.-_()", 8, 1) for _ in range(rng.randint(0, 4))]
    return rng.choice(["", " ", "\t ", "  "]) + "".join(w + rng.choice([" ", "  ", "\t", " \t ", ", "]) for w in words)


def draw_request(rng, key=None):
    key = key or rng.choice(["AKIDEXAMPLE", "AKIDEXAMPLE", "AKIDOTHER", "ASIASESSION"])
    headers = [("Host", rng.choice(["localhost:8000", "dynamodb.us-east-1.amazonaws.com", "127.0.0.1"])),
               ("X-Amz-Target", "DynamoDB_20120810." + rng.choice(["PutItem", "GetItem", "Query"])),
               ("Content-Type", "application/x-amz-json-1.0"), ("User-Agent", "Boto3/1.26 md/Botocore#1.29  x")]
    for _ in range(rng.choice([0, 0, 1, 3, 6])):
        name = rng.choice(["X-One", "x-one", "X-Two", "Accept-Encoding", "X-Amz-Api-Version", "amz-sdk-request", "Z", "Cookie"])
        headers.append((name, draw_value(rng)))
    if rng.random() < 0.3:
        headers.append((rng.choice(["Expect", "X-Amzn-Trace-Id"]), "100-continue"))
    rng.shuffle(headers)
    body = rng.randbytes(rng.choice([0, 1, 20, 600, 5000]))
    now = rng.randint(1420156800, 1893456000)
    return Request(rng.choice(["POST", "POST", "GET", "PUT"]), draw_path(rng), draw_query(rng), headers, body, key, now,
                   rng.choice(["us-east-1", "eu-west-1", "local", "ap-southeast-2"]))


# ---- signing ----

class FrozenClock:
    """Stands in for the module datetime in botocore.auth."""
    def __init__(self):
        self.now = 0
        outer = self

        class Frozen(datetime.datetime):
            @classmethod
            def utcnow(cls):
                return datetime.datetime.utcfromtimestamp(outer.now)
        self.datetime = Frozen


CLOCK = FrozenClock()
botocore.auth.datetime = CLOCK


def sign_botocore(request, secret=None, service="dynamodb", use_date=False, sign_token=True):
    """Signs and returns a new request with the headers that botocore adds."""
    out = request.copy()
    known, token = KEYS[request.key]
    url = "http://" + request.get("host") + request.path + ("?" + request.query if request.query else "")
    aws = botocore.awsrequest.AWSRequest(method=request.method, url=url, data=request.body)
    for name, value in request.headers:
        aws.headers[name] = value  # adds
    if use_date:
        aws.headers["Date"] = "x"
    CLOCK.now = request.now
    credentials = botocore.credentials.Credentials(request.key, secret or known, token if sign_token else None)
    botocore.auth.SigV4Auth(credentials, service, request.region).add_auth(aws)
    for name in ("X-Amz-Date", "Date", "X-Amz-Security-Token", "Authorization"):
        if aws.headers.get(name) is not None:
            out.put(name, aws.headers[name])
    if token and not sign_token:
        out.put("X-Amz-Security-Token", token)
    return out


def sign_by_hand(request, names=None):
    """The rules again, without botocore: also for queries that botocore signs as they stand."""
    out = request.copy()
    secret, token = KEYS[request.key]
    stamp = datetime.datetime.utcfromtimestamp(request.now).strftime("%Y%m%dT%H%M%SZ")
    out.put("X-Amz-Date", stamp)
    if token:
        out.put("X-Amz-Security-Token", token)
    quote = lambda b, safe="": urllib.parse.quote(b, safe="-_.~" + safe)
    segments = []
    for part in request.path.split("/"):
        if part == "..":
            del segments[-1:]
        elif part not in ("", "."):
            segments.append(part)
    path = "/" + "/".join(segments) + ("/" if request.path.endswith("/") and segments else "")
    pairs = [p.partition("=") for p in request.query.split("&") if p]
    pairs = sorted((quote(urllib.parse.unquote_to_bytes(n)), quote(urllib.parse.unquote_to_bytes(v))) for n, _, v in pairs)
    values = collections.defaultdict(list)
    for name, value in out.headers:
        if names is None or name.lower() in names:
            values[name.lower()].append(re.sub("[ \t]+", " ", value.strip(" \t")))
    names = sorted(values)
    text = "\n".join([request.method, quote(path, "/"), "&".join(f"{n}={v}" for n, v in pairs)]
                     + [f"{n}:{','.join(values[n])}" for n in names] + ["", ";".join(names), hashlib.sha256(request.body).hexdigest()])
    scope = f"{stamp[:8]}/{request.region}/dynamodb/aws4_request"
    to_sign = f"AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{hashlib.sha256(text.encode()).hexdigest()}"
    key = ("AWS4" + secret).encode()
    for part in scope.split("/") + [to_sign]:
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    out.put("Authorization", f"AWS4-HMAC-SHA256 Credential={request.key}/{scope}, SignedHeaders={';'.join(names)}, Signature={key.hex()}")
    return out


# ---- changes ----

def authorization(signed, pattern, replacement):
    out = signed.copy()
    out.put("Authorization", re.sub(pattern, replacement, signed.get("authorization"), count=1))
    return out


def scope_part(signed, index, text):
    whole = re.search("Credential=([^,]+)", signed.get("authorization")).group(1)
    parts = whole.split("/")
    parts[index] = text
    return authorization(signed, "Credential=[^,]+", "Credential=" + "/".join(parts))


def changed(signed, change):
    out = signed.copy()
    change(out)
    return out


def positives(rng, signed):
    """Other requests that say the same."""
    auth = signed.get("authorization")
    yield "as signed", signed
    for skew in (-900, -899, 899, 900):
        yield "clock at the edge", changed(signed, lambda r: setattr(r, "now", r.now + skew))
    yield "no space after commas", changed(signed, lambda r: r.put("Authorization", auth.replace(", ", ",")))
    yield "no commas", changed(signed, lambda r: r.put("Authorization", auth.replace(", ", " ")))
    words = auth.split(" ", 1)[1].split(", ")
    rng.shuffle(words)
    yield "parts in another order", changed(signed, lambda r: r.put("Authorization", "AWS4-HMAC-SHA256 " + ", ".join(words)))
    yield "names in another case", changed(signed, lambda r: setattr(r, "headers", [(n.swapcase(), v) for n, v in r.headers]))
    yield "headers in another order", changed(signed, lambda r: r.headers.sort(key=lambda h: h[0].lower()))
    yield "more spaces", changed(signed, lambda r: setattr(r, "headers", [(n, " " + v.replace(" ", "  ") + "\t") for n, v in r.headers
                                                                          if n.lower() != "x-amz-security-token"]
                                                           + [h for h in r.headers if h[0].lower() == "x-amz-security-token"]))
    yield "a header that is not signed", changed(signed, lambda r: r.headers.append(("X-Forwarded-For", "10.0.0.1")))
    yield "another user agent", changed(signed, lambda r: r.put("User-Agent", "other"))
    yield "a path that means the same", changed(signed, lambda r: setattr(r, "path", "/." + r.path))


def negatives(rng, signed):
    """(what was changed, request, exception)"""
    same = lambda what, change, error=INVALID: (what, changed(signed, change), error)
    names = re.search("SignedHeaders=([^,]+)", signed.get("authorization")).group(1).split(";")
    yield same("method", lambda r: setattr(r, "method", "DELETE"))
    yield same("path", lambda r: setattr(r, "path", r.path + "x"))
    yield same("query, one more", lambda r: setattr(r, "query", (r.query + "&" if r.query else "") + "zz=1"))
    if signed.query:
        yield same("query, gone", lambda r: setattr(r, "query", ""))
        yield same("query, another value", lambda r: setattr(r, "query", r.query + "1"))
    yield same("body, longer", lambda r: setattr(r, "body", r.body + b" "))
    if signed.body:
        at = rng.randrange(len(signed.body))
        flipped = signed.body[:at] + bytes([signed.body[at] ^ 1 << rng.randrange(8)]) + signed.body[at + 1:]
        yield same("body, one bit", lambda r: setattr(r, "body", flipped))
        yield same("body, gone", lambda r: setattr(r, "body", b""))
    for name in names:
        if name in ("x-amz-date", "date"):
            continue
        # A token is looked up as well, but only once the signature is right.
        yield same(f"{name} changed", lambda r: r.put(name, signed.get(name) + "x"))
        yield same(f"{name} gone", lambda r: r.without(name))
        yield same(f"{name} twice", lambda r: r.headers.append((name, "more")))
        kept = ";".join(n for n in names if n != name)
        yield f"{name} taken from SignedHeaders", authorization(signed, "SignedHeaders=[^,]+", "SignedHeaders=" + kept), INVALID
    if "x-amz-date" in names:
        yield same("another second", lambda r: r.put("X-Amz-Date", r.get("x-amz-date")[:13]
                                                     + ("00Z" if r.get("x-amz-date")[13:15] != "00" else "01Z")))
        yield same("x-amz-date is no date", lambda r: r.put("X-Amz-Date", "yesterday"), INCOMPLETE)
        yield same("no date", lambda r: r.without("x-amz-date"), INCOMPLETE)
    yield "SignedHeaders names what is not there", authorization(signed, "SignedHeaders=", "SignedHeaders=x-none;"), INVALID
    yield same("an x-amz header that is not signed", lambda r: r.headers.append(("X-Amz-Other", "1")))
    for skew in (-901, 901, -86400, 86400):
        yield same("clock out of the window", lambda r: setattr(r, "now", r.now + skew))
    yield same("narrow window", lambda r: (setattr(r, "window", 300), setattr(r, "now", r.now + 301)))
    yield "unknown key", scope_part(signed, 0, "AKIDNOBODY"), UNKNOWN
    yield "another key's id", scope_part(signed, 0, "AKIDOTHER" if signed.key != "AKIDOTHER" else "AKIDEXAMPLE"), INVALID
    yield "scope: date", scope_part(signed, 1, "20140101"), INVALID
    yield "scope: region", scope_part(signed, 2, "mars-1"), INVALID
    yield "scope: no region", scope_part(signed, 2, ""), INVALID
    yield "scope: service", scope_part(signed, 3, "s3"), INVALID
    yield "scope: terminator", scope_part(signed, 4, "aws5_request"), INVALID
    yield "scope: six parts", scope_part(signed, 4, "aws4_request/x"), INCOMPLETE
    yield "scope: four parts", authorization(signed, "/aws4_request", ""), INCOMPLETE
    at = rng.randrange(64)
    old = re.search("Signature=([0-9a-f]{64})", signed.get("authorization")).group(1)
    wrong = old[:at] + rng.choice([c for c in "0123456789abcdef" if c != old[at]]) + old[at + 1:]
    yield "signature: one digit", authorization(signed, "Signature=.*", "Signature=" + wrong), INVALID
    yield "signature: shorter", authorization(signed, "Signature=.*", "Signature=" + old[:-1]), INVALID
    yield "signature: longer", authorization(signed, "Signature=.*", "Signature=" + old + "0"), INVALID
    yield "signature: none", authorization(signed, ", Signature=.*", ""), INCOMPLETE
    yield "no credential", authorization(signed, "Credential=[^,]+, ", ""), INCOMPLETE
    yield "no signed headers", authorization(signed, "SignedHeaders=[^,]+, ", ""), INCOMPLETE
    yield "another algorithm", authorization(signed, "AWS4-HMAC-SHA256", "AWS4-HMAC-SHA512"), INCOMPLETE
    yield "another scheme", authorization(signed, "AWS4-HMAC-SHA256", "Bearer"), MISSING
    yield same("no authorization", lambda r: r.without("authorization"), MISSING)
    yield same("two authorizations", lambda r: r.headers.append(("authorization", r.get("authorization"))), INCOMPLETE)
    base = signed.copy()
    for name in ("authorization", "x-amz-date", "x-amz-security-token"):
        base.without(name)
    yield "another secret", sign_botocore(base, secret="guess"), INVALID
    yield "signed for another service", sign_botocore(base, service="sqs"), INVALID
    base.headers.append(("X-Amz-Content-SHA256", "UNSIGNED-PAYLOAD"))
    yield "unsigned payload", sign_botocore(base), INVALID
    base.put("X-Amz-Content-SHA256", hashlib.sha256(base.body + b"x").hexdigest())
    yield "hash of another payload", sign_botocore(base), INVALID
    if KEYS[signed.key][1]:
        for what, token in (("no token", None), ("a wrong token", "x" + KEYS[signed.key][1][1:])):
            other = sign_botocore(changed(base, lambda r: r.without("x-amz-content-sha256")), sign_token=False)
            other.without("x-amz-security-token")
            if token:
                other.put("X-Amz-Security-Token", token)
            yield what, other, UNKNOWN
    else:
        yield same("a token that the key does not have", lambda r: r.put("X-Amz-Security-Token", "x"), UNKNOWN)


# ---- running ----

class Program:
    def __init__(self, path, credentials):
        self.process = subprocess.Popen([path, credentials], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, letter, fields):
        self.process.stdin.write(f"{letter} {hexed(fields)}\n".encode())
        self.process.stdin.flush()
        line = self.process.stdout.readline().decode(errors="replace")
        if not line:
            sys.exit(f"the program ended: {self.process.wait()}")
        return line.rstrip("\n")

    def verify(self, request):
        return self.ask("V", [request.now, request.window] + request.fields())

    def sign(self, request):
        secret, token = KEYS[request.key]
        return self.ask("S", [request.now, request.key, secret, token or "", request.region] + request.fields())


class Score:
    def __init__(self):
        self.counts, self.wrong, self.passed = collections.Counter(), 0, 0

    def check(self, kind, what, got, is_right, request):
        self.counts[kind] += 1
        if is_right:
            self.passed += 1
            return
        self.wrong += 1
        if self.wrong <= 10:
            print(f"{kind}: {what}: {got}\n    {request.method} {request.path!r} {request.query!r} {request.headers}")


def main():
    seed = int(sys.argv[2] if len(sys.argv) > 2 else os.environ.get("SHEAF_SEED", "20120810"), 0)
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else int(300 * float(os.environ.get("SHEAF_TEST_SCALE", "1")))
    print(f"seed {seed} (repeat with SHEAF_SEED={seed})")
    rng, score = random.Random(seed), Score()
    with tempfile.TemporaryDirectory() as folder:
        program = Program(sys.argv[1], credentials_file(folder))
        for i in range(rounds):
            request = draw_request(rng)
            signed = sign_botocore(request)
            if rng.random() < 0.2:
                request.put("X-Amz-Content-SHA256", hashlib.sha256(request.body).hexdigest())
                signed = sign_botocore(request)
            right = f"ok {request.key} {request.region}"
            for what, other in positives(rng, signed):
                got = program.verify(other)
                score.check("let in", what, got, got == right, other)
            for what, other, error in negatives(rng, signed):
                got = program.verify(other)
                score.check("refused", what, got, got.split(" ")[0] == error, other)
            got = program.sign(request).split("|")
            want = [signed.get(n) or "" for n in ("x-amz-date", "authorization", "x-amz-security-token")]
            score.check("signed", "as botocore does", f"{got} != {want}", got == want, request)

            dated = sign_botocore(request, use_date=True)
            got = program.verify(dated)
            score.check("let in", "by its Date header", got, got == right, dated)
            if KEYS[request.key][1]:
                apart = sign_botocore(request, sign_token=False)
                got = program.verify(apart)
                score.check("let in", "token beside the signature", got, got == right, apart)
            odd = request.copy()
            odd.query = draw(rng, "ab&&==%%27Ee/+~", 30)
            odd = sign_by_hand(odd)
            got = program.verify(odd)
            score.check("let in", "by the rules written twice", got, got == right, odd)
            few = sign_by_hand(request, {"host", "x-amz-date"} | {n.lower() for n, _ in request.headers if n.lower().startswith("x-amz-")})
            got = program.verify(few)
            score.check("let in", "with only what must be signed", got, got == right, few)
            old = draw_request(rng, "ASIAOLD")
            for now, want in ((OLD - 1, "ok"), (OLD, EXPIRED)):
                old.now = now
                got = program.verify(sign_botocore(old))
                score.check("session", "its end", got, got.split(" ")[0] == want, old)
    counts = score.counts
    print(", ".join(f"{kind} {n}" for kind, n in sorted(counts.items())))
    print(f"{score.passed} passed, {score.wrong} failed")
    return 1 if score.wrong or counts["let in"] < 300 or counts["refused"] < 300 else 0


sys.exit(main())
