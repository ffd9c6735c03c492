"""Below the calls: headers, checksums, compression, many threads, signatures that are verified."""
import concurrent.futures
import gzip
import os
import re
import signal
import zlib

import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from conftest import av, definitions, keys, values
from sheaf_fixture import Sheaf, SheafError

ONE_TRY = Config(retries={"total_max_attempts": 1})


def create(client, name):
    client.create_table(TableName=name, BillingMode="PAY_PER_REQUEST", KeySchema=keys("pk"),
                        AttributeDefinitions=definitions(pk="S"))


def test_answers_carry_a_request_id_and_a_type(ddb):
    metadata = ddb.list_tables()["ResponseMetadata"]
    assert re.fullmatch(r"[0-9A-Za-z-]{16,64}", metadata["RequestId"])
    assert metadata["HTTPHeaders"]["content-type"] == "application/x-amz-json-1.0"
    assert metadata["RetryAttempts"] == 0


def test_request_ids_differ(ddb):
    assert len({ddb.list_tables()["ResponseMetadata"]["RequestId"] for _ in range(20)}) == 20


def test_the_checksum_is_that_of_the_body(sheaf, table):
    client, seen = sheaf.client(), []
    client.meta.events.register("before-parse.dynamodb.*", lambda response_dict, **_: seen.append(
        (int(response_dict["headers"]["x-amz-crc32"]), zlib.crc32(response_dict["body"]))))
    client.put_item(TableName=table, Item=av(pk="a", sk="b", v="é" * 1000))
    client.get_item(TableName=table, Key=av(pk="a", sk="b"))
    with pytest.raises(ClientError):
        client.get_item(TableName=table, Key=av(pk="a"))
    assert len(seen) == 3
    assert all(sent == computed for sent, computed in seen)


def compress(request, **_):
    request.data = gzip.compress(request.body if isinstance(request.body, bytes)
                                 else request.body.encode())
    request.headers["Content-Encoding"] = "gzip"


def test_a_compressed_request_is_understood(sheaf, simple):
    client = sheaf.client()
    client.meta.events.register("request-created.dynamodb.PutItem", compress)
    client.put_item(TableName=simple, Item=av(pk="a", v="x" * 100_000))
    assert len(client.get_item(TableName=simple, Key=av(pk="a"))["Item"]["v"]["S"]) == 100_000


def test_threads_share_a_client(ddb, simple):
    def add(_):
        ddb.update_item(TableName=simple, Key=av(pk="counter"), UpdateExpression="ADD n :one",
                        ExpressionAttributeValues=values(one=1))

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(add, range(200)))
    assert ddb.get_item(TableName=simple, Key=av(pk="counter"))["Item"]["n"] == {"N": "200"}


def test_regions_and_keys_see_the_same_tables(sheaf, simple):
    other = sheaf.session(region_name="eu-west-1", aws_access_key_id="other").client(
        "dynamodb", endpoint_url=sheaf.endpoint)
    assert simple in other.list_tables()["TableNames"]


def test_a_fresh_server_is_empty(sheaf, fresh_sheaf, simple):
    assert fresh_sheaf.endpoint != sheaf.endpoint
    assert fresh_sheaf.client().list_tables()["TableNames"] == []


def test_a_server_stops_when_told():
    server = Sheaf().start()
    client = server.client(config=ONE_TRY)
    client.list_tables()
    assert server.stop() == 0
    with pytest.raises(Exception, match="Could not connect|Connection"):
        client.list_tables()


def test_a_server_that_ends_badly_is_told():
    with pytest.raises(SheafError, match="ended with status -9"):
        with Sheaf() as server:
            os.kill(server.pid, signal.SIGKILL)
            os.waitid(os.P_PID, server.pid, os.WEXITED | os.WNOWAIT)


def test_a_server_that_cannot_start_says_why():
    with pytest.raises(SheafError, match="ended before it was ready"):
        Sheaf("--no-such-flag").start()


@pytest.fixture
def guarded(tmp_path):
    """A server that verifies signatures, with a key for each kind of right."""
    ring = tmp_path / "keys.ini"
    ring.touch(mode=0o600)
    ring.write_text("[AKFULL]\nsecret = full-secret\n\n"
                    "[AKREADER]\nsecret = reader-secret\naccess = read-only\n\n"
                    "[AKORDERS]\nsecret = orders-secret\ntables = orders\n")
    with Sheaf("--auth", os.fspath(ring)) as server:
        def client(key, secret, **options):
            session = server.session(aws_access_key_id=key, aws_secret_access_key=secret, **options)
            return session.client("dynamodb", endpoint_url=server.endpoint, config=ONE_TRY)

        full = client("AKFULL", "full-secret")
        create(full, "orders")
        create(full, "invoices")
        yield client


