#!/usr/bin/env python3
"""make bench-rivals: the same work on the same data by daybook and by what would be taken instead.

    make bench-rivals                         all rivals
    make bench-rivals RIVALS=postgres,redis   some
    make bench-rivals N=1000000               a tenth of the clicks

Clients and servers share the same cores; every acknowledgement counted is after an fsync; settings
are the rivals' at their best, and each figure's is said below the table. Whoever computes what
resellers earn must come to daybook's sum, to the digit.
"""

import argparse
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import cql_month  # noqa: E402
import harness  # noqa: E402
import parts  # noqa: E402
import results  # noqa: E402
import rival  # noqa: E402

RIVALS = ("duckdb", "clickhouse", "postgres", "questdb", "cassandra", "redis")

# name, what, unit, whether more is better
MEASURES = (
    ("stream", "clicks streamed, durable", "/s", True),
    ("ack_10000", "waiting for each durable batch of 10,000, one connection", "/s", True),
    ("ack_1000", "waiting for each durable batch of 1,000, one connection", "/s", True),
    ("single", "one click a commit, durable, 64 in flight", "/s", True),
    ("bytes", "bytes a click on disk, the clicks alone", " B", False),
    ("all_bytes", "bytes a click on disk, all that is kept", " B", False),
    ("rollup_ms", "all days at their rates, durable", " ms", False),
    ("kept_ms", "the same from kept sums, on read", " ms", False),
    ("rate_ms", "a rate changed a month back", " ms", False),
    ("month_p50_us", "one reseller's month, p50", " µs", False),
    ("month_p99_us", "one reseller's month, p99", " µs", False),
    ("counters", "counter increments, durable", "/s", True),
    ("counters_single", "counter increments one at a time, 64 in flight, durable", "/s", True),
    ("start_ms", "start", " ms", False),
    ("idle_mib", "idle memory", " MiB", False),
)

# Ends the names of daybook's figures through its other door.
BINARY = "_binary"


def rates(path, resellers=1000):
    """One to three rates a reseller, so that a day needs the one in effect on it."""
    with path.open("w") as file:
        for i in range(resellers):
            file.write(f"reseller-{i:04},2026-07-01,{5 + i % 25}.25\n")
            if i % 2:
                file.write(f"reseller-{i:04},2026-08-{2 + i % 28:02},{6 + i % 20}.50\n")
            if i % 3 == 0:
                file.write(f"reseller-{i:04},2026-08-30,{4 + i % 10}.75\n")


def table_bytes(bench, server, name):
    tables, _ = bench.command(server, "inspect", "--format", "json")
    return next(table["bytes"] for table in json.loads(tables) if table["table"] == name)


def measure_daybook(bench):
    """daybook's own figures, by the names of MEASURES, and what resellers earn; leaves the inputs
    that are its own for who comes after it (rival.py)."""
    found = {"name": "daybook", "version": harness.commit(), "figures": {}, "notes": {
        "stream": "text door, batches of 1,000, 64 in flight, one connection",
        "single": "text door, batches of one click",
        "bytes": "the table of clicks after compact",
        "all_bytes": "also counters, figures, ledger, rates and the log after compact",
        "rollup_ms": "rate load of every reseller: all figures made anew",
        "kept_ms": "every day's stored sum times a rate",
        "rate_ms": "rate set: figures durable, readable, and the change recorded",
        "month_p50_us": "over CQL, the 30 stored rows, a prepared statement on one connection",
        "month_p99_us": "over CQL, the 30 stored rows, a prepared statement on one connection",
        "counters": "three a click: ad, reseller, reseller and day",
        "counters_single": "three a click, batches of one click"}}
    figures = found["figures"]
    os.sync()  # as each rival does
    figures["start_ms"] = harness.median(
        bench.start_ms(None, "--cql", "127.0.0.1:0") for _ in range(rival.STARTS))
    own = bench.place / "own-rates.csv"
    own.write_text("reseller_id,effective_since,reward_percent\n" + "".join(
        line + "%\n" for line in (bench.place / "rates.csv").read_text().split()))
    store = bench.place / "store"
    with bench.serve(store, "--cql", "127.0.0.1:0") as server:
        figures["idle_mib"] = server.memory_kb("VmRSS") / 1024
        figures["stream"] = bench.send(server, bench.clicks)["clicks/s"]
        bench.command(server, "rollup")
        _, seconds = bench.command(server, "rate", "load", own)
        figures["rollup_ms"] = seconds * 1e3
        total, _ = bench.command(server, "report", "--by", "total", "--format", "csv")
        found["income"] = total.splitlines()[1].split(",")[2]
        report, _ = bench.command(server, "report", "--format", "csv")
        (bench.place / "report.csv").write_text(report)
        month = cql_month.CqlMonth(server.port("cql"))
        (figures["month_p50_us"], figures["month_p99_us"]), = rival.month_us(month.ask)
        month.close()
        figures["rate_ms"] = bench.ask(server, 0, 300, "rate", "set", "%R", "2026-08-02",
                                       "%P")["p50_us"] / 1e3
        bench.command(server, "compact")
        figures["bytes"] = table_bytes(bench, server, "daybook.ad_click") / bench.clicks
        figures["all_bytes"] = harness.bytes_on_disk(store) / bench.clicks
        server.stop()
    figures["kept_ms"] = bench.figures("rescan", store)["stats_ms"]
    ways = [("ack_10000", bench.clicks, ("--batch", 10000, "--window", 1)),
            ("ack_1000", bench.clicks, ("--batch", 1000, "--window", 1)),
            ("single", min(bench.clicks, 10**6), ("--batch", 1, "--window", 64))]
    ways += [(name + BINARY, clicks, (*options, "--binary"))
             for name, clicks, options in [("stream", bench.clicks, ()), *ways[:2]]]
    for name, clicks, options in ways:
        with bench.directory() as directory, bench.serve(directory) as server:
            figures[name] = bench.send(server, clicks, *options)["clicks/s"]
    figures["counters"] = 3 * figures["stream"]
    figures["counters_single"] = 3 * figures["single"]
    return found


