"""Streams over tables of the users' own: defined, rolled up, proved, killed, dropped."""

import re

import cassandra
import pytest

import cql
import daybook
from test_api import ask, post
from test_page import hidden_fields, look

PAPER = daybook.ROOT / "tests" / "papers" / "002_ad_network.cql"
OPERATIONS = daybook.ROOT / "docs" / "OPERATIONS.md"

NETWORK = ("--table", "ad_network.ad_click", "--reseller", "reseller_id", "--day", "day",
           "--time", "time", "--ad", "ad_id", "--amount", "amount",
           "--rates", "ad_network.reseller(id,effective_since,reward_percent)")

SCHEMA = """
CREATE KEYSPACE ad_network WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
CREATE TABLE ad_network.reseller (id text, effective_since text, reward_percent float,
    PRIMARY KEY (id, effective_since));
CREATE TABLE ad_network.ad_click (reseller_id text, day text, time timestamp, ad_id text,
    amount float, PRIMARY KEY ((reseller_id, day), time, ad_id));
CREATE TABLE ad_network.clicks_per_ad (ad_id text PRIMARY KEY, clicks counter);
CREATE TABLE ad_network.clicks_per_reseller (reseller_id text PRIMARY KEY, clicks counter);
CREATE TABLE ad_network.clicks_per_day (reseller_id text, day text, clicks counter,
    PRIMARY KEY ((reseller_id, day)));
CREATE TABLE ad_network.ahead (reseller_id text, day text, time timestamp, ad_id text,
    amount float, PRIMARY KEY ((reseller_id, day), time, ad_id));
INSERT INTO ad_network.reseller (id, effective_since, reward_percent)
    VALUES ('r', '2013-01-01', 0.25);
"""

INSERT = ("INSERT INTO ad_network.ad_click (reseller_id, day, time, ad_id, amount) "
          "VALUES ('r', '2013-11-{:02}', {}, 'ad{}', {})")


@pytest.fixture
def server(serve):
    server = serve("--cql", "127.0.0.1:0")
    cql.cqlsh(server, stdin=SCHEMA)
    return server


@pytest.fixture
def session(server):
    with cql.connected(server) as session:
        yield session


def report(server):
    return server.run("report", "--stream", "network", "--format", "csv").out


def agrees(server):
    assert "all agree" in server.run("verify", "--stream", "network").out


def test_the_papers_clicks_are_rolled_up_with_the_rate_as_of_each_day(serve):
    server = serve("--cql", "127.0.0.1:0")
    # Some of the paper's statements are refused, as Cassandra refuses them.
    cql.cqlsh(server, "-f", str(PAPER), status=2)
    server.run("stream", "create", "network", *NETWORK)
    assert report(server) == (
        "reseller_id,day,clicks,gross,rate,amount\n"
        "supaboobs,2013-12-01,2,0.02,0.35,0.0070\n"
        "supaboobs,2013-11-30,1,0.005,0.35,0.00175\n"
        "supaboobs,2013-11-29,2,0.0150,0.5,0.00750\n"
        "supaboobs,2013-11-28,2,0.010,0.5,0.0050\n")
    shown = cql.cqlsh(server, "-e", "SELECT day, clicks, gross, rate, amount "
                                    "FROM daybook.network_by_day WHERE reseller_id = 'supaboobs'")
    assert [line.split() for line in shown.splitlines() if line.startswith(" 2013")][0] == [
        "2013-12-01", "|", "2", "|", "0.02", "|", "0.35", "|", "0.0070"]
    # The counters are the clients': they have what the paper's own statements made of them.
    assert "890_567_010 |      1" in cql.cqlsh(server, "-e",
                                               "SELECT * FROM ad_network.clicks_per_ad")
    agrees(server)


