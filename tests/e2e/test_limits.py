"""The limits that are documented are those of the program, and each is met by a test."""

import re
import subprocess
import uuid

import pytest
from cassandra import InvalidRequest

import cql
import daybook

# Which test meets which line of `daybook limits`: a folder of tests/, a file, and a name in it.
MET_BY = {
    "id of a reseller or ad":
        "unit/test_line_parser.c ids_are_taken_up_to_4096_bytes_and_refused_beyond",
    "line at the text door":
        "unit/test_text_door.c a_line_of_100_megabytes_is_skipped_and_the_next_ones_are_taken",
    "batch as sent": "e2e/test_bad_input.py test_a_batch_over_the_size_limit_is_dropped_whole",
    "batches of a producer remembered":
        "unit/test_producer.c numbers_are_next_known_old_or_past_a_gap",
    "producers remembered":
        "unit/test_producer_rows.c "
        "none_of_two_batches_within_a_day_goes_and_the_new_one_is_refused",
    "of these, kept for `daybook load`": "unit/test_producer_rows.c places_are_kept_for_loads",
    "days of silence until a producer may be forgotten":
        "unit/test_producer_rows.c "
        "who_is_silent_for_long_is_forgotten_for_ever_when_another_comes",
    "connections at the ingest door":
        "e2e/test_limits.py test_one_connection_too_many_has_the_place_of_the_longest_idle_one",
    "strings of all binary connections":
        "unit/test_binary_door.c the_strings_of_all_connections_have_a_limit_and_are_counted",
    "lines, frames and batches that have come in part, of all connections":
        "unit/test_input_quota.c "
        "who_has_held_for_longest_and_one_guest_go_on_where_there_is_no_room",
    "of these, of each connection, free":
        "unit/test_input_quota.c what_is_free_does_not_count",
    "time for which one may hold some and send nothing, while others wait":
        "e2e/test_memory.py test_crowds_that_only_take_stay_within_the_limit",
    "answers of all ingest connections that wait":
        "e2e/test_memory.py test_crowds_that_only_take_stay_within_the_limit",
    "answers of a connection that wait for the disk":
        "unit/test_text_door.c more_answers_than_the_limit_wait_for_the_disk",
    "answers that wait for their reader":
        "e2e/test_bad_input.py test_a_client_that_never_reads_is_held_back_and_loses_nothing",
    "time for which they may wait":
        "unit/test_text_door.c a_client_that_never_reads_is_not_read_and_then_hung_up_on",
    "lines told one by one as refused":
        "e2e/test_bad_input.py test_rejects_past_100_are_summed_up",
    "kept of a refused line":
        "unit/test_line_parser.c ids_are_taken_up_to_4096_bytes_and_refused_beyond",
    "memory of the server (`--memory`)":
        "unit/test_text_door.c a_full_store_stops_reading_and_goes_on_where_it_stopped",
    "write of one frame": "unit/test_engine.c a_batch_over_the_limit_is_refused_whole",
    "log not in segments": "unit/test_engine.c a_log_over_its_limit_goes_to_segments",
    "log held back for a backup that follows":
        "sim/test_backup_following.c lets_the_log_go_past_its_limit_and_begins_with_a_point",
    "connections at the CQL door":
        "unit/test_native_door.c a_connection_beyond_the_limit_has_the_place_of_an_idle_one",
    "CQL request before a login":
        "unit/test_native_door.c a_request_of_more_than_4_kib_before_a_login_is_refused",
    "time to log in at the CQL door":
        "unit/test_native_door.c one_that_does_not_log_in_is_hung_up_on_and_one_that_did_is_not",
    "memory of all CQL connections that have not logged in":
        "unit/test_native_door.c many_half_requests_before_a_login_are_in_one_small_account",
    "passwords that wait to be checked":
        "unit/test_native_door.c "
        "passwords_that_wait_are_few_and_one_too_many_is_told_to_try_again",
    "CQL request": "unit/test_native_door.c a_body_over_the_limit_is_refused_and_passed_over",
    "CQL requests that come or wait, of all connections":
        "unit/test_native_door.c bodies_half_sent_by_many_stay_within_the_limit",
    "CQL requests while they are carried out, with their answers":
        "e2e/test_memory.py test_large_batches_of_many_clients_stay_within_the_limit",
    "row in memory, as writes over CQL make it grow":
        "unit/test_cql_row_size.c a_row_that_grows_by_small_statements_is_refused_in_time",
    "CQL answers that wait for their readers, of all connections":
        "unit/test_native_door.c while_answers_fill_the_limit_only_who_reads_is_served",
    "CQL requests of a connection that run at a time":
        "unit/test_native_door.c statements_beyond_those_that_run_wait_their_turn",
    "CQL statement": "unit/test_native_codec.c a_statement_over_its_limit_is_refused_as_such",
    "prepared statements":
        "unit/test_cql_session.c the_least_recently_used_statement_leaves_a_full_cache",
    "clients that send clicks over HTTP at a time": "unit/test_http_ingest.c posts_are_bounded",
    "time until clicks over HTTP are on disk": "unit/test_http_ingest.c a_late_door",
    "clicks in an HTTP request": "e2e/test_http_ingest.py test_requests_that_are_refused",
    "commands that the HTTP door runs at a time": "unit/test_web_command.c runs_are_bounded",
    "CSV without a limit over HTTP at a time": "unit/test_web_command.c sinks_are_bounded",
    "commands over HTTP that wait for others": "unit/test_web_command.c runs_that_wait_are_bounded",
    "time that a command over HTTP waits for others":
        "unit/test_web_command.c runs_that_wait_are_bounded",
    "memory of commands that the HTTP door runs, with what they print":
        "unit/test_web_command.c memory_of_commands_is_bounded",
    "time for an answer of a command over HTTP, except CSV without a limit":
        "unit/test_web_command.c late_commands_are_answered",
    "answer of a command over HTTP, except CSV without a limit":
        "unit/test_web_command.c large_answers_are_refused",
    "rows in a page of JSON over HTTP": "unit/test_api_words.c refusals_name_the_parameter",
    "cells in a page of CQL over HTTP": "e2e/test_api.py test_cql_answers_are_bounded",
    "views of the page that are made at a time":
        "unit/test_view.c makes_a_number_of_pages_at_once",
    "memory of the views that are being made":
        "unit/test_view.c reads_answers_for_which_there_is_memory",
    "parameters of an HTTP request": "unit/test_http_parameters.c have_a_limit",
    "connections at the HTTP door": "sim/test_door.c an_address_that_has_most_displaces_its_own",
    "head of an HTTP request": "unit/test_http_request.c limits",
    "headers of an HTTP request": "unit/test_http_request.c limits",
    "time for the head of an HTTP request": "unit/test_http_door.c late_heads_and_bodies",
    "time for the body of an HTTP request": "unit/test_http_door.c late_heads_and_bodies",
    "time between two HTTP requests": "unit/test_http_door.c an_idle_connection_is_closed",
    "input of HTTP connections that is no whole request, of all connections":
        "unit/test_http_door.c begun_heads_share_an_account",
    "HTTP answers that wait for their readers, of all connections":
        "unit/test_http_door.c slow_readers_share_an_account",
    "HTTP requests under way, of all connections": "unit/test_http_door.c bodies_without_room",
    "partition key": "e2e/test_limits.py test_a_key_that_is_too_long_is_refused",
    "what goes along with a command": "e2e/test_limits.py test_a_rate_file_over_the_limit",
    "files in one `load`": "e2e/test_limits.py test_more_than_may_be_named",
    "resellers named in one report": "e2e/test_limits.py test_more_than_may_be_named",
    "figures of all reports that wait to be given in order":
        "e2e/test_memory.py test_days_and_ads_without_number_stay_within_the_limit",
    "resellers in a picture over time":
        "unit/test_report.c shows_what_has_no_room_in_the_picture_as_one_sum",
    "days or months in a picture": "unit/test_report.c is_no_picture_of_more_days_than_it_can_show",
    "`counters --top`": "e2e/test_limits.py test_more_than_may_be_named",
    "connections of commands to a server":
        "unit/test_control.c one_more_than_can_run_is_told_so_unless_it_is_brief",
    "commands that run in a server, with what goes along with them":
        "unit/test_control.c a_command_that_waits_too_long_for_room_is_refused_and_told_why",
    "answers of all commands that wait for their readers":
        "e2e/test_memory.py test_commands_that_nobody_reads_stay_within_the_limit",
    "what commands keep by ad, reseller or key":
        "e2e/test_memory.py test_what_commands_keep_by_ad_stays_within_the_limit",
    "answer of a command that waits for its reader":
        "e2e/test_limits.py test_an_answer_that_nobody_reads_is_made_no_further",
}


