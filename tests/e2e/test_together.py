"""Everything at once: clicks by lines, frames and CQL, counters, conditions, schema changes, a
stream over a user's table, reports, merges, days that are sealed, voids, backups and one that
follows, beside each other, and every click counted.

With the thread sanitizer's program (`make test-tsan`) it shows that the threads share nothing: what
the sanitizer reports becomes the server's exit status.
"""

import datetime
import decimal
import shutil
import threading

import cql
import daybook

CLICKS = 400
LOADS = 3
ROUNDS = 60
STREAM = ("--table", "shop.clicks", "--reseller", "reseller", "--day", "day", "--time", "time",
          "--ad", "ad", "--amount", "amount", "--rates", "shop.rates(id,since,rate)")
KEYSPACE = "CREATE KEYSPACE shop WITH replication = " \
    "{'class': 'SimpleStrategy', 'replication_factor': 1}"


def click_by_socket(server):
    lines = [f"socket,2013-11-28,{1385654400000 + number},ad,0.25\n"
             for number in range(100 * ROUNDS)]
    daybook.Producer(daybook.batches_of(lines, 100)).send_all(server.address, window=1)


def click_by_frames(server, file):
    """Of a month long gone: its days are published, and sealed while late clicks still come."""
    file.write_text("reseller_id,day,time,ad_id,amount\n" + "".join(
        f"frames,2013-01-{1 + number % 28:02},"
        f"{1356998400000 + 86_400_000 * (number % 28) + number},ad,0.25\n"
        for number in range(100 * ROUNDS)))
    for number in range(LOADS):
        server.run("load", "--binary", file, "--as", f"load {number}")


def seal(server):
    for _ in range(4):
        server.run("retention", "set", "30")
        server.run("rollup")


def void_and_restore(server):
    for _ in range(4):
        server.run("clicks", "void", "--reseller", "today", "--day", "2100-01-01")
        server.run("clicks", "restore", "--reseller", "today", "--day", "2100-01-01")


def back_up(server, directory):
    for _ in range(4):
        server.run("backup", directory / "b")
        server.run("status")
    server.run("verify", "-q")


def click_on_a_stream(session):
    insert = session.prepare("INSERT INTO shop.clicks (reseller, day, time, ad, amount) "
                             "VALUES ('s', ?, ?, 'ad', 0.25)")
    for number in range(CLICKS):
        session.execute(insert, (f"2013-11-{1 + number % 28:02}", 1383264000000 + number))


def click_by_cql(session):
    insert = session.prepare("INSERT INTO daybook.ad_click (reseller_id, day, time, ad_id, "
                             "click_id, amount) VALUES ('cql', '2013-11-28', ?, 'ad', ?, ?)")
    time = datetime.datetime(2013, 11, 28, 16)
    for future in [session.execute_async(insert, (time, -1 - number, decimal.Decimal("0.25")))
                   for number in range(CLICKS)]:
        future.result()


def count(session):
    update = session.prepare("UPDATE shop.hits SET hits = hits + 1 WHERE id = ?")
    for _ in range(ROUNDS):
        for future in [session.execute_async(update, (number,)) for number in range(20)]:
            future.result()


def take_turns(session):
    """Each condition sees what the one before it wrote."""
    for number in range(ROUNDS):
        text = f"UPDATE shop.turns SET turn = {number + 1} WHERE id = 1 IF turn = {number}"
        assert session.execute(text).one()[0]


def change_the_schema(session):
    for number in range(6):
        session.execute(f"CREATE TABLE shop.t{number} (id int PRIMARY KEY, what text)")
        session.execute(f"CREATE INDEX ON shop.t{number} (what)")
        session.execute(f"ALTER TABLE shop.t{number} ADD more int")
        session.execute(f"INSERT INTO shop.t{number} (id, what) VALUES (1, 'x')")
        assert session.execute(f"SELECT id FROM shop.t{number} WHERE what = 'x'").one().id == 1
        session.execute(f"DROP TABLE shop.t{number}")


def ask_and_merge(server):
    for _ in range(5):
        server.run("compact")
        server.run("report", "--format", "csv")
        server.run("rate", "set", "socket", "2013-11-01", "25%")


def all_at_once(*works):
    failed = []

    def run(work, *arguments):
        try:
            work(*arguments)
        except Exception as error:  # pylint: disable=broad-except
            failed.append((work.__name__, error))

    threads = [threading.Thread(target=run, args=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed, failed


def expect_restored(directory, copy, *how):
    """What was backed up is whole, by the clicks themselves."""
    daybook.run("restore", copy, directory / "restored", *how)
    assert "all agree" in daybook.run("verify", "-d", directory / "restored").out
    shutil.rmtree(directory / "restored")


def test_all_doors_and_all_kinds_of_work_at_once(serve, tmp_path):
    server = serve("--cql", "127.0.0.1:0")
    with cql.connected(server) as one, cql.connected(server, protocol_version=4) as two:
        one.execute(KEYSPACE)
        one.execute("CREATE TABLE shop.hits (id int PRIMARY KEY, hits counter)")
        one.execute("CREATE TABLE shop.turns (id int PRIMARY KEY, turn int)")
        one.execute("INSERT INTO shop.turns (id, turn) VALUES (1, 0)")
        one.execute("CREATE TABLE shop.rates (id text, since text, rate decimal, "
                    "PRIMARY KEY (id, since))")
        one.execute("CREATE TABLE shop.clicks (reseller text, day text, time timestamp, ad text, "
                    "amount decimal, PRIMARY KEY ((reseller, day), time, ad))")
        server.run("stream", "create", "shop", *STREAM)
        server.run("backup", "--follow", tmp_path / "f")
        server.client().send("today,2100-01-01,4102444800000,ad,1\n").finish().rest()
        all_at_once((click_by_socket, server), (click_by_cql, one), (count, one), (count, two),
                    (take_turns, two), (change_the_schema, two), (ask_and_merge, server),
                    (click_by_frames, server, tmp_path / "clicks.csv"), (seal, server),
                    (void_and_restore, server), (back_up, server, tmp_path),
                    (click_on_a_stream, one))
        assert one.execute("SELECT sum(hits) FROM shop.hits").one()[0] == 2 * 20 * ROUNDS
        clicks = "SELECT clicks FROM daybook.clicks_per_reseller WHERE reseller_id = %s"
        assert one.execute(clicks, ("socket",)).one().clicks == 100 * ROUNDS
        assert one.execute(clicks, ("cql",)).one().clicks == CLICKS
        assert one.execute(clicks, ("frames",)).one().clicks == LOADS * 100 * ROUNDS
    total = server.run("report", "--stream", "shop", "--by", "total", "--format", "csv").out
    assert total.splitlines()[1].startswith(f"{CLICKS},")
    server.run("verify")
    server.run("verify", "--stream", "shop")
    daybook.wait_until(lambda: " 0 frames" in server.run("status").out, "caught up")
    expect_restored(tmp_path, tmp_path / "b")
    expect_restored(tmp_path, tmp_path / "f", "--latest")
