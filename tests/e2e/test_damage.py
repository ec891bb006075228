"""What bad hardware does to a directory: it is refused with what is at stake, and --salvage goes on
with what is whole, keeping the rest aside."""

import re
import shutil

import pytest

import daybook


@pytest.fixture
def loaded(directory, paper):
    """A directory whose clicks are in segments, and whose rates are in the log."""
    daybook.run("load", "-d", directory, daybook.DATA / "paper-clicks.csv")
    daybook.run("compact", "-d", directory)
    daybook.run("rate", "load", "-d", directory, paper.rates)
    return directory


def turn_over(path, offset):
    content = bytearray(path.read_bytes())
    content[offset] ^= 0xFF
    path.write_bytes(content)


def refusal(directory):
    """What a command says that opens the directory, and so does a server."""
    answer = daybook.run("report", "-d", directory, status=3)
    served = daybook.run("serve", "-d", directory, "--ingest", "none", status=3).err
    reason = answer.err.removeprefix("daybook: ").strip()
    assert f'event=not_started path={directory} reason="{reason}"' in served
    return answer.err


def expect_proved(directory):
    assert "all agree" in daybook.run("verify", "-d", directory).out


MANIFESTS = {
    "its first record": (lambda path: turn_over(path, 4096 + 100), "manifest, byte 4096, record 1"),
    "its header": (lambda path: turn_over(path, 20), "manifest, byte 0, record 0"),
    "all of it": (lambda path: path.unlink(), "the manifest is missing"),
}


@pytest.mark.parametrize("case", MANIFESTS)
def test_a_manifest_that_is_damaged_is_refused_and_made_again(serve, loaded, paper, case):
    harm, where = MANIFESTS[case]
    harm(loaded / "manifest")
    said = refusal(loaded)
    assert where in said and "serve --salvage" in said
    server = serve("--salvage")
    assert re.search(r"made again from manifest.copy \(\d+ segments, up to frame \d+\), and "
                     "nothing is lost", server.text())
    assert server.stop() == 0
    assert (loaded / "manifest.damaged-1").exists() == (case != "all of it")
    assert daybook.run("report", "-d", loaded, "--format", "csv").out == paper.expected
    expect_proved(loaded)


def test_a_log_with_a_value_of_another_type_opens_without_it(serve, directory):
    """As 94846f1 left it: a decimal's bytes in a float column, and a kill before a flush."""
    daybook.unpack("bad-cell.tar.gz", directory)
    directory.chmod(0o700)  # else the first opening says that it closes it to others
    said = refusal(directory)
    assert "ad_network.reseller: cell holds no value of its type; column reward_percent" in said
    assert "cells that cannot be read: 1; they alone are at stake" in said
    assert "serve --salvage" in said
    server = serve("--salvage")
    assert re.search("cell_left_out frame=.*reward_percent", server.text())
    assert daybook.rows(server.run("report", "--stream", "network", "--format", "csv").out)[0] == {
        "reseller_id": "r", "day": "2013-11-03", "clicks": "1", "gross": "0.5", "rate": "0.25",
        "amount": "0.125"}
    server.run("rate", "set", "--stream", "network", "r", "2013-11-02", "40%")
    assert server.stop() == 0
    expect_proved(directory)
    rows = daybook.rows(daybook.run("report", "-d", directory, "--stream", "network", "--format",
                                    "csv").out)
    assert [row["rate"] for row in rows] == ["0.4", "0.4", "0.25"]


def cut_after_first_record(manifest):
    """The first record, at byte 4096, is the whole state; FORMATS "Manifest" has its layout."""
    was = manifest.read_bytes()
    size = 4096 + 24 + int.from_bytes(was[4096:4100], "little") + 4
    manifest.write_bytes(was[:size].ljust(len(was), b"\0"))


COPIES = {
    "a record": (lambda path: turn_over(path, 4096 + 100), "manifest, byte 4096, record 1"),
    "all of it": (lambda path: path.unlink(), "No such file"),
    "of another moment": (cut_after_first_record, "it has other records than the manifest"),
}


@pytest.mark.parametrize("case", COPIES)
def test_a_copy_of_the_manifest_that_is_none_is_found_by_verify(serve, loaded, case):
    harm, where = COPIES[case]
    server = serve()
    server.run("compact")
    harm(loaded / "manifest.copy")
    said = server.run("verify", status=1).out
    assert "difference: manifest.copy, " in said and where in said and "1 difference\n" in said
    assert server.stop() == 0
    assert where in daybook.run("verify", "-d", loaded, status=1).out
    daybook.run("verify", "-d", loaded, "--repair")
    expect_proved(loaded)


def test_a_manifest_that_a_server_has_lost_is_found_by_verify(serve, loaded):
    server = serve()
    (loaded / "manifest").write_bytes((loaded / "manifest").read_bytes()[:4096 + 100])
    assert "difference: manifest: " in (said := server.run("verify", status=1).out)
    assert "--salvage" in said
    server.stop()
    assert serve("--salvage").stop() == 0
    expect_proved(loaded)


def lose_manifests(directory):
    (directory / "manifest").unlink()
    turn_over(directory / "manifest.copy", 4096 + 100)


def test_a_manifest_without_a_copy_is_made_of_the_roster(serve, loaded, paper):
    lose_manifests(loaded)
    assert "serve --salvage" in refusal(loaded)
    server = serve("--salvage")
    assert "made again from segments/roster" in server.text()
    assert server.stop() == 0
    assert (loaded / "manifest.damaged-1").exists()
    assert daybook.run("report", "-d", loaded, "--format", "csv").out == paper.expected
    expect_proved(loaded)