def test_rows_that_are_overwritten_and_deleted_are_not_in_the_sums(server):
    server.run("stream", "create", "network", *NETWORK)
    statements = [INSERT.format(1, time, time % 3, "0.005") for time in range(1, 11)]
    statements += [INSERT.format(1, 4, 1, "0.5"), INSERT.format(1, 4, 1, "0.25"),
                   "DELETE FROM ad_network.ad_click WHERE reseller_id = 'r' AND "
                   "day = '2013-11-01' AND time >= 1 AND time <= 3",
                   "UPDATE ad_network.ad_click SET amount = 1 WHERE reseller_id = 'r' AND "
                   "day = '2013-11-01' AND time = 7 AND ad_id = 'ad1'",
                   INSERT.format(2, 1, 1, "7"),
                   "DELETE FROM ad_network.ad_click WHERE reseller_id = 'r' AND "
                   "day = '2013-11-02'"]
    cql.cqlsh(server, stdin="".join(s + ";\n" for s in statements))
    # Seven of ten are left: one is 0.25, one is 1, five are 0.005.
    assert report(server) == ("reseller_id,day,clicks,gross,rate,amount\n"
                              "r,2013-11-01,7,1.275,0.25,0.31875\n")
    agrees(server)


def test_what_cannot_be_mapped_is_refused_with_what_would_do(server):
    cql.cqlsh(server, stdin="CREATE TABLE ad_network.flat (reseller_id text, day text, "
                            "time timestamp, ad_id text, amount float, "
                            "PRIMARY KEY (reseller_id, day, time, ad_id));")

    def refused(*words):
        return server.run("stream", "create", "network", *words, status=2).err

    flat = [word.replace("ad_network.ad_click", "ad_network.flat") for word in NETWORK]
    assert "PRIMARY KEY ((reseller, day), ...)" in refused(*flat)
    text = [word if word != "amount" else "ad_id" for word in NETWORK]
    assert "a type of numbers" in refused(*text)
    assert "there is no table" in refused(*NETWORK[2:], "--table", "ad_network.nothing")
    assert "no time zone" in refused(*NETWORK, "--zone", "Middle/Earth")
    server.run("stream", "create", "network", *NETWORK)
    assert "is a stream network already" in refused(*NETWORK)
    assert "belongs to a stream already" in server.run(
        "stream", "create", "again", *NETWORK, status=2).err
    for statement in ("DROP TABLE ad_network.ad_click", "DROP KEYSPACE ad_network",
                      "ALTER TABLE ad_network.ad_click DROP amount"):
        assert "stream network uses it" in cql.cqlsh(server, "-e", statement, status=2)
    assert "amount is a decimal" in cql.cqlsh(server, "-e", INSERT.format(1, 1, 1, "NaN"), status=2)


NUMBERS = ("decimal", "float", "double", "varint", "int", "bigint", "smallint", "tinyint")
UNITS = {"fraction": "0.4", "percent": "40"}


def lay_over(server, session, kind, unit):
    """A stream over tables of its own, whose rates are of that type."""
    name = f"{kind}_{unit}"
    session.execute(f"CREATE TABLE ad_network.r_{name} (id text, effective_since text, "
                    f"reward_percent {kind}, PRIMARY KEY (id, effective_since))")
    session.execute(f"CREATE TABLE ad_network.c_{name} (reseller_id text, day text, "
                    "time timestamp, ad_id text, amount float, "
                    "PRIMARY KEY ((reseller_id, day), time, ad_id))")
    session.execute(INSERT.format(2, 1, 1, "0.5").replace(".ad_click", f".c_{name}"))
    words = [word.replace(".reseller(", f".r_{name}(").replace(".ad_click", f".c_{name}")
             for word in NETWORK]
    server.run("stream", "create", name, *words, "--rates-unit", unit)
    return name


