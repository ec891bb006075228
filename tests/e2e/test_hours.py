"""Minutes, hours and weeks: they add up to the days, however the clicks came."""

import collections
import datetime
import decimal
import re
import zoneinfo

import cql
import daybook

HOUR = datetime.timedelta(hours=1)


def report(directory, *words):
    return daybook.rows(daybook.run("report", "-d", directory, "--format", "csv", *words).out)


def sums(rows, *keys):
    """Clicks, gross and amount by the keys; empty amounts count as nothing."""
    found = collections.defaultdict(lambda: [0, decimal.Decimal(), decimal.Decimal()])
    for row in rows:
        to = found[tuple(row[key] for key in keys)]
        to[0] += int(row["clicks"])
        to[1] += decimal.Decimal(row["gross"])
        to[2] += decimal.Decimal(row["amount"] or 0)
    return dict(found)


def assert_adds_up(directory, *words):
    """The hours and minutes of each day are its figure, to the digit."""
    days = sums(report(directory, *words), "reseller_id", "day")
    assert days
    for by in ("hour", "minute"):
        rows = report(directory, "--by", by, *words)
        assert sums(rows, "reseller_id", "day") == days, by
        places = [(row["reseller_id"], row["day"], row["at"]) for row in rows]
        assert len(set(places)) == len(places)


