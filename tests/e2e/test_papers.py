"""The data models of five papers, as written: tests/papers, played by cqlsh at a terminal."""

import re
import subprocess
import uuid
import xml.etree.ElementTree

import pytest

import cql
import daybook

PAPERS = daybook.ROOT / "tests" / "papers"
FOUND = daybook.ROOT / "build" / "papers"
PROMPT = re.compile(r"(cqlsh(?::\w+)?> | {3,}\.\.\. )")

# Every family's BytesType is text, every family's keys are UUIDs, as the papers' own words have it.
MUSIC = ["--keyspace", "music"]
for family in ("users", "songs", "comments", "user_likes", "song_data"):
    MUSIC += ["--key", f"{family}=uuid"]
BLOG = []
for family in ("Authors", "BlogEntries", "TaggedPosts", "Comments"):
    BLOG += ["--text", family]
IMPORTS = {
    "000_music": [("cassandra-cli", "000_music.cli", *MUSIC)],
    "001_blog": [
        ("storage-conf", "001_blog.xml", *BLOG),
        ("storage-conf", "001_sorted_long.xml", "--keyspace", "by_long", "--text", "CF_NAME_HERE"),
        ("storage-conf", "001_sorted_utf8.xml", "--keyspace", "by_text", "--text", "CF_NAME_HERE"),
        ("storage-conf", "001_shown.xml", "--text", "UserProfile", "--text", "AddressBook",
         "--text", "Addresses"),
    ],
}


def bring_in(server, paper):
    for kind, file, *options in IMPORTS.get(paper, []):
        server.run("import", kind, PAPERS / file, *options)


def transcript(server, paper):
    """What a terminal shows: prompts, the script's lines behind them, and the answers."""
    lines = (PAPERS / f"{paper}.cql").read_text().splitlines()
    done = subprocess.run(
        [str(cql.CQLSH), "127.0.0.1", str(cql.port(server)), "--no-color", "--tty"],
        input="".join(line + "\n" for line in lines), stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, timeout=daybook.PATIENCE, check=False,
        env={**daybook.environment(), "CQL_HISTORY": "/dev/null", "TZ": "UTC"})
    _, out = done.stdout.split("Use HELP for help.\n", 1)
    _, *parts = PROMPT.split(out)
    prompts, answers = parts[::2], parts[1::2]
    assert len(prompts) == len(lines) + 1, done.stdout
    shown = "".join(prompt + line + "\n" + answer
                    for prompt, line, answer in zip(prompts, lines, answers))
    return "".join(line.rstrip() + "\n" for line in shown.splitlines())


def assert_recorded(found, name):
    """`found` must be the file of that name; else it is left in build/papers to look at."""
    recorded = PAPERS / name
    wanted = recorded.read_text() if recorded.exists() else ""
    if found != wanted:
        FOUND.mkdir(parents=True, exist_ok=True)
        (FOUND / name).write_text(found)
    assert found == wanted, f"{name}: {daybook.first_difference(found, wanted)}"


@pytest.mark.parametrize("paper", ["000_music", "001_blog", "002_ad_network", "003_hotel",
                                   "004_patterns"])
def test_a_paper_runs_as_written(serve, paper):
    server = serve("--cql", "127.0.0.1:0")
    bring_in(server, paper)
    assert_recorded(transcript(server, paper), f"{paper}.txt")
    if paper == "003_hotel":
        svg = server.run("schema", "--chebotko", "hotel", "--queries", PAPERS / "003_hotel.queries")
        xml.etree.ElementTree.fromstring(svg.out)
        assert_recorded(svg.out, "003_hotel.svg")
        refused = server.run("schema", "--chebotko", "hostel", "--queries",
                             PAPERS / "003_hotel.queries", status=2)
        assert refused.err == "daybook: there is no keyspace hostel\n"


