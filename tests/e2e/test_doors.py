"""What the doors have in common: who may come in, and that no client keeps others out."""

import pathlib
import socket
import struct
import subprocess
import time
import uuid

import pytest

import cql
import daybook

GOOD = "r1,2013-11-28,1385654400123,ad42,0.005\n"


def test_a_page_in_a_browser_sends_no_clicks(serve):
    server = serve()
    request = ("POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: text/plain\r\n"
               f"Content-Length: {len(GOOD)}\r\n\r\n{GOOD}")
    assert server.client().send(request).rest() == ["error - http"]
    assert server.client().send(GOOD).finish().rest() == ["ok - accepted 1 rejected 0"]
    counted = server.run("counters", "clicks_per_ad", "--format", "csv").out
    assert counted.splitlines()[1:] == ["ad42,1"]


# ---- which addresses ----


def refused_start(directory, *options):
    """What a server says that does not start."""
    answer = daybook.run("serve", "-d", directory, "--http", "none", *options, status=2)
    assert "other machines reach" in answer.err
    return answer.err


def test_a_door_that_others_reach_is_opened_only_when_that_is_said(directory, serve):
    assert "--ingest-open-to-all" in refused_start(
        directory, "--ingest", "0.0.0.0:0", "--cql", "none")
    said = refused_start(directory, "--ingest", "none", "--cql", "0.0.0.0:0")
    assert "--cql-open-to-all-read-only" in said and "--cql-passwords" in said
    serve("--ingest", "0.0.0.0:0", "--ingest-open-to-all")


def test_loopback_is_decided_by_what_a_door_is_bound_to(directory, tmp_path, serve):
    """A name may begin with 127. and be another machine's; here one is this machine's."""
    hosts = tmp_path / "hosts"
    hosts.write_text("0.0.0.0 127.example.com\n127.0.0.1 far.example.com\n")
    named = ["unshare", "--mount", "sh", "-c",
             f'mount --bind {hosts} /etc/hosts && exec "$0" "$@"']
    if subprocess.run([*named, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("the system does not let a process have names of its own")
    answer = subprocess.run(
        [*named, daybook.PROGRAM, "serve", "-d", directory, "--cql", "none", "--ingest",
         "127.example.com:0"], capture_output=True, timeout=daybook.PATIENCE, check=False)
    assert answer.returncode == 2
    assert b"other machines reach 0.0.0.0" in answer.stderr
    serve("--ingest", "far.example.com:0", wrapper=named)


# ---- places ----


def test_idle_connections_keep_no_client_out(serve):
    server = serve()
    idle = [server.client() for _ in range(1100)]
    assert server.client().send(GOOD).finish().rest() == ["ok - accepted 1 rejected 0"]
    producer = server.client().send(f"#producer {uuid.uuid4()} 1 new\n#batch 1 1\n{GOOD}")
    assert producer.line() == "ok 1 accepted 1 rejected 0"
    more = [server.client() for _ in range(1100)]
    assert producer.send(f"#batch 2 1\n{GOOD}").line() == "ok 2 accepted 1 rejected 0"
    assert idle[0].rest() == ["error - too_many_connections"]
    for client in idle + more:
        client.close()


def timer_of(server_port, client_port):
    """What the system waits for on the server's end of a connection: 02 is keepalive."""
    ends = (f":{server_port:04X}", f":{client_port:04X}")
    for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]:
        words = line.split()
        if (words[1][-5:], words[2][-5:]) == ends:
            return words[5].split(":")[0]
    return None


def test_the_system_asks_whether_a_silent_peer_is_still_there(serve):
    server = serve("--cql", "127.0.0.1:0")
    for port in (server.address[1], cql.port(server)):
        with socket.create_connection(("127.0.0.1", port)) as silent:
            daybook.wait_until(
                lambda: timer_of(port, silent.getsockname()[1]) == "02", "a keepalive timer")


# ---- before a login ----


def half_startup(server):
    """A connection that sends the header of a STARTUP and a part of its body."""
    raw = cql.Raw(server)
    raw.socket.sendall(struct.pack(">BBhBi", 4, 0, 0, 1, 4000) + bytes(3900))
    return raw


def test_half_requests_before_a_login_take_little_memory(serve, descriptors, own_memory):
    server = serve("--cql", "127.0.0.1:0", "--memory", "128M")
    with cql.connected(server) as session:
        before = server.memory_kb("VmRSS")
        crowd = [half_startup(server) for _ in range(2000)]
        assert session.execute("SELECT cluster_name FROM system.local").one()
        # Of 2,000 times 4 KiB; the others were closed.
        assert server.memory_kb("VmRSS") - before < 8000
        for raw in crowd:
            raw.socket.close()
    assert "door_guests_full" in server.text()


def test_wrong_passwords_of_clients_that_hang_up_keep_nobody_out(serve, tmp_path):
    from cassandra.auth import PlainTextAuthProvider
    passwords = tmp_path / "passwords"
    passwords.write_text(f"alice:{cql.BCRYPT_OF_SECRET}\n")
    server = serve("--cql", "127.0.0.1:0", "--cql-passwords", passwords)
    for _ in range(300):
        raw = cql.Raw(server)
        raw.send(1, cql.STARTUP)
        raw.send(15, struct.pack(">i", 12) + b"\0alice\0wrong")
        raw.socket.close()
    began = time.monotonic()
    with cql.connected(server, auth_provider=PlainTextAuthProvider("alice", "secret")) as session:
        assert session.execute("SELECT cluster_name FROM system.local").one()
    assert time.monotonic() - began < 10
    began = time.monotonic()
    assert server.stop() == 0
    assert time.monotonic() - began < 5
    assert "login_failed" in server.text()
    assert server.text().count("login_failed") <= 2


# ---- producers ----


def test_producers_are_listed_and_dropped(serve):
    server = serve()
    first, second = str(uuid.uuid4()), str(uuid.uuid4())
    client = server.client().send(f"#producer {first} 3 new\n#batch 1 1\n{GOOD}")
    assert client.line() == "ok 1 accepted 1 rejected 0"
    other = server.client().send(f"#producer {second} 1 new\n#batch 1 1\n{GOOD}"
                                 f"#batch 2 1\n{GOOD}")
    assert other.finish().rest()[1] == "ok 2 accepted 1 rejected 0"

    listed = daybook.rows(server.run("producers", "list", "--format", "csv").out)
    assert {row["producer"]: (row["epoch"], row["last_batch"], row["state"])
            for row in listed} == {first: ("3", "1", "connected"), second: ("1", "2", "idle")}
    assert "stop it first" in server.run("producers", "drop", first, status=3).err
    assert "is forgotten" in server.run("producers", "drop", second).out
    assert "no producer" in server.run("producers", "drop", second, status=1).err
    assert server.client().send(f"#producer {second} 1\n").line() == "error - unknown_producer"
    client.close()
    assert server.stop() == 0
    listed = daybook.run("producers", "list", "-d", server.directory, "--format", "csv").out
    assert first in listed and second not in listed