def test_every_limit_is_met_by_a_test_that_is_there():
    rows = re.findall(r"^\| (.+?) \|", daybook.run("limits").out, re.MULTILINE)
    assert rows[0] == "what" and sorted(rows[1:]) == sorted(MET_BY)
    for limit, where in MET_BY.items():
        file, name = where.split()
        assert name in (daybook.ROOT / "tests" / file).read_text(), limit


def test_the_documented_limits_are_those_of_the_program():
    table = daybook.run("limits").out
    text = (daybook.ROOT / "docs" / "OPERATIONS.md").read_text()
    limits = text.split("\n## Limits\n", 1)[1].split("\n## ", 1)[0]
    assert table in limits, "docs/OPERATIONS.md \"Limits\" is to hold what `daybook limits` prints"


def test_one_connection_too_many_has_the_place_of_the_longest_idle_one(serve):
    server = serve(wrapper=("prlimit", "--nofile=4096"))
    clients = [server.client() for _ in range(1024)]
    clients[-1].send("r,2013-11-28,1385654400123,a,1\n#sync\n")
    assert clients[-1].line() == "ok - accepted 1 rejected 0"
    over = server.client()
    assert clients[0].line() == "error - too_many_connections"
    assert clients[0].line() is None
    for client in (over, clients[1], clients[-1]):
        client.send("r,2013-11-28,1385654400123,a,1\n#sync\n")
        assert client.line() == "ok - accepted 1 rejected 0"
    for client in clients + [over]:
        client.close()


