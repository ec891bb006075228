"""The commands of README.md and docs/OPERATIONS.md.

Those that each begins with are typed as they stand there, with ports and folders of the test's own;
of the others it is proved that commands and options are there.  What they do, with files and
directories for each, test_help.py proves of the examples in --help, which are much the same.
"""

import re
import shutil
import subprocess

import pytest

import cql
import daybook

README = (daybook.ROOT / "README.md").read_text()
OPERATIONS = (daybook.ROOT / "docs" / "OPERATIONS.md").read_text()


def block(text, heading):
    """The first block of commands under a heading, without the remarks behind them."""
    under = text.split(f"\n{heading}\n", 1)[1]
    found = re.search(r"^```\n([^`]*)^```$|((?:^    .+\n)+)", under, re.M)
    lines = (found.group(1) or found.group(2)).splitlines()
    return [re.split(r" {3,}", line.strip())[0] for line in lines]


@pytest.fixture
def desk(tmp_path):
    """A folder with the paper's clicks, and what a reader has built and installed."""
    (tmp_path / "daybook").symlink_to(daybook.PROGRAM)
    shutil.copy(daybook.DATA / "paper-clicks.csv", tmp_path / "clicks.csv")
    return tmp_path


def typed(desk, line):
    path = f"{desk}:{cql.CQLSH.parent}:/usr/bin:/bin"
    done = subprocess.run(
        ["bash", "-c", line], cwd=desk, capture_output=True, text=True, timeout=daybook.PATIENCE,
        check=False, env={**daybook.environment(), "PATH": path})
    assert done.returncode == 0, (line, done)
    return done.stdout


def play(desk, lines):
    """Each line's answer; the first line starts the server."""
    words = lines[0].split()
    assert words[0].endswith("daybook") and words[1] == "serve" and words[-1] == "&", lines[0]
    directory = words[words.index("-d") + 1]
    server = daybook.Server(desk / directory.lstrip("/").replace("/", "-"), "--cql", "127.0.0.1:0")
    answers = []
    for line in lines[1:]:
        line = line.replace(f"-d {directory}", f"-d {server.directory}")
        line = line.replace("127.0.0.1 7600", "{} {}".format(*server.address))
        line = line.replace("cqlsh 127.0.0.1", f"cqlsh 127.0.0.1 {server.port('cql')}")
        answers.append(typed(desk, line))
    assert server.stop() == 0, server.text()
    return answers


@pytest.mark.skipif(not shutil.which("nc"), reason="netcat is not installed")
@pytest.mark.parametrize("text, heading", [
    (README, "## In a minute"), (OPERATIONS, "## In five lines")], ids=["README", "OPERATIONS"])
def test_the_first_commands_do_what_they_say(desk, text, heading):
    lines = block(text, heading)
    for line, answer in zip(lines[1:], play(desk, lines)):
        for begins, wanted in (("nc ", "ok - accepted 6 rejected 0\n"), ("cqlsh ", "2013-12-01"),
                               ("daybook verify", "all agree"), ("daybook report", "2013-11")):
            assert wanted in answer or not line.removeprefix("./").startswith(begins), line


# ---- what is shown of each command ----


def commands_of_operations():
    """Lines that begin with daybook in the parts of "Commands"."""
    parts = OPERATIONS.split("\n## Commands\n")[1].split("\n## ")[0].split("\n### ")[1:]
    for part in parts:
        for line in re.findall(r"^    (daybook (?:.*\\\n)*.*)", part, re.M):
            yield re.split(r" {3,}", re.sub(r"\\\n +", "", line))[0]


# Those of a synopsis, with brackets, and of other programs in a row are none.
@pytest.mark.parametrize("line", [line for line in commands_of_operations()
                                  if "[--" not in line and " | " not in line])
def test_a_command_of_operations_is_one_that_there_is(line):
    """Its command and every option that it gives are in that command's help."""
    command = re.split(r"\s(?:\|\||>)\s", line)[0]
    text = daybook.run(command.split()[1], "--help").out
    for option in re.findall(r"(?<=\s)--[a-z-]+", command):
        assert re.search(rf"^ +(?:-\S, +)?{option}\b", text, re.M), (option, line)
