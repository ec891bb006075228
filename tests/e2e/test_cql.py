"""The CQL door with real clients: the python driver in every version of the protocol, and bytes
written by hand where drivers would not go."""

import datetime
import decimal
import struct
import threading

import pytest
from cassandra import AlreadyExists, ConsistencyLevel, InvalidRequest
from cassandra.cluster import NoHostAvailable
from cassandra.concurrent import execute_concurrent_with_args
from cassandra.protocol import SyntaxException
from cassandra.query import BatchStatement, BatchType, SimpleStatement, UNSET_VALUE

import cql
import daybook

KEYSPACE = "CREATE KEYSPACE shop WITH replication = " \
    "{'class': 'SimpleStrategy', 'replication_factor': 1}"
TABLE = "CREATE TABLE shop.orders (id int, line int, what text, price decimal, " \
    "PRIMARY KEY (id, line))"


@pytest.fixture
def server(serve):
    """A server with a CQL door on a free port."""
    return serve("--cql", "127.0.0.1:0")


# ---- the python driver ----


@pytest.mark.parametrize("rows, size, fetch_size", [(10100, 0, 20000), (20, 2 ** 20, 5000)],
                         ids=["over the rows of a page", "over its bytes"])
def test_a_sorted_answer_of_two_partitions_is_sorted_as_a_whole(server, rows, size, fetch_size):
    with cql.connected(server) as session:
        session.execute(KEYSPACE)
        session.execute(TABLE)
        insert = session.prepare("INSERT INTO shop.orders (id, line, what) VALUES (?, ?, ?)")
        execute_concurrent_with_args(
            session, insert, [(line % 2, line, "x" * size) for line in range(rows)])
        found = session.execute(SimpleStatement(
            "SELECT line, what FROM shop.orders WHERE id IN (0, 1) ORDER BY line",
            fetch_size=fetch_size))
        assert [row.line for row in found] == list(range(rows))


@pytest.mark.parametrize("compression", [False, "lz4"], ids=["plain", "lz4"])
@pytest.mark.parametrize("version", [3, 4, 5])
def test_statements_of_every_kind_in_every_version(server, version, compression):
    with cql.connected(server, protocol_version=version, compression=compression) as session:
        session.execute(KEYSPACE)
        session.execute(TABLE)
        session.execute("INSERT INTO shop.orders (id, line, what, price) VALUES (%s, %s, %s, %s)",
                        (1, 1, "café", decimal.Decimal("0.10")))
        assert session.execute("SELECT what, price FROM shop.orders WHERE id = 1").one() == \
            ("café", decimal.Decimal("0.10"))

        insert = session.prepare("INSERT INTO shop.orders (id, line, what) VALUES (?, ?, ?)")
        futures = [session.execute_async(insert, (2, line, "x" * line)) for line in range(300)]
        for future in futures:
            future.result()
        count = session.execute("SELECT count(*) FROM shop.orders WHERE id = 2").one()[0]
        assert count == 300

        batch = BatchStatement(BatchType.UNLOGGED)
        for line in range(20):
            batch.add(insert, (3, line, "batched"))
        batch.add(SimpleStatement("DELETE FROM shop.orders WHERE id = 3 AND line = 7"))
        session.execute(batch)
        lines = [row.line for row in session.execute("SELECT line FROM shop.orders WHERE id = 3")]
        assert lines == [line for line in range(20) if line != 7]

        select = session.prepare("SELECT line, what FROM shop.orders WHERE id = ?")
        select.fetch_size = 7
        rows = list(session.execute(select, (2,)))
        assert [(row.line, len(row.what)) for row in rows] == [(n, n) for n in range(300)]

        large = "y" * 300_000
        session.execute(insert, (4, 1, large))
        assert session.execute(select, (4,)).one().what == large


def test_the_driver_finds_the_version_by_itself(server):
    with cql.connected(server) as session:
        assert session.cluster.protocol_version == 5
        assert session.execute("SELECT release_version FROM system.local").one()[0] == "5.0.9"


