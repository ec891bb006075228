"""What people meet: help, wrong usage, directories that are not for us, doors that are taken."""

import os
import re
import shutil
import socket
import struct
import subprocess

import pytest

import daybook
import disks

COMMANDS = ["init", "serve", "load", "rate", "rollup", "report", "restatements", "counters",
            "rejects", "producers", "verify", "compact", "inspect", "status"]
READING = ["report", "counters", "restatements", "verify", "status", "inspect"]
GOOD = "AA,2013-04-01,1364774400000,ad1,0.05\n"


def test_help_names_every_command():
    text = daybook.run("--help").out
    for command in COMMANDS:
        assert any(line.split()[:1] == [command] for line in text.splitlines()), command


@pytest.mark.skipif(not (shutil.which("readelf") and shutil.which("pkg-config")),
                    reason="readelf or pkg-config is missing")
def test_every_library_on_the_list_is_used():
    makefile = (daybook.ROOT / "Makefile").read_text()
    vendor = re.search(r"^vendor +:= (.*)$", makefile, re.MULTILINE).group(1).split()
    needed = subprocess.run(["readelf", "--dynamic", daybook.PROGRAM], check=True,
                            capture_output=True, text=True).stdout
    for package in vendor:
        flags = subprocess.run(["pkg-config", "--libs-only-l", package], check=True,
                               capture_output=True, text=True).stdout.split()
        assert f"[lib{flags[0][2:]}.so." in needed, package


@pytest.mark.skipif("release-gcc" not in daybook.PROGRAM or not shutil.which("readelf"),
                    reason="of the release build by gcc")
def test_the_shipped_program_is_hardened():
    def said(*options):
        return subprocess.run(["readelf", "--wide", *options, daybook.PROGRAM], check=True,
                              capture_output=True, text=True).stdout
    segments = said("--program-headers")
    assert re.search(r"GNU_STACK .* RW +0x", segments)
    assert re.search(r"LOAD .* R +0x", segments), "code has pages of its own"
    assert "BIND_NOW" in said("--dynamic") and "GNU_RELRO" in segments
    symbols = said("--dyn-syms")
    assert "__stack_chk_fail" in symbols and "__memcpy_chk" in symbols


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command):
    text = daybook.run(command, "--help").out
    assert f"daybook {command}" in text
    assert "xample" in text
    assert all(len(line) <= 100 for line in text.splitlines())


@pytest.mark.parametrize("words", [
    [], ["frobnicate"], ["report", "--frobnicate"], ["report", "--from", "2013-4-1"],
    ["report", "--by", "moon"], ["report", "--format", "stone"], ["rate"], ["rate", "set", "AA"],
    ["serve", "--memory", "lots"], ["serve", "extra"], ["load"]], ids=" ".join)
def test_wrong_usage_is_status_2_and_says_so(tmp_path, words):
    answer = daybook.run(*words, status=2, cwd=tmp_path)
    assert answer.err and answer.out == ""


@pytest.mark.parametrize("words", [[c] for c in READING] + [["rejects", "list"], ["rate", "list"],
                                                          ["producers", "list"]],
                         ids=" ".join)
def test_reading_where_nothing_is_says_so_and_makes_nothing(directory, words):
    answer = daybook.run(*words, "-d", directory, status=3)
    assert str(directory) in answer.err
    assert not directory.exists()


@pytest.mark.parametrize("words", [
    ["init"], ["limits"], ["clock", "mend"], ["load", "-", "--producer", "p"], ["report"],
    ["--version"]], ids=" ".join)
def test_output_that_is_not_written_is_a_failure(directory, paper, words):
    if words != ["init"]:
        daybook.run("init", "-d", directory)
    place = [] if words[0] in ("limits", "--version") else ["-d", str(directory)]
    with open("/dev/full", "wb") as full:
        done = subprocess.run([daybook.PROGRAM, *words, *place], input=paper.bytes, stdout=full,
                              stderr=subprocess.PIPE, env=daybook.environment(), check=False)
    assert done.returncode == 3, done
    assert b"cannot write the output" in done.stderr


def test_init_makes_a_directory_once(directory):
    daybook.run("init", "-d", directory)
    assert daybook.rows(daybook.run("report", "-d", directory, "--format", "csv").out) == []
    assert str(directory) in daybook.run("init", "-d", directory, status=3).err


