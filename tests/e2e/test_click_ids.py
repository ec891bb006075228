"""Clicks with ids of the network's own: one id is one click, whichever door it comes through."""

import decimal
import json
import os
import random
import threading
import uuid

import pytest
from cassandra import InvalidRequest

import binary
import cql
import daybook

KILLS = int(os.environ.get("DAYBOOK_ID_KILLS", "8"))
IDS = {
    "uuid": ["00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"],
    "text": ["first", "zweite ü"],
    "bigint": ["-17", "9223372036854775807"],
}
WRONG = {"uuid": "17", "text": "", "bigint": "9223372036854775808"}


@pytest.fixture(params=sorted(IDS))
def kind(request):
    return request.param


def made(directory, kind):
    daybook.run("init", "-d", directory, "--click-id", kind)
    return directory


def line(click_id, amount="0.5", time=1385654400123, ad="ad", reseller="r", day="2013-11-28"):
    return f"{reseller},{day},{time},{ad},{amount},{click_id}\n"


def report(directory):
    return daybook.run("report", "-d", directory, "--format", "csv").out.splitlines()[1:]


def proved(directory):
    assert "all agree" in daybook.run("verify", "-d", directory).out


def test_the_kind_is_asked_for_when_the_directory_is_made(directory):
    answer = daybook.run("init", "-d", directory, "--click-id", "float", status=None)
    assert answer.status != 0 and "serial, uuid, text or bigint" in answer.err
    assert not (directory / "manifest").exists()


def test_a_repeated_id_is_accepted_and_counts_once(directory, kind, serve):
    server = serve(directory=made(directory, kind))
    one, two = IDS[kind]
    client = server.client()
    client.send(line(one), line(two, "0.25"), line(one, "0.50"), "#sync\n")
    assert client.line() == "ok - accepted 3 rejected 0 duplicates 1"
    listed = server.run("clicks", "list", "--reseller", "r", "--day", "2013-11-28", "--format",
                        "json").out
    assert sorted(str(click["click_id"]) for click in json.loads(listed)) == sorted([one, two])
    # The time is part of the key: another time is another click.
    client.send(line(one), line(one, time=1385654400124), "#sync\n")
    assert client.line() == "ok - accepted 2 rejected 0 duplicates 1"
    assert client.finish().rest() == []
    assert report(directory) == ["r,2013-11-28,3,1.25,,"]
    server.run("compact")
    assert report(directory) == ["r,2013-11-28,3,1.25,,"]
    proved(directory)


def test_another_amount_under_an_id_is_refused_and_kept(directory, kind, serve):
    server = serve(directory=made(directory, kind))
    one, two = IDS[kind]
    producer = server.client().send(f"#producer {uuid.uuid4()} 1 new\n")
    producer.send("#batch 1 4\n", line(one), line(WRONG[kind]), line(one, "0.6"), line(two))
    assert producer.line() == f'reject 1 2 bad_click_id {json.dumps(WRONG[kind])}'
    assert producer.line() == f'reject 1 3 differs {json.dumps(one, ensure_ascii=False)}'
    assert producer.line() == "ok 1 accepted 2 rejected 2"
    producer.send("#batch 1 4\n", line(one), line(WRONG[kind]), line(one, "0.6"), line(two))
    assert producer.line() == "ok 1 accepted 2 rejected 2 duplicate"
    producer.send("#batch 2 1\n", line(two, "7"))
    assert producer.line().startswith("reject 2 1 differs ")
    assert producer.line() == "ok 2 accepted 0 rejected 1"
    producer.close()
    codes = [row["code"] for row in
             daybook.rows(server.run("rejects", "list", "--format", "csv").out)]
    assert sorted(codes) == ["bad_click_id", "differs", "differs"]
    assert report(directory) == ["r,2013-11-28,2,1.0,,"]
    proved(directory)


