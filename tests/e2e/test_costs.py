"""What a click costs, in counts that do not depend on the machine's mood, each with a bound.

A count is the difference between a run of 5,000 and one of 25,000 clicks, so that opening, closing
and first growth are not in it. Senders wait for each answer: then a batch is a frame, and counts
hardly differ from run to run; a flight of statements that a busy machine delivers in two parts is
two frames, some 370 instructions a statement. Bounds are about a tenth above what was counted. A
change that makes something cheaper lowers its bound; one that must cost more raises it, and says
why.

A merge or a timer may fall into one of the two runs and not into the other, so a count that is
over its bound is counted twice more (conftest.py): two of the three must be within it.
"""

import collections
import concurrent.futures
import os
import pathlib
import re
import shutil
import struct
import subprocess

import pytest

import cql
import daybook

# Not ./daybook, which is a copy of the release one of either compiler.
BUILT = (pathlib.Path(daybook.PROGRAM).parent if "DAYBOOK" in os.environ
         else daybook.ROOT / "build" / "release-gcc")
BENCH = BUILT / "bench"

FEW, MANY = 5000, 25000
BATCH = 1000
CLICKS = MANY - FEW
BATCHES = CLICKS // BATCH

ALLOCATORS = {"malloc", "calloc", "realloc", "aligned_alloc", "posix_memalign"}

pytestmark = [pytest.mark.counts,
              pytest.mark.skipif(BUILT.name != "release-gcc",
                                 reason="bounds are those of the release build by gcc")]


needs = {program: pytest.mark.skipif(not shutil.which(program), reason=f"{program} is missing")
         for program in ("valgrind", "strace")}


def assert_within(what, count, bound):
    print(f"{what}: {count:.4g} of {bound:.4g}")
    if count > bound:
        raise daybook.OverBound(
            f"{what}: {count:.4g}, over its bound of {bound:.4g}. Find out what grew; or raise the "
            "bound, and say why.")


# ---- counting ----


class Profile:
    """The file of a run under callgrind: instructions, and calls of functions by name."""

    def __init__(self, path):
        text = pathlib.Path(path).read_text()
        self.instructions = int(re.search(r"^totals: (\d+)", text, re.MULTILINE).group(1))
        self.calls = collections.Counter()
        names = {}
        called = None
        for line in text.splitlines():
            if line.startswith(("fn=", "cfn=")):
                number, name = re.fullmatch(r"c?fn=\((\d+)\)(?: (.*))?", line).groups()
                if name:
                    names[number] = name.split("'")[0]
                called = names[number]
            elif line.startswith("calls="):
                self.calls[called] += int(line[len("calls="):].split()[0])

    def costs(self):
        return {"instructions": self.instructions,
                "allocations": sum(self.calls[name] for name in ALLOCATORS)}


def callgrind(profile):
    return ["valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={profile}"]


def difference(run, few=FEW, many=MANY):
    """What the longer run's further clicks (CLICKS, unless told) add to each of its figures."""
    with concurrent.futures.ThreadPoolExecutor() as pool:
        few, many = pool.map(run, (few, many))
    return collections.Counter({name: many[name] - few.get(name, 0) for name in many})


def figures(text):
    """The lines of a measuring program: a name, and its figure."""
    return {line.split()[0]: float(line.split()[1]) for line in text.splitlines()}


def apply(directory, *options, wrapper=()):
    """Run bench/apply in a new directory, which is gone afterwards."""
    done = subprocess.run([*wrapper, BENCH / "apply", *map(str, options), directory], check=True,
                          capture_output=True, timeout=daybook.PATIENCE)
    shutil.rmtree(directory)
    return figures(done.stdout.decode())


def serve(directory, *options, wrapper=()):
    """A server that sleeps as soon as it has nothing to do: how often it would look before that,
    which delays nothing, is the machine's mood."""
    return daybook.Server(directory, "--idle-poll", 0, *options, wrapper=wrapper,
                          program=BUILT / "daybook")


def served(directory, clicks, wrapper, *options):
    """Start a server, send it clicks, stop it."""
    server = serve(directory, wrapper=wrapper)
    subprocess.run([BENCH / "send_clicks", "-n", str(clicks), "--window", "1", *options,
                    "{}:{}".format(*server.address)], check=True, capture_output=True,
                   timeout=daybook.PATIENCE)
    assert server.stop() == 0, server.text()


# ---- instructions and allocations ----


