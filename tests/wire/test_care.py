"""verify, backup and restore, of a stopped and of a running server."""
import contextlib, os, shutil, socket, stat, threading, unittest
import harness
from harness import Case, Server, run

NOBODY = 65534


def fill(server, n=20):
    server.create_table(StreamSpecification={"StreamEnabled": True,
                                             "StreamViewType": "NEW_AND_OLD_IMAGES"})
    for i in range(n):
        assert server.put("p", f"{i:04}", n={"N": str(i)}).status == 200


def everything(top):
    return [top] + [os.path.join(d, name) for d, dirs, files in os.walk(top)
                    for name in dirs + files]


def give(top):
    for path in everything(top):
        os.chown(path, NOBODY, NOBODY)


class Care(Case):
    args = None

    def filled(self, n=20):
        with Server("--data", self.path("d")) as s:
            fill(s, n)
        return self.path("d")

    def test_verify_of_a_stopped_server_counts_what_it_found(self):
        answer = run("verify", self.filled())
        self.assertEqual(answer.returncode, 0, answer)
        self.assertEqual(answer.stdout, "tables 1, items 20, disagreements 0\n")

    def test_verify_of_a_running_server(self):
        with Server("--data", self.path("d")) as s:
            fill(s)
            answer = run("verify", self.path("d"))
            self.assertEqual(answer.returncode, 0, answer)
            self.assertEqual(answer.stdout, "tables 1, items 20, disagreements 0\n")
            self.assertEqual(s.put("p", "more").status, 200)

    def test_verify_finds_damage_and_fails(self):
        d = self.filled(2000)
        # The log is where a small database is: damage in its middle must not pass for its end.
        logs = [os.path.join(d, "db", f) for f in os.listdir(os.path.join(d, "db"))
                if f.endswith((".log", ".sst"))]
        largest = max(logs, key=os.path.getsize)
        with open(largest, "r+b") as f:
            f.seek(os.path.getsize(largest) // 2)
            f.write(b"\xa5" * 64)
        answer = run("verify", d)
        self.assertEqual(answer.returncode, 1, answer)
        self.assertTrue(answer.stderr.startswith("sheaf: "), answer)

    def test_verify_counts_what_it_cannot_read(self):
        d = self.filled(2000)
        self.assertEqual(run("verify", d).returncode, 0)  # opening turned the log into a table
        tables = [os.path.join(d, "db", f) for f in os.listdir(d + "/db") if f.endswith(".sst")]
        with open(max(tables, key=os.path.getsize), "r+b") as f:
            f.seek(os.path.getsize(f.name) // 3)
            f.write(b"\xa5" * 64)
        for running in (False, True):
            with Server("--data", d) if running else contextlib.nullcontext():
                answer = run("verify", d)
            self.assertEqual(answer.returncode, 1, answer)
            *complaints, last = answer.stdout.splitlines()
            self.assertEqual(len(complaints), 1, answer)
            self.assertIn("block checksum mismatch", complaints[0])
            self.assertRegex(last, "disagreements 1$")
            self.assertRegex(answer.stderr, "^sheaf: .*; keep the directory, and restore a backup")

    def test_backup_of_a_stopped_server_serves_the_same(self):
        d = self.filled()
        self.assertEqual(run("backup", d, self.path("copy")).returncode, 0)
        self.assertEqual(run("verify", self.path("copy")).returncode, 0)
        with Server("--data", self.path("copy")) as s:
            self.assertEqual(s.get_item("p", "0007")["n"], {"N": "7"})

    def test_backup_of_a_running_server_while_it_is_written(self):
        with Server("--data", self.path("d")) as s:
            fill(s)
            stop = threading.Event()

            def write():
                i = 0
                while not stop.is_set():
                    assert s.put("busy", f"{i:06}").status == 200
                    i += 1
            writer = threading.Thread(target=write)
            writer.start()
            try:
                answer = run("backup", "d", "copy", cwd=self.folder)
            finally:
                stop.set()
                writer.join()
            self.assertEqual(answer.returncode, 0, answer)
            self.assertEqual(answer.stdout, "backup of d (running) in copy\n")
            self.assertEqual(s.put("p", "after").status, 200)
        verified = run("verify", self.path("copy"))
        self.assertEqual(verified.returncode, 0, verified)
        with Server("--data", self.path("copy")) as s:
            self.assertIsNotNone(s.get_item("p", "0019"))
            self.assertIsNone(s.get_item("p", "after"))

    def test_backup_does_not_overwrite(self):
        d = self.filled(1)
        os.mkdir(self.path("there"))
        answer = run("backup", d, self.path("there"))
        self.assertEqual(answer.returncode, 1)
        self.assertIn("exists already", answer.stderr)
        with Server("--data", d):
            answer = run("backup", d, self.path("there"))
            self.assertEqual(answer.returncode, 1)
            self.assertIn("exists already", answer.stderr)

    def test_restore_makes_a_new_directory_that_serves(self):
        d = self.filled()
        run("backup", d, self.path("copy"))
        answer = run("restore", self.path("copy"), self.path("new"))
        self.assertEqual(answer.returncode, 0, answer)
        self.assertIn("items 20, disagreements 0", answer.stdout)
        self.assertFalse(os.path.exists(self.path("new.restoring")))
        with Server("--data", self.path("new")) as s:
            self.assertIsNotNone(s.get_item("p", "0000"))
            self.assertEqual(s.put("p", "new").status, 200)
        self.assertEqual(run("verify", self.path("copy")).returncode, 0)

    def test_restore_overwrites_nothing_and_takes_nothing_in_use(self):
        d = self.filled(1)
        os.mkdir(self.path("there"))
        answer = run("restore", d, self.path("there"))
        self.assertEqual(answer.returncode, 1)
        self.assertIn("nothing is overwritten", answer.stderr)
        with Server("--data", d):
            answer = run("restore", d, self.path("new"))
            self.assertEqual(answer.returncode, 1)
            self.assertIn("in use by a server", answer.stderr)
        self.assertFalse(os.path.exists(self.path("new")))

    def test_restore_of_a_damaged_backup_does_not_take_its_name(self):
        d = self.filled(2000)
        run("backup", d, self.path("copy"))
        files = [os.path.join(self.path("copy"), "db", f)
                 for f in os.listdir(os.path.join(self.path("copy"), "db"))
                 if f.startswith("MANIFEST")]
        with open(files[0], "r+b") as f:
            f.write(b"\xa5" * 64)
        answer = run("restore", self.path("copy"), self.path("new"))
        self.assertEqual(answer.returncode, 1, answer)
        self.assertFalse(os.path.exists(self.path("new")))

    def test_copy_into_the_original_is_refused(self):
        d = self.filled(1)
        os.symlink(d, self.path("link"))
        before = sorted(os.listdir(d))
        for place in (d + "/x", d + "/db/x/", d + "/new/x", self.path("link/x"),
                      self.path("missing/../d/../d/x"), d + "/db/../x"):
            for command in ("backup", "restore"):
                answer = run(command, d, place)
                self.assertEqual(answer.returncode, 1, answer)
                if "missing" not in place:  # that place does not exist: nothing is made either
                    self.assertEqual(answer.stderr, f"sheaf: {place} lies inside of {d}; a copy "
                                     "needs a place outside\n")
        self.assertEqual(run("backup", ".", "x", cwd=d).returncode, 1)
        self.assertEqual(run("restore", ".", "x", cwd=d).returncode, 1)
        self.assertEqual(sorted(os.listdir(d)), before)
        with Server("--data", d):
            self.assertIn("lies inside of", run("backup", self.path("link"), d + "/x").stderr)
            self.assertFalse(os.path.exists(d + "/x"))
        self.assertEqual(run("backup", d, d + "x").returncode, 0)

    def test_restore_that_was_interrupted_says_what_to_delete(self):
        d = self.filled(1)
        os.mkdir(self.path("new.restoring"))
        answer = run("restore", d, self.path("new"))
        self.assertEqual(answer.returncode, 1)
        self.assertEqual(answer.stderr, f"sheaf: {self.path('new.restoring')} is left of an earlier "
                         "restore; delete it first\n")

    def test_directory_in_use_by_a_program_without_a_socket_names_it(self):
        with Server("--data", self.path("d")) as s:
            os.unlink(self.path("d/admin.sock"))
            for args in (["verify", self.path("d")], ["backup", self.path("d"), self.path("c")]):
                answer = run(*args)
                self.assertEqual(answer.returncode, 1)
                self.assertIn(f"is in use by process {s.process.pid} ", answer.stderr)

    def test_what_is_no_data_directory_is_said_and_not_made(self):
        for args in (["verify", self.path("x")], ["backup", self.path("x"), self.path("y")],
                     ["restore", self.path("x"), self.path("y")]):
            answer = run(*args)
            self.assertEqual(answer.returncode, 1)
            self.assertIn("is no data directory", answer.stderr)
            self.assertEqual(os.listdir(self.folder), [])
        self.assertEqual(run("verify").returncode, 2)

    def as_nobody(self, *args):
        """run, as a user without rights; skips the test where that cannot be."""
        if os.geteuid() != 0:
            self.skipTest("only root can be somebody else")
        try:
            return run(*args, user=NOBODY, group=NOBODY, extra_groups=[])
        except PermissionError:
            self.skipTest("the executable lies where nobody else may run it")

    def test_directory_of_another_user_is_not_called_missing(self):
        d = self.filled(1)
        os.chmod(self.folder, 0o755)
        for running in (False, True):
            with Server("--data", d) if running else contextlib.nullcontext():
                for args in (["verify", d], ["backup", d, "/tmp/x"], ["restore", d, "/tmp/x"]):
                    answer = self.as_nobody(*args)
                    self.assertEqual(answer.returncode, 1, answer)
                    self.assertEqual(answer.stderr, f"sheaf: cannot look into {d}: Permission "
                                     "denied; run it as the user the directory belongs to\n")

    def test_root_leaves_a_directory_to_its_owner(self):
        if os.geteuid() != 0:
            self.skipTest("only root can become another user")
        d = self.filled(200)
        os.chmod(self.folder, 0o755)
        os.mkdir(self.path("copies"))
        give(self.path("copies"))
        give(d)
        old = os.umask(0)
        try:
            for args in (["verify", d], ["backup", d, self.path("copies/a")]):
                answer = run(*args)
                self.assertEqual(answer.returncode, 0, answer)
        finally:
            os.umask(old)
        for path in everything(d) + everything(self.path("copies/a")):
            st = os.lstat(path)
            self.assertEqual((st.st_uid, st.st_gid, st.st_mode & 0o077), (NOBODY, NOBODY, 0), path)
        self.assertEqual(self.as_nobody("verify", d).returncode, 0)
        os.mkdir(self.path("closed"), 0o700)
        answer = run("backup", d, self.path("closed/a"))
        self.assertEqual(answer.returncode, 1)
        self.assertIn("Permission denied", answer.stderr)

    def test_socket_is_for_the_owner_and_goes_with_the_server(self):
        path = self.path("d/admin.sock")
        with Server("--data", self.path("d")) as s:
            mode = os.stat(path).st_mode
            self.assertTrue(stat.S_ISSOCK(mode))
            self.assertEqual(mode & 0o077, 0)
            with harness.Connection(path) as c:
                c.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                self.assertEqual(c.read_answer().status, 404)
                c.send(b"POST /backup HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nx/y")
                self.assertEqual(c.read_answer().status, 400)
        self.assertFalse(os.path.exists(path))

    def test_socket_left_by_a_killed_server_is_replaced(self):
        s = Server("--data", self.path("d")).start()
        s.kill()
        self.assertTrue(os.path.exists(self.path("d/admin.sock")))
        self.assertEqual(run("verify", self.path("d")).returncode, 0)
        with Server("--data", self.path("d")):
            self.assertEqual(run("verify", self.path("d")).returncode, 0)

    def test_socket_works_in_a_directory_with_a_long_name(self):
        deep = os.path.join(self.folder, "x" * 100, "y" * 60)
        os.makedirs(os.path.dirname(deep))
        with Server("--data", deep) as s:
            s.create_table()
            answer = run("verify", deep)
            self.assertEqual(answer.returncode, 0, answer)
            self.assertEqual(answer.stdout, "tables 1, items 0, disagreements 0\n")


if __name__ == "__main__":
    harness.main()
