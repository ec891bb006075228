"""daybook: start the program, speak its text door, run its commands.

Nothing here knows what a right answer is; the tests do. DAYBOOK names another program than
./daybook, as make BUILD=asan test-e2e does.
"""

import collections
import csv
import gzip
import io
import os
import pathlib
import re
import signal
import socket
import subprocess
import tarfile
import threading
import time
import uuid

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.path.abspath(os.environ.get("DAYBOOK", ROOT / "daybook"))
DATA = ROOT / "tests" / "data"
IS_SANITIZED = any(f"/{flavour}-" in PROGRAM for flavour in ("asan", "tsan"))

# Seconds until a test gives up on something that must happen: not a measure of anything.
PATIENCE = 120

Answer = collections.namedtuple("Answer", "status out err")


def environment(is_traced=False):
    """The caller's environment without what would lead a command to another directory; the leak
    sanitizer cannot work where another process traces its own."""
    found = {name: value for name, value in os.environ.items() if name != "DAYBOOK_DIR"}
    if is_traced:
        found["ASAN_OPTIONS"] = found.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
    return found


def run(*words, stdin=b"", status=0, **options):
    """Run a command to its end; its exit status must be `status` (None: any)."""
    done = subprocess.run(
        [PROGRAM, *map(str, words)], input=stdin, capture_output=True, timeout=PATIENCE,
        env=environment(), check=False, **options)
    answer = Answer(done.returncode, done.stdout.decode(), done.stderr.decode())
    assert status is None or answer.status == status, (words, answer)
    return answer


def wait_until(condition, what):
    """Ask `condition` until it holds."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"never came: {what}"
        time.sleep(0.005)


def unpack(name, directory):
    """A directory of an earlier version, from tests/data."""
    with tarfile.open(DATA / name) as packed:
        # Debian 12's tarfile has no filters; later ones ask for one.
        packed.extraction_filter = getattr(tarfile, "data_filter", None)
        packed.extractall(directory)


def preloaded(tmp_path, name):
    """What a server is run by to have a file of tests/preload before the C library."""
    if "san" in os.path.basename(os.path.dirname(PROGRAM)):
        pytest.skip("a sanitizer wants to be first")
    library = tmp_path / f"{name}.so"
    subprocess.run([os.environ.get("CC", "gcc"), "-shared", "-fPIC", "-o", library,
                    ROOT / "tests" / "preload" / f"{name}.c"], check=True)
    return ["env", f"LD_PRELOAD={library}"]


class OverBound(AssertionError):
    """A count is over its bound."""


class Server:
    """`daybook serve` on a directory, with the text door on a free port and no other door."""

    def __init__(self, directory, *options, wrapper=(), program=None):
        command = [*wrapper, program or PROGRAM, "serve", "-d", str(directory), "--ingest",
                   "127.0.0.1:0", "--cql", "none", "--http", "none", *map(str, options)]
        self.directory = directory
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            env=environment("strace" in wrapper))
        self.errors = []
        self.changed = threading.Condition()
        self.reader = threading.Thread(target=self._read_errors, daemon=True)
        self.reader.start()
        self.address = self._wait_ready()

    def _read_errors(self):
        for line in self.process.stderr:
            with self.changed:
                self.errors.append(line.decode(errors="replace"))
                self.changed.notify_all()
        with self.changed:
            self.errors.append(None)
            self.changed.notify_all()

    def _wait_ready(self):
        with self.changed:
            self.changed.wait_for(
                lambda: self._ready() or None in self.errors, timeout=PATIENCE)
            ready = self._ready()
        assert ready, f"not ready: {self.text()}"
        host, port = ready.group(1).rsplit(":", 1)
        return host.strip("[]"), int(port)

    def _ready(self):
        for line in self.errors:
            if line and re.search(r"event\W+ready\b", line):
                return re.search(r"ingest\W+?([\d.]+:\d+|\[[\da-f:]+\]:\d+)", line)
        return None

    def wait_until_it_says(self, text):
        with self.changed:
            self.changed.wait_for(
                lambda: any(line is None or text in line for line in self.errors), PATIENCE)
        assert text in self.text(), self.text()

    def text(self):
        """All it has said on standard error."""
        with self.changed:
            return "".join(line for line in self.errors if line)

    def port(self, door):
        """The port of another door, out of the ready line."""
        return int(re.search(rf"{door}\W+[\d.]+:(\d+)", self.text()).group(1))

    def client(self):
        return Client(self.address)

    def run(self, command, *words, **options):
        return run(command, "-d", self.directory, *words, **options)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.wait()

    def stop(self):
        """Ask it to end, and wait until it has; returns its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.wait()

    def wait(self):
        status = self.process.wait(timeout=PATIENCE)
        self.reader.join(timeout=PATIENCE)
        self.process.stderr.close()
        return status

    def memory_kb(self, name="VmHWM"):
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(rf"{name}:\s+(\d+) kB", text).group(1))

    def cpu_s(self):
        """Processor time, the kernel's for it included."""
        text = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text()
        user, system = text.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


