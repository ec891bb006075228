"""browser: Debian's chromium, driven by Playwright, and what must hold of every page it shows.

    with browser.started() as chromium:
        tab = browser.Tab(chromium, site, "/revenue", is_dark=True)
        assert tab.page.locator("h1").inner_text() == "Revenue"
        tab.close()

Chromium resolves no name, so a request that leaves the server cannot succeed; that none was tried
is checked by `close`. So is that no script failed and that nothing broke the content's policy.
"""

import contextlib
import os
import pathlib
import shutil
import sys
import tempfile
import threading
import time

import axe_playwright_python
import playwright.sync_api

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import daybook  # noqa: E402

PATIENCE_MS = daybook.PATIENCE * 1000
AXE = pathlib.Path(axe_playwright_python.__file__).parent / "axe.min.js"
FONTS = pathlib.Path(__file__).with_name("fonts.conf")
WIDE = {"width": 1280, "height": 900}
PHONE = {"width": 375, "height": 740}

# The address of each view, with the parameters that show most of it on the flights.
VIEWS = {
    "live": "/",
    "revenue": "/revenue",
    "why": "/why?reseller=AA&day=2013-12-30",
    "counters": "/counters",
    "ad": "/counters?ad=N324JB&from=2013-12-20",
    "rejects": "/rejects?last=20",
    "query": "/query?query=SELECT+*+FROM+amount_by_day+LIMIT+20",
    "describe": "/query?query=DESCRIBE+TABLE+ad_click",
    "wrong": "/query?query=SELECT+day,+clicks%0AFORM+amount_by_day",
    "status": "/status",
}


@contextlib.contextmanager
def started():
    """Chromium, until the block ends."""
    program = shutil.which("chromium")
    assert program, "chromium is missing; make deps-page installs it"
    with playwright.sync_api.sync_playwright() as driver:
        chromium = driver.chromium.launch(
            executable_path=program,
            args=["--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1", "--disable-gpu"],
            env={**os.environ, "FONTCONFIG_FILE": str(FONTS)})
        yield chromium
        chromium.close()


def load_flights(directory):
    """A directory of the flights with their rates, worked out."""
    flights = daybook.Input("flights")
    daybook.run("load", "-d", directory, "-", "--producer", "flights", stdin=flights.bytes)
    daybook.run("rate", "load", "-d", directory, flights.rates)
    daybook.run("rollup", "-d", directory)


class Site:
    """A server with an HTTP door, and what it says by other doors."""

    def __init__(self, directory, *options):
        self.server = daybook.Server(directory, "--http", "127.0.0.1:0", *options)
        self.origin = f"http://127.0.0.1:{self.server.port('http')}"

    def run(self, *words, **options):
        """A command on the directory: what it prints."""
        return self.server.run(*words, **options).out

    def send(self, *lines):
        """Send clicks, and wait until they are durable."""
        answers = self.server.client().send(*lines).finish().rest()
        assert answers and answers[-1].startswith("ok "), answers

    def stop(self):
        assert self.server.stop() == 0, self.server.text()


@contextlib.contextmanager
def flights_shown():
    """For programs that are no tests: chromium, and a server over the flights in a folder."""
    with tempfile.TemporaryDirectory() as place, started() as chromium:
        directory = pathlib.Path(place) / "data"
        load_flights(directory)
        site = Site(directory)
        yield chromium, site, place
        site.stop()


class Sender:
    """Sends clicks of now, some a second, while its block runs; counts those that are durable."""

    RESELLERS = ["AA", "B6", "DL"]

    def __init__(self, site, per_second):
        self.client = site.server.client()
        self.pause = 0.05
        self.lines = max(1, round(per_second * self.pause))
        self.accepted = 0
        self.ends = threading.Event()
        self.thread = threading.Thread(target=self._send)

    def _send(self):
        number = 0
        while not self.ends.wait(self.pause):
            now = int(time.time() * 1000)
            for _ in range(self.lines):
                number += 1
                reseller = self.RESELLERS[number % len(self.RESELLERS)]
                self.client.send(f"{reseller},,{now},ad{number % 20},0.01\n")
            self.client.send("#sync\n")
            self.accepted += int(self.client.line().split()[3])

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ends.set()
        self.thread.join()
        self.client.close()


class Tab:
    """A page in a context of its own, at an address of a site."""

    def __init__(self, chromium, site, path, is_dark=False, has_scripts=True, size=None, **options):
        self.site = site
        self.complaints = []
        self.refused_are_right = False
        self.context = chromium.new_context(
            viewport=size or WIDE, java_script_enabled=has_scripts, accept_downloads=True,
            color_scheme="dark" if is_dark else "light", reduced_motion="reduce", **options)
        self.context.set_default_timeout(PATIENCE_MS)
        self.page = self.context.new_page()
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda error: self.complaints.append(f"script: {error}"))
        self.page.on("request", self._asked)
        self.page.on("response", self._answered)
        self.page.goto(site.origin + path, wait_until="load")

    def _said(self, message):
        # A status of 400 or more is in the console, too; `_answered` sees it.
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.complaints.append(f"console: {message.text}")

    def _asked(self, request):
        if not request.url.startswith((self.site.origin + "/", "data:", "blob:")):
            self.complaints.append(f"a request to another place: {request.url}")

    def _answered(self, response):
        is_right = response.status < 400 or (self.refused_are_right and response.status < 500)
        if not is_right:
            self.complaints.append(f"{response.status}: {response.url}")

    def text(self, selector):
        """What a person reads there."""
        return self.page.locator(selector).first.inner_text()

    def table(self, caption):
        """The cells of the rows of a table, as a person reads them."""
        return self.page.evaluate("""caption => {
            const table = [...document.querySelectorAll("table")].find(
                table => table.caption && table.caption.innerText.startsWith(caption));
            return table && [...table.tBodies[0].rows].map(
                row => [...row.cells].map(cell => cell.innerText.trim()));
        }""", caption)

    def headline(self):
        """The figures at the top, by their names."""
        return dict(self.page.evaluate("""() => [...document.querySelectorAll(".headline div")].map(
            one => [...one.children].map(part => part.innerText.trim()))"""))

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)

    def focused(self):
        """What the focus is on: its text, or its name."""
        return self.page.evaluate("document.activeElement.innerText || document.activeElement.name")

    def wait(self, condition, what):
        """Ask `condition` until it holds."""
        deadline = time.monotonic() + daybook.PATIENCE
        while not condition():
            assert time.monotonic() < deadline, f"never came: {what}; {self.complaints}"
            self.page.wait_for_timeout(20)

    def axe_findings(self, only=""):
        """What axe-core finds serious or critical, as lines; by one rule only, if it is given."""
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(AXE.read_text())
        rules = {"runOnly": [only]} if only else {}
        found = self.page.evaluate("options => axe.run(options)",
                                   {"resultTypes": ["violations"], **rules})
        assert found["passes"], "axe-core looked at nothing"
        return [f"{rule['id']}: {node['html'][:200]}: {node['failureSummary']}"
                for rule in found["violations"] if rule["impact"] in ("serious", "critical")
                for node in rule["nodes"]]

    def height(self):
        """Of the whole page."""
        return self.page.evaluate("document.documentElement.scrollHeight")

    def is_too_wide(self):
        """Whether the page as a whole must be scrolled sideways."""
        return self.page.evaluate(
            "document.documentElement.scrollWidth > document.documentElement.clientWidth")

    def close(self):
        """Close it; nothing may have gone wrong in it."""
        self.context.close()
        assert not self.complaints, self.complaints
