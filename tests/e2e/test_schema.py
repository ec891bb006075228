"""Changes of the schema: what is written can be read again, and starts stay quick."""

import time

import pytest
from cassandra import InvalidRequest

import cql
import daybook

KEYSPACE = ("CREATE KEYSPACE ks WITH replication = "
            "{'class': 'SimpleStrategy', 'replication_factor': 1}")


def nested(outer, depth, inner="int"):
    """A frozen type of `depth` types within each other around `inner`."""
    for _ in range(depth):
        inner = f"{outer}<{inner}>" if outer != "map" else f"map<{inner}, {inner}>"
    return f"frozen<{inner}>"


def test_a_type_is_read_again_as_deep_as_it_may_be_written(serve):
    """Also by the next change of the schema, and by the next start."""
    first = serve("--cql", "127.0.0.1:0")
    with cql.connected(first) as session:
        session.execute(KEYSPACE)
        for name, outer in ("l", "list"), ("s", "set"), ("t", "tuple"):
            session.execute(
                f"CREATE TABLE ks.{name} (k int PRIMARY KEY, v {nested(outer, 32)})")
            with pytest.raises(InvalidRequest, match="deep"):
                session.execute(
                    f"CREATE TABLE ks.{name}33 (k int PRIMARY KEY, v {nested(outer, 33)})")
        session.execute("ALTER TABLE ks.l ADD m " + nested("map", 7))
        session.execute("CREATE TABLE ks.k (k %s PRIMARY KEY)" % nested("list", 32))
        session.execute("INSERT INTO ks.l (k, v) VALUES (1, %s7%s)" % (32 * "[", 32 * "]"))
    assert first.stop() == 0
    with cql.connected(serve("--cql", "127.0.0.1:0")) as session:
        row = session.execute("SELECT k, v FROM ks.l").one()
        assert str(row.v) == 32 * "[" + "7" + 32 * "]"
        session.execute("CREATE TABLE ks.after (k int PRIMARY KEY)")


def test_user_types_within_each_other_are_bounded_where_they_grow(serve):
    """By powers: each has two of the one before."""
    server = serve("--cql", "127.0.0.1:0")
    with cql.connected(server) as session:
        session.execute(KEYSPACE)
        session.execute("CREATE TYPE ks.u0 (a int)")
        with pytest.raises(InvalidRequest, match="over 65535 in all"):
            for level in range(1, 40):
                inner = f"frozen<u{level - 1}>"
                session.execute(f"CREATE TYPE ks.u{level} (a {inner}, b {inner})")
        session.execute("CREATE TABLE ks.t (k int PRIMARY KEY, v frozen<u13>)")
        with pytest.raises(InvalidRequest, match="over 65535 in all"):
            session.execute("ALTER TYPE ks.u0 ADD b frozen<tuple<%s>>" % ", ".join(20 * ["int"]))
        session.execute("ALTER TYPE ks.u0 ADD b int")
    assert server.stop() == 0
    with cql.connected(serve("--cql", "127.0.0.1:0")) as session:
        session.execute("CREATE TABLE ks.after (k int PRIMARY KEY)")


def wide(name, columns):
    names = ", ".join(f"column_{i} text" for i in range(columns))
    return f"CREATE TABLE ks.{name} (k int PRIMARY KEY, {names})"


def test_a_start_does_not_read_every_schema_there_was(serve):
    """Each change is a whole schema in the log: only the last one counts."""
    server = serve("--cql", "127.0.0.1:0")
    with cql.connected(server, schema_metadata_enabled=False) as session:
        session.execute(KEYSPACE)
        session.execute(wide("t", 3000))
        for number in range(60):
            session.execute(f"ALTER TABLE ks.t WITH comment = 'the {number}th'")
    server.kill()
    begun = time.monotonic()
    server = serve("--cql", "127.0.0.1:0")
    assert time.monotonic() - begun < 1
    with cql.connected(server) as session:
        found = session.execute("SELECT comment FROM system_schema.tables "
                                "WHERE keyspace_name = 'ks' AND table_name = 't'").one()
        assert found.comment == "the 59th"
        session.execute("INSERT INTO ks.t (k, column_2999) VALUES (1, 'last')")


def test_compact_takes_the_schema_out_of_the_log(serve, directory):
    """What was changed and has no rows is flushed, too."""
    server = serve("--cql", "127.0.0.1:0")
    with cql.connected(server) as session:
        session.execute(KEYSPACE)
        session.execute(wide("t", 100))
        assert b"column_99" not in (directory / "manifest").read_bytes()
        daybook.run("compact", "-d", directory)
        assert b"column_99" in (directory / "manifest").read_bytes()
