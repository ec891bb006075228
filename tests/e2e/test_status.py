"""What a server says of how it is: `status`, `status --check`, its log, and notes to senders."""

import fcntl
import json
import os
import re
import signal
import socket
import subprocess
import time

import daybook
import disks

DAY = 1385605012000


def check(directory, status, *options):
    """What --check prints."""
    began = time.monotonic()
    answer = daybook.run("status", "--check", "-d", directory, *options, status=status)
    assert time.monotonic() - began < 6
    assert answer.err == "", answer
    return answer.out


def clicks(path, count):
    path.write_text("".join(f"r{i % 50},2013-11-28,{DAY + i},ad{i},0.01\n" for i in range(count)))
    return path


def test_a_full_disk_is_said_everywhere_and_ends_by_itself(small_disk, tmp_path):
    server = daybook.Server(small_disk / "data")
    filler = small_disk / "filler"
    loader = None
    try:
        disks.fill(filler)
        command = [daybook.PROGRAM, "load", "-d", server.directory, clicks(tmp_path / "c", 300000)]
        loader = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  env=daybook.environment())
        daybook.wait_until(lambda: "writes wait" in server.run("status").out, "it waits")
        assert re.search(r"^disk_full: writes wait for disk space, [\d.]+ MiB in log; ",
                         check(server.directory, 1))
        server.wait_until_it_says('effect="writes wait')
        assert re.search(r"Z level=warning event=disk_full path=\S+/data/log needed_bytes=\d+ ",
                         server.text())
        status = json.loads(server.run("status", "--format", "json").out)
        assert (status["state"], status["waits_for"]) == ("waiting", "disk_full")
        assert [finding["reason"] for finding in status["findings"]] == ["disk_full"]
        assert 'daybook_waiting{reason="disk_full"} 1' in server.run("status", "--metrics").out
        assert b"the server waits for disk space" in loader.stderr.readline()
        filler.unlink()
        out, err = loader.communicate(timeout=daybook.PATIENCE)
        assert loader.returncode == 0 and b"300,000 lines accepted" in out, (out, err)
        assert b"the server goes on" in err
        assert json.loads(server.run("status", "--format", "json").out)["state"] == "good"
        assert server.stop() == 0, server.text()
    finally:
        if loader is not None:
            loader.kill()
        server.process.kill()
        server.process.wait()


def test_a_server_that_is_stuck_or_gone_is_not_taken_for_one_that_waits(serve, directory):
    assert "no server" in check(directory, 3)
    server = serve()
    assert check(directory, 0) == ""
    server.process.send_signal(signal.SIGSTOP)
    assert check(directory, 3, "--wait", "300ms").startswith("stuck: ")
    server.process.send_signal(signal.SIGCONT)
    assert check(directory, 0) == ""
    assert server.stop() == 0
    assert check(directory, 3) == f"no server: nothing serves {directory}\n"


def test_who_starts_or_stops_is_not_to_be_restarted(serve, directory):
    serve().stop()
    held = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    fcntl.flock(held, fcntl.LOCK_EX)
    assert check(directory, 1).startswith("not open: another process has the directory")
    os.close(held)
    check(directory, 3)


def test_a_check_is_answered_however_many_commands_are_given(serve, directory):
    serve()
    commands = []
    for _ in range(300):
        commands.append(socket.socket(socket.AF_UNIX))
        commands[-1].connect(str(directory / "daybook.sock"))
    assert check(directory, 0) == ""
    for command in commands:
        command.close()


def test_a_file_that_was_removed_under_a_server_is_said(serve, directory):
    server = serve()
    server.client().send(f"r,2013-11-28,{DAY},a,0.01\n").finish().rest()
    server.run("compact")
    (segment, *_) = sorted((directory / "segments").glob("*.seg"))
    kept = directory.parent / "kept"
    os.link(segment, kept)
    segment.unlink()
    kept_elsewhere = check(directory, 0)
    kept.unlink()
    assert kept_elsewhere == ""
    assert re.search(rf"^file_unlinked: 1 files .*segments/{segment.name} among them; do not stop",
                     check(directory, 1))
    server.kill()


