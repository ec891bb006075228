"""A whole life of the server under valgrind: serve, load, report, back up, stop; and commands on
the directory without it."""

import shutil
import subprocess

import pytest

import daybook

# Any error or block that nobody can free any more ends with this status.
LEAKED = 99
CLICKS = ("--reseller", "supaboobs", "--day", "2013-11-28")


@pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind is not installed")
@pytest.mark.skipif("asan" in daybook.PROGRAM, reason="one watcher at a time")
def test_a_life_of_the_server_leaks_nothing(directory, tmp_path, flights, paper):
    log = tmp_path / "valgrind.txt"
    wrapper = ["valgrind", "--quiet", "--leak-check=full", "--show-leak-kinds=definite,indirect",
               "--errors-for-leak-kinds=definite,indirect", f"--error-exitcode={LEAKED}"]
    server = daybook.Server(directory, wrapper=[*wrapper, f"--log-file={log}"])
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
                  ["rejects", "list"], ["compact"], ["verify"], ["status"], ["inspect"],
                  ["load", "--binary", file, "--as", "again"], ["backup", tmp_path / "b"],
                  ["clicks", "void", *CLICKS], ["clicks", "restore", *CLICKS],
                  ["backup", "--follow", tmp_path / "f"], ["retention", "set", "30"], ["rollup"]):
        server.run(*words)
    status = server.stop()
    text = log.read_text() if log.exists() else ""
    assert status == 0, text or server.text()
    assert text == ""
    for words in (["report", "-d", directory], ["verify", "-d", directory],
                  ["restore", tmp_path / "b", tmp_path / "restored"]):
        done = subprocess.run([*wrapper, daybook.PROGRAM, *words], env=daybook.environment(),
                              capture_output=True, check=False)
        assert done.returncode == 0 and b"==" not in done.stderr, done.stderr.decode()
