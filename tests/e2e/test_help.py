"""Every command as somebody meets it who has only its help: the help says what it takes, its
examples work as they stand, what is wrong is answered with what to do, and output may be cut off.
"""

import gzip
import os
import re
import shutil
import signal
import subprocess

import pytest

import cql
import daybook

PAPERS = daybook.ROOT / "tests" / "papers"
NAMES = [line.split()[0] for line in subprocess.run(
    [daybook.PROGRAM, "--help"], capture_output=True, check=True, text=True).stdout.splitlines()
    if re.match(r"  [a-z]", line)]


def help_of(command):
    return daybook.run(command, "--help").out


def examples_of(command):
    """Its lines for a shell, those that end in a backslash joined to the next."""
    _, examples = re.split(r"\nExamples?:\n", help_of(command))
    return [line.strip() for line in re.sub(r"\\\n +", "", examples).splitlines() if line.strip()]


def options_of(command):
    """Long options of a help, each to the name of its argument or None."""
    return dict(re.findall(r"^ +(?:-\S, +)?(--[a-z-]+)(?:=(\S+))?", help_of(command), re.M))


# ---- help ----


@pytest.mark.parametrize("command", NAMES)
def test_help_has_a_synopsis_whole_lines_and_no_option_twice(command):
    text = help_of(command)
    assert text.startswith(f"Usage: daybook {command} ")
    assert all(len(line) <= 100 for line in text.splitlines())
    found = re.findall(r"^ +(?:-\S, +)?(--[a-z-]+)", text.split("\nExample")[0], re.M)
    assert len(found) == len(set(found)), found
    for line in examples_of(command):
        assert line.startswith("daybook ") or "| daybook " in line or line.startswith("nc "), line


# ---- examples ----


@pytest.fixture
def desk(tmp_path):
    """Where examples are typed: the paper's clicks and tables in a directory, files beside it, the
    program in PATH, and stand-ins for others' programs."""
    server = daybook.Server(tmp_path / "daybook-data", "--cql", "127.0.0.1:0")
    server.run("load", daybook.DATA / "paper-clicks.csv")
    server.run("rate", "load", daybook.DATA / "paper-rates.csv")
    with cql.connected(server) as session:
        for paper in ("002_ad_network", "003_hotel"):
            text = re.sub(r"--.*", "", (PAPERS / f"{paper}.cql").read_text())
            for statement in text.split(";"):
                if re.match(r"\s*(CREATE|USE)\b", statement):
                    session.execute(statement)
    assert server.stop() == 0
    for place in ("bin", "old", "var", "mnt"):
        (tmp_path / place).mkdir()
    (tmp_path / "bin" / "daybook").symlink_to(daybook.PROGRAM)
    for name in ("systemctl", "page-somebody"):
        stand_in = tmp_path / "bin" / name
        stand_in.write_text("#!/bin/sh\n")
        stand_in.chmod(0o755)
    packed = gzip.compress((daybook.DATA / "paper-clicks.csv").read_bytes())
    (tmp_path / "clicks-2013-11.csv.gz").write_bytes(packed)
    (tmp_path / "old" / "clicks.csv.gz").write_bytes(packed)
    shutil.copy(daybook.DATA / "paper-rates.csv", tmp_path / "rates.csv")
    shutil.copy(PAPERS / "000_music.cli", tmp_path / "music.txt")
    shutil.copy(PAPERS / "001_blog.xml", tmp_path / "storage-conf.xml")
    shutil.copy(PAPERS / "003_hotel.queries", tmp_path / "hotel.queries")
    return tmp_path


# Folders of the system that examples name, and what stands for them.
FOLDERS = [("/var/lib/node_exporter/", "var"), ("/var/lib/", "var"), ("/tmp/", "var"),
           ("/mnt/backup/", "mnt"), ("/mnt/other-disk/", "mnt"), ("/mnt/other-host/", "mnt")]


