"""The command lines of README.md and docs/: each is run, and prints what the document says.

Sessions are blocks marked `console`: after `$ ` a command, below it what it prints.  A line `…`
stands for any number of lines, `…` within a line for any text.  The lines of "Commands" in
OPERATIONS.md show no output: they end well.  Ports, folders and files are the test's own, and stand
for those of the document in both directions.
"""

import os
import re
import shutil
import subprocess
import time

import pytest

import cql
import daybook

README = (daybook.ROOT / "README.md").read_text()
DOCS = {path.name: path.read_text() for path in sorted((daybook.ROOT / "docs").glob("*.md"))}
OPERATIONS = DOCS["OPERATIONS.md"]
PAPERS = daybook.ROOT / "tests" / "papers"


class Desk:
    """A folder with what a reader has built, installed and got, and a server when there is one."""

    def __init__(self, path):
        self.path = path
        self.server = None
        (path / "bench").mkdir()
        (path / "tests").mkdir()
        (path / "bench" / "demo.sh").write_bytes((daybook.ROOT / "bench" / "demo.sh").read_bytes())
        (path / "bench" / "demo.sh").chmod(0o755)
        (path / "tests" / "data").symlink_to(daybook.DATA)
        (path / "daybook").symlink_to(daybook.PROGRAM)
        shutil.copy(daybook.DATA / "paper-clicks.csv", path / "clicks.csv")

    def close(self):
        if self.server is not None:
            assert self.server.stop() == 0, self.server.text()
        self.server = None

    def serve(self, *words):
        """A server with the line's options and ports of its own; what it said."""
        self.close()
        words = [self.outside(word) for word in words]
        directory = self.path / words.pop(words.index("-d") + 1)
        words.remove("-d")
        directory.parent.mkdir(parents=True, exist_ok=True)
        own = [word for word in words if not re.fullmatch(r"--ingest|10\.0\.0\.5:7600", word)]
        self.server = daybook.Server(directory, "--cql", "127.0.0.1:0", "--http",
                                     "127.0.0.1:0", *own)
        return self.inside(self.server.text())

    def outside(self, line):
        """What the document's line is here."""
        line = re.sub(r"(?<![\w./])/(?=(var|mnt|tmp)/)", f"{self.path}/", line)
        if self.server is not None:
            line = line.replace("127.0.0.1 7600", "{} {}".format(*self.server.address))
            line = line.replace("cqlsh 127.0.0.1", f"cqlsh 127.0.0.1 {self.server.port('cql')}")
        return line

    def inside(self, text):
        """What this text is in the document."""
        text = text.replace(f"{self.path}/var/", "/var/").replace(f"{self.path}/", "")
        if self.server is not None:
            text = text.replace(":{}".format(self.server.address[1]), ":7600")
            text = text.replace(f":{self.server.port('cql')}", ":9042")
            text = text.replace(f":{self.server.port('http')}", ":7680")
        return text

    def type(self, line, status=0, **variables):
        words = line.split()
        if words[-1] == "&":
            assert words[0].endswith("daybook") and words[1] == "serve", line
            return self.serve(*words[2:-1])
        paths = f"{self.path}:{cql.CQLSH.parent}:{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-c", self.outside(line)], cwd=self.path, text=True, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=daybook.PATIENCE,
            env={**daybook.environment(), "PATH": paths, "CQL_HISTORY": "/dev/null", **variables})
        assert done.returncode == status, (line, done.stdout)
        return self.inside(done.stdout)


@pytest.fixture
def desk(tmp_path):
    desk = Desk(tmp_path)
    yield desk
    desk.close()


# ---- sessions ----


def sessions():
    """Of each document its commands, with what it says that they print."""
    for name, text in {"README.md": README, **DOCS}.items():
        blocks = re.findall(r"^```console\n(.*?)^```$", text, re.M | re.S)
        parts = [part for block in blocks for part in re.split(r"^\$ ", block, flags=re.M)[1:]]
        if parts:
            yield name, [tuple(part.split("\n", 1)) for part in parts]


SESSIONS = dict(sessions())


# What verify prints every two seconds, so on a slow machine only.
PROGRESS = re.compile(r"^(sealed days checked|days compared|ledger entries): \d+\n", re.M)


def says(document, printed):
    """Whether the lines of a document stand for the printed ones."""
    pattern = "".join(
        r"(?:.*\n)*?" if line == "…" else r".*".join(map(re.escape, line.split("…"))) + r" *\n"
        for line in document.splitlines() if line.strip())
    lines = "".join(line + "\n" for line in printed.splitlines() if line.strip())
    return re.fullmatch(pattern, PROGRESS.sub("", lines)) is not None


@pytest.mark.skipif(not shutil.which("nc"), reason="netcat is not installed")
@pytest.mark.parametrize("name", SESSIONS)
def test_a_session_prints_what_the_document_says(desk, name):
    if not SESSIONS[name][0][0].endswith("&"):
        desk.serve("-d", "data")
    for command, document in SESSIONS[name]:
        printed = desk.type(command)
        assert says(document, printed), f"{name}: $ {command}\n{printed}\nis not\n{document}"


