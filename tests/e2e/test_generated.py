"""Generated clicks are the same each time, and what send_clicks sends is what arrives."""

import collections
import decimal
import os
import pathlib
import subprocess
import uuid

import pytest

import daybook

# Beside the program that is tested; ./daybook is a copy of the release one.
BENCH = (pathlib.Path(daybook.PROGRAM).parent if "DAYBOOK" in os.environ
         else daybook.ROOT / "build" / "release-gcc") / "bench"


def generate(*words):
    done = subprocess.run([BENCH / "generate_clicks", *map(str, words)], check=True,
                          capture_output=True, timeout=daybook.PATIENCE)
    return done.stdout.decode().splitlines()


def test_the_same_options_give_the_same_bytes():
    first = generate("-n", 50000)
    assert first == generate("-n", 50000)
    assert first != generate("-n", 50000, "--seed", 2)
    assert first[1] == "reseller-0001,2026-08-01,1785542433822,ad-0008198,0.30"


def test_lines_are_those_of_the_reference_data():
    fields = [line.split(",") for line in generate("-n", 200000)[1:]]
    assert len(fields) == 200000
    size = sum(len(",".join(f)) + 1 for f in fields) / len(fields)
    assert 54.9 < size < 55.1
    resellers = collections.Counter(f[0] for f in fields).most_common()
    assert len(resellers) == 1000
    # Weight 1/1 of a sum of 1/1 to 1/1000, 7.485.
    assert resellers[0][0] == "reseller-0000"
    assert 0.128 < resellers[0][1] / len(fields) < 0.139
    cents = sorted(decimal.Decimal(f[4]) for f in fields)
    assert cents[0] > 0 and cents[len(cents) // 2] == decimal.Decimal("0.45")
    times = [int(f[2]) for f in fields]
    assert times == sorted(times) and times[-1] - times[0] > 29.9 * 86400000


@pytest.mark.parametrize("order, least, most", [("late", 0.03, 0.06), ("shuffled", 0.4, 0.6)])
def test_times_are_in_the_order_asked_for(order, least, most):
    times = [int(line.split(",")[2]) for line in generate("-n", 50000, "-o", order)[1:]]
    back = sum(one > other for one, other in zip(times, times[1:])) / len(times)
    assert least < back < most


def test_shapes_of_the_data_are_those_asked_for():
    fields = [line.split(",") for line in generate("-n", 20000, "--heavy", "--uuid-ads")[1:]]
    assert 0.48 < sum(f[0] == "reseller-0000" for f in fields) / len(fields) < 0.52
    assert all(str(uuid.UUID(f[3])) == f[3] for f in fields)
    fields = [line.split(",") for line in generate("-n", 20000, "-r", 100000, "-d", 3650)[1:]]
    assert all(len(f[0]) == len("reseller-000001") for f in fields)
    assert len({f[1] for f in fields}) > 3500


def test_batches_hold_the_same_lines():
    framed = generate("-n", 2500, "--producer", "5f0c6d1e-8f0a-4c57-9a3c-2f1f0d7c9a11")
    assert [line for line in framed if line.startswith("#")] == [
        "#producer 5f0c6d1e-8f0a-4c57-9a3c-2f1f0d7c9a11 1 new", "#batch 1 1000", "#batch 2 1000",
        "#batch 3 500"]
    assert [line for line in framed if not line.startswith("#")] == generate("-n", 2500)[1:]


@pytest.mark.parametrize("connections", [1, 3, 8])
def test_send_clicks_sends_what_generate_clicks_prints(serve, connections):
    server = serve()
    subprocess.run([BENCH / "send_clicks", "-n", "100500", "-c", str(connections), "-o", "shuffled",
                    ":".join(map(str, server.address))], check=True, timeout=daybook.PATIENCE,
                   capture_output=True)
    wanted = collections.defaultdict(lambda: [0, decimal.Decimal(0)])
    for line in generate("-n", 100500, "-o", "shuffled")[1:]:
        reseller, day, _, _, amount = line.split(",")
        wanted[reseller, day][0] += 1
        wanted[reseller, day][1] += decimal.Decimal(amount)
    found = {(row["reseller_id"], row["day"]): [int(row["clicks"]), decimal.Decimal(row["gross"])]
             for row in daybook.rows(server.run("report", "--format", "csv").out)}
    assert found == wanted
    server.run("verify")