def test_errors_come_under_their_codes(server):
    with cql.connected(server) as session:
        session.execute(KEYSPACE)
        session.execute(TABLE)
        with pytest.raises(SyntaxException):
            session.execute("SELEC")
        with pytest.raises(InvalidRequest):
            session.execute("SELECT * FROM shop.nothing")
        with pytest.raises(AlreadyExists) as caught:
            session.execute(TABLE)
        assert (caught.value.keyspace, caught.value.table) == ("shop", "orders")


def test_a_value_that_is_unset_is_not_a_null(server):
    with cql.connected(server) as session:
        session.execute(KEYSPACE)
        session.execute(TABLE)
        insert = session.prepare("INSERT INTO shop.orders (id, line, what) VALUES (?, ?, ?)")
        session.execute(insert, (1, 1, "first"))
        session.execute(insert, (1, 1, UNSET_VALUE))
        assert session.execute("SELECT what FROM shop.orders").one().what == "first"
        session.execute(insert, (1, 1, None))
        assert session.execute("SELECT what FROM shop.orders").one().what is None


def test_prepared_statements_and_pages_survive_a_restart(server, serve):
    with cql.connected(server) as session:
        session.execute(KEYSPACE)
        session.execute(TABLE)
        insert = session.prepare("INSERT INTO shop.orders (id, line, what) VALUES (?, ?, ?)")
        for line in range(100):
            session.execute(insert, (1, line, str(line)))
        select = SimpleStatement("SELECT line FROM shop.orders WHERE id = 1", fetch_size=30)
        page = session.execute(select)
        lines = [row.line for row in page.current_rows]
        state = page.paging_state
    assert server.stop() == 0
    server = serve("--cql", "127.0.0.1:0")
    with cql.connected(server) as session:
        lines += [row.line for row in session.execute(select, paging_state=state)]
        assert lines == list(range(100))
        # Its id is known to the driver, and to no server yet.
        session.execute(insert, (1, 100, "again"))
        damaged = bytes([state[0] ^ 1]) + state[1:]
        with pytest.raises(Exception):
            session.execute(select, paging_state=damaged)


FILTERED = "SELECT k FROM shop.things WHERE a = 1 AND b = 1 ALLOW FILTERING"


@pytest.fixture(name="things")
def fixture_things(server):
    """Twenty rows of forty that a statement finds by either of two columns."""
    with cql.connected(server) as session:
        session.execute(KEYSPACE)
        session.execute("CREATE TABLE shop.things (k int PRIMARY KEY, a int, b int)")
        for k in range(40):
            session.execute(f"INSERT INTO shop.things (k, a, b) VALUES ({k}, {k % 2}, 1)")
        yield session


@pytest.mark.parametrize("before, between", [
    ([], ["CREATE INDEX one ON shop.things (a)"]),
    ([], ["CREATE INDEX one ON shop.things (a)", "DROP INDEX shop.one"]),
    (["CREATE INDEX two ON shop.things (b)"], ["CREATE INDEX one ON shop.things (a)"]),
    (["CREATE INDEX one ON shop.things (a)"],
     ["DROP INDEX shop.one", "CREATE INDEX again ON shop.things (a)"]),
    (["CREATE INDEX one ON shop.things (a)"], ["CREATE INDEX k2 ON shop.things (b)"]),
    ([], ["TRUNCATE shop.things"] + [f"INSERT INTO shop.things (k, a, b) VALUES ({k}, {k % 2}, 1)"
                                     for k in range(40)]),
])
def test_pages_go_on_by_what_the_first_one_was_read_by(things, before, between):
    for statement in before:
        things.execute(statement)
    select = SimpleStatement(FILTERED, fetch_size=7)
    page = things.execute(select)
    found = [row.k for row in page.current_rows]
    for statement in between:
        things.execute(statement)
    found += [row.k for row in things.execute(select, paging_state=page.paging_state)]
    assert len(found) == 20
    assert sorted(found) == list(range(1, 40, 2))


