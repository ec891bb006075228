"""ClickHouse, in the process that asks, through chdb: no registry ships its server."""

import os
import subprocess
import sys

import chdb
from chdb import session

from rival import RATE_CHANGE_DAY, Rival

SOURCE = "reseller String, day Date, t Int64, ad String, amount Decimal(12,2)"
PLAIN = ("reseller LowCardinality(String), day Date, time DateTime64(3, 'UTC'), "
         "ad LowCardinality(String), amount Decimal(12,2)")
CODED = ("reseller LowCardinality(String) CODEC(ZSTD(3)), day Date CODEC(Delta, ZSTD(3)), "
         "time DateTime64(3, 'UTC') CODEC(Delta, ZSTD(3)), "
         "ad LowCardinality(String) CODEC(ZSTD(3)), amount Decimal(12,2) CODEC(T64, ZSTD(3))")
# A sum is exact as Decimal(38,2); a rate is a percentage with two digits.
FIGURES = """
    SELECT a.reseller AS reseller, a.day AS day, a.clicks AS clicks,
           toDecimal128(a.amount, 2) * toDecimal128(r.percent, 2)
           * toDecimal128('0.01', 2) AS income
    FROM (SELECT reseller, day, sum(amount) AS amount, {count} AS clicks
          FROM b.{table} {where} GROUP BY reseller, day) a
    ASOF LEFT JOIN b.rates r ON a.reseller = r.reseller AND a.day >= r.since"""
SYNCED = "SETTINGS fsync_after_insert = 1, fsync_part_directory = 1"


class ClickHouse:
    def __init__(self, rival):
        self.rival = rival
        self.session = session.Session(str(rival.place / "session"))
        self.run("CREATE DATABASE b ENGINE = Atomic")

    def run(self, text):
        return self.session.query(text, "CSV")

    def value(self, text):
        return str(self.run(text)).strip().strip('"')

    def table(self, name, columns=PLAIN):
        self.run(f"DROP TABLE IF EXISTS b.{name} SYNC")
        self.run(f"CREATE TABLE b.{name} ({columns}) ENGINE = MergeTree "
                 f"ORDER BY (reseller, day, time) {SYNCED}")

    def load(self, name):
        return self.rival.seconds(self.run, f"""
            INSERT INTO b.{name} SELECT reseller, day, fromUnixTimestamp64Milli(t, 'UTC'), ad,
            amount FROM file('{self.rival.csv}', CSV, '{SOURCE}')""")


def figures(rival, house):
    house.run("CREATE TABLE b.rates (reseller String, since Date, percent Decimal(5,2)) "
              "ENGINE = MergeTree ORDER BY (reseller, since)")
    house.run(f"INSERT INTO b.rates SELECT * FROM file('{rival.rates}', CSV, "
              "'reseller String, since Date, percent Decimal(5,2)')")
    house.run("CREATE TABLE b.amount_by_day (reseller String, day Date, clicks UInt64, "
              f"income Decimal(38,6)) ENGINE = MergeTree ORDER BY (reseller, day) {SYNCED}")
    every = FIGURES.format(count="count()", table="clicks", where="")

    def rollup():
        house.run("TRUNCATE TABLE b.amount_by_day")
        house.run("INSERT INTO b.amount_by_day " + every)

    rival.figure("rollup_ms", rival.median_ms(rollup),
                 "GROUP BY and ASOF JOIN into a table, synced")
    rival.income(house.value("SELECT sum(income) FROM b.amount_by_day"))
    rival.months(lambda name: house.run("SELECT day, income FROM b.amount_by_day "
                                        f"WHERE reseller = '{name}' ORDER BY day"),
                 "in process, from the stored table")
    house.run("CREATE TABLE b.kept (reseller LowCardinality(String), day Date, "
              "amount Decimal(38,2), clicks UInt64) ENGINE = SummingMergeTree "
              "ORDER BY (reseller, day)")
    house.run("INSERT INTO b.kept SELECT reseller, day, sum(amount), count() FROM b.clicks "
              "GROUP BY reseller, day")
    kept = FIGURES.format(count="sum(clicks)", table="kept", where="")
    rival.figure("kept_ms", rival.median_ms(
        lambda: house.run(f"SELECT sum(income) FROM ({kept})")), "SummingMergeTree, rates on read")
    house.run(f"INSERT INTO b.rates VALUES ('reseller-0000', '{RATE_CHANGE_DAY}', 50.00)")
    one = FIGURES.format(count="count()", table="clicks", where="WHERE reseller = 'reseller-0000'")

    def repair():
        house.run("DELETE FROM b.amount_by_day WHERE reseller = 'reseller-0000'")
        house.run("INSERT INTO b.amount_by_day " + one)

    rival.figure("rate_ms", rival.median_ms(repair),
                 "by hand: DELETE and INSERT of one reseller, not atomic")


def waiting(rival, house):
    def send(batch):
        house.session.query("INSERT INTO b.s FORMAT CSV\n" + batch.decode(), "Null")

    for name, size, clicks in (("ack_10000", 10000, 10**6), ("ack_1000", 1000, 5 * 10**4)):
        house.table("s")
        rival.waiting(name, size, clicks, send, "INSERT of CSV, fsync_after_insert")


def main():
    rival = Rival("ClickHouse")
    start = [sys.executable, "-c", "import chdb; chdb.query('select 1', 'CSV')"]
    rival.figure("start_ms", rival.median_ms(lambda: subprocess.run(
        start, check=True, stdout=subprocess.DEVNULL)), "a Python process that imports it")
    house = ClickHouse(rival)
    rival.version(f"{house.value('SELECT version()')} (chdb {chdb.__version__})")
    rival.figure("idle_mib", rival.memory_mib(os.getpid()), "Python included")
    house.table("clicks")
    rival.figure("stream", rival.clicks / house.load("clicks"),
                 "INSERT SELECT of the file, fsync_after_insert; merges go on behind it")
    figures(rival, house)
    waiting(rival, house)
    house.table("coded", CODED)
    house.load("coded")
    house.run("OPTIMIZE TABLE b.coded FINAL")
    size = house.value("SELECT sum(bytes_on_disk) FROM system.parts WHERE database = 'b' AND "
                       "table = 'coded' AND active")
    rival.figure("bytes", int(size) / rival.clicks,
                 "sorted by reseller, day, time; Delta, T64, ZSTD(3); OPTIMIZE FINAL")
    house.session.close()
    rival.finish()


if __name__ == "__main__":
    main()
