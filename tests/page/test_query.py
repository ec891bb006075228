"""The box for CQL: rows, pages of rows, errors at their place, and statements that change."""

import json

import pytest


def run(tab, statement, button="Run"):
    """Type a statement and run it, by the keyboard."""
    box = tab.page.get_by_label("Statement")
    box.fill(statement)
    tab.page.get_by_role("button", name=button, exact=True).press("Enter")


@pytest.mark.quick
def test_a_statement_s_rows_are_a_grid(flights, show):
    tab = show(flights, "/query")
    run(tab, "SELECT day, clicks, gross FROM amount_by_day WHERE reseller_id = 'AA' LIMIT 3")
    tab.wait(lambda: tab.table("3 rows"), "the rows")
    rows = json.loads(flights.run("report", "--reseller", "AA", "--format", "json"))[:3]
    assert tab.table("3 rows") == [[row["day"], str(row["clicks"]), row["gross"]] for row in rows]
    assert "query=SELECT+day" in tab.page.url
    tab.page.reload()
    assert tab.table("3 rows")


def test_rows_come_page_by_page(flights, show):
    tab = show(flights, "/query?query=SELECT+ad_id+FROM+clicks_per_ad+LIMIT+50&limit=20")
    seen = tab.table("20 rows")
    for count in (20, 10):
        tab.page.get_by_text("The next rows").click()
        tab.wait(lambda: (tab.table(f"{count} rows") or seen[:20])[0] not in seen, "the next page")
        seen += tab.table(f"{count} rows")
    assert len(seen) == len({row[0] for row in seen}) == 50
    assert tab.page.get_by_text("The next rows").count() == 0


@pytest.mark.quick
@pytest.mark.parametrize("statement, marked", [
    ("SELECT day\nFORM amount_by_day", "FORM"),
    ("SELECT day, klicks FROM amount_by_day", "klicks"),
    ("SELECT * FROM daybook.nothing", "nothing"),
    ("SELECT day, 'ä' y z FROM amount_by_day", "y"),
])
def test_an_error_points_at_its_place(flights, show, statement, marked):
    tab = show(flights, "/query")
    tab.refused_are_right = True
    run(tab, statement)
    tab.wait(lambda: tab.page.locator("[role=alert]").count(), "the error")
    assert tab.text("mark") == marked
    assert tab.text(".place").strip() == statement
    assert tab.axe_findings() == []


def test_an_address_reads_and_the_other_button_changes(start, show):
    site = start()
    tab = show(site, "/query")
    tab.refused_are_right = True
    insert = ("INSERT INTO reseller (id, effective_since, reward_percent) "
              "VALUES ('AA', '2013-11-01', 0.25)")
    run(tab, insert)
    tab.wait(lambda: tab.page.locator("[role=alert]").count(), "the refusal")
    assert "Run and change" in tab.text("[role=alert]")
    assert site.run("rate", "list", "--format", "csv").count("AA") == 0
    run(tab, insert, "Run and change")
    tab.wait(lambda: tab.page.locator("[role=status]").count(), "the answer")
    assert "AA,2013-11-01,25%" in site.run("rate", "list", "--format", "csv") or (
        "AA,2013-11-01,0.25" in site.run("rate", "list", "--format", "csv"))
    assert "token" not in tab.page.url


def test_nothing_changes_through_a_door_that_only_reads(start, show):
    tab = show(start("--http-readonly"), "/query")
    assert tab.page.get_by_role("button").all_inner_texts() == ["Run", "As JSON"]


def test_rows_as_json(flights, show):
    tab = show(flights, "/query", has_scripts=False)
    run(tab, "SELECT clicks FROM clicks_per_reseller WHERE reseller_id = 'AA'", "As JSON")
    tab.page.wait_for_url("**/api/cql")
    assert json.loads(tab.text("body"))["rows"] == [[32645]]


def test_a_statement_runs_without_scripts(flights, show):
    tab = show(flights, "/query", has_scripts=False)
    run(tab, "SELECT clicks FROM clicks_per_reseller WHERE reseller_id = 'AA'")
    tab.page.wait_for_url("**query=SELECT**")
    assert tab.table("1 row") == [["32645"]]


def test_control_and_enter_run_a_statement(flights, show):
    tab = show(flights, "/query")
    tab.page.get_by_label("Statement").fill("SELECT release_version FROM system.local")
    tab.press("Control+Enter")
    tab.wait(lambda: tab.table("1 row"), "the row")
    assert tab.page.evaluate("document.activeElement.id") == "query", "one goes on typing there"