@pytest.mark.parametrize("harm", ["roster", "segment"])
def test_a_manifest_with_nothing_that_stands_in_for_it_is_not_guessed(loaded, harm):
    lose_manifests(loaded)
    if harm == "roster":
        turn_over(loaded / "segments" / "roster", 100)
    else:
        next((loaded / "segments").glob("*.seg")).unlink()
    answer = daybook.run("serve", "-d", loaded, "--salvage", "--ingest", "none", status=3)
    assert "its copy cannot be read" in answer.err and "from a backup" in answer.err
    assert ("rows at stake" if harm == "segment" else "checksum") in answer.err
    assert not (loaded / "manifest").exists()


def segments_of(directory):
    return sorted((directory / "segments").glob("*.seg"))


def test_a_segment_that_the_log_still_gives_is_made_again(serve, loaded, paper):
    for segment in segments_of(loaded):
        turn_over(segment, 20)
    answer = daybook.run("report", "-d", loaded, status=3)
    assert "daybook serve makes it again" in answer.err
    server = serve()
    assert server.text().count("it was made again from the log, bit by bit") == \
        len(segments_of(loaded))
    assert server.stop() == 0
    assert daybook.run("report", "-d", loaded, "--format", "csv").out == paper.expected
    expect_proved(loaded)


def test_a_damaged_page_is_named_by_verify_and_made_again_by_salvage(serve, loaded, paper):
    segment = segments_of(loaded)[0]
    turn_over(segment, 4100)
    answer = daybook.run("verify", "-d", loaded, status=3)
    assert re.search(rf"segments/{segment.name}: damaged; the log still has its frames \d+ to \d+: "
                     "daybook serve --salvage makes it again", answer.out + answer.err)
    server = serve()
    assert "failed reads" not in server.run("status").out
    server.run("verify", status=3)
    assert re.search(r"failed reads +[1-9]", server.run("status").out)
    assert re.search(r"daybook_failed_reads_total [1-9]", server.run("status", "--metrics").out)
    assert server.stop() == 0
    server = serve("--salvage")
    assert f"{segment.name}: page 0 at 4096: checksum differs; it was made again" in server.text()
    assert server.stop() == 0
    assert not segment.exists()
    assert daybook.run("report", "-d", loaded, "--format", "csv").out == paper.expected
    expect_proved(loaded)


@pytest.fixture
def killed(serve, flights, directory):
    """A server that took 20 batches and was killed: its log, and how many clicks are in it."""
    server = serve()
    batches = [flights.good[start:start + 1000] for start in range(0, 20000, 1000)]
    producer = daybook.Producer(batches)
    producer.connect(server.address)
    for number in range(1, len(batches) + 1):
        producer.send(number)
        assert producer.answer()[:2] == ["ok", str(number)]
    server.kill()
    logs = sorted((directory / "log").glob("*.log"))
    return [path for path in logs if path.read_bytes().strip(b"\0")][-1], 20000


def clicks_of(directory):
    total = daybook.run("report", "-d", directory, "--by", "total", "--format", "csv").out
    return int(total.splitlines()[1].split(",")[0])


@pytest.mark.parametrize("where", ["in the middle", "in the last frame"])
def test_damage_in_the_log_is_refused_with_what_is_at_stake(serve, killed, directory, where):
    log, clicks = killed
    written = len(log.read_bytes().rstrip(b"\0"))
    block = (written - 1) // 4096 * 4096
    turn_over(log, written // 2 if where == "in the middle" else block + 40)
    said = re.search(rf"log/{log.name}, byte (\d+), frame (\d+): .*; frames (\d+) to (\d+) are at "
                     r"stake, with (\d+) clicks in those that can be read; the ones before are "
                     "safe; daybook serve --salvage", refusal(directory))
    assert said
    offset, frame, first, last, readable = map(int, said.groups())
    assert 0 < offset < written and frame == first
    assert (last == first and readable == 0) == (where == "in the last frame")
    server = serve("--salvage")
    assert f"frames {first} to {last}, with {readable} clicks" in server.text()
    assert server.stop() == 0
    assert list((directory / "log").glob("*.damaged-*"))
    left = clicks_of(directory)
    assert left % 1000 == 0 and left + readable < clicks
    expect_proved(directory)


# What the system refuses a server, and what it then says: syncs of the log from the thirtieth on,
# or the name of a new roster alone, which `compact` asks for.
REFUSED = {
    "syncs": (["inject=fdatasync:error=EIO:when=30+"],
              "a write or sync of the commit log failed; nothing more is acknowledged: "
              "Input/output error"),
    "the roster": (["inject=renameat:error=EIO", "-P", "segments/roster.new"],
                   "cannot write the roster: Input/output error"),
}


@pytest.mark.skipif(not shutil.which("strace"), reason="strace is missing")
@pytest.mark.parametrize("what", REFUSED)
def test_a_server_whose_disk_fails_says_so_and_stops(serve, directory, flights, what):
    inject, says = REFUSED[what]
    daybook.run("init", "-d", directory)
    producer = daybook.Producer(daybook.batches_of(flights.good[:120], 1))
    server = serve(wrapper=["strace", "-D", "-f", "-o", "/dev/null", "-e", *inject])
    try:
        producer.send_all(server.address, window=1)
        assert "cannot write the roster" in server.run("compact", status=3).err
    except (AssertionError, OSError):
        assert what == "syncs" and 0 < producer.acknowledged < 120
    assert server.wait() == 3
    assert re.search(rf'event=failed path=\S+ reason="{says}" effect="the server stops"',
                     server.text()), server.text()
    server = serve()
    producer.send_all(server.address, window=1)
    assert server.stop() == 0
    assert clicks_of(directory) == 120
    expect_proved(directory)