def test_a_rate_by_command_is_the_same_rate_over_every_type_of_numbers(server):
    """Written by command, read by CQL, priced, and there after a kill; else refused, whole."""
    rates = {}
    with cql.connected(server) as session:
        for kind in NUMBERS:
            for unit, shown in UNITS.items():
                name = lay_over(server, session, kind, unit)
                holds = unit == "percent" or kind in ("decimal", "float", "double")
                said = server.run("rate", "set", "--stream", name, "r", "2013-11-01", "40%",
                                  status=0 if holds else 2).err
                assert holds or f"is of type {kind}, which has no value that is exactly" in said
                rows = list(session.execute(f"SELECT reward_percent FROM ad_network.r_{name}"))
                assert len(rows) == holds
                assert not holds or round(float(rows[0][0]), 6) == float(shown), (name, rows)
                rates[name] = 0.4 if holds else None
    server.kill()
    server = daybook.Server(server.directory)
    for name, rate in rates.items():
        row = daybook.rows(server.run("report", "--stream", name, "--format", "csv").out)[0]
        assert (float(row["rate"]) if row["rate"] else None) == rate, name
        assert "all agree" in server.run("verify", "--stream", name).out
    assert server.stop() == 0


def refusal(session, statement):
    """The text of what is answered as 0x2200."""
    with pytest.raises(cassandra.InvalidRequest) as refused:
        session.execute(statement)
    return str(refused.value)


RATE = "INSERT INTO {} (id, effective_since, reward_percent) VALUES ('r', '{}', {})"


def test_no_door_takes_a_rate_above_the_whole_amount_or_a_day_that_is_none(server, session):
    server.run("stream", "create", "network", *NETWORK)
    for table in ("daybook.reseller", "ad_network.reseller"):
        for value in ("45", "1.01", "-0.1"):
            assert "0 to 1" in refusal(session, RATE.format(table, "2013-11-01", value))
        for day in ("2013-11-31", "2013-2-01", "tomorrow"):
            assert "is a day, such as" in refusal(session, RATE.format(table, day, "0.5"))
        session.execute(RATE.format(table, "2013-11-01", "1"))
        session.execute(f"DELETE FROM {table} WHERE id = 'r' AND effective_since = 'tomorrow'")
    for table, name, value in (("daybook.ad_click", ", click_id", ", -1"),
                               ("ad_network.ad_click", "", "")):
        click = (f"INSERT INTO {table} (reseller_id, day, time, ad_id, amount{name}) VALUES "
                 f"('r', '2013-11-31', 1, 'a', 0.5{value})")
        assert "day is a day, such as" in refusal(session, click)
    both = ("BEGIN BATCH " + RATE.format("ad_network.reseller", "2013-12-01", "0.5") + "; "
            + RATE.format("ad_network.reseller", "2013-12-02", "45") + "; APPLY BATCH")
    assert "0 to 1" in refusal(session, both)
    days = {row[1] for row in session.execute("SELECT * FROM ad_network.reseller")}
    assert days == {"2013-01-01", "2013-11-01"}


def test_where_a_stream_says_percent_45_is_a_rate_and_101_is_none(server, session):
    server.run("stream", "create", "network", *NETWORK, "--rates-unit", "percent")
    assert "rates_unit      percent" in server.run("stream", "show", "network").out
    session.execute(RATE.format("ad_network.reseller", "2013-11-01", "45"))
    assert "from 0 to 100" in refusal(session, RATE.format("ad_network.reseller", "2013-11-01",
                                                          "101"))
    session.execute(INSERT.format(2, 1, 1, "2"))
    assert daybook.rows(report(server))[0]["rate"] == "0.45"
    agrees(server)


def test_rows_of_before_are_rolled_up_and_truncated_ones_are_gone(server, session):
    for day in range(1, 31):
        session.execute(INSERT.format(day, 1, 1, "0.5"))
    server.run("stream", "create", "network", *NETWORK)
    assert len(report(server).splitlines()) == 31
    agrees(server)
    session.execute("TRUNCATE ad_network.ad_click")
    session.execute(INSERT.format(3, 1, 1, "1.5"))
    cql.wait_for(lambda: report(server).splitlines()[1:] == ["r,2013-11-03,1,1.5,0.25,0.375"])
    agrees(server)
    session.execute("TRUNCATE ad_network.reseller")
    cql.wait_for(lambda: report(server).splitlines()[1:] == ["r,2013-11-03,1,1.5,,"])
    agrees(server)


