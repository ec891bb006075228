"""Everything at once: clicks by socket and by CQL, counters, conditions, schema changes, reports
and merges beside each other, and every one counted.

With the thread sanitizer's program (`make test-tsan`) it shows that the threads share nothing: what
the sanitizer reports becomes the server's exit status.
"""

import datetime
import decimal
import threading

import cql
import daybook

CLICKS = 400
ROUNDS = 60
KEYSPACE = "CREATE KEYSPACE shop WITH replication = " \
    "{'class': 'SimpleStrategy', 'replication_factor': 1}"


def click_by_socket(server):
    lines = [f"socket,2013-11-28,{1385654400000 + number},ad,0.25\n"
             for number in range(100 * ROUNDS)]
    daybook.Producer(daybook.batches_of(lines, 100)).send_all(server.address, window=1)


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


def test_all_doors_and_all_kinds_of_work_at_once(serve):
    server = serve("--cql", "127.0.0.1:0")
    with cql.connected(server) as one, cql.connected(server, protocol_version=4) as two:
        one.execute(KEYSPACE)
        one.execute("CREATE TABLE shop.hits (id int PRIMARY KEY, hits counter)")
        one.execute("CREATE TABLE shop.turns (id int PRIMARY KEY, turn int)")
        one.execute("INSERT INTO shop.turns (id, turn) VALUES (1, 0)")
        all_at_once((click_by_socket, server), (click_by_cql, one), (count, one), (count, two),
                    (take_turns, two), (change_the_schema, two), (ask_and_merge, server))
        assert one.execute("SELECT sum(hits) FROM shop.hits").one()[0] == 2 * 20 * ROUNDS
        clicks = "SELECT clicks FROM daybook.clicks_per_reseller WHERE reseller_id = %s"
        assert one.execute(clicks, ("socket",)).one().clicks == 100 * ROUNDS
        assert one.execute(clicks, ("cql",)).one().clicks == CLICKS
    server.run("verify")
