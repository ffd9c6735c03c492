"""The life of the process: starting, what it says, signals, restarts, options."""
import json, os, signal, socket, ssl, subprocess, threading, time, unittest
import harness
from harness import Case, Server, request_bytes, run


class Start(Case):
    args = None

    def test_ready_line_names_the_port_that_was_picked(self):
        with Server("--memory") as s:
            self.assertEqual(s.output[-1], f"ready http://127.0.0.1:{s.port}")
            self.assertGreater(s.port, 0)
            self.assertEqual(s.get("/").status, 200)

    def test_screen_says_version_endpoint_data_and_what_to_try(self):
        with Server("--memory") as s:
            first, second = s.output[:2]
            self.assertEqual(first, f"sheaf 0.1.0  listening on {s.url}  ·  data in memory (gone at "
                             "the end)  ·  authentication off (loopback only)")
            self.assertTrue(second.startswith(
                f"try:  aws dynamodb list-tables --endpoint-url {s.url}"), second)

    def test_screen_names_emulation_and_the_seed_that_was_drawn(self):
        counted = self.write("counted", "[a]\nerror = InternalServerError\nnth = 1\n")
        random = self.write("random", "[a]\nerror = InternalServerError\none_in = 2\n")
        with Server("--memory") as s:
            self.assertNotIn("emulation", "".join(s.output))
        with Server("--memory", "--throttle", "--gsi-lag-ms", "50", "--faults", counted) as s:
            self.assertEqual(s.output[1],
                             f"emulation on:  --throttle  --gsi-lag-ms 50  --faults {counted}")

        def fate(*seed):
            with Server("--memory", "--faults", random, *seed) as s:
                return s.output[1], [s.post("ListTables", {}).status for _ in range(40)]
        said, statuses = fate()
        self.assertRegex(said, rf"^emulation on:  --faults {random}  --seed [1-9]\d*$")
        self.assertEqual(fate("--seed", said.split()[-1]), (said, statuses))
        self.assertEqual(set(statuses), {200, 500})

    def test_screen_says_where_durable_data_is(self):
        with Server("--data", self.path("d")) as s:
            self.assertIn(f"data in {self.path('d')} (rocksdb, durable)", s.output[0])
        with Server("--data", self.path("d"), "--durability", "relaxed") as s:
            self.assertIn("(rocksdb, relaxed)", s.output[0])

    def make_serve(self, *variables):
        """The recipe of `make serve`, with the executable under test, up to its screen."""
        recipe = subprocess.run(["make", "-n", "-C", harness.ROOT, "--no-print-directory", "serve",
                                 "PORT=0", *variables], capture_output=True, text=True, check=True)
        command = recipe.stdout.splitlines()[-1].replace("build/serve/sheaf", harness.BINARY)
        s = Server()
        s.command = ["sh", "-c", command]
        s.cwd = self.folder
        with s:
            return s.output[0]

    def test_make_serve_lets_flags_win_over_its_variables(self):
        self.assertIn("data in ./sheaf-data (rocksdb, durable)", self.make_serve())
        self.assertIn("data in two words (rocksdb, relaxed)",
                      self.make_serve("DATA=two words", "ARGS=--durability relaxed"))
        self.assertIn("data in memory", self.make_serve("ARGS=--memory"))

    def test_default_directory_is_sheaf_data_here(self):
        with Server(cwd=self.folder) as s:
            self.assertIn("data in ./sheaf-data", s.output[0])
        self.assertTrue(os.path.exists(self.path("sheaf-data/FORMAT")))

    def test_data_directory_is_for_its_owner_only(self):
        with Server("--data", self.path("d")):
            pass
        for folder, _, files in os.walk(self.path("d")):
            for name in [folder] + [os.path.join(folder, f) for f in files]:
                self.assertEqual(os.stat(name).st_mode & 0o077, 0, name)

    def test_no_core_dumps_unless_asked(self):
        for flags, soft in ([], "0"), (["--core-dumps"], None):
            with Server("--memory", *flags) as s:
                with open(f"/proc/{s.process.pid}/limits") as f:
                    line = next(l for l in f if l.startswith("Max core file size"))
                if soft is not None:
                    self.assertEqual(line.split()[4:6], [soft, soft])

    def test_relaxed_data_survives_a_kill(self):
        with Server("--data", self.path("d"), "--durability", "relaxed") as s:
            s.create_table()
            for i in range(100):
                self.assertEqual(s.put("a", str(i)).status, 200)
            s.kill()
            s.start()
            for i in range(100):
                self.assertIsNotNone(s.get_item("a", str(i)))

    def test_without_a_socket_it_serves_all_the_same(self):
        os.makedirs(self.path("d"))
        with Server("--data", self.path("d")) as s:
            s.create_table()
        os.mkdir(self.path("d/admin.sock"))  # in the way of the socket
        with Server("--data", self.path("d")) as s:
            self.assertIn("backup and verify will need the server stopped", s.stderr())
            self.assertEqual(s.put("a", "1").status, 200)

    def test_data_survives_a_restart_and_a_kill(self):
        with Server("--data", self.path("d")) as s:
            s.create_table()
            self.assertEqual(s.put("a", "1", n={"N": "5"}).status, 200)
        with Server("--data", self.path("d")) as s:
            self.assertEqual(s.get_item("a", "1")["n"], {"N": "5"})
            self.assertEqual(s.put("a", "2").status, 200)
            s.kill()
            s.start()
            self.assertIsNotNone(s.get_item("a", "2"))

    def test_directory_in_use_names_process_port_and_option(self):
        with Server("--data", self.path("d")) as s:
            second = run("serve", "--data", self.path("d"), "--port", "0")
            self.assertEqual(second.returncode, 1)
            self.assertEqual(second.stderr, f"sheaf: {self.path('d')} is in use by process "
                             f"{s.process.pid} (sheaf serve on port {s.port}); stop it or choose "
                             "another --data\n")

    def test_port_in_use_is_an_error_that_names_it(self):
        with Server("--memory") as s:
            second = run("serve", "--memory", "--port", str(s.port))
            self.assertEqual(second.returncode, 1)
            self.assertIn(str(s.port), second.stderr)
            self.assertTrue(second.stderr.startswith("sheaf: "), second.stderr)

    def test_a_directory_of_others_is_left_alone(self):
        self.write("letter.txt", "dear")
        answer = run("serve", "--data", self.folder, "--port", "0")
        self.assertEqual(answer.returncode, 1)
        self.assertIn("not a Sheaf data directory", answer.stderr)
        self.assertEqual(os.listdir(self.folder), ["letter.txt"])


    def test_listens_on_ipv6_loopback(self):
        with Server("--memory", "--host", "::1") as s:
            self.assertEqual(s.url, f"http://[::1]:{s.port}")
            with socket.create_connection(("::1", s.port)) as c:
                c.sendall(request_bytes(method="GET", path="/metrics"))
                self.assertIn(b" 200 ", c.recv(4096))

    def test_may_open_as_many_files_as_it_takes_connections(self):
        import resource
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        with Server("--memory", "--max-connections", "3000",
                    wrapper=["/bin/sh", "-c", 'ulimit -Sn 256; exec "$0" "$@"']) as s:
            self.assertEqual(resource.prlimit(s.process.pid, resource.RLIMIT_NOFILE)[0],
                             min(3000 + 2048, hard))


