#!/usr/bin/env python3
"""make bench: measure daybook part by part, and write bench/results.md.

    make bench                          all parts; about a quarter of an hour
    make bench PART=ingest,latency      some
    make bench N=1000000                a tenth of the clicks
    make bench RUNS=1                   one run where otherwise the median of 3 is shown

Parts: PARTS

Tables go to standard error row by row as they are measured, and as sections of bench/results.md,
each with the machine, the commit and the command it came from. A part that is run again replaces
its section and no other.
"""

import argparse
import pathlib
import sys

import harness
import parts
import results

BENCH = pathlib.Path(__file__).resolve().parent


def arguments():
    words = argparse.ArgumentParser(description=__doc__.replace("PARTS", ", ".join(parts.ALL)),
                                    formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--built", type=pathlib.Path, required=True,
                       help="where daybook and the measuring programs were built")
    words.add_argument("--place", default=None, help="where data goes (BUILT)")
    words.add_argument("--clicks", type=int, default=10**7, help="the usual number (10000000)")
    words.add_argument("--runs", type=int, default=3, help="of which the median is shown (3)")
    words.add_argument("--results", type=pathlib.Path, default=BENCH / "results.md",
                       help="the file whose sections are replaced (bench/results.md)")
    words.add_argument("part", nargs="*", help="all unless given")
    chosen = words.parse_args()
    chosen.part = [name for word in chosen.part for name in word.split(",")] or list(parts.ALL)
    for name in chosen.part:
        if name not in parts.ALL:
            words.error(f"there is no part '{name}'; there are {', '.join(parts.ALL)}")
    return chosen


def command(name, chosen):
    """What makes the section again."""
    words = [f"make bench PART={name}"]
    if chosen.clicks != 10**7:
        words.append(f"N={chosen.clicks}")
    if chosen.runs != 3:
        words.append(f"RUNS={chosen.runs}")
    return " ".join(words)


def main():
    chosen = arguments()
    harness.stop_cleanly()
    bench = harness.Bench(chosen.built, chosen.place or chosen.built, chosen.clicks, chosen.runs)
    try:
        for name in chosen.part:
            harness.note(f"== {name}")
            conditions = harness.Conditions()
            section = parts.ALL[name](bench)
            text = results.text(name, parts.ALL[name].__doc__.splitlines()[0],
                                command(name, chosen), conditions, section)
            results.replace(chosen.results, name, text, order=[*parts.ALL, "rivals"])
    finally:
        bench.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
