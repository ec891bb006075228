#!/usr/bin/env python3
"""make bench-cql: daybook and Cassandra 5 over CQL, asked by one client program in one run.

    make bench-cql               200,000 requests a figure
    make bench-cql N=50000       fewer

One after the other, on the same cores as the client; every write is on disk before it is answered
(Cassandra: commitlog_sync batch). What each request cost client and server of the processors is
measured too: where the client takes most of them, no server can be much faster.
"""

import argparse
import contextlib
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import cassandra_node  # noqa: E402
import harness  # noqa: E402
import parts  # noqa: E402
import results  # noqa: E402

WIDE_ROWS = 10**6
RUNS = 3  # of writes, of which the median counts: a disk has its moods
PROMISE, STRETCH = 5, 10

# name, what, unit, whether more is better
MEASURES = (
    ("insert_64/s", "single-row INSERT, 64 in flight", "/s", True),
    ("insert_256/s", "single-row INSERT, 256 in flight", "/s", True),
    ("counter_64/s", "counter update, 64 in flight", "/s", True),
    ("counter_256/s", "counter update, 256 in flight", "/s", True),
    ("insert_64_server_us", "processor time of the server for an INSERT, 64 in flight", " µs",
     False),
    ("insert_256_server_us", "the same, 256 in flight", " µs", False),
    ("counter_64_server_us", "processor time of the server for a counter update, 64 in flight",
     " µs", False),
    ("counter_256_server_us", "the same, 256 in flight", " µs", False),
    ("point/s", "a row by its key, 64 in flight", "/s", True),
    ("point_p50_us", "a row by its key, one at a time, p50", " µs", False),
    ("point_p99_us", "the same, p99", " µs", False),
    ("mixed_p50_us", "the same while INSERTs go on, 64 in flight, p50", " µs", False),
    ("mixed_p99_us", "the same, p99", " µs", False),
    ("fill/s", "rows in unlogged batches of 100 of one partition, 16 in flight", "/s", True),
    ("wide_ms", "sum and count of a partition of a million rows", " ms", False),
    ("own_ms", "the same of daybook's own click table, which keeps them", " ms", False),
    ("crowd/s", "a row by its key, 1,000 of 5,000 connections asking", "/s", True),
    ("crowd_p99_us", "the same, p99", " µs", False),
)
PROMISED = ("insert_64/s", "insert_256/s", "counter_64/s", "counter_256/s")


