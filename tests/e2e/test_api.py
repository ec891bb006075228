"""The JSON API: what commands print, over HTTP."""

import http.client
import json
import re
import time
import urllib.parse

import pytest

import cql
import daybook

CLICKS = """AA,2013-11-28,1385654400123,ad1,0.005
AA,2013-11-28,1385654400124,ad2,0.015
AA,2013-11-29,1385740800123,ad1,0.005
B6,2013-11-28,1385654400123,ad1,0.25
B6,2013-11-28,1385654400123,,0.25
"""


@pytest.fixture(name="server")
def with_figures(serve):
    server = serve("--http", "127.0.0.1:0")
    server.run("rate", "set", "AA", "2013-11-01", "25%", "--note", "contract of March")
    assert server.client().send(CLICKS).finish().rest()[-1] == "ok - accepted 4 rejected 1"
    return server


def ask(server, path, body=None, headers=None, **parameters):
    """Status, headers and body of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port("http"),
                                            timeout=daybook.PATIENCE)
    query = urllib.parse.urlencode(parameters, doseq=True)
    connection.request("GET" if body is None else "POST", path + ("?" + query if query else ""),
                       body, headers or {})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, answer.headers, text


def post(server, path, **form):
    """The same, of a form."""
    return ask(server, path, body=urllib.parse.urlencode(form),
               headers={"Content-Type": "application/x-www-form-urlencoded"})


def get(server, path, **parameters):
    """The JSON of an answer."""
    status, headers, text = ask(server, path, **parameters)
    assert status == 200, text
    assert headers["Content-Type"] == "application/json"
    return json.loads(text)


def refused(server, path, **parameters):
    """Status and members of an error."""
    status, headers, text = ask(server, path, **parameters)
    assert headers["Content-Type"] == "application/json"
    told = json.loads(text)
    assert list(told) == ["error", "what", "where", "todo"] and all(told.values()), text
    return status, told


def same(server, path, words, **parameters):
    """The rows are those that the command prints, in JSON and in CSV."""
    wanted = json.loads(server.run(*words, "--format", "json").out)
    answer = get(server, path, **parameters)
    assert answer["rows"] == wanted
    assert answer["total"] == len(wanted) and answer["next"] is None
    status, headers, text = ask(server, path + ".csv", **parameters)
    assert status == 200 and headers["Content-Type"].startswith("text/csv")
    assert text == server.run(*words, "--format", "csv").out
    assert ask(server, path, headers={"Accept": "text/csv"}, **parameters)[2] == text
    return wanted


# ---- tables ----


def test_report(server):
    rows = same(server, "/api/report", ["report"])
    assert rows[1] == {"reseller_id": "AA", "day": "2013-11-28", "clicks": 2, "gross": "0.020",
                       "rate": "0.25", "amount": "0.00500"}
    assert rows[2]["rate"] is None
    same(server, "/api/report", ["report", "--by", "month", "--reseller", "AA"],
         by="month", reseller="AA")
    same(server, "/api/report", ["report", "-r", "AA", "-r", "B6", "--from", "2013-11-29"],
         reseller=["AA", "B6"], **{"from": "2013-11-29"})
    same(server, "/api/report", ["report", "--by", "ad", "--round", "1"], by="ad", round=1)
    same(server, "/api/report", ["report", "--by", "month", "--ad", "ad1"], by="month", ad="ad1")
    same(server, "/api/report", ["report", "--as-of", "2013-12-01"], **{"as-of": "2013-12-01"})
    told = refused(server, "/api/report", ad="ad1", **{"as-of": "2013-12-01"})[1]
    assert told["what"].endswith("the ledger has no ads: as-of does not go with ad")
    answer = get(server, "/api/report", by="total", reseller=["B6", "nobody"])
    assert answer["rows"] == [{"clicks": 1, "gross": "0.25", "amount": "0", "unpriced_days": 1,
                               "unpriced_gross": "0.25"}]
    assert answer["notes"] == [
        'there are no figures of reseller "nobody" in the days asked for',
        "1 reseller-day without a rate, gross 0.25, is in no amount"]


def test_a_report_is_also_a_picture(server):
    status, headers, text = ask(server, "/api/report.svg", by="month", reseller="AA")
    assert status == 200 and headers["Content-Type"] == "image/svg+xml"
    assert text == server.run("report", "--by", "month", "-r", "AA", "--format", "svg").out
    assert refused(server, "/api/report.svg", limit=1)[1]["where"] == "parameter limit"


def test_pages_follow_each_other(server):
    whole = get(server, "/api/report")["rows"]
    told = get(server, "/api/report?&limit=1&%6Fffset=1&&by=%64ay")
    assert told["next"] == "?limit=1&by=%64ay&offset=2"
    rows, path = [], "/api/report?limit=2&by=day"
    while path:
        answer = get(server, path)
        assert answer["offset"] == len(rows) and answer["total"] == 3
        rows += answer["rows"]
        path = answer["next"] and urllib.parse.urljoin(path, answer["next"])
    assert rows == whole
    assert ask(server, "/api/report.csv?limit=1&offset=1")[2].splitlines() == \
        server.run("report", "--format", "csv").out.splitlines()[:3:2]


def test_other_tables(server):
    same(server, "/api/counters", ["counters"])
    same(server, "/api/counters", ["counters", "clicks_per_ad", "--top", "1"],
         table="clicks_per_ad", top=1)
    same(server, "/api/counters",
         ["counters", "clicks_per_reseller_per_day", "--key", "AA", "--key", "2013-11-28"],
         table="clicks_per_reseller_per_day", key=["AA", "2013-11-28"])
    same(server, "/api/rates", ["rate", "list"])
    same(server, "/api/rates", ["rate", "list", "AA"], reseller="AA")
    assert len(same(server, "/api/rates", ["rate", "list", "--day", "2013-11-02"],
                    day="2013-11-02")) == 1
    assert same(server, "/api/rates", ["rate", "list", "--day", "2013-10-31"],
                day="2013-10-31") == []
    same(server, "/api/rates/history", ["rate", "list", "AA", "--history"], reseller="AA")
    assert same(server, "/api/rejects", ["rejects", "list"])[0]["code"]
    assert len(same(server, "/api/rejects", ["rejects", "list", "--last", "1"], last=1)) == 1
    server.run("rollup")
    server.run("rate", "set", "AA", "2013-11-29", "30%", "--note", "raised")
    rows = same(server, "/api/restatements", ["restatements", "--all"], all="true")
    assert len(rows) == 4
    rows = same(server, "/api/restatements", ["restatements", "--day", "2013-11-29"],
                day="2013-11-29")
    assert rows[0]["old_amount"] == "0.00125" and rows[0]["new_amount"] == "0.00150"


def test_status(server):
    told = get(server, "/api/status")
    assert told.keys() == json.loads(server.run("status", "--format", "json").out).keys()


def test_explain(server):
    server.run("rollup")
    server.run("rate", "set", "AA", "2013-11-28", "0.5", "--note", "agreed")
    told = get(server, "/api/explain", reseller="AA", day="2013-11-28")
    assert told["figure"] == {"reseller_id": "AA", "day": "2013-11-28", "clicks": 2,
                              "gross": "0.020", "rate": "0.5", "amount": "0.0100"}
    assert told["rate"] == {"reseller_id": "AA", "effective_since": "2013-11-28",
                            "reward_percent": "0.5"}
    assert [(change["old"], change["new"], change["note"]) for change in told["rate_history"]] == [
        ("(none)", "25%", "contract of March"), ("(none)", "50%", "agreed")]
    first, second = told["restatements"]
    assert first["old_amount"] is None and second["old_amount"] == first["new_amount"] == "0.00500"
    assert "agreed" in second["by"]
    assert [click["ad_id"] for click in told["clicks"]] == ["ad2", "ad1"]
    empty = get(server, "/api/explain", reseller="AA", day="2013-11-30")
    assert empty["figure"] is None and empty["clicks"] == []
    assert get(server, "/api/explain", reseller="B6", day="2013-11-28")["rate"] is None


# ---- CQL ----


def select(server, query, **parameters):
    """What the answer to a statement says."""
    status, _, text = post(server, "/api/cql", query=query, **parameters)
    return status, json.loads(text)


def test_cql(server):
    status, told = select(server, "SELECT ad_id, clicks FROM daybook.clicks_per_ad")
    assert status == 200
    assert told["columns"] == [{"name": "ad_id", "type": "text"},
                               {"name": "clicks", "type": "counter"}]
    assert sorted(told["rows"]) == [["ad1", 3], ["ad2", 1]]
    assert told["next"] is None and told["notes"] == []
    server.run("rollup")
    told = select(server, "SELECT gross, rate FROM amount_by_day WHERE reseller_id = 'B6'",
               keyspace="daybook")[1]
    assert told["rows"] == [["0.25", None]]


def test_cql_pages(server):
    query = "SELECT time, ad_id FROM daybook.ad_click"
    whole = select(server, query)[1]["rows"]
    rows, told = [], {"next": ""}
    while told["next"] is not None:
        told = select(server, query, limit=3, page=told["next"])[1]
        rows += told["rows"]
    assert rows == whole and len(rows) == 4
    page = select(server, query, limit=3)[1]["next"]
    assert select(server, query, page=page[:-1])[1]["where"] == "parameter page"
    status, told = select(server, query, page=page[:-2] + ("00" if page[-2:] != "00" else "01"))
    assert status == 400 and told["where"] == "query"


def test_cql_answers_are_bounded(serve):
    """Of large rows a page has fewer, and a row that is too large is refused."""
    server = serve("--http", "127.0.0.1:0", "--cql", "127.0.0.1:0")
    with cql.connected(server) as session:
        session.execute("CREATE KEYSPACE k WITH replication = "
                        "{'class': 'SimpleStrategy', 'replication_factor': 1}")
        session.execute("CREATE TABLE k.t (p int, c int, v blob, PRIMARY KEY (p, c))")
        insert = session.prepare("INSERT INTO k.t (p, c, v) VALUES (?, ?, ?)")
        for number in range(4):
            session.execute(insert, (0, number, bytes(500000)))
        session.execute(insert, (1, 0, bytes(5 << 20)))
    query = "SELECT c, v FROM k.t WHERE p = 0"
    found, told = [], {"next": ""}
    while told["next"] is not None:
        told = select(server, query, page=told["next"])[1]
        found += [row[0] for row in told["rows"]]
        assert len(told["rows"]) < 4
    assert found == [0, 1, 2, 3]
    status, told = select(server, "SELECT v FROM k.t WHERE p = 1")
    assert (status, told["error"]) == (413, "answer_too_large")


def test_cql_errors(server):
    status, told = select(server, "SELECT a\nFROM FROM x")
    assert (status, told["error"], told["where"]) == (400, "cql_2000", "query, line 2, column 5")
    status, told = select(server, "SELECT a FROM daybook.nothing")
    assert (status, told["error"], told["where"]) == (400, "cql_2200", "query")
    status, told = select(server, "TRUNCATE daybook.ad_click")
    assert (status, told["error"]) == (403, "cql_2100")
    assert select(server, "")[1]["where"] == "parameter query"
    assert select(server, "SELECT", consistency="ONE")[1]["where"] == "parameter consistency"


# ---- the description ----


def expect(root, schema, value, place):
    """The value is one that the schema describes: the part of JSON Schema that is used there."""
    if "$ref" in schema:
        schema = root["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    if "oneOf" in schema:
        schema = next(one for one in schema["oneOf"] if (one.get("type") == "null") == (
            value is None))
        expect(root, schema, value, place)
        return
    kinds = {"object": dict, "array": list, "string": str, "integer": int, "number": float,
             "boolean": bool, "null": type(None)}
    wanted = schema.get("type", list(kinds))
    wanted = [wanted] if isinstance(wanted, str) else wanted
    assert type(value) in [kinds[kind] for kind in wanted], (place, value)
    if isinstance(value, str):
        assert re.search(schema.get("pattern", ""), value), (place, value)
    if isinstance(value, list):
        for number, item in enumerate(value):
            expect(root, schema.get("items", {}), item, f"{place}[{number}]")
    if isinstance(value, dict):
        known = schema.get("properties", {})
        assert set(schema.get("required", [])) <= set(value), place
        assert schema.get("additionalProperties", True) or set(value) <= set(known), place
        for name, item in value.items():
            expect(root, known.get(name, {}), item, f"{place}.{name}")


def resolved(root, item):
    """What a reference of the description stands for."""
    for name in item["$ref"].split("/")[1:] if "$ref" in item else []:
        item = root = root[name]
    return item


def parameters_of(root, operation):
    return [resolved(root, item) for item in operation.get("parameters", [])]


def expect_described(root, path, operation, answer):
    status, headers, text = answer
    assert str(status) in operation["responses"], (path, status, text)
    content = resolved(root, operation["responses"][str(status)])["content"]
    schema = content[headers["Content-Type"].partition(";")[0]].get("schema")
    if schema:
        expect(root, schema, json.loads(text), path)


def post_example(server, path, operation):
    """What is answered to the body that the description gives for an example."""
    content = operation["requestBody"]["content"]
    if "text/csv" in content:
        answer = ask(server, path, body=content["text/csv"]["example"])
    else:
        answer = post(server, path, **content["application/x-www-form-urlencoded"]["example"])
    assert answer[0] == (403 if "409" in operation["responses"] and "415" in operation["responses"]
                         else 200)
    return answer


def test_answers_are_as_described(server):
    server.run("rollup")
    server.run("rate", "set", "AA", "2013-11-29", "30%", "--note", "raised")
    root = get(server, "/api/openapi.json")
    tag = ask(server, "/api/openapi.json")[1]["ETag"]
    assert ask(server, "/api/openapi.json", headers={"If-None-Match": tag})[0] == 304
    for path, methods in root["paths"].items():
        for method, operation in methods.items():
            if method == "post":
                expect_described(root, path, operation, post_example(server, path, operation))
                continue
            if "text/event-stream" in operation["responses"]["200"]["content"]:
                continue
            known = parameters_of(root, operation)
            needed = {item["name"]: item["example"] for item in known if item.get("required")}
            every = {item["name"]: item["example"] for item in known}
            alone = {name: every.pop(name) for name in ("ad",) if name in every}
            for given in (needed, every, {**needed, **alone}):
                answer = ask(server, path, **given)
                assert answer[0] == 200, (path, given, answer[2])
                expect_described(root, path, operation, answer)
            if "text/csv" in operation["responses"]["200"]["content"]:
                expect_described(root, path, operation, ask(server, path + ".csv", **every))
            for item in known:
                answer = ask(server, path, **{**needed, item["name"]: "\u20ac"})
                if item["schema"].get("type") not in ("string", "array"):
                    assert answer[0] == 400, (path, item["name"], answer[2])
                expect_described(root, path, operation, answer)
            if "by" in every:
                for word in next(i for i in known if i["name"] == "by")["schema"]["enum"]:
                    expect_described(root, path, operation, ask(server, path, by=word))


# ---- what happens now ----


class Viewer:
    """A reader of /api/live, as EventSource is one."""

    def __init__(self, server):
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port("http"),
                                                     timeout=daybook.PATIENCE)
        self.connection.request("GET", "/api/live")
        self.answer = self.connection.getresponse()
        assert self.answer.headers["Content-Type"] == "text/event-stream"

    def state(self):
        """The next one."""
        while not (line := self.answer.readline()).startswith(b"data: "):
            assert line, "the stream ended"
        return json.loads(line[len("data: "):])

    def wait(self, wanted):
        """The first one from now on of which that holds."""
        deadline = time.monotonic() + daybook.PATIENCE
        while not wanted(state := self.state()):
            assert time.monotonic() < deadline, state
        return state


def test_live(serve):
    """What viewers see is durable, and as reports have it."""
    server = serve("--http", "127.0.0.1:0")
    viewer = Viewer(server)
    state = viewer.state()
    day = state["today"]["day"]
    root = get(server, "/api/openapi.json")
    expect(root, {"$ref": "#/components/schemas/live"}, state, "live")
    assert state["today"]["rows"] == [] and state["freshness"]["newest_click_ms"] is None
    server.run("rate", "set", "AA", day, "25%")
    lines = "".join(f"{'AA' if number % 4 else 'B6'},{day},{day}T12:00:00Z,ad{number % 2},0.01\n"
                    for number in range(400))
    client = server.client().send(lines + "AA,bad\n").finish()
    assert client.rest()[-1] == "ok - accepted 400 rejected 1"
    state = viewer.wait(lambda state: state["clicks"]["ads"])
    expect(root, {"$ref": "#/components/schemas/live"}, state, "live")
    assert state["clicks"]["per_second"] > 0
    assert [(row["ad_id"], row["clicks"]) for row in state["clicks"]["ads"]] == [
        ("ad0", 200), ("ad1", 200)]
    assert [(row["reseller_id"], row["clicks"]) for row in state["clicks"]["resellers"]] == [
        ("AA", 300), ("B6", 100)]
    assert all(row["per_second"] > 0 for row in state["clicks"]["resellers"])
    report = json.loads(server.run("report", "--from", day, "--format", "json").out)
    assert state["today"]["rows"] == [
        {name: row[name] for name in ("reseller_id", "clicks", "gross", "rate", "amount")}
        for row in report]
    assert (state["today"]["clicks"], state["today"]["gross"], state["today"]["amount"],
            state["today"]["unpriced_gross"]) == (400, "4.00", "0.7500", "1.00")
    assert state["ingest"]["accepted"] == 400
    assert state["ingest"]["codes"] == [{"code": "too_few_fields", "lines": 1}]
    second = Viewer(server)
    assert second.state()["ingest"]["accepted"] == 400
    second.connection.close()
    state = viewer.wait(lambda state: state["clicks"]["per_second"] == 0)
    assert state["freshness"]["figures_behind_ms"] == 0
    assert server.stop() == 0


# ---- errors ----


def test_errors_say_what_where_and_what_to_do(server):
    status, told = refused(server, "/api/report", **{"from": "2013-13-01"})
    assert (status, told["error"], told["where"]) == (400, "bad_parameter", "parameter from")
    assert told["what"] == "from takes a day such as 2013-11-28, not '2013-13-01'"
    status, told = refused(server, "/api/report", by="day", **{"from": "2013-12-01",
                                                               "to": "2013-11-01"})
    assert told["what"] == "the days end (to) before they begin (from)"
    assert told["where"] == "parameters"
    assert refused(server, "/api/report", stream="nights")[1]["what"].startswith(
        "there is no stream 'nights'")
    assert refused(server, "/api/counters", table="clicks")[1]["where"] == "parameter table"
    assert refused(server, "/api/report", directory="/etc")[1]["where"] == "parameter directory"
    assert refused(server, "/api/report?by=%zz")[1]["error"] == "bad_escape"
    assert refused(server, "/api/nothing")[0] == 404
    assert refused(server, "/api/status.csv")[0] == 404
    assert refused(server, "/api/report", body="a=b")[0] == 405
    assert refused(server, "/api/rates", body="{}")[1]["error"] == "not_a_form"
    assert json.loads(post(server, "/api/rates?preview=true", rate="1")[2])["where"] == "query"
    told = json.loads(post(server, "/api/rates", reseller="AA", day="2013-11-01", rate="30%")[2])
    assert told["error"] == "bad_token"
    assert get(server, "/api/rates")["rows"][0]["reward_percent"] == "0.25"


def test_errors_are_json_whatever_was_sent(server):
    """Long values are cut, and not within a character."""
    for size in range(120, 400):
        told = refused(server, "/api/report", **{"from": "a" * (size % 3) + "\u20ac" * size})[1]
        assert told["where"] == "parameter from"
    for size in range(100, 300, 7):
        status, _, text = post(server, "/api/cql", query=f'SELECT "{chr(8364) * size}" FROM a.b')
        assert status == 400 and json.loads(text)["what"]


def test_a_closing_server_lets_commands_end(server):
    connection = http.client.HTTPConnection("127.0.0.1", server.port("http"))
    connection.request("GET", "/api/report")
    assert server.stop() == 0


def test_a_large_table_is_sent_as_it_is_printed(server):
    """More than a connection takes at once, to a client that reads late."""
    name = "R" * 500
    lines = [f"{name}{number},2013-11-28,1385654400123,ad1,0.005\n" for number in range(15000)]
    assert server.client().send("".join(lines)).finish().rest()[-1] == (
        "ok - accepted 15000 rejected 0")
    wanted = server.run("report", "--format", "csv").out
    assert ask(server, "/api/report.csv")[2] == wanted
    connection = http.client.HTTPConnection("127.0.0.1", server.port("http"))
    connection.request("GET", "/api/report.csv")
    answer = connection.getresponse()
    assert answer.read(9) == b"reseller_"
    assert get(server, "/api/report", by="total")["rows"][0]["clicks"] == 15004
    assert b"reseller_" + answer.read() == wanted.encode()
    connection.request("HEAD", "/api/report.csv")
    assert connection.getresponse().read() == b""
    connection.close()
    left = http.client.HTTPConnection("127.0.0.1", server.port("http"))
    left.request("GET", "/api/report.csv")
    left.close()
    assert server.stop() == 0
