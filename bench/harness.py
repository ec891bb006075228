"""harness: what every part of `make bench` uses: a server, the measuring programs, tables.

A part measures and gives back a Section: tables, and the promises it can speak for.
"""

import contextlib
import dataclasses
import os
import pathlib
import platform
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "e2e"))
import daybook  # noqa: E402 (the server and its commands, as the tests have them)

# A measurement may take long; a test may not.
daybook.PATIENCE = 3600


# ---- what a part gives back ----


class Table:
    """Rows under a header, as Markdown; each row is shown on standard error as it is measured."""

    def __init__(self, *header):
        self.lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
        note(self.lines[0])

    def row(self, *cells):
        self.lines.append("| " + " | ".join(map(str, cells)) + " |")
        note(self.lines[-1])


@dataclasses.dataclass
class Section:
    """What a part found out: paragraphs and tables in order, then promises."""

    pieces: list = dataclasses.field(default_factory=list)
    promises: list = dataclasses.field(default_factory=list)

    def say(self, text):
        self.pieces.append([text])
        note(text)

    def table(self, *header):
        table = Table(*header)
        self.pieces.append(table.lines)
        return table

    def promise(self, what, value, promise, stretch, unit, more_is_better=True):
        """One line of the promises: `value` against what was promised and the stretch."""
        better = (lambda a, b: a >= b) if more_is_better else (lambda a, b: a <= b)
        if better(value, stretch):
            verdict = "stretch reached"
        elif better(value, promise):
            verdict = "promise reached"
        else:
            factor = promise / value if more_is_better else value / promise
            verdict = f"missed by a factor of {factor:.2f}"
        self.promises.append(
            f"| {what} | {figure(value)} {unit} | {figure(promise)} | {figure(stretch)} "
            f"| {verdict} |")
        note(self.promises[-1])

    def text(self):
        pieces = list(self.pieces)
        if self.promises:
            pieces.append(["| promise | measured | promise | stretch | |", "|---|---|---|---|---|",
                           *self.promises])
        return "\n\n".join("\n".join(lines) for lines in pieces)


def note(text):
    print(text, file=sys.stderr, flush=True)


def figure(value):
    """Three digits that count: 2.64 M, 531 k, 4.51."""
    for limit, divisor, suffix in ((1e9, 1e9, " G"), (1e6, 1e6, " M"), (1e4, 1e3, " k")):
        if value >= limit:
            return f"{digits(value / divisor)}{suffix}"
    return digits(value)


def digits(value):
    if value >= 100 or value == int(value):
        return f"{value:.0f}"
    return f"{value:.3g}"


def count(clicks):
    """1 M, 100 M, 200 k."""
    for divisor, suffix in ((10**6, " M"), (10**3, " k")):
        if clicks >= divisor:
            return f"{clicks / divisor:g}{suffix}"
    return str(clicks)


# ---- the machine ----

TAKEN_MAX = 1       # per cent: above, a p99 tells of the hypervisor


def machine():
    info = pathlib.Path("/proc/cpuinfo").read_text()
    models = [line.split(":")[1].strip() for line in info.splitlines()
              if line.startswith("model name")]
    memory = int(pathlib.Path("/proc/meminfo").read_text().split()[1]) / 2**20
    return (f"{os.cpu_count()} cores of {models[0] if models else platform.machine()}, "
            f"{memory:.0f} GiB, Linux {platform.release()}")


def commit():
    """The commit that was built, and whether more was; what is written here does not count."""
    def git(*words):
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, check=False,
                              text=True)

    name = git("rev-parse", "--short=9", "HEAD").stdout.strip() or "unknown"
    changed = git("diff", "--quiet", "HEAD", "--", ".", ":!bench/results.md").returncode != 0
    return f"{name} and changes" if changed else name


class Conditions:
    """What else the machine did, from now on: whose time it was beside, and whose it went to."""

    def __init__(self):
        self.load = pathlib.Path("/proc/loadavg").read_text().split()[0]
        self.before = self._ticks()

    @staticmethod
    def _ticks():
        """What the hypervisor gave to others of all processors' time since the start, and all."""
        with open("/proc/stat", encoding="ascii") as stat:
            fields = [int(field) for field in stat.readline().split()[1:9]]
        return fields[7], sum(fields)

    def taken(self):
        """Per cent of the processors' time that the hypervisor has taken."""
        taken, ticks = (after - before for before, after in zip(self.before, self._ticks()))
        return 100 * taken / max(ticks, 1)

    def text(self):
        return (f"load average before: {self.load}, taken by the hypervisor: "
                f"{self.taken():.1f} % of the processors' time")


# ---- programs ----


def figures(text):
    """The lines of a measuring program: a name, and its figure."""
    return {line.split()[0]: float(line.split()[1]) for line in text.splitlines()
            if len(line.split()) == 2}


def bytes_on_disk(directory):
    """All files but the log's, which are allocated ahead and used again."""
    return sum(file.stat().st_size for file in pathlib.Path(directory).rglob("*")
               if file.is_file() and file.parent.name != "log")