def processor_us(pid):
    """What a process has had of the processors."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * 1e6 / os.sysconf("SC_CLK_TCK")


class Client:
    """The client program against one server; gathers figures by the names of MEASURES."""

    def __init__(self, chosen, csv, port, pid):
        self.words = [str(chosen.installed / "cql_client"), "-port", str(port), "-csv", str(csv)]
        self.requests = chosen.requests
        self.pid = pid
        self.found = {}

    def ask(self, what, limit, flight=64, more=()):
        done = subprocess.run([*self.words, "-limit", str(limit), "-flight", str(flight), *more,
                               what], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{what}: {done.stderr}")
        return harness.figures(done.stdout)

    def write(self, what, flight):
        before = processor_us(self.pid)
        figures = self.ask(what, self.requests, flight)
        figures[f"{what}_server_us"] = (processor_us(self.pid) - before) / self.requests
        return {re.sub(f"^{what}", f"{what}_{flight}", name): value
                for name, value in figures.items()}

    def measure(self):
        for what in ("insert", "counter"):
            self.ask(what, self.requests)  # to warm up: a JVM compiles as it goes
            for flight in (64, 256):
                self.keep(harness.median_run(RUNS, lambda: self.write(what, flight),
                                             lambda figures: figures[f"{what}_{flight}/s"]))
        self.keep(self.ask("point", self.requests))
        self.keep(self.ask("mixed", self.requests))
        self.keep(self.ask("crowd", 1, more=("-pid", str(self.pid))))
        self.keep(self.ask("wide", WIDE_ROWS))
        return self.found

    def keep(self, figures):
        self.found.update(figures)
        for name, value in figures.items():
            harness.note(f"{name} {value:g}")


def measure_daybook(bench, chosen, csv):
    harness.note("== daybook")
    with bench.directory() as directory, bench.serve(directory, "--cql", "127.0.0.1:0") as server:
        port = int(re.search(r"cql [\d.]+:(\d+)", server.text()).group(1))
        client = Client(chosen, csv, port, server.process.pid)
        client.measure()
        bench.send(server, WIDE_ROWS, "--days", 1, "--resellers", 1)
        client.keep(client.ask("own", WIDE_ROWS))
        return client.found


@contextlib.contextmanager
def cassandra(bench, installed):
    """A node on ports of its own; its process and its ports."""
    with bench.directory() as root:
        ports = cassandra_node.free_ports()
        cassandra_node.prepare(root, ports)
        with (root / "server.log").open("wb") as log:
            server = subprocess.Popen(
                cassandra_node.command(installed / "cassandra-all" / "lib", root, ports),
                stdout=log, stderr=log)
        try:
            cassandra_node.wait_cql(server, ports)
            yield server, ports
        finally:
            server.terminate()
            server.wait()


def measure_cassandra(bench, chosen, csv):
    harness.note("== cassandra")
    with cassandra(bench, chosen.installed) as (server, ports):
        return Client(chosen, csv, ports.cql, server.pid).measure()


def table_of(section, own, other):
    table = section.table("", "daybook", "Cassandra 5", "times better")
    for name, what, unit, more_is_better in MEASURES:
        theirs = other.get(name)
        if name == "own_ms":
            theirs = other["wide_ms"]
        times = own[name] / theirs if more_is_better else theirs / own[name]
        shown = [harness.figure(value) if unit == "/s" else harness.digits(value)
                 for value in (own[name], theirs)]
        table.row(what, shown[0] + unit, shown[1] + unit, harness.digits(times))


def compare(bench, chosen):
    section = harness.Section()
    csv = bench.place / "clicks.csv"
    csv.write_text(bench.run("generate_clicks", "-n", chosen.requests).split("\n", 1)[1])
    own = measure_daybook(bench, chosen, csv)
    other = measure_cassandra(bench, chosen, csv)
    section.say(f"{chosen.requests:,} requests a figure, prepared, by gocql with four connections "
                "and its usual settings (protocol 4) on the same cores; every write is synced "
                f"before its answer, and of {RUNS} runs of writes the median counts. "
                f"Cassandra 5.0.9: heap {cassandra_node.HEAP}, commitlog_sync batch, warmed up.")
    table_of(section, own, other)
    section.say("A request costs the client itself "
                f"{own['insert_64_client_us']:.0f} µs (INSERT, 64 in flight), "
                f"{own['insert_256_client_us']:.0f} µs (256), "
                f"{own['counter_64_client_us']:.0f} and {own['counter_256_client_us']:.0f} µs "
                "(counters) of a processor against daybook. "
                f"Of 5,000 connections each takes {own['crowd_kib_each']:.2f} KiB of daybook's "
                f"memory; of the 1,000 that ask all the time, the one with the fewest answers had "
                f"{own['crowd_least']:.0f}, the median {own['crowd_median']:.0f}, the one with the "
                f"most {own['crowd_most']:.0f}.")
    for name, what, _, _ in MEASURES:
        if name in PROMISED:
            section.promise(f"{what}, against Cassandra", own[name] / other[name], PROMISE, STRETCH,
                            "times")
    return section


def main():
    words = argparse.ArgumentParser(description=__doc__,
                                    formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--built", type=pathlib.Path, required=True)
    words.add_argument("--installed", type=pathlib.Path, required=True,
                       help="what install.sh made")
    words.add_argument("--requests", type=int, default=200000, help="a figure (200000)")
    words.add_argument("--results", type=pathlib.Path, default=HERE.parent / "results.md",
                       help="the file whose section is replaced (bench/results.md)")
    chosen = words.parse_args()
    chosen.installed = chosen.installed.resolve()
    harness.stop_cleanly()
    bench = harness.Bench(chosen.built, chosen.built, chosen.requests, runs=1)
    conditions = harness.Conditions()
    try:
        section = compare(bench, chosen)
    finally:
        bench.close()
    command = "make bench-cql" + ("" if chosen.requests == 200000 else f" N={chosen.requests}")
    text = results.text("cql", "CQL, beside Cassandra.", command, conditions, section)
    results.replace(chosen.results, "cql", text, order=[*parts.ALL, "rivals"])


if __name__ == "__main__":
    main()
