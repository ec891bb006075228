"""The HTTP door: what it serves to programs and people, and what it refuses."""

import http.client
import json
import socket
import subprocess

import pytest

import daybook
import disks

GOOD = "r1,2013-11-28,1385654400123,ad42,0.005\n"
HOST = "Host: localhost\r\n"


@pytest.fixture(name="server")
def with_http(serve):
    return serve("--http", "127.0.0.1:0")


def ask(server, path, method="GET", **headers):
    """Status, headers and body of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port("http"),
                                            timeout=daybook.PATIENCE)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer.status, answer.headers, body


def exchange(server, request, pieces=None):
    """All that comes back for these bytes, until the server hangs up."""
    data = request if isinstance(request, bytes) else request.encode()
    with socket.create_connection(("127.0.0.1", server.port("http")), daybook.PATIENCE) as client:
        if pieces:
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for start in range(0, len(data), pieces or len(data)):
            client.sendall(data[start:start + (pieces or len(data))])
        answer = b""
        while part := client.recv(65536):
            answer += part
    return answer.decode()


def refusal(answer):
    """The status and the code of the one answer."""
    head, body = answer.split("\r\n\r\n")
    assert "Connection: close" in head
    told = json.loads(body)
    assert list(told) == ["error", "what", "where", "todo"] and all(told.values())
    return int(head.split()[1]), told["error"]


# ---- what is served ----


def test_health_and_readiness(server):
    status, headers, body = ask(server, "/healthz")
    assert (status, body) == (200, "ok\n")
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert ask(server, "/readyz")[::2] == (200, "ready\n")
    assert ask(server, "/readyz", "HEAD")[::2] == (200, "")
    status, _, body = ask(server, "/nothing")
    assert status == 404 and json.loads(body)["error"] == "not_found"


def test_metrics_are_those_of_status(server):
    assert server.client().send(GOOD).finish().rest() == ["ok - accepted 1 rejected 0"]
    status, headers, body = ask(server, "/metrics")
    assert status == 200
    assert headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert "\ndaybook_http_connections 1\n" in body
    assert "\ndaybook_http_request_seconds_count 0\n" in body

    def names(text):
        return [line.split(" ")[0] for line in text.splitlines() if not line.startswith("#")]

    assert names(body) == names(server.run("status", "--metrics").out)
    body = ask(server, "/metrics")[2]
    assert "\ndaybook_http_answers_total{class=\"2xx\"} 1\n" in body
    assert "\ndaybook_http_request_seconds_count 1\n" in body


def test_a_full_disk_is_not_ready(small_disk):
    server = daybook.Server(small_disk / "data", "--http", "127.0.0.1:0")
    filler = small_disk / "filler"
    loader = None
    try:
        assert ask(server, "/readyz")[0] == 200
        disks.fill(filler)
        lines = small_disk.parent / "clicks.csv"
        lines.write_text("".join(f"r{i % 50},2013-11-28,{1385605012000 + i},ad{i},0.01\n"
                                 for i in range(300000)))
        loader = subprocess.Popen([daybook.PROGRAM, "load", "-d", server.directory, lines],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  env=daybook.environment())
        daybook.wait_until(lambda: ask(server, "/readyz")[0] == 503, "it waits")
        status, headers, body = ask(server, "/readyz")
        assert (status, json.loads(body)["error"]) == (503, "disk_full")
        assert headers["Retry-After"] == "1"
        assert ask(server, "/healthz")[0] == 200
        assert '\ndaybook_waiting{reason="disk_full"} 1\n' in ask(server, "/metrics")[2]
        filler.unlink()
        assert loader.wait(daybook.PATIENCE) == 0
        assert ask(server, "/readyz")[0] == 200
        assert server.stop() == 0, server.text()
    finally:
        if loader is not None:
            loader.kill()
        server.process.kill()
        server.process.wait()


def test_a_connection_serves_many_requests(server):
    connection = http.client.HTTPConnection("127.0.0.1", server.port("http"),
                                            timeout=daybook.PATIENCE)
    for _ in range(20):
        connection.request("GET", "/healthz")
        assert connection.getresponse().read() == b"ok\n"
    connection.close()
    assert "\ndaybook_http_connections_total 2\n" in ask(server, "/metrics")[2]


# ---- what is refused ----

REFUSED = [
    (f"GET /healthz HTTP/1.1\n{HOST}\r\n", 400, "bare_lf"),
    (f"GET /healthz HTTP/1.1\r\n{HOST}X: a\r\n b\r\n\r\n", 400, "folded_header"),
    (f"GET /healthz HTTP/1.1\r\n{HOST}X : a\r\n\r\n", 400, "bad_syntax"),
    (f"GET /healthz HTTP/1.1\r\n{HOST}X: a\0b\r\n\r\n", 400, "control_character"),
    ("GET /healthz HTTP/1.1\r\n\r\n", 400, "host_missing"),
    ("GET /healthz HTTP/1.1\r\nHost: evil.example.com\r\n\r\n", 421, "bad_host"),
    (f"GET http://localhost/healthz HTTP/1.1\r\n{HOST}\r\n", 400, "bad_target"),
    (f"GET /healthz HTTP/2.0\r\n{HOST}\r\n", 505, "version_not_supported"),
    (f"DELETE /healthz HTTP/1.1\r\n{HOST}\r\n", 405, "method_not_allowed"),
    (f"POST /healthz HTTP/1.1\r\n{HOST}\r\n", 411, "length_missing"),
    (f"POST /healthz HTTP/1.1\r\n{HOST}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400,
     "two_lengths"),
    (f"POST /healthz HTTP/1.1\r\n{HOST}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"
     "0\r\n\r\nGET /metrics HTTP/1.1\r\n", 400, "two_lengths"),
    (f"POST /healthz HTTP/1.1\r\n{HOST}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 501,
     "transfer_encoding"),
    (f"POST /healthz HTTP/1.1\r\n{HOST}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 501,
     "transfer_encoding"),
    (f"POST /healthz HTTP/1.1\r\n{HOST}Origin: http://evil.example.com\r\nContent-Length: 2\r\n\r\n"
     "ab", 403, "bad_origin"),
    (f"GET /healthz HTTP/1.1\r\n{HOST}{'X: a' * 5000}\r\n\r\n", 431, "head_too_large"),
    (f"GET /healthz HTTP/1.1\r\n{HOST}" + "X: a\r\n" * 64 + "\r\n", 431, "too_many_headers"),
    ("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400, "control_character"),
]


@pytest.mark.parametrize("request_text,status,code", REFUSED, ids=[case[2] for case in REFUSED])
def test_a_refused_request_ends_its_connection(server, request_text, status, code):
    """One answer, though more requests follow; and the same by single bytes."""
    more = f"GET /healthz HTTP/1.1\r\n{HOST}\r\n"
    assert refusal(exchange(server, request_text + more)) == (status, code)
    if len(request_text) < 1000:
        assert refusal(exchange(server, request_text, pieces=1)) == (status, code)


def test_requests_by_single_bytes_are_answered(server):
    request = (f"GET /healthz HTTP/1.1\r\n{HOST}\r\nHEAD /readyz HTTP/1.1\r\n{HOST}"
               "Connection: close\r\n\r\n")
    answer = exchange(server, request, pieces=1)
    assert answer.count("HTTP/1.1 200 OK\r\n") == 2 and "ok\n" in answer


def test_names_that_are_given_are_served(serve):
    server = serve("--http", "127.0.0.1:0", "--http-host", "a.example.com,clicks.example.com")
    assert ask(server, "/healthz", Host="Clicks.Example.com")[0] == 200
    assert ask(server, "/healthz", Host="clicks.example.com:443")[0] == 200
    assert ask(server, "/healthz", Host="example.com")[0] == 421


def test_a_base_is_served_with_and_without_it(serve):
    server = serve("--http", "127.0.0.1:0", "--http-base", "/clicks", "--http-proxy", "127.0.0.1",
                   "--http-readonly")
    assert ask(server, "/clicks/healthz")[0] == 200
    assert ask(server, "/healthz")[0] == 200
    assert ask(server, "/click/healthz")[0] == 404


@pytest.mark.parametrize("option,value", [
    ("--http-host", "http://a.example.com"), ("--http-host", "a.example.com:8080"),
    ("--http-base", "clicks"), ("--http-base", "/clicks/"), ("--http-base", "/a b"),
    ("--http-proxy", "proxy.example.com"), ("--http-proxy", "10.0.0.0/8")])
def test_an_option_that_is_wrong_is_refused(directory, option, value):
    answer = daybook.run("serve", "-d", directory, option, value, status=2)
    assert f"not '{value}'" in answer.err


def test_a_door_that_others_reach_is_opened_only_when_that_is_said(directory, serve):
    answer = daybook.run("serve", "-d", directory, "--ingest", "none", "--cql", "none", "--http",
                         "0.0.0.0:0", status=2)
    assert "--http-open-to-all-read-only" in answer.err
    server = serve("--http", "0.0.0.0:0", "--http-open-to-all-read-only")
    assert ask(server, "/healthz")[0] == 200


def test_a_port_in_use_is_named(directory, server):
    answer = daybook.run("serve", "-d", directory / "other", "--ingest", "none", "--cql", "none",
                         "--http", f"127.0.0.1:{server.port('http')}", status=3)
    assert "the http door" in answer.err and "--http none" in answer.err


def test_clicks_are_taken_beside_bad_requests(server):
    """Clients that begin requests and do not go on keep nobody out."""
    silent = []
    for number in range(300):
        client = socket.create_connection(("127.0.0.1", server.port("http")), daybook.PATIENCE)
        client.sendall(b"GET /healthz HTTP/1.1\r\nX: " + b"a" * (number % 2 * 15000))
        silent.append(client)
    assert server.client().send(GOOD).finish().rest() == ["ok - accepted 1 rejected 0"]
    assert ask(server, "/readyz")[0] == 200
    assert server.stop() == 0
    for client in silent:
        client.close()


def test_curl_is_a_client(server):
    """A real client, if there is one."""
    try:
        done = subprocess.run(["curl", "-sS", "--max-time", "10",
                               f"http://127.0.0.1:{server.port('http')}/healthz"],
                              capture_output=True, text=True, check=True)
    except FileNotFoundError:
        pytest.skip("no curl here")
    assert done.stdout == "ok\n"