def refusal(call, **request):
    with pytest.raises(ClientError) as failure:
        call(**request)
    return failure.value.response["Error"]["Code"]


def test_a_signed_request_is_accepted_in_any_region(guarded):
    for region in ("us-east-1", "eu-central-1"):
        full = guarded("AKFULL", "full-secret", region_name=region)
        full.put_item(TableName="orders", Item=av(pk="é/+ =&", v="x" * 5000))
        assert full.get_item(TableName="orders", Key=av(pk="é/+ =&"))["Item"]


def test_a_wrong_secret_is_refused(guarded):
    assert refusal(guarded("AKFULL", "guess").list_tables) == "InvalidSignatureException"


def test_an_unknown_key_is_refused(guarded):
    assert refusal(guarded("AKNOBODY", "x").list_tables) == "UnrecognizedClientException"


def test_a_read_only_key_reads(guarded):
    reader = guarded("AKREADER", "reader-secret")
    assert reader.scan(TableName="orders")["Count"] == 0
    assert refusal(reader.put_item, TableName="orders", Item=av(pk="a")) == "AccessDeniedException"


def test_a_key_of_one_table_stays_there(guarded):
    orders = guarded("AKORDERS", "orders-secret")
    orders.put_item(TableName="orders", Item=av(pk="a"))
    assert refusal(orders.scan, TableName="invoices") == "AccessDeniedException"
    assert refusal(orders.transact_write_items, TransactItems=[
        {"Put": {"TableName": "orders", "Item": av(pk="b")}},
        {"Put": {"TableName": "invoices", "Item": av(pk="b")}}]) == "AccessDeniedException"
    assert orders.scan(TableName="orders")["Count"] == 1


@pytest.fixture
def failing(tmp_path):
    """Starts servers that fail on schedule: failing(error, nth, every) gives a client's maker."""
    servers = []

    def start(operation, error, every):
        schedule = tmp_path / "faults.ini"
        schedule.write_text(f"[planned]\noperation = {operation}\nerror = {error}\n"
                            f"nth = 1\nevery = {every}\n")
        servers.append(Sheaf("--faults", os.fspath(schedule)).start())
        create(servers[-1].client(), "orders")
        return servers[-1].client

    yield start
    for server in servers:
        server.stop()


@pytest.mark.parametrize("error, status", [
    ("ProvisionedThroughputExceededException", 400), ("InternalServerError", 500)])
@pytest.mark.parametrize("mode", ["legacy", "standard"])
def test_boto3_repeats_what_may_be_repeated(failing, mode, error, status):
    client = failing("PutItem", error, every=2)(
        config=Config(retries={"mode": mode, "total_max_attempts": 3}))
    for n in range(3):
        answer = client.put_item(TableName="orders", Item=av(pk=str(n)))
        assert answer["ResponseMetadata"]["RetryAttempts"] == 1
    assert client.scan(TableName="orders")["Count"] == 3


@pytest.mark.parametrize("error, status", [
    ("ProvisionedThroughputExceededException", 400), ("InternalServerError", 500)])
def test_boto3_gives_up_and_tells(failing, error, status):
    client = failing("PutItem", error, every=1)(config=ONE_TRY)
    with pytest.raises(ClientError) as failure:
        client.put_item(TableName="orders", Item=av(pk="a"))
    assert failure.value.response["Error"]["Code"] == error
    assert failure.value.response["ResponseMetadata"]["HTTPStatusCode"] == status


def test_a_transaction_is_repeated_with_its_token(failing):
    client = failing("TransactWriteItems", "InternalServerError", every=2)(
        config=Config(retries={"mode": "standard", "total_max_attempts": 3}))
    add = {"Update": {"TableName": "orders", "Key": av(pk="n"), "UpdateExpression": "ADD n :one",
                      "ExpressionAttributeValues": values(one=1)}}
    for _ in range(3):
        client.transact_write_items(TransactItems=[add])
    assert client.get_item(TableName="orders", Key=av(pk="n"))["Item"]["n"] == {"N": "3"}