@pytest.mark.parametrize("before, between, why", [
    (["CREATE INDEX one ON shop.things (a)"], ["DROP INDEX shop.one"], "an index that is gone"),
    (["CREATE INDEX one ON shop.things (a)", "CREATE INDEX two ON shop.things (b)"],
     ["DROP INDEX shop.one"], "an index that is gone"),
    ([], ["DROP TABLE shop.things",
          "CREATE TABLE shop.things (k bigint PRIMARY KEY, a int, b int)"], "had other keys"),
])
def test_a_page_of_what_is_gone_is_refused(things, before, between, why):
    for statement in before:
        things.execute(statement)
    select = SimpleStatement(FILTERED, fetch_size=7)
    state = things.execute(select).paging_state
    for statement in between:
        things.execute(statement)
    with pytest.raises(InvalidRequest, match=f"{why}; begin the query anew"):
        things.execute(select, paging_state=state)


def test_schema_metadata_is_what_was_created(server):
    with cql.connected(server) as session:
        session.execute(KEYSPACE)
        session.execute("CREATE TYPE shop.place (street text, number int)")
        session.execute("CREATE TABLE shop.customers (id uuid, since timestamp, "
                        "places map<text, frozen<place>>, tags set<text> static, "
                        "PRIMARY KEY (id, since)) WITH CLUSTERING ORDER BY (since DESC) "
                        "AND comment = 'who buys'")
        table = session.cluster.metadata.keyspaces["shop"].tables["customers"]
        assert [column.name for column in table.partition_key] == ["id"]
        assert table.columns["since"].is_reversed and table.columns["tags"].is_static
        assert table.columns["places"].cql_type == "map<text, frozen<place>>"
        assert table.options["comment"] == "who buys"
        when = datetime.datetime(2013, 11, 28, 16)
        session.execute(
            "INSERT INTO shop.customers (id, since, places) VALUES "
            "(11111111-1111-1111-1111-111111111111, '2013-11-28 16:00:00+0000', "
            "{'home': {street: 'Elm', number: 7}})")
        row = session.execute("SELECT * FROM shop.customers").one()
        assert row.since == when and row.places["home"].number == 7


def test_a_change_of_the_schema_is_told_to_other_clients(server):
    with cql.connected(server) as one, cql.connected(server) as other:
        keyspaces = other.cluster.metadata.keyspaces
        one.execute(KEYSPACE)
        # Told of both at once, the driver may look at the table first, and forget it.
        assert cql.wait_for(lambda: "shop" in keyspaces)
        one.execute(TABLE)
        tables = lambda: "orders" in keyspaces["shop"].tables
        assert cql.wait_for(tables)
        one.execute("DROP TABLE shop.orders")
        assert cql.wait_for(lambda: not tables())


def test_use_keeps_its_keyspace_and_its_case(server):
    with cql.connected(server) as session:
        session.execute(KEYSPACE.replace("shop", '"Shop"'))
        session.execute('USE "Shop"')
        assert session.keyspace == '"Shop"' or session.keyspace == "Shop"
        session.execute("CREATE TABLE t (k int PRIMARY KEY)")
        session.execute("INSERT INTO t (k) VALUES (1)")
        assert session.execute("SELECT k FROM t").one().k == 1


@pytest.mark.parametrize("level", [ConsistencyLevel.ONE, ConsistencyLevel.QUORUM,
                                   ConsistencyLevel.ALL, ConsistencyLevel.LOCAL_QUORUM])
def test_one_node_meets_every_consistency(server, level):
    with cql.connected(server) as session:
        session.execute(KEYSPACE.replace("1}", "3}"))
        session.execute(TABLE)
        session.execute(SimpleStatement("INSERT INTO shop.orders (id, line) VALUES (1, 1)",
                                        consistency_level=level))
        assert session.execute(SimpleStatement("SELECT id FROM shop.orders",
                                               consistency_level=level)).one().id == 1


# ---- the same store ----


def test_clicks_of_the_ingest_door_are_rows_and_a_rate_from_cql_prices_them(server, paper):
    server.client().send(paper.bytes).finish().rest()
    with cql.connected(server, "daybook") as session:
        clicks = list(session.execute("SELECT * FROM ad_click"))
        assert len(clicks) == 6
        reseller = clicks[0].reseller_id
        session.execute("INSERT INTO reseller (id, effective_since, reward_percent) "
                        "VALUES (%s, '2001-01-01', 0.5)", (reseller,))
        priced = lambda: all(row.rate == decimal.Decimal("0.5") for row in session.execute(
            "SELECT rate FROM amount_by_day WHERE reseller_id = %s", (reseller,)))
        assert cql.wait_for(priced)


