"""A server that is killed while clients write: every write that was acknowledged is there after the
restart, a transaction is whole or absent, indexes and streams agree with the table."""
import os, random, threading
from cases import *
import harness

CYCLES = int(os.environ.get("SHEAF_KILL_CYCLES", "6"))
WRITERS = 4


class Writer(threading.Thread):
    """Writes until the server is gone. acknowledged: key to the last value that was promised;
    open: the write without an answer, which may have happened or not."""

    def __init__(self, server, table, name, cycle):
        super().__init__()
        self.server, self.table, self.name_, self.cycle = server, table, name, cycle
        self.acknowledged, self.pairs, self.open = {}, {}, None

    def run(self):
        try:
            with self.server.connect() as c:
                n = 0
                while True:
                    n += 1
                    self.write(c, n)
        except (ConnectionError, EOFError, OSError):
            pass

    def write(self, c, n):
        key, number = f"{self.name_}-{n % 20}", self.cycle * 1_000_000 + n
        if n % 3:
            self.open = ("put", key, number)
            request = request_bytes("PutItem", {"TableName": self.table,
                                                "Item": item(pk=key, v=number, g=self.name_)})
        else:
            self.open = ("pair", key, number)
            request = request_bytes("TransactWriteItems", {"TransactItems": [
                {"Put": {"TableName": self.table, "Item": item(pk=key + side, v=number,
                                                               g=self.name_)}}
                for side in ("/left", "/right")]})
        c.send(request)
        answer = c.read_answer()
        assert answer.status == 200, answer
        kind, key, number = self.open
        (self.acknowledged if kind == "put" else self.pairs)[key] = number
        self.open = None


class Kill(Case):
    args = None

    def test_what_was_acknowledged_survives(self):
        seed = int(os.environ.get("SHEAF_SEED", "0")) or random.randrange(1 << 32)
        print(f"seed {seed}", flush=True)
        rng = random.Random(seed)
        data, promised, pairs = self.path("data"), {}, {}
        with Server("--data", data) as server:
            answer = server.post("CreateTable", table_request(
                "things", gsi={"byG": "g:S|v:N ALL"}))
            self.assertEqual(answer.status, 200)
        for cycle in range(1, CYCLES + 1):
            server = Server("--data", data).start()
            try:
                self.check(server, promised, pairs, set())
                writers = [Writer(server, "things", f"w{i}", cycle) for i in range(WRITERS)]
                for w in writers:
                    w.start()
                threading.Event().wait(rng.uniform(0.05, 0.4))
            finally:
                server.kill()
            for w in writers:
                w.join()
                promised.update(w.acknowledged)
                pairs.update(w.pairs)
            maybe = {w.open for w in writers if w.open}
            with Server("--data", data) as again:
                found = self.check(again, promised, pairs, maybe)
            for kind, key, number in maybe:  # from here on it has happened, or it has not
                if kind == "put" and found.get(key) == number:
                    promised[key] = number
                if kind == "pair" and found.get(key + "/left") == number:
                    pairs[key] = number
        self.assertGreater(len(promised) + len(pairs), 0)
        answer = harness.run("verify", data)
        self.assertEqual(answer.returncode, 0, answer.stdout + answer.stderr)

    def scan(self, server, **more):
        got, start = {}, {}
        while True:
            page = server.post("Scan", {"TableName": "things", **more, **start}).json
            got.update((x["pk"]["S"], int(x["v"]["N"])) for x in page["Items"])
            if "LastEvaluatedKey" not in page:
                return got
            start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}

    def check(self, server, promised, pairs, maybe):
        found = self.scan(server)
        self.assertEqual(self.scan(server, IndexName="byG"), found)
        for key, number in promised.items():
            if found.get(key) != number:
                self.assertIn(("put", key, found.get(key)), maybe, (key, number))
        for key, number in pairs.items():
            left, right = found.get(key + "/left"), found.get(key + "/right")
            self.assertEqual(left, right, key)
            if left != number:
                self.assertIn(("pair", key, left), maybe, (key, number))
        for name in found:
            if name.endswith("/left"):
                self.assertEqual(found[name], found.get(name[:-5] + "/right"), name)
        return found


if __name__ == "__main__":
    main()
