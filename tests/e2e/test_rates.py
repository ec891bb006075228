"""A rate changed backwards changes its days, says so, and can be taken back."""

import decimal
import json

import pytest

import daybook


def report(directory):
    return daybook.run("report", "-d", directory, "--format", "csv").out


def restatements(directory, *words):
    text = daybook.run("restatements", "-d", directory, "--format", "csv", *words).out
    return daybook.rows(text)


@pytest.fixture(params=[False, True], ids=["directory", "server"])
def directory_of_flights(request, flights_copy, serve):
    if request.param:
        serve()
    return flights_copy


def test_a_rate_changes_its_days_and_nothing_else(directory_of_flights, flights):
    directory = directory_of_flights
    before = daybook.rows(flights.expected)
    daybook.run("rollup", "-d", directory)
    known = {row["changes"] for row in restatements(directory)}
    daybook.run("rate", "set", "-d", directory, "AA", "2013-04-01", "50%")
    after = daybook.rows(report(directory))
    assert len(after) == len(before)
    changed = {}
    for old, new in zip(before, after):
        if old["reseller_id"] == "AA" and "2013-04-01" <= old["day"] < "2013-05-02":
            assert new["rate"] == "0.50"
            assert decimal.Decimal(new["amount"]) == decimal.Decimal(old["gross"]) / 2
            assert {**new, "rate": "", "amount": ""} == {**old, "rate": "", "amount": ""}
            changed[old["day"]] = (old, new)
        else:
            assert new == old
    assert len(changed) == 31
    listed = [row for row in restatements(directory) if row["changes"] not in known]
    assert sorted(row["day"] for row in listed) == sorted(changed)
    assert len({row["changes"] for row in listed}) == 1
    for row in listed:
        old, new = changed[row["day"]]
        assert row["reseller_id"] == "AA"
        for name in ("clicks", "gross", "rate", "amount"):
            assert (row[f"old_{name}"], row[f"new_{name}"]) == (old[name], new[name])
    daybook.run("verify", "-d", directory)


def test_a_deleted_rate_gives_the_first_report_again(directory_of_flights, flights):
    directory = directory_of_flights
    daybook.run("rate", "set", "-d", directory, "AA", "2013-04-01", "50%")
    assert report(directory) != flights.expected
    daybook.run("rate", "delete", "-d", directory, "AA", "2013-04-01")
    assert report(directory) == flights.expected
    daybook.run("verify", "-d", directory)


def test_a_dry_run_says_the_same_and_changes_nothing(flights_copy, flights):
    words = ("rate", "set", "-d", flights_copy, "AA", "2013-04-01", "50%")
    tried = daybook.run(*words, "--dry-run")
    assert report(flights_copy) == flights.expected
    done = daybook.run(*words)
    days = [line for line in done.out.splitlines() if "2013-04-" in line]
    assert len(days) >= 30
    for day in days:
        assert day in tried.out


def test_a_rate_before_all_others_prices_unpriced_days(flights_copy):
    before = [row for row in daybook.rows(report(flights_copy)) if not row["rate"]]
    assert len(before) == 30
    resellers = {row["reseller_id"] for row in before}
    for reseller in resellers:
        daybook.run("rate", "set", "-d", flights_copy, reseller, "2012-01-01", "10%")
    after = daybook.rows(report(flights_copy))
    assert [row for row in after if not row["rate"]] == []
    assert sum(row["rate"] == "0.10" for row in after) == 30


def test_what_rate_list_prints_loads_again(flights_copy, directory, tmp_path, flights):
    daybook.run("rate", "set", "-d", flights_copy, "AA", "2013-12-31", "100%")
    listed = daybook.run("rate", "list", "-d", flights_copy, "--format", "csv").out
    assert "AA,2013-12-31,100%" in listed.splitlines()
    file = tmp_path / "rates.csv"
    file.write_text(listed)
    other = tmp_path / "other"
    daybook.run("rate", "load", "-d", other, file)
    assert daybook.run("rate", "list", "-d", other, "--format", "csv").out == listed
    assert len(daybook.rows(listed)) == len(daybook.rows(flights.rates.read_text())) + 1


