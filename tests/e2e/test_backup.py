"""Backups of a server at work, and new directories from them."""

import datetime
import re
import shutil
import threading
import time

import pytest

import daybook


@pytest.fixture
def clicks(flights, tmp_path):
    """A file of 100,000 good clicks."""
    path = tmp_path / "clicks.csv"
    path.write_text(flights.header + "".join(flights.good[:100000]))
    return path


def loads_for_ever(server, clicks, stop):
    """Load the same clicks under new names until told, or until the server is gone."""
    number = 0
    while not stop.is_set():
        number += 1
        daybook.run("load", "-d", server.directory, clicks, "--as", f"more {number}", status=None)


def is_removed(directory):
    """Removed beside a server, which may make a file after its folder was listed."""
    shutil.rmtree(directory, ignore_errors=True)
    return not directory.exists()


def report_of(directory):
    return daybook.run("report", "-d", directory, "--format", "csv").out


def clicks_of(directory):
    total = daybook.run("report", "-d", directory, "--by", "total", "--format", "csv").out
    return int(total.splitlines()[1].split(",")[0])


def this_moment():
    """A time with nothing written in the 50 ms about it."""
    time.sleep(0.05)
    moment = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds")
    time.sleep(0.05)
    return moment


def test_a_deleted_directory_comes_back_as_of_the_moment_of_its_backup(serve, flights, clicks,
                                                                       directory, tmp_path):
    server = serve()
    server.run("load", clicks)
    server.run("rate", "load", flights.rates)
    report = report_of(directory)
    server.run("backup", tmp_path / "b")
    stop = threading.Event()
    loader = threading.Thread(target=loads_for_ever, args=(server, clicks, stop))
    loader.start()
    daybook.wait_until(lambda: clicks_of(directory) > 100000, "more clicks")
    daybook.wait_until(lambda: is_removed(directory), "removed")
    server.kill()
    stop.set()
    loader.join()
    daybook.run("restore", tmp_path / "b", tmp_path / "again")
    assert "all agree" in daybook.run("verify", "-d", tmp_path / "again").out
    assert report_of(tmp_path / "again") == report


def test_backups_under_load_are_whole_batches_and_share_what_they_can(serve, clicks, directory,
                                                                      tmp_path):
    server = serve("--memory", "128M")
    stop = threading.Event()
    loader = threading.Thread(target=loads_for_ever, args=(server, clicks, stop))
    loader.start()
    try:
        for number in range(1, 4):
            server.run("compact")
            out = server.run("backup", tmp_path / "b").out
            assert out.startswith(f"point {number} in "), out
    finally:
        stop.set()
        loader.join()
    assert len(daybook.run("restore", tmp_path / "b", "--list").out.splitlines()) == 3
    daybook.run("restore", tmp_path / "b", tmp_path / "again")
    assert "all agree" in daybook.run("verify", "-d", tmp_path / "again").out
    server.run("compact")
    assert server.stop() == 0
    answer = daybook.run("backup", "-d", directory, tmp_path / "b")
    linked = int(re.search(r"(\d+) linked", answer.out).group(1))
    again = daybook.run("backup", "-d", directory, tmp_path / "b")
    assert linked > 0 and " 0 copied and 0 linked" in again.out


def test_what_follows_has_all_that_was_acknowledged_before_it_had_caught_up(serve, clicks,
                                                                            directory, tmp_path):
    server = serve()
    server.run("backup", "--follow", tmp_path / "f")
    assert "follows already" in server.run("backup", "--follow", tmp_path / "g", status=3).err
    server.run("load", clicks)
    daybook.wait_until(lambda: " 0 frames" in server.run("status").out, "caught up")
    report = report_of(directory)
    daybook.wait_until(lambda: "daybook_backup_lag_seconds 0" in
                       server.run("status", "--metrics").out, "a metric of no lag")
    server.kill()
    shutil.rmtree(directory)
    daybook.run("restore", tmp_path / "f", directory, "--latest")
    assert "all agree" in daybook.run("verify", "-d", directory).out
    assert report_of(directory) == report


def test_a_moment_between_two_backups_is_restored_from_the_log_that_was_kept(serve, flights, clicks,
                                                                             directory, tmp_path):
    server = serve("--keep-log", "1G")
    server.run("load", clicks)
    server.run("backup", tmp_path / "b")
    server.run("rate", "load", flights.rates)
    good = report_of(directory)
    moment = this_moment()
    server.run("rate", "set", "AA", "2013-01-01", "99%", "--note", "a mistake")
    server.run("compact")
    server.run("backup", tmp_path / "b")
    daybook.run("restore", tmp_path / "b", tmp_path / "then", "--to", moment)
    assert report_of(tmp_path / "then") == good
    daybook.run("restore", tmp_path / "b", tmp_path / "now")
    assert report_of(tmp_path / "now") == report_of(directory) != good


