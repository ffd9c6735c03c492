"""GET /metrics, and writes that arrive together share the disk."""
import re, threading, unittest
import harness
from harness import Case, Server, request_bytes


def figures(server):
    """Every sample: name with labels -> value. Fails on what Prometheus would not read."""
    answer = server.get("/metrics")
    assert answer.status == 200, answer
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4"), answer.headers
    samples, families = {}, {}
    for line in answer.body.decode().splitlines():
        if line.startswith("# TYPE "):
            _, _, family, kind = line.split(" ")
            assert family not in families, f"{family} twice"
            families[family] = kind
        elif not line.startswith("# HELP "):
            m = re.fullmatch(r'([a-z_]+)(\{[a-z]+="(?:[^"\\]|\\.)*"(?:,[a-z]+="(?:[^"\\]|\\.)*")*\})?'
                             r" ([0-9.e+-]+)", line)
            assert m, line
            base = re.sub("_(bucket|sum|count)$", "", m.group(1))
            assert m.group(1) in families or families.get(base) == "histogram", line
            key = m.group(1) + (m.group(2) or "")
            assert key not in samples, f"{key} twice"
            samples[key] = float(m.group(3))
    return samples


class Metrics(Case):
    args = None

    def test_counts_requests_errors_and_latency_by_operation(self):
        with Server("--memory") as s:
            s.create_table()
            for i in range(5):
                s.put("a", str(i))
            s.post("PutItem", {"TableName": "nosuch", "Item": {"PK": {"S": "a"}}})
            s.post("Nonsense", {})
            f = figures(s)
            self.assertEqual(f['sheaf_requests_total{operation="PutItem"}'], 6)
            self.assertEqual(f['sheaf_errors_total{operation="PutItem",'
                               'exception="ResourceNotFoundException"}'], 1)
            self.assertEqual(f['sheaf_errors_total{operation="none",'
                               'exception="UnknownOperationException"}'], 1)
            self.assertEqual(f['sheaf_request_seconds_count{operation="PutItem"}'], 6)
            self.assertEqual(f['sheaf_request_seconds_bucket{operation="PutItem",le="+Inf"}'], 6)
            self.assertGreater(f['sheaf_request_seconds_sum{operation="PutItem"}'], 0)
            self.assertGreater(f['sheaf_body_bytes_total{operation="PutItem",direction="in"}'], 100)
            self.assertGreaterEqual(f["sheaf_connections_accepted_total"], 8)
            self.assertEqual(f["sheaf_memory_budget_bytes"], 512 << 20)

    def test_tells_of_tables_and_collections_but_not_of_keys(self):
        with Server("--memory") as s:
            s.create_table()
            s.put("a-partition-key", "1")
            s.put("a-partition-key", "2")
            s.put("b", "1")
            f = figures(s)
            self.assertEqual(f["sheaf_tables"], 1)
            self.assertEqual(f['sheaf_table_items{table="things"}'], 3)
            self.assertGreater(f['sheaf_table_bytes{table="things"}'], 30)
            self.assertEqual(f['sheaf_largest_collection_bytes{table="things"}'],
                             2 * (2 + 15 + 2 + 1))
            self.assertNotIn(b"a-partition-key", s.get("/metrics").body)

    def test_engine_figures_move(self):
        with Server("--data", self.path("d")) as s:
            before = figures(s)
            s.create_table()
            s.put("a", "1")
            after = figures(s)
            self.assertGreaterEqual(after["sheaf_engine_commits_total"],
                                    before["sheaf_engine_commits_total"] + 2)
            self.assertGreater(after["sheaf_engine_syncs_total"],
                               before["sheaf_engine_syncs_total"])
            self.assertGreater(after["sheaf_engine_disk_bytes"], 0)
            self.assertEqual(after["sheaf_engine_commits_not_durable"], 0)
            self.assertEqual(after["sheaf_replies_waiting"], 0)

    def test_refused_requests_are_counted(self):
        with Server("--memory") as s:
            with s.connect() as c:
                c.send(b"GET / HTTP/1.1\nHost: x\n\n")
                self.assertEqual(c.read_answer().status, 400)
            self.assertEqual(figures(s)["sheaf_http_refused_total"], 1)

    def test_only_loopback_may_read_them_unless_told(self):
        from_outside = own_address()
        if not from_outside:
            self.skipTest("this machine has no address but loopback")
        for flags, status in ([], 404), (["--metrics-open"], 200):
            with Server("--memory", "--host", "0.0.0.0", "--insecure", *flags) as s:
                with harness.Connection((from_outside, s.port)) as c:
                    c.send(request_bytes(method="GET", path="/metrics"))
                    self.assertEqual(c.read_answer().status, status)
                self.assertEqual(s.get("/metrics").status, 200)


def own_address():
    """An address of this machine that is not loopback, or None. Nothing is sent."""
    import socket
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        try:
            s.connect(("192.0.2.1", 9))
            address = s.getsockname()[0]
        except OSError:
            return None
    return None if address.startswith("127.") else address


class SharedSyncs(Case):
    """64 writes that arrive together take far fewer than 64 syncs."""
    args = None
    PUTS = 64

    def puts(self):
        return [request_bytes("PutItem", {"TableName": "things", "Item": {
            "PK": {"S": "p"}, "SK": {"S": str(i)}}}) for i in range(self.PUTS)]

    def syncs_of(self, flags, work):
        with Server("--data", self.path("d"), *flags) as s:
            s.create_table()
            before = figures(s)
            work(s)
            after = figures(s)
            # A request is counted when its answer has been written, which its client may know first.
            for _ in range(1000):
                if after['sheaf_requests_total{operation="PutItem"}'] == self.PUTS:
                    break
                after = figures(s)
            self.assertEqual(after['sheaf_requests_total{operation="PutItem"}'], self.PUTS)
            self.assertEqual(after['sheaf_table_items{table="things"}'], self.PUTS)
            return after["sheaf_engine_syncs_total"] - before["sheaf_engine_syncs_total"]

    def test_pipelined_on_one_connection(self):
        def work(s):
            with s.connect() as c:
                c.send(b"".join(self.puts()))
                for _ in range(self.PUTS):
                    self.assertEqual(c.read_answer().status, 200)
        self.assertLessEqual(self.syncs_of(["--loops", "1"], work), 16)

    def test_at_once_on_many_connections(self):
        def work(s):
            connections = [s.connect() for _ in range(self.PUTS)]
            for c, put in zip(connections, self.puts()):
                c.send(put)
            for c in connections:
                self.assertEqual(c.read_answer().status, 200)
                c.close()
        self.assertLessEqual(self.syncs_of(["--loops", "1"], work), 32)

    def test_one_after_the_other_each_has_its_own(self):
        def work(s):
            with s.connect() as c:
                for put in self.puts():
                    c.send(put)
                    self.assertEqual(c.read_answer().status, 200)
        self.assertGreaterEqual(self.syncs_of([], work), self.PUTS)

    def test_relaxed_waits_for_none(self):
        def work(s):
            with s.connect() as c:
                for put in self.puts():
                    c.send(put)
                    self.assertEqual(c.read_answer().status, 200)
        self.assertEqual(self.syncs_of(["--durability", "relaxed"], work), 0)


if __name__ == "__main__":
    harness.main()