def test_a_click_from_cql_is_counted_rolled_up_and_reported(server):
    with cql.connected(server, "daybook") as session:
        insert = session.prepare("INSERT INTO ad_click (reseller_id, day, time, ad_id, click_id, "
                                 "amount) VALUES (?, ?, ?, ?, ?, ?)")
        for number in range(10):
            session.execute(insert, ("r", "2013-11-28",
                                     datetime.datetime(2013, 11, 28, 16, 0, number), "ad",
                                     -1 - number, decimal.Decimal("0.25")))
        assert session.execute("SELECT clicks FROM clicks_per_ad WHERE ad_id = 'ad'").one()[0] == 10
    report = server.run("report", "--format", "csv").out
    assert "r,2013-11-28,10,2.50,," in report
    server.run("verify")


# ---- what no driver sends ----


@pytest.mark.parametrize("version, answer", [(66, 0x85), (65, 0x85), (1, 0x81), (2, 0x82)])
def test_a_version_that_is_not_spoken_is_refused_on_stream_0(server, version, answer):
    raw = cql.Raw(server, version)
    raw.send(5, stream=1)
    got = b""
    while piece := raw.socket.recv(4096):
        got += piece
    header = struct.Struct(">BBbBi" if version < 3 else ">BBhBi")
    first, _, stream, opcode, size = header.unpack(got[:header.size])
    body = got[header.size:]
    assert (first, stream, opcode, size) == (answer, 0, 0, len(body))
    assert body[:4] == bytes([0, 0, 0, 10])
    assert body[6:].decode() == f"Invalid or unsupported protocol version ({version}); " \
        "supported versions are (3/v3, 4/v4, 5/v5)"


def test_garbage_ends_its_own_connection_only(server):
    with cql.connected(server) as session:
        for garbage in (b"GET / HTTP/1.1\r\n\r\n", b"\x84" * 100, b"\x04\x00\x00\x00\x07\xff\xff"
                        b"\xff\xff", bytes(range(256)) * 40):
            raw = cql.Raw(server)
            raw.socket.sendall(garbage)
            while raw.socket.recv(4096):
                pass
            raw.close()
        assert session.execute("SELECT cluster_name FROM system.local").one()


def test_thousands_of_connections_cost_little_and_all_are_served(server, descriptors, own_memory):
    if descriptors < 6000:
        pytest.skip("the system allows too few open files")
    before = server.memory_kb("VmRSS")
    all_of_them = []
    for _ in range(5000):
        raw = cql.Raw(server)
        raw.startup()
        all_of_them.append(raw)
    assert server.memory_kb("VmRSS") - before < 5000 * 4
    busy = all_of_them[::5]
    for _ in range(3):
        for raw in busy:
            raw.query("SELECT cluster_name FROM system.local")
        for raw in busy:
            assert raw.receive()[2] == 8
    for raw in all_of_them:
        raw.close()


def test_a_batch_of_many_texts_takes_little_memory(server, own_memory):
    statements, each_kb = 16000, 8
    with cql.connected(server) as session:
        session.execute(KEYSPACE)
        session.execute("CREATE TABLE shop.hits (id text PRIMARY KEY, hits counter)")
        before = server.memory_kb()
        batch = BatchStatement(BatchType.COUNTER)
        for number in range(statements):
            batch.add(SimpleStatement(f"UPDATE shop.hits SET hits = hits + {number} "
                                      "WHERE id = 'all'"))
        session.execute(batch)
        hits = session.execute("SELECT hits FROM shop.hits").one().hits
        assert hits == statements * (statements - 1) // 2
    took = server.memory_kb() - before
    assert took < statements * each_kb, took


