"""cases: requests that once ended a server, or had everybody wait; each a few kilobytes, as a rule.

A case makes what it needs by `prepare`, once, and is a list of (text, values).
"""

import collections
import struct

Case = collections.namedtuple("Case", "name prepare requests")
MEGABYTE = 1 << 20


def repeat(part, count, separator=", "):
    return separator.join(part.format(i) for i in range(count))


def ints(count, first=0):
    """A bound list of ints."""
    return struct.pack(">i", count) + b"".join(
        struct.pack(">ii", 4, first + i) for i in range(count))


def pairs(count):
    """A bound map of ints."""
    return struct.pack(">i", count) + b"".join(
        struct.pack(">iiii", 4, i, 4, i) for i in range(count))


COLLECTIONS = [
    ("CREATE TABLE IF NOT EXISTS h.c (k int PRIMARY KEY, l list<int>, m map<int, int>, "
     "s set<int>, f frozen<map<int, int>>)", ()),
    ("INSERT INTO h.c (k, l, m, s, f) VALUES (1, ?, ?, ?, ?)",
     (ints(30000), pairs(30000), ints(30000), pairs(30000))),
]


def equal_list(size):
    return [("CREATE TABLE IF NOT EXISTS h.equal (k int PRIMARY KEY, l list<int>)", ()),
            ("INSERT INTO h.equal (k, l) VALUES (1, ?)",
             (struct.pack(">i", size) + struct.pack(">ii", 4, 1) * size,))]


# Each as long as a step of a request may take at most.
HOG = f"SELECT {repeat('collection_sum(l)', 3000)} FROM h.c"

