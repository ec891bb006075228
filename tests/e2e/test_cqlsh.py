"""cqlsh against the CQL door: statements, DESCRIBE, COPY, pages."""

import csv

import pytest

import cql

SCHEMA = """
CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
USE shop;
CREATE TABLE orders (id int, line int, what text, price decimal, tags set<text>,
    PRIMARY KEY (id, line)) WITH CLUSTERING ORDER BY (line DESC);
"""


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
