"""Bad lines, batches and clients are each answered clearly, and nothing good is lost."""

import random
import uuid

import pytest

import daybook

GOOD = "AA,2013-04-01,1364774400000,ad1,0.05\n"
ID_MAX = 4096


def total(server):
    (row,) = daybook.rows(server.run("report", "--by", "total", "--format", "csv").out)
    return int(row["clicks"]), row["gross"]


def click(reseller="AA", day="2013-04-01", time="1364774400000", ad="ad1", amount="0.05"):
    return ",".join((reseller, day, time, ad, amount))


# ---- lines ----

LINES = {
    "one field": ("x", "too_few_fields"),
    "too few fields": ("AA,2013-04-01,1364774400000,ad1", "too_few_fields"),
    "too many fields": (click() + ",more", "too_many_fields"),
    "an empty line": ("", "empty_line"),
    "an empty reseller": (click(reseller=""), "empty_id"),
    "an empty ad": (click(ad=""), "empty_id"),
    "an ad of 64 KiB": (click(ad="a" * 65536), "id_too_long"),
    "an ad one byte too long": (click(ad="a" * (ID_MAX + 1)), "id_too_long"),
    "a reseller of 64 KiB": (click(reseller="r" * 65536), "id_too_long"),
    "a control byte": (click(ad="a\x07d"), "control_character"),
    "a NUL": (click(ad="a\x00d"), "control_character"),
    "an open quote": (click(amount='"0.05'), "bad_quote"),
    "a quote within a field": (click(ad='a"d'), "bad_quote"),
    "an unquoted # at the start": ("#x,2013-04-01,1364774400000,ad1,0.05", "unknown_control"),
    "a day that is none": (click(day="2013-02-30"), "bad_day"),
    "a month that is none": (click(day="2013-13-01"), "bad_day"),
    "a day of another form": (click(day="2013-4-1"), "bad_day"),
    "a day two days off": (click(day="2013-04-03"), "day_mismatch"),
    "a time that is none": (click(time="noon"), "bad_time"),
    "a time without a zone": (click(time="2013-04-01T00:00:00"), "bad_time"),
    "a time before 1970": (click(day="", time="-1"), ("bad_time", "time_out_of_range")),
    "a date before 1970": (click(day="", time="1969-12-31T23:59:59Z"), "time_out_of_range"),
    "a time after 9999": (click(day="", time="253402300800000"), "time_out_of_range"),
    "an amount of 1e400": (click(amount="1e400"), "bad_amount"),
    "an amount of NaN": (click(amount="NaN"), "bad_amount"),
    "a negative amount": (click(amount="-0.01"), "bad_amount"),
    "no amount": (click(amount=""), "bad_amount"),
    "a comma in the amount": (click(amount='"12,3"'), "bad_amount"),
    "19 significant digits": (click(amount="1234567890.123456789"), "bad_amount"),
    "19 decimals": (click(amount="0.0000000000000000001"), "bad_amount"),
}


@pytest.fixture(scope="module")
def lasting(tmp_path_factory):
    """One server for all single lines."""
    server = daybook.Server(tmp_path_factory.mktemp("lasting") / "data")
    yield server
    assert server.stop() == 0, server.text()


@pytest.mark.parametrize("name", LINES)
def test_a_bad_line_is_refused_and_its_neighbours_are_kept(lasting, name):
    line, codes = LINES[name]
    before = total(lasting)[0]
    answers = lasting.client().send(GOOD, line + "\n", GOOD).finish().rest()
    assert len(answers) == 2, answers
    words = answers[0].split(" ", 4)
    assert words[:3] == ["reject", "-", "2"]
    assert words[3] in ([codes] if isinstance(codes, str) else codes), answers
    assert words[4].startswith('"') and len(words[4].encode()) <= 64 * 6 + 2
    assert answers[1] == "ok - accepted 2 rejected 1"
    assert total(lasting)[0] == before + 2


@pytest.mark.parametrize("where", ["reseller", "ad"])
@pytest.mark.parametrize("bad", [b"\xff", b"\xc3", b"\xc0\x80", b"\xed\xa0\x80",
                                 b"\xf5\x80\x80\x80"],
                         ids=["no start", "cut", "overlong", "surrogate", "past the end"])
def test_invalid_utf8_is_refused(lasting, where, bad):
    line = click(**{where: "@@"}).encode().replace(b"@@", b"a" + bad)
    answers = lasting.client().send(line, b"\n", GOOD).finish().rest()
    assert answers[0].startswith("reject - 1 bad_utf8 ")
    assert answers[1] == "ok - accepted 1 rejected 1"