def test_names_of_fields_take_the_id_and_a_line_without_one_is_refused(directory, serve):
    server = serve(directory=made(directory, "text"))
    client = server.client()
    client.send("click_id,amount,ad_id,time,day,reseller_id\n", "x,0.5,ad,1385654400123,,r\n")
    assert client.finish().rest() == ["ok - accepted 1 rejected 0"]
    client = server.client()
    client.send('{"click_id":"x","amount":0.5,"ad_id":"ad","time":1385654400123,'
                '"reseller_id":"r"}\n', '{"amount":0.5,"ad_id":"ad","time":1,"reseller_id":"r"}\n')
    assert client.finish().rest() == ['reject - 2 bad_click_id ""',
                                      "ok - accepted 1 rejected 1 duplicates 1"]
    client = server.client().send("r,2013-11-28,1385654400123,ad,1\n")
    assert client.finish().rest()[0].startswith("reject - 1 too_few_fields")
    client = server.client().send("reseller_id,time,ad_id,amount\n")
    assert client.line() == 'error - missing_column "click_id"'
    client.close()
    proved(directory)


@pytest.mark.parametrize("options", [[], ["--binary"]], ids=["lines", "frames"])
def test_files_load_with_ids_also_by_frames_and_twice_count_once(directory, tmp_path, options):
    made(directory, "uuid")
    file = tmp_path / "clicks.csv"
    lines = [line(uuid.UUID(int=number), f"0.{number % 9 + 1}", 1385654400000 + number % 70)
             for number in range(2000)]
    file.write_text("".join(lines + lines[:500]))
    daybook.run("load", "-d", directory, file, *options)
    before = report(directory)
    assert before[0].split(",")[2] == "2000"
    daybook.run("load", "-d", directory, file, "--as", "again", *options)
    assert report(directory) == before
    proved(directory)


def test_columns_of_the_binary_door_have_no_ids_and_are_refused(directory, serve):
    server = serve(directory=made(directory, "uuid"))
    client = binary.Client(server.address, daybook.PATIENCE)
    clicks = [("r", "2013-11-28", 1385654400123, "ad", 5, 3)]
    client.send(binary.hello() + client.writer.batch(0, clicks))
    assert client.finish() == ["binary 1", "error - no_click_ids"]


def test_an_amount_changed_by_cql_moves_sum_and_counters_by_the_difference(directory, serve):
    server = serve("--cql", "127.0.0.1:0", directory=made(directory, "uuid"))
    one, two = (uuid.UUID(text) for text in IDS["uuid"])
    server.client().send(line(one), line(two, "0.25")).finish().rest()
    key = "reseller_id = 'r' AND day = '2013-11-28' AND time = 1385654400123 AND ad_id = 'ad'"
    with cql.connected(server, "daybook") as session:
        row = session.execute(f"SELECT amount FROM ad_click WHERE {key} AND click_id = %s",
                              (one,)).one()
        assert row.amount == decimal.Decimal("0.5")
        session.execute(f"UPDATE ad_click SET amount = 0.75 WHERE {key} AND click_id = %s", (one,))
        assert report(directory) == ["r,2013-11-28,2,1.00,,"]
        for _ in range(2):
            session.execute("INSERT INTO ad_click (reseller_id, day, time, ad_id, click_id, amount)"
                            " VALUES ('r', '2013-11-28', 1385654400123, 'ad', %s, 2)", (two,))
        assert report(directory) == ["r,2013-11-28,2,2.75,,"]
        new = uuid.uuid4()
        session.execute("INSERT INTO ad_click (reseller_id, day, time, ad_id, click_id, amount) "
                        "VALUES ('r', '2013-11-28', 1385654400123, 'ad', %s, 1)", (new,))
        assert session.execute("SELECT clicks FROM clicks_per_ad").one().clicks == 3
        session.execute(f"DELETE FROM ad_click WHERE {key} AND click_id = %s", (one,))
        assert session.execute("SELECT clicks FROM clicks_per_ad").one().clicks == 2
        assert report(directory) == ["r,2013-11-28,2,3,,"]
        per_day = session.execute("SELECT clicks FROM clicks_per_reseller_per_day").one()
        assert per_day.clicks == 2
        with pytest.raises(InvalidRequest, match="kept by daybook"):
            session.execute("UPDATE clicks_per_ad SET clicks = clicks + 1 WHERE ad_id = 'ad'")
    proved(directory)


