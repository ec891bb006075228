#!/usr/bin/env python3
"""The pictures of README.md: clicks as they come, the flights' year, and a figure explained.

    readme_pictures.py FOLDER

They are small: what is worth a look, in few colours.  It takes some two minutes.
"""

import collections
import contextlib
import pathlib
import random
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import browser  # noqa: E402
import daybook  # noqa: E402

WIDTH = 1200
COLOURS = "48"
BYTES_MAX = 100_000
# The address of each, the height that is worth a look, and how long it takes until it is there.
VIEWS = {
    "revenue": ("/revenue?by=month", 655, 0.5),
    "why": ("/why?reseller=AA&day=2013-12-31", 745, 0.5),
    "live": ("/", 779, 125),
}


@contextlib.contextmanager
def sending(server):
    """Flights again, as clicks of this moment, now more and now fewer of them."""
    choose = random.Random(7)
    lines = daybook.Input("flights").good
    ads = collections.Counter(line.split(",")[3] for line in lines).most_common(20)
    popular = [line for line in lines if line.split(",")[3] in dict(ads)]
    ends = threading.Event()

    def send():
        client = server.client()
        rate = 40.0
        while not ends.wait(0.1):
            rate = min(80.0, max(20.0, rate * choose.uniform(0.9, 1.11)))
            now_ms = int(time.time() * 1000)
            for number in range(int(rate)):
                line = choose.choice(popular if number % 2 else lines)
                reseller, _, _, ad, amount = line.split(",")
                client.send(f"{reseller},,{now_ms},{ad},{amount}")
        client.close()

    sender = threading.Thread(target=send)
    sender.start()
    yield
    ends.set()
    sender.join()


def take(chromium, site, view, folder):
    address, height, after_s = VIEWS[view]
    tab = browser.Tab(chromium, site, address, size={"width": WIDTH, "height": height})
    tab.page.wait_for_timeout(after_s * 1000)
    path = folder / f"{view}.png"
    tab.page.screenshot(path=path)
    tab.close()
    subprocess.run(["pngquant", "--force", "--strip", "--speed", "1", "--nofs", "--output", path,
                    COLOURS, path], check=True)
    assert path.stat().st_size <= BYTES_MAX, path


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    with browser.flights_shown() as (chromium, site, place):
        daybook.run("rate", "set", "AA", "2013-12-01", "50%", "-d", "data",
                    "--note", "agreed late", cwd=place)
        take(chromium, site, "revenue", folder)
        take(chromium, site, "why", folder)
        with sending(site.server):
            take(chromium, site, "live", folder)


if __name__ == "__main__":
    main()