class Options(Case):
    args = None

    def test_usage_errors_end_with_2_and_say_what_to_do(self):
        for args, text in [(["--prot", "1"], "did you mean --port?"),
                           (["--host", "0.0.0.0"], "refusing to listen on 0.0.0.0"),
                           (["--port", "x"], "it takes a number"),
                           (["--config", "/nonexistent"], "cannot read /nonexistent")]:
            answer = run("serve", *args)
            self.assertEqual(answer.returncode, 2, answer)
            self.assertIn(text, answer.stderr)
            self.assertEqual(answer.stdout, "")

    def test_insecure_listens_beyond_loopback(self):
        with Server("--memory", "--host", "0.0.0.0", "--insecure") as s:
            self.assertIn(f"listening on http://0.0.0.0:{s.port}  ", s.output[0])
            self.assertIn("authentication OFF", s.output[0])
            self.assertEqual(s.output[-1], f"ready http://127.0.0.1:{s.port}")
            self.assertEqual(s.get("/").status, 200)

    def test_flags_win_over_environment_over_file(self):
        ini = self.write("s.ini", "[serve]\nregion = from-file\nmemory = on\nport = 0\n")
        for flags, env, region in [([], {}, "from-file"),
                                   ([], {"SHEAF_REGION": "from-env"}, "from-env"),
                                   (["--region", "from-flag"], {"SHEAF_REGION": "from-env"},
                                    "from-flag")]:
            with Server("--config", ini, *flags, env=env, port=None) as s:
                self.assertEqual(s.get("/").body, f"healthy: dynamodb.{region}.amazonaws.com "
                                 .encode())

    def test_dynamodb_locals_flags_start_it(self):
        with Server("-inMemory", "-sharedDb", "-port", "0", "-delayTransientStatuses", port=None) \
                as s:
            self.assertEqual(s.get("/").status, 200)
            self.assertIn("data in memory", s.output[0])
            self.assertIn("-sharedDb", s.stderr())
        with Server("-dbPath", self.path("d"), "-port", "0", port=None) as s:
            self.assertIn(self.path("d"), s.output[0])

    def test_help_teaches(self):
        for args in [["--help"], ["help"], ["help", "serve"], ["serve", "--help"],
                     ["help", "backup"], ["verify", "--help"]]:
            answer = run(*args)
            self.assertEqual(answer.returncode, 0, args)
            self.assertIn("sheaf", answer.stdout)
            self.assertEqual(answer.stderr, "")
        self.assertIn("--endpoint-url", run("--help").stdout)
        self.assertEqual(run("--version").stdout, "sheaf 0.1.0\n")
        self.assertEqual(run().returncode, 2)
        unknown = run("sreve")
        self.assertEqual(unknown.returncode, 2)
        self.assertIn("there is no command 'sreve'", unknown.stderr)

    def test_faults_are_injected(self):
        ini = self.write("f.ini", "[second put]\noperation = PutItem\n"
                         "error = ProvisionedThroughputExceededException\nnth = 2\n")
        with Server("--memory", "--faults", ini) as s:
            s.create_table()
            self.assertEqual(s.put("a", "1").status, 200)
            second = s.put("a", "2")
            self.assertEqual(second.status, 400)
            self.assertTrue(second.json["__type"].endswith(
                "#ProvisionedThroughputExceededException"), second)
            self.assertEqual(s.put("a", "3").status, 200)
        bad = self.write("g.ini", "[x]\nerror = Nonsense\n")
        answer = run("serve", "--memory", "--port", "0", "--faults", bad)
        self.assertEqual(answer.returncode, 1)
        self.assertIn(f"{bad}:2: error is 'Nonsense'", answer.stderr)