def test_hours_and_minutes_of_a_year_add_up_to_its_days(flights_directory, flights):
    assert_adds_up(flights_directory, "--reseller", "VX", "--reseller", "HA")
    hours = collections.Counter(
        (row[0], row[1], int(row[2]) // 3_600_000)
        for row in (line.split(",") for line in flights.good) if row[0] == "VX")
    rows = report(flights_directory, "--by", "hour", "--reseller", "VX")
    found = {(row["reseller_id"], row["day"],
              int(datetime.datetime.fromisoformat(row["at"]).timestamp()) // 3600):
             int(row["clicks"]) for row in rows}
    assert found == hours
    assert [row["at"] for row in rows] == sorted((row["at"] for row in rows), reverse=True)


def test_weeks_are_those_of_the_iso(flights_directory):
    expected = collections.Counter()
    for row in report(flights_directory):
        year, week, _ = datetime.date.fromisoformat(row["day"]).isocalendar()
        expected[row["reseller_id"], f"{year}-W{week:02}"] += int(row["clicks"])
    rows = report(flights_directory, "--by", "week")
    assert {(row["reseller_id"], row["week"]): int(row["clicks"]) for row in rows} == expected
    assert sums(rows) == sums(report(flights_directory))


def test_totals_are_the_sums_of_all_resellers(flights_directory):
    for by, *keys in (("hour", "day", "at"), ("day", "day"), ("week", "week"), ("month", "month")):
        words = ("--by", by, "--from", "2013-11-20")
        rows = report(flights_directory, "--total", *words)
        assert sums(rows, *keys) == sums(report(flights_directory, *words), *keys), by
        places = [tuple(datetime.datetime.fromisoformat(row[key]) if key == "at" else row[key]
                        for key in keys) for row in rows]
        assert places == sorted(set(places), reverse=True)


def lines_of(day, zone, minutes=20):
    """A click every so many minutes of a day by the clock, whose day follows from its time."""
    zone = zoneinfo.ZoneInfo(zone)
    at = datetime.datetime.combine(day, datetime.time(), zone).astimezone(datetime.timezone.utc)
    end = datetime.datetime.combine(day + datetime.timedelta(1), datetime.time(), zone)
    while at < end:
        yield f"r,,{at:%Y-%m-%dT%H:%M:%SZ},ad,0.01\n"
        at += datetime.timedelta(minutes=minutes)


def test_a_day_has_the_hours_of_its_clock(directory):
    zone = "Europe/Berlin"
    days = {datetime.date(2013, 3, 31): 23, datetime.date(2013, 10, 27): 25,
            datetime.date(2013, 11, 28): 24}
    daybook.run("init", "-d", directory, "--zone", zone)
    text = "".join(line for day in days for line in lines_of(day, zone))
    daybook.run("load", "-d", directory, "-", "--producer", "p", stdin=text.encode())
    rows = report(directory, "--by", "hour")
    for day, count in days.items():
        found = [row["at"] for row in rows if row["day"] == str(day)]
        assert len(found) == count
        times = [datetime.datetime.fromisoformat(at) for at in reversed(found)]
        assert [one + HOUR for one in times[:-1]] == times[1:]
        assert {time.astimezone(zoneinfo.ZoneInfo(zone)).date() for time in times} == {day}
    assert {row["clicks"] for row in rows} == {"3"}
    assert "2013-10-27T02:00+02:00" in str(rows) and "2013-10-27T02:00+01:00" in str(rows)
    assert_adds_up(directory)


def test_late_void_repeated_and_given_days(serve):
    server = serve()
    batch = ["r,2013-11-28,2013-11-28T23:59:59.999Z,a,0.5\n",
             "r,2013-11-28,2013-11-29T00:00:00Z,a,0.25\n",
             "r,2013-11-29,2013-11-28T23:30:00Z,b,1\n",
             "r,,2013-11-28T10:00:00Z,b,1\n"]
    late = ["r,2013-11-28,2013-11-28T10:00:00Z,b,0.125\n"]
    producer = daybook.Producer([batch, late])
    producer.send_all(server.address)
    producer.connect(server.address)
    producer.send(1)
    assert "duplicate" in producer.answer()
    producer.client.close()

    def hours():
        return [(row["day"], row["at"], row["clicks"], row["gross"])
                for row in report(server.directory, "--by", "hour")]

    assert hours() == [("2013-11-29", "2013-11-28T23:00Z", "1", "1"),
                       ("2013-11-28", "2013-11-29T00:00Z", "1", "0.25"),
                       ("2013-11-28", "2013-11-28T23:00Z", "1", "0.5"),
                       ("2013-11-28", "2013-11-28T10:00Z", "2", "1.125")]
    assert_adds_up(server.directory)
    server.run("clicks", "void", "--reseller", "r", "--from", "2013-11-28", "--to", "2013-11-28",
               "--ad", "a")
    assert hours() == [("2013-11-29", "2013-11-28T23:00Z", "1", "1"),
                       ("2013-11-28", "2013-11-28T10:00Z", "2", "1.125")]
    server.run("rate", "set", "r", "2013-11-28", "20%")
    assert_adds_up(server.directory)
    server.kill()
    server = serve()
    assert_adds_up(server.directory)


def test_cql_has_the_same_hours_and_minutes(serve, flights_copy):
    server = serve("--cql", "127.0.0.1:0", directory=flights_copy)

    def hours_of(rows):
        return [(row.reseller_id, row.day, row.at, row.clicks, row.gross) for row in rows]

    with cql.connected(server, "daybook") as session:
        session.default_fetch_size = 777
        wanted = [(row["reseller_id"], row["day"], datetime.datetime.fromisoformat(row["at"])
                   .replace(tzinfo=None), int(row["clicks"]), decimal.Decimal(row["gross"]))
                  for row in report(server.directory, "--by", "hour", "-r", "VX", "-r", "HA")]
        found = hours_of(session.execute("SELECT * FROM clicks_by_hour "
                                         f"WHERE token(reseller_id, day) > {3 << 61}"))
        found = [row for row in found if row[0] in ("VX", "HA")]
        days = {row[:2] for row in found}
        assert len(days) > 50
        assert sorted(found) == sorted(row for row in wanted if row[:2] in days)
        minutes = session.execute("SELECT sum(clicks), sum(gross) FROM clicks_by_minute "
                                  "WHERE reseller_id = 'VX' AND day = '2013-11-28'").one()
        assert minutes == session.execute(
            "SELECT sum(clicks), sum(gross) FROM clicks_by_hour "
            "WHERE reseller_id = 'VX' AND day = '2013-11-28'").one()
        select = session.prepare("SELECT * FROM clicks_by_hour WHERE reseller_id = ? AND day IN ? "
                                 "AND at >= ? ORDER BY at DESC")
        since = datetime.datetime(2013, 11, 28, 12)
        found = hours_of(session.execute(select, ("VX", ["2013-11-28", "2013-11-29"], since)))
        wanted = [row for row in wanted if row[0] == "VX"
                  and row[1] in ("2013-11-28", "2013-11-29") and row[2] >= since]
        assert found and found == sorted(wanted, key=lambda row: row[2], reverse=True)


def test_grafana_draws_what_the_document_shows(serve, flights_copy):
    server = serve("--cql", "127.0.0.1:0", directory=flights_copy)
    document = (daybook.ROOT / "docs" / "CQL.md").read_text()
    hours, days = re.findall(r"```cql\n(SELECT reseller_id, CAST.*?)```", document, re.DOTALL)

    def drawn(session, query, since, until):
        for name, at in (("from", since), ("to", until)):
            query = query.replace(f"${{__{name}:date:YYYY-MM-DD}}", f"{at:%Y-%m-%d}")
            query = query.replace(f"$__time{name.title()}", str(int(at.timestamp() * 1000)))
        assert "$" not in query
        return [tuple(row) for row in session.execute(query.replace("supaboobs", "VX"))]

    begin = datetime.datetime(2013, 11, 28, 6, tzinfo=datetime.timezone.utc)
    with cql.connected(server, "daybook") as session:
        for end in (begin + 12 * HOUR, begin + 24 * HOUR):
            wanted = [("VX", float(row["clicks"]), datetime.datetime.fromisoformat(row["at"])
                       .replace(tzinfo=None)) for row in report(
                           server.directory, "--by", "hour", "--reseller", "VX")
                      if begin <= datetime.datetime.fromisoformat(row["at"]) < end]
            found = drawn(session, hours, begin, end)
            assert found and sorted(found) == sorted(wanted)
        found = drawn(session, days, begin, begin + 72 * HOUR)
        wanted = [("VX", float(row["amount"]), datetime.date.fromisoformat(row["day"]))
                  for row in report(server.directory, "--reseller", "VX", "--from", "2013-11-28",
                                    "--to", "2013-12-01")]
        assert len(found) == 4
        assert [(row[0], row[1], row[2].date()) for row in found] == wanted


def test_expired_clicks_have_no_hours_and_a_note_says_so(directory):
    daybook.run("load", "-d", directory, "-", "--producer", "p",
                stdin=b"r,2013-11-28,2013-11-28T10:00:00Z,a,1\n")
    daybook.run("retention", "-d", directory, "set", "30")
    daybook.run("rollup", "-d", directory)
    answer = daybook.run("report", "-d", directory, "--by", "hour", "--format", "csv")
    assert answer.out == "reseller_id,day,at,clicks,gross,rate,amount\n"
    assert "clicks of these days that are left out: 1 expired, 0 without a time" in answer.err


def test_a_stream_may_have_times_in_any_order_and_none(serve):
    server = serve("--cql", "127.0.0.1:0")
    cql.cqlsh(server, stdin="""
        CREATE KEYSPACE h WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
        CREATE TABLE h.nights (agent text, night text, room text, booked timestamp, price double,
            PRIMARY KEY ((agent, night), room));
        CREATE TABLE h.rates (agent text, since text, share decimal, PRIMARY KEY (agent, since));
        """)
    server.run("stream", "create", "hotel", "--table", "h.nights", "--reseller", "agent", "--day",
               "night", "--time", "booked", "--ad", "room", "--amount", "price", "--rates",
               "h.rates(agent,since,share)")
    insert = "INSERT INTO h.nights (agent, night, room, booked, price) VALUES ('g', '2014-05-01', "
    cql.cqlsh(server, stdin=f"""
        {insert} '1', '2014-03-01 10:30:00+0000', 1.5);
        {insert} '2', '2014-02-01 10:30:00+0000', 2);
        {insert} '3', null, 3);
        {insert} '4', '2014-03-01 10:00:00+0000', 4);
        {insert} '5', '2014-02-01 10:59:00+0000', null);
        """)
    answer = server.run("report", "--stream", "hotel", "--by", "hour", "--format", "csv")
    assert answer.out == ("reseller_id,day,at,clicks,gross,rate,amount\n"
                          "g,2014-05-01,2014-03-01T10:00Z,2,5.5,,\n"
                          "g,2014-05-01,2014-02-01T10:00Z,2,2,,\n")
    assert "clicks of these days that are left out: 0 expired, 1 without a time" in answer.err
