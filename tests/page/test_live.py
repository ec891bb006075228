"""What happens now, as it happens: the chart moves, and the figures are the durable ones."""

import json

import pytest

import browser

PATH = "#live-chart path.series"


def today(tab):
    return int(tab.text("[data-live='today.clicks']").replace(",", "") or 0)


def moves(tab):
    """The chart is drawn anew, with another line."""
    line = tab.page.locator(PATH).first.get_attribute("d")
    tab.wait(lambda: tab.page.locator(PATH).first.get_attribute("d") != line, "another line")


@pytest.mark.quick
def test_the_chart_moves_while_a_sender_streams(start, show):
    site = start()
    tab = show(site, "/")
    assert tab.page.locator("#live .empty").count() == 1
    with browser.Sender(site, 200) as sender:
        tab.wait(lambda: tab.text("#live-state") == "Live", "the stream")
        tab.wait(lambda: tab.page.locator(PATH).count(), "the chart")
        moves(tab)
        seen = today(tab)
        tab.wait(lambda: today(tab) > seen, "more clicks")
        moves(tab)
        tab.page.get_by_role("link", name="reseller").first.press("Enter")
        tab.wait(lambda: tab.page.locator(PATH).count() == len(sender.RESELLERS), "three lines")
        assert tab.page.locator("#live .empty").count() == 0
        assert tab.axe_findings() == []
    tab.wait(lambda: today(tab) == sender.accepted, "all clicks")
    rows = json.loads(site.run("report", "--format", "json"))
    assert sum(row["clicks"] for row in rows) == sender.accepted
    shown = tab.page.evaluate("""() => [...document.querySelectorAll("#live-today tbody tr")].map(
        row => [...row.cells].slice(0, 3).map(cell => cell.innerText))""")
    assert sorted(shown) == [[row["reseller_id"], f"{row['clicks']:,}", row["gross"]]
                             for row in rows]
    assert tab.page.evaluate("performance.getEntriesByType('navigation').length") == 1


def test_it_goes_on_when_the_reader_jumps_within_the_page(start, show):
    site = start()
    tab = show(site, "/")
    with browser.Sender(site, 50):
        tab.wait(lambda: tab.page.locator(PATH).count(), "the chart")
        tab.page.locator(".skip").press("Enter")
        moves(tab)
        tab.page.go_back()
        seen = today(tab)
        tab.wait(lambda: today(tab) > seen, "more clicks")


def test_a_lost_connection_is_said_and_comes_back(start, show):
    site = start()
    tab = show(site, "/")
    tab.wait(lambda: tab.text("#live-state") == "Live", "the stream")
    tab.context.set_offline(True)
    address = site.server.port("http")
    site.stop()
    tab.wait(lambda: "lost" in tab.text("#live-state"), "that it is lost")
    tab.context.set_offline(False)
    again = browser.Site(site.server.directory, "--http", f"127.0.0.1:{address}")
    tab.wait(lambda: tab.text("#live-state") == "Live", "the stream again")
    tab.close()
    again.stop()


def test_motion_is_left_out_for_those_who_ask(start, show):
    site = start()
    tab = show(site, "/")
    with browser.Sender(site, 50):
        tab.wait(lambda: tab.page.locator(PATH).count(), "the chart")
        assert tab.page.evaluate("document.getAnimations().length") == 0
        tab.page.emulate_media(reduced_motion="no-preference")
        tab.wait(lambda: tab.page.evaluate("document.getAnimations().length"), "motion")
