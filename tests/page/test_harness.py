"""The tests of the page find what they are to find."""

import json

import playwright.sync_api
import pytest


@pytest.mark.quick
def test_chromium_shows_what_the_server_says(flights, show):
    tab = show(flights, "/api/report?by=total")
    row = json.loads(tab.text("body"))["rows"][0]
    assert row["clicks"] == 334264


def test_what_goes_wrong_in_a_page_is_found(flights, show):
    tab = show(flights, "/metrics")
    tab.page.evaluate("fetch('http://example.com/x').catch(() => 0)")     # against the policy
    tab.page.evaluate("setTimeout(() => { throw new Error('worse'); })")
    tab.wait(lambda: "worse" in str(tab.complaints), "the error of the script")
    tab.page.goto(flights.origin + "/nothing/here")
    with pytest.raises(playwright.sync_api.Error, match="ERR_NAME_NOT_RESOLVED"):
        tab.page.goto("http://example.com/")
    found = {complaint.split(":")[0] for complaint in tab.complaints}
    assert found == {"404", "a request to another place", "console", "script"}
    tab.complaints.clear()


def test_axe_finds_what_is_serious(flights, show):
    tab = show(flights, "/metrics")
    tab.page.evaluate("document.body.append(document.createElement('img'))")
    assert "image-alt" in [line.split(":")[0] for line in tab.axe_findings()]
