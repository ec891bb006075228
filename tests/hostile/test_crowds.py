"""Many requests at once, clients that are gone, clocks, and a stop while requests run."""

import struct
import time

import cases
import hostile
import pytest

SCAN = "SELECT " + ", ".join(f"max(tojson(tojson(v)) + '{i}')" for i in range(250))
SCAN += " FROM h.big WHERE p = 1"


@pytest.fixture(scope="module")
def filled(server):
    """The server with large collections and many rows."""
    client = hostile.Client(server)
    for text, values in cases.COLLECTIONS:
        client.run(text, values)
    client.close()
    hostile.fill(server)
    return server


def clients_of(server, count):
    return [hostile.Client(server) for _ in range(count)]


def answers_of(client, count):
    for _ in range(count):
        assert client.receive() is not None


def is_idle(server, within_s):
    """The server takes hardly any processor time before so many seconds are over."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        before = server.cpu_s()
        time.sleep(0.2)
        if server.cpu_s() - before < 0.05:
            return True
    return False


def test_connections_that_each_want_all_of_it(filled):
    clients = clients_of(filled, 24)
    with hostile.watched(filled, "24 connections with a hog each"):
        for client in clients:
            client.start(cases.HOG)
        for client in clients:
            answers_of(client, 1)
            client.close()


def test_one_connection_with_many_requests(filled):
    client = hostile.Client(filled)
    with hostile.watched(filled, "200 scans of one connection"):
        for stream in range(200):
            client.start("SELECT count(v) FROM h.big", stream=stream)
        answers_of(client, 200)
    client.close()


def test_large_scans_of_many_connections(filled):
    clients = clients_of(filled, 8)
    with hostile.watched(filled, "8 scans with 250 expressions a row"):
        for client in clients:
            client.start(SCAN)
        for client in clients:
            answers_of(client, 1)
            client.close()


def test_requests_of_clients_that_are_gone_end(filled):
    with hostile.watched(filled, "32 scans of clients that leave"):
        for client in clients_of(filled, 32):
            client.start(SCAN)
            time.sleep(0.01)
            client.close()
    assert is_idle(filled, 10), "statements of closed connections run on"


def test_a_batch_of_tens_of_thousands_of_texts(filled):
    client = hostile.Client(filled)
    text = b"INSERT INTO h.big (p, c, v) VALUES (2, 1, 'x')"
    with hostile.watched(filled, "a batch of 60000 texts"):
        client.send(13, hostile.batch_body([text] * 60000))
        answers_of(client, 1)
    client.close()


def test_a_batch_of_millions_of_nulls(filled):
    client = hostile.Client(filled)
    item = struct.pack(">Bi", 0, 1) + b"x" + struct.pack(">H", 50_000) + \
        b"\xff\xff\xff\xff" * 50_000
    with hostile.watched(filled, "a batch of 4 million nulls"):
        client.send(13, struct.pack(">BH", 1, 80) + item * 80 + struct.pack(">HB", 1, 0))
        answers_of(client, 1)
    client.close()


def test_a_write_that_takes_too_long_is_never_done(filled):
    client = hostile.Client(filled)
    one = "INSERT INTO h.big (p, c, v) VALUES (7, {}, tojson(collection_max((list<int>) :x)));"
    text = "BEGIN UNLOGGED BATCH " + "".join(one.format(c) for c in range(1000)) + " APPLY BATCH"
    with hostile.watched(filled, "a batch that takes too long to bind"):
        assert hostile.attempt(client, text, {"x": cases.ints(500_000)}) == 0x1100
    rows = client.run("SELECT count(*) FROM h.big WHERE p = 7")
    assert rows.endswith(bytes(8)), rows
    client.close()


def test_a_statement_has_a_clock(tmp_path):
    server = hostile.start(tmp_path / "data", statement_s=1)
    hostile.fill(server, 40_000)
    client = hostile.Client(server)
    with hostile.watched(server, "a scan that takes longer than it may"):
        began = time.monotonic()
        assert hostile.attempt(client, SCAN) == 0x1200
        took = time.monotonic() - began
    assert 0.9 < took < 2, took
    client.close()
    assert server.stop() == 0


def test_a_stop_does_not_wait_for_what_runs(tmp_path):
    server = hostile.start(tmp_path / "data", statement_s=60)
    hostile.fill(server)
    clients = clients_of(server, 8)
    for client in clients:
        client.start(SCAN)
    time.sleep(0.3)
    began = time.monotonic()
    assert server.stop() == 0
    took = time.monotonic() - began
    assert took < (10 if hostile.IS_SANITIZED else 2), f"the stop took {took:.1f} s"
    for client in clients:
        client.close()
