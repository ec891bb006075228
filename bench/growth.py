"""growth: whether what daybook costs grows in line with the work it is given.

The work is clicks and (reseller, day)s, for each of these is a partition with a mark, a figure and
a row in its segment's directory. So the model is

    cost = a * clicks + b * (reseller, day)s

and in line means that neither a nor b grows by more than 1.3 when its factor grows ten times: a
over ten times the clicks of every shape, b over ten times the resellers, or days, of the same
number of clicks. Where clicks are many and (reseller, day)s few, b is lost in a; so b is what a run
takes above the reference, divided by how many (reseller, day)s it has more.
"""

import csv
import io
import math

from harness import Section, bytes_on_disk, count, figure

MONTH = ("report", "--reseller", "%R", "--from", "2026-08-01", "--to", "2026-08-31", "--by", "day",
         "--format", "csv")

# The reference, which is in every group: its ads are as many as those of larger shapes.
RESELLERS = 1000
DAYS = 30

# What a generated click holds besides who and when: log-normal amounts of whole cents.
AMOUNT_BITS = 6.8
ADS_PER_RESELLER = 200
ADS_IN_ALL = 50_000
UUID_BITS = 122


# ---- what any store must take ----


def zipf_bits(outcomes):
    """Entropy of a draw with weights 1/1, 1/2, 1/3 …"""
    total = sum(1 / (i + 1) for i in range(outcomes))
    return sum(math.log2(total * (i + 1)) / (i + 1) for i in range(outcomes)) / total


def reseller_bits(resellers, is_heavy):
    """The same of the reseller; where one has half of all clicks, a bit says whether it is he."""
    return 1 + zipf_bits(resellers) / 2 if is_heavy else zipf_bits(resellers)


def information(clicks, resellers, days, options):
    """Bytes a click that any store must take: clicks are independent draws whose order is no part
    of the data, since each has its time."""
    drawn = (reseller_bits(resellers, "--heavy" in options) + math.log2(days)
             + math.log2(86_400_000) + zipf_bits(ADS_PER_RESELLER) + AMOUNT_BITS)
    order = math.lgamma(clicks + 1) / math.log(2) / clicks
    names = min(ADS_IN_ALL, clicks) * UUID_BITS / clicks if "--uuid-ads" in options else 0
    return (drawn - order + names) / 8


# ---- one shape ----


def days_kept(bench, server):
    """How many (reseller, day)s there are, when all is settled and merged."""
    text, _ = bench.command(server, "inspect", "--format", "csv")
    tables = {row["table"]: row for row in csv.DictReader(io.StringIO(text))}
    return int(tables["daybook.amount_by_day"]["rows"])


def ask_both(bench, server, resellers):
    """The month of one reseller, p50, and a report over everything."""
    month_us = bench.ask(server, 0, 500, *MONTH, resellers=resellers)["p50_us"]
    return month_us, bench.command(server, "report", "--by", "total")[1]


def measure(bench, clicks, resellers, days, options):
    """Speed, work, bytes and memory; reports right after the last click, and when all is done."""
    words = ("--resellers", resellers, "--days", days, *options)
    with bench.directory() as directory, bench.serve(directory) as server:
        found = bench.send(server, clicks, *words)
        sent_s = server.cpu_s()
        month_us, total_s = ask_both(bench, server, resellers)
        found |= {"month_early_us": month_us, "total_early_s": total_s}
        asked_s = server.cpu_s()
        _, found["settle_s"] = bench.command(server, "rollup")
        bench.command(server, "compact")
        found["cpu_s"] = sent_s + server.cpu_s() - asked_s
        found["month_us"], found["total_s"] = ask_both(bench, server, resellers)
        found["days"] = days_kept(bench, server)
        found["peak_mib"] = server.memory_kb() / 1024
        found["bytes"] = bytes_on_disk(directory) / clicks
    found["sent_us"] = sent_s / clicks * 1e6
    found["cpu_us"] = found["cpu_s"] / clicks * 1e6
    found["bound"] = information(clicks, resellers, days, options)
    return found


class Shapes:
    """Every shape is measured once, however many groups it is in."""

    def __init__(self, bench):
        self.bench = bench
        self.found = {}

    def run(self, clicks, resellers=RESELLERS, days=DAYS, *options):
        """None where the disk is too small."""
        shape = (clicks, resellers, days, options)
        if shape not in self.found and self.bench.enough_disk(clicks):
            self.found[shape] = measure(self.bench, *shape)
        return self.found.get(shape)


# ---- tables ----


def ratio(before, run, key):
    return f"{run[key] / before[key]:.2f}" if before else ""


