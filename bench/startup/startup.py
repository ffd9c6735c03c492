#!/usr/bin/env python3
"""From exec to the first answer, and what an idle server weighs.

  bench/startup/startup.py [--binary build/serve/sheaf] [--runs 21] [--folder DIR]

For --memory and for an empty data directory: milliseconds from fork to the ready line and to the
first answered request (ListTables), the median, the best and the worst of the runs; resident memory after
that answer and a second of rest, with what of it is the executable's and libraries' files; the
size of the stripped executable. --folder says where the data directories are made: on a busy disk
most of the time is its syncs, in /dev/shm there are none.
"""
import argparse, os, shutil, socket, statistics, subprocess, tempfile, time

REQUEST = (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-amz-json-1.0\r\n"
           b"X-Amz-Target: DynamoDB_20120810.ListTables\r\nContent-Length: 2\r\n\r\n{}")


def memory_of(pid):
    """Resident KiB: all of it, and what is backed by files."""
    with open(f"/proc/{pid}/status") as f:
        fields = dict(line.split(":", 1) for line in f)
    return [int(fields[name].split()[0]) for name in ("VmRSS", "RssFile")]


def one(binary, flags, rest):
    """(ms to ready, ms to the answer, KiB, KiB of files)"""
    begin = time.monotonic()
    server = subprocess.Popen([binary, "serve", "--port", "0", *flags], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL)
    try:
        for line in server.stdout:
            if line.startswith(b"ready "):
                break
        ready = time.monotonic()
        port = int(line.rsplit(b":", 1)[1])
        with socket.create_connection(("127.0.0.1", port)) as s:
            s.sendall(REQUEST)
            answer = s.recv(4096)
        answered = time.monotonic()
        assert b" 200 OK" in answer and b'"TableNames"' in answer, answer
        time.sleep(rest)
        memory = memory_of(server.pid)
    finally:
        server.terminate()
        server.wait()
        server.stdout.close()
    return (ready - begin) * 1e3, (answered - begin) * 1e3, *memory


def measure(name, a, flags_of):
    rows = []
    for i in range(a.runs):
        folder = tempfile.mkdtemp(prefix="sheaf-startup-", dir=a.folder)
        try:
            rows.append(one(a.binary, flags_of(folder), 1.0 if i == a.runs - 1 else 0.0))
        finally:
            shutil.rmtree(folder)
    ready, answer = ([r[k] for r in rows] for k in (0, 1))
    print(f"{name:24}  ready {statistics.median(ready):5.1f} ms   first answer "
          f"{statistics.median(answer):5.1f} ms ({min(answer):.1f} to {max(answer):.1f})   resident "
          f"{rows[-1][2] / 1024:5.1f} MB, of that files {rows[-1][3] / 1024:5.1f} MB")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--binary", default="build/serve/sheaf")
    parser.add_argument("--runs", type=int, default=21)
    parser.add_argument("--folder")
    a = parser.parse_args()
    with tempfile.NamedTemporaryFile() as stripped:
        subprocess.run(["strip", "-o", stripped.name, a.binary], check=True)
        print(f"executable, stripped: {os.path.getsize(stripped.name) / 1e6:.1f} MB")
    measure("--memory", a, lambda folder: ["--memory"])
    measure("an empty data directory", a, lambda folder: ["--data", folder])


main()
