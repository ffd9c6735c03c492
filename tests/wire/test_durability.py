"""No answer leaves before what it says is durable, no loop waits for the disk, and a disk that fails
is told to everybody. The disk is moved by hand: sync_shim.c holds back or fails every sync."""
import gzip, os, select, signal, threading, time, unittest
import harness
from harness import Case, Server, request_bytes

SHIM = os.environ.get("SYNC_SHIM_LIBRARY", os.path.join(
    os.path.dirname(harness.BINARY), "tests", "wire", "libsync_shim.so"))


def put(sk):
    return request_bytes("PutItem", {"TableName": "things", "Item": {
        "PK": {"S": "p"}, "SK": {"S": sk}}})


def get(sk):
    return request_bytes("GetItem", {"TableName": "things", "ConsistentRead": True, "Key": {
        "PK": {"S": "p"}, "SK": {"S": sk}}})


def is_quiet(*connections):
    """Whether none of them says anything for a while. Can only err to the good side."""
    return not select.select([c.socket for c in connections], [], [], 0.2)[0]


class Durability(Case):
    args = None

    def start(self, *flags):
        os.mkdir(self.path("shim"))
        asan = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
        s = Server("--data", self.path("d"), *flags, env={
            "LD_PRELOAD": SHIM, "SYNC_SHIM": self.path("shim"), "ASAN_OPTIONS": asan}).start()
        self.addCleanup(s.stop)
        self.addCleanup(self.release)
        s.create_table()
        self.assertEqual(s.send(put("old")).status, 200)
        return s

    def hold(self):
        self.write("shim/hold", "")

    def release(self):
        for name in ("hold", "fail"):
            if os.path.exists(self.path("shim/" + name)):
                os.unlink(self.path("shim/" + name))

    def wait_held(self):
        end = time.monotonic() + harness.TIMEOUT
        while not os.path.exists(self.path("shim/held")):
            self.assertLess(time.monotonic(), end, "no sync was asked for")
            time.sleep(0.001)

    def test_answers_wait_for_the_disk_and_loops_do_not(self):
        s = self.start("--loops", "1")
        self.hold()
        with s.connect() as writer, s.connect() as reader, s.connect() as other:
            writer.send(put("new"))
            self.wait_held()
            reader.send(get("new"))
            # The one loop goes on: what needs no disk is answered, by the same thread.
            for _ in range(10):
                other.send(request_bytes(method="GET"))
                self.assertEqual(other.read_answer().status, 200)
            self.assertTrue(is_quiet(writer, reader), "an answer came before the disk had it")
            self.release()
            self.assertEqual(writer.read_answer().status, 200)
            self.assertIn("Item", reader.read_answer().json)

    def test_what_waiting_answers_hold_is_counted_in_the_budget(self):
        """20 KiB on the wire are 15 MB in memory, and nobody gives them back while the disk is
        busy: others have to wait for room, or a client could take all there is."""
        s = self.start("--loops", "1", "--memory-budget", "64M")
        body = gzip.compress(b'{"TableName":"things","Item":{"PK":{"S":"p"},"SK":{"S":"b"}}}'
                             + b" " * 15_000_000)
        bomb = request_bytes("PutItem", body, {"Content-Encoding": "gzip"})
        self.hold()
        with s.connect() as c:
            c.send(bomb * 2)
            end, used = time.monotonic() + harness.TIMEOUT, 0
            while used < 30_000_000 and time.monotonic() < end:
                figures = s.get("/metrics").body.decode().splitlines()
                used = next(int(line.split()[1]) for line in figures
                            if line.startswith("sheaf_memory_used_bytes "))
            self.assertGreater(used, 30_000_000)
            c.send(bomb * 6)
            statuses = set()
            while 503 not in statuses and time.monotonic() < end:
                statuses.add(s.get("/").status)
            self.release()
            self.assertIn(503, statuses)
            self.assertEqual(c.read_answer().status, 200)
            self.assertEqual(c.read_answer().status, 200)

    def test_waiting_answers_are_counted(self):
        s = self.start("--loops", "1")
        self.hold()
        with s.connect() as c:
            c.send(b"".join(put(str(i)) for i in range(10)))
            self.wait_held()
            end = time.monotonic() + harness.TIMEOUT
            while b"\nsheaf_replies_waiting 10\n" not in s.get("/metrics").body:
                self.assertLess(time.monotonic(), end)
            self.release()
            for _ in range(10):
                self.assertEqual(c.read_answer().status, 200)
        self.assertIn(b"\nsheaf_replies_waiting 0\n", s.get("/metrics").body)

    def test_killed_while_it_waits_nothing_was_promised(self):
        s = self.start()
        self.hold()
        with s.connect() as c:
            c.send(put("new"))
            self.wait_held()
            s.process.kill()
            with self.assertRaises((EOFError, ConnectionError)):
                c.read_answer()
        s.stop()
        self.release()
        s.start()
        self.assertIsNotNone(s.get_item("p", "old"))

    def test_a_client_that_goes_while_its_answer_waits_does_no_harm(self):
        s = self.start("--loops", "1", "--access-log", self.path("log"))
        self.hold()
        c = s.connect()
        c.send(put("new"))
        self.wait_held()
        c.close()
        self.assertEqual(s.get("/").status, 200)
        self.release()
        self.assertIsNotNone(s.get_item("p", "new"))
        self.assertEqual(s.stop(), 0)
        with open(self.path("log")) as f:
            self.assertEqual(f.read().count('"operation":"PutItem"'), 2)

    def test_ending_waits_for_answers_that_wait(self):
        s = self.start()
        self.hold()
        with s.connect() as c:
            c.send(put("new"))
            self.wait_held()
            s.signal(signal.SIGTERM)
            self.assertTrue(is_quiet(c))
            self.release()
            self.assertEqual(c.read_answer().status, 200)
        self.assertEqual(s.wait(), 0)

    def test_a_failing_disk_is_told_and_no_write_is_taken_after_it(self):
        s = self.start("--loops", "1")
        self.hold()
        with s.connect() as a, s.connect() as b:
            a.send(put("a"))
            self.wait_held()
            b.send(put("b"))
            other = s.get("/")
            self.assertEqual(other.status, 200)
            self.write("shim/fail", "")
            os.unlink(self.path("shim/hold"))
            for c in (a, b):
                answer = c.read_answer()
                self.assertEqual(answer.status, 500)
                self.assertTrue(answer.json["__type"].endswith("#InternalServerError"), answer)
        os.unlink(self.path("shim/fail"))  # the disk seems well again; what it dropped is not known
        self.assertEqual(s.send(put("c")).status, 500)
        self.check_failed(s)
        s.start()
        self.assertIsNotNone(s.get_item("p", "old"))
        self.assertIsNone(s.get_item("p", "c"))
        self.assertEqual(s.send(put("d")).status, 200)

    def check_failed(self, s):
        """Said once and why; asked for, it is told; the end is a failure."""
        for _ in range(2):
            answer = s.get("/")
            self.assertEqual((answer.status, answer.body),
                             (503, b"unhealthy: the disk failed, restart the server\n"))
        figures = s.get("/metrics")
        self.assertEqual(figures.status, 200)
        self.assertIn(b"\nsheaf_engine_failed 1\n", figures.body)
        self.assertNotIn(b"sheaf_tables", figures.body)
        self.assertEqual(s.stop(), 1)
        self.assertEqual(s.last_errors.count("disk failed"), 1, s.last_errors)
        self.assertRegex(s.last_errors, r"sheaf: .*disk failed \(IO error: .*Input/output error\)")

    def test_a_disk_that_works_has_not_failed(self):
        s = self.start()
        self.assertIn(b"\nsheaf_engine_failed 0\n", s.get("/metrics").body)

    def test_a_failing_disk_is_told_without_anybody_waiting_for_it(self):
        """Reads and health only come after it: the writer is gone."""
        s = self.start("--loops", "1")
        self.hold()
        c = s.connect()
        c.send(put("a"))
        self.wait_held()
        c.close()
        self.write("shim/fail", "")
        os.unlink(self.path("shim/hold"))
        end = time.monotonic() + harness.TIMEOUT
        while s.get("/").status == 200:
            self.assertLess(time.monotonic(), end)
        self.check_failed(s)

    def test_relaxed_does_not_wait(self):
        s = self.start("--durability", "relaxed")
        self.hold()
        self.assertEqual(s.send(put("new")).status, 200)
        self.assertIsNotNone(s.get_item("p", "new"))


if __name__ == "__main__":
    harness.main()
