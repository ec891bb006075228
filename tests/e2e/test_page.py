"""The page for people: whole without scripts, and with the figures of the command line."""

import datetime
import html
import html.parser
import http.client
import json
import random
import re

import pytest

import daybook
from test_api import ask, get, post

CLICKS = """AA,2013-11-28,1385654400123,ad1,1000.005
AA,2013-11-28,1385654400124,ad2,0.015
AA,2013-11-29,1385740800123,ad1,0.005
B<6,2013-11-28,1385654400123,ad1,0.25
"""


VOID = {"br", "meta", "link", "input"}


class Cells(html.parser.HTMLParser):
    """The tables of a page, by caption, as rows of texts; and its addresses.  Each element must be
    closed where it stands."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.addresses, self.open = {}, [], []
        self.caption = self.place = None
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.open += [tag] if tag not in VOID else []
        self.addresses += [value for name, value in attrs if name in ("href", "src", "action")]
        if tag == "caption":
            self.place, self.caption = "caption", ""
        elif tag == "tr":
            self.tables.setdefault(self.caption, []).append([])
        elif tag in ("th", "td"):
            self.place = "cell"
            self.tables[self.caption][-1].append("")

    def handle_startendtag(self, tag, attrs):
        """Within SVG."""

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        if tag in ("caption", "th", "td"):
            self.place = None

    def handle_data(self, data):
        if self.place == "caption":
            self.caption += data
        elif self.place == "cell":
            self.tables[self.caption][-1][-1] += data


def look(server, path, **parameters):
    """The text of a view."""
    status, headers, text = ask(server, path, **parameters)
    assert status == 200, text
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    policy = headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; style-src 'self'; script-src 'self';")
    assert "unsafe" not in policy and "style=" not in text and "<script>" not in text
    Cells(text)
    return text


@pytest.fixture(name="server")
def with_figures(serve):
    server = serve("--http", "127.0.0.1:0")
    server.run("rate", "set", "AA", "2013-11-01", "25%", "--note", "contract of March")
    assert server.client().send(CLICKS).finish().rest()[-1] == "ok - accepted 4 rejected 0"
    return server


def test_revenue_has_the_report_s_figures(server):
    page = Cells(look(server, "/revenue"))
    wanted = json.loads(server.run("report", "--total", "--format", "json").out)
    rows = page.tables["By day"][1:]
    assert [row[0] for row in rows] == [row["day"] for row in wanted]
    assert [row[2].replace(",", "") for row in rows] == [row["gross"] for row in wanted]
    assert [row[3].replace(",", "") for row in rows] == [row["amount"] for row in wanted]
    assert rows[1] == ["2013-11-28", "3", "1,000.270", "250.00500", "25.0\N{NO-BREAK SPACE}%",
                       "750.01500", "0.25"]
    assert [row[0] for row in page.tables["By reseller"][1:]] == ["AA", "B<6"]
    one = Cells(look(server, "/revenue", by="month", reseller="AA", **{"with": "B<6"}))
    assert one.tables["By month"][1] == ["2013-11", "3", "250.00625", "1", "no rate", "\N{EM DASH}"]
    days = "from=2013-11-01&to=2013-11-30&reseller=AA&with=B%3C6"
    assert f"/revenue?by=day&{days}" in one.addresses
    export = next(address for address in one.addresses if address.startswith("/api/report.csv"))
    assert ask(server, export)[2] == server.run(
        "report", "--by", "month", "-r", "AA", "-r", "B<6", "--format", "csv").out
    week = Cells(look(server, "/revenue", by="week", reseller="AA"))
    assert "/revenue?by=day&from=2013-11-25&to=2013-12-01&reseller=AA" in week.addresses
    assert 'name="from" value=""' in look(server, "/revenue")
    for period in ("hour", "minute"):
        assert look(server, "/revenue", by=period)


def test_why_explains_a_figure_down_to_its_clicks(server):
    server.run("rollup")
    server.run("rate", "set", "AA", "2013-11-20", "30%", "--note", "<b>late</b>")
    text = look(server, "/why", reseller="AA", day="2013-11-28")
    assert "<title>Why AA earned 300.00600 on 2013-11-28 · daybook</title>" in text
    assert "The rate is 30\N{NO-BREAK SPACE}%, in effect since 2013-11-20." in text
    assert "<q>&lt;b&gt;late&lt;/b&gt;</q>" in text
    assert "Before, it was 25\N{NO-BREAK SPACE}%, since 2013-11-01." in text
    page = Cells(text)
    ledger = json.loads(server.run("restatements", "--all", "--reseller", "AA", "--day",
                                   "2013-11-28", "--format", "json").out)
    told = page.tables["Restatements of this day"][1:]
    assert len(told) == len(ledger)
    assert told[-1][5].replace(",", "").split()[-1] == ledger[-1]["new_amount"]
    assert [row[1:3] for row in page.tables["The newest 2 of 2 clicks"][1:]] == \
        [["ad2", "0.015"], ["ad1", "1,000.005"]]
    all_clicks = next(address for address in page.addresses if address.startswith("/query?"))
    assert "1000.005" in look(server, all_clicks)
    assert "has no rate in effect" in look(server, "/why", reseller="B<6", day="2013-11-28")
    assert [row[0] for row in Cells(look(server, "/why", day="2013-11-28")).
            tables["Figures of 2013-11-28"][1:]] == ["AA", "B<6"]


def test_nobody_s_figures_are_not_those_of_an_empty_store(server):
    text = look(server, "/why", reseller="<nobody>")
    assert "<p>&lt;nobody&gt; has no clicks on 20" in text and "No clicks yet" not in text
    assert "No line was refused in these days" in look(server, "/rejects")


def test_a_number_of_rows_that_is_not_offered_stays_chosen(server):
    assert "<option selected>37</option>" in look(server, "/rejects", last="37")
    assert "<option selected>37</option>" in look(server, "/counters", top="37")
    assert look(server, "/rejects", last="100").count("selected") == 1


def test_more_refused_lines_than_a_page_has_are_said_to_be_there(server):
    server.client().send("x,bad\n" * 1100).finish().rest()
    text = look(server, "/rejects", last="1200")
    assert len(Cells(text).tables["Refused lines, the newest first"]) == 1 + 1000
    assert "These are the newest 1,000 of 1,100 lines." in text
    assert "export below has all of them" in text
    assert "export below" not in look(server, "/rejects", last="500")


def test_an_ad_that_nobody_clicked_is_said_to_be_none(server):
    note = 'there are no clicks of ad "AD1" in the days asked for'
    for by in ("day", "month", "ad", "total"):
        assert note in server.run("report", "--ad", "AD1", "--by", by).err
        assert "no clicks of ad" not in server.run("report", "--ad", "ad1", "--by", by).err
    assert note in get(server, "/api/report", ad="AD1")["notes"][0]
    assert "No click of an ad with this id was counted" in look(server, "/counters", ad="AD1")
    assert "The ad has no clicks in these days" in look(server, "/counters", ad="ad1",
                                                        **{"from": "2014-01-01"})


def test_an_ad_s_headline_has_more_days_than_its_table(serve):
    server = serve("--http", "127.0.0.1:0")
    first = datetime.date(2010, 1, 1)
    days = [(first + datetime.timedelta(days)).isoformat() for days in range(1001)]
    lines = "".join(f"AA,{day},{day}T12:00Z,ad1,0.5\n" for day in days)
    assert server.client().send(lines).finish().rest()[-1] == "ok - accepted 1001 rejected 0"
    text = look(server, "/counters", ad="ad1", **{"from": days[0]})
    assert "<dt>Clicks in these days</dt><dd>1,001</dd>" in text
    assert "<dt>Gross</dt><dd>500.5</dd>" in text
    assert "These are the first 1,000 of 1,001 rows." in text


def hidden_fields(text):
    """What the form of a preview posts."""
    return {name: html.unescape(value) for name, value in re.findall(
        r'type="hidden" name="(\w+)" value="([^"]*)"', text[text.index('method="post"'):])}


def test_a_rate_is_previewed_then_applied(server):
    figure = {"reseller": "AA", "day": "2013-11-28"}
    change = {**figure, "since": "2013-11-10", "rate": "40%", "note": "a & b"}
    text = look(server, "/why", token="0" * 32, **change)
    assert "40% since 2013-11-10 changes the figures of 2 days with 3 clicks." in text
    assert "400.01000" in text
    one = look(server, "/why", **{**change, "since": "2013-11-29"})
    assert "changes the figures of 1 day with 1 click." in one
    fields = hidden_fields(text)
    assert fields["expect"] == "0.25"
    assert post(server, "/why", **{**fields, "token": "0" * 32})[0] == 403
    assert len(server.run("rate", "list", "AA").out.splitlines()) == 2
    status, headers, _ = post(server, "/why", **fields)
    assert (status, headers["Location"]) == (303, "/why?reseller=AA&day=2013-11-28")
    assert "<title>Why AA earned 400.00800 on" in look(server, headers["Location"])
    assert "a &amp; b" in look(server, "/why", **figure)
    status, _, text = post(server, "/why", **fields)
    assert status == 409 and "is 40%, not" in text


def test_a_rate_is_deleted_after_a_preview(server):
    figure = {"reseller": "AA", "day": "2013-11-28"}
    assert "Delete the rate of 2013-11-01" in look(server, "/why", **figure)
    text = look(server, "/why", since="2013-11-01", delete="yes", note="wrong", **figure)
    assert "Deleting the rate of 2013-11-01 changes the figures of 2 days with 3 clicks." in text
    fields = hidden_fields(text)
    assert post(server, "/why", **{**fields, "token": "0" * 32})[0] == 403
    assert post(server, "/why", **{**fields, "expect": "0.3"})[0] == 409
    assert post(server, "/why", **fields)[0] == 303
    text = look(server, "/why", **figure)
    assert "AA has no rate in effect on 2013-11-28" in text and "Delete the rate" not in text
    assert "wrong" in server.run("rate", "list", "AA", "--history").out


def test_a_rate_of_all_is_deleted(server):
    server.run("rate", "set", "AA", "2013-11-01", "100%")
    text = look(server, "/why", reseller="AA", day="2013-11-28", since="2013-11-01", delete="yes")
    assert post(server, "/why", **hidden_fields(text))[0] == 303


def test_a_form_without_what_it_expects_changes_no_rate(server):
    fields = hidden_fields(look(server, "/why", reseller="AA", day="2013-11-28",
                                since="2013-11-01", rate="35%"))
    assert post(server, "/why", **{**fields, "expect": ""})[0] == 409


def test_who_set_a_rate_is_not_said_where_the_change_does_not_name_it(server, tmp_path):
    server.run("rate", "set", "zz", "2013-11-01", "40%", "--note", "the first one")
    figure = {"reseller": "zz", "day": "2013-11-28"}
    assert "with the note <q>the first one</q>" in look(server, "/why", **figure)
    file = tmp_path / "rates.csv"
    file.write_text("reseller_id,effective_since,reward_percent\n" +
                    "".join(f"r{number},2013-11-01,25%\n" for number in range(300)) +
                    "zz,2013-11-01,50%\n")
    server.run("rate", "load", file)
    text = look(server, "/why", **figure)
    assert "The rate is 50\N{NO-BREAK SPACE}%" in text and "with the note" not in text
    assert "rates of changes with many rates, perhaps of other resellers," in text


def test_a_rate_is_set_before_there_are_clicks(server):
    for reseller, day in (("AA", "2013-12-31"), ("new & fresh", "2014-01-01")):
        figure = {"reseller": reseller, "day": day}
        assert "has no clicks on " + day in look(server, "/why", **figure)
        text = look(server, "/why", **figure, rate="35%")
        assert "changes the figures of 0 days with 0 clicks" in text
        assert post(server, "/why", **hidden_fields(text))[0] == 303
        text = look(server, "/why", **figure)
        assert f"The rate is 35\N{NO-BREAK SPACE}%, in effect since {day}." in text
        assert Cells(text).tables["Changes of this reseller's rates, as they were made"]


def test_live_is_whole_without_scripts(serve):
    server = serve("--http", "127.0.0.1:0")
    text = look(server, "/")
    assert f"nc -N 127.0.0.1 {server.address[1]}" in text and "Refresh</a>" in text
    assert "no clicks of today" in text and '/assets/live.js"></script>' in text
    today = re.search(r'data-live="today.day" data-form="text">([0-9-]{10})<', text)[1]
    server.run("rate", "set", "A<A", today, "22.5%")
    lines = "".join(f"{'A<A' if number % 4 else 'B6'},{today},{today}T12:00Z,ad&{number % 2},5.5\n"
                    for number in range(4000))
    assert server.client().send(lines + "x,bad\n").finish().rest()[-1] == (
        "ok - accepted 4000 rejected 1")

    def page():
        found = Cells(look(server, "/"))
        return found if found.tables["Ads now"][1][0] == "ad&0" else None

    daybook.wait_until(page, "the next state")
    tables = page().tables
    assert tables["The resellers with the most clicks"][1:] == [
        ["A<A", "3,000", "16,500.0", "22.5\N{NO-BREAK SPACE}%", "3,712.5000"],
        ["B6", "1,000", "5,500.0", "\N{EM DASH}", "\N{EM DASH}"]]
    assert [row[::2] for row in tables["Resellers now"][1:]] == [["A<A", "3,000"], ["B6", "1,000"]]
    assert tables["Refused lines"][1:] == [["too_few_fields", "1"]]
    assert "No clicks yet" not in look(server, "/", by="reseller")


def test_amounts_that_stand_alone_have_the_currency(tmp_path, serve):
    daybook.run("init", "-d", tmp_path / "data", "--currency", "EUR")
    server = serve("--http", "127.0.0.1:0", directory=tmp_path / "data")
    server.client().send(CLICKS).finish().rest()
    assert "1,000.275\N{NO-BREAK SPACE}EUR" in look(server, "/revenue")
    server.run("rate", "set", "AA", "2013-11-01", "25%")
    text = look(server, "/why", reseller="AA", day="2013-11-28", rate="50%")
    assert "<title>Why AA earned 250.00500\N{NO-BREAK SPACE}EUR on 2013-11-28" in text
    assert "becomes <strong>500.01250\N{NO-BREAK SPACE}EUR</strong>" in text
    assert "1,000.020\N{NO-BREAK SPACE}EUR" in look(server, "/why", reseller="AA",
                                                     day="2013-11-28")


def test_the_last_days_are_shown_unless_some_are_chosen(serve):
    server = serve("--http", "127.0.0.1:0")
    today = datetime.datetime.now(datetime.timezone.utc).date()
    days = [str(today - datetime.timedelta(days)) for days in (0, 29, 30, 400)]
    for day, wanted in zip(days[::-1], (days[3:], days[2:3], days[1:3], days[:2])):
        assert server.client().send(f"AA,{day},{day}T12:00Z,ad1,1\n").finish().rest()[-1] == (
            "ok - accepted 1 rejected 0")
        assert wanted == [
            row[0] for row in Cells(look(server, "/revenue")).tables["By day"][1:]]
        assert f"Figures of {day}" in Cells(look(server, "/why")).tables
        assert f"on {day} · daybook" in look(server, "/why", reseller="AA")


def test_the_last_days_are_those_of_the_time_that_is_asked_for(server):
    server.run("rollup")
    now = datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None)
    then = now.isoformat(timespec="milliseconds") + "Z"
    server.client().send("AA,2014-03-05,2014-03-05T12:00Z,ad1,1\n").finish().rest()
    server.run("rollup")
    text = look(server, "/revenue", **{"as-of": then})
    assert [row[0] for row in Cells(text).tables["By day"][1:]] == ["2013-11-29", "2013-11-28"]
    assert f'type="text" name="as-of" value="{then}"' in text, "a field of days would drop it"


def test_the_first_week_of_an_ad_is_whole(serve):
    server = serve("--http", "127.0.0.1:0")
    last = datetime.date(2014, 3, 5)
    days = [(last - datetime.timedelta(days)).isoformat() for days in range(190)]
    server.client().send("".join(f"AA,{day},{day}T12:00Z,ad1,1\n" for day in days)).finish().rest()
    weeks = Cells(look(server, "/counters", ad="ad1", by="week")).tables["Over time"][1:]
    assert [row[1] for row in weeks] == ["3"] + ["7"] * (len(weeks) - 1)


def test_views_are_whole_whatever_is_asked(serve):
    server = serve("--http", "127.0.0.1:0")
    server.client().send("AA,9999-12-31,9999-12-31T23:59Z,ad1,1\n" + CLICKS).finish().rest()
    chosen = random.Random(29)
    views = ["/", "/revenue", "/why", "/counters", "/rejects", "/query", "/status"]
    names = ["by", "from", "to", "reseller", "with", "as-of", "day", "since", "rate", "note", "ad",
             "table", "top", "query", "page", "code", "token", "expect"]
    values = ["day", "week", "month", "hour", "9999-12-31", "0000-01-01", "2013-11-28", "AA",
              "<script>", "--help", "{}", "", "\n", "SELECT * FROM daybook.ad_click", "50%",
              "\u202e"]
    asked = [("/revenue", {"by": by}) for by in ("day", "week", "month", "hour")]
    asked += [(chosen.choice(views), {name: chosen.choice(values)
                                      for name in chosen.sample(names, chosen.randrange(6))})
              for _ in range(150)]
    for view, parameters in asked:
        status, headers, text = ask(server, view, **parameters)
        assert status in (200, 400, 403, 409), (view, parameters, text)
        assert headers["Content-Type"].startswith("text/html") and "<script>" not in text
        Cells(text)


def test_names_are_texts_whatever_they_are(serve):
    server = serve("--http", "127.0.0.1:0")
    names = ['"><script>alert(1)</script>', "&amp;'", "a b+c%2F?#", "R" * 300, "\u202e\u0627",
             "--from=2013", "{}{}"]
    quoted = "".join('"' + name.replace('"', '""') + '",2013-11-28,1385654400123,"<i>",0.005\n'
                     for name in names)
    assert server.client().send(quoted).finish().rest()[-1] == "ok - accepted 7 rejected 0"
    shown = Cells(look(server, "/revenue")).tables["By reseller"][1:]
    assert sorted(row[0] for row in shown) == sorted(names)
    links = [address for address in Cells(look(server, "/why")).addresses
             if address.startswith("/why?reseller=") and "day=2013-11-28" in address]
    assert len(links) == len(names)
    for link in links:
        assert [row[1:] for row in Cells(look(server, link)).tables[
            "The newest 1 of 1 clicks"][1:]] == [["<i>", "0.005"]]
    for name in names:
        server.run("rate", "set", "--note", "<n>", "--", name, "2013-11-01", "25%")
        text = look(server, "/revenue", reseller=name, **{"with": names[0]})
        assert "0.00125" in text
        assert "<q>&lt;n&gt;</q>" in look(server, "/why", reseller=name, rate="30%")


def test_what_a_command_refuses_is_said(server):
    status, headers, text = ask(server, "/revenue", **{"from": "2013-13-01"})
    assert status == 400 and headers["Content-Type"].startswith("text/html")
    assert 'role="alert"' in text and "2013-13-01" in text
    assert ask(server, "/revenue", **{"from": "<script>"})[2].count("<script>") == 0


def test_an_empty_store_says_how_to_send_a_click(serve):
    server = serve("--http", "127.0.0.1:0")
    for view in ("/revenue", "/revenue?by=month", "/why"):
        assert "No clicks yet" in look(server, view)
    text = look(server, "/revenue")
    assert f"nc -N 127.0.0.1 {server.address[1]}" in text
    assert f"http://127.0.0.1:{server.port('http')}/ingest" in text


def test_the_first_click_is_sent_by_ipv6_and_https_where_they_are(serve):
    server = serve("--http", "127.0.0.1:0", "--ingest", "[::1]:0", "--http-proxy", "127.0.0.1",
                   "--http-host", "clicks.example.com")
    headers = {"Host": "clicks.example.com", "X-Forwarded-Proto": "https"}
    text = ask(server, "/revenue", headers=headers)[2]
    assert f"nc -N ::1 {server.address[1]}<" in text
    assert " https://clicks.example.com/ingest<" in text


def test_everything_is_below_the_base_and_embedded(serve):
    server = serve("--http", "127.0.0.1:0", "--http-base", "/clicks", "--http-readonly")
    assert re.search(r"page=http://127\.0\.0\.1:\d+/clicks/ ", server.text())
    page = Cells(look(server, "/clicks/revenue"))
    assert all(address.startswith(("/clicks/", "#")) for address in page.addresses)
    assert "Preview" not in look(server, "/clicks/why", reseller="AA", day="2013-11-28")
    status, _, text = post(server, "/clicks/why", reseller="AA", since="2013-11-01", rate="1%")
    assert status == 403 and "nothing can be changed through this door" in text
    assets = [address for address in page.addresses if "/assets/" in address]
    assert assets
    for address in assets:
        status, headers, text = ask(server, address)
        assert status == 200 and text
        assert ask(server, address, headers={"If-None-Match": headers["ETag"]})[0] == 304


def test_assets_are_small(serve):
    """All that is embedded, as a browser loads it."""
    server = serve("--http", "127.0.0.1:0")
    names = {file.name for file in (daybook.ROOT / "query/web/page/assets").iterdir()}
    total = 0
    for name in names | {"dygraph.min.js"}:
        connection = http.client.HTTPConnection("127.0.0.1", server.port("http"))
        connection.request("GET", f"/assets/{name}", headers={"Accept-Encoding": "gzip"})
        answer = connection.getresponse()
        assert answer.status == 200 and answer.headers["Content-Encoding"] == "gzip"
        total += len(answer.read())
    assert total <= 80 << 10
