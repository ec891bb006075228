"""The figures of the page are those of the commands, digit for digit."""

import csv
import io
import json

import pytest


def plain(cells):
    return [cell.replace(",", "").replace("\N{MINUS SIGN}", "-") for cell in cells]


def report(site, *words):
    return json.loads(site.run("report", "--format", "json", *words))


@pytest.mark.quick
def test_revenue_is_the_report(flights, show):
    tab = show(flights, "/revenue?by=month")
    rows = report(flights, "--by", "month", "--total")
    assert len(rows) == 12
    assert [plain(row)[:4] for row in tab.table("By month")] == [
        [row["month"], str(row["clicks"]), row["gross"], row["amount"]] for row in rows]
    total = report(flights, "--by", "total")[0]
    shown = tab.headline()
    assert plain([shown["Clicks"], shown["Gross"]]) == [str(total["clicks"]), total["gross"]]
    assert shown["Share of all resellers"].replace(",", "").split()[0] == total["amount"]
    resellers = report(flights, "--by", "reseller")
    assert [plain(row)[:4] for row in tab.table("By reseller")] == [
        [row["reseller_id"], str(row["clicks"]), row["gross"], row["amount"]] for row in resellers]


def test_one_reseller_s_days_are_the_report(flights, show):
    tab = show(flights, "/revenue?reseller=UA&from=2013-01-01&to=2013-06-30")
    rows = report(flights, "--reseller", "UA", "--from", "2013-01-01", "--to", "2013-06-30")
    shown = [plain(row)[:4] for row in tab.table("By day")]
    assert shown == [[row["day"], str(row["clicks"]), row["gross"], row["amount"] or "—"]
                     for row in rows]
    assert len(shown) == 181


@pytest.mark.quick
def test_a_figure_is_explained_down_to_its_clicks(flights, show):
    tab = show(flights, "/why?reseller=AA&day=2013-12-30")
    row = report(flights, "--reseller", "AA", "--from", "2013-12-30", "--to", "2013-12-30")[0]
    assert row["amount"] in tab.text("h1")
    shown = {name.split(",")[0].split(" of ")[0]: value for name, value in tab.headline().items()}
    assert shown["Gross"] == row["gross"] and shown["= share"] == row["amount"]
    clicks = tab.table(f"The newest 50 of {row['clicks']} clicks")
    assert len(clicks) == 50
    listed = json.loads(flights.run("clicks", "list", "--reseller", "AA", "--from", "2013-12-30",
                                    "--to", "2013-12-30", "--format", "json"))
    assert [cells[1:] for cells in clicks] == [[one["ad_id"], one["amount"]]
                                               for one in listed[:50]]
    assert sum(float(one["amount"]) for one in listed) == pytest.approx(float(row["gross"]))


@pytest.mark.quick
def test_counters_are_those_of_the_command(flights, show):
    tab = show(flights, "/counters?top=20")
    top = json.loads(flights.run("counters", "clicks_per_ad", "--top", "20", "--format", "json"))
    assert [plain(row)[:2] for row in tab.table("Ads with the most")] == [
        [row["ad_id"], str(row["clicks"])] for row in top]
    assert tab.headline() == {"Clicks": "334,264", "Ads": "4,043", "Resellers": "16"}


def test_an_ad_s_history_is_the_report(flights, show):
    tab = show(flights, "/counters")
    tab.page.get_by_role("textbox", name="Ad").fill("N324JB")
    tab.press("Enter")
    tab.wait(lambda: tab.text("h1") == "Ad N324JB", "the ad")
    rows = report(flights, "--ad", "N324JB", "--by", "day", "--total", "--from", "2013-12-01")
    assert [plain(row)[:4] for row in tab.table("Over time")] == [
        [row["day"], str(row["clicks"]), row["gross"], row["amount"]] for row in rows]
    shown = tab.headline()
    assert shown["Clicks of all days"] == "370"
    assert shown["Clicks in these days"] == str(sum(row["clicks"] for row in rows))


def test_rejects_are_those_of_the_command(flights, show):
    tab = show(flights, "/rejects?last=20")
    rows = json.loads(flights.run("rejects", "list", "--last", "20", "--format", "json"))
    assert [row[2] for row in tab.table("Refused lines")] == [row["content"] for row in rows]
    assert tab.table("Reasons") == [["empty_id", "20", "an id is empty"]]


def test_status_is_that_of_the_command(flights, show):
    tab = show(flights, "/status")
    tables = json.loads(flights.run("inspect", "--format", "json"))
    assert [plain(row)[:4] for row in tab.table("Tables")] == [
        [row["table"], str(row["rows"]), str(row["rows_in_memory"]), str(row["segments"])]
        for row in tables]
    assert tab.text(".well") == "All is well."


def test_what_is_exported_is_what_is_shown(flights, show):
    tab = show(flights, "/revenue?from=2013-12-01&to=2013-12-31&reseller=AA")
    for name, words in (("CSV", ["--format", "csv"]), ("JSON", ["--format", "json"])):
        address = tab.page.locator(".export a", has_text=name).first.get_attribute("href")
        text = tab.page.request.get(flights.origin + address).text()
        said = flights.run("report", "--reseller", "AA", "--from", "2013-12-01", "--to",
                           "2013-12-31", *words)
        if name == "CSV":
            assert text == said
            rows = list(csv.DictReader(io.StringIO(text)))
            assert [row["day"] for row in rows] == [row[0] for row in tab.table("By day")]
        else:
            assert json.loads(text)["rows"] == json.loads(said)
