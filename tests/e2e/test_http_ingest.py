"""Clicks over HTTP: POST /ingest has the meaning of the text door."""

import http.client
import json
import uuid

import pytest

import daybook

GOOD = "r1,2013-11-28,1385654400123,ad42,0.005\n"
BAD = "r1,2013-13-01,1385654400123,ad42,0.005\n"


@pytest.fixture(name="server")
def with_http(serve):
    return serve("--http", "127.0.0.1:0")


def post(server, body, **names):
    """Status and JSON of an answer; names of headers are without X-Daybook-."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port("http"),
                                            timeout=daybook.PATIENCE)
    connection.request("POST", "/ingest", body, {
        f"X-Daybook-{name}": str(value) for name, value in names.items()})
    answer = connection.getresponse()
    told = json.loads(answer.read())
    connection.close()
    return answer.status, told


def clicks(server):
    return sum(int(row["clicks"]) for row in daybook.rows(
        server.run("report", "--format", "csv").out))


def counted(accepted, rejected=0, duplicate=False, rejects=(), more=None):
    return {"accepted": accepted, "rejected": rejected, "duplicates": 0, "duplicate": duplicate,
            "rejects": list(rejects), "more_rejects": more or {}}


def test_lines_are_taken(server):
    assert post(server, GOOD * 3) == (200, counted(3))
    assert post(server, GOOD.rstrip()) == (200, counted(1))
    assert post(server, "") == (200, counted(0))
    header = "time,ad_id,amount,reseller_id\r\n1385654400123,ad42,0.005,r2\r\n"
    assert post(server, "\ufeff" .encode() + header.encode()) == (200, counted(1))
    objects = '{"reseller_id":"r3","time":1385654400123,"ad_id":"a","amount":0.10}\n'
    assert post(server, objects * 2) == (200, counted(2))
    assert clicks(server) == 7


def test_errors_are_json_whatever_was_sent(server):
    for size in range(60, 100):
        name = "\u20ac" * size
        status, told = post(server, f"reseller_id,day,ad_id,{name}\n".encode(),
                            Producer=uuid.uuid4(), Batch=1)
        assert status == 400 and told["error"] in ("unknown_column", "missing_column"), told
    status, told = post(server, GOOD, Stream="caf\u00e9")
    assert status == 400 and told["error"] == "unknown_stream"


def test_refused_lines_are_told(server):
    told = {"line": 2, "code": "bad_day", "text": "2013-13-01"}
    assert post(server, GOOD + BAD + GOOD) == (200, counted(2, 1, rejects=[told]))
    sender = {"Producer": uuid.uuid4(), "Batch": 1}
    body = "reseller_id,day,time,ad_id,amount\n" + BAD + GOOD
    assert post(server, body, **sender) == (200, counted(1, 1, rejects=[told]))
    status, answer = post(server, BAD * 105)
    assert status == 200 and len(answer["rejects"]) == 100
    assert answer["more_rejects"] == {"bad_day": 5}


def test_a_batch_counts_once(server):
    sender = {"Producer": uuid.uuid4()}
    assert post(server, GOOD * 2, Batch=1, **sender) == (200, counted(2))
    assert post(server, GOOD * 2, Batch=1, **sender) == (200, counted(2, duplicate=True))
    assert post(server, GOOD, Batch=2, **sender) == (200, counted(1))
    status, told = post(server, GOOD * 3, Batch=2, **sender)
    assert (status, told["error"]) == (409, "batch_differs")
    status, told = post(server, GOOD, Batch=4, **sender)
    assert (status, told["error"]) == (409, "sequence_gap") and "expected 3" in told["what"]
    assert post(server, GOOD, Batch=3, Epoch=2, **sender) == (200, counted(1))
    assert post(server, GOOD, Batch=4, Epoch=1, **sender)[1]["error"] == "wrong_epoch"
    status, told = post(server, GOOD, Producer=uuid.uuid4(), Batch=2)
    assert (status, told["error"]) == (409, "unknown_producer")
    assert clicks(server) == 4


def test_a_batch_counts_once_under_kills(serve, tmp_path):
    """What was not answered is sent again, to a server that was killed meanwhile."""
    directory = tmp_path / "data"
    sender = {"Producer": uuid.uuid4()}
    batch = 1
    for _ in range(4):
        server = serve("--http", "127.0.0.1:0", directory=directory)
        for _ in range(3):
            assert post(server, GOOD * 100, Batch=batch, **sender)[0] == 200
            batch += 1
        connection = http.client.HTTPConnection("127.0.0.1", server.port("http"))
        connection.request("POST", "/ingest", GOOD * 100, {
            "X-Daybook-Producer": str(sender["Producer"]), "X-Daybook-Batch": str(batch)})
        server.kill()
        connection.close()
    server = serve("--http", "127.0.0.1:0", directory=directory)
    assert post(server, GOOD * 100, Batch=batch, **sender)[0] == 200
    assert clicks(server) == 100 * batch
    server.run("verify")


def test_requests_that_are_refused(server):
    def error(body, **names):
        status, told = post(server, body, **names)
        assert all(told.values())
        return status, told["error"]

    sender = {"Producer": uuid.uuid4(), "Batch": 1}
    assert error(GOOD + "#sync\n") == (400, "control_line")
    assert error(GOOD, Producer="x", Batch=1) == (400, "bad_header")
    assert error(GOOD, Producer=uuid.uuid4()) == (400, "bad_header")
    assert error(GOOD, Batch=1) == (400, "bad_header")
    assert error(GOOD, **{**sender, "Batch": "1 1"}) == (400, "bad_header")
    assert error(GOOD, **{**sender, "Batch": 0}) == (400, "bad_header")
    assert error(GOOD, Stream="a b") == (400, "bad_header")
    assert error(GOOD, Stream="nothing") == (400, "unknown_stream")
    assert error("reseller_id,x\n" + GOOD, **sender) == (400, "unknown_column")
    assert error("reseller_id\n" + GOOD) == (400, "missing_column")
    connection = http.client.HTTPConnection("127.0.0.1", server.port("http"))
    connection.putrequest("POST", "/ingest")
    connection.putheader("Content-Length", str((8 << 20) + 1))
    connection.endheaders()
    assert connection.getresponse().status == 413
    connection.close()
    assert clicks(server) == 0


def test_a_large_batch(server):
    """As large as one may be; its bytes go through in pieces."""
    body = GOOD * ((8 << 20) // len(GOOD))
    lines = body.count("\n")
    assert post(server, body, Producer=uuid.uuid4(), Batch=1) == (200, counted(lines))
    assert clicks(server) == lines


def test_clients_that_leave(server):
    body = GOOD * 50000
    for _ in range(5):
        connection = http.client.HTTPConnection("127.0.0.1", server.port("http"))
        connection.request("POST", "/ingest", body, {
            "X-Daybook-Producer": str(uuid.uuid4()), "X-Daybook-Batch": "1"})
        connection.close()
    assert clicks(server) % 50000 == 0
    assert server.stop() == 0


def test_a_door_that_others_reach_takes_nothing(serve):
    server = serve("--http", "127.0.0.1:0", "--http-readonly")
    assert post(server, GOOD)[1]["error"] == "read_only"
