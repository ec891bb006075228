"""cqlsh against the CQL door: statements, DESCRIBE, COPY, pages, tracing, its own commands."""

import csv
import re

import pytest

import cql

SCHEMA = """
CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
USE shop;
CREATE TABLE orders (id int, line int, what text, price decimal, tags set<text>,
    PRIMARY KEY (id, line)) WITH CLUSTERING ORDER BY (line DESC);
"""

# A column of every type, by its value as CQL: the hard ones of each.  (What cqlsh itself does not
# bring back is left out: backslashes, ends of lines, nulls in a tuple or a type of one's own.)
EVERY = {
    "ascii": "'a, \"b\" ''c'''",
    "bigint": "-9223372036854775808",
    "blob": "0x00ff0a",
    "boolean": "true",
    "date": "'2013-11-28'",
    "decimal": "-0.10",
    "double": "-Infinity",
    "duration": "1y2mo3d4h5m6s7ms8us9ns",
    "float": "1.25",
    "inet": "'2001:db8::1'",
    "int": "-1",
    "smallint": "32767",
    "text": "'é, \"'",
    "time": "'08:12:54.123456789'",
    "timestamp": "'2013-11-28 16:00:00.123+0000'",
    "tinyint": "-128",
    "timeuuid": "50554d6e-29bb-11e5-b345-feff819cdc9f",
    "uuid": "11111111-1111-1111-1111-111111111111",
    "varint": "123456789012345678901234567890",
    "list<text>": "['a', 'it''s, \"x\"']",
    "map<text, int>": "{'k, 1': 1, 'é': -2}",
    "set<blob>": "{0x00, 0xffff}",
    "frozen<list<frozen<tuple<int, text>>>>": "[(1, 'one'), (2, 'two')]",
    "tuple<int, text, double>": "(1, 'two', 2.5)",
    "frozen<place>": "{street: 'Elm, \"1\"', number: 7, tags: {'x', 'y'}}",
    "map<text, frozen<place>>": "{'home': {street: 'a', number: 3, tags: {'z'}}}",
    "place": "{street: 'S', number: 1, tags: {'t'}}",
}


@pytest.fixture
def server(serve):
    server = serve("--cql", "127.0.0.1:0")
    cql.cqlsh(server, stdin=SCHEMA)
    return server


def test_statements_print_as_cassandra_prints_them(server):
    out = cql.cqlsh(server, "-e", "INSERT INTO shop.orders (id, line, what, price, tags) VALUES "
                    "(1, 2, 'a b', 0.10, {'y', 'x'}); SELECT * FROM shop.orders")
    assert " id | line | price | tags       | what\n" in out
    assert "  1 |    2 |  0.10 | {'x', 'y'} |  a b\n" in out
    assert "(1 rows)" in out


def test_describe_gives_statements_that_make_the_same_table_again(server):
    table = cql.cqlsh(server, "-e", "DESCRIBE TABLE shop.orders")
    assert "CREATE TABLE shop.orders (" in table
    assert "CLUSTERING ORDER BY (line DESC)" in table
    cql.cqlsh(server, "-e", "DROP TABLE shop.orders")
    cql.cqlsh(server, stdin=table)
    assert cql.cqlsh(server, "-e", "DESCRIBE TABLE shop.orders") == table
    assert "shop" in cql.cqlsh(server, "-e", "DESCRIBE KEYSPACES")


def test_copy_brings_back_what_it_took_out(server, tmp_path):
    rows = tmp_path / "rows.csv"
    again = tmp_path / "again.csv"
    dialect = {"escapechar": "\\", "doublequote": False}
    with rows.open("w", newline="") as file:
        writer = csv.writer(file, **dialect)
        for number in range(2000):
            writer.writerow([number % 50, number, f"name, \"{number}\"", f"{number}.25",
                             f"{{'t{number}', 'é'}}" if number % 3 else ""])
    columns = "(id, line, what, price, tags)"
    cql.cqlsh(server, "-e", f"COPY shop.orders {columns} FROM '{rows}'")
    cql.cqlsh(server, "-e", f"COPY shop.orders {columns} TO '{again}'")
    with rows.open(newline="") as one, again.open(newline="") as two:
        assert sorted(csv.reader(one, **dialect)) == sorted(csv.reader(two, **dialect))


