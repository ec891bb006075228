"""rival: what every comparison uses: the inputs, servers, clocks, and the figures it hands back.

A rival's script is run by compare.py as

    on_duckdb.py --installed DIR --place DIR --inputs DIR --out figures.json

and gives back figures by the names of compare.MEASURES, a note on each where it needs one, and the
exact sum of all amounts times rates, which must be daybook's to the digit. The inputs:

    clicks.csv, rates.csv   what there is to take
    report.csv              what resellers earn, as daybook reports it, for who does not compute it
    daybook, store          the program, and its directory of these clicks
    ask                     what asks daybook again and again (bench/ask.c)
"""

import argparse
import atexit
import functools
import itertools
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import cql_month  # noqa: E402
import harness  # noqa: E402

MONTHS = 1000
RATE_CHANGES = 50
ROUNDS = 25
STARTS = 5  # of those that take some ms: one that meets a pause of the machine says nothing
RATE_CHANGE_DAY = "2026-08-02"


def seconds(call, *arguments):
    started = time.perf_counter()
    call(*arguments)
    return time.perf_counter() - started


def in_turn(*measures):
    """The median of each figure that each of them measures, by the number of the round.

    What takes a tenth of a second can meet a pause of the machine, so there are several rounds; and
    they take turns, as the machine has its moods, and who begins changes.
    """
    rounds = [[] for _ in measures]
    for number in range(ROUNDS):
        order = range(len(measures))
        for i in reversed(order) if number % 2 else order:
            rounds[i].append(measures[i](number))
    return [tuple(map(statistics.median, zip(*figures))) for figures in rounds]


def random_resellers(number, count):
    draw = random.Random(number)
    return [f"reseller-{draw.randrange(1000):04}" for _ in range(count)]


