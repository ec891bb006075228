"""What Cassandra 5.0.9 answered to the case files of tests/cql/cassandra, daybook must answer:
every row, column, type, error, text and warning, but where a file says why not."""

import sys

import pytest

import cql
import daybook

CASES = daybook.ROOT / "tests" / "cql"
sys.path.insert(0, str(CASES))
import player  # pylint: disable=wrong-import-position
import wire  # pylint: disable=wrong-import-position

FILES = sorted((CASES / "cassandra").glob("*.cql"))
DOCUMENT = daybook.ROOT / "docs" / "CQL.md"


class House:
    """One server for all files, which can be told to compact and restart it."""

    def __init__(self, directory):
        self.directory = directory
        self.server = None
        self.connection = None
        self.start()

    def start(self):
        self.server = daybook.Server(self.directory, "--cql", "127.0.0.1:0")
        self.connection = wire.Connection("127.0.0.1", cql.port(self.server))

    def stop(self):
        self.connection.close()
        assert self.server.stop() == 0, self.server.text()

    def direct(self, name):
        if name == "compact":
            self.server.run("compact")
        else:
            self.stop()
            self.start()
        return self.connection


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    started = House(tmp_path_factory.mktemp("cassandra") / "data")
    yield started
    started.stop()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_daybook_answers_as_cassandra_did(house, path):
    wrong = []
    for case, answer in player.Player(house.connection, house.direct).play(path, player.read(path)):
        if player.comparable(answer) != player.comparable(case.wanted()):
            wrong.append("\n".join([f"{path}:{case.line}: {case.statement}", *case.bound, "wanted:",
                                    *case.wanted(), "got:", *answer]))
    assert not wrong, "\n\n".join(wrong)


def reasons():
    """Every reason a file gives, with the cases that give it."""
    found = {}
    for path in FILES:
        for case in player.read(path):
            if case.reason:
                found.setdefault(case.reason, []).append((path, case))
    return found


def test_each_difference_is_one():
    same = [f"{path}:{case.line}" for cases in reasons().values() for path, case in cases
            if player.comparable(case.own) == player.comparable(case.answer)]
    assert not same, same


def test_each_difference_is_in_the_document():
    document = " ".join(DOCUMENT.read_text().split())
    missing = [reason for reason in reasons() if f"* {reason}" not in document]
    assert not missing, missing
