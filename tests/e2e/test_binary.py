"""The binary door, spoken to by a client of its own, as docs/PROTOCOL.md says it is spoken."""

import re

import pytest

import binary
import daybook

DOCUMENT = daybook.ROOT / "docs" / "PROTOCOL.md"
PRODUCER = "#producer 5f0c6d1e-8f0a-4c57-9a3c-2f1f0d7c9a11 1"


def example():
    """The bytes of the document's example: those that are sent, and those that are answered."""
    text = DOCUMENT.read_text().split("### An example", 1)[1].split("```")[1]
    sides = {"▶": b"", "◀": b""}
    for line in text.strip().splitlines():
        side, rest = re.fullmatch(r"(▶|◀) ([0-9a-f ]+);.*", line).groups()
        sides[side] += bytes.fromhex(rest)
    return sides["▶"], sides["◀"]


def test_the_example_of_the_document_is_answered_as_it_says(serve):
    sent, answered = example()
    server = serve()
    client = binary.Client(server.address, daybook.PATIENCE)
    client.send(sent)
    received = b""
    while len(received) < len(answered):
        piece = client.socket.recv(65536)
        assert piece
        received += piece
    assert received == answered
    assert client.finish() == []
    report = daybook.rows(server.run("report", "--by", "reseller", "--format", "csv").out)
    assert [(row["reseller_id"], row["clicks"], row["gross"]) for row in report] == [
        ("r1", "2", "0.025"), ("r2", "1", "1.250")]


def test_the_example_is_what_the_client_in_python_makes():
    sent, _ = example()
    clicks = [binary.click_of(line) for line in (
        "r1,2013-11-28,1385654400123,ad42,0.005", "r2,2013-11-28,1385654400124,ad42,1.250",
        "r1,2013-11-28,1385654400456,ad7,0.020")]
    assert binary.hello() + binary.control(PRODUCER + " new") + \
        binary.Writer().batch(1, clicks) == sent


def test_another_language_sends_a_year_of_events(serve, directory, flights):
    server = serve()
    batches = daybook.batches_of([binary.click_of(line) for line in flights.lines], 5000)
    for first in (0, len(batches) // 2):
        # The second connection says again what the first one has said last.
        client = binary.Client(server.address, daybook.PATIENCE)
        client.send(binary.hello() + binary.control(PRODUCER + ("" if first else " new")))
        until = len(batches) // 2 + 1 if first == 0 else len(batches)
        for number in range(first + 1, until + 1):
            client.send(client.writer.batch(number, batches[number - 1]))
        lines = [line for line in client.finish() if line.startswith("ok")]
        assert len(lines) == until - first
        assert lines[0].endswith(" duplicate") == (first > 0)
    daybook.run("rate", "load", "-d", directory, flights.rates)
    daybook.assert_holds(directory, flights)


def test_a_changed_byte_is_told_and_counts_nothing(serve):
    server = serve()
    sent, _ = example()
    for at in range(len(binary.MAGIC), len(sent), 2):
        client = binary.Client(server.address, daybook.PATIENCE)
        client.send(sent[:at] + bytes([sent[at] ^ 1 << at % 8]) + sent[at + 1:])
        assert client.finish()[-1].startswith("error - bad_frame "), at
    client = binary.Client(server.address, daybook.PATIENCE)
    client.send(sent)
    assert client.finish()[-1] == "ok 1 accepted 3 rejected 0"
    total = daybook.rows(server.run("report", "--by", "total", "--format", "csv").out)
    assert [row["clicks"] for row in total] == ["3"]


@pytest.mark.parametrize("is_served", [False, True], ids=["directory", "server"])
def test_load_sends_columns(serve, directory, tmp_path, flights, is_served):
    if is_served:
        serve()
    file = tmp_path / "clicks.csv"
    file.write_bytes(flights.bytes)
    answer = daybook.run("load", "-d", directory, "--binary", file)
    assert "334,264 lines accepted, 2,512 refused" in answer.out
    kept = (tmp_path / "clicks.csv.rejects.csv").read_text()
    assert kept.count("empty_id") == flights.rejected
    assert "already" in daybook.run("load", "-d", directory, file).out
    daybook.run("rate", "load", "-d", directory, flights.rates)
    daybook.assert_holds(directory, flights)
