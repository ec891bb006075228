"""DuckDB, in the process that asks: it has no server."""

import io
import pathlib
import subprocess
import sys

import duckdb
import pyarrow
import pyarrow.csv

from rival import RATE_CHANGE_DAY, Rival

COLUMNS = ("(reseller VARCHAR, day DATE, time TIMESTAMP_MS, ad VARCHAR, amount DECIMAL(12,2))")
FIGURES = """
    SELECT a.reseller, a.day, a.clicks, a.amount,
           a.amount::DECIMAL(18,2) * r.percent * 0.01::DECIMAL(3,2) AS income
    FROM (SELECT reseller, day, sum(amount) AS amount, count(*) AS clicks
          FROM clicks {where} GROUP BY reseller, day) a
    ASOF LEFT JOIN rates r ON a.reseller = r.reseller AND a.day >= r.since"""


def connect(path):
    connection = duckdb.connect(str(path))
    connection.execute("SET threads = 2")
    return connection


def load(rival, connection):
    """The whole file in one transaction, then a checkpoint, which syncs."""
    connection.execute("CREATE TABLE clicks " + COLUMNS)

    def run():
        connection.execute(f"""
            INSERT INTO clicks SELECT reseller, day, epoch_ms(t)::TIMESTAMP_MS, ad, amount
            FROM read_csv('{rival.csv}', header = false, auto_detect = false, delim = ',',
                          quote = '', escape = '', columns = {{'reseller': 'VARCHAR',
                          'day': 'DATE', 't': 'BIGINT', 'ad': 'VARCHAR',
                          'amount': 'DECIMAL(12,2)'}})""")
        connection.execute("CHECKPOINT")

    rival.figure("stream", rival.clicks / rival.seconds(run),
                 "read_csv of the file, one transaction and a checkpoint")


def sorted_bytes(rival, path):
    target = rival.place / "sorted.db"
    connection = connect(target)
    connection.execute(f"ATTACH '{path}' AS source (READ_ONLY)")
    connection.execute("CREATE TABLE clicks AS SELECT * FROM source.clicks "
                       "ORDER BY reseller, day, time")
    connection.execute("DETACH source")
    connection.execute("CHECKPOINT")
    connection.close()
    rival.figure("bytes", rival.bytes_in(target) / rival.clicks, "sorted by reseller, day, time")


def figures(rival, connection):
    connection.execute(f"""
        CREATE TABLE rates AS SELECT column0 AS reseller, column1::DATE AS since,
        column2::DECIMAL(5,2) AS percent
        FROM read_csv('{rival.rates}', header = false, all_varchar = true)""")
    rival.figure("rollup_ms", rival.median_ms(lambda: connection.execute(
        "CREATE OR REPLACE TABLE amount_by_day AS " + FIGURES.format(where=""))),
        "GROUP BY and ASOF JOIN into a table, committed")
    rival.income(connection.execute("SELECT sum(income) FROM amount_by_day").fetchone()[0])
    rival.months(lambda name: connection.execute(
        "SELECT day, income FROM amount_by_day WHERE reseller = ? ORDER BY day",
        [name]).fetchall(), "in process, from the stored table")
    connection.execute(f"INSERT INTO rates VALUES ('reseller-0000', '{RATE_CHANGE_DAY}', 50.00)")

    def repair():
        connection.execute("BEGIN")
        connection.execute("DELETE FROM amount_by_day WHERE reseller = 'reseller-0000'")
        connection.execute("INSERT INTO amount_by_day "
                           + FIGURES.format(where="WHERE reseller = 'reseller-0000'"))
        connection.execute("COMMIT")

    rival.figure("rate_ms", rival.median_ms(repair), "by hand: DELETE and INSERT of one reseller")


def waiting(rival, connection):
    """A commit a batch; the text is parsed by Arrow, which is faster than DuckDB's own reader."""
    columns = ["reseller", "day", "t", "ad", "amount"]
    types = {"reseller": pyarrow.string(), "day": pyarrow.date32(), "t": pyarrow.int64(),
             "ad": pyarrow.string(), "amount": pyarrow.decimal128(12, 2)}
    read = pyarrow.csv.ReadOptions(column_names=columns, use_threads=False)
    convert = pyarrow.csv.ConvertOptions(column_types=types)

    def send(batch):
        table = pyarrow.csv.read_csv(io.BytesIO(batch), read_options=read, convert_options=convert)
        connection.register("batch", table)
        connection.execute("INSERT INTO s SELECT reseller, day, epoch_ms(t)::TIMESTAMP_MS, ad, "
                           "amount FROM batch")

    for name, size, clicks in (("ack_10000", 10000, 10**6), ("ack_1000", 1000, 10**5)):
        connection.execute("CREATE OR REPLACE TABLE s " + COLUMNS)
        rival.waiting(name, size, clicks, send, "INSERT of an Arrow table, a commit each")
    rows = [("reseller-0001", "2026-08-01", "2026-08-01 00:00:00", "ad-0000001", "0.70")] * 500
    took = rival.seconds(lambda: [connection.execute("INSERT INTO s VALUES (?, ?, ?, ?, ?)", row)
                                  for row in rows])
    rival.figure("single", len(rows) / took, "one connection, in process")


def main():
    rival = Rival("DuckDB")
    rival.version(duckdb.__version__)
    start = [sys.executable, "-c", "import duckdb; duckdb.sql('select 1').fetchall()"]
    rival.figure("start_ms", rival.median_ms(lambda: subprocess.run(start, check=True)),
                 "a Python process that imports it")
    path = rival.place / "clicks.db"
    connection = connect(path)
    rival.figure("idle_mib", rival.memory_mib(pathlib.Path("/proc/self").resolve().name),
                 "Python included")
    load(rival, connection)
    figures(rival, connection)
    waiting(rival, connection)
    connection.close()
    sorted_bytes(rival, path)
    rival.finish()


if __name__ == "__main__":
    main()