def month_round(question, number):
    """The p50 and the p99 of a thousand months; some before these are not counted."""
    names = random_resellers(number, MONTHS + 10)
    for name in names[MONTHS:]:
        question(name)
    times = sorted(seconds(question, name) * 1e6 for name in names[:MONTHS])
    return times[MONTHS // 2], times[MONTHS * 99 // 100]


def month_us(*questions):
    """p50 and p99 of each question about one reseller's month, one at a time over what is open."""
    return in_turn(*(functools.partial(month_round, question) for question in questions))


def rate_round(change, number):
    """The median of some changes, each of a random reseller, to a rate that it never had."""
    return statistics.median(
        seconds(change, name, f"{number}.{i:02}") * 1e3
        for i, name in enumerate(random_resellers(number, RATE_CHANGES))),


class Rival:
    def __init__(self, name):
        words = argparse.ArgumentParser(description=name)
        for word in ("installed", "place", "inputs", "out"):
            words.add_argument(f"--{word}", type=pathlib.Path, required=True)
        given = words.parse_args()
        os.sync()  # what the one before wrote is not this one's to wait for
        self.name = name
        self.installed = given.installed
        self.place = given.place
        self.inputs = given.inputs
        self.csv = given.inputs / "clicks.csv"
        self.rates = given.inputs / "rates.csv"
        self.report = given.inputs / "report.csv"
        self.out = given.out
        # `beside`: daybook's own figures, measured in turn with these.
        self.found = {"name": name, "version": "", "figures": {}, "beside": {}, "notes": {},
                      "income": None, "is_whole": False}
        self.servers = []
        atexit.register(self.end)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
        with self.csv.open("rb") as file:
            self.clicks = sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))

    # -- figures --

    def figure(self, name, value, note=""):
        self.found["figures"][name] = value
        self.found["notes"][name] = note
        print(name, value, note, flush=True)

    def version(self, text):
        self.found["version"] = str(text)

    def income(self, value):
        """The sum of all amounts times their rates, as the rival's exact type prints it."""
        self.found["income"] = str(value)

    def finish(self):
        self.found["is_whole"] = True

    # -- clocks --

    seconds = staticmethod(seconds)

    def median_ms(self, call, runs=3):
        return statistics.median(seconds(call) for _ in range(runs)) * 1e3

    def months(self, question, note):
        """Asked in turn with daybook, of which nothing else runs beside a rival."""
        server = harness.Server(self.inputs / "store", "--cql", "127.0.0.1:0",
                                program=self.inputs / "daybook")
        self.servers.append(server.process)
        month = cql_month.CqlMonth(server.port("cql"))
        theirs, ours = month_us(question, month.ask)
        month.close()
        self.stop(server.process)
        for at, name in enumerate(("month_p50_us", "month_p99_us")):
            self.figure(name, theirs[at], note)
            self.found["beside"][name] = ours[at]

    def starts(self, start_s, note):
        """On an empty directory, in turn with daybook; `start_s` stops it again."""
        def own_round(_):
            server = harness.Server(self.fresh("daybook"), "--cql", "127.0.0.1:0",
                                    program=self.inputs / "daybook")
            self.servers.append(server.process)
            server.stop()
            return server.start_s * 1e3,

        (theirs,), (ours,) = in_turn(lambda _: (start_s() * 1e3,), own_round)
        self.figure("start_ms", theirs, note)
        self.found["beside"]["start_ms"] = ours

    def rate_changes(self, change, note):
        """Made in turn with daybook, which has a copy of the store for it."""
        store = self.place / "daybook"
        shutil.copytree(self.inputs / "store", store)
        server = harness.Server(store, program=self.inputs / "daybook")
        self.servers.append(server.process)

        def own_round(number):
            done = subprocess.run(
                [self.inputs / "ask", "--rate", "0", "--count", str(RATE_CHANGES), "--resellers",
                 "1000", "--seed", str(number + 1), store, "rate", "set", "%R", RATE_CHANGE_DAY,
                 "%P"], capture_output=True, text=True, check=True)
            return harness.figures(done.stdout)["p50_us"] / 1e3,

        (theirs,), (ours,) = in_turn(functools.partial(rate_round, change), own_round)
        self.stop(server.process)
        self.figure("rate_ms", theirs, note)
        self.found["beside"]["rate_ms"] = ours

    # -- clicks --

    def batches(self, size, clicks, path=None):
        """The first lines of the clicks in pieces of `size` lines."""
        with (path or self.csv).open("rb") as file:
            for _ in range(min(clicks, self.clicks) // size):
                yield b"".join(itertools.islice(file, size))

    def waiting(self, name, size, clicks, send, note, path=None):
        """Clicks a second when each batch is waited for."""
        sent = 0
        started = time.perf_counter()
        for batch in self.batches(size, clicks, path):
            send(batch)
            sent += size
        self.figure(name, sent / (time.perf_counter() - started), note)

    # -- servers --

    def serve(self, port, command, **options):
        """Start a server and wait for its port; returns the process and the seconds it took."""
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                raise SystemExit(f"port {port} is taken")
        started = time.perf_counter()
        with (self.place / "server.log").open("ab") as log:
            server = subprocess.Popen([str(word) for word in command], stdout=log, stderr=log,
                                      **options)
        self.servers.append(server)
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return server, time.perf_counter() - started
            except OSError:
                if server.poll() is not None:
                    raise SystemExit(f"{command[0]} ended: {self.place / 'server.log'}") from None
                time.sleep(0.002)

    def stop(self, server, sign=signal.SIGTERM):
        if server.poll() is None:
            server.send_signal(sign)
            try:
                server.wait(120)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()

    def end(self):
        """However the script ends: what was found until then counts."""
        self.out.write_text(json.dumps(self.found))
        for server in self.servers:
            self.stop(server)

    def memory_mib(self, pid):
        """Proportional set of a process and its children: shared pages count once."""
        total = 0.0
        waiting = [int(pid)]
        while waiting:
            one = pathlib.Path(f"/proc/{waiting.pop()}")
            try:
                lines = (one / "smaps_rollup").read_text().splitlines()
                children = [(task / "children").read_text() for task in (one / "task").iterdir()]
            except OSError:
                continue
            total += sum(int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:"))
            waiting += [int(child) for text in children for child in text.split()]
        return total

    def bytes_in(self, path):
        """Of all files below a path, or of the file."""
        path = pathlib.Path(path)
        files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
        return sum(file.stat().st_size for file in files)

    def fresh(self, name):
        path = self.place / name
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        return path
