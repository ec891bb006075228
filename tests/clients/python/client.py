"""The ad network's work with the python driver: client.py HOST PORT VERSION NAME USER PASSWORD
[through]."""

import datetime
import decimal
import sys
import threading
import time
import uuid

from cassandra.auth import PlainTextAuthProvider
from cassandra.cluster import Cluster, NoHostAvailable
from cassandra.concurrent import execute_concurrent_with_args
from cassandra.policies import ConstantReconnectionPolicy
from cassandra.query import BatchStatement, SimpleStatement

HOST, PORT, VERSION, NAME, USER, PASSWORD = sys.argv[1:7]
CLICKS = 1000
WORKERS = 32
PATIENCE_S = 120
KEYSPACE = f"CREATE KEYSPACE {NAME} WITH replication = " \
    "{'class': 'SimpleStrategy', 'replication_factor': 1}"
CLICK = "INSERT INTO daybook.ad_click (reseller_id, day, time, ad_id, click_id, amount) " \
    "VALUES (%s, '2013-11-28', %s, %s, %s, %s)"
START = datetime.datetime(2013, 11, 28, 16)


def connect(password):
    cluster = Cluster([HOST], port=int(PORT), protocol_version=int(VERSION), compression="lz4",
                      auth_provider=PlainTextAuthProvider(USER, password),
                      reconnection_policy=ConstantReconnectionPolicy(1, None))
    return cluster.connect()


def until(what, condition):
    for _ in range(200):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError(f"never came: {what}")


def schema(session, other):
    session.execute(KEYSPACE)
    keyspaces = other.cluster.metadata.keyspaces
    # Told of both at once, the driver may look at the table first, and forget it.
    until("an event that tells of the keyspace", lambda: NAME in keyspaces)
    session.execute(f"CREATE TABLE {NAME}.notes (id int, at timestamp, tags set<text>, marks "
                    "map<text, int>, PRIMARY KEY (id, at)) WITH CLUSTERING ORDER BY (at DESC)")
    batch = BatchStatement()
    for second, column, value in ((0, "tags", {"b", "a"}), (1, "marks", {"one": 1})):
        insert = session.prepare(f"INSERT INTO {NAME}.notes (id, at, {column}) VALUES (1, ?, ?)")
        batch.add(insert, (START + datetime.timedelta(seconds=second), value))
    session.execute(batch)
    rows = list(session.execute(f"SELECT * FROM {NAME}.notes"))
    assert [row.at.second for row in rows] == [1, 0]
    assert rows[0].marks == {"one": 1} and list(rows[1].tags) == ["a", "b"]
    until("an event that tells of the table", lambda: "notes" in keyspaces[NAME].tables)
    assert len(keyspaces[NAME].tables["notes"].columns) == 4


def clicks(session):
    insert = session.prepare(CLICK.replace("%s", "?"))
    rows = [(NAME, START + datetime.timedelta(milliseconds=number), f"{NAME}-ad", -1 - number,
             decimal.Decimal("0.005")) for number in range(CLICKS)]
    execute_concurrent_with_args(session, insert, rows, concurrency=64)
    select = SimpleStatement("SELECT amount FROM daybook.ad_click WHERE reseller_id = %s AND "
                             "day = '2013-11-28'", fetch_size=70)
    amounts = [row.amount for row in session.execute(select, (NAME,))]
    assert amounts == [decimal.Decimal("0.005")] * CLICKS
    assert counted(session) == CLICKS


def counted(session):
    return session.execute("SELECT clicks FROM daybook.clicks_per_reseller WHERE reseller_id = %s",
                           (NAME,)).one().clicks


def rate(session, percent, amount):
    session.execute("INSERT INTO daybook.reseller (id, effective_since, reward_percent) VALUES "
                    "(%s, '2013-11-01', %s)", (NAME, decimal.Decimal(percent)))

    def is_priced():
        day = session.execute("SELECT clicks, amount FROM daybook.amount_by_day WHERE "
                              "reseller_id = %s", (NAME,)).one()
        return day and day.clicks == CLICKS and day.amount == decimal.Decimal(amount)

    until(f"an amount of {amount}", is_priced)


def through(session):
    """Clicks, each with an increment under a request id, until the input ends, through whatever
    happens to the server meanwhile; then each must have been counted once."""
    session.execute(KEYSPACE)
    session.execute(f"CREATE TABLE {NAME}.hits (id text PRIMARY KEY, hits counter)")
    ended = threading.Event()
    lock = threading.Lock()
    done = {"sent": 0, "again": 0}
    failed = []

    def insist(*words, **more):
        started = time.monotonic()
        while True:
            try:
                return session.execute(*words, **more)
            except Exception:  # pylint: disable=broad-except
                if time.monotonic() - started > PATIENCE_S:
                    raise
                with lock:
                    done["again"] += 1
                time.sleep(0.05)

    def work():
        while not ended.is_set():
            with lock:
                done["sent"] += 1
                number = done["sent"]
            request = uuid.uuid4().bytes
            insist(CLICK, (NAME, START + datetime.timedelta(milliseconds=number), f"{NAME}-ad",
                           -number, decimal.Decimal("0.005")))
            insist(f"UPDATE {NAME}.hits SET hits = hits + 1 WHERE id = 'all'",
                   custom_payload={"daybook-request-id": request})
            time.sleep(0.01)

    def guarded():
        try:
            work()
        except Exception as error:  # pylint: disable=broad-except
            failed.append(error)

    threads = [threading.Thread(target=guarded) for _ in range(WORKERS)]
    for thread in threads:
        thread.start()
    print("streaming", flush=True)
    sys.stdin.read()
    ended.set()
    for thread in threads:
        thread.join()
    assert not failed, failed
    print(f"{done['sent']} sent, {done['again']} sent again")
    assert counted(session) == done["sent"]
    assert session.execute(f"SELECT hits FROM {NAME}.hits").one().hits == done["sent"]


def main():
    if len(sys.argv) > 7:
        through(connect(PASSWORD))
        return
    try:
        connect("wrong")
    except NoHostAvailable as refused:
        assert "AuthenticationFailed" in repr(refused.errors)
    else:
        raise AssertionError("a wrong password")
    session, other = connect(PASSWORD), connect(PASSWORD)
    schema(session, other)
    clicks(session)
    rate(session, "0.2", "1")
    rate(session, "0.25", "1.25")


main()