def test_a_write_of_the_future_is_refused_as_the_stream_could_not_replace_it(server, session):
    def refused(*words):
        return server.run("stream", "create", "network", *words, status=2).err

    session.execute(INSERT.format(1, 1, 1, "0.5"))
    ahead = INSERT.format(1, 1, 1, "0.5") + " USING TIMESTAMP 9000000000000000"
    session.execute(ahead.replace("network.ad_click", "network.ahead"))
    words = [word.replace("ad_network.ad_click", "ad_network.ahead") for word in NETWORK]
    assert "ad_network.ahead has a write with the timestamp 9000000000000000" in refused(*words)
    session.execute("DELETE FROM ad_network.reseller USING TIMESTAMP 9000000000000000 "
                    "WHERE id = 'gone'")
    assert "ad_network.reseller has a write with the timestamp" in refused(*NETWORK)
    session.execute("TRUNCATE ad_network.reseller")
    server.run("stream", "create", "network", *NETWORK)
    agrees(server)


def test_kept_counters_follow_the_rows_and_refuse_clients(server, session):
    tables = ("ad_network.clicks_per_ad,ad_network.clicks_per_reseller,"
              "ad_network.clicks_per_day")
    server.run("stream", "create", "network", *NETWORK, "--counters", f"kept={tables}")
    for time in range(1, 7):
        session.execute(INSERT.format(1, time, time % 2, "0.5"))
        session.execute(INSERT.format(1, time, time % 2, "0.5"))
    session.execute("DELETE FROM ad_network.ad_click WHERE reseller_id = 'r' AND "
                    "day = '2013-11-01' AND time > 4")

    def counted(table):
        return sorted(row.clicks for row in session.execute(f"SELECT * FROM ad_network.{table}"))

    assert counted("clicks_per_ad") == [2, 2]
    assert counted("clicks_per_reseller") == counted("clicks_per_day") == [4]
    agrees(server)
    update = "UPDATE ad_network.clicks_per_ad SET clicks = clicks + 1 WHERE ad_id = 'ad1'"
    assert "kept by stream network" in cql.cqlsh(server, "-e", update, status=2)
    server.run("stream", "drop", "network")
    session.execute(update)
    server.run("stream", "create", "network", *NETWORK, "--counters", f"ignore={tables}")
    server.run("verify", "--repair", "--stream", "network")
    future = session.execute_async(update)
    future.result()
    assert "was ignored" in future.warnings[0]
    assert counted("clicks_per_ad") == [2, 2]
    agrees(server)


def test_a_report_is_the_same_after_a_kill(server):
    server.run("stream", "create", "network", *NETWORK)
    for round_ in range(3):
        with cql.connected(server) as session:
            for time in range(40):
                session.execute(
                    INSERT.format(1 + time % 20, 100 * round_ + time, time % 3, "0.005"))
        before = report(server)
        server.kill()
        assert daybook.run("report", "-d", server.directory, "--stream", "network", "--format",
                           "csv").out == before
        server = daybook.Server(server.directory, "--cql", "127.0.0.1:0")
        assert report(server) == before
        assert server.run("stream", "list").out == "clicks\nnetwork\n"
        agrees(server)
    server.stop()


def test_a_batch_with_conditions_cannot_delete_a_range_of_a_stream(server, session):
    server.run("stream", "create", "network", *NETWORK)
    cql.cqlsh(server, "-e", INSERT.format(1, 1, 1, "0.5"))
    for range_ in ("", " AND time > 0"):
        with pytest.raises(cassandra.InvalidRequest, match="which belongs to a stream"):
            session.execute("BEGIN BATCH " + INSERT.format(1, 2, 2, "0.5") + " IF NOT EXISTS; "
                            "DELETE FROM ad_network.ad_click WHERE reseller_id = 'r' "
                            f"AND day = '2013-11-01'{range_}; APPLY BATCH")
    assert session.execute("SELECT count(*) FROM ad_network.ad_click").one()[0] == 1


