"""What the tests of operations share: clients, tables of their own, requests on one connection,
and rows of (operation, request, exception, message, source).

    class Items(Wire):
        def test_x(self):
            t = self.table("pk:S", "sk:N", gsi={"byG": "g:S|h:N ALL"})
            self.ok("PutItem", TableName=t, Item=item(pk="a", sk=1))
            self.refused("GetItem", {...}, "ValidationException", "…")

A row's source says who has seen the service answer so; UNVERIFIED rows are counted and told.
"""
import base64, json, random, string
from harness import Answer, Case, Server, main, request_bytes  # noqa: F401

UNVERIFIED = None
PARITY = "paritysuite/dynamodb-conformance, run on AWS"
DYNALITE = "dynalite's tests, run on AWS"
QUIRKS = "ack-api-quirks, run on AWS in October 2026"
ALTERNATOR = "ScyllaDB Alternator's tests, run on AWS"
MODEL = "the service model's constraint in the form of the others"
GUIDE = "Developer Guide and API reference"
OURS = "a difference of ours, docs/differences.md"

INVALID = "One or more parameter values were invalid: "
VALIDATION = "ValidationException"
NOT_FOUND = "ResourceNotFoundException"
ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/"

SPACES = {"ValidationException": "com.amazon.coral.validate#"}
for _name in ("SerializationException", "UnknownOperationException", "AccessDeniedException",
              "MissingAuthenticationTokenException", "IncompleteSignatureException",
              "InvalidSignatureException", "UnrecognizedClientException", "ExpiredTokenException"):
    SPACES[_name] = "com.amazon.coral.service#"


def at(value, path, constraint):
    shown = "null" if value is None else f"'{value}'"
    return f"Value {shown} at '{path}' failed to satisfy constraint: {constraint}"


def errors(*several):
    n = len(several)
    return f"{n} validation error{'s' if n > 1 else ''} detected: " + "; ".join(several)


def missing(path):
    return at(None, path, "Member must not be null")


def short(n):
    return f"Member must have length greater than or equal to {n}"


def long_(n):
    return f"Member must have length less than or equal to {n}"


def low(n):
    return f"Member must have value greater than or equal to {n}"


def high(n):
    return f"Member must have value less than or equal to {n}"


def enum(words):
    return f"Member must satisfy enum value set: [{words}]"


PATTERN = "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"


def value(x):
    """A Python value as an attribute value. Sets need members; dicts are maps."""
    if isinstance(x, bool):
        return {"BOOL": x}
    if x is None:
        return {"NULL": True}
    if isinstance(x, (int, float)):
        return {"N": str(x)}
    if isinstance(x, str):
        return {"S": x}
    if isinstance(x, bytes):
        return {"B": base64.b64encode(x).decode()}
    if isinstance(x, list):
        return {"L": [value(y) for y in x]}
    if isinstance(x, dict):
        return {"M": {k: value(v) for k, v in x.items()}}
    if isinstance(x, (set, frozenset)):
        kinds = {str: "SS", int: "NS", float: "NS", bytes: "BS"}
        kind = kinds[type(next(iter(x)))]
        return {kind: [next(iter(value(y).values())) for y in sorted(x)]}
    raise TypeError(x)


def item(**attributes):
    return {k: value(v) for k, v in attributes.items()}


def random_name():
    return "t-" + "".join(random.choices(string.ascii_lowercase + string.digits, k=12))


def schema(text):
    """"pk:S|sk:N" to the KeySchema and the AttributeDefinitions; "a:S,b:S|c:N" for several."""
    keys, definitions = [], []
    for kind, part in zip(("HASH", "RANGE"), text.split("|")):
        for one in part.split(","):
            name, type_ = one.split(":")
            keys.append({"AttributeName": name, "KeyType": kind})
            definitions.append({"AttributeName": name, "AttributeType": type_})
    return keys, definitions


def index(name, text):
    """"g:S|h:N INCLUDE a,b" to an index and its AttributeDefinitions."""
    keys, projection, *include = text.split(" ")
    keys, definitions = schema(keys)
    made = {"IndexName": name, "KeySchema": keys, "Projection": {"ProjectionType": projection}}
    if include:
        made["Projection"]["NonKeyAttributes"] = include[0].split(",")
    return made, definitions