def is_served(server):
    """A connection that came while no file was free is hung up."""
    client = server.client()
    try:
        return client.send("r,2013-11-28,1385654400123,a,1\n#sync\n").line() is not None
    except ConnectionError:
        return False
    finally:
        client.close()


def test_a_server_that_is_out_of_open_files_keeps_what_it_has_and_goes_on(serve):
    server = serve(wrapper=("prlimit", "--nofile=64"))
    held = server.client()
    held.send(f"#producer {uuid.uuid4()} 1 new\n#batch 1 1\nr,2013-11-28,1385654400123,a,1\n")
    assert held.line() == "ok 1 accepted 1 rejected 0"
    clients = [server.client() for _ in range(80)]
    held.send("#batch 2 1\nr,2013-11-28,1385654400123,a,1\n")
    assert held.line() == "ok 2 accepted 1 rejected 0"
    for client in clients:
        client.close()
    daybook.wait_until(lambda: is_served(server), "a connection that is served")
    held.close()
    assert "all agree" in server.run("verify").out


def test_a_key_that_is_too_long_is_refused(serve):
    server = serve("--cql", "127.0.0.1:0")
    with cql.connected(server) as session:
        session.execute("CREATE KEYSPACE k WITH replication = "
                        "{'class': 'SimpleStrategy', 'replication_factor': 1}")
        session.execute("CREATE TABLE k.t (p text PRIMARY KEY, v int)")
        insert = session.prepare("INSERT INTO k.t (p, v) VALUES (?, 1)")
        with pytest.raises(InvalidRequest, match="65536"):
            session.execute(insert, ("x" * 65536,))
        session.execute(insert, ("x" * 65535,))
        assert [len(row.p) for row in session.execute("SELECT p FROM k.t")] == [65535]


def test_a_rate_file_over_the_limit(directory, tmp_path):
    daybook.run("init", "-d", directory)
    file = tmp_path / "rates.csv"
    with file.open("wb") as out:
        out.truncate((63 << 20) + 1)
    answer = daybook.run("rate", "load", "-d", directory, file, status=3)
    assert str(file) in answer.err and "over the limit of 63 MB" in answer.err


@pytest.mark.parametrize("words, limit", [
    (["load", *["x.csv"] * 4097], "4096"),
    (["report", *["--reseller", "r"] * 1001], "1000"),
    (["counters", "--top", "1000001"], "1000000"),
], ids=["load", "report", "counters"])
def test_more_than_may_be_named(directory, words, limit):
    daybook.run("init", "-d", directory)
    assert limit in daybook.run(*words, "-d", directory, status=2).err.replace(",", "")


def test_an_answer_that_nobody_reads_is_made_no_further(serve):
    server = serve()
    long_ad = "ad" * 1000
    lines = "".join(f"r,2013-11-28,{1385654400000 + i},{long_ad}-{i},0.5\n"
                    for i in range(30_000))
    assert server.client().send(lines).finish().rest() == ["ok - accepted 30000 rejected 0"]
    reader = subprocess.Popen(
        [daybook.PROGRAM, "counters", "clicks_per_ad", "-d", str(server.directory),
         "--format", "csv"], stdout=subprocess.PIPE, env=daybook.environment())
    assert reader.stdout.readline() == b"ad_id,clicks\n"
    before = server.memory_kb("VmRSS")
    # Others are answered meanwhile, and the rest of some 60 MB is not made ahead.
    for _ in range(10):
        server.run("status")
    assert server.memory_kb("VmRSS") < before + (24 << 10)
    assert len(reader.stdout.readlines()) == 30_000
    reader.stdout.close()
    assert reader.wait(daybook.PATIENCE) == 0
