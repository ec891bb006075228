"""A year of real events comes out as the same report and counters, whatever way it came."""

import collections
import gzip
import random
import subprocess
import threading

import pytest

import daybook


def load_rates(directory, wanted):
    daybook.run("rate", "load", "-d", directory, wanted.rates)


def test_the_socket_takes_them_and_names_what_it_refuses(serve, flights):
    server = serve()
    answers = server.client().send(flights.bytes).finish().rest()
    refused = [n for n, line in enumerate(flights.lines, 2) if not line.split(",")[3]]
    assert answers[:100] == [f'reject - {n} empty_id ""' for n in refused[:100]]
    assert answers[100:] == [f"rejects - empty_id {len(refused) - 100}", flights.ok()]
    load_rates(server.directory, flights)
    daybook.assert_holds(server.directory, flights)
    listed = daybook.rows(server.run("rejects", "list", "--format", "csv").out)
    assert sorted(int(row["line"]) for row in listed) == refused
    assert {row["code"] for row in listed} == {"empty_id"}


def test_netcat_is_a_complete_client(serve, flights):
    server = serve()
    host, port = server.address
    done = subprocess.run(["nc", "-N", host, str(port)], input=flights.bytes, check=True,
                          capture_output=True, timeout=daybook.PATIENCE)
    assert done.stdout.decode().splitlines()[-1] == flights.ok()
    load_rates(server.directory, flights)
    daybook.assert_holds(server.directory, flights)


def compressed(path, flights, kind):
    """The words that load the flights as a file of a kind, and standard input's bytes."""
    plain = path / "clicks.csv"
    plain.write_bytes(flights.bytes)
    if kind == "stdin":
        return ["-", "--producer", "flights"], flights.bytes
    if kind == "gz":
        packed = path / "clicks.csv.gz"
        packed.write_bytes(gzip.compress(flights.bytes, 1))
        return [packed], b""
    if kind == "zst":
        subprocess.run(["zstd", "-q", str(plain)], check=True)
        return [path / "clicks.csv.zst"], b""
    return [plain], b""


@pytest.mark.parametrize("is_served", [False, True], ids=["directory", "server"])
@pytest.mark.parametrize("kind", ["plain", "gz", "zst", "stdin"])
def test_load_takes_files(serve, directory, tmp_path, flights, kind, is_served):
    if is_served:
        serve()
    words, stdin = compressed(tmp_path, flights, kind)
    answer = daybook.run("load", "-d", directory, *words, stdin=stdin, cwd=tmp_path)
    assert "334,264" in answer.out + answer.err
    assert "2,512" in answer.out + answer.err
    load_rates(directory, flights)
    daybook.assert_holds(directory, flights)


def test_load_keeps_the_refused_lines_beside_the_file(directory, tmp_path, flights):
    (file,), _ = compressed(tmp_path, flights, "plain")
    daybook.run("load", "-d", directory, file)
    kept = (tmp_path / "clicks.csv.rejects.csv").read_text()
    assert kept.count("empty_id") == flights.rejected


def test_shuffled_lines_give_the_same_report(serve, flights):
    server = serve()
    lines = list(flights.lines)
    random.Random(1).shuffle(lines)
    answers = server.client().send(flights.header, "".join(lines)).finish().rest()
    assert answers[-1] == flights.ok()
    load_rates(server.directory, flights)
    daybook.assert_holds(server.directory, flights)


def test_eight_connections_at_once_give_the_same_report(serve, flights):
    server = serve()
    load_rates(server.directory, flights)
    lines = list(flights.lines)
    random.Random(2).shuffle(lines)
    producers = [daybook.Producer(daybook.batches_of(lines[i::8], 1000)) for i in range(8)]
    threads = [threading.Thread(target=p.send_all, args=(server.address,)) for p in producers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(producer.is_done() for producer in producers)
    daybook.assert_holds(server.directory, flights)


def test_a_file_split_over_restarts_gives_the_same_report(serve, directory, flights):
    parts = daybook.batches_of(flights.lines, len(flights.lines) // 5 + 1)
    producer = daybook.Producer([])
    for part in parts:
        server = serve()
        producer.batches += daybook.batches_of(part, 2000)
        producer.send_all(server.address)
        assert server.stop() == 0, server.text()
    load_rates(directory, flights)
    daybook.assert_holds(directory, flights)
    daybook.run("compact", "-d", directory)
    daybook.assert_holds(directory, flights)


@pytest.mark.parametrize("is_served", [False, True], ids=["directory", "server"])
def test_a_file_loaded_twice_counts_once(serve, directory, tmp_path, flights, is_served):
    if is_served:
        serve()
    (file,), _ = compressed(tmp_path, flights, "plain")
    (packed,), _ = compressed(tmp_path, flights, "gz")
    daybook.run("load", "-d", directory, file)
    daybook.run("load", "-d", directory, file)
    answer = daybook.run("load", "-d", directory, packed)
    assert "already" in answer.out + answer.err
    load_rates(directory, flights)
    daybook.assert_holds(directory, flights)


@pytest.mark.parametrize("cut", [100000, 123456])
def test_a_grown_file_adds_its_tail(directory, tmp_path, flights, cut):
    file = tmp_path / "clicks.csv"
    size = flights.bytes.index(b"\n", len(flights.bytes) * cut // 336776) + 1
    file.write_bytes(flights.bytes[:size])
    daybook.run("load", "-d", directory, file)
    file.write_bytes(flights.bytes)
    daybook.run("load", "-d", directory, file)
    load_rates(directory, flights)
    daybook.assert_holds(directory, flights)


def test_twins_count_twice(serve, flights):
    keys = collections.Counter(tuple(line.split(",")[:4]) for line in flights.good)
    twins = [line for line in flights.good if keys[tuple(line.split(",")[:4])] == 2]
    assert len(twins) == 62
    server = serve()
    server.client().send("".join(twins)).finish().rest()
    server.run("compact")
    total = daybook.rows(server.run("report", "--by", "total", "--format", "csv").out)
    assert [row["clicks"] for row in total] == ["62"]
    server.run("verify")
