"""Crowds of bad clients around good ones, storms of connections, and more bodies than memory.

Times are printed, and fail nothing on a busy machine: what fails is a good client that gets an
error or waits for more than five seconds. SHEAF_TEST_SCALE makes the sieges longer.
"""
import os, resource, socket, threading, time
import crowd, hostile
from hostile import KIB, MIB, SANITIZER, SCALE, head, metrics, post, request_bytes, reset

STARVED_S = 5.0 * (4 if SANITIZER else 1)
MEMBERS = 300 if SANITIZER else 1000
DEAF = 10 if SANITIZER else 250  # each makes the server work for its pages
CALM_S, SIEGE_S = 2, 8 * SCALE


def setUpModule():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 20000), hard))


class Siege(hostile.Suite):
    @classmethod
    def prepare(cls):
        crowd.fill(cls.server)

    def assert_served(self, times, wrong, least=2):
        self.assertEqual(wrong, {})
        self.assertGreater(len(times), least)
        self.assertLess(max(times), STARVED_S)

    def besiege(self, members, seconds):
        """What good clients see meanwhile; the crowd is complete before they start."""
        c = crowd.Crowd(self.server.port, members)
        c.open()
        try:
            c.keep(1.5)
            held = metrics(self.server)["sheaf_connections"]
            good = crowd.Good(self.server.port)
            try:
                c.keep(seconds)
            finally:
                times, wrong = good.stop()
            return held, c.reopened, times, wrong
        finally:
            c.close()


