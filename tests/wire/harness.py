"""What wire tests share: a server on a free port, raw sockets, boto3 clients.

    class Tests(harness.Case):
        args = ["--memory"]                     # one server for the class; None: none
        def test_x(self):
            answer = self.server.post("ListTables", {})

    if __name__ == "__main__":
        harness.main()

The executable is $SHEAF_BIN, or build/dev/sheaf. Tests use Debian's /usr/bin/python3 with its
standard library and python3-boto3.
"""
import ctypes, gzip, json, os, select, shutil, signal, socket, subprocess, sys, tempfile, time, unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BINARY = os.environ.get("SHEAF_BIN", os.path.join(ROOT, "build", "dev", "sheaf"))
TIMEOUT = float(os.environ.get("SHEAF_TEST_TIMEOUT", "60"))
JSON = "application/x-amz-json-1.0"
TERM = signal.SIGTERM


PR_SET_PDEATHSIG = 1


def end_with_parent():
    """A test that is killed takes its servers along."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


class Answer:
    """status, headers (names in lower case; the last of several counts), body, raw."""

    def __init__(self, status, headers, body, raw_head=b""):
        self.status, self.headers, self.body, self.raw_head = status, headers, body, raw_head

    @property
    def json(self):
        body = gzip.decompress(self.body) if self.headers.get("content-encoding") == "gzip" \
            else self.body
        return json.loads(body)

    def __repr__(self):
        return f"<Answer {self.status} {self.body[:200]!r}>"


class Connection:
    """A socket with a buffer; speaks as much HTTP as reading answers needs."""

    def __init__(self, address, wrap=None, timeout=TIMEOUT):
        family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
        self.socket = socket.socket(family, socket.SOCK_STREAM)
        self.socket.settimeout(timeout)
        self.socket.connect(address)
        if wrap:
            self.socket = wrap(self.socket)
        self.buffer = b""

    def send(self, data):
        self.socket.sendall(data)

    def read_more(self):
        data = self.socket.recv(65536)
        self.buffer += data
        return bool(data)

    def read_until(self, mark):
        while mark not in self.buffer:
            if not self.read_more():
                raise EOFError(f"the connection ended; got {self.buffer[:200]!r}")
        data, self.buffer = self.buffer.split(mark, 1)
        return data

    def read_exactly(self, n):
        while len(self.buffer) < n:
            if not self.read_more():
                raise EOFError(f"the connection ended; got {self.buffer[:200]!r}")
        data, self.buffer = self.buffer[:n], self.buffer[n:]
        return data

    def read_answer(self, to_head=False):
        """The next answer. "100 Continue" is an answer of its own, with an empty body."""
        head = self.read_until(b"\r\n\r\n")
        lines = head.split(b"\r\n")
        status = int(lines[0].split(b" ")[1])
        headers = {}
        for line in lines[1:]:
            name, value = line.split(b":", 1)
            headers[name.decode().lower()] = value.strip().decode("latin-1")
        length = int(headers.get("content-length", 0))
        body = b"" if to_head or status in (100, 204, 304) else self.read_exactly(length)
        return Answer(status, headers, body, head)

    def is_closed(self):
        """Whether the other side has ended, after whatever it still says."""
        try:
            while self.read_more():
                pass
        except ConnectionResetError:
            pass
        return True

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def request_bytes(target=None, body=b"", headers=None, method="POST", path="/"):
    """The bytes of a request; headers replace the usual ones, None leaves one out."""
    if isinstance(body, (dict, list)):
        body = json.dumps(body).encode()
    elif isinstance(body, str):
        body = body.encode()
    usual = {"Host": "localhost"}
    if method == "POST":
        usual["Content-Type"] = JSON
        usual["Content-Length"] = str(len(body))
    if target:
        usual["X-Amz-Target"] = target if "." in target else "DynamoDB_20120810." + target
    usual.update(headers or {})
    head = "".join(f"{n}: {v}\r\n" for n, v in usual.items() if v is not None)
    return f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + body


class Server:
    """`sheaf serve` on a free port. Every server must be stopped: use `with`, or Case."""

    def __init__(self, *args, env=None, cwd=None, port="0", wrapper=()):
        self.args = list(args)
        self.command = [*wrapper, BINARY, "serve", *self.args]
        if port is not None and not any(a in ("--port", "-port") for a in args):
            self.command += ["--port", port]
        self.env = {k: v for k, v in os.environ.items()
                    if not k.startswith("SHEAF_") and not k.startswith("AWS_")}
        self.env.update(env or {})
        self.cwd = cwd
        self.process = None
        self.url = self.port = self.host = None
        self.output = []  # lines of stdout up to "ready"

    def start(self):
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, cwd=self.cwd,
                                        stdout=subprocess.PIPE, stderr=self.errors, env=self.env,
                                        preexec_fn=end_with_parent)
        line = self._read_ready()
        if line is None:
            self.process.kill()
            code = self.process.wait()
            text = self.stderr()
            self._release()
            raise RuntimeError(f"no ready line (exit {code}): {text}")
        self.url = line.split(" ", 1)[1]
        self.host, port = self.url.rsplit("/", 1)[1].rsplit(":", 1)
        self.port = int(port)
        return self

    def _read_ready(self):
        """Byte by byte from the pipe, so that later lines stay in it."""
        text, end = b"", time.monotonic() + TIMEOUT
        fd = self.process.stdout.fileno()
        while time.monotonic() < end:
            if not select.select([fd], [], [], 0.1)[0]:
                continue
            byte = os.read(fd, 1)
            if not byte:
                return None
            text += byte
            if byte == b"\n":
                line = text.decode().rstrip("\n")
                text = b""
                self.output.append(line)
                if line.startswith("ready "):
                    return line
        return None

    def stderr(self):
        self.errors.seek(0)
        return self.errors.read().decode(errors="replace")

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self, timeout=TIMEOUT):
        """The exit status; negative: ended by a signal."""
        code = self.process.wait(timeout)
        self.last_output = self.process.stdout.read().decode(errors="replace")
        return code

    def stop(self, number=TERM):
        """Ends it and returns its exit status."""
        if self.process is None:
            return None
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            code = self.wait()
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        self.last_errors = self.stderr()
        self._release()
        return code

    def kill(self):
        self.process.kill()
        return self.stop()

    def _release(self):
        self.process.stdout.close()
        self.errors.close()
        self.process = None

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

    # ---- talking to it ----

    def connect(self, **options):
        return Connection(("127.0.0.1", self.port), **options)

    def send(self, data, **options):
        """One request's bytes on a connection of its own, and its answer."""
        with self.connect(**options) as c:
            c.send(data)
            return c.read_answer()

    def post(self, target, body=b"", headers=None, **options):
        return self.send(request_bytes(target, body, headers), **options)

    def get(self, path, headers=None):
        return self.send(request_bytes(method="GET", path=path, headers=headers))

    def client(self, service="dynamodb", region="us-east-1", key="key", secret="secret", **options):
        import boto3
        from botocore.config import Config
        config = Config(retries={"max_attempts": 0}, connect_timeout=10, read_timeout=TIMEOUT,
                        **options.pop("config", {}))
        return boto3.client(service, endpoint_url=self.url, region_name=region,
                            aws_access_key_id=key, aws_secret_access_key=secret, config=config,
                            **options)

    def create_table(self, name="things", **more):
        """A table with the keys PK and SK, by raw request."""
        answer = self.post("CreateTable", {
            "TableName": name, "BillingMode": "PAY_PER_REQUEST",
            "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"},
                          {"AttributeName": "SK", "KeyType": "RANGE"}],
            "AttributeDefinitions": [{"AttributeName": "PK", "AttributeType": "S"},
                                     {"AttributeName": "SK", "AttributeType": "S"}], **more})
        assert answer.status == 200, answer
        return answer

    def put(self, pk, sk, table="things", **attributes):
        return self.post("PutItem", {"TableName": table, "Item": {
            "PK": {"S": pk}, "SK": {"S": sk}, **attributes}})

    def get_item(self, pk, sk, table="things"):
        """The item, or None."""
        answer = self.post("GetItem", {"TableName": table, "ConsistentRead": True,
                                       "Key": {"PK": {"S": pk}, "SK": {"S": sk}}})
        assert answer.status == 200, answer
        return answer.json.get("Item")