# A bare number of 1 or more is refused with what was probably meant.
REFUSED = [
    ("25", "2013-04-01", "25%"),
    ("1", "2013-04-01", "1%"),
    ("-0.1", "2013-04-01", "-0.1"),
    ("101%", "2013-04-01", "101%"),
    ("half", "2013-04-01", "half"),
    ("NaN", "2013-04-01", "NaN"),
    ("1e-1", "2013-04-01", "1e-1"),
    ("0.1234567890123456789", "2013-04-01", "18"),
    ("50%", "2013-4-1", "2013-04-01"),
    ("50%", "2013-02-29", "2013-02-29"),
    ("50%", "yesterday", "yesterday"),
]


@pytest.mark.parametrize("rate, day, said", REFUSED)
def test_a_bad_rate_is_refused_by_name(directory, rate, day, said):
    daybook.run("init", "-d", directory)
    answer = daybook.run("rate", "set", "-d", directory, "--", "AA", day, rate, status=2)
    assert said in answer.err and answer.out == ""
    assert daybook.rows(daybook.run("rate", "list", "-d", directory, "--format", "csv").out) == []


@pytest.mark.parametrize("line", ["AA,2013-04-01,25", "AA,2013-4-1,0.25", "AA,2013-04-01",
                                  ",2013-04-01,0.1",
                                  "AA,2013-01-01,0.3\nAA,2013-01-01,0.4"])
def test_a_file_of_rates_is_loaded_whole_or_not_at_all(directory, tmp_path, line):
    daybook.run("init", "-d", directory)
    file = tmp_path / "rates.csv"
    file.write_text(f"reseller_id,effective_since,reward_percent\nBB,2013-01-01,0.2\n{line}\n")
    answer = daybook.run("rate", "load", "-d", directory, file, status=None)
    assert answer.status != 0
    assert "3" in answer.err or "4" in answer.err
    assert daybook.rows(daybook.run("rate", "list", "-d", directory, "--format", "csv").out) == []


def test_an_expected_old_rate_that_is_another_is_refused(flights_copy, flights):
    words = ("rate", "set", "-d", flights_copy, "AA", "2013-01-02", "22%")
    daybook.run(*words, "--expect", "0.9", status=1)
    assert report(flights_copy) == flights.expected
    daybook.run(*words, "--expect", "0.21")
    assert report(flights_copy) != flights.expected


def test_the_history_of_a_long_name_is_there(directory):
    for name in ("r" * 1000, "R" * 4096):
        daybook.run("rate", "set", name, "2013-11-01", "25%", "-d", directory)
        told = daybook.run("rate", "list", name, "--history", "-d", directory, "--format", "json")
        assert [(row["reseller_id"], row["new"]) for row in json.loads(told.out)] == [(name, "25%")]


def test_a_history_counts_what_a_change_does_not_name(directory, tmp_path):
    file = tmp_path / "rates.csv"
    file.write_text("reseller_id,effective_since,reward_percent\n" +
                    "".join(f"r{number},2013-11-01,25%\n" for number in range(2000)))
    clicks = "".join(f"r0,,{(16000 + day) * 86400000},ad1,0.01\n" for day in range(400))
    daybook.run("load", "-d", directory, "-", "--producer", "r", stdin=clicks.encode())
    daybook.run("clicks", "void", "--reseller", "r0", "-d", directory,
                "--from", "2013-01-01", "--to", "2015-12-31")
    daybook.run("rate", "load", file, "-d", directory)
    told = daybook.run("rate", "list", "--history", "-d", directory, "--format", "json")
    named = len(json.loads(told.out))
    assert 0 < named < 2000
    assert f"{2000 - named} rates of changes with many rates are not named here" in told.err
    told = daybook.run("rate", "list", "r0", "--history", "-d", directory)
    assert f"{2000 - named} rates of changes with many rates, perhaps of other" in told.err
