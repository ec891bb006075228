"""cqlsh takes a million rows in from a file and out to another, which must have the same lines:
copy_rows.py CQLSH HOST PORT USER PASSWORD DIRECTORY PID [ROWS].

A tenth as many have collections of every kind and a type of one's own, which cqlsh reads slowly,
and another tenth are of counters. PID is the server's, whose memory is shown."""

import hashlib
import pathlib
import re
import subprocess
import sys

CQLSH, HOST, PORT, USER, PASSWORD, DIRECTORY, PID = sys.argv[1:8]
ROWS = int(sys.argv[8]) if len(sys.argv) > 8 else 10**6
PARTITION_ROWS = 1000


def unless(is_null, text):
    return "" if is_null else text


def quoted(text):
    return f'"{text}"'


def place(number):
    return f"{{street: 'Elm', number: {number}}}"


def click(number):
    return (f"reseller-{number // PARTITION_ROWS}", str(number), "2013-11-28 16:00:00.000+0000",
            unless(number % 3 == 0, f"ad-{number % 977}"),
            unless(number % 5 == 0, f"0.{number % 90 + 10}"),
            unless(number % 2 == 0, quoted("{'a', 'b'}")))


def order(number):
    return (str(number), unless(number % 7 == 0, quoted(f"{{'one': 1, 'two': {number}}}")),
            unless(number % 11 == 0, quoted(f"[{number}, 0, -1]")),
            unless(number % 13 == 0, quoted(place(number))),
            unless(number % 2 == 0, quoted(f"[{place(number)}]")))


def hit(number):
    return f"page-{number % 977}", str(number), str(number - 1000)


# By name: the columns as CREATE TABLE has them, by how much ROWS is divided, and the fields of a
# row as cqlsh writes them.
TABLES = {
    "clicks": ("reseller_id text, number int, time timestamp, ad_id text, amount decimal, "
               "tags set<text>, PRIMARY KEY (reseller_id, number)", 1, click),
    "orders": ("id int PRIMARY KEY, marks map<text, int>, steps list<int>, origin place, "
               "stops frozen<list<frozen<place>>>", 10, order),
    "hits": ("page text, day text, hits counter, PRIMARY KEY (page, day)", 10, hit),
}


def cqlsh(text):
    done = subprocess.run([CQLSH, HOST, PORT, "-u", USER, "-p", PASSWORD, "--no-color",
                           "--request-timeout", "60"],
                          input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(done.stdout + done.stderr)
    return done.stdout


def server_mib(name):
    status = pathlib.Path(f"/proc/{PID}/status").read_text()
    return int(re.search(rf"^{name}:\s+(\d+) kB", status, re.MULTILINE).group(1)) // 1024


def copy(table, direction, path, said):
    """COPY the table; returns its rows, and prints how long cqlsh says that it took."""
    columns = ", ".join(re.findall(r"(?:^|, )([a-z_]+) [a-z]", TABLES[table][0]))
    out = cqlsh(f"COPY copied.{table} ({columns}) {direction} '{path}' WITH NUMPROCESSES = 2;\n")
    found = re.search(rf"(\d+) rows {said} (?:from|to) \d+ files in (.*?)(?: \(\d+ skipped\))?\.$",
                      out, re.MULTILINE)
    assert found, out
    rows = int(found.group(1))
    units = {"day": 86400, "hour": 3600, "minute": 60, "second": 1}
    seconds = sum(float(number) * units[unit] for number, unit in
                  re.findall(r"([\d.]+) (day|hour|minute|second)", found.group(2)))
    print(f"COPY {table} {direction}: {rows} rows, {seconds:.0f} s, {rows / seconds:.0f} rows/s; "
          f"server: {server_mib('VmRSS')} MiB, at most {server_mib('VmHWM')} MiB", flush=True)
    return rows


def checksum(path):
    """Of the lines, whatever their order, and whether they end as ours or as cqlsh's (\\r\\n)."""
    with path.open() as file:
        return hashlib.sha256("".join(sorted(file)).encode()).hexdigest()


def bring_back(table, rows, fields):
    """In from a file of so many rows, out to another."""
    taken = pathlib.Path(DIRECTORY) / f"{table}_taken.csv"
    given = pathlib.Path(DIRECTORY) / f"{table}_given.csv"
    with taken.open("w") as file:
        file.writelines(",".join(fields(number)) + "\n" for number in range(rows))
    assert copy(table, "FROM", taken, "imported") == rows
    assert copy(table, "TO", given, "exported") == rows
    assert checksum(taken) == checksum(given), (taken, given)


def main():
    cqlsh("CREATE KEYSPACE copied WITH replication = {'class': 'SimpleStrategy', "
          "'replication_factor': 1};\nUSE copied;\nCREATE TYPE place (street text, number int);\n" +
          "".join(f"CREATE TABLE {name} ({columns});\n"
                  for name, (columns, _, _) in TABLES.items()))
    for name, (_, divisor, fields) in TABLES.items():
        bring_back(name, ROWS // divisor, fields)


main()