def run(*args, env=None, **options):
    """`sheaf ARGS` to its end: stdout, stderr, returncode."""
    whole = {k: v for k, v in os.environ.items() if not k.startswith("SHEAF_")}
    whole.update(env or {})
    return subprocess.run([BINARY, *args], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=TIMEOUT, env=whole, **options)


class Case(unittest.TestCase):
    """One server for the tests of a class, started with `args`; None: the tests start their own.
    self.folder is a new directory for each test."""
    args = ["--memory"]
    env = None
    longMessage = True

    @classmethod
    def setUpClass(cls):
        cls.server = Server(*cls.args, env=cls.env).start() if cls.args is not None else None

    @classmethod
    def tearDownClass(cls):
        if cls.server:
            code = cls.server.stop()
            assert code == 0, f"the server ended with {code}: {cls.server.last_errors}"

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="sheaf-wire-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text, mode=0o600):
        with open(self.path(name), "w") as f:
            f.write(text)
        os.chmod(self.path(name), mode)
        return self.path(name)


def main():
    """Runs the tests of the calling file; the last line is what tools/run-tests counts."""
    program = unittest.main(module="__main__", exit=False, verbosity=1)
    result = program.result
    bad = {getattr(test, "test_case", test).id() for test, _ in result.failures + result.errors}
    failed = len(bad) + len(result.unexpectedSuccesses)
    sys.stderr.flush()
    print(f"{result.testsRun - failed - len(result.skipped)} passed, {failed} failed", flush=True)
    sys.exit(1 if failed or result.testsRun == 0 else 0)