def per_click(section, shapes, groups):
    """Each row against the one before it in its group."""
    table = section.table("data", "clicks/s", "x", "CPU µs/click", "x", "bytes/click", "x", "bound",
                          "x", "peak MiB", "month ms", "x", "total ms", "x", "early month ms",
                          "early total ms", "settled s")
    for group in groups:
        before = None
        for title, *shape in group:
            run = shapes.run(*shape)
            if run is None:
                continue
            slower = f"{before['clicks/s'] / run['clicks/s']:.2f}" if before else ""
            table.row(title, figure(run["clicks/s"]), slower,
                      f"{run['sent_us']:.2f}", ratio(before, run, "sent_us"),
                      f"{run['bytes']:.2f}", ratio(before, run, "bytes"),
                      f"{run['bound']:.2f}", ratio(before, run, "bound"),
                      f"{run['peak_mib']:.0f}",
                      f"{run['month_us'] / 1e3:.2f}", ratio(before, run, "month_us"),
                      f"{run['total_s'] * 1e3:.0f}", ratio(before, run, "total_s"),
                      f"{run['month_early_us'] / 1e3:.2f}", f"{run['total_early_s'] * 1e3:.0f}",
                      f"{run['settle_s']:.1f}")
            before = run


def over_clicks(section, shapes, base):
    """a: ten times the clicks of each shape."""
    section.say("*Ten times the clicks of each shape.* CPU is all of it: while clicks are sent, "
                "until all is settled, and to merge it.")
    table = section.table("data", f"CPU µs/click, {count(base // 10)}", count(base), "x",
                          f"bytes/click, {count(base // 10)}", count(base), "x")
    ratios = []
    for title, *shape in (("16 resellers", 16), ("1,000 resellers", 1000),
                          ("100,000 resellers", 100_000), ("1 day", RESELLERS, 1),
                          ("3,650 days", RESELLERS, 3650)):
        few, many = shapes.run(base // 10, *shape), shapes.run(base, *shape)
        table.row(title, f"{few['cpu_us']:.2f}", f"{many['cpu_us']:.2f}",
                  ratio(few, many, "cpu_us"), f"{few['bytes']:.2f}", f"{many['bytes']:.2f}",
                  ratio(few, many, "bytes"))
        ratios.append(many["cpu_us"] / few["cpu_us"])
    section.promise("CPU a click, ten times the clicks, the worst shape", max(ratios), 1.3, 1, "x",
                    more_is_better=False)


def over_days(section, shapes, base):
    """b: ten times the (reseller, day)s of the same clicks."""
    reference = shapes.run(base)
    section.say("*Ten times the (reseller, day)s of the same clicks*: what a run takes above the "
                "reference, by how many it has more. CPU as before.")
    table = section.table("data", "(reseller, day)s", "clicks each", "CPU µs each", "x",
                          "bytes each", "x")
    ratios = []
    for group in ((("10,000 resellers", 10_000), ("100,000 resellers", 100_000)),
                  (("365 days", RESELLERS, 365), ("3,650 days", RESELLERS, 3650))):
        before = None
        for title, *shape in group:
            run = shapes.run(base, *shape)
            more = run["days"] - reference["days"]
            each = {"us": (run["cpu_s"] - reference["cpu_s"]) / more * 1e6,
                    "bytes": (run["bytes"] - reference["bytes"]) * base / more}
            table.row(title, f"{run['days']:,}", f"{base / run['days']:.1f}", f"{each['us']:.1f}",
                      ratio(before, each, "us"), f"{each['bytes']:.0f}",
                      ratio(before, each, "bytes"))
            if before:
                ratios.append(each["us"] / before["us"])
            before = each
    section.promise("CPU a (reseller, day), ten times as many, the worse way", max(ratios), 1.3, 1,
                    "x", more_is_better=False)


def growth(bench):
    """Whether cost grows in line with the work: by clicks, and by (reseller, day)s."""
    section = Section()
    shapes = Shapes(bench)
    base = bench.clicks
    section.say("Clicks streamed over one connection. *x* is the cost per click, or of a report, "
                "against the row before in its group. *CPU* is the server's while clicks are sent. "
                "*Bound* is the information in a click of this shape: what any store must take for "
                "it, without counters and figures; the ratio behind it is of the bounds. *Month* "
                "is one reseller's month over the socket, p50; *total* a report over everything, "
                "with the start of its process: when all is settled and merged, and, *early*, "
                "right after the last click, beside the rollup. *Settled* is `daybook rollup` "
                "after it: every figure durable and published. *Peak* is of the server's whole "
                "life, merges included; its limit is 1,024.")
    per_click(section, shapes, (
        [(f"{count(n)} clicks", n) for n in (base // 10, base, base * 10)],
        [(f"{n:,} resellers", base, n) for n in (16, 1000, 10_000, 100_000)],
        [(f"{n:,} days", base, RESELLERS, n) for n in (1, 30, 365, 3650)],
        [("the reference", base),
         ("one reseller with half of all clicks", base, RESELLERS, DAYS, "--heavy")],
        [("the reference", base),
         ("ads that are UUIDs", base, RESELLERS, DAYS, "--uuid-ads")]))
    over_clicks(section, shapes, base)
    over_days(section, shapes, base)
    return section
