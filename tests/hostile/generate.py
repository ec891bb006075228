"""generate: hostile statements from the grammar of CQL, the same for the same seed.

    generate.py SEED        prints statement number SEED

Each takes one or two kinds of phrase of the grammar (an expression, a selector, a condition, a
filter, a literal, a column, a name) and repeats or nests it, up to some 10^4 times, over tables
whose collections have 10^4 items, with values of up to a megabyte. That most of them are refused is
right; what must hold of each is in hostile.py.
"""

import random
import struct
import sys

import cases

TEXT_MAX = 1 << 20               # bytes of a statement that the server reads
VALUES_MAX = 14 << 20            # of its values: a request has at most 16 MiB
ITEMS = 10_000
PREPARE = [
    "CREATE TYPE IF NOT EXISTS h.place (x int, y text, z frozen<list<int>>)",
    "CREATE TABLE IF NOT EXISTS h.g (k int, c int, st map<int, int> static, l list<int>, "
    "m map<int, text>, s set<int>, f frozen<map<int, int>>, u frozen<h.place>, w h.place, t text, "
    "n int, d decimal, v varint, b blob, at timestamp, id timeuuid, dt date, tm time, du duration, "
    "x double, PRIMARY KEY (k, c))",
    "CREATE TABLE IF NOT EXISTS h.counts (k int, c int, n counter, PRIMARY KEY (k, c))",
    "CREATE TABLE IF NOT EXISTS h.indexed (k int PRIMARY KEY, l list<int>, n int)",
    "CREATE INDEX IF NOT EXISTS ON h.indexed (l)",
    "CREATE INDEX IF NOT EXISTS ON h.indexed (n)",
]


def texts(count):
    return struct.pack(">i", count) + b"".join(
        struct.pack(">iii", 4, i, 4) + b"%04d" % i for i in range(count))


def rows():
    """What a table is filled with: (text, values)."""
    large = [("INSERT INTO h.g (k, c, l, m, s, f, t, b, v, d, n) VALUES "
              f"({k}, {k}, ?, ?, ?, ?, ?, ?, ?, 1.5, {k})",
              (cases.ints(ITEMS), texts(ITEMS), cases.ints(ITEMS), cases.pairs(ITEMS),
               "x" * (64 << 10), bytes(64 << 10), b"\x7f" * 1000)) for k in range(3)]
    return large + [("INSERT INTO h.indexed (k, l, n) VALUES (1, ?, 1)", (cases.ints(ITEMS),))]


NUMBERS = ["n", "k", "c", "d", "v", "x", "m[1]", "1", "2.5", "(int) ?"]
COLUMNS = ["k", "c", "st", "l", "m", "s", "f", "u", "w", "t", "n", "d", "v", "b", "at", "id", "dt",
           "tm", "du", "x"]
TYPES = ["int", "text", "bigint", "decimal", "varint", "blob", "double", "timestamp", "date",
         "boolean", "uuid", "inet", "duration", "ascii"]
ONE_ARGUMENT = ["tojson", "to_json", "textasblob", "blobastext", "intasblob", "varintasblob", "abs",
                "exp", "log", "log10", "round", "token", "max", "min", "sum", "avg", "count",
                "collection_count", "collection_min", "collection_max", "collection_sum",
                "collection_avg", "map_keys", "map_values", "writetime", "maxwritetime", "ttl",
                "todate", "to_timestamp", "tounixtimestamp", "mintimeuuid", "maxtimeuuid", "floor",
                "fromjson", "octet_length", "character_length"]


def size_of(value):
    return 8 + (len(value) if isinstance(value, (bytes, str)) else 0)


