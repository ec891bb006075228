"""cqlsh takes a million rows in from a file and out to another, which must have the same lines:
copy_rows.py CQLSH HOST PORT USER PASSWORD DIRECTORY [ROWS]."""

import pathlib
import re
import subprocess
import sys

CQLSH, HOST, PORT, USER, PASSWORD, DIRECTORY = sys.argv[1:7]
ROWS = int(sys.argv[7]) if len(sys.argv) > 7 else 10**6
PARTITION_ROWS = 1000
SCHEMA = """
CREATE KEYSPACE copied WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
CREATE TABLE copied.clicks (reseller_id text, number int, time timestamp, ad_id text,
    amount decimal, tags set<text>, PRIMARY KEY (reseller_id, number));
"""


def cqlsh(text):
    login = ["-u", USER, "-p", PASSWORD] if USER else []
    done = subprocess.run([CQLSH, HOST, PORT, *login, "--no-color", "--request-timeout", "60"],
                          input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(done.stdout + done.stderr)
    return done.stdout


def copy(direction, path, said):
    """COPY the table; returns its rows, and prints how many a second cqlsh says."""
    out = cqlsh(f"COPY copied.clicks (reseller_id, number, time, ad_id, amount, tags) {direction} "
                f"'{path}' WITH NUMPROCESSES = 2;\n")
    found = re.search(rf"(\d+) rows {said} (?:from|to) \d+ files in (.*?)(?: \(\d+ skipped\))?\.$",
                      out, re.MULTILINE)
    assert found, out
    units = {"day": 86400, "hour": 3600, "minute": 60, "second": 1}
    seconds = sum(float(number) * units[unit] for number, unit in
                  re.findall(r"([\d.]+) (day|hour|minute|second)", found.group(2)))
    print(f"COPY {direction}: {int(found.group(1)) / seconds:.0f} rows/s")
    return int(found.group(1))


def lines(path):
    with path.open() as file:
        return sorted(file.read().splitlines())


def main():
    taken = pathlib.Path(DIRECTORY) / "taken.csv"
    given = pathlib.Path(DIRECTORY) / "given.csv"
    with taken.open("w") as file:
        for number in range(ROWS):
            file.write(f"reseller-{number // PARTITION_ROWS},{number},2013-11-28 16:00:00.000+0000,"
                       f"ad-{number % 977},0.{number % 90 + 10},\"{{'a', 'b'}}\"\n")
    cqlsh(SCHEMA)
    assert copy("FROM", taken, "imported") == ROWS
    assert copy("TO", given, "exported") == ROWS
    assert lines(taken) == lines(given)


main()