@pytest.mark.parametrize("words", [["init"], ["report"], ["load", "-", "--producer", "x"],
                                   ["verify"],
                                   ["rate", "set", "AA", "2013-01-01", "10%"]], ids=" ".join)
def test_a_directory_that_is_not_ours_is_refused_and_untouched(directory, words):
    directory.mkdir()
    (directory / "thesis.txt").write_text("years of work")
    answer = daybook.run(*words, "-d", directory, status=3, stdin=GOOD.encode())
    assert str(directory) in answer.err
    assert sorted(os.listdir(directory)) == ["thesis.txt"]


def test_serve_refuses_a_directory_that_is_not_ours(directory):
    directory.mkdir()
    (directory / "thesis.txt").write_text("years of work")
    answer = daybook.run("serve", "-d", directory, "--ingest", "127.0.0.1:0", status=3)
    assert str(directory) in answer.err
    assert sorted(os.listdir(directory)) == ["thesis.txt"]


def test_a_file_is_no_directory(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    assert "file" in daybook.run("report", "-d", file, status=3).err


def test_the_environment_names_the_directory(directory):
    done = subprocess.run([daybook.PROGRAM, "init"], check=True, capture_output=True,
                          env={**os.environ, "DAYBOOK_DIR": str(directory)})
    assert done.returncode == 0 and directory.is_dir()


def test_the_default_directory_is_daybook_data(tmp_path):
    daybook.run("init", cwd=tmp_path)
    assert (tmp_path / "daybook-data").is_dir()
    shutil.rmtree(tmp_path / "daybook-data")


# ---- locks ----


def test_a_second_server_names_the_first(serve):
    server = serve()
    answer = daybook.run("serve", "-d", server.directory, "--ingest", "127.0.0.1:0", "--cql",
                         "none", "--http", "none", "--wait", "0s", status=3)
    assert str(server.process.pid) in answer.err


def test_a_lock_without_an_answer_is_waited_for_and_its_holder_named(serve):
    server = serve()
    (server.directory / "daybook.sock").unlink()
    answer = daybook.run("report", "-d", server.directory, "--wait", "0s", status=3)
    assert str(server.process.pid) in answer.err


def test_commands_work_while_the_server_holds_the_directory(serve, paper):
    server = serve()
    server.client().send(paper.bytes).finish().rest()
    server.run("rate", "load", paper.rates)
    assert server.run("report", "--format", "csv").out == paper.expected
    for command in ("status", "inspect", "counters", "verify", "compact", "rollup"):
        server.run(command)


def test_the_socket_is_its_owners_alone(serve):
    server = serve()
    assert (server.directory / "daybook.sock").stat().st_mode & 0o777 == 0o600


def test_a_very_long_path_works(tmp_path, paper):
    directory = tmp_path / ("d" * 100) / ("e" * 100)
    directory.parent.mkdir()
    server = daybook.Server(directory)
    server.client().send(paper.bytes).finish().rest()
    server.run("rate", "load", paper.rates)
    assert server.run("report", "--format", "csv").out == paper.expected
    assert server.stop() == 0
    shutil.rmtree(directory)


# ---- doors ----


def test_a_port_in_use_is_named_with_its_option(directory):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        answer = daybook.run("serve", "-d", directory, "--ingest", address, "--cql", "none",
                             "--http", "none", status=3)
    assert address in answer.err and "--ingest" in answer.err


def test_an_ingest_door_can_be_closed(directory, paper):
    command = [daybook.PROGRAM, "serve", "-d", str(directory), "--ingest", "none", "--cql", "none",
               "--http", "none"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True,
                          env=daybook.environment()) as process:
        assert any("event=ready" in line for line in process.stderr)
        daybook.run("load", "-d", directory, daybook.DATA / "paper-clicks.csv")
        daybook.run("rate", "load", "-d", directory, paper.rates)
        daybook.assert_holds(directory, paper)
        process.terminate()
        assert process.wait(timeout=daybook.PATIENCE) == 0


def test_a_file_sets_what_the_command_line_does_not(directory, tmp_path):
    file = tmp_path / "daybook.conf"
    file.write_text("# doors\ningest = 127.0.0.1:1   ; not this one\ncql = none\nhttp = none\n")
    command = [daybook.PROGRAM, "serve", "-d", str(directory), "--config", str(file),
               "--ingest", "127.0.0.1:0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True,
                          env=daybook.environment()) as process:
        said = next(line for line in process.stderr if "event=ready" in line)
        process.terminate()
        assert process.wait(timeout=daybook.PATIENCE) == 0
    assert "cql=none" in said and "127.0.0.1:1 " not in said


@pytest.mark.parametrize("text, message", [
    ("cql = none\nmemory = 1K\n", "line 2: memory takes at least 128M"),
    ("memory = 1G\nmemory = 2G\n", "line 2: memory is there twice"),
    ("memory = 18446744073709551616\n", "line 1: memory takes at least 128M"),
    ("idle-poll = 0\nidle-poll = 0\n", "line 2: idle-poll is there twice"),
    ("idle-poll = 10001\n", "line 1: idle-poll takes microseconds, 0 to 10000, not '10001'"),
    ("idle-poll = 1ms\n", "line 1: idle-poll takes microseconds, 0 to 10000, not '1ms'"),
    ("salvage = yes\n", "line 1: 'salvage' is no setting; those are ingest"),
    ("cql\n", "line 1: it is not NAME = VALUE"),
])
def test_a_file_of_wrong_settings_is_wrong_usage(directory, tmp_path, text, message):
    file = tmp_path / "daybook.conf"
    file.write_text(text)
    answer = daybook.run("serve", "-d", directory, "--config", file, status=2)
    assert str(file) in answer.err and message in answer.err
    assert not directory.exists()


@pytest.mark.parametrize("address", ["nonsense", "127.0.0.1:99999", "127.0.0.1:x", "300.1.1.1:80"])
def test_an_address_that_is_none_is_refused(directory, address):
    answer = daybook.run("serve", "-d", directory, "--ingest", address, status=None)
    assert answer.status in (2, 3) and address in answer.err


# ---- read-only, newer, damaged ----


@pytest.fixture
def paper_directory(directory, paper):
    daybook.run("load", "-d", directory, daybook.DATA / "paper-clicks.csv")
    daybook.run("rate", "load", "-d", directory, paper.rates)
    return directory


@pytest.fixture
def read_only(paper_directory, tmp_path):
    """The paper's directory on a mount that takes no writes."""
    target = tmp_path / "read-only"
    with disks.mounted("none", paper_directory, target, "bind"):
        subprocess.run(["mount", "-o", "remount,bind,ro", str(target)], check=True)
        yield target


def test_a_read_only_directory_can_be_read(read_only, paper):
    assert daybook.run("report", "-d", read_only, "--format", "csv").out == paper.expected
    daybook.run("verify", "-d", read_only)


@pytest.mark.parametrize("words", [["load", "-", "--producer", "x"],
                                   ["rate", "set", "AA", "2013-01-01", "10%"],
                                   ["compact"], ["serve", "--ingest", "127.0.0.1:0"]],
                         ids=lambda words: words[0])
def test_a_read_only_directory_is_not_written(read_only, words):
    answer = daybook.run(*words, "-d", read_only, status=3, stdin=GOOD.encode())
    assert "read-only" in answer.err.lower() or "read only" in answer.err.lower()


def test_a_command_that_reads_writes_nothing(paper_directory):
    def state():
        return {path: (path.stat().st_size, path.stat().st_mtime_ns)
                for path in paper_directory.rglob("*") if path.is_file()}
    before = state()
    for words in (["report"], ["verify"], ["counters"], ["status"], ["inspect"], ["restatements"]):
        daybook.run(*words, "-d", paper_directory)
    after = state()
    assert {path.name for path in set(after) - set(before)} <= {"lock"}
    assert {path: after[path] for path in before if path.name != "lock"} == {
        path: before[path] for path in before if path.name != "lock"}


def crc32c(content):
    """The checksum of the manifest's first block."""
    crc = 0xFFFFFFFF
    for byte in content:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def test_a_directory_of_a_newer_version_is_refused(paper_directory):
    manifest = paper_directory / "manifest"
    content = bytearray(manifest.read_bytes())
    assert struct.unpack_from("<I", content, 24)[0] == crc32c(content[:24])
    struct.pack_into("<I", content, 8, 1000)
    struct.pack_into("<I", content, 24, crc32c(content[:24]))
    manifest.write_bytes(content)
    for words in (["report"], ["load", "-", "--producer", "x"], ["verify"]):
        answer = daybook.run(*words, "-d", paper_directory, status=3, stdin=GOOD.encode())
        assert "newer" in answer.err


# ---- what the system may do ----


def test_a_server_that_is_stopped_waits_for_the_memory_it_gives_back(serve, tmp_path):
    server = serve(wrapper=daybook.preloaded(tmp_path, "slow_trim"))
    server.wait_until_it_says("slow_trim: begins")
    assert server.stop() == 0, server.text()


def test_reads_and_writes_that_do_less_than_asked_or_are_interrupted_lose_nothing(
        directory, tmp_path, flights):
    wrapper = daybook.preloaded(tmp_path, "short_io")
    producer = daybook.Producer(daybook.batches_of(flights.lines, 5000))
    server = daybook.Server(directory, wrapper=wrapper)
    server.run("rate", "load", flights.rates)
    producer.send_all(server.address)
    server.kill()
    server = daybook.Server(directory, wrapper=wrapper)
    server.run("compact")
    server.run("backup", tmp_path / "b")
    server.run("verify")
    assert server.run("report", "--format", "csv").out == flights.expected
    assert server.stop() == 0, server.text()
    daybook.assert_holds(directory, flights)
    daybook.run("restore", tmp_path / "b", tmp_path / "restored")
    daybook.assert_holds(tmp_path / "restored", flights)


# ---- a full disk ----


def test_a_full_disk_is_waited_out_and_loses_nothing(small_disk, paper):
    server = daybook.Server(small_disk / "data")
    try:
        full_disk(server, small_disk / "filler", paper)
    finally:
        server.process.kill()
        server.process.wait()


def test_on_a_full_disk_flushes_merges_and_backups_say_so_and_work_when_there_is_room(
        small_disk, tmp_path, flights, paper):
    clicks = tmp_path / "clicks.csv"
    clicks.write_text(flights.header + "".join(flights.good[:50000]))
    writing = (["compact"], ["backup", small_disk / "b"],
               ["backup", "--follow", small_disk / "f"])
    server = daybook.Server(small_disk / "data")
    try:
        server.run("rate", "load", paper.rates)
        server.run("load", clicks)
        server.run("compact")
        server.run("load", clicks, "--as", "another")
        report = server.run("report", "--format", "csv").out
        disks.fill(small_disk / "filler")
        for words in writing:
            answer = server.run(*words, status=3)
            assert "o space left" in answer.err, answer
        assert server.run("report", "--format", "csv").out == report
        assert server.stop() == 0, server.text()
        server = daybook.Server(small_disk / "data")
        assert server.run("report", "--format", "csv").out == report
        (small_disk / "filler").unlink()
        for words in writing:
            server.run(*words)
        assert server.run("report", "--format", "csv").out == report
        server.run("verify")
        assert server.stop() == 0, server.text()
        daybook.run("restore", small_disk / "b", small_disk / "again")
        assert daybook.run("report", "-d", small_disk / "again", "--format", "csv").out == report
    finally:
        server.process.kill()
        server.process.wait()


def full_disk(server, filler, paper):
    server.run("rate", "load", paper.rates)
    lines = "".join(paper.lines) * 10000
    disks.fill(filler)
    client = server.client()
    client.socket.settimeout(1)
    sent = 0
    pending = b""
    # Lines are sent until the door takes no more, or enough were sent to be sure that it does.
    while sent < 512 << 20:
        try:
            pending = pending or lines.encode()
            taken = client.socket.send(pending)
            pending = pending[taken:]
            sent += taken
        except TimeoutError:
            break
    assert server.process.poll() is None, server.text()
    filler.unlink()
    client.socket.settimeout(daybook.PATIENCE)
    answers = client.send(pending).finish().rest()
    assert answers[-1].endswith(" rejected 0"), answers
    accepted = int(answers[-1].split()[3])
    assert accepted * len(paper.lines[0]) > sent // 2
    (row,) = daybook.rows(server.run("report", "--by", "total", "--format", "csv").out)
    assert int(row["clicks"]) == accepted
    server.run("verify")
    assert server.stop() == 0, server.text()


def test_a_report_says_which_resellers_it_does_not_know(serve):
    server = serve()
    server.client().send("r,2013-11-28,1385605012000,a,0.01\n").finish().rest()
    answer = server.run("report", "--reseller", "r", "--reseller", "x\ny", "--by", "total")
    assert 'note: there are no figures of reseller "x\\ny" in the days asked for\n' in answer.err
    assert '"r"' not in answer.err
    answer = server.run("report", "--reseller", "r", "--to", "2013-11-01")
    assert 'reseller "r" in the days asked for' in answer.err
    assert "no figures" not in server.run("report").err