def measure_rival(bench, name, installed, patience_s):
    """The figures of one rival from its script, or those it had when it failed or took too long."""
    harness.note(f"== {name}")
    place = bench.place / name
    place.mkdir()
    out = place / "figures.json"
    script = subprocess.Popen(
        [installed / "venv/bin/python", HERE / f"on_{name}.py", "--installed", installed,
         "--place", place, "--inputs", bench.place, "--out", out],
        stdout=sys.stderr)
    try:
        with contextlib.suppress(subprocess.TimeoutExpired):
            script.wait(patience_s)
    finally:
        # Asked, not killed: it has a server of its own to stop.
        script.terminate()
        script.wait()
        found = json.loads(out.read_text()) if out.exists() else {"name": name, "figures": {}}
        shutil.rmtree(place, ignore_errors=True)
    return found


def digits_of(decimal_text):
    """A decimal without the zeros that only its scale adds."""
    return re.sub(r"\.?0+$", "", decimal_text) if "." in decimal_text else decimal_text


def amount(value, unit):
    """With its unit; only rates are shortened to thousands and millions."""
    return (harness.figure(value) if unit == "/s" else harness.digits(value)) + unit


def table_of(section, own, others):
    table = section.table("", "daybook", *(other["name"] for other in others))
    for name, what, unit, more_is_better in MEASURES:
        for door, said in (("", ""), (BINARY, ", daybook's binary door")):
            if name + door in own["figures"]:
                table.row(what + said, *row_of(own["figures"][name + door], name, unit, others,
                                               more_is_better))


def row_of(own, name, unit, others, more_is_better):
    """daybook's figure, then each other's with how many times better daybook is; where the two
    were measured in turn by its figure of then, which is said too."""
    cells = [amount(own, unit)]
    for other in others:
        if name in other["figures"]:
            theirs = other["figures"][name]
            beside = other.get("beside", {}).get(name)
            ours = beside or own
            times = ours / theirs if more_is_better else theirs / ours
            said = f"; {amount(beside, unit)}" if beside else ""
            cells.append(f"{amount(theirs, unit)} (**{harness.digits(times)}**{said})")
        else:
            cells.append("–")
    return cells


def notes_of(section, founds):
    for found in founds:
        lines = [f"{what}: {found['notes'][name]}" for name, what, _, _ in MEASURES
                 if found["notes"].get(name)]
        section.say(f"*{found['name']}* {found['version']}. " + "; ".join(lines) + ".")


def compare(bench, chosen):
    section = harness.Section()
    text = bench.run("generate_clicks", "-n", bench.clicks)
    (bench.place / "clicks.csv").write_text(text.split("\n", 1)[1])
    rates(bench.place / "rates.csv")
    harness.note("== daybook")
    own = measure_daybook(bench)
    others = [measure_rival(bench, name, chosen.installed, chosen.patience)
              for name in chosen.rivals]
    section.say(f"{bench.clicks:,} clicks of 30 days, 1,000 resellers, one to three rates each. "
                "Each rival's figure, and in brackets how many times better daybook is. Months, "
                "PostgreSQL's rate changes and Redis' starts are measured in turn with daybook's, "
                "whose figure then is in the brackets too. Clients and servers share the cores; "
                "every commit is synced.")
    measured = [other for other in others if other["figures"]]
    table_of(section, own, measured)
    for other in others:
        if not other.get("is_whole"):
            section.say(f"**{other['name']} did not come to its end**; its figures are those "
                        "until then.")
        if other.get("income") and digits_of(other["income"]) != digits_of(own["income"]):
            section.say(f"**{other['name']} comes to another sum**: {other['income']}, daybook to "
                        f"{own['income']}.")
    notes_of(section, [own, *measured])
    return section


def main():
    words = argparse.ArgumentParser(description=__doc__,
                                    formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--built", type=pathlib.Path, required=True)
    words.add_argument("--installed", type=pathlib.Path, required=True,
                       help="what install.sh made")
    words.add_argument("--clicks", type=int, default=10**7)
    words.add_argument("--patience", type=int, default=900, help="seconds for one rival (900)")
    words.add_argument("--results", type=pathlib.Path, default=HERE.parent / "results.md",
                       help="the file whose section is replaced (bench/results.md)")
    words.add_argument("rivals", nargs="*", default=[])
    chosen = words.parse_args()
    chosen.installed = chosen.installed.resolve()
    chosen.rivals = [name for word in chosen.rivals for name in word.split(",")] or list(RIVALS)
    for name in chosen.rivals:
        if name not in RIVALS:
            words.error(f"there is no rival '{name}'; there are {', '.join(RIVALS)}")
    harness.stop_cleanly()
    bench = harness.Bench(chosen.built, chosen.built, chosen.clicks, runs=3)
    conditions = harness.Conditions()
    try:
        section = compare(bench, chosen)
    finally:
        bench.close()
    # All of them share a table; some have a section of their own and leave it as it is.
    is_all = chosen.rivals == list(RIVALS)
    name = "rivals" if is_all else "_".join(chosen.rivals)
    command = "make bench-rivals" + ("" if is_all else f" RIVALS={','.join(chosen.rivals)}")
    if chosen.clicks != 10**7:
        command += f" N={chosen.clicks}"
    text = results.text(name, "daybook beside what would be taken instead.", command, conditions,
                        section)
    results.replace(chosen.results, name, text, order=[*parts.ALL, "rivals"])


if __name__ == "__main__":
    main()
