"""What the tests share: clients of one server, and tables that go when their test ends."""
import itertools

import pytest
from boto3.dynamodb.types import TypeSerializer

pytest_plugins = ["sheaf_fixture"]  # fixtures/python, which run-interop puts on the path

_names = itertools.count(1)
_serialize = TypeSerializer().serialize


def av(**attributes):
    """An item of the low-level client: av(pk="a", n=1) is {"pk": {"S": "a"}, "n": {"N": "1"}}."""
    return {name: _serialize(value) for name, value in attributes.items()}


def values(**attributes):
    """ExpressionAttributeValues: the names get their colon."""
    return {f":{name}": _serialize(value) for name, value in attributes.items()}


def keys(hash_key, range_key=None):
    schema = [{"AttributeName": hash_key, "KeyType": "HASH"}]
    return schema + ([{"AttributeName": range_key, "KeyType": "RANGE"}] if range_key else [])


def definitions(**types):
    return [{"AttributeName": name, "AttributeType": kind} for name, kind in types.items()]


def index(name, hash_key, range_key=None, projection="ALL", attributes=None):
    described = {"ProjectionType": projection}
    if attributes:
        described["NonKeyAttributes"] = attributes
    return {"IndexName": name, "KeySchema": keys(hash_key, range_key), "Projection": described}


@pytest.fixture(scope="session")
def ddb(sheaf):
    return sheaf.client()


@pytest.fixture(scope="session")
def streams(sheaf):
    return sheaf.client("dynamodbstreams")


@pytest.fixture
def new_name():
    return lambda: f"interop-{next(_names)}"


@pytest.fixture
def make(ddb, new_name):
    """Creates a table (pk, sk strings unless told otherwise) and returns its name."""
    made = []

    def create(**options):
        name = new_name()
        ddb.create_table(**{
            "TableName": name, "BillingMode": "PAY_PER_REQUEST", "KeySchema": keys("pk", "sk"),
            "AttributeDefinitions": definitions(pk="S", sk="S"), **options})
        made.append(name)
        return name

    yield create
    for name in made:
        try:
            ddb.delete_table(TableName=name)
        except ddb.exceptions.ResourceNotFoundException:
            pass


@pytest.fixture
def table(make):
    return make()


@pytest.fixture
def simple(make):
    """A table without a sort key."""
    return make(KeySchema=keys("pk"), AttributeDefinitions=definitions(pk="S"))
