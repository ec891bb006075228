"""What the server keeps in memory is bounded by `--memory`, whatever the data look like."""

import collections
import datetime
import random
import re
import socket
import struct
import subprocess
import time
import uuid

import pytest

import cql
import daybook

LIMIT_KB = 128 << 10
ACCOUNT_KB = 64 << 10   # docs/OPERATIONS.md "Memory": what grows with the data
PRODUCERS = 6
RESELLERS = 1000
FIRST_DAY = datetime.date(2012, 1, 1)
YEARS = 12
CLICKS = 72_000         # nearly each a (reseller, day) and an ad of its own


def test_a_new_server_has_no_huge_page_of_which_it_uses_a_little(serve, own_memory):
    server = serve()
    assert server.memory_kb("RssAnon") < 4608     # with one 5.6 MiB, without 3.6


def is_within(server):
    if daybook.IS_SANITIZED:
        return
    peak_kb = server.memory_kb()
    assert peak_kb <= LIMIT_KB, (peak_kb, server.run("status").out)


def clicks_of(producer):
    """Lines with hardly a (reseller, day) or ad twice."""
    choose = random.Random(producer)
    for _ in range(CLICKS // PRODUCERS):
        day = FIRST_DAY + datetime.timedelta(days=choose.randrange(YEARS * 365))
        time_ms = (day - datetime.date(1970, 1, 1)).days * 86_400_000 + choose.randrange(86_400_000)
        yield (f"reseller-{choose.randrange(RESELLERS):04},{day},{time_ms},"
               f"{uuid.UUID(int=choose.getrandbits(128))},{choose.randrange(1, 500) / 100}\n")


def test_days_and_ads_without_number_stay_within_the_limit(serve):
    server = serve("--memory", "128M")
    senders = [daybook.Producer(daybook.batches_of(list(clicks_of(number)), 1000))
               for number in range(PRODUCERS)]
    for sender in senders:
        sender.send_all(server.address)
    is_within(server)
    read_many_reports(server)
    answer = server.run("verify")
    assert f"{CLICKS} clicks" in answer.out and "all agree" in answer.out
    is_within(server)


AT_ONCE = ACCOUNT_KB >> 13       # commands of 1 MiB in an eighth of the account
REPORTS = 2 * AT_ONCE


def held_of(server, what):
    return int(re.search(rf"(\d+) bytes of {what}", server.run("status").out).group(1))


def reports_held(server):
    return held_of(server, "reports' figures")


def started(server, *words):
    return subprocess.Popen([daybook.PROGRAM, *words, "-d", server.directory],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env=daybook.environment())


def printed_by(commands):
    """What those that had room printed.  For the others there was none within 10 s, unless the
    first were read sooner, and they were told so."""
    printed = []
    for command in commands:
        out, err = command.communicate(timeout=60)
        if command.returncode == 0:
            printed.append(out.decode())
        else:
            assert command.returncode == 3 and b"--memory" in err, err
    assert len(printed) >= AT_ONCE
    return printed


def read_many_reports(server):
    """Reports that nobody reads hold figures, together no more than their part of the memory."""
    expected = server.run("report", "--format", "csv").out
    reports = [started(server, "report", "--format", "csv") for _ in range(REPORTS)]
    assert cql.wait_for(lambda: reports_held(server) > 2 << 20)
    for _ in range(10):
        held_kb = reports_held(server) >> 10
        assert held_kb <= (ACCOUNT_KB >> 3) + REPORTS * 256, held_kb
    for printed in printed_by(reports):
        assert printed == expected
    is_within(server)
    assert reports_held(server) == 0


# ---- commands ----

MANY = 24                        # more than have room to run
DAYS = 2000
ADS = 30_000
SOME = 20


def lines_of(count, days, ads):
    return [f"r{number // days % SOME},{FIRST_DAY + datetime.timedelta(days=number % days)},"
            f"{1_325_376_000_000 + number % days * 86_400_000},ad-{number % ads},0.01\n"
            for number in range(count)]


def test_commands_that_nobody_reads_stay_within_the_limit(serve):
    server = serve("--memory", "128M")
    lines = lines_of(DAYS * SOME, DAYS, 100)
    daybook.Producer(daybook.batches_of(lines, 1000)).send_all(server.address)
    expected = server.run("report", "--format", "csv").out
    unread = [started(server, "report", "--format", "csv") for _ in range(MANY)]
    assert cql.wait_for(lambda: held_of(server, "commands") > 8 << 20)
    # Clicks come in meanwhile, and it can be asked how things are.
    more = [line.replace("r", "s", 1) for line in lines]
    daybook.Producer(daybook.batches_of(more, 1000)).send_all(server.address)
    assert held_of(server, "commands") <= (ACCOUNT_KB << 10 >> 2) + (MANY << 16)
    is_within(server)
    for printed in printed_by(unread):
        assert {*expected.splitlines()} <= {*printed.splitlines()}
    is_within(server)
    assert held_of(server, "commands") == 0
    assert "all agree" in server.run("verify").out


def test_what_commands_keep_by_ad_stays_within_the_limit(serve):
    """There is room for fewer ads than there are: they are counted in several rounds."""
    server = serve("--memory", "128M")
    lines = lines_of(ADS, SOME, ADS)
    daybook.Producer(daybook.batches_of(lines, 5000)).send_all(server.address)
    checks = [started(server, "verify") for _ in range(2)]
    for check in checks:
        out, _ = check.communicate(timeout=120)
        assert f"clicks_per_ad: {ADS} counters compared with {ADS} clicks" in out.decode()
        assert b"all agree" in out and check.returncode == 0
    is_within(server)
    one_reseller = [line.replace(line.split(",")[0], "one", 1) for line in lines]
    daybook.Producer(daybook.batches_of(one_reseller, 5000)).send_all(server.address)
    answer = server.run("report", "--by", "ad", "--reseller", "one", status=3)
    assert "--memory" in answer.err
    answer = server.run("report", "--by", "ad", "--reseller", "r1", "--format", "csv")
    assert len(answer.out.splitlines()) == 1 + ADS // SOME
    is_within(server)
    assert held_of(server, "commands") == 0


# ---- the ingest door ----

CROWD = 1000
READERS = 200                    # whose answers keep the server busy
CROWD_BYTES = 900 << 10
LINE = "r1,2013-11-28,1385596800000,ad-{:06},0.01\n"
LINES = "".join(LINE.format(number) for number in range(CROWD_BYTES // 43)).encode()
SHORT_LINES = b"a,,1,b,1\n" * 2000
OPEN = "#producer {} 1 new\n#batch 1 100000\n"
CROWDS = {
    "partial lines": lambda: b"a" * CROWD_BYTES,
    "open batches": lambda: OPEN.format(uuid.uuid4()).encode() + LINES,
    "answers unread": lambda: b"#columns\n" * 20_000,
    "short lines of open batches": lambda: OPEN.format(uuid.uuid4()).encode() + SHORT_LINES,
}


class Crowd:
    """Connections that send what they have as far as the server takes it, and read nothing."""

    def __init__(self, address, kind):
        self.left = {}
        for _ in range(READERS if kind == "answers unread" else CROWD):
            connection = socket.socket()
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16 << 10)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16 << 10)
            connection.connect(address)
            connection.setblocking(False)
            self.left[connection] = memoryview(CROWDS[kind]())

    def push(self):
        """How many bytes the server, or the system for it, took."""
        taken = 0
        for connection, rest in self.left.items():
            try:
                sent = connection.send(rest) if rest else 0
            except BlockingIOError:
                sent = 0
            except ConnectionError:
                sent = len(rest)        # it was refused, and its end is not read
            taken += sent
            self.left[connection] = rest[sent:]
        return taken

    def push_on(self):
        while self.push() > 1 << 20:
            pass

    def answers(self):
        found = b""
        for connection in self.left:
            try:
                found += connection.recv(4096)
            except (BlockingIOError, ConnectionError):
                pass
        return found

    def close(self):
        for connection in self.left:
            connection.close()


@pytest.mark.parametrize("kind", CROWDS)
def test_crowds_that_only_take_stay_within_the_limit(serve, kind):
    """A working client is acknowledged all it sends meanwhile, one that comes late as well."""
    server = serve("--memory", "128M")
    lines = [LINE.format(number) for number in range(20_000)]
    early = daybook.Producer(daybook.batches_of(lines[:10_000], 1000))
    late = daybook.Producer(daybook.batches_of(lines[10_000:], 1000))
    crowd = Crowd(server.address, kind)
    crowd.push_on()
    began = time.monotonic()
    for sender in (early, late):
        sender.send_all(server.address, window=1)
        crowd.push_on()
        is_within(server)
    assert time.monotonic() - began < daybook.PATIENCE / 2
    assert held_of(server, "batches and lines") <= ACCOUNT_KB << 10 >> 2
    if kind == "open batches":
        assert b"error 1 too_slow " in crowd.answers()
    crowd.close()
    assert "20000" in server.run("report", "--by", "total").out.replace(",", "")
    is_within(server)


# ---- the CQL door ----

SCHEMA = """
CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
CREATE TABLE shop.things (id int, number int, what blob, PRIMARY KEY (id, number));
"""
THINGS = 150
THING_BYTES = 16 << 10
CONNECTIONS = 40
ASKED = 4                        # requests of a connection that leave together
OVERLOADED = 0x1001
INVALID = 0x2200
RESULT, ERROR = 8, 0


def serve_things(serve):
    server = serve("--memory", "128M", "--cql", "127.0.0.1:0")
    cql.cqlsh(server, stdin=SCHEMA)
    return server


def add_things(session):
    insert = session.prepare("INSERT INTO shop.things (id, number, what) VALUES (1, ?, ?)")
    for number in range(THINGS):
        session.execute(insert, (number, bytes(THING_BYTES)))


def outcomes(connection):
    """How its requests were answered: by an opcode, or by an error's code."""
    found = []
    for _ in range(ASKED):
        answer = connection.receive()
        if answer is None:
            break
        _, _, opcode, body = answer
        found.append(struct.unpack_from(">i", body)[0] if opcode == ERROR else "done")
    connection.close()
    return found


def connections_of(server):
    connections = [cql.Raw(server) for _ in range(CONNECTIONS)]
    for connection in connections:
        connection.startup()
    return connections


def held(server):
    """What status says of requests and answers."""
    text = server.run("status").out
    return [int(re.search(rf"(\d+) bytes of CQL {what}", text).group(1))
            for what in ("requests", "answers")]


def test_answers_that_nobody_reads_stay_within_the_limit(serve):
    server = serve_things(serve)
    with cql.connected(server) as session:
        add_things(session)
        connections = connections_of(server)
        for connection in connections:
            for stream in range(ASKED):
                connection.query("SELECT * FROM shop.things", stream)
        # Some answers wait for their readers, some requests for those; none is being carried out.
        assert cql.wait_for(lambda: held(server)[0] < 1 << 20)
        # Whoever reads is served meanwhile, page by page.
        assert len(list(session.execute("SELECT number, what FROM shop.things"))) == THINGS
        is_within(server)
        found = collections.Counter(one for connection in connections
                                    for one in outcomes(connection))
        assert set(found) <= {"done", OVERLOADED, 0x1200} and found["done"] > 0, found
        is_within(server)
        assert cql.wait_for(lambda: held(server)[1] == 0)
        assert len(list(session.execute("SELECT number FROM shop.things"))) == THINGS


def batch_of(statements, size):
    """A BATCH of texts that are not prepared, with values of so many bytes together."""
    text = b"INSERT INTO shop.things (id, number, what) VALUES (2, ?, ?)"
    value = bytes(size // statements)
    return struct.pack(">BH", 0, statements) + b"".join(
        struct.pack(">Bi", 0, len(text)) + text + struct.pack(">Hii", 2, 4, number) +
        struct.pack(">i", len(value)) + value for number in range(statements)) + \
        struct.pack(">HB", 1, 0)


def test_large_batches_of_many_clients_stay_within_the_limit(serve):
    server = serve_things(serve)
    connections = connections_of(server)
    body = batch_of(500, 1 << 20)
    for connection in connections:
        connection.send_all(13, [body] * ASKED)
    found = collections.Counter(one for connection in connections for one in outcomes(connection))
    assert set(found) <= {"done", OVERLOADED} and found["done"] > 0, found
    is_within(server)
    assert cql.wait_for(lambda: held(server) == [0, 0])
    # One that alone is too much is refused for what it is, not for what others do.
    alone = cql.Raw(server)
    alone.startup()
    alone.send(13, batch_of(4000, 1 << 20))
    _, _, opcode, answer = alone.receive()
    assert opcode == ERROR and struct.unpack_from(">i", answer)[0] == INVALID
    assert b"a smaller batch" in answer
    alone.send(13, batch_of(100, 1 << 20))
    assert alone.receive()[2] == RESULT
    alone.close()
