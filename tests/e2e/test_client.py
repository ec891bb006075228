"""The C client library, as it is installed: a program that links it counts each click once."""

import csv
import io
import os
import random
import re
import subprocess
import threading
import time

import pytest

import daybook

CC = os.environ.get("CC", "gcc")


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """The example, built against what `make install` puts somewhere: shared and static."""
    place = tmp_path_factory.mktemp("installed")
    subprocess.run(["make", "--no-print-directory", "install", f"PREFIX={place}"], check=True,
                   cwd=daybook.ROOT, stdout=subprocess.DEVNULL, timeout=600)
    found = {**os.environ, "PKG_CONFIG_PATH": str(place / "lib" / "pkgconfig")}
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "daybook"], env=found, check=True,
                           capture_output=True).stdout.decode().split()
    source = str(daybook.ROOT / "examples" / "send_csv.c")
    warn = ["-Wall", "-Wextra", "-Werror"]
    shared, static = str(place / "shared"), str(place / "static")
    subprocess.run([CC, *warn, source, *flags, f"-Wl,-rpath,{place}/lib", "-o", shared],
                   check=True)
    subprocess.run([CC, *warn, source, flags[0], str(place / "lib" / "libdaybook.a"), "-o", static],
                   check=True)
    return [shared, static]


def sender(program, address, *words, lines):
    """Start the example and give it `lines` from a thread; its answer comes from communicate."""
    process = subprocess.Popen(
        [program, ":".join(map(str, address)), *map(str, words)], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    thread = threading.Thread(
        target=lambda: (process.stdin.write("".join(lines).encode()), process.stdin.close()))
    thread.start()
    return process, thread


def finish(process, thread):
    out, err = process.stdout.read().decode(), process.stderr.read().decode()
    thread.join()
    assert process.wait(timeout=daybook.PATIENCE) == 0, err
    return [int(number) for number in re.findall(r"\d+", out)], err


def load_rates(directory, wanted):
    daybook.run("rate", "load", "-d", directory, wanted.rates)


def test_a_year_of_events_is_the_same_report_over_both_libraries(serve, directory, flights,
                                                                  programs):
    server = serve()
    half = len(flights.lines) // 2
    parts = [flights.lines[:half], flights.lines[half:]]
    counts = [0, 0]
    for program, lines in zip(programs, parts):
        numbers, err = finish(*sender(program, server.address, lines=lines))
        counts = [counts[0] + numbers[0], counts[1] + numbers[1]]
        assert numbers[3:] == [0, 1]
        assert "empty_id" in err
    assert counts == [len(flights.good), flights.rejected]
    load_rates(directory, flights)
    daybook.assert_holds(directory, flights)
    listed = csv.DictReader(io.StringIO(server.run("rejects", "list", "--format", "csv").out))
    assert {(row["door"], row["code"]) for row in listed} == {("binary", "empty_id")}


def test_eight_connections_at_once_give_the_same_report(serve, directory, flights, programs):
    server = serve()
    lines = list(flights.lines)
    random.Random(3).shuffle(lines)
    senders = [sender(programs[i % 2], server.address, 500, lines=lines[i::8]) for i in range(8)]
    totals = [finish(*one)[0] for one in senders]
    assert sum(numbers[0] for numbers in totals) == len(flights.good)
    load_rates(directory, flights)
    daybook.assert_holds(directory, flights)


def test_killed_servers_neither_lose_nor_double_a_click(directory, flights, programs):
    choice = random.Random(int(os.environ.get("DAYBOOK_SEED", "0")) or None)
    server = daybook.Server(directory)
    address = server.address
    lines = list(flights.lines)
    processes = [sender(programs[i], address, 200, lines=lines[i::2]) for i in range(2)]
    kills = 0
    while any(process.poll() is None for process, _ in processes):
        time.sleep(choice.random() * 0.15)
        server.kill()
        kills += 1
        server = daybook.Server(directory, "--ingest", ":".join(map(str, address)))
        # Answers that are long in coming do not make the test fail, a sender that stops does.
        assert kills < 3000
    totals = [finish(*one)[0] for one in processes]
    assert sum(numbers[0] for numbers in totals) == len(flights.good)
    assert sum(numbers[1] for numbers in totals) == flights.rejected
    assert kills >= 3 and sum(numbers[4] for numbers in totals) > 2
    load_rates(directory, flights)
    daybook.assert_holds(directory, flights)
    assert server.stop() == 0, server.text()
    daybook.assert_holds(directory, flights)
