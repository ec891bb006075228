"""hostile: a small server, one honest client, and requests that want all of its memory or time.

What must hold, whatever is sent: the honest client never waits for WAIT_MAX_S, every request is
answered, in twice the time that a statement may take, and the server takes at most what it was
given and a little. DAYBOOK names another program, as tests/e2e/daybook.py says.
"""

import contextlib
import os
import pathlib
import struct
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import cql  # noqa: E402
import daybook  # noqa: E402

MEMORY_MB = 256
OVER_MB = 64
STATEMENT_S = 10
ADDRESSES = 4 << 30             # of the process: a fuse, since heaps reserve more than they take
IS_SANITIZED = "asan" in daybook.PROGRAM
WAIT_MAX_S = 10 if IS_SANITIZED else 2
VERBOSE = "VERBOSE" in os.environ
ERROR, RESULT = 0, 8

KEYSPACE = ("CREATE KEYSPACE {} WITH replication = "
            "{{'class': 'SimpleStrategy', 'replication_factor': 1}}")
SCHEMA = [
    KEYSPACE.format("honest"),
    "CREATE TABLE honest.rows (k int PRIMARY KEY, v int)",
    "INSERT INTO honest.rows (k, v) VALUES (1, 1)",
    KEYSPACE.format("h"),
    "CREATE TABLE h.big (p int, c int, v text, PRIMARY KEY (p, c))",
]


def value(data):
    """A bound value: bytes, text, an int, or None for a null."""
    if data is None:
        return struct.pack(">i", -1)
    if isinstance(data, int):
        data = struct.pack(">i", data)
    data = data.encode() if isinstance(data, str) else data
    return struct.pack(">i", len(data)) + data


def values_of(values):
    """The flags and values of a request's end."""
    if not values:
        return struct.pack(">B", 0)
    if isinstance(values, dict):
        return struct.pack(">BH", 0x41, len(values)) + b"".join(
            cql.string(name) + value(data) for name, data in values.items())
    return struct.pack(">BH", 1, len(values)) + b"".join(map(value, values))


def query_body(text, values=()):
    text = text.encode()
    return struct.pack(">i", len(text)) + text + struct.pack(">H", 1) + values_of(values)


def batch_body(texts):
    """The protocol's BATCH of statements without values."""
    return struct.pack(">BH", 1, len(texts)) + b"".join(
        struct.pack(">Bi", 0, len(text)) + text + struct.pack(">H", 0) for text in texts) + \
        struct.pack(">HB", 1, 0)


class Refused(Exception):
    def __init__(self, code, text):
        super().__init__(f"{code:#06x} {text}")
        self.code = code


def result_of(answer):
    if answer is None:
        raise ConnectionError("the server hung up")
    _, _, opcode, body = answer
    if opcode == ERROR:
        code, size = struct.unpack_from(">iH", body)
        raise Refused(code, body[6:6 + size].decode(errors="replace"))
    return body


class Client(cql.Raw):
    """A connection on which requests may be as large as they like."""

    def __init__(self, server):
        super().__init__(server)
        self.startup()

    def start(self, text, values=(), stream=0):
        self.send(7, query_body(text, values), stream)

    def run(self, text, values=()):
        """The answer's body; Refused for an error."""
        self.start(text, values)
        return result_of(self.receive())


class Honest:
    """tests/hostile/honest.py beside what the test does."""

    def __init__(self, server):
        self.process = subprocess.Popen(
            [sys.executable, pathlib.Path(__file__).with_name("honest.py"), str(cql.port(server))],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "ready\n"

    def waits_ms(self):
        """What each read took, slowest first."""
        out, _ = self.process.communicate("end\n", timeout=daybook.PATIENCE)
        assert self.process.returncode == 0, "the honest client was not served"
        return [float(word) for word in out.split()]


def wrapper():
    return () if IS_SANITIZED else ("prlimit", f"--as={ADDRESSES}")


def options(statement_s):
    return ["--memory", f"{MEMORY_MB}M", "--cql", "127.0.0.1:0", "--statement-time",
            f"{statement_s}s"]


def start(directory, statement_s=STATEMENT_S):
    server = daybook.Server(directory, *options(statement_s), wrapper=wrapper())
    client = Client(server)
    for text in SCHEMA:
        client.run(text)
    client.close()
    return server


def fill(server, rows=20_000, batch=500):
    """Rows of h.big in one partition."""
    client = Client(server)
    for first in range(0, rows, batch):
        client.run("BEGIN UNLOGGED BATCH " + " ".join(
            f"INSERT INTO h.big (p, c, v) VALUES (1, {c}, 'row {c}');"
            for c in range(first, first + batch)) + " APPLY BATCH")
    client.close()


def check_memory(server):
    if not IS_SANITIZED:
        peak_kb = server.memory_kb()
        assert peak_kb <= (MEMORY_MB + OVER_MB) << 10, f"{peak_kb >> 10} MiB were resident"


@contextlib.contextmanager
def watched(server, name, more=str):
    """What is done within must leave the honest client served and the server alive and small.

    `more` says at the end what a finding should name beside."""
    honest = Honest(server)
    began = time.monotonic()
    yield
    took = time.monotonic() - began
    assert server.process.poll() is None, f"the server ended: {server.text()[-2000:]}"
    waits = honest.waits_ms()
    p99 = waits[len(waits) // 100]
    print(f"{name}: {took:.2f} s; honest client: {len(waits)} reads, p99 {p99:.0f} ms, "
          f"worst {waits[0]:.0f} ms; {server.memory_kb() >> 10} MiB at most")
    assert waits[0] < WAIT_MAX_S * 1000, f"the honest client waited {waits[0]:.0f} ms{more()}"
    check_memory(server)


def attempt(client, text, values=()):
    """The error's code, or 0, of a request that must be answered in time."""
    began = time.monotonic()
    try:
        client.run(text, values)
        code = 0
    except Refused as refused:
        code = refused.code
        if VERBOSE:
            print(f"  {text[:60]!r}: {str(refused)[:120]!r}")
    took = time.monotonic() - began
    assert took < 2 * STATEMENT_S, f"answered after {took:.1f} s"
    return code
