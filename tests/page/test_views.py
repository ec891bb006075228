"""Each view, as it looks: on a phone, in the dark, to a screen reader, without scripts."""

import re

import pytest

import browser

SHOWN = sorted(set(browser.VIEWS) - {"wrong", "describe"})
NAMES = ["Live", "Revenue", "Why", "Counters", "Rejects", "Query", "Status"]


def text_of(tab):
    """All that a person reads, but for what only scripts can do."""
    return tab.page.evaluate("""() => {
        document.querySelectorAll("main button[type=button]").forEach(one => one.remove());
        return document.querySelector("main").innerText.split(/\\s+/).join(" ");
    }""")


@pytest.mark.quick
@pytest.mark.parametrize("view", SHOWN)
def test_a_view_is_for_everybody(flights, show, view):
    """Axe-core finds nothing serious, light or dark; it fits a phone and a sheet of paper."""
    tab = show(flights, browser.VIEWS[view])
    assert tab.axe_findings() == []
    assert tab.page.locator("h1").count() == 1
    assert tab.page.locator("main svg[role=img]").count() <= tab.page.locator("main table").count()
    tab.page.emulate_media(color_scheme="dark")
    assert tab.axe_findings("color-contrast") == []
    shade = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)"
    assert max(tab.page.evaluate(shade)) < 80
    tab.page.emulate_media(media="print", color_scheme="light")
    assert not tab.page.locator("nav").is_visible() and tab.page.locator("h1").is_visible()
    tab.page.emulate_media(media="screen")
    tab.page.set_viewport_size(browser.PHONE)
    assert not tab.is_too_wide()
    assert tab.axe_findings("target-size") == []


@pytest.mark.parametrize("view", SHOWN)
def test_a_view_is_whole_without_scripts(flights, show, view):
    plain = show(flights, browser.VIEWS[view], has_scripts=False)
    scripted = show(flights, browser.VIEWS[view])
    if view not in ("live", "status"):
        assert text_of(plain) == text_of(scripted)
    assert plain.page.locator("main table, main textarea").count() > 0
    names = plain.page.locator("nav li").all_inner_texts()
    assert names == [name for name in NAMES if name in names] and len(names) >= 6


def test_every_view_is_reached_by_the_keyboard(flights, show):
    tab = show(flights, "/revenue")
    tab.press("Tab")
    assert tab.focused() == "Skip to the content"
    reached = []
    for _ in range(9):
        tab.press("Tab")
        reached.append(tab.focused())
    names = tab.page.locator("nav li").all_inner_texts()
    assert [name for name in reached if name in names] == names
    assert tab.page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
    tab.page.keyboard.press("Shift+Tab")
    tab.page.locator("nav a", has_text="Status").focus()
    tab.press("Enter")
    tab.wait(lambda: tab.text("h1") == "Status", "the view")


def test_an_empty_store_says_how_to_send_the_first_click(start, show):
    site = start()
    for path in ("/revenue", "/counters"):
        tab = show(site, path)
        assert f"nc -N 127.0.0.1 {site.server.address[1]}" in tab.text(".empty")
        assert tab.axe_findings() == []
    assert "No line was refused" in show(site, "/rejects").text(".empty")
    assert show(site, "/status").text(".well") == "All is well."


def test_a_chart_is_zoomed_and_the_period_taken_over(flights, show):
    tab = show(flights, "/revenue?by=month")
    tab.page.get_by_role("button", name="Zoom").first.press("Enter")
    tab.wait(lambda: tab.page.locator(".zoomed canvas").count(), "the chart")
    assert tab.axe_findings() == []
    tab.page.locator(".zoomed").first.focus()
    for _ in range(5):
        tab.press("+")
    tab.page.get_by_role("button", name="Show only this period").press("Enter")
    tab.wait(lambda: "from=2013-0" in tab.page.url, "the period in the address")
    assert 0 < len(tab.table("By month")) < 12
    days = tab.page.url
    shown = tab.table("By month")
    assert f"from={shown[-1][0]}-01" in days
    assert re.search(f"to={shown[0][0]}-(28|3[01])", days), "the last month is whole"
    tab.page.go_back()
    tab.wait(lambda: len(tab.table("By month") or []) == 12, "the year again")


def test_a_form_that_was_sent_keeps_the_focus(flights, show):
    tab = show(flights, "/revenue")
    tab.page.locator("select[name=by]").select_option("month")
    tab.page.get_by_role("button", name="Show", exact=True).press("Enter")
    tab.wait(lambda: tab.table("By month"), "the months")
    assert tab.page.evaluate("document.activeElement.textContent") == "Show"
