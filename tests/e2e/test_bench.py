"""make bench goes through, on few clicks, and keeps the sections of parts that it does not run."""

import os
import pathlib
import subprocess
import sys

import pytest

import daybook

BUILT = (pathlib.Path(daybook.PROGRAM).parent if "DAYBOOK" in os.environ
         else daybook.ROOT / "build" / "release-gcc")


@pytest.mark.skipif(BUILT.name != "release-gcc", reason="figures are those of the release build")
def test_parts_replace_their_own_section(tmp_path):
    results = tmp_path / "results.md"

    def bench(*parts):
        subprocess.run([sys.executable, daybook.ROOT / "bench" / "run.py", "--built", BUILT,
                        "--place", tmp_path, "--results", results, "--clicks", "3000", "--runs",
                        "1", *parts], check=True, capture_output=True, timeout=daybook.PATIENCE)
        return results.read_text()

    first = bench("disk,rollup")
    both = bench("ingest")
    for part in ("disk", "rollup"):
        section = first[first.index(f"<!-- {part}: begin -->"):first.index(f"<!-- {part}: end -->")]
        assert "| promise | measured |" in section
        assert section in both
    assert "| text, 1 connection, waiting for each ack |" in both
    assert both.index("<!-- ingest: begin -->") < both.index("<!-- disk: begin -->")
    assert list(tmp_path.iterdir()) == [results]