def table_request(name, hash_="pk:S", range_=None, gsi=None, lsi=None, **more):
    keys, definitions = schema(hash_ + ("|" + range_ if range_ else ""))
    request = {"TableName": name, "KeySchema": keys, "BillingMode": "PAY_PER_REQUEST"}
    for member, indexes in (("GlobalSecondaryIndexes", gsi), ("LocalSecondaryIndexes", lsi)):
        for index_name, text in (indexes or {}).items():
            made, more_definitions = index(index_name, text)
            request.setdefault(member, []).append(made)
            definitions += [d for d in more_definitions if d not in definitions]
    request["AttributeDefinitions"] = definitions
    request.update(more)
    if "ProvisionedThroughput" in request:
        request["BillingMode"] = "PROVISIONED"
    return request


class Wire(Case):
    """Clients of one server: db and streams of boto3, which check nothing themselves."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if cls.server:
            cls.db = cls.server.client(config={"parameter_validation": False})
            cls.streams = cls.server.client("dynamodbstreams",
                                            config={"parameter_validation": False})
        cls.connection = None
        cls.unverified = 0

    @classmethod
    def tearDownClass(cls):
        for client in (getattr(cls, "db", None), getattr(cls, "streams", None)):
            if client:
                client.close()
        if cls.connection:
            cls.connection.close()
        super().tearDownClass()
        if cls.unverified:
            print(f"unverified rows: {cls.unverified}", flush=True)

    def ask(self, operation, body):
        """One request on the class's connection; bytes are sent as they are."""
        if self.__class__.connection is None:
            self.__class__.connection = self.server.connect()
        streams = operation in ("ListStreams", "DescribeStream", "GetShardIterator", "GetRecords")
        target = ("DynamoDBStreams" if streams else "DynamoDB") + "_20120810." + operation
        try:
            self.connection.send(request_bytes(target, body))
            answer = self.connection.read_answer()
        except Exception:
            self.__class__.connection = None
            raise
        if answer.headers.get("connection") == "close":
            self.__class__.connection = None
        return answer

    def ok(self, operation, **body):
        answer = self.ask(operation, body)
        self.assertEqual(answer.status, 200, f"{operation} {str(body)[:300]}: {answer.body[:600]}")
        return answer.json

    def refused(self, operation, body, exception, message, status=400):
        """The exact message, or None for an error without one."""
        answer = self.ask(operation, body)
        told = answer.json
        what = f"{operation} {str(body)[:400]}"
        self.assertEqual(answer.status, status, f"{what}: {answer.body[:600]}")
        self.assertEqual(told["__type"],
                         SPACES.get(exception, "com.amazonaws.dynamodb.v20120810#") + exception,
                         what)
        self.assertEqual(told.get("message", told.get("Message")), message, what)
        return told

    def rows(self, rows):
        for operation, body, exception, message, source in rows:
            with self.subTest(operation, message=message):
                self.refused(operation, body, exception, message)
            if source is UNVERIFIED:
                self.__class__.unverified += 1

    def raises(self, exception, message, call, **request):
        """A boto3 call that fails; returns its response."""
        from botocore.exceptions import ClientError
        with self.assertRaises(ClientError) as caught:
            call(**request)
        error = caught.exception.response["Error"]
        self.assertEqual(error["Code"], exception)
        if message is not None:
            self.assertEqual(error.get("Message"), message)
        return caught.exception.response

    def table(self, hash_="pk:S", range_=None, **more):
        name = more.pop("name", None) or random_name()
        self.ok("CreateTable", **table_request(name, hash_, range_, **more))
        return name

    def put(self, table, **attributes):
        return self.ok("PutItem", TableName=table, Item=item(**attributes))

    def fill(self, table, items):
        items = list(items)
        for i in range(0, len(items), 25):
            self.ok("BatchWriteItem", RequestItems={
                table: [{"PutRequest": {"Item": x}} for x in items[i:i + 25]]})
