"""Many clients in one process: a crowd that behaves badly, and good clients that measure."""
import errno, json, os, select, signal, socket, time
from hostile import head, post, request_bytes, reset

GET = request_bytes("GetItem", {"TableName": "things", "ConsistentRead": True,
                                "Key": {"PK": {"S": "good"}, "SK": {"S": "x"}}})
PUT = request_bytes("PutItem", {"TableName": "things", "Item": {
    "PK": {"S": "good"}, "SK": {"S": "x"}, "v": {"S": "y" * 300}}})
LARGE = request_bytes("Query", {"TableName": "things", "KeyConditionExpression": "PK = :p",
                                "ExpressionAttributeValues": {":p": {"S": "large"}}})


def fill(server):
    """The table the clients use, with a page of 1 MB in it."""
    server.create_table()
    server.put("good", "x")
    for i in range(4):
        server.put("large", str(i), v={"S": "x" * 250000})


# ---- good clients ----

class Good:
    """A process of its own that calls GetItem and PutItem in turn on one connection and, every 50
    calls, on a new one, until it is told to stop."""

    def __init__(self, port):
        self.read_end, write_end = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            status = 1
            try:
                os.close(self.read_end)
                self._run(port, write_end)
                status = 0
            finally:
                os._exit(status)
        os.close(write_end)

    @staticmethod
    def _run(port, write_end):
        ended = []
        signal.signal(signal.SIGTERM, lambda *_: ended.append(True))
        times, wrong = [], {}
        while not ended:
            try:
                one_connection(port, times, wrong, ended)
            except OSError as e:
                name = errno.errorcode.get(e.errno, str(e))
                wrong[name] = wrong.get(name, 0) + 1
                time.sleep(0.01)
        with os.fdopen(write_end, "w") as f:
            json.dump([times, wrong], f)

    def stop(self):
        """[seconds of each call], {what went wrong: how often}"""
        os.kill(self.pid, signal.SIGTERM)
        with os.fdopen(self.read_end) as f:
            text = f.read()
        os.waitpid(self.pid, 0)
        return json.loads(text)


def one_connection(port, times, wrong, ended):
    with socket.create_connection(("127.0.0.1", port), timeout=30) as s:
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for i in range(50):
            begin = time.monotonic()
            s.sendall(PUT if i % 2 else GET)
            answer = s.recv(65536)
            times.append(time.monotonic() - begin)
            if not answer.startswith(b"HTTP/1.1 200 "):
                name = answer[:12].decode("latin-1") or "closed"
                wrong[name] = wrong.get(name, 0) + 1
                return
            if ended:
                return


def good_for(port, seconds):
    good = Good(port)
    time.sleep(seconds)
    return good.stop()


def percentile(times, p):
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(len(ordered) * p))]


def show(name, times, wrong):
    print(f"{name}: {len(times)} calls, p50 {percentile(times, .5) * 1e3:.2f} ms, p99 "
          f"{percentile(times, .99) * 1e3:.2f} ms, slowest {max(times) * 1e3:.0f} ms"
          + (f", wrong: {wrong}" if wrong else ""), flush=True)


# ---- a crowd ----

class Slow:
    """A client that opens, says `first` and then a byte of `rest` at a time; who is closed comes
    again. `reads` is whether it takes its answers."""

    def __init__(self, first=b"", rest=b"", reads=True):
        self.first, self.rest, self.reads = first, rest, reads
        self.socket, self.at = None, 0

    def open(self, address):
        self.socket = socket.socket()
        if not self.reads:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.socket.setblocking(False)
        self.socket.connect_ex(address)
        self.at = 0
        self.is_greeted = False

    def say(self):
        try:
            if not self.is_greeted:
                if self.first:
                    self.socket.send(self.first)
                self.is_greeted = True
            elif self.at < len(self.rest):
                self.at += self.socket.send(self.rest[self.at:self.at + 1])
        except BlockingIOError:
            pass
        except OSError:
            return False
        return True


def slow_head():
    return Slow(b"POST / HT", b"TP/1.1\r\nHost: a\r\nX: " + b"y" * 10000)


def slow_body(n=64 * 1024):
    return Slow(post(b"", headers={"Content-Length": str(n)}), b" " * 10000)


def slow_chunks():
    return Slow(post(b"", headers={"Content-Length": None, "Transfer-Encoding": "chunked"})
                + b"10000\r\n", b" " * 10000)


def idle():
    return Slow(head())


def deaf(n=8):
    """Asks for n pages of 1 MB and reads none."""
    return Slow(LARGE * n, reads=False)


class Crowd:
    """Keeps its members open; a turn of `keep` lets each say a byte about once per second."""

    def __init__(self, port, members):
        self.address, self.members = ("127.0.0.1", port), members
        self.poll = select.epoll()
        self.reopened = 0
        self.by_fd = {}

    def open(self):
        for m in self.members:
            self._open(m)

    def _open(self, m):
        m.open(self.address)
        self.by_fd[m.socket.fileno()] = m
        wanted = select.EPOLLRDHUP | (select.EPOLLIN if m.reads else 0)
        self.poll.register(m.socket.fileno(), wanted)

    def _close(self, m, by_reset=False):
        self.by_fd.pop(m.socket.fileno(), None)
        self.poll.unregister(m.socket.fileno())
        reset(m.socket) if by_reset else m.socket.close()

    def _look(self, timeout):
        for fd, events in self.poll.poll(timeout, 256):
            m = self.by_fd.get(fd)
            if not m:
                continue
            is_over = events & (select.EPOLLHUP | select.EPOLLERR | select.EPOLLRDHUP)
            try:
                if m.reads and events & select.EPOLLIN and not m.socket.recv(65536):
                    is_over = True
            except BlockingIOError:
                pass
            except OSError:
                is_over = True
            if is_over:
                self._close(m)
                self._open(m)
                self.reopened += 1

    def keep(self, seconds):
        """Members take turns, so that the bytes of a second spread over it."""
        end = time.monotonic() + seconds
        slices = 20
        while time.monotonic() < end:
            for i in range(slices):
                for m in self.members[i::slices]:
                    if not m.say():
                        self._close(m)
                        self._open(m)
                        self.reopened += 1
                self._look(1.0 / slices)
                if time.monotonic() >= end:
                    return

    def close(self):
        for i, m in enumerate(self.members):
            self._close(m, by_reset=i % 2 == 0)
        self.poll.close()