class Slow(Siege):
    def test_a_thousand_slow_clients(self):
        calm, wrong = crowd.good_for(self.server.port, CALM_S)
        crowd.show("calm", calm, wrong)
        self.assert_served(calm, wrong)
        kinds = [crowd.slow_head, crowd.slow_body, crowd.slow_chunks, crowd.idle,
                 lambda: crowd.deaf(1)]
        held, reopened, times, wrong = self.besiege(
            [kinds[i % len(kinds)]() for i in range(MEMBERS * 11 // 10)], SIEGE_S)
        crowd.show(f"{int(held)} slow clients", times, wrong)
        print(f"p99 {crowd.percentile(times, .99) / crowd.percentile(calm, .99):.2f} times calm's, "
              f"{reopened} came again", flush=True)
        self.assertGreaterEqual(held, MEMBERS)
        self.assert_served(times, wrong)


class Deaf(Siege):
    def test_pages_that_nobody_reads(self):
        """More than memory holds: whoever does not read gives way to whoever does."""
        _, reopened, times, wrong = self.besiege(
            [crowd.deaf(60) for _ in range(DEAF)], 3 * SCALE)
        crowd.show(f"{DEAF} read none of 60 pages, {reopened} came again", times, wrong)
        self.assert_served(times, wrong)


class Storms(Siege):
    COUNT = (1000 if SANITIZER else 5000) * SCALE

    def storm(self, name, one):
        good = crowd.Good(self.server.port)
        begin = time.monotonic()
        try:
            for i in range(self.COUNT):
                one(i)
        finally:
            took = time.monotonic() - begin
            while time.monotonic() - begin < 1:
                time.sleep(0.05)
            times, wrong = good.stop()
        crowd.show(f"{self.COUNT} {name} in {took:.1f} s", times, wrong)
        self.assert_served(times, wrong)

    def test_connections_that_close_at_once(self):
        self.storm("connections", lambda i: self.server.connect().close())

    def test_connections_that_reset(self):
        said = [b"", b"POST / HT", post()[:-1], post(), head() * 20, post() + b"\x00"]

        def one(i):
            c = self.server.connect()
            c.send(said[i % len(said)])
            reset(c.socket)
        self.storm("resets", one)

    def test_connections_that_are_refused(self):
        def one(i):
            with self.server.connect() as c:
                c.send(b"GET / HTTP/1.1\nHost: a\r\n\r\n")
                self.assertEqual(c.read_answer().status, 400)
        self.storm("refusals", one)


class Cap(Siege):
    args = ["--memory", "--max-connections", "40", "--head-timeout-ms", "3000"]

    def test_above_the_cap_one_waits_and_is_served(self):
        busy = [self.server.connect() for _ in range(40)]
        for c in busy:
            c.send(b"GET / HT")
        waiting = [self.server.connect() for _ in range(20)]
        for c in waiting:
            c.send(head(b"Connection: close"))
        for c in waiting:  # the busy are refused after their time, and make room
            self.assertEqual(c.read_answer().status, 200)
            c.close()
        for c in busy:
            self.assertEqual(c.read_answer().status, 408)
            c.close()

    def test_idle_connections_keep_nobody_out(self):
        quiet = [self.server.connect() for _ in range(40)]
        begin = time.monotonic()
        self.assertEqual(self.server.get("/").status, 200)
        self.assertLess(time.monotonic() - begin, STARVED_S)
        for c in quiet:
            c.close()


class Descriptors(Siege):
    """The soft limit of descriptors is not the server's: it takes what it may."""

    @classmethod
    def setUpClass(cls):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
        try:
            super().setUpClass()
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    def test_more_connections_than_the_soft_limit(self):
        many = [self.server.connect() for _ in range(400)]
        for c in many:
            c.send(head())
        self.assertEqual({c.read_answer().status for c in many}, {200})
        self.assertGreaterEqual(metrics(self.server)["sheaf_connections"], 400)
        for c in many:
            c.close()


class Budget(Siege):
    """A budget of 64 MiB: bodies of 32 requests would take it eight times over. 503 is an answer
    here, more memory is not."""
    args = ["--memory", "--memory-budget", "64M"]
    budget = 64 * MIB
    # What is worked on takes more than it was admitted with: one request per loop, each up to eight
    # times its body.
    base = 64 * MIB + (os.cpu_count() or 1) * 192 * MIB

    def check_budget(self):
        peak = metrics(self.server)["sheaf_memory_peak_bytes"]
        print(f"budget peak {peak / MIB:.1f} MiB", flush=True)
        # Heads and first reads are counted without asking, a little for each connection.
        self.assertLessEqual(peak, self.budget + 8 * MIB)

    def test_1_large_bodies_at_once(self):
        body = post(b"{" + b" " * (8 * MIB) + b"}")
        statuses = []

        def one():
            with self.server.connect() as c:
                try:
                    c.send(body)
                except OSError:
                    pass
                try:
                    statuses.append(c.read_answer().status)
                except (OSError, EOFError):
                    statuses.append("cut off")
        threads = [threading.Thread(target=one) for _ in range(32)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        counts = {s: statuses.count(s) for s in set(statuses)}
        print(f"32 bodies of 8 MiB at once: {counts}", flush=True)
        self.assertLessEqual(set(counts), {200, 503, "cut off"})
        self.assertGreater(counts.get(200, 0), 0)
        self.check_budget()

    def test_2_large_bodies_that_are_announced_and_do_not_come(self):
        """Large and small ones, so that nothing is left over."""
        members = [crowd.slow_body(16 * MIB >> i % 11) for i in range(200)]
        held, reopened, times, wrong = self.besiege(members, 3)
        crowd.show(f"{int(held)} announce up to 16 MiB, {reopened} came again", times, wrong)
        self.assert_served(times, wrong)
        self.check_budget()

    def test_3_large_answers_that_nobody_reads(self):
        members = [crowd.deaf(60) for _ in range(min(DEAF, 60))]
        held, reopened, times, wrong = self.besiege(members, 3)
        crowd.show(f"{int(held)} read no answer, {reopened} came again", times, wrong)
        self.assert_served(times, wrong)


class Endurance(Siege):
    """The same mix again and again: memory and descriptors stay where they were."""
    ROUNDS = (20 if SANITIZER else 60) * SCALE

    def round(self):
        mix = [crowd.GET, crowd.PUT, post(), post(b"{"), head(), request_bytes("Nothing", b"{}"),
               request_bytes("DescribeTable", {"TableName": "things"})]
        with self.server.connect() as c:
            c.send(b"".join(mix) * 40)
            statuses = [c.read_answer().status for _ in range(40 * len(mix))]
        self.assertEqual(statuses[:7], [200, 200, 200, 400, 200, 400, 200])
        for bad in (b"\x00", b"GET / HTTP/1.1\nHost: a\r\n\r\n"):
            with self.server.connect() as c:
                c.send(bad)
                self.assertEqual(c.read_answer().status, 400)
        self.assertEqual(self.server.send(crowd.LARGE).status, 200)

    def test_memory_stays(self):
        for _ in range(self.ROUNDS):
            self.round()
        before = hostile.memory_kib(self.server)
        for _ in range(self.ROUNDS):
            self.round()
        after = hostile.memory_kib(self.server)
        print(f"resident after {self.ROUNDS * 283} requests {before} KiB, after twice as many "
              f"{after} KiB", flush=True)
        if not SANITIZER:  # which keep what was freed
            self.assertLess(after - before, 4 * KIB)


if __name__ == "__main__":
    hostile.main()