def test_a_void_and_its_restore_keep_the_ids(directory, serve):
    server = serve(directory=made(directory, "bigint"))
    server.client().send(line(1), line(2, "0.25")).finish().rest()
    chosen = ["--reseller", "r", "--day", "2013-11-28"]
    server.run("clicks", "void", *chosen, "--where", "click_id=1")
    assert report(directory) == ["r,2013-11-28,1,0.25,,"]
    server.run("clicks", "restore", *chosen)
    assert report(directory) == ["r,2013-11-28,2,0.75,,"]
    listed = daybook.rows(server.run("clicks", "list", *chosen, "--format", "csv").out)
    assert sorted(row["click_id"] for row in listed) == ["1", "2"]
    proved(directory)


def test_connections_that_bring_the_same_ids_at_once_count_them_once(directory, serve):
    server = serve(directory=made(directory, "bigint"))
    lines = [line(number, "0.01", 1385654400000 + number // 7, f"ad{number % 5}")
             for number in range(3000)]
    answers = []

    def send(seed):
        mine = list(lines)
        random.Random(seed).shuffle(mine)
        producer = daybook.Producer(daybook.batches_of(mine, 100))
        producer.send_all(server.address, window=4)
        answers.append(producer.is_done())

    threads = [threading.Thread(target=send, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [True] * 3
    assert report(directory) == ["r,2013-11-28,3000,30.00,,"]
    proved(directory)


def test_a_batch_of_very_many_days_is_taken_beside_writers_that_are_faster(directory, serve):
    """Each (reseller, day) is read by itself: neither the stack nor the number of tries may grow
    with their number."""
    server = serve(directory=made(directory, "bigint"))
    wide = daybook.Producer([[line(number, reseller=f"wide-{number}") for number in range(20000)]])
    others = daybook.Producer([[line(number, reseller=f"wide-{number % 50}")]
                               for number in range(20000, 10 ** 6)])
    others.connect(server.address)
    sender = threading.Thread(target=wide.send_all, args=(server.address,))
    sender.start()
    sent = 0
    while sender.is_alive():
        sent += 1
        others.send(sent)
        others.answer()
    sender.join()
    others.client.close()
    assert wide.is_done()
    assert sent > 3, "the batch met no other write"
    assert sum(int(row.split(",")[2]) for row in report(directory)) == 20000 + sent
    proved(directory)


def test_random_kills_leave_the_same_report_to_the_byte(directory, serve, tmp_path):
    choice = random.Random(11)
    lines = [line(uuid.UUID(int=number), f"0.{number % 90 + 10}",
                  1385654400000 + choice.randrange(1000), f"ad{number % 11}",
                  f"r{number % 3}") for number in range(4000)]
    lines += choice.sample(lines, 1000)
    choice.shuffle(lines)
    quiet = made(tmp_path / "quiet", "uuid")
    daybook.run("load", "-d", quiet, "-", "--producer", "x", stdin="".join(lines).encode())
    producers = [daybook.Producer(daybook.batches_of(lines[part::2], 50)) for part in range(2)]
    made(directory, "uuid")
    for life in range(KILLS + 1):
        server = serve(directory=directory)
        if life == KILLS:
            for producer in producers:
                producer.send_all(server.address)
            break
        for producer in producers:
            producer.connect(server.address)
            producer.sent = producer.acknowledged
        for _ in range(choice.randrange(4, 12)):
            for producer in producers:
                while producer.sent < len(producer.batches) and \
                        producer.sent - producer.acknowledged < 5:
                    producer.sent += 1
                    producer.send(producer.sent)
                if producer.sent > producer.acknowledged:
                    producer.answer()
        server.kill()
        for producer in producers:
            producer.client.close()
    assert report(directory) == report(quiet)
    proved(directory)
