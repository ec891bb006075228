"""CREATE INDEX is all or nothing: where it fails or is cut short, no hidden table stays behind.

A hidden table cannot be asked for, but each write feeds it: a value then stands in the log twice.
"""

import pytest

import cql
import daybook

KEYSPACE = ("CREATE KEYSPACE shop WITH replication = "
            "{'class': 'SimpleStrategy', 'replication_factor': 1}")
TABLE = "CREATE TABLE shop.things (k int PRIMARY KEY, name text)"
INDEX = "CREATE INDEX one ON shop.things (name)"
TOO_LONG = 65530                      # for a key, not for a cell
ROWS = 10000
AT_ONCE = 1000
ERROR = 0
ATTEMPTS = 20


def raw(server):
    connection = cql.Raw(server)
    connection.startup()
    return connection


def ask(connection, statement):
    """The text of the error, or nothing."""
    connection.query(statement)
    _, _, opcode, body = connection.receive()
    return body[6:].decode() if opcode == ERROR else ""


def log_of(directory):
    return b"".join(path.read_bytes() for path in sorted((directory / "log").glob("*.log")))


def tables_fed(connection, directory, name):
    """How many tables the insert of a row with a name of its own goes into."""
    assert not ask(connection, f"INSERT INTO shop.things (k, name) VALUES (-1, '{name}')")
    return log_of(directory).count(name.encode())


def test_a_failed_index_takes_its_table_away(serve, directory):
    connection = raw(serve("--cql", "127.0.0.1:0"))
    assert not ask(connection, KEYSPACE)
    assert not ask(connection, TABLE)
    long_name = TOO_LONG * "n"
    assert not ask(connection, f"INSERT INTO shop.things (k, name) VALUES (1, '{long_name}')")
    assert "Cannot index value of size 65530" in ask(connection, INDEX)
    assert tables_fed(connection, directory, "after the failure") == 1
    assert not ask(connection, "DELETE FROM shop.things WHERE k = 1")
    assert not ask(connection, INDEX)
    assert tables_fed(connection, directory, "with an index") == 2


def filled(serve, directory):
    """A server with rows whose index takes a while, and a connection."""
    server = serve("--cql", "127.0.0.1:0", directory=directory)
    connection = raw(server)
    assert not ask(connection, KEYSPACE)
    assert not ask(connection, TABLE)
    for first in range(0, ROWS, AT_ONCE):
        inserts = " ".join(f"INSERT INTO shop.things (k, name) VALUES ({k}, 'n')"
                           for k in range(first, first + AT_ONCE))
        assert not ask(connection, f"BEGIN UNLOGGED BATCH {inserts} APPLY BATCH")
    return server, connection


def killed_while_it_builds(serve, tmp_path):
    """A directory whose server was killed between an index's first entry and its last."""
    for attempt in range(ATTEMPTS):
        directory = tmp_path / str(attempt)
        server, connection = filled(serve, directory)
        connection.query(INDEX)
        daybook.wait_until(lambda: b"index one table" in log_of(directory), "an index begins")
        server.kill()
        connection.close()
        if b"value built" not in log_of(directory):
            return directory
    return pytest.fail(f"the index was built {ATTEMPTS} times before the server was killed")


def test_a_start_drops_the_table_of_an_index_that_was_not_built(serve, tmp_path):
    directory = killed_while_it_builds(serve, tmp_path)
    connection = raw(serve("--cql", "127.0.0.1:0", directory=directory))
    assert tables_fed(connection, directory, "after the kill") == 1
    assert not ask(connection, INDEX)
    assert tables_fed(connection, directory, "with an index") == 2