class Maker:
    """One statement of a seed: `text`, and `values` for its markers."""

    def __init__(self, seed):
        self.draw = random.Random(seed)
        self.values = []
        self.text = self.draw.choice([
            self.select, self.select, self.select, self.insert, self.insert_json, self.update,
            self.update, self.delete, self.batch, self.create_table, self.alter, self.create_type,
            self.counter, self.indexed, self.garbage, self.describe])()
        while sum(map(size_of, self.values)) > VALUES_MAX:
            self.values = [1 if size_of(value) > 1000 else value for value in self.values]

    # ---- how often, and how large ----

    def often(self, most=30_000):
        return min(most, int(10 ** self.draw.uniform(0, 4.5)))

    def repeat(self, make, separator=", ", most=30_000):
        """A phrase over and over; a third of the time a new one each time."""
        count = self.often(most)
        if self.draw.random() < 0.3:
            pieces, size = [], 0
            while len(pieces) < count and size < TEXT_MAX:
                pieces.append(make())
                size += len(pieces[-1])
            return separator.join(pieces)
        before = len(self.values)
        phrase = make()
        bound = self.values[before:]
        count = min(count, TEXT_MAX // (len(phrase) + len(separator)) + 1)
        if bound:
            size = sum(map(size_of, bound))
            count = max(1, min(count, 60_000 // len(bound), VALUES_MAX // size))
            self.values += bound * (count - 1)
        return separator.join([phrase] * count)

    def marker(self):
        self.values.append(self.draw.choice([
            1, None, b"\x00\x00\x00\x01", "x" * (1 << self.draw.randint(0, 20)),
            cases.ints(self.often(ITEMS)), cases.pairs(self.often(ITEMS)), bytes(8), bytes(16)]))
        return "?"

    # ---- expressions ----

    def literal(self):
        return self.draw.choice([
            lambda: str(self.draw.randint(-9, ITEMS)),
            lambda: "1." + "3" * self.often(5000),
            lambda: "9" * self.often(50_000),
            lambda: f"1e{self.draw.randint(-10**6, 10**6)}",
            lambda: "'" + "''" * self.often(100_000) + "'",
            lambda: "'" + self.draw.choice(["x", "é", "%", "\\u0000", "{\"a\": 1}"]) *
            self.often(50_000) + "'",
            lambda: "0x" + "ff" * self.often(200_000),
            lambda: "$$" + "$ " * self.often(1000) + "$$",
            lambda: "11111111-1111-1111-8111-111111111111",
            lambda: self.draw.choice(["NULL", "true", "NaN", "-Infinity", "1mo2d3h", "P1Y2M"]),
            lambda: "[" + self.repeat(lambda: str(self.draw.randint(0, 9)), most=5000) + "]",
            lambda: "{" + self.repeat(lambda: f"{self.draw.randint(0, 99)}: 1", most=5000) + "}",
            lambda: "{" + self.repeat(lambda: f"{self.draw.randint(0, 99)}", most=5000) + "}",
            lambda: "(" + self.repeat(lambda: "1", most=2000) + ")",
            self.marker])()

    def nested(self, before, inner, after):
        depth = self.draw.choice([1, 2, 5, 30, 99, 101, 5000, 50_000])
        return before * depth + inner + after * depth

    def expression(self, depth=0):
        if depth > 3 or self.draw.random() < 0.35:
            return self.draw.choice(COLUMNS) if self.draw.random() < 0.7 else self.literal()
        inner = lambda: self.expression(depth + 1)  # noqa: E731
        return self.draw.choice([
            lambda: f"{self.draw.choice(ONE_ARGUMENT)}({inner()})",
            lambda: f"CAST({inner()} AS {self.draw.choice(TYPES)})",
            lambda: f"({self.draw.choice(TYPES)}) {inner()}",
            lambda: f"{inner()} {self.draw.choice('+-*/%')} {inner()}",
            lambda: self.repeat(lambda: self.draw.choice(NUMBERS), " " + self.draw.choice("+-*")),
            lambda: "-" * self.often(2000) + self.draw.choice(NUMBERS),
            lambda: f"{self.draw.choice('msf')}[{self.draw.randint(0, ITEMS)}]",
            lambda: f"{self.draw.choice('msf')}[{self.draw.randint(0, 9)}..{ITEMS}]",
            lambda: f"writetime(m[{self.draw.randint(0, ITEMS)}])",
            lambda: f"{self.draw.choice('uw')}.{self.draw.choice('xyz')}",
            lambda: f"[{inner()}, {inner()}]",
            lambda: f"{{{inner()}: {inner()}}}",
            lambda: self.nested("(", inner(), ")"),
            lambda: self.nested("[", inner(), "]"),
            lambda: self.nested("tojson(", inner(), ")"),
            lambda: self.nested("textasblob(blobastext(", "b", "))"),
            lambda: f"token({self.repeat(lambda: 'k', most=100)})"])()

    def selector(self):
        return self.expression() + self.draw.choice(["", "", " AS a", f" AS {self.name()}"])

    def name(self):
        return self.draw.choice(["a", '"' + "N" * self.often(100_000) + '"', "n" * self.often()])

    # ---- conditions and filters ----

    def term(self):
        return self.draw.choice([str(self.draw.randint(0, ITEMS)), self.literal(), self.marker()])

    def relation(self):
        column = self.draw.choice(COLUMNS)
        return self.draw.choice([
            lambda: f"{column} {self.draw.choice(['=', '<', '>', '<=', '>=', '!='])} {self.term()}",
            lambda: f"{self.draw.choice('lsmf')} CONTAINS {self.draw.randint(0, ITEMS)}",
            lambda: f"{self.draw.choice('mf')} CONTAINS KEY {self.draw.randint(0, ITEMS)}",
            lambda: f"{self.draw.choice('lmf')}[{self.draw.randint(0, ITEMS)}] = {self.term()}",
            lambda: f"{column} IN ({self.falling()})",
            lambda: f"(k, c) IN ({self.repeat(lambda: '(1, 2)')})",
            lambda: f"(c) > ({self.term()})",
            lambda: f"token(k) > {self.term()}",
            lambda: f"w.x = {self.term()}"])()

    def falling(self):
        return ", ".join(map(str, range(self.often(100_000), 0, -1)))

    def where(self):
        parts = [self.draw.choice(["k = 1", f"k IN ({self.falling()})", "k IN (0, 1, 2)"])]
        if self.draw.random() < 0.5:
            parts.append(self.draw.choice(["c = 1", f"c IN ({self.falling()})", "c > 0"]))
        if self.draw.random() < 0.5:
            parts.append(self.repeat(self.relation, " AND ", 8000))
        return " WHERE " + " AND ".join(parts[self.draw.randint(0, 1) if len(parts) > 1 else 0:])

    # ---- statements ----

    def select(self):
        return (f"SELECT {self.draw.choice(['', '', 'JSON ', 'DISTINCT '])}"
                f"{self.repeat(self.selector, most=20_000)} FROM h.g"
                f"{self.draw.choice(['', self.where()])}"
                f"{self.draw.choice(['', '', ' GROUP BY k', ' GROUP BY k, c'])}"
                f"{self.draw.choice(['', '', ' ORDER BY c DESC'])}"
                f"{self.draw.choice(['', '', ' LIMIT 1', ' PER PARTITION LIMIT 1'])}"
                f"{self.draw.choice(['', ' ALLOW FILTERING'])}")

    def insert(self):
        column = self.draw.choice(COLUMNS[3:])
        return (f"INSERT INTO h.g (k, c, {column}) VALUES (9, {self.often()}, {self.literal()})"
                f"{self.draw.choice(['', ' IF NOT EXISTS', ' USING TTL 60'])}")

    def insert_json(self):
        inner = self.draw.choice([
            lambda: '"m": {' + self.repeat(lambda: f'"{self.draw.randint(0, 99)}": "x"') + "}",
            lambda: '"l": [' + self.repeat(lambda: "1") + "]",
            lambda: '"l": ' + self.nested("[", "1", "]"),
            lambda: self.repeat(lambda: f'"{self.name().strip(chr(34))}": 1'),
            lambda: '"t": "' + "\\u00e9" * self.often() + '"',
            lambda: '"d": 1' + "0" * self.often(100_000)])()
        return "INSERT INTO h.g JSON '{\"k\": 9, \"c\": 9, " + inner + "}'"

    def assignment(self):
        return self.draw.choice([
            lambda: f"l = l {self.draw.choice('+-')} [{self.repeat(lambda: '1', most=ITEMS)}]",
            lambda: f"l = [{self.repeat(lambda: '1', most=ITEMS)}] + l",
            lambda: f"l[{self.draw.randint(0, ITEMS)}] = {self.draw.choice(['1', 'NULL'])}",
            lambda: f"m[{self.draw.randint(0, ITEMS)}] = {self.draw.choice(['NULL', self.term()])}",
            lambda: f"s = s {self.draw.choice('+-')} {{{self.falling()}}}",
            lambda: f"m = m - {{{self.falling()}}}",
            lambda: f"l = l - {self.marker()}",
            lambda: f"w.x = {self.term()}",
            lambda: f"{self.draw.choice(COLUMNS[3:])} = {self.literal()}"])()

    def update(self):
        conditions = " IF " + self.repeat(self.relation, " AND ", 8000)
        return (f"UPDATE h.g SET {self.repeat(self.assignment, most=8000)} WHERE k = 1 AND c = "
                f"{self.draw.choice(['1', '7'])}"
                f"{self.draw.choice(['', conditions, conditions, ' IF EXISTS'])}")

    def delete(self):
        column = lambda: self.draw.choice(  # noqa: E731
            [f"l[{self.draw.randint(0, ITEMS)}]", f"m[{self.draw.randint(0, ITEMS)}]", "t", "w.x"])
        return self.draw.choice([
            lambda: f"DELETE {self.repeat(column, most=8000)} FROM h.g WHERE k = 1 AND c = 1",
            lambda: f"DELETE FROM h.g WHERE k = 8 AND c IN ({self.falling()})",
            lambda: f"DELETE FROM h.g WHERE k = 8 IF {self.repeat(self.relation, ' AND ', 8000)}",
            lambda: f"DELETE t FROM h.g{self.where()}"])()

    def batch(self):
        one = lambda: self.draw.choice([  # noqa: E731
            "INSERT INTO h.g (k, c, n) VALUES (9, 1, 1)",
            f"INSERT INTO h.g (k, c, n) VALUES (9, {self.draw.randint(0, ITEMS)}, 1)",
            "UPDATE h.g SET l[0] = 1 WHERE k = 1 AND c = 1",
            "UPDATE h.g SET n = 1 WHERE k = 1 AND c = 1 IF n = 1",
            "DELETE FROM h.g WHERE k = 9 AND c > 5"])
        kind = self.draw.choice(["", "UNLOGGED ", "COUNTER "])
        return f"BEGIN {kind}BATCH {self.repeat(one, '; ')} APPLY BATCH"

    def column(self):
        number = self.draw.randint(0, 10**6)
        return f"c{number} " + self.draw.choice([
            *TYPES, "list<int>", "frozen<map<int, text>>", self.nested("frozen<list<", "int", ">>"),
            self.nested("list<", "int", ">"),
            f"tuple<{self.repeat(lambda: 'int', most=8000)}>", self.name()])

    def create_table(self):
        table = f"h.t{self.draw.randint(0, 20)}"
        made = (f"CREATE TABLE {table} (k int PRIMARY KEY, {self.repeat(self.column)})" +
                self.draw.choice(["", f" WITH comment = '{'x' * self.often(500_000)}'"]))
        key = self.repeat(lambda: "k")
        return self.draw.choice([
            made, made, f"DROP TABLE IF EXISTS {table}",
            f"CREATE TABLE {table} (k int, PRIMARY KEY (({key}), {key}))",
            f"CREATE TABLE {table} (p int, k int, PRIMARY KEY (p, k)) WITH CLUSTERING ORDER BY "
            f"({self.repeat(lambda: 'k DESC')})",
            f"CREATE TABLE {table} (k int PRIMARY KEY) WITH " +
            self.repeat(lambda: "gc_grace_seconds = 1", " AND ")])

    def alter(self):
        table = f"h.t{self.draw.randint(0, 20)}"
        names = self.repeat(lambda: f"c{self.draw.randint(0, 10**6)}")
        return self.draw.choice([
            f"ALTER TABLE {table} ADD ({self.repeat(self.column)})",
            f"ALTER TABLE {table} ADD IF NOT EXISTS ({self.repeat(self.column)})",
            f"ALTER TABLE {table} DROP IF EXISTS ({names})",
            "ALTER TABLE h.g RENAME " + self.repeat(lambda: "k TO k", " AND "),
            "ALTER TYPE h.place RENAME " + self.repeat(lambda: "x TO x", " AND "),
            f"ALTER TYPE h.place ADD IF NOT EXISTS {self.column()}"])

    def create_type(self):
        kind = f"h.type{self.draw.randint(0, 20)}"
        return self.draw.choice([
            f"CREATE TYPE IF NOT EXISTS {kind} ({self.repeat(self.column)})",
            f"DROP TYPE IF EXISTS {kind}", f"CREATE KEYSPACE {self.name()} WITH replication = "
            f"{{{self.repeat(lambda: chr(39) + 'dc' + chr(39) + ': 1')}}}"])

    def counter(self):
        return self.draw.choice([
            lambda: "UPDATE h.counts SET " + self.repeat(lambda: "n = n + 1") +
            " WHERE k = 1 AND c = 1",
            lambda: f"UPDATE h.counts SET n = n + 1 WHERE k = 1 AND c IN ({self.falling()})",
            lambda: f"DELETE FROM h.counts WHERE k IN ({self.falling()})"])()

    def indexed(self):
        return self.draw.choice([
            lambda: f"SELECT {self.repeat(lambda: 'l')} FROM h.indexed WHERE l CONTAINS 1",
            lambda: "SELECT k FROM h.indexed WHERE " +
            self.repeat(lambda: f"l CONTAINS {self.draw.randint(0, ITEMS)}", " AND ", 8000) +
            " ALLOW FILTERING",
            lambda: f"SELECT k FROM h.indexed WHERE n = {self.literal()}",
            lambda: f"UPDATE h.indexed SET l = l + [{self.falling()}] WHERE k = 2",
            lambda: "UPDATE h.indexed SET l = l - [1, 2, 3] WHERE k = 1"])()

    def describe(self):
        return self.draw.choice([
            "DESCRIBE SCHEMA", "DESCRIBE TABLES", f"DESCRIBE KEYSPACE {self.name()}",
            "SELECT * FROM system_schema.columns", "SELECT * FROM system_schema.tables",
            f"USE {self.name()}", f"TRUNCATE h.t{self.draw.randint(0, 20)}"])

    def garbage(self):
        word = lambda: self.draw.choice(  # noqa: E731
            ["SELECT", "FROM", "(", ")", "[", "]", "{", "}", "'", '"', "$$", "/*", "--", ",", ";",
             "\0", "\n", "é", "?", ":a", "AND", "IF", "IN", "=", "-", "0x", "1e", "."])
        return self.draw.choice(["", "SELECT ", "INSERT INTO ", "UPDATE h.g SET "]) + \
            self.repeat(word, self.draw.choice(["", " "]), 200_000)


if __name__ == "__main__":
    print(Maker(int(sys.argv[1])).text)
