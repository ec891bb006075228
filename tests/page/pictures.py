#!/usr/bin/env python3
"""Pictures of each view on the flights, to be looked at: light, dark, and on a phone.

    pictures.py FOLDER [VIEW...]
"""

import contextlib
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import browser  # noqa: E402

HEIGHT_MAX = 1800
LIVE_MS = 20000
KINDS = {
    "light": {},
    "dark": {"is_dark": True},
    "phone": {"size": browser.PHONE, "device_scale_factor": 2},
}


def take(chromium, site, folder, view):
    """The pictures of a view."""
    for kind, options in KINDS.items():
        path = folder / f"{view}-{kind}.png"
        tab = browser.Tab(chromium, site, browser.VIEWS[view], **options)
        tab.page.wait_for_timeout(LIVE_MS if view == "live" else 300)
        tab.page.screenshot(path=path, full_page=True,
                            clip={"x": 0, "y": 0, "width": tab.page.viewport_size["width"],
                                  "height": min(tab.height(), HEIGHT_MAX)})
        tab.context.close()
        print(path, *tab.complaints, sep="\n  ")


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    with browser.flights_shown() as (chromium, site, _):
        # What is live is of today, and would be the newest day of the others.
        for view in sorted(sys.argv[2:] or browser.VIEWS, key=lambda view: view == "live"):
            with browser.Sender(site, 200) if view == "live" else contextlib.nullcontext():
                take(chromium, site, folder, view)


if __name__ == "__main__":
    main()