class Signals(Case):
    args = None

    def test_term_and_int_end_it_cleanly(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            s = Server("--data", self.path("d")).start()
            self.assertEqual(s.stop(number), 0)
            self.assertEqual(s.last_errors, "")

    def test_requests_under_way_are_finished(self):
        with Server("--data", self.path("d")) as s:
            s.create_table()
            whole = request_bytes("PutItem", {"TableName": "things", "Item": {
                "PK": {"S": "a"}, "SK": {"S": "1"}}})
            with s.connect() as c:
                c.send(whole[:-10])
                with s.connect() as other:  # its answer proves that the loop has read the first
                    other.send(request_bytes(method="GET"))
                    other.read_answer()
                s.signal(signal.SIGTERM)
                wait_for(lambda: refuses(s))
                self.assertIsNone(s.process.poll())
                c.send(whole[-10:])
                self.assertEqual(c.read_answer().status, 200)
            self.assertEqual(s.wait(), 0)
            s.stop()
            s.start()
            self.assertIsNotNone(s.get_item("a", "1"))

    def test_a_second_signal_ends_it_at_once(self):
        s = Server("--memory").start()
        with s.connect() as c:
            c.send(request_bytes("ListTables", {})[:-1])
            with s.connect() as other:
                other.send(request_bytes(method="GET"))
                other.read_answer()
            s.signal(signal.SIGTERM)
            wait_for(lambda: refuses(s))
            self.assertIsNone(s.process.poll(), "it waits for the request under way")
            s.signal(signal.SIGTERM)
            self.assertIn(s.wait(), (-signal.SIGTERM, 128 + signal.SIGTERM))
        s.stop()

    def test_what_takes_too_long_is_cut_off(self):
        s = Server("--memory", "--drain-ms", "200").start()
        with s.connect() as c:
            c.send(request_bytes("ListTables", {})[:-1])
            with s.connect() as other:
                other.send(request_bytes(method="GET"))
                other.read_answer()
            self.assertEqual(s.stop(), 0)
        self.assertIn("still under way after 200 ms", s.last_errors)

    def test_idle_connections_do_not_hold_it_up(self):
        s = Server("--memory").start()
        with s.connect() as c:
            c.send(request_bytes(method="GET"))
            c.read_answer()
            self.assertEqual(s.stop(), 0)
        self.assertEqual(s.last_errors, "")


def make_certificate(folder, name):
    key, cert = f"{folder}/{name}.key", f"{folder}/{name}.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out", cert, "-days",
                    "2", "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1"],
                   check=True, capture_output=True)
    return cert, key


