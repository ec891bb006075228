"""The log of a server: what its lines say, in which form, and where they go."""

import contextlib
import fcntl
import json
import os
import re
import signal
import struct
import subprocess
import threading

import pytest

import cql
import daybook
import disks

# A value is plain ASCII without blanks, quotes and '=', or a JSON string.
PAIR = re.compile(r'([a-z_]+)=("(?:[^"\\\x00-\x1f]|\\.)*"|[^\s"=\\]+)(?: |$)')
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def fields_of(line):
    """A line of logfmt as a dictionary."""
    fields = {}
    at = 0
    while at < len(line):
        pair = PAIR.match(line, at)
        assert pair, (line, line[at:])
        value = pair[2]
        fields[pair[1]] = json.loads(value) if value[0] == '"' else value
        at = pair.end()
    return fields


def events_of(text, parse=fields_of):
    """The events of a log, each with its time and level."""
    assert text == "" or text[-1] == "\n", text
    events = [parse(line) for line in text.split("\n")[:-1]]
    for event in events:
        assert TIME.fullmatch(event["time"]) and event["level"] in ("notice", "warning", "error")
        assert list(event)[:3] == ["time", "level", "event"]
    return events


def names_of(events):
    return [event["event"] for event in events]


def is_said(path, *words):
    return path.exists() and all(word in path.read_text() for word in words)


def await_lines(path, *words):
    daybook.wait_until(lambda: is_said(path, *words), f"{words} in {path}")


@contextlib.contextmanager
def started(*command):
    """A server that says nothing on standard error, and is gone after the test."""
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, env=daybook.environment())
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def end(process):
    process.terminate()
    assert process.wait(timeout=daybook.PATIENCE) == 0


def greet(server, user, password):
    """A login at the CQL door; the opcode of the answer."""
    raw = cql.Raw(server)
    raw.send(1, cql.STARTUP)
    token = b"\0" + user + b"\0" + password
    raw.send(15, struct.pack(">i", len(token)) + token)
    raw.receive()
    opcode = raw.receive()[2]
    raw.socket.close()
    return opcode


def test_every_line_has_time_and_level_from_the_start_to_the_end(serve, directory):
    server = serve()
    assert server.client().send('#stream "quoted"\n').rest() == \
        ['error - unknown_stream "\\"quoted\\""']
    server.wait_until_it_says("client_refused")
    assert server.stop() == 0
    events = events_of(server.text())
    assert names_of(events) == ["starting", "ready", "client_refused", "stopping", "stopped"]
    starting, ready, refused, stopping, stopped = events
    assert starting["path"] == str(directory) and int(starting["pid"]) > 0
    assert ready["ingest"] == "{}:{}".format(*server.address) and ready["cql"] == "none"
    assert (refused["reason"], refused["detail"]) == ("unknown_stream", r'"\"quoted\""')
    assert (refused["door"], refused["address"]) == ("ingest", "127.0.0.1")
    assert stopping["signal"] == "SIGTERM" and stopped["exit_status"] == "0"


def test_lines_of_json_parse_and_escape_what_a_client_sends(serve, tmp_path):
    passwords = tmp_path / "passwords"
    passwords.write_text(f"alice:{cql.BCRYPT_OF_SECRET}\n")
    passwords.chmod(0o600)
    server = serve("--log-format", "json", "--cql", "127.0.0.1:0", "--cql-passwords", passwords)
    name = 'x"\n{"event":"ready"}\u009b\\'
    greet(server, name.encode(), b"no")
    server.wait_until_it_says("login_failed")
    assert server.stop() == 0
    events = events_of(server.text(), json.loads)
    assert names_of(events) == ["starting", "ready", "login_failed", "stopping", "stopped"]
    assert events[2]["user"] == name and events[2]["failures_count"] == 1
    assert isinstance(events[4]["took_ms"], int)


def test_a_file_that_is_renamed_under_load_has_every_line(serve, directory, tmp_path, flights):
    log = tmp_path / "daybook.log"
    server = serve("--log", log, "--log-format", "json")
    stop = threading.Event()

    def send():
        lines = "".join(flights.good[:20000])
        while not stop.is_set():
            server.client().send(lines).finish().rest()

    def ask():
        while not stop.is_set():
            server.run("status")
            server.client().send("#stream none\n").rest()

    threads = [threading.Thread(target=work) for work in (send, send, ask)]
    for thread in threads:
        thread.start()
    rotations = 25
    for number in range(rotations):
        log.rename(tmp_path / f"daybook.log.{number}")
        server.process.send_signal(signal.SIGHUP)
        await_lines(log, "log_reopened")
    stop.set()
    for thread in threads:
        thread.join()
    assert server.stop() == 0
    files = [tmp_path / f"daybook.log.{number}" for number in range(rotations)] + [log]
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in files)
    names = names_of(events_of("".join(path.read_text() for path in files), json.loads))
    # At most one refusal a minute is logged.
    assert [name for name in names if name != "client_refused"] == \
        ["starting", "ready"] + ["hangup", "log_reopened"] * rotations + ["stopping", "stopped"]
    assert 1 <= names.count("client_refused") <= 2
    assert names_of(events_of(server.text(), json.loads)) == ["ready"]
    daybook.run("verify", "-d", directory)


