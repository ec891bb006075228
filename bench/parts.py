"""parts: what `make bench` measures, a function each; `make bench PART=ingest` runs one.

Every part starts from a new directory. Batches are numbered ones; `ok` comes when they are durable
(fdatasync of the log), with counters by ad, reseller and day kept. The sender, and every client,
shares the cores with the server.
"""

import math
import os
import signal
import time

from growth import MONTH, growth
from harness import (TAKEN_MAX, Section, bytes_on_disk, calm_runs, count, figure, median,
                     median_run, middle, note)

ORDERS = (("in order", ()), ("5 % late", ("--order", "late")),
          ("shuffled", ("--order", "shuffled")))
# How clicks are written, with what send_clicks needs for it.
DOORS = (("text", ()), ("binary", ("--binary",)))
# Times the usual clicks: with fewer no merge of clicks is in a rate.
SUSTAINED = 10


# ---- ingest ----


def whole_life(bench, clicks, *options):
    """Send, kill, start again, compact, verify, stop; the figures of each."""
    with bench.directory() as directory:
        with bench.serve(directory) as server:
            found = bench.send(server, clicks, *options)
            found["peak_mib"] = server.memory_kb() / 1024
            server.kill()
        with bench.serve(directory) as server:
            found["restart_s"] = server.start_s
            _, found["compact_s"] = bench.command(server, "compact")
            found["bytes"] = bytes_on_disk(directory) / clicks
            _, found["verify_s"] = bench.command(server, "verify")
            if server.stop() != 0:
                raise RuntimeError(server.text())
    return found


def ingest(bench):
    """The main job: clicks over TCP in every usual way, then a crash, a merge and a proof."""
    section = Section()
    clicks = bench.clicks
    section.say(f"{clicks:,} clicks of 55 bytes, 30 days, 1,000 resellers, batches of 1,000; "
                f"median of {bench.runs} by speed. *Restart* is after `kill -9` at the end, until "
                "every door is open; *bytes/click* is all on disk after `daybook compact`, without "
                "the log; after each run `daybook verify` proves rows, counters and rollup.")
    table = section.table("sent", "clicks/s", "ack p50 ms", "ack p99 ms", "peak MiB", "restart s",
                          "compact s", "verify s", "bytes/click")
    ways = [(f"1 connection, {order}", ("--connections", 1, *options)) for order, options in ORDERS]
    ways += [(f"8 connections, {order}", ("--connections", 8, "--window", 16, *options))
             for order, options in (ORDERS[0], ORDERS[2])]
    ways += [("1 connection, waiting for each ack", ("--connections", 1, "--window", 1))]
    found = {}
    for door, door_options in DOORS:
        for title, options in ways:
            way = median_run(bench.runs, lambda: whole_life(bench, clicks, *door_options, *options),
                             key=lambda run: run["clicks/s"])
            found[door, title] = way
            table.row(f"{door}, {title}", figure(way["clicks/s"]), f"{way['ack_p50_ms']:.2f}",
                      f"{way['ack_p99_ms']:.2f}", f"{way['peak_mib']:.0f}",
                      f"{way['restart_s']:.2f}", f"{way['compact_s']:.2f}",
                      f"{way['verify_s']:.2f}", f"{way['bytes']:.2f}")
    section.promise("the text stream waiting for each ack of 1,000, one connection",
                    found["text", ways[-1][0]]["clicks/s"], 2e6, 3e6, "clicks/s")
    # Of the ad, of the reseller, and of the reseller's day, in the click's own frame of the log.
    for door, promised in (("text", (3e6, 5e6)), ("binary", (10e6, 20e6))):
        section.promise(f"counter increments, durable, of the {door} stream, three a click",
                        3 * found[door, ways[0][0]]["clicks/s"], *promised, "/s")
    return section


