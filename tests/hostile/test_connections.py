"""Clients that connect, and do not log in, do not go on, or are too many: others are served."""

import contextlib
import http.client
import random
import resource
import socket
import struct
import threading
import time
import uuid

import pytest

import cql
import daybook
import hostile

GOOD = "r1,2013-11-28,1385654400123,ad42,0.005\n"
SMALL_MB = 128
PRODUCERS_MAX = 131072


@pytest.fixture(autouse=True)
def descriptors():
    """As many sockets as the system allows."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (before[1], before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.fixture
def small(tmp_path):
    """A server of little memory, with the honest client's row."""
    one = daybook.Server(tmp_path / "data", "--memory", f"{SMALL_MB}M", "--cql", "127.0.0.1:0",
                         "--http", "127.0.0.1:0")
    client = hostile.Client(one)
    for text in hostile.SCHEMA:
        client.run(text)
    client.close()
    yield one
    assert one.stop() == 0, one.text()[-4000:]


def check_small(server, over_mb):
    if not hostile.IS_SANITIZED:
        peak_mb = server.memory_kb() >> 10
        assert peak_mb <= SMALL_MB + over_mb, f"{peak_mb} MiB were resident"


def test_8000_half_startups(small):
    crowd = []
    with hostile.watched(small, "8,000 connections with half a STARTUP"):
        for _ in range(8000):
            raw = cql.Raw(small)
            crowd.append(raw)
            raw.socket.sendall(struct.pack(">BBhBi", 4, 0, 0, 1, 60000) + bytes(50000))
        time.sleep(1)
        client = hostile.Client(small)
        assert hostile.attempt(client, "SELECT v FROM honest.rows WHERE k = 1") == 0
        client.close()
    for raw in crowd:
        raw.close()
    check_small(small, 0)


def test_connections_that_say_nothing_are_gone_after_their_time(small):
    with hostile.watched(small, "500 connections that say nothing"):
        crowd = [socket.create_connection(("127.0.0.1", cql.port(small))) for _ in range(500)]
        began = time.monotonic()
        for one in crowd:
            one.settimeout(30)
            assert one.recv(1) == b""
            one.close()
        assert time.monotonic() - began < 20


# ---- passwords ----


@pytest.fixture
def locked(tmp_path):
    """A server where alice and her password may log in."""
    passwords = tmp_path / "passwords"
    passwords.write_text(f"alice:{cql.BCRYPT_OF_SECRET}\n")
    one = daybook.Server(tmp_path / "data", "--cql", "127.0.0.1:0", "--cql-passwords", passwords)
    yield one
    began = time.monotonic()
    assert one.stop() == 0, one.text()[-4000:]
    assert time.monotonic() - began < 5, "the stop waited for passwords"


def start_login(server, password):
    token = b"\0alice\0" + password
    raw = cql.Raw(server)
    raw.send(1, cql.STARTUP)
    raw.send(15, struct.pack(">i", len(token)) + token)
    return raw


def log_in(server):
    """Try until the right password is taken; returns how long that took."""
    began = time.monotonic()
    while True:
        raw = start_login(server, b"secret")
        answers = [raw.receive(), raw.receive()]
        raw.close()
        if answers[1] is not None and answers[1][2] == 16:
            return time.monotonic() - began
        assert time.monotonic() - began < 60, "nobody gets in"
        time.sleep(0.05)


def test_1500_wrong_passwords_of_clients_that_hang_up(locked):
    for _ in range(1500):
        start_login(locked, b"wrong").close()
    took = log_in(locked)
    print(f"1,500 wrong passwords: alice is in after {took:.2f} s")
    assert took < 5
    assert locked.text().count("login_failed") <= 3


def test_1500_wrong_passwords_of_clients_that_wait(locked):
    crowd = [start_login(locked, b"wrong") for _ in range(1500)]
    took = log_in(locked)
    print(f"1,500 wrong passwords that wait: alice is in after {took:.2f} s")
    assert took < (60 if hostile.IS_SANITIZED else 15)
    for raw in crowd:
        raw.close()


