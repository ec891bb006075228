"""daybook.change: what was changed, as it was and is, by whom and from where."""

import re

import cql
import daybook

COLUMNS = "door, peer, actor, command, keys, old, new, note"


def changes(server, session=None):
    """The rows of this directory, in the order of their ids."""
    query = f"SELECT id, {COLUMNS} FROM daybook.change"
    if session is None:
        with cql.connected(server) as own:
            return changes(server, own)
    return sorted(session.execute(query), key=lambda row: row.id.time)


def test_rates_and_voids_say_what_they_changed(serve, paper, tmp_path):
    server = serve("--cql", "127.0.0.1:0")
    server.client().send(paper.bytes).finish().rest()
    server.run("rate", "set", "supaboobs", "2013-11-01", "20%", "--note", "agreed")
    server.run("rate", "set", "supaboobs", "2013-11-01", "25%")
    loaded = tmp_path / "rates.csv"
    loaded.write_text("reseller_id,effective_since,reward_percent\n"
                      "supaboobs,2013-11-01,0.3\nsupaboobs,2013-12-01,0.4\n")
    server.run("rate", "load", loaded)
    server.run("rate", "delete", "supaboobs", "2013-12-01")
    words = ("--reseller", "supaboobs", "--from", "2013-11-28", "--to", "2013-11-29")
    server.run("clicks", "void", *words)
    server.run("clicks", "restore", *words)
    with cql.connected(server) as session:
        session.execute("UPDATE daybook.reseller SET reward_percent = 0.5 WHERE id = 'supaboobs' "
                        "AND effective_since = '2013-11-01'")
        session.execute("DELETE FROM daybook.reseller WHERE id = 'supaboobs'")
        rows = changes(server, session)
    day = "supaboobs 2013-11-01"
    both = f"supaboobs 2013-12-01\n{day}"
    two = "supaboobs 2013-11-28\nsupaboobs 2013-11-29"
    gross = "2 clicks, gross 0.010\n2 clicks, gross 0.0150"
    assert [(row.keys, row.old, row.new) for row in rows] == [
        (day, "(none)", "20%"), (day, "20%", "25%"),
        (both, "(none)\n25%", "40%\n30%"),
        ("supaboobs 2013-12-01", "40%", "(none)"),
        (two, gross, "voided\nvoided"), (two, "voided\nvoided", gross),
        (day, "30%", "50%"), (day, "50%", "(none)")]
    assert [row.note for row in rows][:2] == ["agreed", None]
    assert {row.peer for row in rows if row.door != "cql"} == {None}
    peers = [row.peer for row in rows if row.door == "cql"]
    assert len(peers) == 2
    assert all(re.fullmatch(r"127\.0\.0\.1:\d+", peer) for peer in peers)


def test_a_change_of_very_many_rates_counts_those_without_room(serve, tmp_path):
    server = serve("--cql", "127.0.0.1:0")
    loaded = tmp_path / "rates.csv"
    loaded.write_text("reseller_id,effective_since,reward_percent\n" + "".join(
        f"reseller{number},2013-11-01,0.3\n" for number in range(500)))
    server.run("rate", "load", loaded)
    (row,) = changes(server)
    keys = row.keys.split("\n")
    assert len(row.keys) <= 4096 + 256
    assert len(row.old) <= 768 and len(row.new) <= 768
    assert len(keys) == len(row.old.split("\n")) == len(row.new.split("\n"))
    assert keys[-1] == f"... and {500 - len(keys) + 1} more"


def test_a_directory_of_before_gets_the_columns(serve, directory):
    """Made by 94846f1, whose `change` had none of them."""
    daybook.unpack("bad-segment.tar.gz", directory)
    server = serve("--cql", "127.0.0.1:0")
    server.run("rate", "set", "q", "2013-01-01", "45%")
    rows = changes(server)
    assert [(row.command.split()[-1], row.keys, row.old, row.new) for row in rows][-1] == (
        "45%", "q 2013-01-01", "4500%", "45%")
    assert rows[0].keys is None and rows[0].peer is None