def test_a_door_that_is_closed_is_not_named(serve):
    """Clicks come by the socket and over HTTP, too."""
    server = serve()
    assert re.search("^connections +0 of senders$", server.run("status").out, re.M)


def test_connections_leave_files_the_descriptors_that_they_need(serve, directory):
    server = serve(wrapper=("prlimit", "--nofile=64"))
    connections = []
    for _ in range(80):
        connections.append(socket.create_connection(server.address))
    connections[-1].sendall(f"r,2013-11-28,{DAY},a,0.01\n#sync\n".encode())
    connections[-1].settimeout(daybook.PATIENCE)
    assert connections[-1].recv(100) == b"ok - accepted 1 rejected 0\n"
    assert re.search(r"^ingest_connections_full: (\d+), which is the limit", check(directory, 1))
    server.run("compact")
    server.run("verify")
    for connection in connections:
        connection.close()
    daybook.wait_until(lambda: daybook.run("status", "--check", "-d", directory,
                                           status=None).status == 0, "all is well again")


def test_sizes_are_for_people_on_a_terminal_and_numbers_elsewhere(serve):
    server = serve()
    assert re.search(r"^log +\d+ bytes, ", server.run("status").out, re.MULTILINE)
    reader, writer = os.openpty()
    subprocess.run([daybook.PROGRAM, "status", "-d", server.directory], stdout=writer, check=True,
                   env=daybook.environment())
    os.close(writer)
    assert re.search(rb"\nlog +1.0 MiB, ", os.read(reader, 1 << 16))
    os.close(reader)


def test_a_hangup_ends_nothing(serve, directory):
    server = serve()
    for _ in range(2):
        server.process.send_signal(signal.SIGHUP)
    server.wait_until_it_says("level=notice event=hangup path=")
    assert check(directory, 0) == ""


def test_a_dump_has_engine_log_days_and_connections(serve, directory):
    server = serve()
    now = time.time()
    today = time.strftime("%Y-%m-%d", time.gmtime(now))
    sender = server.client().send(f"r7,{today},{int(now * 1000)},a,0.01\n#sync\n")
    assert sender.line() == "ok - accepted 1 rejected 0"
    dump = server.run("status", "--dump").out
    assert re.search(r"^engine\n  open frame \d+: \d+ bytes\n", dump)
    assert re.search(r"^  open memtable: frames from \d+, 1 clicks, \d+ bytes$", dump, re.M)
    assert re.search(r"^log\n  next frame (\d+), durable \d+, flushed 0\n", dump, re.M)
    assert re.search(r"^  current file 00000001: \d+ bytes", dump, re.M)
    assert re.search(r"^stream clicks\n  \d+ days out of date\n", dump, re.M)
    assert re.search(rf"^    r7 {today}: late_clicks$", dump, re.M)
    assert re.search(r"^ingest connections: 1 of \d+\n  127\.0\.0\.1: ", dump, re.M)
    assert re.search(r"^control connections: 1 of \d+\n  local: ", dump, re.M)
    server.run("compact")
    assert re.search(r"^  segments/[0-9a-f]{16}\.seg: table 1, wide, frames \d+ to \d+, 1 rows,",
                     server.run("status", "--dump").out, re.M)
    assert server.stop() == 0
    alone = daybook.run("status", "--dump", "-d", directory).out
    assert "stream clicks\n" in alone and "control connections" not in alone


def test_it_counts_connections_and_what_was_written(serve):
    server = serve("--http", "127.0.0.1:0")
    client = server.client()
    status = json.loads(server.run("status", "--format", "json").out)
    assert [status[name] for name in ("connections_ingest", "connections_http", "flushes")] == [
        1, 0, 0]
    assert "connections_cql" not in status
    assert client.send("r1,,1385605012000,ad42,0.005\n").finish().rest()
    server.run("compact")
    status = json.loads(server.run("status", "--format", "json").out)
    assert status["connections_ingest"] == 0 and status["flushes"] > 0 and "merges" in status
