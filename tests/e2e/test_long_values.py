"""No value and no name that a client can send ends the server: every statement of the case files,
with each of its values and names made long.

A few hundred of them by default, others on each day; LONG_VALUES=all takes all of them, which is
some minutes.
"""

import datetime
import os
import random
import re
import sys

import pytest

import cql
import daybook

CASES = daybook.ROOT / "tests" / "cql"
sys.path.insert(0, str(CASES))
import player  # pylint: disable=wrong-import-position
import wire  # pylint: disable=wrong-import-position

FILES = sorted((CASES / "cassandra").glob("*.cql"))
TAKES_ALL = os.environ.get("LONG_VALUES") == "all"
VALUE_SIZES = 65536, 70000
NAME_SIZES = 48, 49, 192, 65535
SAMPLE = 4                            # of each file

TOKEN = re.compile(r"""(?P<text>'(?:[^']|'')*')|(?P<blob>\b0[xX][0-9a-fA-F]*\b)
                   |(?P<number>\b\d[\d.]*\b)
                   |(?P<name>"(?:[^"]|"")*"|\b[A-Za-z_]\w*\b)""", re.VERBOSE)
KEYWORDS = frozenset("""
    add alter and apply as asc batch begin by clustering contains create delete desc
    distinct drop entries execute exists filtering from if in index insert into is json
    key keys keyspace limit list map not null of on or order primary select set table text
    timestamp to token truncate ttl type unlogged update use using values where with int
    bigint frozen
    """.split())


def longer(token, size):
    """What may stand where the token stands."""
    kind = token.lastgroup
    if kind == "text":
        return "'" + size * "a" + "'"
    if kind == "blob":
        return "0x" + size * "61"
    if kind == "number":
        return size * "7"
    return '"' + size * "a" + '"' if token[0][0] == '"' else size * "a"


def long_statements(statement):
    """The statement with one token made long, in turn."""
    for token in TOKEN.finditer(statement):
        is_name = token.lastgroup == "name"
        if is_name and token[0].lower() in KEYWORDS:
            continue
        for size in NAME_SIZES if is_name else VALUE_SIZES:
            yield statement[:token.start()] + longer(token, size) + statement[token.end():]


def long_bounds(case):
    """Executions with one value made long, in turn."""
    for line in case.bound:
        values = player.bound_values(line)
        for place in range(len(values)):
            for size in VALUE_SIZES:
                yield [size * b"a" if at == place else value for at, value in enumerate(values)]


def attempts_of(case):
    """What is asked in place of a case: a statement, and an execution or None."""
    if "! page" in case.head:
        return
    for statement in long_statements(case.statement):
        yield statement, (player.bound_values(case.bound[0]) if case.bound else None)
    for values in long_bounds(case):
        yield case.statement, values


def chosen(path, cases):
    """The attempts of a file by the number of their case."""
    every = [(number, attempt) for number, case in enumerate(cases) if case.statement
             for attempt in attempts_of(case)]
    if not TAKES_ALL:
        draw = random.Random(f"{path.stem} {datetime.date.today()}")
        every = draw.sample(every, min(SAMPLE, len(every)))
    return {number: [attempt for at, attempt in every if at == number]
            for number in {number for number, _ in every}}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """One for all files."""
    started = daybook.Server(tmp_path_factory.mktemp("long") / "data", "--cql", "127.0.0.1:0",
                             "--memory", "1G")
    yield started
    assert started.stop() == 0, started.text()


def ask(connection, statement, values):
    """Any answer will do."""
    if values is None:
        return connection.run(statement)
    return connection.run_bound(statement, [values])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_long_values_and_names_are_answered(server, path):
    connection = wire.Connection("127.0.0.1", cql.port(server))
    cases = player.read(path)
    attempts = chosen(path, cases)
    play = player.Player(connection).play(path, cases)
    numbers = [number for number, case in enumerate(cases) if case.statement]
    for number in numbers:
        for statement, values in attempts.get(number, ()):
            try:
                answer = ask(connection, statement, values)
            except (OSError, ValueError) as error:
                pytest.fail(f"{path}:{cases[number].line}: {statement[:300]} ... {error}\n"
                            f"{server.text()[-2000:]}")
            assert answer
        next(play)
    for _ in play:
        pass
    connection.close()
