"""What hostile tests share: rows of raw bytes with the answers they must get, and the state a
server must be in after them.

    ROWS = [Row("a line ends in LF alone", b"GET / HTTP/1.1\\nHost: a\\r\\n\\r\\n", 400, "LF")]

    @table(ROWS)
    class Heads(Suite):
        pass

Every row is a test of its own. A row that names no `then` ends the connection behind its last
answer: the end is waited for, and nothing else may come. `then=KEEP` proves that the connection
still serves.

After each class the server must be alive and as it was: no answer in the 500s, the descriptors it
began with, memory within its budget, a clean end, no report of a sanitizer.
"""
import os, re, socket, struct, sys, time, zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "wire"))
import harness  # noqa: E402
from harness import Connection, request_bytes  # noqa: E402,F401

KIB, MIB = 1024, 1024 * 1024
CLOSE, KEEP = "close", "keep"
SANITIZER = os.environ.get("SHEAF_SANITIZE", "")  # "", "address,undefined", "thread"
SCALE = max(1, int(os.environ.get("SHEAF_TEST_SCALE", "1")))
FAULTS = re.compile(r"Sanitizer|runtime error:|Assertion|core dumped")


class Row:
    """`send`: the bytes, or a list of pieces sent one by one, or a function that makes either.
    `status`: of the answer, or a list of those of several; [] is none. `why`: what the last answer
    says somewhere. `then`: what becomes of the connection."""

    def __init__(self, name, send, status, why="", then=CLOSE):
        self.name, self.send, self.why, self.then = name, send, why, then
        self.statuses = status if isinstance(status, list) else [status]

    def pieces(self):
        send = self.send() if callable(self.send) else self.send
        return [send] if isinstance(send, bytes) else send


def post(body=b"{}", target="ListTables", headers=None, length=True):
    """A request as bytes; headers replace the usual ones."""
    more = {} if length else {"Content-Length": None}
    return request_bytes(target, body, {**more, **(headers or {})})


def head(*lines, first=b"GET / HTTP/1.1", host=b"Host: a"):
    """A head of these header lines behind a Host (None: without)."""
    return b"\r\n".join([first, *([host] if host else []), *lines]) + b"\r\n\r\n"


def chunked(framing, target="ListTables", *lines):
    """A request whose chunks are the bytes given."""
    return request_bytes(target, b"", {"Content-Length": None, "Transfer-Encoding": "chunked"}) \
        + framing


def chunk(data, extension=b""):
    return b"%x%s\r\n%s\r\n" % (len(data), extension, data)


def deflated(data, bits, level=9):
    """bits: 31 gzip, 15 zlib, -15 raw."""
    z = zlib.compressobj(level, zlib.DEFLATED, bits)
    return z.compress(data) + z.flush()


def reset(sock):
    """Closes with RST instead of FIN."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()


def wait_for(what, seconds=20.0):
    """Until what() is true; its last value."""
    end = time.monotonic() + seconds
    value = what()
    while not value and time.monotonic() < end:
        time.sleep(0.02)
        value = what()
    return value


# ---- the server from outside ----

def proc(server, name):
    with open(f"/proc/{server.process.pid}/{name}") as f:
        return f.read()


def memory_kib(server, field="VmRSS"):
    return int(re.search(rf"{field}:\s+(\d+) kB", proc(server, "status")).group(1))


def descriptors(server):
    return len(os.listdir(f"/proc/{server.process.pid}/fd"))


def metrics(server):
    """{name with its labels: value}"""
    answer = server.get("/metrics")
    assert answer.status == 200, answer
    lines = [l.rsplit(" ", 1) for l in answer.body.decode().splitlines() if not l.startswith("#")]
    return {name: float(value) for name, value in lines}


def server_faults(figures):
    """Errors counted that are the server's own."""
    names = ("InternalServerError", "ServiceUnavailable", "InternalFailure")
    return {k: v for k, v in figures.items()
            if k.startswith("sheaf_errors_total") and any(n in k for n in names)}


class Suite(harness.Case):
    """A server for the class, looked at when the class is done."""
    args = ["--memory"]
    budget = 512 * MIB       # what --memory-budget says
    base = 64 * MIB          # what the process takes beside it

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.fds = descriptors(cls.server)
        cls.prepare()

    @classmethod
    def prepare(cls):
        """For subclasses: tables and the like."""

    @classmethod
    def tearDownClass(cls):
        try:
            cls.check()
        finally:
            super().tearDownClass()
        assert not FAULTS.search(cls.server.last_errors), cls.server.last_errors

    @classmethod
    def check(cls):
        s = cls.server
        assert s.process.poll() is None, f"it died: {s.process.poll()} {s.stderr()}"
        assert wait_for(lambda: metrics(s)["sheaf_connections"] == 1), "connections stay open"
        # One request may still stand between our end of its connection and its end there.
        assert wait_for(lambda: descriptors(s) <= cls.fds + 1), \
            f"{descriptors(s)} descriptors, {cls.fds} at first"
        figures = metrics(s)
        assert not server_faults(figures), server_faults(figures)
        assert wait_for(lambda: metrics(s)["sheaf_memory_used_bytes"] <= 64 * KIB), metrics(s)
        peak = memory_kib(s, "VmHWM") * KIB
        print(f"{cls.__name__}: {int(figures['sheaf_http_requests_total'])} requests, "
              f"{int(figures['sheaf_http_refused_total'])} refused, budget peak "
              f"{int(figures['sheaf_memory_peak_bytes']) // KIB} KiB, resident peak "
              f"{peak // KIB} KiB", flush=True)
        if not SANITIZER:  # the budget counts what is in use; the allocator keeps as much in holes
            assert peak <= cls.budget * 2 + cls.base, f"{peak} bytes were resident"

    def play(self, row):
        """Sends a row's bytes and holds the answers against it."""
        with self.server.connect() as c:
            c.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            try:
                for piece in row.pieces():
                    c.send(piece)
            except (BrokenPipeError, ConnectionResetError):
                pass  # refused before it was whole: what was said first is still to be read
            last = None
            for status in row.statuses:
                last = c.read_answer()
                self.assertEqual(last.status, status, last)
            if row.why:
                self.assertIn(row.why, (last.raw_head + last.body).decode("latin-1"))
            if row.then == KEEP:
                c.send(head())
                self.assertEqual(c.read_answer().status, 200)
            else:
                if last:
                    self.assertEqual(last.headers.get("connection"), "close")
                self.assertTrue(c.is_closed())
                self.assertEqual(c.buffer, b"")
            return last


def table(rows, play=None):
    """Makes a test of each row."""
    def make(row):
        def test(self):
            (play or type(self).play)(self, row)
        return test

    def add(cls):
        for i, row in enumerate(rows):
            name = "test_%03d_%s" % (i, re.sub(r"\W+", "_", row.name))
            assert not hasattr(cls, name), name
            setattr(cls, name, make(row))
        return cls
    return add


main = harness.main