def step_costs(place, *options):
    """By step, what CLICKS clicks cost that went as far as that."""

    def run(step, clicks):
        profile = place / f"{step}-{clicks}.callgrind"
        apply(place / f"{step}-{clicks}", "-n", clicks, "--window", 1, "--until", step, *options,
              wrapper=callgrind(profile))
        return Profile(profile).costs()

    return [difference(lambda clicks, step=step: run(step, clicks))
            for step in ("generate", "parse", "apply")]


@needs["valgrind"]
@pytest.mark.parametrize("options, parse, into_store, allocations", [
    (["--days", 1], 860, 1420, 3),
    (["--order", "shuffled"], 1045, 2090, 3.5),
], ids=["in order", "shuffled"])
def test_instructions_and_allocations_of_a_click_without_a_socket(
        tmp_path, options, parse, into_store, allocations):
    generated, parsed, applied = step_costs(tmp_path, *options)
    assert_within("instructions to parse a click",
                  (parsed["instructions"] - generated["instructions"]) / CLICKS, parse)
    assert_within("instructions to apply a click",
                  (applied["instructions"] - parsed["instructions"]) / CLICKS, into_store)
    # One a batch is the rule; the rest is growth, and files made ahead, that fall into either run.
    assert_within("allocations for a batch, parsed and applied",
                  (applied["allocations"] - generated["allocations"]) / BATCHES, allocations)


# Few resellers: the rollup's ticks come with time, and few days make them cheap.
SERVED = ["--resellers", "10", "--days", "1"]


@needs["valgrind"]
@pytest.mark.parametrize("door, bound", [((), 1120), (("--binary",), 600)],
                         ids=["text", "binary"])
@pytest.mark.parametrize("order", ["ordered", "shuffled"])
def test_instructions_and_allocations_of_a_click_from_socket_to_answer(
        tmp_path, order, door, bound):
    def run(clicks):
        profile = tmp_path / f"{clicks}.callgrind"
        served(tmp_path / str(clicks), clicks, callgrind(profile), *SERVED, "--order", order,
               *door)
        return Profile(profile).costs()

    counts = difference(run)
    assert_within("instructions for a click, from socket to answer",
                  counts["instructions"] / CLICKS, bound)
    # Half of it are ticks of the rollup, and their number depends on how long the run takes.
    assert_within("allocations for a batch, from socket to answer",
                  counts["allocations"] / BATCHES, 30)


# ---- statements of the CQL door ----