# ---- the ingest door ----


def test_idle_connections_while_a_producer_sends(small):
    done = threading.Event()
    crowd = []

    def connect():
        while not done.is_set():
            crowd.append(small.client())
            if len(crowd) > 4000:
                crowd.pop(0).close()

    thread = threading.Thread(target=connect)
    with hostile.watched(small, "idle connections without end"):
        sender = small.client().send(f"#producer {uuid.uuid4()} 1 new\n")
        thread.start()
        try:
            for number in range(1, 201):
                sender.send(f"#batch {number} 1\n{GOOD}")
                assert sender.line() == f"ok {number} accepted 1 rejected 0"
                time.sleep(0.02)
                if number % 20 == 0:
                    new = small.client().send(GOOD).finish()
                    assert new.rest() == ["ok - accepted 1 rejected 0"]
        finally:
            done.set()
            thread.join()
    assert len(crowd) > 1024
    for client in crowd:
        client.close()


@pytest.mark.parametrize("batches, is_let_in", [(1, True), (2, False)])
def test_one_connection_that_takes_all_producers(small, batches, is_let_in):
    said = "".join(f"#batch {number} 0\n" for number in range(1, batches + 1))
    with hostile.watched(small, f"all producers with {batches} batches each"):
        client = small.client()
        reader = threading.Thread(target=lambda: drain(client))
        reader.start()
        for _ in range(140):
            try:
                client.send("".join(f"#producer {uuid.uuid4()} 1 new\n{said}"
                                    for _ in range(1000)))
            except OSError:
                break
        else:
            client.finish()
        reader.join()
    one = small.client().send(f"#producer {uuid.uuid4()} 1 new\n#batch 1 1\n{GOOD}")
    assert one.line() == ("ok 1 accepted 1 rejected 0" if is_let_in
                          else "error - too_many_producers")
    one.close()
    loaded = small.run("load", "-", "--producer", "x", stdin=GOOD.encode())
    assert "1 line" in loaded.out


def drain(client):
    """Read answers until 140,000 producers have theirs, or the server ends it."""
    last = b""
    client.socket.settimeout(10)
    try:
        while piece := client.socket.recv(1 << 20):
            last = piece
    except OSError:
        pass
    client.close()
    return last


def test_pages_in_a_browser(small):
    request = (f"POST /{{}} HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n"
               f"Content-Length: {len(GOOD)}\r\n\r\n{GOOD}")
    with hostile.watched(small, "500 pages that POST clicks"):
        for number in range(500):
            client = small.client().send(request.format("x" * (number * 100)))
            assert client.rest() == ["error - http"]
    assert small.run("counters", "clicks_per_ad", "--format", "csv").out.count("\n") == 1


# ---- the HTTP door ----


def http_begin(draw):
    """What a client sends that does not go on: half a head, requests whose answers it does not
    read, the head of a body, or anything."""
    head = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n"
    return draw.choice([
        lambda: head + b"X: " + b"a" * draw.randrange(16000),
        lambda: (head + b"\r\n") * draw.randrange(1, 200),
        lambda: b"POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n"
        % draw.randrange(1 << 40),
        lambda: draw.randbytes(draw.randrange(1, 20000))])()


def is_healthy(server):
    door = http.client.HTTPConnection("127.0.0.1", server.port("http"), timeout=10)
    door.request("GET", "/healthz")
    answer = door.getresponse().read()
    door.close()
    return answer == b"ok\n"


def test_http_clients_that_do_not_go_on(small):
    draw = random.Random(1)
    crowd = []
    with hostile.watched(small, "600 HTTP clients that do not go on"):
        for number in range(600):
            one = socket.create_connection(("127.0.0.1", small.port("http")))
            one.setblocking(False)
            crowd.append(one)
            with contextlib.suppress(OSError):
                one.send(http_begin(draw))
            if number % 50 == 0:
                assert is_healthy(small)
        assert is_healthy(small)
    for one in crowd:
        one.close()
    check_small(small, 0)
