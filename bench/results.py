"""results: the file of figures, in sections between markers that are replaced one at a time.

    <!-- ingest: begin -->
    ## ingest: ...
    <!-- ingest: end -->
"""

import datetime
import re

import harness

HEAD = """# Results

Each section is what one part of `make bench`, or `make bench-rivals`, measured last, and on what;
`bench/README.md` says how. An acknowledgement means everywhere: the clicks, their counters and the
producer's position are in one frame of the log, and fdatasync of it has returned.
"""

SECTION = re.compile(r"<!-- (\w+): begin -->\n(.*?)\n<!-- \1: end -->", re.DOTALL)


def text(name, title, command, conditions, section):
    """A section under its heading, with what it came from."""
    today = datetime.datetime.now(datetime.timezone.utc)
    return (f"## {name}: {title}\n\n`{command}`, {today:%Y-%m-%d}, commit {harness.commit()}, "
            f"{harness.machine()}, {conditions.text()}.\n\n{section.text()}")


def replace(path, name, new, order):
    """Put `new` in the place of section `name`; sections stand in `order`, others behind them."""
    sections = dict(SECTION.findall(path.read_text())) if path.exists() else {}
    sections[name] = new
    path.write_text(HEAD + "".join(
        f"\n<!-- {name}: begin -->\n{sections[name]}\n<!-- {name}: end -->\n"
        for name in dict.fromkeys([*order, *sections]) if name in sections))