FLIGHT = 64
STATEMENTS = 30 * FLIGHT, 90 * FLIGHT
CQL_SCHEMA = (
    "CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    "CREATE TABLE shop.ad_click (reseller_id text, day text, time timestamp, ad_id text, "
    "amount decimal, PRIMARY KEY ((reseller_id, day), time, ad_id)) "
    "WITH CLUSTERING ORDER BY (time DESC)",
    "CREATE TABLE shop.hit (id text PRIMARY KEY, hits counter)")
# By name: the statement, and the values of the one of a number.
CQL_STATEMENTS = {
    "insert": ("INSERT INTO shop.ad_click (reseller_id, day, time, ad_id, amount) "
               "VALUES (?, ?, ?, ?, ?)",
               lambda number: (b"reseller-%04d" % (number % 10), b"2026-08-01",
                               struct.pack(">q", 1785542400000 + number),
                               b"ad-%07d" % (number % 977), b"\0\0\0\2" + b"\x7b")),
    "counter": ("UPDATE shop.hit SET hits = hits + 1 WHERE id = ?",
                lambda number: (b"ad-%07d" % (number % 977),)),
    "select": ("SELECT amount FROM shop.ad_click WHERE reseller_id = ? AND day = ? LIMIT 1",
               lambda number: (b"reseller-%04d" % (number % 10), b"2026-08-01")),
}


def executed(directory, statement, count, wrapper):
    """Start a server, have it execute a prepared statement, FLIGHT at a time, and stop it."""
    server = serve(directory, "--cql", "127.0.0.1:0", wrapper=wrapper)
    raw = cql.Raw(server)
    raw.startup()
    for text in CQL_SCHEMA:
        raw.query(text)
        assert raw.receive()[2] == 8
    text, values = CQL_STATEMENTS[statement]
    raw.send(9, struct.pack(">i", len(text)) + text.encode())
    prepared = raw.receive()[3]
    assert prepared[:4] == b"\0\0\0\4"
    size, = struct.unpack_from(">H", prepared, 4)
    named = prepared[4:6 + size] + struct.pack(">HB", 1, 1)
    for first in range(0, count, FLIGHT):
        raw.send_all(10, [named + bound(values(number))
                          for number in range(first, first + FLIGHT)])
        for _ in range(FLIGHT):
            assert raw.receive()[2] == 8
    raw.close()
    assert server.stop() == 0, server.text()


def bound(values):
    return struct.pack(">H", len(values)) + b"".join(
        struct.pack(">i", len(value)) + value for value in values)


@needs["valgrind"]
@pytest.mark.parametrize("statement, instructions, allocations", [
    # Of each some 1,700 bound what the request takes: guards, its arenas' accounts, and the clock,
    # which is read three to five times.  An insert has 900 more that hold its values against their
    # types.  A counter has 600 more than once: requests and answers count as memory.  The layout of
    # each request and answer is stated once, for reading and writing, which takes 200 more.
    ("insert", 20500, 8),
    ("counter", 11900, 6),
    ("select", 15500, 9),
])
def test_instructions_and_allocations_of_a_prepared_statement(tmp_path, statement, instructions,
                                                              allocations):
    def run(count):
        profile = tmp_path / f"{count}.callgrind"
        executed(tmp_path / str(count), statement, count, callgrind(profile))
        return Profile(profile).costs()

    counts = difference(run, *STATEMENTS)
    more = STATEMENTS[1] - STATEMENTS[0]
    assert_within(f"instructions of a prepared {statement}", counts["instructions"] / more,
                  instructions)
    assert_within(f"allocations of a prepared {statement}", counts["allocations"] / more,
                  allocations)


# ---- system calls ----


def system_calls(place, run):
    """By name, how many `run` makes of a server under the wrapper that it is given."""
    counts = place.with_suffix(".strace")
    # -D: the server stays our child, and strace leaves it its signals.
    run(["strace", "-D", "-f", "-c", "-o", counts])
    daybook.wait_until(lambda: "total" in counts.read_text(), "strace's table")
    rows = [line.split() for line in counts.read_text().splitlines()]
    return collections.Counter({row[-1]: int(row[3]) for row in rows if row[-1] != "syscall"
                                and row[0][0].isdigit()})


def assert_calls_within(what, counts, times, bound, work_bound):
    """How often a lane gives way is the machine's mood alone: beside four busy programs the same
    program's INSERTs came to 0.6 and to 2.1 times."""
    yields = counts["sched_yield"]
    calls = counts["total"] - yields
    assert_within(f"system calls of {what}", calls / times, bound)
    assert_within(f"system calls of {what}, but for waits",
                  (calls - counts["epoll_wait"]) / times, work_bound)
    assert_within(f"times that a lane gives way for {what}", yields / times, 8)


@needs["strace"]
def test_system_calls_of_a_prepared_statement(tmp_path):
    def run(count):
        directory = tmp_path / str(count)
        return system_calls(directory, lambda wrapper: executed(directory, "insert", count,
                                                                wrapper))

    counts = difference(run, *STATEMENTS)
    flights = (STATEMENTS[1] - STATEMENTS[0]) / FLIGHT
    assert_within(f"syncs of {FLIGHT} INSERTs that come together", counts["fdatasync"] / flights,
                  1.15)
    assert_calls_within(f"{FLIGHT} INSERTs that come together", counts, flights, 15.2, 10.6)


@needs["strace"]
def test_system_calls_of_a_batch(tmp_path):
    def run(clicks):
        directory = tmp_path / str(clicks)
        return system_calls(directory, lambda wrapper: served(directory, clicks, wrapper, *SERVED))

    counts = difference(run)
    # A tick of the rollup may fall into one of the runs; each is a frame of its own.
    assert_within("syncs of a batch that is waited for", counts["fdatasync"] / BATCHES, 1.15)
    assert_within("log writes of a batch that is waited for", counts["pwrite64"] / BATCHES, 1.15)
    # One or two of them look whether somebody asks: on a busy machine a batch takes 0.1 or 0.2 ms.
    assert_calls_within("a batch that is waited for", counts, BATCHES, 15, 9.6)


def calls_before_ready(directory, trace):
    """The trace of a start, until its doors are open."""
    server = serve(directory, wrapper=[
        "strace", "-D", "-f", "-s", "128", "-o", trace, "-e",
        "trace=fsync,fdatasync,rename,renameat,write"])
    daybook.wait_until(lambda: "event=ready" in trace.read_text(), "strace's lines")
    before_ready = trace.read_text().split("event=ready")[0]
    assert server.stop() == 0, server.text()
    return before_ready


SYNCS = re.compile(r"\bf(?:data)?sync\(")


@needs["strace"]
def test_syncs_of_the_first_start(tmp_path):
    before_ready = calls_before_ready(tmp_path / "data", tmp_path / "strace")
    # Of manifest, copy and roster with their directories, and of the log's first file and both
    # directories that know of it: nothing that was just made is written again.
    assert_within("syncs of the first start", len(SYNCS.findall(before_ready)), 10)


def test_a_start_loads_no_library_that_only_some_clients_need(serve):
    server = serve("--cql", "127.0.0.1:0")
    maps = pathlib.Path(f"/proc/{server.process.pid}/maps")
    assert "libuv" in maps.read_text()
    assert not re.search(r"libsnappy|libstdc\+\+", maps.read_text())
    with cql.connected(server):
        assert "libsnappy" in maps.read_text()


@needs["strace"]
def test_system_calls_of_a_start(tmp_path):
    directory = tmp_path / "data"
    served(directory, MANY, ())
    before_ready = calls_before_ready(directory, tmp_path / "strace")
    # Of manifest, copy, roster and log what was read, and the directories of all but the copy; and
    # meanwhile, on another thread, the log makes its next file ready.
    assert_within("syncs of a start", len(SYNCS.findall(before_ready)), 9)
    assert "roster.new" not in before_ready, "a roster that says what it should is written anew"


# ---- questions and changes ----

# Of either run the work before the questions takes some syncs more or less than of the other, which
# were once 5 of 200 questions.
QUESTIONS = (50, 650)
MONTH = ("report", "--reseller", "%R", "--from", "2026-08-01", "--to", "2026-08-31", "--by", "day",
         "--format", "csv")
RATE = ("rate", "set", "%R", "2026-08-01", "%P")


def asked(directory, words, count, wrapper):
    """Start a server, have it merge clicks on disk, ask so often one after the other, stop it."""
    server = serve(directory, wrapper=wrapper)
    subprocess.run([BENCH / "send_clicks", "-n", "5000", "--resellers", "20", "--days", "30",
                    "{}:{}".format(*server.address)], check=True, capture_output=True,
                   timeout=daybook.PATIENCE)
    server.run("rollup")
    server.run("compact")
    subprocess.run([BENCH / "ask", "--rate", "0", "--count", str(count), "--resellers", "20",
                    directory, *words], check=True, capture_output=True, timeout=daybook.PATIENCE)
    assert server.stop() == 0, server.text()


@needs["strace"]
@pytest.mark.parametrize("words, calls", [
    # accept, receive, write, forget, close; and, where the server is faster than who asks, look for
    # another, wait, receive again.
    (MONTH, {"write": 1.05, "futex": 0.1, "fdatasync": 0.02, "total": 10}),
    # One sync; its thread is woken, and wakes the loop.
    (RATE, {"write": 2.2, "futex": 4.1, "fdatasync": 1.15, "total": 23}),
], ids=["a month from disk", "a changed rate"])
def test_system_calls_of_a_question(tmp_path, words, calls):
    def run(count):
        directory = tmp_path / str(count)
        return system_calls(directory, lambda wrapper: asked(directory, words, count, wrapper))

    counts = difference(run, *QUESTIONS)
    for name, most in calls.items():
        assert_within(f"system calls, {name}", counts[name] / (QUESTIONS[1] - QUESTIONS[0]), most)


@needs["valgrind"]
def test_instructions_of_a_rate_that_was_changed_often(tmp_path):
    """Each change leaves an entry in the ledger for each day, of which only the last one counts."""

    def run(count):
        profile = tmp_path / f"{count}.callgrind"
        asked(tmp_path / str(count), ("rate", "set", "reseller-0001", "2026-08-01", "%P"), count,
              callgrind(profile))
        return Profile(profile).costs()

    first, often = ((difference(run, few, many)["instructions"] / (many - few))
                    for few, many in ((20, 120), (300, 400)))
    assert_within("instructions of a changed rate, after 300 changes", often, 1.1 * first)


def metric(server, name):
    text = server.run("status", "--metrics").out
    return int(re.search(rf"^{name} (\d+)$", text, re.MULTILINE).group(1))


@needs["valgrind"]
def test_instructions_of_a_day_from_stats(tmp_path):
    """The first reading of all days after an opening, which puts them in order."""
    directory, profile = tmp_path / "data", tmp_path / "callgrind"
    server = serve(directory)
    subprocess.run([BENCH / "send_clicks", "-n", "100000", "--resellers", "200", "--days", "30",
                    "{}:{}".format(*server.address)], check=True, capture_output=True,
                   timeout=daybook.PATIENCE)
    server.run("compact")
    assert server.stop() == 0, server.text()
    done = subprocess.run([*callgrind(profile), "--toggle-collect=engine_stats_scan_op",
                           BENCH / "rescan", directory], check=True, capture_output=True,
                          text=True, timeout=daybook.PATIENCE)
    assert_within("instructions of a day from stats",
                  Profile(profile).instructions / figures(done.stdout)["days"], 1500)


def test_days_of_a_report_and_frames_of_a_changed_rate(tmp_path):
    resellers, days, changes = 200, 30, 20
    server = serve(tmp_path / "data")
    subprocess.run([BENCH / "send_clicks", "-n", "20000", "--resellers", str(resellers), "--days",
                    str(days), "{}:{}".format(*server.address)], check=True, capture_output=True,
                   timeout=daybook.PATIENCE)
    before = metric(server, "daybook_rollup_figures_worked_out_total")
    server.run("report", "--reseller", "reseller-0007", "--format", "csv")
    worked_out = metric(server, "daybook_rollup_figures_worked_out_total") - before
    assert_within("days worked out for one reseller's report", worked_out, days)
    server.run("rollup")
    before = metric(server, "daybook_log_frames_total")
    for i in range(changes):
        server.run("rate", "set", f"reseller-{i:04}", "2026-01-01", f"{i + 1}%")
    frames = metric(server, "daybook_log_frames_total") - before
    assert frames >= changes
    assert_within("log frames of a changed rate", frames / changes, 1.1)
    assert server.stop() == 0, server.text()


def load_rates(server, place, resellers, percent):
    """Another rate for every reseller; the days that it changes."""
    rates = place / f"rates-{percent}.csv"
    rates.write_text("reseller_id,effective_since,reward_percent\n" + "".join(
        f"reseller-{i:04},2026-01-01,{percent}.25%\n" for i in range(resellers)))
    return int(re.search(r"^(\d+) days of", server.run("rate", "load", rates).out,
                         re.MULTILINE).group(1))


@needs["valgrind"]
def test_instructions_of_a_figure_that_is_priced_anew_with_all_others(tmp_path):
    resellers = 40

    def run(loads):
        profile = tmp_path / f"{loads}.callgrind"
        place = tmp_path / str(loads)
        place.mkdir()
        server = serve(place / "data", wrapper=callgrind(profile))
        subprocess.run([BENCH / "send_clicks", "-n", "6000", "--resellers", str(resellers),
                        "--window", "1", "{}:{}".format(*server.address)], check=True,
                       capture_output=True, timeout=daybook.PATIENCE)
        server.run("rollup")
        days = sum(load_rates(server, place, resellers, percent + 1) for percent in range(loads))
        assert server.stop() == 0, server.text()
        return {"instructions": Profile(profile).instructions, "days": days}

    counts = difference(run, 2, 12)
    assert counts["days"] > 7500
    # Merges of what the loads wrote are in it: some 24,000 without, 37,000 over forty loads.
    assert_within("instructions of a figure and its restatement",
                  counts["instructions"] / counts["days"], 28500)


# ---- bytes ----


@pytest.mark.parametrize("options, bound", [
    (["--days", 1], 36),
    (["--resellers", 10, "--days", 1], 18),
], ids=["a thousand resellers", "ten resellers"])
def test_bytes_of_a_click_in_the_log(tmp_path, options, bound):
    counts = difference(
        lambda clicks: apply(tmp_path / str(clicks), "-n", clicks, "--window", 1, *options))
    assert_within("bytes of a click in the log", counts["log_bytes"] / CLICKS, bound)


@pytest.mark.parametrize("order", ["ordered", "late", "shuffled"])
@pytest.mark.parametrize("clicks, days, bound", [(200000, 3, 4.5), (2000000, 30, 4.3)])
def test_bytes_of_a_click_on_disk(tmp_path, order, clicks, days, bound):
    found = apply(tmp_path / "data", "-n", clicks, "--resellers", 100, "--days", days, "--order",
                  order, "--compact")
    assert_within("bytes of a click on disk", found["bytes/click"], bound)