def test_a_moment_behind_a_purge_is_refused_and_one_before_it_is_not(serve, flights, directory,
                                                                     tmp_path):
    twins = tmp_path / "twins.csv"
    twins.write_text(flights.header + 2 * flights.good[0])
    words = ("--reseller", flights.good[0].split(",")[0], "--from", "2013-01-01",
             "--to", "2014-01-31")
    server = serve()
    server.run("load", twins)
    server.run("backup", tmp_path / "b")
    moments = [this_moment()]
    report = report_of(directory)
    server.run("clicks", "void", *words, "--note", "twice")
    server.run("compact")
    server.stop()
    server = serve("--keep-log", "1G")
    server.run("load", twins, "--as", "again")
    moments.append(this_moment())
    server.run("clicks", "void", *words, "--note", "again")
    server.run("backup", tmp_path / "b")
    daybook.run("restore", tmp_path / "b", tmp_path / "before", "--to", moments[0])
    assert report_of(tmp_path / "before") == report
    refused = daybook.run("restore", tmp_path / "b", tmp_path / "behind", "--to", moments[1],
                          status=3)
    assert "behind a purge" in refused.err and "give a time up to 20" in refused.err
    assert not (tmp_path / "behind" / "manifest").exists()
    daybook.run("restore", tmp_path / "b", tmp_path / "now")
    assert report_of(tmp_path / "now") == report_of(directory)


def test_refusals_say_what_to_do(directory, tmp_path):
    answer = daybook.run("backup", "-d", directory, tmp_path / "b", status=3)
    assert "no daybook directory" in answer.err
    daybook.run("init", "-d", directory)
    answer = daybook.run("backup", "-d", directory, "--follow", tmp_path / "b", status=3)
    assert "no server holds the directory" in answer.err
    daybook.run("backup", "-d", directory, tmp_path / "b")
    answer = daybook.run("restore", tmp_path / "b", directory, status=3)
    assert "restored to an empty or a new directory" in answer.err
    answer = daybook.run("restore", tmp_path, tmp_path / "n", status=3)
    assert "is no backup" in answer.err
    answer = daybook.run("backup", "-d", directory, directory, status=3)
    assert "is no backup" in answer.err
    answer = daybook.run("restore", tmp_path / "b", "--to", "yesterday", tmp_path / "n", status=2)
    assert "with its zone" in answer.err
    answer = daybook.run("restore", "--list", tmp_path, status=3)
    assert answer.err.startswith(f"daybook: list the points of {tmp_path}: ")
    daybook.run("init", "-d", tmp_path / "other")
    answer = daybook.run("backup", "-d", tmp_path / "other", tmp_path / "b", status=3)
    assert "of another directory" in answer.err
    identity = daybook.run("status", "-d", directory).out.split()[1]
    for words, same in ([[], True], [["--new-identity"], False]):
        shutil.rmtree(tmp_path / "n", ignore_errors=True)
        daybook.run("restore", tmp_path / "b", tmp_path / "n", *words)
        assert (daybook.run("status", "-d", tmp_path / "n").out.split()[1] == identity) == same


def test_what_follows_goes_on_after_a_start_and_replaces_a_lost_directory(serve, clicks, directory,
                                                                          tmp_path):
    server = serve()
    server.run("backup", "--follow", tmp_path / "f")
    server.kill()
    server = serve()
    server.run("load", clicks)
    daybook.wait_until(lambda: " 0 frames" in server.run("status").out, "caught up")
    loaded = clicks_of(directory)
    stop = threading.Event()
    loader = threading.Thread(target=loads_for_ever, args=(server, clicks, stop))
    loader.start()
    daybook.wait_until(lambda: clicks_of(directory) > 2 * loaded, "more clicks")
    daybook.wait_until(lambda: is_removed(directory), "removed")
    server.kill()
    stop.set()
    loader.join()
    again = tmp_path / "again"
    daybook.run("restore", tmp_path / "f", again, "--latest")
    assert "all agree" in daybook.run("verify", "-d", again).out
    assert clicks_of(again) >= loaded
    assert not (again / "following").exists()


def test_a_backup_that_was_told_to_stop_does_not_follow_again(serve, clicks, directory, tmp_path):
    server = serve()
    server.run("backup", "--follow", tmp_path / "f")
    server.run("backup", "--stop")
    assert server.stop() == 0
    server = serve()
    server.run("backup", "--stop", status=1)
    assert server.stop() == 0
    (directory / "following").write_bytes(b"DAYFOLLW and nonsense")
    server = serve()
    assert "following: it is damaged" in server.text()
