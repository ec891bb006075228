"""A wall clock that is wrong: nothing is done by it that cannot be undone, and a server says so."""

import datetime
import re
import time

import cql
import daybook

YEAR = 366 * 86400


def now_ms():
    return int(time.time() * 1000)


def test_a_server_a_year_ahead_publishes_and_seals_nothing_until_that_is_over(
        directory, tmp_path):
    ahead = tmp_path / "ahead"
    ahead.write_text("0")
    wrapper = daybook.preloaded(tmp_path, "wrong_clock") + [f"WRONG_CLOCK={ahead}"]
    server = daybook.Server(directory, wrapper=wrapper)
    server.run("retention", "set", "30")
    assert "in doubt           no\n" in server.run("clock").out
    assert server.stop() == 0, server.text()
    ahead.write_text(str(YEAR))
    server = daybook.Server(directory, wrapper=wrapper)
    server.wait_until_it_says("clock_in_doubt")
    server.run("load", "-", "--producer", "x", stdin=f"r,,{now_ms()},ad,0.01\n".encode())
    answer = server.run("rollup")
    assert "published: 0," in answer.out and "the clock is in doubt" in answer.err
    assert "nothing is published" in server.run("clock", status=1).out
    check = server.run("status", "--check", status=1).out
    assert re.match(r"clock_in_doubt: the clock is 316\d{5} seconds ahead of trusted time", check)
    ahead.write_text("0")
    server.wait_until_it_says("clock_trusted")
    assert "in doubt           no\n" in server.run("clock").out
    ahead.write_text(str(YEAR))
    daybook.wait_until(lambda: server.text().count("clock_in_doubt") == 2, "it doubts again")
    assert "in doubt           no\n" in server.run("clock", "accept").out
    answer = server.run("rollup")
    assert "published: 1," in answer.out and "sealed: 1 day with 1 expired click" in answer.out
    server.wait_until_it_says("event=days_sealed stream=clicks")
    assert server.stop() == 0, server.text()
    ahead.write_text("0")
    server = daybook.Server(directory, wrapper=wrapper)
    server.wait_until_it_says("event=timestamps_ahead last=")
    server.wait_until_it_says("ahead_seconds=-316")
    assert "in doubt           no\n" in server.run("clock", "accept").out
    server.wait_until_it_says("clock_trusted")
    assert server.stop() == 0, server.text()


def load(server, amount):
    server.run("load", "-", "--producer", f"of {amount}",
               stdin=f"r,,{now_ms()},ad,{amount}\n".encode())


def write_a_year_ahead(directory, tmp_path, backup):
    """A server's clock is a year ahead for a while, when it has written all kinds of things."""
    ahead = tmp_path / "ahead"
    ahead.write_text("0")
    wrapper = daybook.preloaded(tmp_path, "wrong_clock") + [f"WRONG_CLOCK={ahead}"]
    assert daybook.Server(directory, wrapper=wrapper).stop() == 0
    ahead.write_text(str(YEAR))
    server = daybook.Server(directory, "--cql", "127.0.0.1:0", wrapper=wrapper)
    load(server, 0.01)
    load(server, 0.02)
    server.run("rate", "set", "r", "2013-01-01", "0.25")
    with cql.connected(server) as session:
        session.execute("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy'}")
        session.execute("CREATE TABLE k.t (id text PRIMARY KEY, v text)")
        session.execute("CREATE TABLE k.c (id text PRIMARY KEY, n counter)")
        for name in ("a", "b"):
            session.execute(f"INSERT INTO k.t (id, v) VALUES ('{name}', 'old') IF NOT EXISTS")
            session.execute(f"UPDATE k.c SET n = n + 3 WHERE id = '{name}'")
    server.run("backup", backup)
    assert server.stop() == 0, server.text()


def values_of(session):
    rows = session.execute("SELECT id, v FROM k.t")
    counts = session.execute("SELECT id, n FROM k.c")
    return sorted((row.id, row.v) for row in rows), sorted((row.id, row.n) for row in counts)


def test_a_directory_that_is_a_year_ahead_is_mended(directory, tmp_path):
    backup = tmp_path / "backup"
    write_a_year_ahead(directory, tmp_path, backup)
    report = daybook.run("report", "-d", directory).out
    server = daybook.Server(directory, "--cql", "127.0.0.1:0")
    server.wait_until_it_says("event=timestamps_ahead last=")
    with cql.connected(server) as session:
        before = values_of(session)
        session.execute("UPDATE k.t SET v = 'lost' WHERE id = 'a'")
        session.execute("DELETE FROM k.t WHERE id = 'b'")
        assert values_of(session) == before == ([("a", "old"), ("b", "old")], [("a", 3), ("b", 3)])
    assert "stop the server" in server.run("clock", "mend", status=3).err
    assert server.stop() == 0, server.text()

    looked = daybook.run("clock", "mend", "--dry-run", "-d", directory).out
    assert re.search(r"^k\.t: \d+ timestamps would be restamped$", looked, re.M), looked
    mended = daybook.run("clock", "mend", "-d", directory).out
    for table in ("k.t", "k.c", "daybook.ad_click", "daybook.reseller"):
        assert re.search(rf"^{re.escape(table)}: \d+ timestamps restamped$", mended, re.M), mended
    assert "nothing is ahead" in daybook.run("clock", "mend", "-d", directory).out
    assert daybook.run("report", "-d", directory).out == report
    daybook.run("verify", "-d", directory)

    server = daybook.Server(directory, "--cql", "127.0.0.1:0")
    with cql.connected(server) as session:
        assert values_of(session) == before
        session.execute("UPDATE k.t SET v = 'new' WHERE id = 'a'")
        session.execute("DELETE FROM k.t WHERE id = 'b'")
        session.execute("UPDATE k.c SET n = n + 1 WHERE id = 'a'")
        changed = session.execute("UPDATE k.t SET v = 'newer' WHERE id = 'a' IF v = 'new'")
        assert changed.one().applied
        session.execute("DELETE FROM k.c WHERE id = 'b'")
        after = values_of(session)
        assert after == ([("a", "newer")], [("a", 4)])
    server.run("rate", "set", "r", "2013-01-01", "0.5")
    assert "0.015" in server.run("report").out
    server.run("backup", backup)
    load(server, 0.04)
    report = server.run("report").out
    time.sleep(0.05)
    moment = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds")
    time.sleep(0.05)
    load(server, 0.08)
    server.run("backup", backup)
    server.run("verify")
    assert "timestamps_ahead" not in server.text()
    assert server.stop() == 0, server.text()
    daybook.run("restore", backup, tmp_path / "then", "--to", moment)
    assert daybook.run("report", "-d", tmp_path / "then").out == report
    daybook.run("verify", "-d", tmp_path / "then")
    points = sorted((backup / "points").glob("*.point"))
    for later in points[1:]:
        later.unlink()
    refused = daybook.run("restore", backup, tmp_path / "ahead_again", "--latest", status=None)
    assert refused.status == 3 and "mended clock" in refused.err, refused