def test_a_chart_of_a_stream_has_the_streams_currency(server):
    server.run("stream", "create", "network", *NETWORK, "--currency", "USD")
    cql.cqlsh(server, "-e", INSERT.format(1, 1, 1, "0.5"))
    server.run("rollup", "--stream", "network")
    assert " USD" in server.run("report", "--stream", "network", "--format", "svg").out


def test_rates_are_loaded_in_the_order_of_their_table(server, tmp_path):
    server.run("stream", "create", "network", *NETWORK)
    rates = tmp_path / "rates.csv"
    rates.write_text("reseller_id,effective_since,reward_percent\n"
                     "r,2013-11-01,0.5\nr,2013-12-01,0.25\nq,2013-11-01,0.125\n")
    server.run("rate", "load", "--stream", "network", rates)
    listed = server.run("rate", "list", "--stream", "network", "--format", "csv").out
    for line in rates.read_text().splitlines()[1:]:
        assert line in listed


def test_the_rates_of_a_stream_end_with_their_parenthesis(server):
    words = [*NETWORK[:-1], NETWORK[-1] + "x"]
    assert "--rates takes" in server.run("stream", "create", "network", *words, status=2).err


def test_a_dropped_stream_leaves_its_tables_as_they_are(server):
    server.run("stream", "create", "network", *NETWORK)
    cql.cqlsh(server, "-e", INSERT.format(1, 1, 1, "0.5"))
    server.run("stream", "drop", "network")
    assert server.run("stream", "list").out == "clicks\n"
    server.run("report", "--stream", "network", status=2)
    assert "0.5" in cql.cqlsh(server, "-e", "SELECT * FROM ad_network.ad_click")
    cql.cqlsh(server, "-e", "DROP TABLE ad_network.ad_click")


def test_the_hotel_of_the_manual(serve):
    server = serve("--cql", "127.0.0.1:0")
    section = OPERATIONS.read_text().split("## Streams over your own tables")[1].split("\n## ")[0]
    blocks = dict(re.findall(r"```(\w+)\n(.*?)```", section, re.DOTALL))
    cql.cqlsh(server, stdin=blocks["cql"])
    answers = ""
    for command in blocks["sh"].replace("\\\n", " ").splitlines():
        words = command.replace("'", "").split()
        assert words.pop(0) == "daybook"
        answers += server.run(*words).out
    assert answers == blocks["text"]
    assert "all agree" in server.run("verify", "--stream", "hotel").out


def test_the_page_shows_the_stream_of_its_address(serve):
    server = serve("--cql", "127.0.0.1:0", "--http", "127.0.0.1:0")
    assert "<label>Stream" not in look(server, "/revenue")
    cql.cqlsh(server, stdin=SCHEMA + INSERT.format(28, 1385654400123, 1, 0.5) + ";")
    server.run("stream", "create", "network", *NETWORK, "--currency", "USD")
    stream = {"stream": "network"}
    text = look(server, "/revenue", **stream)
    assert "<option selected>network</option>" in text and "0.5\N{NO-BREAK SPACE}USD" in text
    assert "/why?day=2013-11-28&amp;stream=network" in text
    assert "No clicks yet" in look(server, "/revenue")
    figure = {"reseller": "r", "day": "2013-11-28", **stream}
    assert "The rate is 25" in look(server, "/why", **figure)
    text = look(server, "/why", rate="50%", **figure)
    assert "2013-11-28 changes the figures of 1 day with 1 click." in text
    status, headers, _ = post(server, "/why", **hidden_fields(text))
    assert (status, headers["Location"][-15:]) == (303, "&stream=network")
    text = look(server, headers["Location"])
    assert "<title>Why r earned 0.25\N{NO-BREAK SPACE}USD" in text
    assert "The clicks behind it" not in text
    status, _, text = ask(server, "/revenue", stream="<none>")
    assert status == 400 and "&lt;none&gt;" in text
