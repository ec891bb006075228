"""What CQL answers from the sums that the store keeps of a partition, beside the same from rows.

A slice that leaves nothing out has to read the rows; without it nothing is read. Both must give
what Python makes of the clicks that were sent and deleted, digits included.
"""

import datetime
import decimal
import random

import cql
import daybook

DAYS = [f"2013-11-{day:02d}" for day in range(20, 24)]
RESELLERS = ["alpha", "beta", "gamma"]
WHAT = "count(*), count(amount), sum(amount), avg(amount), min(amount), max(amount)"
KEPT = "count(*), count(amount), sum(amount), sum(amount) AS again"


def milliseconds(day):
    start = datetime.datetime.fromisoformat(f"{day}T00:00:00+00:00")
    return int(start.timestamp() * 1000)


class Clicks:
    """What is there, by reseller and day: the amount of each (time, ad, click_id)."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.second = 0
        self.there = {(reseller, day): {} for reseller in RESELLERS for day in DAYS}

    def amount(self):
        scale = self.random.choice([0, 2, 2, 3, 18])
        digits = self.random.randrange(10 ** self.random.randrange(1, 10))
        return decimal.Decimal(digits).scaleb(-scale)

    def lines(self, count):
        """Clicks for the ingest door, which ranks equals; none is equal to one of an earlier call,
        whose rank may have been deleted."""
        made = []
        self.second += 1
        for _ in range(count):
            reseller, day = self.random.choice(list(self.there))
            time = milliseconds(day) + 1000 * self.second + self.random.randrange(50)
            ad = f"ad{self.random.randrange(3)}"
            amount = self.amount()
            rows = self.there[reseller, day]
            rank = sum((time, ad) == row[:2] and row[2] >= 0 for row in rows)
            rows[time, ad, rank] = amount
            made.append(f"{reseller},{day},{time},{ad},{amount:f}\n")
        return made

    def write(self, session, count):
        """Clicks that a client names, some of them twice, so that they are written over."""
        for _ in range(count):
            reseller, day = self.random.choice(list(self.there))
            time = milliseconds(day) + self.random.randrange(5)
            number = -self.random.randrange(1, 4)
            amount = self.amount()
            session.execute(
                "INSERT INTO daybook.ad_click (reseller_id, day, time, ad_id, click_id, amount) "
                "VALUES (%s, %s, %s, 'ad0', %s, %s)", (reseller, day, time, number, amount))
            self.there[reseller, day][time, "ad0", number] = amount

    def delete(self, session, count):
        for _ in range(count):
            key = self.random.choice([key for key, rows in self.there.items() if rows])
            row = self.random.choice(list(self.there[key]))
            session.execute("DELETE FROM daybook.ad_click WHERE reseller_id = %s AND day = %s AND "
                            "time = %s AND ad_id = %s AND click_id = %s", (*key, *row))
            del self.there[key][row]

    def compare(self, session):
        for key, rows in self.there.items():
            where = "WHERE reseller_id = %s AND day = %s"
            kept = session.execute(f"SELECT {KEPT} FROM daybook.ad_click {where}", key).one()
            read = session.execute(f"SELECT {WHAT} FROM daybook.ad_click {where} AND time >= 0",
                                   key).one()
            amounts = list(rows.values())
            with decimal.localcontext(decimal.Context(prec=60)):
                total = sum(amounts, decimal.Decimal(0))
            assert tuple(kept)[:3] == (len(rows), len(amounts), total), key
            assert tuple(read)[:3] == (len(rows), len(amounts), total), key
            assert kept[2].as_tuple() == read[2].as_tuple() == total.as_tuple(), key
            assert kept[3] == total
            assert tuple(read)[4:] == ((min(amounts), max(amounts)) if amounts else (None, None))


def send(server, lines):
    daybook.Producer(daybook.batches_of(lines, 50)).send_all(server.address, window=1)


def uses_kept_sums(session, what, slices):
    query = f"SELECT {what} FROM daybook.ad_click WHERE reseller_id = 'alpha' AND day = '{DAYS[0]}'"
    trace = session.execute(query + slices, trace=True).get_query_trace()
    return any("the kept sums of" in event.description for event in trace.events)


def test_kept_sums_are_what_the_rows_add_up_to(serve, directory):
    clicks = Clicks(7)
    server = serve("--cql", "127.0.0.1:0")
    for step in range(4):
        with cql.connected(server) as session:
            send(server, clicks.lines(300))
            clicks.compare(session)
            clicks.write(session, 40)
            clicks.compare(session)
            clicks.delete(session, 30)
            clicks.compare(session)
            server.run("compact")
            clicks.compare(session)
        if step % 2 == 0:
            server.kill()
            server = serve("--cql", "127.0.0.1:0")
            with cql.connected(server) as session:
                clicks.compare(session)
    with cql.connected(server) as session:
        assert uses_kept_sums(session, KEPT, "")
        assert not uses_kept_sums(session, KEPT, " AND time >= 0")
        assert not uses_kept_sums(session, WHAT, "")
    daybook.run("verify", "-d", directory)
