"""Days whose clicks have expired: the clicks go, figures and counters stay."""

import random
import time

import pytest

import daybook


def figures(directory):
    return [daybook.run("report", "-d", directory, "--by", by, "--format", "csv").out
            for by in ("day", "ad", "total")] + \
           [daybook.run("counters", "-d", directory, "--format", "csv").out]


def segment_bytes(directory):
    return sum(path.stat().st_size for path in (directory / "segments").rglob("*.seg"))


@pytest.fixture
def history(directory):
    """Three resellers, thirty days of 2020, five ads, some late clicks: 45,000 clicks, a rate."""
    choice = random.Random(20)
    lines = ["reseller_id,day,time,ad_id,amount"]
    for day in range(30):
        for reseller in ("a", "b", "c"):
            midnight = (18262 + day) * 86400000
            lines += [f"{reseller},,{midnight + choice.randrange(86400000)},"
                      f"ad{choice.randrange(5)},{choice.choice(('0.005', '0.0075', '1'))}"
                      for _ in range(500)]
    text = "\n".join(lines) + "\n"
    daybook.run("load", "-d", directory, "-", "--producer", "history", stdin=text.encode())
    daybook.run("rate", "set", "a", "2020-01-10", "12.5%", "-d", directory)
    daybook.run("rollup", "-d", directory)
    return directory


def test_figures_and_counters_stay_and_space_comes_back(history):
    before = figures(history)
    daybook.run("compact", "-d", history)
    size = segment_bytes(history)
    daybook.run("retention", "set", "30", "-d", history)
    dry = daybook.run("rollup", "--dry-run", "-d", history).out
    assert "to be sealed: 90 days with 45000 expired clicks" in dry
    daybook.run("rollup", "-d", history)
    assert figures(history) == before
    answer = daybook.run("verify", "-d", history).out
    assert "90 sealed days with 45000 expired clicks" in answer and "all agree" in answer
    daybook.run("compact", "-d", history)
    assert figures(history) == before
    daybook.run("verify", "-d", history)
    assert "daybook.ad_click" not in daybook.run("inspect", "-d", history).out
    assert segment_bytes(history) < size * 0.8


def test_what_was_sealed_is_unlinked_unread(history):
    """A run that cannot be read any more goes all the same: nothing of it is needed."""
    before = figures(history)
    daybook.run("compact", "-d", history)
    daybook.run("retention", "set", "30", "-d", history)
    daybook.run("rollup", "-d", history)
    clicks = max((history / "segments").rglob("*.seg"), key=lambda path: path.stat().st_size)
    content = bytearray(clicks.read_bytes())
    content[len(content) // 3] ^= 1
    clicks.write_bytes(content)
    daybook.run("compact", "-d", history)
    assert not clicks.exists()
    assert figures(history) == before
    daybook.run("verify", "-d", history)


def test_a_sealed_day_is_restated_but_not_voided(serve, directory, paper):
    daybook.run("init", "-d", directory, "--keep-days", "30")
    daybook.run("load", "-d", directory, daybook.DATA / "paper-clicks.csv")
    daybook.run("rollup", "-d", directory)
    server = serve()
    answer = server.run("clicks", "void", "--reseller", "supaboobs", "--day", "2013-11-28",
                        status=2)
    assert "2013-11-28 of supaboobs is sealed" in answer.err
    server.run("rate", "set", "supaboobs", "2013-11-01", "50%")
    server.client().send(paper.lines[0]).finish().rest()
    assert "supaboobs,2013-11-28,3,0.015,0.50,0.00750" in \
        server.run("report", "--format", "csv").out
    server.run("verify")


def test_killed_while_days_are_sealed(serve, history):
    """Whatever moment the kill meets, a day has its clicks or its seal."""
    before = figures(history)
    choice = random.Random(7)
    for kill in range(4):
        server = serve()
        if kill == 0:
            server.run("retention", "set", "30")
        time.sleep(choice.random() * 0.3 + (1 if kill > 0 else 0))
        server.kill()
        assert figures(history) == before
    daybook.run("rollup", "-d", history)
    assert figures(history) == before
    assert "90 sealed days" in daybook.run("verify", "-d", history).out