CASES = [
    Case("a list less 2000 equal values", equal_list(60000),
         [(f"UPDATE h.equal SET l = l - [{repeat('1', 2000)}] WHERE k = 1", ())]),
    Case("a list less another", equal_list(60000),
         [("UPDATE h.equal SET l = l - ? WHERE k = 1", (ints(30000, 2),)),
          ("UPDATE h.equal SET l = l - ? WHERE k = 1", (ints(30000),))]),
    Case("8000 conditions on elements", COLLECTIONS,
         [("UPDATE h.c SET m[1] = 1 WHERE k = 1 IF " + repeat("l[{0}] = {0}", 8000, " AND "), ()),
          ("UPDATE h.c SET m[1] = 1 WHERE k = 1 IF " + repeat("m[{0}] = {0}", 8000, " AND "), ())]),
    Case("8000 elements selected", COLLECTIONS,
         [(f"SELECT {repeat('m[{0}]', 8000)} FROM h.c", ()),
          (f"SELECT {repeat('f[{0}]', 8000)} FROM h.c", ()),
          (f"SELECT {repeat('m[{0}..{0}]', 4000)} FROM h.c", ()),
          (f"SELECT {repeat('writetime(m[{0}])', 4000)} FROM h.c", ())]),
    Case("whole collections again and again", COLLECTIONS,
         [(f"SELECT {repeat('l', 8000)} FROM h.c", ()),
          (f"SELECT {repeat('tojson(m)', 3000)} FROM h.c", ()),
          (f"SELECT {repeat('collection_sum(l)', 3000)} FROM h.c", ())]),
    Case("5000 times CONTAINS", COLLECTIONS,
         [("SELECT k FROM h.c WHERE " + repeat("l CONTAINS {0}", 5000, " AND ") +
           " ALLOW FILTERING", ()),
          ("SELECT k FROM h.c WHERE " + repeat("m CONTAINS {0}", 5000, " AND ") +
           " ALLOW FILTERING", ()),
          ("SELECT k FROM h.c WHERE " + repeat("s CONTAINS {0}", 5000, " AND ") +
           " ALLOW FILTERING", ()),
          ("SELECT k FROM h.c WHERE " + repeat("m CONTAINS 1", 20000, " AND ") +
           " ALLOW FILTERING", ())]),
    Case("a bound megabyte 15000 times", [],
         [(f"SELECT {repeat('textasblob(:x)', 15000)} FROM system.local", {"x": "x" * MEGABYTE}),
          ("SELECT " + "tojson(" * 60 + "(text) :x" + ")" * 60 + " FROM system.local",
           {"x": '"' * MEGABYTE}),
          (f"SELECT {repeat('(text) :x', 15000)} FROM system.local", {"x": "x" * MEGABYTE})]),
    Case("IN in falling order", [
        ("CREATE TABLE IF NOT EXISTS h.keys (p int, c int, v int, PRIMARY KEY (p, c))", ())],
         [(f"SELECT * FROM h.keys WHERE p IN ({', '.join(map(str, range(40000, 0, -1)))})", ()),
          (f"SELECT * FROM h.keys WHERE p = 1 AND c IN "
           f"({', '.join(map(str, range(40000, 0, -1)))})", ()),
          (f"SELECT * FROM h.c WHERE m[0] = 0 AND k IN "
           f"({', '.join(map(str, range(40000, 0, -1)))}) ALLOW FILTERING", ())]),
    Case("thousands of columns", [
        ("CREATE TABLE IF NOT EXISTS h.wide (k int PRIMARY KEY)", ())],
         [(f"ALTER TABLE h.wide ADD ({repeat('c{0} int', 3000)})", ()),
          (f"CREATE TABLE h.wider (k int PRIMARY KEY, {repeat('c{0} int', 60000)})", ()),
          (f"CREATE TABLE h.ordered (k int, {repeat('c{0} int', 4000)}, PRIMARY KEY "
           f"(k, {repeat('c{0}', 4000)})) WITH CLUSTERING ORDER BY "
           f"({repeat('c{0} ASC', 4000)}, {repeat('c3999 ASC', 80000)})", ()),
          (f"CREATE TYPE h.wide_type ({repeat('c{0} int', 60000)})", ()),
          (f"INSERT INTO h.wide (k, {repeat('c{0}', 3000)}) VALUES (1, {repeat('{0}', 3000)})",
           ()),
          (f"UPDATE h.wide SET c0 = 1 WHERE k = 1 IF {repeat('c{0} = {0}', 3000, ' AND ')}", ()),
          (f"SELECT {repeat('c{0}', 3000)} FROM h.wide", ())]),
    Case("a wide type in thousands of columns", [
        ("CREATE TYPE IF NOT EXISTS h.many_fields "
         f"({repeat('field_{0} frozen<list<int>>', 900)})", ()),
        ("CREATE TABLE IF NOT EXISTS h.typed (k int PRIMARY KEY, u frozen<many_fields>)", ())],
         [(f"SELECT {repeat('u', 12600)} FROM h.typed WHERE k = 1", ()),
          (f"SELECT {repeat('k, u', 12600)} FROM h.typed WHERE k = 1", ()),
          (f"UPDATE h.typed SET u = ? WHERE k = 1 IF {repeat('u = ?', 6000, ' AND ')}", ())]),
    Case("one field of a wide type again and again", [
        (f"CREATE TYPE IF NOT EXISTS h.wide_ints ({repeat('i{0} int', 4000)})", ()),
        ("CREATE TABLE IF NOT EXISTS h.ints (k int PRIMARY KEY, u frozen<wide_ints>)", ())],
         [(f"INSERT INTO h.ints (k, u) VALUES (1, {{{repeat('i3999: 1', 40000)}}})", ())]),
    Case("thousands of names for values", [
        ("CREATE TABLE IF NOT EXISTS h.named (k int PRIMARY KEY, s set<int>)", ())],
         [(f"UPDATE h.named SET s = {{{repeat(':n{0}', 60000)}}} WHERE k = 1",
           {f"n{i}": i for i in range(60000)})]),
    Case("thousands of changes of a type", [
        ("CREATE TYPE IF NOT EXISTS h.grows (first int)", ())],
         [(f"ALTER TYPE h.grows RENAME {repeat('first TO first', 5000, ' AND ')}", ()),
          (f"ALTER TYPE h.grows RENAME {repeat('f{0} TO f{0}0', 5000, ' AND ')}", ()),
          (f"ALTER TABLE h.wide DROP ({repeat('c{0}', 2500)})", ())]),
    Case("deep and long terms", [],
         [("SELECT " + "(" * 5000 + "1" + ")" * 5000 + " FROM system.local", ()),
          ("SELECT " + "-" * 20000 + "1 FROM system.local", ()),
          ("SELECT " + "1 + " * 20000 + "1 FROM system.local", ()),
          ("SELECT " + "[" * 5000 + "]" * 5000 + " FROM system.local", ()),
          (f"SELECT [{repeat('{0}', 100000)}] FROM system.local", ()),
          (f"SELECT {repeat('now()', 50000)} FROM system.local", ())]),
]
