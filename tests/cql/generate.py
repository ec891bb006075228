#!/usr/bin/env python3
"""Makes a case file of random statements, the same for the same seed:

    generate.py SEED >tests/cql/cassandra/generated_SEED.cql

A table of random columns is written to and deleted from with random timestamps, ties included, and
read in every shape between merges.  Behind a merge they are later ones: daybook forgets deletions
there, and Cassandra remembers them for gc_grace.  Values come from small sets, so that rows meet
each other.  The answers are Cassandra's to give: record.py.
"""

import random
import sys

WRITES = 45
READS = 60
VALUES = {
    "int": ["0", "1", "2", "3", "-7"],
    "bigint": ["1", "2", "10000000000", "-1"],
    "text": ["'a'", "'b'", "'B'", "'é'", "''"],
    "decimal": ["1", "1.50", "-2.25", "0.001"],
    "double": ["1.5", "-0.25", "1e10", "3.0"],
    "boolean": ["true", "false"],
    "timestamp": ["0", "86400000", "1385654400123"],
    "uuid": ["11111111-1111-4111-8111-111111111111", "22222222-2222-1222-8222-222222222222"],
    "blob": ["0x", "0x00", "0xff01"],
}
KEYS = ["int", "bigint", "text", "timestamp", "uuid"]
CLUSTERING = ["int", "bigint", "text", "decimal", "boolean", "timestamp", "blob"]
COLLECTIONS = ["set<int>", "list<int>", "map<text, int>", "frozen<list<int>>"]
NUMBERS = ("int", "bigint", "decimal", "double")
NOT_EMPTY = {"text": "'a'", "blob": "0x00"}     # instead of an empty key, which is refused