class Client:
    """One connection to the text door."""

    def __init__(self, address):
        self.socket = socket.create_connection(address, timeout=PATIENCE)
        self.received = b""

    def send(self, *pieces):
        for piece in pieces:
            self.socket.sendall(piece.encode() if isinstance(piece, str) else piece)
        return self

    def line(self):
        """The next answer, without its end; None when the server has hung up."""
        while b"\n" not in self.received:
            piece = self.socket.recv(65536)
            if not piece:
                assert not self.received, self.received
                return None
            self.received += piece
        line, self.received = self.received.split(b"\n", 1)
        return line.decode()

    def finish(self):
        """Half-close, as `nc -N` does at the end of its input."""
        self.socket.shutdown(socket.SHUT_WR)
        return self

    def rest(self):
        """All answers until the server hangs up."""
        lines = []
        while (line := self.line()) is not None:
            lines.append(line)
        self.close()
        return lines

    def close(self):
        self.socket.close()


class Producer:
    """A numbered sender: knows which of its batches are acknowledged, and sends others again.

    `batches` are lists of lines with their ends. One object outlives its connections.
    """

    def __init__(self, batches):
        self.id = str(uuid.uuid4())
        self.batches = batches
        self.acknowledged = 0
        self.client = None

    def is_done(self):
        return self.acknowledged == len(self.batches)

    def connect(self, address):
        self.client = Client(address)
        new = "" if self.acknowledged else " new"
        self.client.send(f"#producer {self.id} 1{new}\n")

    def send(self, number):
        lines = self.batches[number - 1]
        self.client.send(f"#batch {number} {len(lines)}\n" + "".join(lines))

    def answer(self):
        """The next `ok` as words, past its rejects."""
        while (line := self.client.line()) is not None:
            if not line.startswith(("reject ", "rejects ")):
                break
        assert line and line.startswith("ok "), line
        words = line.split()
        self.acknowledged = max(self.acknowledged, int(words[1]))
        return words

    def send_all(self, address, window=16):
        """Send what is not acknowledged, and wait until it is."""
        self.connect(address)
        sent = self.acknowledged
        while not self.is_done():
            while sent < len(self.batches) and sent - self.acknowledged < window:
                sent += 1
                self.send(sent)
            self.answer()
        self.client.close()


def batches_of(lines, size):
    return [lines[at:at + size] for at in range(0, len(lines), size)]


# ---- the inputs ----


class Input:
    """Clicks, rates and the report that must come out."""

    def __init__(self, name):
        self.name = name
        packed = DATA / f"{name}-clicks.csv.gz"
        plain = DATA / f"{name}-clicks.csv"
        self.bytes = gzip.decompress(packed.read_bytes()) if packed.exists() else plain.read_bytes()
        self.rates = DATA / f"{name}-rates.csv"
        self.expected = (DATA / f"{name}-expected.csv").read_text()
        self.header, *self.lines = self.bytes.decode().splitlines(keepends=True)
        self.good = [line for line in self.lines if line.split(",")[3]]
        self.rejected = len(self.lines) - len(self.good)

    def ok(self):
        return f"ok - accepted {len(self.good)} rejected {self.rejected}"

    def counts(self):
        """Clicks by the keys of each counter table."""
        fields = [line.split(",") for line in self.good]
        return {
            "clicks_per_ad": collections.Counter((f[3],) for f in fields),
            "clicks_per_reseller": collections.Counter((f[0],) for f in fields),
            "clicks_per_reseller_per_day": collections.Counter((f[0], f[1]) for f in fields),
        }


def rows(text):
    """A CSV answer as dictionaries."""
    return list(csv.DictReader(io.StringIO(text)))


def assert_holds(directory, wanted):
    """Report and counters of the directory are those of the input, and it proves itself."""
    report = run("report", "-d", directory, "--format", "csv").out
    assert report == wanted.expected, first_difference(report, wanted.expected)
    for table, counts in wanted.counts().items():
        text = run("counters", "-d", directory, table, "--format", "csv").out
        found = {tuple(list(row.values())[:-1]): int(row["clicks"]) for row in rows(text)}
        assert found == counts, table
    run("verify", "-d", directory)


def first_difference(found, wanted):
    for number, (one, other) in enumerate(zip(found.splitlines(), wanted.splitlines()), 1):
        if one != other:
            return f"line {number}: {one} instead of {other}"
    return f"{len(found.splitlines())} lines instead of {len(wanted.splitlines())}"
