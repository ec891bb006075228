#!/usr/bin/env python3
"""Asks Cassandra 5.0.9 what every case file says, and writes its answers into the files.

    record.py --jars build/rivals/cassandra-all/lib tests/cql/cassandra/*.cql
    record.py --at 127.0.0.1:9042 FILE...          one that runs already

daybook's own answers, and why they differ, stay as they are (player.py has the format); whoever
records reads the difference afterwards.
"""

import argparse
import contextlib
import pathlib
import subprocess
import sys
import tempfile

import player
import wire

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "rivals"))
import cassandra_node  # pylint: disable=wrong-import-position


def record(connection, path):
    cases = player.read(path)
    changed = 0
    for case, answer in player.Player(connection).play(path, cases):
        changed += case.answer != answer
        case.answer = answer
        if case.reason and player.comparable(case.own) == player.comparable(answer):
            print(f"{path}:{case.line}: daybook answers the same: not \"{case.reason}\"")
    path.write_text("".join(case.text() for case in cases))
    print(f"{path}: {sum(bool(case.statement) for case in cases)} statements, {changed} changed")


@contextlib.contextmanager
def node(jars):
    """Cassandra in an empty folder, for as long as it is needed."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        cassandra_node.prepare(root)
        with (root / "server.log").open("wb") as log:
            server = subprocess.Popen(cassandra_node.command(jars, root), stdout=log, stderr=log)
        try:
            cassandra_node.wait_cql(server)
            yield "127.0.0.1", cassandra_node.PORTS.cql
        finally:
            server.terminate()
            server.wait()


def main():
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--jars", type=pathlib.Path)
    words.add_argument("--at", metavar="HOST:PORT")
    words.add_argument("files", type=pathlib.Path, nargs="+")
    given = words.parse_args()
    if not given.jars and not given.at:
        words.error("--jars or --at is needed")
    host, _, port = (given.at or "").rpartition(":")
    running = contextlib.nullcontext((host, port)) if given.at else node(given.jars)
    with running as (host, port), contextlib.closing(wire.Connection(host, int(port))) as asked:
        for path in given.files:
            record(asked, path)


if __name__ == "__main__":
    main()