class Tls(Case):
    args = None

    def subject(self, port, cert):
        """Handshake against one trusted certificate; the name it was given to."""
        context = ssl.create_default_context(cafile=cert)
        with socket.create_connection(("127.0.0.1", port), timeout=10) as raw:
            with context.wrap_socket(raw, server_hostname="127.0.0.1") as s:
                s.sendall(request_bytes(method="GET"))
                self.assertIn(b" 200 ", s.recv(4096))
                return dict(x[0] for x in s.getpeercert()["subject"])["commonName"]

    def test_https_and_a_certificate_that_is_replaced(self):
        cert, key = make_certificate(self.folder, "one")
        with Server("--memory", "--tls-cert", cert, "--tls-key", key) as s:
            self.assertTrue(s.url.startswith("https://127.0.0.1:"), s.url)
            self.assertEqual(self.subject(s.port, cert), "one")
            client = s.client(verify=cert)
            self.assertEqual(client.list_tables()["TableNames"], [])
            two, two_key = make_certificate(self.folder, "two")
            os.replace(two, cert)
            os.replace(two_key, key)
            s.signal(signal.SIGHUP)
            wait_for(lambda: "certificate read again" in s.stderr())
            self.assertEqual(self.subject(s.port, cert), "two")
            good = open(cert).read()
            self.write("one.pem", "nonsense")
            s.signal(signal.SIGHUP)
            wait_for(lambda: "what was read before stays in use" in s.stderr())
            self.write("good.pem", good)
            self.assertEqual(self.subject(s.port, self.path("good.pem")), "two")

    def test_a_missing_certificate_is_named(self):
        answer = run("serve", "--memory", "--port", "0", "--tls-cert", "/nonexistent.pem",
                     "--tls-key", "/nonexistent.key")
        self.assertEqual(answer.returncode, 1)
        self.assertIn("/nonexistent.pem", answer.stderr)


def refuses(server):
    """Whether it takes no connections any more: it has begun to end."""
    try:
        server.connect().close()
        return False
    except ConnectionError:
        return True


def wait_for(condition):
    end = time.monotonic() + harness.TIMEOUT
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("it did not happen")
        time.sleep(0.01)