def test_busy_connections_do_not_starve_a_heartbeat(server):
    with cql.connected(server) as session:
        session.execute(KEYSPACE)
        session.execute(TABLE)
        insert = session.prepare("INSERT INTO shop.orders (id, line, what) VALUES (?, ?, ?)")
        done = threading.Event()

        def work(number):
            while not done.is_set():
                for future in [session.execute_async(insert, (number, line, "x" * 100))
                               for line in range(100)]:
                    future.result()

        workers = [threading.Thread(target=work, args=(number,)) for number in range(2)]
        for worker in workers:
            worker.start()
        raw = cql.Raw(server)
        try:
            raw.socket.settimeout(1)
            for stream in range(200):
                raw.send(5, stream=stream)
                assert raw.receive()[1:3] == (stream, 6)
        finally:
            done.set()
            for worker in workers:
                worker.join()


# ---- who may ----


def test_a_door_for_others_is_read_only_without_a_password_file(serve):
    server = serve("--cql", "0.0.0.0:0", "--cql-open-to-all-read-only")
    assert "cql_door_is_read_only" in server.text()
    with cql.connected(server) as session:
        assert session.execute("SELECT cluster_name FROM system.local").one()
        with pytest.raises(Exception) as caught:
            session.execute(KEYSPACE)
        assert "for reading only" in str(caught.value)


def test_a_password_file_lets_in_whom_it_names(serve, tmp_path):
    from cassandra.auth import PlainTextAuthProvider
    passwords = tmp_path / "passwords"
    passwords.write_text(f"alice:{cql.BCRYPT_OF_SECRET}\n")
    server = serve("--cql", "127.0.0.1:0", "--cql-passwords", passwords)
    with cql.connected(server, auth_provider=PlainTextAuthProvider("alice", "secret")) as session:
        session.execute(KEYSPACE)
    with pytest.raises(NoHostAvailable) as caught:
        with cql.connected(server, auth_provider=PlainTextAuthProvider("alice", "wrong")):
            pass
    assert "Provided username alice and/or password are incorrect" in str(caught.value)
    with pytest.raises(NoHostAvailable):
        with cql.connected(server):
            pass


def test_a_password_file_that_is_none_is_named(directory, tmp_path):
    passwords = tmp_path / "passwords"
    passwords.write_text("alice:secret\n")
    answer = daybook.run("serve", "-d", directory, "--ingest", "none", "--cql", "127.0.0.1:0",
                         "--cql-passwords", passwords, "--http", "none", status=2)
    assert f"{passwords}: line 1" in answer.err


def test_the_port_of_the_door_can_be_taken_by_another(serve, tmp_path):
    first = serve("--cql", "127.0.0.1:0")
    address = f"127.0.0.1:{cql.port(first)}"
    answer = daybook.run("serve", "-d", tmp_path / "other", "--ingest", "none", "--cql", address,
                         "--http", "none", status=3)
    assert address in answer.err and "--cql" in answer.err


def test_counters_are_deleted_while_they_count(server):
    """A DELETE of a partition comes to its end however fast others count in it, and what it
    deleted begins again: no counter has more than was counted after some delete."""
    with cql.connected(server) as session:
        session.execute(KEYSPACE)
        session.execute("CREATE TABLE shop.hits (page int, link int, n counter, "
                        "PRIMARY KEY (page, link))")
        count = session.prepare("UPDATE shop.hits SET n = n + 1 WHERE page = 1 AND link = ?")
        stopping = threading.Event()
        counted = [0] * 50

        def pour():
            turn = 0
            while not stopping.is_set():
                futures = [session.execute_async(count, ((turn + i) % 50,)) for i in range(16)]
                for future in futures:
                    future.result()
                for i in range(16):
                    counted[(turn + i) % 50] += 1
                turn += 16

        thread = threading.Thread(target=pour)
        thread.start()
        for _ in range(20):
            session.execute("DELETE FROM shop.hits WHERE page = 1")
        stopping.set()
        thread.join()
        rows = session.execute("SELECT link, n FROM shop.hits WHERE page = 1")
        assert all(0 < row.n <= counted[row.link] for row in rows)
        session.execute("DELETE FROM shop.hits WHERE page = 1")
        assert not list(session.execute("SELECT * FROM shop.hits WHERE page = 1"))