def matrix(bench):
    """Every door, number of connections, way of waiting, and order."""
    section = Section()
    clicks = max(1, bench.clicks // 10)
    section.say(f"{clicks:,} clicks a cell, one run each, a new directory each: clicks/s, and the "
                "acknowledgement's p50 / p99 in ms, from the batch's last byte sent to its `ok`. "
                "Ten times as many over 256 connections of the binary door have more strings than "
                "the server keeps for all connections (docs/OPERATIONS.md, limits).")
    table = section.table("door, connections, batches", *(order for order, _ in ORDERS))
    ways = (("streamed, 1,000 a batch", 1000, None), ("waiting for each 1,000", 1000, 1),
            ("waiting for each 10,000", 10000, 1))
    for door, door_options in DOORS:
        for connections in (1, 8, 256):
            for title, batch, window in ways:
                window = window or max(2, 128 // connections)
                cells = []
                for _, order in ORDERS:
                    with bench.directory() as directory, bench.serve(directory) as server:
                        run = bench.send(server, clicks, *door_options, "--connections",
                                         connections, "--batch", batch, "--window", window, *order)
                    cells.append(f"{figure(run['clicks/s'])}, {run['ack_p50_ms']:.2f} / "
                                 f"{run['ack_p99_ms']:.2f}")
                table.row(f"{door}, {connections}, {title}", *cells)
    return section


def sustained(bench):
    """Ten times the clicks, so that flushes and merges of all sizes are in the figure."""
    section = Section()
    clicks = bench.clicks * SUSTAINED
    if not bench.enough_disk(clicks):
        section.say("Left out: the disk has no room.")
        return section
    section.say(f"{count(clicks)} clicks over one connection, streamed, batches of 1,000; 1 GiB "
                "of memory for clicks. *Restart* reads back what no segment holds yet; it and "
                "*bytes/click* are as in the main job.")
    table = section.table("door", "order", "clicks/s", "ack p99 ms", "peak MiB", "restart s",
                          "compact s", "bytes/click")
    for door, door_options in DOORS:
        for order, options in (ORDERS[0], ORDERS[2]):
            run = whole_life(bench, clicks, *door_options, *options)
            table.row(door, order, figure(run["clicks/s"]), f"{run['ack_p99_ms']:.1f}",
                      f"{run['peak_mib']:.0f}", f"{run['restart_s']:.2f}",
                      f"{run['compact_s']:.2f}", f"{run['bytes']:.2f}")
            if order == "in order":
                promised = {"text": (5e6, 10e6), "binary": (10e6, 15e6)}[door]
                section.promise(f"{door} ingest over TCP, durable, sustained to {count(clicks)}",
                                run["clicks/s"], *promised, "clicks/s")
            if door == "text":
                section.promise(f"restart after {count(clicks)} clicks and a kill, {order}",
                                run["restart_s"], 5, 3, "s", more_is_better=False)
    return section


# ---- disk ----


DAY_MS = 86_400_000
AD_BITS, AMOUNT_BITS = 5.91, 6.80      # of generate_clicks' weights


def information(clicks, days, resellers=1000):
    """Bytes a click of generate_clicks holds: where n times lie in a day, and its ad and amount.

    A set of n of T milliseconds takes log2 of T + n - 1 over n bits, so that time takes a bit less
    with every doubling of the clicks a reseller has in a day.
    """
    weights = [1 / number for number in range(1, resellers + 1)]
    bits = 0.0
    for weight in weights:
        share = weight / sum(weights)
        times = clicks * share / days
        ways = math.lgamma(DAY_MS + times) - math.lgamma(times + 1) - math.lgamma(DAY_MS)
        bits += share * ways / math.log(2) / times
    return (bits + AD_BITS + AMOUNT_BITS) / 8


def disk(bench):
    """Bytes a click, by column, of closed days after compaction."""
    section = Section()
    section.say("ad_click after `compact`, each column by what its pages shrink by without it. "
                "*pages* is what they hold besides; *files* is the directory of partitions with "
                "their stats, and dictionaries; *information* is what time, ad and amount hold at "
                "that density. 2,000 clicks a partition are the reference data of the promise.")
    names = ("time", "ad_id", "amount", "day_derived", "pages_rest", "files_rest", "bytes/click")
    table = section.table("clicks", "days", "order",
                          *(name.replace("_rest", "") for name in names), "information")
    shuffled = ORDERS[2][1]
    dense, days = bench.clicks * 3 // 5, 3
    ways = [(dense, days, order, options) for order, options in ORDERS]
    ways.append((dense, days, "8 connections, shuffled",
                 ("--connections", 8, "--window", 16, *shuffled)))
    ways.append((bench.clicks, 30, "shuffled", shuffled))
    for clicks, days, title, options in ways:
        with bench.directory() as directory:
            with bench.serve(directory) as server:
                bench.send(server, clicks, "--days", days, *options)
                bench.command(server, "compact")
                server.stop()
            columns = bench.figures("columns", directory)
        table.row(count(clicks), days, title, *(f"{columns[name]:.3f}" for name in names),
                  f"{information(clicks, days):.3f}")
        if clicks == dense:
            section.promise(f"bytes a click, all columns, {title}", columns["bytes/click"], 3.7,
                            3.6, "bytes", more_is_better=False)
    return section


# ---- rollup ----


def rollup(bench):
    """All days from stats and from rows, and a rate for everybody."""
    section = Section()
    section.say("*From stats*: every (reseller, day)'s sum times a rate, as the rollup works days "
                "out; *from rows*: every (reseller, day) counted and summed again from its rows; "
                "*by ad*: all rows grouped by ad, as `verify` does; without printing, in a process "
                "of their own, after `compact`. *All rates*: `rate load` of a rate for each of "
                "1,000 resellers, until every figure is durable.")
    table = section.table("clicks", "days x resellers", "from stats ms", "from rows ms",
                          "by ad ms", "all rates ms")
    for clicks in (bench.clicks, bench.clicks * 10):
        if not bench.enough_disk(clicks):
            continue
        with bench.directory() as directory:
            with bench.serve(directory) as server:
                bench.send(server, clicks)
                bench.command(server, "rollup")
                _, rates_s = bench.command(server, "rate", "load", bench.rates(1000))
                bench.command(server, "compact")
                server.stop()
            runs = [bench.figures("rescan", directory) for _ in range(bench.runs)]
        stats_ms = median([run["stats_ms"] for run in runs])
        rows_ms, ads_ms = (median([run[name] for run in runs]) for name in ("rows_ms", "ads_ms"))
        table.row(count(clicks), f"{runs[0]['days']:.0f}", f"{stats_ms:.1f}", f"{rows_ms:.0f}",
                  f"{ads_ms:.0f}", f"{rates_s * 1e3:.0f}")
    section.promise(f"rollup of {count(clicks)} clicks from stats", stats_ms, 10, 1, "ms",
                    more_is_better=False)
    section.promise(f"rollup of {count(clicks)} clicks, rescanned", rows_ms, 100, 50, "ms",
                    more_is_better=False)
    return section


# ---- latency ----

QUESTIONS = (
    ("one reseller's month", MONTH, 200),
    ("one reseller's day", ("report", "--reseller", "%R", "--from", "2026-08-03", "--to",
                            "2026-08-03", "--format", "csv"), 200),
    ("one counter", ("counters", "clicks_per_reseller", "--key", "%R", "--format", "csv"), 200),
    ("a rate changed a month back", ("rate", "set", "%R", "2026-08-02", "%P"), 20),
)
# What a program that is there to ask does: one connection, the statement prepared once.
STATEMENT = ("SELECT day, clicks, amount FROM daybook.amount_by_day WHERE reseller_id = ? "
             "AND day >= '2026-08-01' AND day <= '2026-08-31'", "%R")
KEPT = "one reseller's month, over CQL and a connection that is kept"
ASKED_S = 8


def asked(bench, server, rate, words, options, pace):
    """One question at its rate for some seconds, while `pace` clicks a second come, if any do."""
    if pace > 0:
        sender = bench.send_beside(server, pace * (ASKED_S + 2), "--rate", pace, "--seed", 7)
        time.sleep(1)
    run = bench.ask(server, rate, rate * ASKED_S, *words, options=options)
    if pace > 0:
        sent = bench.sent(sender)
        note(f"  meanwhile {figure(sent['clicks/s'])} clicks/s of {figure(pace)}, "
             f"ack p99 {sent['ack_p99_ms']:.2f} ms")
    return run


def latency(bench):
    """Reports, points and rate changes over the control socket, idle and under load."""
    section = Section()
    clicks = bench.clicks
    section.say(f"Over the unix socket, a connection a question, on {count(clicks)} clicks; over "
                "CQL a prepared statement for the month's stored rows, on one connection. Open "
                "loop: questions are due at their rate, and their time runs from when they were "
                "due, so a pause is charged to all it delays. A rate change is answered when its "
                f"figures are durable and readable. Each is asked for {ASKED_S} seconds; median of "
                f"{bench.runs} by p99. *Under load*: meanwhile one connection streams, "
                "in order, 70 % of the rate that it can go on at, flushes and merges included: of "
                f"{count(SUSTAINED * clicks)} clicks before, into a directory of their own. "
                "*Taken*: by the hypervisor, of the processors' time; a run of which it took more "
                f"than {TAKEN_MAX} % is replaced by another, and of three times as many runs at "
                "most those count that it took least of.")
    table = section.table("question", "a second", "load", "p50 ms", "p99 ms", "p99.9 ms", "max ms",
                          "taken %")
    found = {}
    with bench.directory() as directory, bench.serve(directory) as server:
        peak = bench.send(server, SUSTAINED * clicks)["clicks/s"]
    note(f"  one connection goes on at {figure(peak)} clicks/s")
    with bench.directory() as directory, \
            bench.serve(directory, "--cql", "127.0.0.1:0") as server:
        port = server.port("cql")
        questions = [(*question, ()) for question in QUESTIONS]
        questions.insert(1, (KEPT, STATEMENT, 200, ("--cql", port)))
        bench.send(server, clicks)
        bench.command(server, "rate", "load", bench.rates(1000))
        for load in ("idle", "70 % ingest"):
            pace = 0 if load == "idle" else int(peak * 0.7)
            for title, words, rate, options in questions:
                runs = calm_runs(bench.runs,
                                 lambda: asked(bench, server, rate, words, options, pace))
                run = middle(runs, key=lambda run: run["p99_us"])
                found[title, load] = run
                table.row(title, rate, load, *(f"{run[name] / 1e3:.3f}" for name in (
                    "p50_us", "p99_us", "p99.9_us", "max_us")), f"{run['taken']:.1f}")
    for title in (QUESTIONS[0][0], KEPT):
        section.promise(f"{title}, p99, idle", found[title, "idle"]["p99_us"], 200, 100, "µs",
                        more_is_better=False)
        section.promise(f"{title}, p99, under 70 % ingest load",
                        found[title, "70 % ingest"]["p99_us"] / 1e3, 2, 1, "ms",
                        more_is_better=False)
    section.promise("a rate changed a month back, p50, a flush of some 0.1 ms included",
                    found[QUESTIONS[3][0], "idle"]["p50_us"] / 1e3, 1.1, 0.3, "ms",
                    more_is_better=False)
    return section


# ---- ordinary tables and counters ----


def tables(bench):
    """Rows and counters of ordinary tables, through the store and without a door."""
    section = Section()
    rows = max(bench.clicks // 50, 1000)
    section.say(f"{rows:,} rows a table, one row a batch, each durable when it is acknowledged; "
                "reads wait for each answer. Through `struct store`: what a statement costs below "
                "its protocol. *user*: partitions of one row; *event*: of 1,000 rows, slices of "
                "100; *hits*: counter increments over 100,000 keys, on one key, and 1,000 a batch.")
    table = section.table("", "1 at a time", "64 in flight")
    found = {}
    for window in (1, 64):
        # Waiting for each sync, a tenth says as much.
        with bench.directory() as directory:
            found[window] = bench.figures("rows", "--rows", rows if window > 1 else rows // 10,
                                          "--window", window, directory / "data")
    for name in found[64]:
        table.row(name, figure(found[1][name]), figure(found[64][name]))
    return section


# ---- start, memory, size ----


def start(bench):
    """Start, idle memory, and the program's size."""
    section = Section()
    with bench.directory() as directory:
        starts = max(bench.runs, 5)
        doors = ("--cql", "127.0.0.1:0", "--http", "127.0.0.1:0")
        empty = median(bench.start_ms(None, *doors) for _ in range(starts))
        with bench.serve(directory) as server:
            bench.send(server, 100000)
            server.stop()
        small = median(bench.start_ms(directory, *doors) for _ in range(starts))
        with bench.directory() as new, bench.serve(new, *doors) as server:
            time.sleep(2)
            idle = server.memory_kb("VmRSS") / 1024
    stripped = bench.place / "stripped"
    bench.strip(stripped)
    size = stripped.stat().st_size / 2**20
    section.say("Start is until every door is open; *small* has 100,000 clicks and was cleanly "
                "closed. Memory is resident, two seconds after the start. The program is counted "
                "without its symbols.")
    section.promise("start on an empty directory", empty, 50, 15, "ms",
                    more_is_better=False)
    section.promise("start on a small, cleanly closed one", small, 50, 15, "ms",
                    more_is_better=False)
    section.promise("idle memory", idle, 25, 12, "MiB", more_is_better=False)
    section.promise("program size", size, 10, 4, "MiB", more_is_better=False)
    return section


# ---- viewers ----


VIEWERS = 900
SLOW_VIEWERS = 100
IDLE = 5000


def beside_viewers(bench, clicks, idle):
    """Send as fast as they are taken, beside viewers, or without them if `idle` is None."""
    with bench.directory() as directory, bench.serve(directory, "--http", "127.0.0.1:0") as server:
        viewers = None
        if idle is not None:
            viewers = bench.watch(server, "-v", VIEWERS, "-s", SLOW_VIEWERS, "-i", idle)
        sender = bench.send_beside(server, clicks)
        if viewers:
            viewers.send_signal(signal.SIGUSR1)
        before = server.cpu_s()
        run = bench.sent(sender)
        run["server_cpu"] = server.cpu_s() - before
        if viewers:
            run |= bench.watched(viewers)
        bench.command(server, "verify")
        return run


def viewers_alone(bench, seconds=10):
    """Per cent of all processors that viewers take of the server while no clicks come, but for
    those of their own sender."""
    with bench.directory() as directory, bench.serve(directory, "--http", "127.0.0.1:0") as server:
        bench.send(server, 10**5)
        viewers = bench.watch(server, "-v", VIEWERS, "-s", SLOW_VIEWERS)
        viewers.send_signal(signal.SIGUSR1)
        before = server.cpu_s()
        time.sleep(seconds)
        used = server.cpu_s() - before
        bench.watched(viewers)
    return 100 * used / seconds / os.cpu_count()


def share_left(run):
    """Of the time of two processors, what the viewers' own work left to others."""
    return 1 - run.get("viewers_cpu", 0) / (run["seconds"] * os.cpu_count())


def viewers(bench):
    """Viewers of what happens now beside clicks that come as fast as they are taken."""
    section = Section()
    clicks = SUSTAINED // 2 * bench.clicks
    section.say(f"{count(clicks)} clicks as lines over one connection, without viewers and beside "
                f"{VIEWERS + SLOW_VIEWERS:,} of `/api/live` in turn, {bench.runs} times; "
                f"{SLOW_VIEWERS} viewers read 1 KB a second, the last run also has {IDLE:,} "
                "connections that send half of a request or nothing. *Lag* is from the time in a "
                "state to its last byte at a viewer; *page* from a click's acknowledgement to the "
                "state that has it, for each click of a sender of some 25 a second, at each "
                "viewer. *Net* is what ingest loses beyond what the viewers' own work takes of "
                "the processors; *server* is its CPU time for a million clicks, without and "
                "beside, which other work on the machine changes less.")
    table = section.table("run", "clicks/s without", "clicks/s beside", "viewers' CPU s", "net",
                          "server s",
                          "lag p50 / p99 ms", "page p50 / p99 ms", "viewers lost")
    nets, lags, pages = [], [], []
    for number in range(bench.runs + 1):
        alone = beside_viewers(bench, clicks, None)
        is_last = number == bench.runs
        run = beside_viewers(bench, clicks, IDLE if is_last else 0)
        net = 100 * (1 - run["clicks/s"] / alone["clicks/s"] / share_left(run))
        table.row("with idle ones" if is_last else number + 1, figure(alone["clicks/s"]),
                  figure(run["clicks/s"]), f"{run['viewers_cpu']:.2f}", f"{net:.1f} %",
                  f"{1e6 * alone['server_cpu'] / clicks:.3f} / "
                  f"{1e6 * run['server_cpu'] / clicks:.3f}",
                  f"{run['lag_p50_ms']:.0f} / {run['lag_p99_ms']:.0f}",
                  f"{run['page_p50_ms']:.0f} / {run['page_p99_ms']:.0f}",
                  f"{run['viewers_lost']:.0f}")
        nets.append(net)
        lags.append(run["lag_p99_ms"])
        pages.append(run["page_p99_ms"])
    section.promise("the server's work for 1,000 viewers without other clicks, of all processors",
                    viewers_alone(bench), 5, 2, "%", more_is_better=False)
    section.promise("ingest lost to 1,000 viewers, net, median", max(median(nets), 0.1), 5, 2, "%",
                    more_is_better=False)
    section.promise("a state at its viewer, p99, worst run", max(lags), 1000, 250, "ms",
                    more_is_better=False)
    section.promise("a click in the page after its acknowledgement, p99, worst run", max(pages),
                    1000, 750, "ms", more_is_better=False)
    return section


ALL = {part.__name__: part for part in (
    ingest, matrix, sustained, disk, rollup, latency, tables, start, growth, viewers)}
