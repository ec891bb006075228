"""What the server keeps in memory is bounded by `--memory`, whatever the data look like."""

import datetime
import random
import uuid

import daybook

LIMIT_KB = 64 << 10
BESIDE_KB = 64 << 10    # docs/OPERATIONS.md "Memory": what is not in the account
PRODUCERS = 6
RESELLERS = 1000
FIRST_DAY = datetime.date(2012, 1, 1)
YEARS = 12
CLICKS = 72_000         # nearly each a (reseller, day) and an ad of its own


def clicks_of(producer):
    """Lines with hardly a (reseller, day) or ad twice."""
    choose = random.Random(producer)
    for _ in range(CLICKS // PRODUCERS):
        day = FIRST_DAY + datetime.timedelta(days=choose.randrange(YEARS * 365))
        time_ms = (day - datetime.date(1970, 1, 1)).days * 86_400_000 + choose.randrange(86_400_000)
        yield (f"reseller-{choose.randrange(RESELLERS):04},{day},{time_ms},"
               f"{uuid.UUID(int=choose.getrandbits(128))},{choose.randrange(1, 500) / 100}\n")


def test_days_and_ads_without_number_stay_within_the_limit(serve):
    server = serve("--memory", "64M")
    senders = [daybook.Producer(daybook.batches_of(list(clicks_of(number)), 1000))
               for number in range(PRODUCERS)]
    for sender in senders:
        sender.send_all(server.address)
    peak_kb = server.memory_kb()
    assert peak_kb <= LIMIT_KB + BESIDE_KB, (peak_kb, server.run("status").out)
    answer = server.run("verify")
    assert f"{CLICKS} clicks" in answer.out and "all agree" in answer.out