class Server(daybook.Server):
    """A server that knows how long it took to open every door."""

    def _wait_ready(self):
        address = super()._wait_ready()
        self.start_s = time.monotonic() - self.started
        return address

    def cpu_s(self):
        """The processors' time that it has used."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2]
        return sum(map(int, fields.split()[11:13])) / os.sysconf("SC_CLK_TCK")


class Bench:
    """The programs to measure with, copied so that a build meanwhile changes nothing, and a place
    for data that is gone at the end."""

    def __init__(self, built, place, base_clicks, runs):
        self.place = pathlib.Path(tempfile.mkdtemp(prefix="bench-data.", dir=place)).resolve()
        self.clicks = base_clicks
        self.runs = runs
        for name in ("daybook", "bench/send_clicks", "bench/generate_clicks", "bench/apply",
                     "bench/ask", "bench/rescan", "bench/columns", "bench/rows", "bench/viewers"):
            shutil.copy(built / name, self.place)

    def close(self):
        shutil.rmtree(self.place, ignore_errors=True)

    def run(self, program, *words):
        done = subprocess.run([self.place / program, *map(str, words)], capture_output=True,
                              text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{program} {' '.join(map(str, words))}: {done.stderr}")
        return done.stdout

    def figures(self, program, *words):
        return figures(self.run(program, *words))

    def strip(self, target):
        """A copy of the program as packages ship it: without symbols."""
        subprocess.run(["strip", "-o", target, self.place / "daybook"], check=True)

    def enough_disk(self, clicks, bytes_per_click=40):
        """Whether the disk holds a run of so many clicks: log, segments, and their merge."""
        free = shutil.disk_usage(self.place).free
        if free < clicks * bytes_per_click + 2**31:
            note(f"left out {count(clicks)} clicks: {free >> 20} MiB are free")
            return False
        return True

    # -- directories and servers --

    @contextlib.contextmanager
    def directory(self):
        """A new directory, gone afterwards."""
        path = pathlib.Path(tempfile.mkdtemp(prefix="data.", dir=self.place))
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)

    @contextlib.contextmanager
    def serve(self, directory, *options):
        """A server; killed at the end when it still runs."""
        server = Server(directory, *options, program=self.place / "daybook")
        try:
            yield server
        finally:
            if server.process.poll() is None:
                server.kill()

    def start_ms(self, directory=None, *options):
        """Until every door is open, on a new directory if none is given; then it is stopped."""
        with contextlib.ExitStack() as stack:
            directory = directory or stack.enter_context(self.directory())
            server = stack.enter_context(self.serve(directory, *options))
            server.stop()
            return server.start_s * 1e3

    def command(self, server, *words):
        """Run a command; returns its output and the seconds it took."""
        started = time.monotonic()
        done = subprocess.run([self.place / "daybook", words[0], "-d", server.directory,
                               *map(str, words[1:])], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{words}: {done.stderr}")
        return done.stdout, time.monotonic() - started

    # -- clicks --

    def send(self, server, clicks, *options):
        return self.figures("send_clicks", "-n", clicks, *options, address(server))

    def send_beside(self, server, clicks, *options):
        """The same, going on while the caller measures; wait for it with `sent`.  Clicks are made
        first, which takes seconds: it has begun to send when this returns."""
        sender = subprocess.Popen([self.place / "send_clicks", "-n", str(clicks),
                                   *map(str, options), address(server)], stdout=subprocess.PIPE,
                                  text=True)
        sender.stdout.readline()
        return sender

    def sent(self, sender):
        text, _ = sender.communicate()
        if sender.returncode != 0:
            raise RuntimeError(f"{sender.args[0]} failed")
        return figures(text)

    def watch(self, server, *options):
        """Viewers of what happens now, who have their places when this returns."""
        viewers = subprocess.Popen([self.place / "viewers", *map(str, options),
                                    f"127.0.0.1:{server.port('http')}", address(server)],
                                   stdout=subprocess.PIPE, text=True)
        if viewers.stdout.readline() != "ready\n":
            raise RuntimeError("viewers failed")
        return viewers

    def watched(self, viewers):
        """What they found; wait for it after SIGUSR1 began their measuring."""
        viewers.send_signal(signal.SIGTERM)
        return self.sent(viewers)

    def ask(self, server, rate, questions, *words, resellers=1000, options=()):
        return self.figures("ask", "--rate", rate, "--count", questions, "--resellers", resellers,
                            *options, server.directory, *words)

    def rates(self, resellers):
        """A file with a rate for every reseller from before the first click on."""
        path = self.place / f"rates-{resellers}.csv"
        width = 4 if resellers <= 10000 else 6
        with path.open("w") as file:
            file.write("reseller_id,effective_since,reward_percent\n")
            for i in range(resellers):
                file.write(f"reseller-{i:0{width}},2026-07-01,{5 + i % 25}.25%\n")
        return path


def stop_cleanly():
    """Let SIGTERM end the program as an exception does: servers killed, data removed."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))


def address(server):
    return "{}:{}".format(*server.address)


def middle(found, key):
    """The run that is in the middle by `key`."""
    return sorted(found, key=key)[(len(found) - 1) // 2]


def median_run(runs, measure, key):
    """Measure so often; the middle one."""
    return middle([measure() for _ in range(runs)], key)


def calm_runs(runs, measure):
    """Measure so often, and instead of a run that the hypervisor took more than TAKEN_MAX of once
    more, up to three times as often in all: the runs that it took least of, whatever they found."""
    found = []
    while len(found) < 3 * runs and sum(run["taken"] <= TAKEN_MAX for run in found) < runs:
        conditions = Conditions()
        run = measure()
        found.append(run | {"taken": conditions.taken()})
    return sorted(found, key=lambda run: run["taken"])[:runs]


def median(values):
    return statistics.median(values)