def typed(desk, line):
    """Run a line in a shell, with folders of the desk in place of the system's."""
    for folder, ours in FOLDERS:
        line = line.replace(f" {folder}", f" {ours}/")
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", line], cwd=desk, capture_output=True, text=True,
        timeout=daybook.PATIENCE, check=False,
        env={**daybook.environment(), "PATH": f"{desk}/bin:/usr/bin:/bin"})


# What an example takes for granted: no directory yet, or a backup.
BEFORE = {"init": ["rm -rf daybook-data var/*"],
          "restore": ["rm -rf var/* mnt/*", "daybook backup /mnt/backup/daybook"]}
# A moment of 2013, which no backup of today has.
PAST = "2013-11-28T16:00:00Z"


@pytest.mark.parametrize("command", [name for name in NAMES if name != "serve"])
def test_examples_work_as_they_stand(desk, command):
    # A backup follows servers only; all else works without one.
    server = daybook.Server(desk / "daybook-data") if command == "backup" else None
    for line in examples_of(command):
        for before in BEFORE.get(command, []):
            assert typed(desk, before).returncode == 0, before
        done = typed(desk, line)
        if PAST in line:
            assert done.returncode == 3 and "the oldest moment that it holds" in done.stderr, done
            continue
        # 1: the data says no, such as of clicks that are not there.
        assert done.returncode in (0, 1) and "Try `" not in done.stderr, (line, done)
    assert server is None or server.stop() == 0


# ---- wrong usage ----


@pytest.mark.parametrize("command", NAMES)
def test_an_unknown_option_is_named_with_what_to_do(command):
    answer = daybook.run(command, "--frobnicate", status=2)
    assert "--frobnicate" in answer.err and f"daybook {command} --help" in answer.err
    assert answer.out == ""


@pytest.mark.parametrize("command", NAMES)
def test_an_option_without_its_argument_is_named(command):
    for option, argument in options_of(command).items():
        if argument:
            answer = daybook.run(command, option, status=2)
            assert option in answer.err and f"daybook {command} --help" in answer.err


# ---- pipes ----


@pytest.mark.parametrize("words", [
    "report --format csv", "counters clicks_per_ad", "rejects list --from 2000-01-01",
    "rejects export", "producers list", "inspect", "status --metrics", "schema", "limits",
    "rate list", "restatements --all"])
def test_output_that_nobody_reads_on_ends_the_command_quietly(flights_directory, words):
    done = subprocess.run(
        ["bash", "-c", f"{daybook.PROGRAM} {words} -d {flights_directory} | head -n 1"],
        capture_output=True, text=True, timeout=daybook.PATIENCE, check=True,
        env=daybook.environment())
    assert done.stdout.count("\n") == 1 and done.stderr == ""


def test_progress_is_for_terminals(flights_directory):
    answer = daybook.run("verify", "-d", flights_directory)
    assert answer.err == ""


@pytest.mark.parametrize("words, ends", [
    ("report --format csv", -signal.SIGPIPE), ("limits", -signal.SIGPIPE),
    ("rate set flight_a 2013-11-01 25%", 0)])
def test_a_closed_pipe_ends_what_reads_as_it_ends_other_programs(flights_copy, words, ends):
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([daybook.PROGRAM, *words.split(), "-d", flights_copy], stdout=writer,
                          stderr=subprocess.PIPE, timeout=daybook.PATIENCE, check=False,
                          env=daybook.environment())
    os.close(writer)
    assert (done.returncode, done.stderr) == (ends, b"")


# ---- what was meant ----


@pytest.mark.parametrize("words, meant", [
    ("-d data report --by day", "the command comes first, not '-d'; did you mean: "
                                "daybook report -d data --by day"),
    ("version", "there is no command 'version'; did you mean: daybook --version"),
    ("reprot", "there is no command 'reprot'; did you mean: daybook report"),
    ("statsu --check", "there is no command 'statsu'; did you mean: daybook status --check"),
    ("frobnicate", "there is no command 'frobnicate'; daybook --help lists them"),
    ("-d data", "there is no command '-d'; daybook --help lists them")])
def test_a_command_line_that_names_no_command_is_answered_with_what_it_may_mean(words, meant):
    assert daybook.run(*words.split(), status=2).err == f"daybook: {meant}\n"