# cqlsh itself can bind no duration; as a text it is sent.
@pytest.mark.parametrize("is_prepared", [True, False], ids=["bound", "as_text"])
def test_copy_takes_every_type_nulls_and_counters_along(server, tmp_path, is_prepared):
    every = {kind: value for kind, value in EVERY.items()
             if not (is_prepared and kind == "duration")}
    columns = [f"c{number}" for number in range(len(every))]
    typed = ", ".join(f"{name} {kind}" for name, kind in zip(columns, every))
    copied = {table: tmp_path / table for table in ("every", "hits")}
    make = "".join([
        "CREATE TYPE place (street text, number int, tags frozen<set<text>>);\n",
        f"CREATE TABLE every (k text, at timeuuid, still int static, {typed}, ",
        "PRIMARY KEY (k, at)) WITH CLUSTERING ORDER BY (at DESC);\n",
        f"INSERT INTO every (k, at, still, {', '.join(columns)}) VALUES "
        f"('all', 50554d6e-29bb-11e5-b345-feff819cdc9f, 9, {', '.join(every.values())});\n",
        "INSERT INTO every (k, at) VALUES ('nulls', 50554d6e-29bb-11e5-b345-feff819cdc9f);\n",
        "CREATE TABLE hits (page text, day text, hits counter, PRIMARY KEY (page, day));\n",
        "UPDATE hits SET hits = hits + 3 WHERE page = 'a' AND day = 'x';\n",
        "UPDATE hits SET hits = hits - 4 WHERE page = 'b' AND day = 'x';\n"])
    show = "SELECT * FROM every;\nSELECT * FROM hits;\n"
    before = cql.cqlsh(server, "-k", "shop", stdin=make + show)
    assert "(2 rows)" in before
    out = cql.cqlsh(server, "-k", "shop", stdin="".join(
        f"COPY {table} TO '{path}' WITH HEADER = true;\nTRUNCATE {table};\n"
        f"COPY {table} FROM '{path}' WITH HEADER = true AND PREPAREDSTATEMENTS = {is_prepared};\n"
        for table, path in copied.items()))
    assert out.count("2 rows exported") == out.count("2 rows imported") == 2, out
    assert cql.cqlsh(server, "-k", "shop", stdin=show) == before


def test_a_traced_request_shows_what_happened_and_when(server):
    out = cql.cqlsh(server, "-k", "shop", stdin="TRACING ON\n"
                    "INSERT INTO orders (id, line) VALUES (1, 1);\n"
                    "SELECT id, line FROM orders WHERE id = 1;\n"
                    "INSERT INTO orders (id, line) VALUES (1, 1) IF NOT EXISTS;\nTRACING OFF\n"
                    "SELECT * FROM orders;\n")
    traces = re.findall(r"Tracing session: \S+\n(.*?Request complete.*?\n)", out, re.DOTALL)
    assert len(traces) == 3
    events = [re.findall(r"^ *(.+?)(?: \[engine\])? \|.*\| +(\d+) \| 127.0.0.1$", trace,
                         re.MULTILINE) for trace in traces]
    write, read, condition = [[activity for activity, _ in trace] for trace in events]
    assert write == ["Execute CQL3 query", "Parsing INSERT INTO orders (id, line) VALUES (1, 1);",
                     "Appending to commit log and memtable: 1 mutations, 0 increments",
                     "The commit log is synced", "Request complete"]
    assert read[2:] == ["Executing single-partition query on orders", "Read 1 rows",
                        "Request complete"]
    assert "A condition does not hold" in condition
    for trace in events:
        elapsed = [int(us) for _, us in trace]
        assert elapsed == sorted(elapsed) and elapsed[-1] > 0


def test_the_shell_s_own_commands_work(serve, tmp_path):
    passwords = tmp_path / "passwords"
    passwords.write_text("".join(f"{name}:{cql.BCRYPT_OF_SECRET}\n" for name in ("alice", "bob")))
    server = serve("--cql", "127.0.0.1:0", "--cql-passwords", passwords)
    captured = tmp_path / "captured"
    out = cql.cqlsh(server, "-u", "alice", "-p", "secret", stdin=SCHEMA.replace("USE shop;", "")
                    .replace("TABLE orders", "TABLE shop.orders") +
                    "CONSISTENCY QUORUM\nSERIAL CONSISTENCY LOCAL_SERIAL\nCONSISTENCY\n"
                    "SHOW VERSION\nDESCRIBE CLUSTER\nLOGIN bob 'secret'\n"
                    f"CAPTURE '{captured}'\nINSERT INTO shop.orders (id, line) VALUES (1, 1);\n"
                    "SELECT id FROM shop.orders;\nCAPTURE OFF\nLOGIN alice 'wrong'\n", status=None)
    assert "Current consistency level is QUORUM." in out
    assert "Serial consistency level set to LOCAL_SERIAL." in out
    assert "Cassandra 5.0.9 | CQL spec 3.4.7 | Native protocol v5" in out
    assert "Cluster: daybook" in out
    assert "(1 rows)" in captured.read_text()
    assert "Provided username alice and/or password are incorrect" in out


def test_pages_expand_and_source_work(server, tmp_path):
    script = tmp_path / "script.cql"
    script.write_text("".join(f"INSERT INTO shop.orders (id, line) VALUES (1, {line});\n"
                              for line in range(250)))
    out = cql.cqlsh(server, stdin=f"SOURCE '{script}'\nPAGING 100\nEXPAND ON\n"
                    "SELECT id, line FROM shop.orders WHERE id = 1;\n")
    assert "@ Row 250" in out and "(250 rows)" in out


def test_an_error_is_shown_and_sets_the_status(server):
    out = cql.cqlsh(server, "-e", "SELECT * FROM shop.nothing", status=2)
    assert "InvalidRequest" in out and "code=2200" in out
