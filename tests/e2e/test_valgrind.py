"""A whole life of the server under valgrind: serve, load, statements of CQL, report, back up, stop;
and commands on the directory without it."""

import shutil
import subprocess

import pytest

import cql
import daybook

# Any error or block that nobody can free any more ends with this status.
LEAKED = 99
SHORT_LINE = "UA,2013-01-01,1357035300000,N14228,1\n"
CLICKS = ("--reseller", "supaboobs", "--day", "2013-11-28")
STATEMENTS = [
    "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    "CREATE TABLE k.t (a int, b int, c list<text>, d text static, e decimal, PRIMARY KEY (a, b))",
    "CREATE INDEX ON k.t (e)",
    "INSERT INTO k.t (a, b, c, d, e) VALUES (1, 1, ['x', 'y'], 'all', 0.10) USING TTL 1000",
    "UPDATE k.t SET c = c + ['z'], e = 2.5 WHERE a = 1 AND b = 2",
    "BEGIN BATCH DELETE c FROM k.t WHERE a = 1 AND b = 1; DELETE FROM k.t WHERE a = 2 APPLY BATCH",
    "SELECT a, count(*), sum(e) FROM k.t GROUP BY a",
    "SELECT JSON * FROM k.t WHERE a = 1 ORDER BY b DESC LIMIT 1",
    "SELECT * FROM k.t WHERE e = 2.5",
    "INSERT INTO k.t (a, b) VALUES (1, 1) IF NOT EXISTS",
    "TRUNCATE k.t",
    "DROP KEYSPACE k",
]


@pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind is not installed")
@pytest.mark.skipif(daybook.IS_SANITIZED, reason="one watcher at a time")
def test_a_life_of_the_server_leaks_nothing(directory, tmp_path, flights, paper):
    log = tmp_path / "valgrind.txt"
    wrapper = ["valgrind", "--quiet", "--leak-check=full", "--show-leak-kinds=definite,indirect",
               "--errors-for-leak-kinds=definite,indirect", f"--error-exitcode={LEAKED}"]
    server = daybook.Server(directory, "--cql", "127.0.0.1:0",
                            wrapper=[*wrapper, f"--log-file={log}"])
    file = tmp_path / "clicks.csv"
    file.write_text(flights.header + "".join(flights.lines[:20000]))
    server.run("load", file)
    producer = daybook.Producer(daybook.batches_of(paper.lines, 2))
    producer.send_all(server.address)
    # An amount without a point, and behind it memory that was never written.
    server.client().send(flights.header + SHORT_LINE).finish().rest()
    server.client().send("x\n").finish().rest()
    server.run("rate", "load", flights.rates)
    server.run("rate", "load", paper.rates)
    for words in (["report"], ["report", "--by", "month", "--format", "json"], ["counters"],
                  ["rate", "set", "AA", "2013-01-01", "50%"], ["restatements"], ["rollup"],
                  ["rejects", "list"], ["compact"], ["verify"], ["status"], ["inspect"],
                  ["load", "--binary", file, "--as", "again"], ["backup", tmp_path / "b"],
                  ["clicks", "void", *CLICKS], ["clicks", "restore", *CLICKS],
                  ["backup", "--follow", tmp_path / "f"], ["retention", "set", "30"], ["rollup"]):
        server.run(*words)
    with cql.connected(server) as session:
        for statement in STATEMENTS:
            session.execute(statement)
    status = server.stop()
    text = log.read_text() if log.exists() else ""
    assert status == 0, text or server.text()
    assert text == ""
    for words in (["report", "-d", directory], ["verify", "-d", directory],
                  ["restore", tmp_path / "b", tmp_path / "restored"]):
        done = subprocess.run([*wrapper, daybook.PROGRAM, *words], env=daybook.environment(),
                              capture_output=True, check=False)
        assert done.returncode == 0 and b"==" not in done.stderr, done.stderr.decode()