class Table:
    def __init__(self, draw):
        self.draw = draw
        self.epoch = 0                   # timestamps never go back behind a merge
        self.partition = [(f"p{i}", draw.choice(KEYS)) for i in range(draw.randint(1, 2))]
        self.clustering = [(f"c{i}", draw.choice(CLUSTERING)) for i in range(draw.randint(1, 3))]
        self.orders = [draw.choice(("ASC", "DESC")) for _ in self.clustering]
        kinds = list(VALUES)
        self.regular = [(f"v{i}", draw.choice(kinds)) for i in range(draw.randint(2, 4))]
        self.regular += [(f"w{i}", kind) for i, kind in enumerate(draw.sample(COLLECTIONS, 2))]
        self.statics = [("s0", "int"), ("s1", "set<int>")][:draw.randint(0, 2)]

    def create(self):
        columns = [*self.partition, *self.clustering, *self.regular]
        words = [f"{name} {kind}" for name, kind in columns]
        words += [f"{name} {kind} static" for name, kind in self.statics]
        key = f"({names(self.partition)}), {names(self.clustering)}"
        order = ", ".join(f"{name} {how}" for (name, _), how in zip(self.clustering, self.orders))
        return f"CREATE TABLE t ({', '.join(words)}, PRIMARY KEY ({key})) " \
            f"WITH CLUSTERING ORDER BY ({order})"

    # ---- values ----

    def value(self, kind, is_key=False):
        kind = kind.removeprefix("frozen<").removesuffix(">" if "frozen" in kind else "")
        if kind == "set<int>":
            return "{" + ", ".join(self.some("int")) + "}"
        if kind == "list<int>":
            return "[" + ", ".join(self.some("int")) + "]"
        if kind == "map<text, int>":
            return "{" + ", ".join(f"{key}: {self.value('int')}" for key in self.some("text")) + "}"
        chosen = self.draw.choice(VALUES[kind])
        return NOT_EMPTY[kind] if is_key and chosen in ("''", "0x") else chosen

    def some(self, kind):
        return self.draw.sample(VALUES[kind], self.draw.randint(1, 3))

    def equals(self, columns, is_key=False):
        return [f"{name} = {self.value(kind, is_key)}" for name, kind in columns]

    def key(self):
        return self.equals(self.partition, True)

    # ---- writes ----

    def write(self):
        stamp = f"USING TIMESTAMP {self.epoch * 1000 + self.draw.randint(1, 20)}"
        kind = self.draw.random()
        if kind < 0.5:
            return self.insert(stamp)
        if kind < 0.75:
            return self.update(stamp)
        return self.delete(stamp)

    def insert(self, stamp):
        chosen = self.draw.sample(self.regular, self.draw.randint(0, len(self.regular)))
        columns = [*self.clustering, *chosen]
        if self.statics and self.draw.random() < 0.3:
            columns = list(self.statics) if self.draw.random() < 0.5 else columns + self.statics
        words = [self.value(kind, True) for _, kind in self.partition]
        words += [self.value(kind) if self.draw.random() < 0.9 or (name, kind) in self.clustering
                  else "null" for name, kind in columns]
        return f"INSERT INTO t ({names(self.partition + columns)}) VALUES ({', '.join(words)}) " \
            f"{stamp}"

    def update(self, stamp):
        sets = []
        for name, kind in self.draw.sample(self.regular, self.draw.randint(1, 2)):
            sign = self.draw.choice("+-") if kind in COLLECTIONS[:2] else "+"
            whole = f"{name} = {self.value(kind)}"
            part = f"{name} = {name} {sign} {self.value(kind)}"
            sets.append(part if kind in COLLECTIONS[:3] and self.draw.random() < 0.7 else whole)
        where = self.key() + self.equals(self.clustering)
        return f"UPDATE t {stamp} SET {', '.join(sets)} WHERE {' AND '.join(where)}"

    def delete(self, stamp):
        shape = self.draw.choice(("row", "row", "column", "range", "prefix", "partition"))
        where = self.key()
        columns = ""
        if shape in ("row", "column"):
            where += self.equals(self.clustering)
            columns = self.draw.choice(self.regular)[0] + " " if shape == "column" else ""
        elif shape == "prefix":
            where += self.equals(self.clustering[:self.draw.randint(1, len(self.clustering))])
        elif shape == "range":
            where += self.slice()
        return f"DELETE {columns}FROM t {stamp} WHERE {' AND '.join(where)}"

    # ---- reads ----

    def slice(self):
        """Some columns fixed, then a range of the next or of several."""
        fixed = self.draw.randint(0, len(self.clustering) - 1)
        where = self.equals(self.clustering[:fixed])
        rest = self.clustering[fixed:]
        several = rest[:self.draw.randint(1, len(rest))]
        lower, upper = self.draw.choice((">", ">=")), self.draw.choice(("<", "<="))
        for sign in self.draw.sample((lower, upper), self.draw.randint(1, 2)):
            words = [self.value(kind) for _, kind in several]
            if len(several) == 1:
                where.append(f"{several[0][0]} {sign} {words[0]}")
            else:
                where.append(f"({names(several)}) {sign} ({', '.join(words)})")
        return where

    def chosen(self, columns):
        """IN for the last of some columns, = for the others."""
        where = self.equals(columns[:-1])
        name, kind = columns[-1]
        return where + [f"{name} IN ({', '.join(self.some_of(kind))})"]

    def some_of(self, kind):
        return [self.value(kind, True) for _ in range(self.draw.randint(1, 3))]

    def where(self):
        shape = self.draw.choice(("all", "token", "key", "keys", "slice", "slice", "in", "filter",
                                  "filter"))
        if shape == "all":
            return [], ""
        if shape == "token":
            sign = self.draw.choice((">", "<=", ">=", "<"))
            words = ", ".join(self.value(kind, True) for _, kind in self.partition)
            return [f"token({names(self.partition)}) {sign} token({words})"], ""
        if shape == "keys":
            return self.chosen(self.partition), ""
        if shape == "slice":
            return self.key() + self.slice(), ""
        if shape == "in":
            count = self.draw.randint(1, len(self.clustering))
            return self.key() + self.chosen(self.clustering[:count]), ""
        if shape == "filter":
            name, kind = self.draw.choice(self.regular)
            if kind in COLLECTIONS:
                return [f"{name} CONTAINS {self.value('int')}"], " ALLOW FILTERING"
            sign = "=" if kind == "boolean" else self.draw.choice(("=", ">", "<="))
            return [f"{name} {sign} {self.value(kind)}"], " ALLOW FILTERING"
        return self.key(), ""

    def selection(self):
        plain = [kind for _, kind in self.regular]
        shape = self.draw.choice(("all", "some", "aggregate", "times", "group", "json"))
        if shape == "some":
            columns = [*self.clustering, *self.regular, *self.statics]
            return names(self.draw.sample(columns, self.draw.randint(1, 3))), ""
        if shape == "aggregate":
            name, kind = self.draw.choice(self.regular)
            sums = f", sum({name}), avg({name})" if kind in NUMBERS else ""
            return f"count(*), count({name}), min({name}), max({name}){sums}", ""
        if shape == "times":
            name, kind = self.draw.choice([*self.regular, *self.statics])
            part = ", maxwritetime" if "<" in kind else ", writetime"
            return f"{names(self.clustering)}, writetime({name}){part}({name})", ""
        if shape == "group":
            count = self.draw.randint(0, len(self.clustering))
            group = names(self.partition + self.clustering[:count])
            numbers = [name for name, kind in self.regular if kind in NUMBERS]
            more = f", sum({numbers[0]})" if numbers else ""
            return f"{group}, count(*), max({self.regular[0][0]}){more}", f" GROUP BY {group}"
        return ("JSON *" if shape == "json" and "blob" not in plain else "*"), ""

    def read(self):
        if self.draw.random() < 0.1:
            return f"SELECT DISTINCT {names(self.partition + self.statics)} FROM t"
        selected, group = self.selection()
        where, filtering = self.where()
        text = f"SELECT {selected} FROM t"
        text += " WHERE " + " AND ".join(where) if where else ""
        text += group
        is_one = where and where[0].startswith(f"{self.partition[0][0]} =") and \
            not any(f"{name} IN" in word for name, _ in self.partition for word in where)
        if is_one and not filtering and self.draw.random() < 0.5:
            turned = self.draw.random() < 0.5
            name, how = self.clustering[0][0], self.orders[0]
            text += f" ORDER BY {name} " + ({"ASC": "DESC", "DESC": "ASC"}[how] if turned else how)
        is_counted = "count(*)" in selected and not group
        if not is_counted and self.draw.random() < 0.25:
            text += f" PER PARTITION LIMIT {self.draw.randint(1, 2)}"
        if self.draw.random() < 0.25:
            text += f" LIMIT {self.draw.randint(1, 5)}"
        return text + filtering


def names(columns):
    return ", ".join(name for name, _ in columns)


def main():
    seed = int(sys.argv[1])
    draw = random.Random(seed)
    table = Table(draw)
    print(f"# Random statements, made by generate.py from seed {seed}.")
    print(f"> {table.create()}")
    for part in range(3):
        table.epoch = part
        for _ in range(WRITES // 3):
            print(f"> {table.write()}")
        for number in range(READS // 3):
            if number % 5 == 0:
                print(f"! page {draw.choice((0, 0, 1, 2, 3, 7))}")
            print(f"> {table.read()}")
        if part < 2:
            print("! compact")


if __name__ == "__main__":
    main()