def test_a_log_that_cannot_be_opened_is_said(serve, directory, tmp_path):
    path = tmp_path / "missing" / "log"
    answer = daybook.run("serve", "-d", directory, "--log", path, status=3)
    assert f"event=not_started path={directory} reason=\"the log {path}: " in answer.err
    answer = daybook.run("serve", "-d", directory, "--log-format", "xml", status=2)
    assert "log-format takes logfmt or json, not 'xml'" in answer.err
    log = tmp_path / "log"
    server = serve("--log", log)
    log.rename(tmp_path / "former")
    log.mkdir()
    server.process.send_signal(signal.SIGHUP)
    await_lines(tmp_path / "former", "log_not_reopened", "lines go on to the former file")
    log.rmdir()
    server.process.send_signal(signal.SIGHUP)
    await_lines(log, "log_reopened")


def test_a_hangup_while_a_server_starts_is_handled_when_it_has_started(directory, tmp_path):
    daybook.run("init", "-d", directory)
    log, former = tmp_path / "log", tmp_path / "former"
    command = [daybook.PROGRAM, "serve", "-d", directory, "--log", log, "--ingest", "none",
               "--cql", "none", "--http", "none", "--wait", "60s"]
    held = os.open(directory, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    with started(*command) as process:
        await_lines(log, "event=starting")
        log.rename(former)
        process.send_signal(signal.SIGHUP)
        os.close(held)
        await_lines(log, "event=log_reopened")
        end(process)
    assert names_of(events_of(former.read_text())) == ["starting", "ready", "hangup"]
    assert names_of(events_of(log.read_text())) == ["log_reopened", "stopping", "stopped"]


def test_a_server_without_standard_error_logs_to_its_file_and_to_no_other(directory, tmp_path):
    log = tmp_path / "log"
    command = ["sh", "-c", 'exec "$@" 2>&-', "sh", daybook.PROGRAM, "serve", "-d", directory,
               "--log", log, "--ingest", "none", "--cql", "none", "--http", "none"]
    with started(*command) as process:
        await_lines(log, "event=ready")
        end(process)
    assert names_of(events_of(log.read_text())) == ["starting", "ready", "stopping", "stopped"]
    daybook.run("verify", "-d", directory)


def test_what_ends_a_start_is_in_the_file_and_on_standard_error(serve, directory, tmp_path):
    server = serve()
    log = tmp_path / "log"
    answer = daybook.run("serve", "-d", directory, "--log", log, "--ingest", "none", status=3)
    (said,) = events_of(answer.err)
    assert said["event"] == "not_started" and "a server holds" in said["reason"]
    events = events_of(log.read_text())
    assert names_of(events) == ["starting", "not_started"] and events[1] == said
    assert server.stop() == 0


def test_a_hangup_reads_the_passwords_again(serve, tmp_path):
    passwords = tmp_path / "passwords"

    def write(*lines):
        passwords.write_text("".join(line + "\n" for line in lines))
        passwords.chmod(0o600)

    def is_let_in(name):
        return greet(server, name.encode(), b"secret") == 16

    alice, bob = (f"{name}:{cql.BCRYPT_OF_SECRET}" for name in ("alice", "bob"))
    write(alice)
    server = serve("--cql", "127.0.0.1:0", "--cql-passwords", passwords)
    assert is_let_in("alice") and not is_let_in("bob")
    write(bob)
    server.process.send_signal(signal.SIGHUP)
    server.wait_until_it_says(f"event=passwords_read path={passwords} names=1")
    assert is_let_in("bob") and not is_let_in("alice")
    write("nonsense")
    server.process.send_signal(signal.SIGHUP)
    server.wait_until_it_says("event=passwords_not_read")
    assert "line 1 is not NAME:HASH" in server.text()
    assert is_let_in("bob")
    write(alice, bob)
    server.process.send_signal(signal.SIGHUP)
    server.wait_until_it_says("names=2")
    assert is_let_in("alice") and is_let_in("bob")
    assert server.stop() == 0
    events_of(server.text())


def test_a_flush_without_room_is_an_event(small_disk):
    server = daybook.Server(small_disk / "data")
    filler = small_disk / "filler"
    try:
        assert server.client().send("r,2013-11-28,1385596800000,a,0.01\n").finish().rest()
        disks.fill(filler)
        server.run("compact", status=3)
        server.wait_until_it_says("event=flush_failed reason=")
        filler.unlink()
        server.run("compact")
        assert server.stop() == 0, server.text()
        events = events_of(server.text())
        (failed,) = [event for event in events if event["event"] == "flush_failed"]
        assert failed["level"] == "warning" and "every second" in failed["effect"]
    finally:
        server.process.kill()


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_the_signal_that_ends_a_server_is_named(serve, name):
    server = serve()
    server.process.send_signal(getattr(signal, name))
    assert server.wait() == 0
    assert f"event=stopping path={server.directory} signal={name}\n" in server.text()
