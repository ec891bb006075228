"""A whole life of the server under valgrind: serve, load, report, stop."""

import shutil

import pytest

import daybook

# Any error or block that nobody can free any more ends with this status.
LEAKED = 99


@pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind is not installed")
@pytest.mark.skipif("asan" in daybook.PROGRAM, reason="one watcher at a time")
def test_a_life_of_the_server_leaks_nothing(directory, tmp_path, flights, paper):
    log = tmp_path / "valgrind.txt"
    server = daybook.Server(directory, wrapper=[
        "valgrind", "--quiet", "--leak-check=full", "--show-leak-kinds=definite,indirect",
        "--errors-for-leak-kinds=definite,indirect", f"--error-exitcode={LEAKED}",
        f"--log-file={log}"])
    file = tmp_path / "clicks.csv"
    file.write_text(flights.header + "".join(flights.lines[:20000]))
    server.run("load", file)
    producer = daybook.Producer(daybook.batches_of(paper.lines, 2))
    producer.send_all(server.address)
    server.client().send("x\n").finish().rest()
    server.run("rate", "load", flights.rates)
    server.run("rate", "load", paper.rates)
    for words in (["report"], ["report", "--by", "month", "--format", "json"], ["counters"],
                  ["rate", "set", "AA", "2013-01-01", "50%"], ["restatements"], ["rollup"],
                  ["rejects", "list"], ["compact"], ["verify"], ["status"], ["inspect"]):
        server.run(*words)
    status = server.stop()
    text = log.read_text() if log.exists() else ""
    assert status == 0, text or server.text()
    assert text == ""
