"""A wall clock that is wrong: nothing is done by it that cannot be undone, and a server says so."""

import re
import time

import daybook

YEAR = 366 * 86400


def now_ms():
    return int(time.time() * 1000)


def test_a_server_a_year_ahead_publishes_and_seals_nothing_until_that_is_over(
        directory, tmp_path):
    ahead = tmp_path / "ahead"
    ahead.write_text("0")
    wrapper = daybook.preloaded(tmp_path, "wrong_clock") + [f"WRONG_CLOCK={ahead}"]
    server = daybook.Server(directory, wrapper=wrapper)
    server.run("retention", "set", "30")
    assert "in doubt           no\n" in server.run("clock").out
    assert server.stop() == 0, server.text()
    ahead.write_text(str(YEAR))
    server = daybook.Server(directory, wrapper=wrapper)
    server.wait_until_it_says("clock_in_doubt")
    server.run("load", "-", "--producer", "x", stdin=f"r,,{now_ms()},ad,0.01\n".encode())
    answer = server.run("rollup")
    assert "published: 0," in answer.out and "the clock is in doubt" in answer.err
    assert "nothing is published" in server.run("clock", status=1).out
    check = server.run("status", "--check", status=1).out
    assert re.match(r"clock_in_doubt: the clock is 316\d{5} seconds ahead of trusted time", check)
    ahead.write_text("0")
    server.wait_until_it_says("clock_trusted")
    assert "in doubt           no\n" in server.run("clock").out
    ahead.write_text(str(YEAR))
    daybook.wait_until(lambda: server.text().count("clock_in_doubt") == 2, "it doubts again")
    assert "in doubt           no\n" in server.run("clock", "accept").out
    answer = server.run("rollup")
    assert "published: 1," in answer.out and "sealed: 1 day with 1 expired click" in answer.out
    server.wait_until_it_says("notice days_sealed stream=clicks")
    assert server.stop() == 0, server.text()
    ahead.write_text("0")
    server = daybook.Server(directory, wrapper=wrapper)
    server.wait_until_it_says("warning timestamps_ahead last=")
    server.wait_until_it_says("ahead_seconds=-316")
    assert "in doubt           no\n" in server.run("clock", "accept").out
    server.wait_until_it_says("clock_trusted")
    assert server.stop() == 0, server.text()
