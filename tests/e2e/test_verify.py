"""verify proves the figures, and finds what was damaged behind the program's back."""

import random

import pytest

import daybook


def test_it_proves_an_untouched_directory(flights_directory):
    answer = daybook.run("verify", "-d", flights_directory)
    assert "334264 clicks" in answer.out and "all agree" in answer.out


def test_it_proves_a_directory_while_clicks_come_in(serve, flights):
    server = serve()
    producer = daybook.Producer(daybook.batches_of(flights.lines, 1000))
    producer.connect(server.address)
    for number in range(1, len(producer.batches) + 1):
        producer.send(number)
        if number % 50 == 0:
            server.run("verify")
        producer.answer()
    server.run("rate", "load", flights.rates)
    daybook.assert_holds(server.directory, flights)


def test_it_knows_of_restatements_that_are_put_off(serve, directory, paper):
    daybook.run("load", "-d", directory, daybook.DATA / "paper-clicks.csv")
    server = serve()
    server.client().send(paper.lines[0]).finish().rest()
    # The late click is in the day's figure at once, and in its ledger when no more have come.
    assert "2013-11-28,3,0.015" in server.run("report", "--format", "csv").out
    server.run("verify")
    server.kill()
    daybook.run("verify", "-d", directory)
    daybook.run("rollup", "-d", directory)
    daybook.run("verify", "-d", directory)
    (entry,) = daybook.rows(daybook.run("restatements", "-d", directory, "--format", "csv").out)
    assert (entry["old_clicks"], entry["new_clicks"]) == ("2", "3")


def segments(directory):
    return sorted(path for path in (directory / "segments").rglob("*") if path.is_file())


@pytest.mark.parametrize("seed", range(8))
def test_a_flipped_bit_in_a_segment_is_never_silent(flights_copy, flights, seed):
    """It matters to no figure, or it is found: never a wrong report with status 0."""
    daybook.run("compact", "-d", flights_copy)
    choice = random.Random(seed)
    files = segments(flights_copy)
    assert files
    file = choice.choices(files, [path.stat().st_size for path in files])[0]
    content = bytearray(file.read_bytes())
    content[choice.randrange(len(content))] ^= 1 << choice.randrange(8)
    file.write_bytes(content)
    found = daybook.run("verify", "-d", flights_copy, status=None)
    assert found.status in (1, 3), (file, found)
    assert found.err or found.out
    answer = daybook.run("report", "-d", flights_copy, "--format", "csv", status=None)
    assert answer.status == 3 or answer.out == flights.expected


def test_a_flipped_bit_in_what_fills_a_segment_up_is_found_and_hurts_nobody(flights_copy, flights):
    daybook.run("compact", "-d", flights_copy)
    file = min((path for path in segments(flights_copy) if path.suffix == ".seg"),
               key=lambda path: path.stat().st_size)
    content = bytearray(file.read_bytes())
    # The footer is the last 4,096 bytes; a small file is hardly ever full before it.
    assert content[-4097] == 0
    content[-4097] ^= 4
    file.write_bytes(content)
    found = daybook.run("verify", "-d", flights_copy, status=1)
    assert f"{file.name}: the byte at {len(content) - 4097} is not zero" in found.out + found.err
    assert daybook.run("report", "-d", flights_copy, "--format", "csv").out == flights.expected


def test_a_segment_that_is_gone_is_named(flights_copy):
    daybook.run("compact", "-d", flights_copy)
    file = max(segments(flights_copy), key=lambda path: path.stat().st_size)
    file.unlink()
    answer = daybook.run("verify", "-d", flights_copy, status=3)
    assert file.name in answer.err


def test_values_that_are_none_of_their_types_are_named_in_every_table(directory):
    """As 94846f1 left them in segments: a float of five bytes, and a rate of 4500 percent."""
    daybook.unpack("bad-segment.tar.gz", directory)
    said = daybook.run("verify", "-d", directory, status=1).out
    assert "ad_network.reseller: cell holds no value of its type; column reward_percent" in said
    assert "difference: rate of q from 2013-01-01: 45, and a rate is 0 to 1" in said
    assert said.endswith("\n2 differences\n")
    daybook.run("rate", "set", "-d", directory, "q", "2013-01-01", "45%")
    daybook.run("rate", "set", "-d", directory, "--stream", "network", "r", "2013-11-02", "40%")
    daybook.run("compact", "-d", directory)
    for stream in ("clicks", "network"):
        said = daybook.run("verify", "-d", directory, "--stream", stream).out
        assert said.endswith("\nall agree\n")