def sign_get(url, key, secret):
    """The headers of a signed GET."""
    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials
    request = AWSRequest("GET", url, headers={"Host": url.split("/")[2]})
    SigV4Auth(Credentials(key, secret), "dynamodb", "us-east-1").add_auth(request)
    return dict(request.headers)


class Keys(Case):
    args = None
    KEYS = "[AKIDONE]\nsecret = first-secret-of-the-tests\n"

    def test_hup_reads_the_keys_again_and_keeps_the_old_when_it_cannot(self):
        from botocore.exceptions import ClientError
        keys = self.write("keys.ini", self.KEYS)
        with Server("--memory", "--auth", keys) as s:
            self.assertIn("authentication on", s.output[0])
            one = s.client(key="AKIDONE", secret="first-secret-of-the-tests")
            two = s.client(key="AKIDTWO", secret="second-secret-of-the-tests")
            self.assertEqual(one.list_tables()["TableNames"], [])
            with self.assertRaises(ClientError) as e:
                two.list_tables()
            self.assertEqual(e.exception.response["Error"]["Code"], "UnrecognizedClientException")
            self.write("keys.ini", self.KEYS + "[AKIDTWO]\nsecret = second-secret-of-the-tests\n")
            s.signal(signal.SIGHUP)
            wait_for(lambda: "credentials read again" in s.stderr())
            self.assertEqual(two.list_tables()["TableNames"], [])
            os.chmod(keys, 0o644)
            s.signal(signal.SIGHUP)
            wait_for(lambda: "what was read before stays in use" in s.stderr())
            self.assertEqual(two.list_tables()["TableNames"], [])
            self.assertNotIn("secret-of-the-tests", s.stderr())

    RIGHTS = (KEYS + "[AKIDORDERS]\nsecret = orders-secret\ntables = orders, order-*\n"
              "[AKIDREADS]\nsecret = reads-secret\naccess = read-only\n"
              "[AKIDADMIN]\nsecret = admin-secret\nadmin = yes\n")

    def test_keys_are_held_to_their_tables_and_to_reading(self):
        from botocore.exceptions import ClientError
        keys = self.write("keys.ini", self.RIGHTS)

        def denied(call, **arguments):
            with self.assertRaises(ClientError) as e:
                call(**arguments)
            self.assertEqual(e.exception.response["Error"]["Code"], "AccessDeniedException")
            self.assertEqual(e.exception.response["ResponseMetadata"]["HTTPStatusCode"], 400)

        with Server("--memory", "--auth", keys) as s:
            one = s.client(key="AKIDONE", secret="first-secret-of-the-tests")
            orders = s.client(key="AKIDORDERS", secret="orders-secret")
            reads = s.client(key="AKIDREADS", secret="reads-secret")
            for name in ("orders", "order-lines", "people"):
                one.create_table(TableName=name, BillingMode="PAY_PER_REQUEST",
                                 KeySchema=[{"AttributeName": "a", "KeyType": "HASH"}],
                                 AttributeDefinitions=[{"AttributeName": "a",
                                                        "AttributeType": "S"}])
            item = {"a": {"S": "x"}}
            orders.put_item(TableName="orders", Item=item)
            orders.put_item(TableName="order-lines", Item=item)
            denied(orders.put_item, TableName="people", Item=item)
            denied(orders.put_item, Item=item,
                   TableName="arn:aws:dynamodb:us-east-1:000000000000:table/people")
            denied(orders.get_item, TableName="people", Key=item)
            denied(orders.batch_write_item, RequestItems={
                "orders": [{"PutRequest": {"Item": {"a": {"S": "y"}}}}],
                "people": [{"PutRequest": {"Item": item}}]})
            denied(orders.transact_write_items, TransactItems=[
                {"Put": {"TableName": "people", "Item": item}}])
            self.assertNotIn("Item", one.get_item(TableName="people", Key=item))
            self.assertNotIn("Item", one.get_item(TableName="orders", Key={"a": {"S": "y"}}))
            self.assertIn("Item", reads.get_item(TableName="orders", Key=item))
            denied(reads.put_item, TableName="orders", Item=item)
            denied(reads.delete_table, TableName="orders")

    def test_metrics_from_elsewhere_take_an_admins_signature(self):
        import test_metrics
        address = test_metrics.own_address()
        if not address:
            self.skipTest("this machine has no address but loopback")
        keys = self.write("keys.ini", self.RIGHTS)
        with Server("--memory", "--auth", keys, "--host", "0.0.0.0") as s:
            for key, secret, status in [("AKIDADMIN", "admin-secret", 200),
                                        ("AKIDADMIN", "wrong", 404),
                                        ("AKIDONE", "first-secret-of-the-tests", 404)]:
                head = sign_get(f"http://{address}:{s.port}/metrics", key, secret)
                with harness.Connection((address, s.port)) as c:
                    c.send(request_bytes(method="GET", path="/metrics", headers=head))
                    self.assertEqual(c.read_answer().status, status, key)

    def test_without_a_signature_nothing_is_done(self):
        keys = self.write("keys.ini", self.KEYS)
        with Server("--memory", "--auth", keys) as s:
            answer = s.post("ListTables", {})
            self.assertEqual(answer.status, 400)
            self.assertEqual(answer.json["__type"],
                             "com.amazon.coral.service#MissingAuthenticationTokenException")
            self.assertEqual(s.get("/").status, 200)


