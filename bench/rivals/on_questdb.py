"""QuestDB from its jar: line protocol over HTTP in, SQL over HTTP and PostgreSQL's wire out."""

import decimal
import http.client
import json
import time
import urllib.parse

import psycopg

from rival import Rival

HTTP, PG = 9000, 8812
SETTINGS = f"""
http.bind.to=127.0.0.1:{HTTP}
http.min.net.bind.to=127.0.0.1:9003
line.tcp.net.bind.to=127.0.0.1:9009
pg.net.bind.to=127.0.0.1:{PG}
telemetry.enabled=false
cairo.commit.mode=sync
"""
REQUEST_BYTES = 8 << 20
# income is a hundredfold: rates are percentages, and a division would round.
FIGURES = """
    SELECT a.time day, a.reseller, a.amount, a.clicks, a.amount * r.percent income100
    FROM (SELECT time, reseller, sum(amount) amount, count() clicks FROM clicks SAMPLE BY 1d) a
    ASOF JOIN rates r ON (reseller)"""


class QuestDB:
    def __init__(self, rival):
        self.rival = rival
        root = rival.fresh("root")
        (root / "conf").mkdir()
        (root / "conf" / "server.conf").write_text(SETTINGS)
        jars = ":".join(map(str, (rival.installed / "questdb" / "lib").glob("*.jar")))
        started = time.perf_counter()
        self.server, _ = rival.serve(HTTP, [
            "java", "-XX:+UseParallelGC", "-p", jars, "-m", "io.questdb/io.questdb.ServerMain",
            "-d", root])
        self.answers()
        self.start_s = time.perf_counter() - started

    def answers(self):
        while True:
            try:
                return self.run("SELECT 1")
            except (OSError, http.client.HTTPException):
                time.sleep(0.01)

    def run(self, text):
        connection = http.client.HTTPConnection("127.0.0.1", HTTP, timeout=600)
        connection.request("GET", "/exec?query=" + urllib.parse.quote(text))
        answer = json.loads(connection.getresponse().read())
        connection.close()
        if "error" in answer:
            raise RuntimeError(f"{answer['error']}: {text}")
        return answer.get("dataset")

    def settle(self, table):
        """Wait until what was acknowledged is applied and can be read."""
        while True:
            for name, written, given in self.run(
                    "SELECT name, writerTxn, sequencerTxn FROM wal_tables()"):
                if name == table and written == given:
                    return
            time.sleep(0.02)

    def create(self):
        self.run("DROP TABLE IF EXISTS clicks")
        self.run("CREATE TABLE clicks (time TIMESTAMP, reseller SYMBOL CAPACITY 2048, "
                 "ad SYMBOL CAPACITY 65536, amount DECIMAL(12,2)) TIMESTAMP(time) "
                 "PARTITION BY DAY WAL")


class Writer:
    """One connection that writes lines; each request is acknowledged when it is synced."""

    def __init__(self):
        self.connection = http.client.HTTPConnection("127.0.0.1", HTTP, timeout=600)

    def send(self, lines):
        self.connection.request("POST", "/write?precision=ms", lines)
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status != 204:
            raise RuntimeError(f"{answer.status} {text[:200]}")


def lines_of(rival):
    """The clicks as QuestDB wants them; its day follows from the time."""
    path = rival.place / "clicks.lines"
    with rival.csv.open() as source, path.open("w") as target:
        for line in source:
            reseller, _, time_ms, ad, amount = line.rstrip("\n").split(",")
            target.write(f"clicks,reseller={reseller},ad={ad} amount={amount}d {time_ms}\n")
    return path


def load(rival, quest, path):
    """Until everything can be read; pieces end at a line's end."""
    quest.create()
    writer = Writer()

    def run():
        rest = b""
        with path.open("rb") as file:
            while block := file.read(REQUEST_BYTES):
                whole, _, rest = (rest + block).rpartition(b"\n")
                writer.send(whole + b"\n")
        quest.settle("clicks")

    rival.figure("stream", rival.clicks / rival.seconds(run),
                 "line protocol over HTTP, 8 MiB requests, commit.mode=sync, until applied")


def figures(rival, quest):
    quest.run("CREATE TABLE rates (since TIMESTAMP, reseller SYMBOL, percent DECIMAL(5,2)) "
              "TIMESTAMP(since) PARTITION BY YEAR WAL")
    rows = [line.split(",") for line in rival.rates.read_text().split()]
    Writer().send("".join(
        f"rates,reseller={reseller} percent={percent}d {milliseconds(since)}\n"
        for reseller, since, percent in rows).encode())
    quest.settle("rates")

    def rollup():
        quest.run("DROP TABLE IF EXISTS amount_by_day")
        quest.run(f"CREATE TABLE amount_by_day AS ({FIGURES})")

    rollup_ms = rival.median_ms(rollup)
    rival.figure("rollup_ms", rollup_ms, "SAMPLE BY and ASOF JOIN into a table")
    rival.figure("rate_ms", rollup_ms, "by hand: the table made anew; UPDATE knows no ASOF JOIN")
    total = quest.run("SELECT sum(income100) FROM amount_by_day")[0][0]
    rival.income(decimal.Decimal(total) / 100)
    with psycopg.connect(f"host=127.0.0.1 port={PG} user=admin password=quest dbname=qdb",
                         autocommit=True) as connection:
        cursor = connection.cursor()
        rival.months(lambda name: cursor.execute(
            f"SELECT day, income100 FROM amount_by_day WHERE reseller = '{name}'").fetchall(),
            "over PostgreSQL's wire, from the stored table")


def milliseconds(day):
    return int(time.mktime(time.strptime(day + " UTC", "%Y-%m-%d %Z")) - time.timezone) * 1000


def main():
    rival = Rival("QuestDB")
    path = lines_of(rival)
    quest = QuestDB(rival)
    rival.version(quest.run("SELECT build()")[0][0].split(",")[0].split()[-1])
    rival.figure("start_ms", quest.start_s * 1e3, "to the first answer")
    rival.figure("idle_mib", rival.memory_mib(quest.server.pid), "JVM")
    load(rival, quest, path)
    figures(rival, quest)
    quest.run("ALTER TABLE clicks CONVERT PARTITION TO PARQUET WHERE time > 0")
    quest.settle("clicks")
    time.sleep(2)
    sizes = quest.run("SELECT sum(diskSize) FROM table_partitions('clicks')")
    rival.figure("bytes", int(sizes[0][0]) / rival.clicks, "partitions converted to Parquet")
    writer = Writer()
    for name, size, clicks in (("ack_10000", 10000, 10**6), ("ack_1000", 1000, 10**5)):
        quest.create()
        rival.waiting(name, size, clicks, writer.send, "line protocol over HTTP, commit.mode=sync",
                      path)
    rival.stop(quest.server)
    rival.finish()


if __name__ == "__main__":
    main()
