"""A rate is changed on the page: previewed, applied, and seen everywhere without a reload."""

import json

import pytest

WHY = "/why?reseller=AA&day=2013-12-30"


def amounts(site):
    return {row["day"]: row["amount"] for row in json.loads(
        site.run("report", "--reseller", "AA", "--from", "2013-12-01", "--format", "json"))}


def preview(tab, rate):
    tab.page.get_by_label("Rate", exact=True).fill(rate)
    tab.page.get_by_label("In effect since").fill("2013-12-01")
    tab.page.get_by_label("Note").fill("agreed late")
    tab.page.get_by_role("button", name="Preview").press("Enter")
    tab.wait(lambda: tab.page.get_by_text("Preview:").count(), "the preview")


@pytest.mark.quick
def test_a_rate_is_previewed_and_applied_without_a_reload(start, show, flights_directory):
    site = start(copy_of=flights_directory)
    before = amounts(site)
    tab = show(site, WHY)
    tab.page.evaluate("window.stays = true")
    old_heights = tab.page.locator(".bar rect").evaluate_all("all => all.map(r => r.outerHTML)")
    restatements = len(tab.table("Restatements"))
    preview(tab, "50%")
    assert amounts(site) == before
    said = json.loads(site.run("rate", "set", "AA", "2013-12-01", "50%", "--dry-run", "--format",
                               "json"))
    text = tab.text("section:has(h3)")
    assert f"{said['days']} days" in text and f"{said['clicks']:,} clicks" in text
    assert said["new_amount"] in text.replace(",", "")
    assert tab.axe_findings() == []
    tab.page.get_by_role("button", name="Apply").press("Enter")
    tab.wait(lambda: len(tab.table("Restatements") or []) == restatements + 1, "the restatement")
    after = amounts(site)
    assert after != before and after["2013-12-30"] in tab.text("h1")
    new_heights = tab.page.locator(".bar rect").evaluate_all("all => all.map(r => r.outerHTML)")
    assert new_heights != old_heights
    assert "agreed late" in tab.table("Restatements")[-1][-1]
    assert tab.page.evaluate("window.stays") is True


def test_a_rate_is_changed_without_scripts(start, show, flights_directory):
    site = start(copy_of=flights_directory)
    tab = show(site, WHY, has_scripts=False)
    preview(tab, "50%")
    tab.page.get_by_role("button", name="Apply").click()
    tab.page.wait_for_load_state()
    assert amounts(site)["2013-12-30"] in tab.text("h1")


def test_a_preview_that_holds_no_more_is_not_applied(start, show, flights_directory):
    site = start(copy_of=flights_directory)
    tab = show(site, WHY)
    tab.refused_are_right = True
    preview(tab, "50%")
    site.run("rate", "set", "AA", "2013-12-01", "45%")
    set_by_other = amounts(site)
    tab.page.get_by_role("button", name="Apply").click()
    tab.wait(lambda: tab.page.locator("[role=alert]").count(), "the refusal")
    assert amounts(site) == set_by_other


def test_a_rate_that_is_none_is_refused_with_its_reason(flights, show):
    tab = show(flights, WHY)
    tab.refused_are_right = True
    tab.page.get_by_label("Rate", exact=True).fill("25")
    tab.page.get_by_role("button", name="Preview").click()
    tab.wait(lambda: tab.page.locator("[role=alert]").count(), "the refusal")
    assert "25%" in tab.text("[role=alert]")


def test_nothing_is_offered_where_nothing_may_change(start, show, flights_directory):
    tab = show(start("--http-readonly", copy_of=flights_directory), WHY)
    assert tab.page.get_by_label("Rate", exact=True).count() == 0


def test_a_server_that_is_gone_is_said(start, show, flights_directory):
    site = start(copy_of=flights_directory)
    tab = show(site, WHY)
    preview(tab, "50%")
    tab.context.set_offline(True)
    tab.page.get_by_role("button", name="Apply").click()
    tab.wait(lambda: tab.page.locator("[role=alert]").count(), "that the server did not answer")
    assert "Load the page again" in tab.text("[role=alert]")