ACCEPTED = {
    "an id of the longest length": click(ad="x" * ID_MAX),
    "a quoted # at the start": click(reseller='"#x"'),
    "quotes and commas in a quoted id": click(ad='"a ""b"", c"'),
    "a line that ends in CR LF": click() + "\r",
    "no day": click(day=""),
    "the day before": click(day="2013-03-31"),
    "the day after": click(day="2013-04-02"),
    "the first moment of 1970": click(day="", time="0"),
    "the last moment of 9999": click(day="", time="253402300799999"),
    "an ISO time": click(time="2013-04-01T02:00:00+02:00"),
    "18 significant digits": click(amount="123456789.012345678"),
    "an amount of nothing": click(amount="0"),
    "letters of all kinds": click(reseller="žluťoučký", ad="広告"),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_is_unusual_but_right_is_accepted(lasting, name):
    before = total(lasting)[0]
    answers = lasting.client().send(ACCEPTED[name], "\n").finish().rest()
    assert answers == ["ok - accepted 1 rejected 0"]
    assert total(lasting)[0] == before + 1


def test_a_last_line_without_its_end_is_refused(lasting):
    answers = lasting.client().send(GOOD, GOOD.rstrip("\n")).finish().rest()
    assert answers[0].startswith("reject - 2 cut_line ")
    assert answers[1] == "ok - accepted 1 rejected 1"


def test_a_line_of_100_mb_is_skipped_in_bounded_memory(lasting):
    client = lasting.client().send(GOOD)
    piece = b"a" * (1 << 20)
    for _ in range(100):
        client.send(piece)
    answers = client.send("\n", GOOD).finish().rest()
    assert answers[0].startswith("reject - 2 line_too_long ")
    assert answers[1] == "ok - accepted 2 rejected 1"
    assert lasting.memory_kb() < 512 << 10


def test_an_unknown_column_in_the_header_ends_the_connection(lasting):
    answers = lasting.client().send("reseller_id,day,time,ad_id,amount,colour\n", GOOD).rest()
    assert len(answers) == 1
    assert answers[0].startswith("error - ") and "colour" in answers[0]


def test_columns_may_come_in_another_order(lasting):
    before = total(lasting)[0]
    answers = lasting.client().send("amount,ad_id,time,reseller_id\n",
                                    "0.05,ad1,1364774400000,AA\n").finish().rest()
    assert answers == ["ok - accepted 1 rejected 0"]
    assert total(lasting)[0] == before + 1


def test_no_lines_at_all_are_answered(lasting):
    assert lasting.client().finish().rest() == ["ok - accepted 0 rejected 0"]


def test_random_bytes_never_stop_the_server(lasting):
    choice = random.Random(3)
    before = total(lasting)[0]
    for _ in range(20):
        noise = choice.randbytes(100000).replace(b"#", b"+").replace(b"{", b"+")
        client = lasting.client().send(GOOD, noise, b"\n", GOOD).finish()
        assert client.rest()[-1].startswith("ok - accepted 2 ")
    assert total(lasting)[0] == before + 40
    for _ in range(20):
        client = lasting.client()
        try:
            client.send(choice.randbytes(1000)).finish().rest()
        except ConnectionError:
            client.close()
    assert lasting.client().send(GOOD).finish().rest() == ["ok - accepted 1 rejected 0"]


# ---- batches ----


@pytest.fixture
def producer(lasting):
    """A connection that has said who it is."""
    client = lasting.client()
    client.id = str(uuid.uuid4())
    client.send(f"#producer {client.id} 1 new\n")
    yield client
    client.close()


def test_rejects_of_a_batch_come_before_its_ok(producer):
    producer.send("#batch 1 3\n", GOOD, click(amount='"12,3"'), "\n", GOOD)
    assert producer.line() == 'reject 1 2 bad_amount "12,3"'
    assert producer.line() == "ok 1 accepted 2 rejected 1"


def test_rejects_past_100_are_summed_up(producer):
    producer.send("#batch 1 1001\n", GOOD, (click(amount="x") + "\n") * 1000)
    answers = [producer.line() for _ in range(102)]
    assert answers[99] == 'reject 1 101 bad_amount "x"'
    assert answers[100:] == ["rejects 1 bad_amount 900", "ok 1 accepted 1 rejected 1000"]


def test_a_batch_that_ends_early_is_dropped_whole(lasting, producer):
    before = total(lasting)
    answers = producer.send("#batch 1 10\n", GOOD * 5).finish().rest()
    assert len(answers) == 1 and answers[0].startswith("error 1 batch_cut")
    assert total(lasting) == before
    again = lasting.client().send(f"#producer {producer.id} 1 new\n#batch 1 1\n", GOOD)
    assert again.line() == "ok 1 accepted 1 rejected 0"
    again.close()


def test_a_batch_over_the_size_limit_is_dropped_whole(lasting, producer):
    before = total(lasting)
    line = click(ad="a" * 4000) + "\n"
    lines = (9 << 20) // len(line)
    producer.send(f"#batch 1 {lines}\n")
    try:
        producer.send(line * lines)
    except ConnectionError:
        pass
    assert producer.line() == "error 1 batch_too_large"
    assert total(lasting) == before


def test_the_same_number_with_other_content_is_refused(lasting, producer):
    producer.send("#batch 1 1\n", GOOD)
    assert producer.line() == "ok 1 accepted 1 rejected 0"
    producer.send("#batch 1 1\n", GOOD)
    assert producer.line() == "ok 1 accepted 1 rejected 0 duplicate"
    before = total(lasting)
    producer.send("#batch 1 1\n", click(amount="0.06"), "\n")
    assert producer.line() == "error 1 batch_differs"
    assert producer.line() is None
    assert total(lasting) == before


def test_a_gap_in_the_numbers_names_the_one_expected(producer):
    producer.send("#batch 1 1\n", GOOD, "#batch 3 1\n", GOOD)
    assert producer.line() == "ok 1 accepted 1 rejected 0"
    assert producer.line() == "error 3 sequence_gap expected 2"
    assert producer.line() is None


def test_the_first_batch_is_number_1(producer):
    producer.send("#batch 2 1\n", GOOD)
    assert producer.line() == "error 2 sequence_gap expected 1"


def test_an_unknown_producer_is_never_guessed(lasting):
    client = lasting.client().send(f"#producer {uuid.uuid4()} 1\n")
    assert client.line() == "error - unknown_producer"
    assert client.line() is None


def test_a_batch_without_a_producer_is_refused(lasting):
    client = lasting.client().send("#batch 1 1\n", GOOD)
    assert client.line() == "error 1 no_producer"
    assert client.line() is None


def test_an_older_epoch_is_fenced_off(lasting, producer):
    producer.send("#batch 1 1\n", GOOD)
    assert producer.line() == "ok 1 accepted 1 rejected 0"
    newer = lasting.client().send(f"#producer {producer.id} 2\n#batch 2 1\n", GOOD)
    assert newer.line() == "ok 2 accepted 1 rejected 0"
    assert producer.line() == "error - taken_over"
    assert producer.line() is None
    older = lasting.client().send(f"#producer {producer.id} 1\n")
    assert older.line() == "error - wrong_epoch current 2"
    newer.close()


@pytest.mark.parametrize("line", ["#batch", "#batch 0 1", "#batch 1", "#batch x 1", "#batch 1 -1",
                                  "#producer", "#producer x 1 new", "#stream nobody"])
def test_a_control_line_that_means_nothing_ends_the_connection(lasting, line):
    client = lasting.client().send(line, "\n", GOOD)
    assert client.line().startswith("error ")
    assert client.line() is None
    client.close()


def test_sync_answers_for_the_lines_before_it(lasting):
    client = lasting.client().send(GOOD, "x\n", "#sync\n", GOOD, "#sync\n")
    assert client.line().startswith("reject - 2 too_few_fields ")
    assert client.line() == "ok - accepted 1 rejected 1"
    assert client.line() == "ok - accepted 1 rejected 0"
    client.close()


# ---- clients ----


def test_a_client_that_never_reads_is_held_back_and_loses_nothing(serve):
    server = serve()
    lazy = server.client()
    lazy.socket.setblocking(False)
    lines = (click(amount="x" * 60) + "\n").encode() * 100 + GOOD.encode() + b"#sync\n"
    rest = b""
    sent = 0
    # Until nothing more is taken: both sides' buffers are full of what it does not read.
    for _ in range(100000):
        try:
            rest = rest or lines
            taken = lazy.socket.send(rest)
            rest = rest[taken:]
            sent += taken
        except BlockingIOError:
            break
    assert server.client().send(GOOD).finish().rest() == ["ok - accepted 1 rejected 0"]
    assert server.memory_kb() < 512 << 10
    lazy.socket.settimeout(daybook.PATIENCE)
    lazy.close()
    assert server.client().send(GOOD).finish().rest() == ["ok - accepted 1 rejected 0"]
    server.run("verify")


def test_a_client_that_dies_in_a_batch_leaves_nothing_of_it(serve):
    server = serve()
    client = server.client().send(f"#producer {uuid.uuid4()} 1 new\n#batch 1 1000\n", GOOD * 500)
    client.close()
    assert server.client().send(GOOD).finish().rest() == ["ok - accepted 1 rejected 0"]
    assert total(server) == (1, "0.05")


def test_rejects_are_kept_and_can_be_exported(serve):
    server = serve()
    bad = [click(amount="-1"), "x", click(ad="")]
    server.client().send("\n".join(bad), "\n").finish().rest()
    assert server.stop() == 0
    listed = daybook.rows(daybook.run("rejects", "list", "-d", server.directory, "--format",
                                      "csv").out)
    assert [row["code"] for row in listed] == ["bad_amount", "too_few_fields", "empty_id"]
    exported = daybook.run("rejects", "export", "-d", server.directory).out
    for line in bad:
        assert line in exported