@pytest.mark.skipif(not shutil.which("nc"), reason="netcat is not installed")
def test_the_demo_ends_as_the_readme_says(desk):
    document = re.search(r"`make demo` sends.*?^```text\n(.*?)^```$", README, re.M | re.S).group(1)
    printed = desk.type("bench/demo.sh")
    assert says(document, printed), f"{printed}\nis not\n{document}"


def test_what_is_printed_is_compared():
    assert says("a\n…\nz\n", "a\nb\nc\nz\n") and says("a … z\n", "a b c z\n")
    assert says("a\nz\n", "a\ndays compared: 5436\nz\n")
    assert says("…\nz\n", "z\n") and says("a\n\nb\n", "a\nb\n")
    assert not says("a\n…\nz\n", "a\nb\nc\n") and not says("a\n", "a\nb\n")
    assert not says("", "a\n") and not says("a\n", "")


def test_every_command_line_is_in_a_session_or_among_the_commands():
    """No line that looks like one typed stands anywhere else, where no test would run it."""
    for name, text in {"README.md": README, **DOCS}.items():
        outside = re.sub(r"^```console\n.*?^```$", "", text, flags=re.M | re.S)
        if name == "OPERATIONS.md":
            before, rest = outside.split("\n## Commands\n")
            outside = before + "\n## " + rest.split("\n## ", 1)[1]
            # test_streams.py runs the block of a stream over tables of one's own.
            outside = re.sub(r"^```sh\n.*?^```$", "", outside, flags=re.M | re.S)
        assert re.findall(r"^(?: {4}|\./)(?:daybook [a-z]|nc |cqlsh |zcat ).*", outside,
                          re.M) == [], name


# ---- the lines of "Commands" ----


def sections():
    """The parts of "Commands", each with its command lines; those of a synopsis are none."""
    for part in OPERATIONS.split("\n## Commands\n")[1].split("\n## ")[0].split("\n### ")[1:]:
        lines = re.findall(r"^    ((?:daybook|zcat) (?:.*\\\n)*.*)", part, re.M)
        lines = [re.split(r" {3,}", re.sub(r"\\\n +", "", line))[0] for line in lines]
        yield part.split()[0].rstrip(","), [
            line for line in lines
            if "[--" not in line and " | show" not in line and not line.startswith("daybook: ")]


COMMANDS = dict(sections())

NEEDS_SCHEMA = """
CREATE KEYSPACE ad_network WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
CREATE KEYSPACE hotel WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
CREATE TABLE hotel.hotels_by_poi (poi text, id text, PRIMARY KEY (poi, id));
CREATE TABLE hotel.hotels (id text PRIMARY KEY, name text);
"""


def lay_out(desk, section):
    """What the section's lines take for granted."""
    old = desk.path / "old"
    old.mkdir()
    for copy in (desk.path / "clicks-2013-11.csv", old / "1.csv", old / "2.csv"):
        shutil.copy(desk.path / "clicks.csv", copy)
        subprocess.run(["gzip", str(copy)], check=True)
    (desk.path / "clicks-2013-12.ndjson").write_text(
        '{"reseller_id":"supaboobs","time":1385654400123,"ad_id":"ad42","amount":0.005}\n')
    shutil.copy(daybook.DATA / "paper-rates.csv", desk.path / "rates.csv")
    shutil.copy(PAPERS / "000_music.cli", desk.path / "music.txt")
    shutil.copy(PAPERS / "001_blog.xml", desk.path / "storage-conf.xml")
    (desk.path / "hotel.queries").write_text(re.search(
        r"((?:    .*\n)+)\nTables then stand", OPERATIONS).group(1).replace("    ", "", 1)
        .replace("\n    ", "\n"))
    for folder in ("var/lib/node_exporter", "mnt/disk2", "mnt/host2", "tmp"):
        (desk.path / folder).mkdir(parents=True)
    desk.serve("-d", "data")
    daybook.run("load", "-d", desk.server.directory, desk.path / "clicks.csv")
    daybook.run("rate", "load", "-d", desk.server.directory, desk.path / "rates.csv")
    if section == "schema":
        with cql.connected(desk.server) as session:
            for statement in NEEDS_SCHEMA.strip().split(";")[:-1]:
                session.execute(statement)
    if section == "producers":
        producer = re.search(r"producers drop ([-0-9a-f]+)", OPERATIONS).group(1)
        desk.server.client().send(f"#producer {producer} 1 new\n#batch 1 0\n").finish().rest()
    if section == "restore":
        for line in COMMANDS["backup"]:
            desk.type(line, DAYBOOK_DIR=str(desk.server.directory))


@pytest.mark.skipif(not shutil.which("zcat"), reason="gzip is not installed")
@pytest.mark.parametrize("section", COMMANDS)
def test_the_commands_of_operations_end_well(desk, section):
    lay_out(desk, section)
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 1))
    if section == "restore":
        time.sleep(1.1)
    for line in COMMANDS[section]:
        line = line.replace("2013-11-28T16:00:00Z", now)
        if line.startswith("daybook serve "):
            desk.serve(*line.split()[2:])
            continue
        if line.startswith("daybook clock mend"):
            assert desk.server.stop() == 0
        directory = desk.path / "new" if section == "init" else desk.server.directory
        desk.type(line, DAYBOOK_DIR=str(directory))