def test_a_queue_is_read_behind_more_deletions_than_cassandra_bears(serve):
    server = serve("--cql", "127.0.0.1:0")
    with cql.connected(server) as session:
        session.execute("CREATE KEYSPACE k WITH replication = "
                        "{'class': 'SimpleStrategy', 'replication_factor': 1}")
        session.execute("CREATE TABLE k.queue (name text, at int, item text, "
                        "PRIMARY KEY (name, at))")
        session.execute("INSERT INTO k.queue (name, at, item) VALUES ('mail', 110000, 'last')")
        delete = session.prepare("DELETE FROM k.queue WHERE name = 'mail' AND at IN ?")
        for start in range(0, 110000, 10000):
            session.execute(delete, (list(range(start, start + 10000)),))
        for order in ("ASC", "DESC"):
            rows = session.execute("SELECT item FROM k.queue WHERE name = 'mail' "
                                   f"ORDER BY at {order} LIMIT 1")
            assert [row.item for row in rows] == ["last"]


def test_what_schema_prints_makes_the_schema_again(serve):
    server = serve("--cql", "127.0.0.1:0")
    for paper in IMPORTS:
        bring_in(server, paper)
    for keyspace in ("music", "BloggyAppy"):
        printed = server.run("schema", "--keyspace", keyspace).out
        assert printed in server.run("schema").out
        cql.cqlsh(server, stdin=f'DROP KEYSPACE "{keyspace}";\n{printed}')
        assert server.run("schema", "--keyspace", keyspace).out == printed
    assert "not found in keyspaces" in server.run("schema", "--keyspace", "Music", status=2).err
    assert "CREATE INDEX users_user_name_idx ON music.users (user_name);" in \
        server.run("schema", "--keyspace", "music").out


def test_import_and_schema_work_without_a_server(directory):
    file = PAPERS / "000_music.cli"
    dry = daybook.run("import", "-d", directory, "cassandra-cli", file, *MUSIC, "--dry-run",
                      status=3)
    assert "is no daybook directory" in dry.err
    made = daybook.run("import", "-d", directory, "cassandra-cli", file, *MUSIC)
    assert made.out.count("CREATE TABLE music.") == 5
    assert "CREATE TABLE music.user_likes (" in daybook.run("schema", "-d", directory).out
    svg = daybook.run("schema", "-d", directory, "--chebotko", "music").out
    xml.etree.ElementTree.fromstring(svg)
    assert svg == daybook.run("schema", "-d", directory, "--chebotko", "music").out


def test_an_import_that_fails_makes_nothing(serve, tmp_path):
    server = serve()
    before = server.run("schema").out
    file = tmp_path / "families"
    for kind, text, said in (
            ("cassandra-cli", "create column family a;\ncreate column family b with "
             "comparator='com.example.Order';", "line 2: comparator of b: 'com.example.Order'"),
            ("cassandra-cli", "use daybook; create column family reseller;",
             "line 1: table daybook.reseller exists already"),
            ("storage-conf", "<Keyspace Name='k'>\n<ColumnFamily Name='a'>", "line 2: the XML is"),
            ("storage-conf", "<Keyspace Name='daybook'/>", "keyspace daybook exists already")):
        file.write_text(text)
        answer = server.run("import", kind, file, "--keyspace", "k", status=2)
        assert said in answer.err and "nothing was made" in answer.err and not answer.out
    dry = server.run("import", "cassandra-cli", "-", "--keyspace", "k", "--dry-run",
                     stdin=b"create column family a;")
    assert dry.out.endswith("CREATE TABLE k.a (key blob, column1 blob, value blob, "
                            "PRIMARY KEY (key, column1));\n")
    assert server.run("schema").out == before


def test_what_the_catalogue_refuses_is_told_with_what_is_done(serve):
    server = serve()
    name = "x" * 49
    answer = server.run("import", "cassandra-cli", "-", "--keyspace", "k", status=2,
                        stdin=f"create column family a;\ncreate column family {name};".encode())
    assert "CREATE TABLE k.a (" in answer.out and name not in answer.out
    assert "line 2: refused: " in answer.err and "2 of 3 statements are done" in answer.err


def test_a_schema_changed_by_a_command_is_seen_by_clients(serve):
    server = serve("--cql", "127.0.0.1:0")
    with cql.connected(server) as session:
        bring_in(server, "000_music")
        key = uuid.uuid4()
        session.execute("INSERT INTO music.users (key, user_name) VALUES (%s, 'ann')", (key,))
        rows = session.execute("SELECT key FROM music.users WHERE user_name = 'ann'")
        assert [row.key for row in rows] == [key]
        assert cql.wait_for(lambda: "music" in session.cluster.metadata.keyspaces)