class AccessLog(Case):
    args = None

    def lines(self, path):
        with open(path) as f:
            return [json.loads(line) for line in f]

    def test_a_line_for_every_request_without_secrets(self):
        log = self.path("access.log")
        with Server("--memory", "--access-log", log) as s:
            client = s.client(key="AKIDLOG", secret="not-for-the-log")
            s.create_table()
            client.put_item(TableName="things", Item={"PK": {"S": "secret-value"}, "SK": {"S": "1"}})
            s.post("GetItem", {"TableName": "nosuch", "Key": {"PK": {"S": "a"}}})
            s.get("/")
            s.get("/no\"where?X-Amz-Signature=abc")
            s.post("ListBackups", {})
        lines = self.lines(log)
        self.assertEqual([l.get("operation") for l in lines],
                         ["CreateTable", "PutItem", "GetItem", None, None, None])
        self.assertEqual([(l.get("method"), l.get("path")) for l in lines], [(None, None)] * 3 + [
            ("GET", "/"), ("GET", "/no\"where"), ("POST", "/")])
        put, get = lines[1:3]
        self.assertEqual((put["key"], put["table"], put["status"]), ("AKIDLOG", "things", 200))
        self.assertEqual((get["exception"], get["status"]), ("ResourceNotFoundException", 400))
        self.assertRegex(put["request_id"], "^[0-9A-V]{52}$")
        self.assertRegex(put["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$")
        self.assertGreater(put["bytes_in"], 10)
        self.assertRegex(put["peer"], r"^127\.0\.0\.1:\d+$")
        with open(log) as f:
            text = f.read()
        self.assertNotIn("not-for-the-log", text)
        self.assertNotIn("secret-value", text)
        self.assertNotIn("Signature", text)

    def test_hup_reopens_it(self):
        log = self.path("access.log")
        with Server("--memory", "--access-log", log) as s:
            s.get("/")
            wait_for(lambda: len(self.lines(log)) == 1)
            os.rename(log, log + ".1")
            s.signal(signal.SIGHUP)
            wait_for(lambda: "access log read again" in s.stderr())
            s.get("/")
        self.assertEqual(len(self.lines(log)), 1)

    def test_dash_is_standard_output(self):
        s = Server("--memory", "--access-log", "-").start()
        s.get("/")
        self.assertEqual(s.stop(), 0)
        self.assertEqual(json.loads(s.last_output)["status"], 200)


if __name__ == "__main__":
    harness.main()
