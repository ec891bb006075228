"""What the program costs before it has work: its size, its start, and its memory with every door
open and the page asked for (`make bench PART=start` measures the same)."""

import http.client
import itertools
import subprocess
import time

import pytest

import daybook

DOORS = ("--cql", "127.0.0.1:0", "--http", "127.0.0.1:0")
PAGES = ("/", "/metrics", "/api/openapi.json")

pytestmark = pytest.mark.skipif(daybook.IS_SANITIZED, reason="a sanitizer adds to all of these")


def test_the_program_without_symbols_is_small(tmp_path):
    stripped = tmp_path / "daybook"
    subprocess.run(["strip", "-o", stripped, daybook.PROGRAM], check=True)
    assert stripped.stat().st_size < 10 * 10**6


def test_a_server_starts_within_50_ms(serve, tmp_path):
    """The machine may be busy with other tests: one start that is not disturbed counts."""
    numbers = itertools.count()

    def start_s():
        server = serve(*DOORS, directory=tmp_path / str(next(numbers)))
        took_s = time.monotonic() - server.started
        assert server.stop() == 0
        return took_s

    daybook.wait_until(lambda: start_s() < 0.05, "a start within 50 ms")


def test_an_idle_server_takes_little_memory(serve):
    server = serve(*DOORS)
    for path in PAGES * 3:
        connection = http.client.HTTPConnection("127.0.0.1", server.port("http"),
                                                timeout=daybook.PATIENCE)
        connection.request("GET", path, headers={"Accept-Encoding": "gzip"})
        connection.getresponse().read()
        connection.close()
    assert server.memory_kb("VmRSS") * 1024 < 25 * 10**6
