"""Reports, counters and the ledger against a model that keeps nothing but a list of clicks.

Clicks by socket and by CQL, rates, voids and deletions come at random, from a seed; after each step
every question is asked in every grouping, of the server and of the directory alone, and what the
ledger said at the end of each step is asked for again at the end of all.
"""

import collections
import datetime
import decimal
import random
import time

import pytest

import cql
import daybook

STEPS = 8
RESELLERS = ["alpha", "beta", "ähre", "gamma,delta", "zeta"]
ADS = ["ad1", "ad2", 'ad"3"', "ad4"]
FIRST = datetime.date(2013, 11, 24)
DAYS = [str(FIRST + datetime.timedelta(days=number)) for number in range(14)]
EXACT = decimal.Context(prec=100, rounding=decimal.ROUND_HALF_EVEN)


def total(values):
    with decimal.localcontext(EXACT):
        return sum(values, decimal.Decimal(0))


def plain(value):
    return "" if value is None else f"{value:f}"


def quoted(text):
    return '"' + text.replace('"', '""') + '"' if set(text) & set(',"') else text


class Model:
    """Clicks as (reseller, day, ad, amount), rates as {reseller: {day: rate}}, and the amounts of
    clicks that a client named by their whole keys."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.clicks = []
        self.named = {}
        self.voided = []
        self.published = set()
        self.rates = collections.defaultdict(dict)

    def make(self, count):
        """Lines of clicks; of some the day follows from the time."""
        lines = []
        for _ in range(count):
            reseller, day = self.random.choice(RESELLERS), self.random.choice(DAYS)
            ad = self.random.choice(ADS)
            scale = self.random.choice([0, 2, 2, 4, 9])
            amount = decimal.Decimal(self.random.randrange(10 ** 6)).scaleb(-scale)
            given = self.random.choice(["", day])
            instant = f"{day}T{self.random.choice(['00:00:00', '12:34:56.789', '23:59:59.999'])}Z"
            lines.append(f"{quoted(reseller)},{given},{instant},{quoted(ad)},{amount:f}\n")
            self.clicks.append((reseller, day, ad, amount))
        return lines

    def rate(self, reseller, day):
        since = max((since for since in self.rates[reseller] if since <= day), default=None)
        return None if since is None else self.rates[reseller][since]

    def days(self, resellers, first, last):
        """(reseller, day) to its clicks, in a report's order; a day that was published stays, also
        when all of its clicks are gone."""
        found = {key: [] for key in self.published if key[0] in resellers and
                 first <= key[1] <= last}
        for click in self.clicks:
            if click[0] in resellers and first <= click[1] <= last:
                found.setdefault(click[:2], []).append(click)
        order = sorted(found, key=lambda key: key[1], reverse=True)
        return {key: found[key] for key in sorted(order, key=lambda key: key[0].encode())}

    def by_day(self, *which):
        rows = []
        for (reseller, day), clicks in self.days(*which).items():
            gross, rate = total(click[3] for click in clicks), self.rate(reseller, day)
            amount = None if rate is None else EXACT.multiply(gross, rate)
            rows.append([reseller, day, str(len(clicks)), plain(gross), plain(rate), plain(amount)])
        return rows

    def grouped(self, by, *which):
        """Rows of every other grouping: keys, clicks, gross, amount, what is unpriced."""
        groups = {}
        if by == "total":
            groups[()] = []
        for (reseller, day), clicks in self.days(*which).items():
            for ad in {click[2] for click in clicks} if by == "ad" else [None]:
                key = {"month": (reseller, day[:7]), "reseller": (reseller,),
                       "ad": (reseller, ad), "total": ()}[by]
                groups.setdefault(key, []).append(
                    (day, reseller, [click[3] for click in clicks if ad in (None, click[2])]))
        if by == "ad":
            groups = dict(sorted(groups.items(), key=lambda item: [k.encode() for k in item[0]]))
        return [[*key, *self.sums(parts)] for key, parts in groups.items()]

    def sums(self, parts):
        priced, unpriced, unpriced_days, gross = [], [], set(), []
        for day, reseller, amounts in parts:
            rate, gross_part = self.rate(reseller, day), total(amounts)
            gross.append(gross_part)
            if rate is not None:
                priced.append(EXACT.multiply(gross_part, rate))
            elif amounts:
                unpriced.append(gross_part)
                unpriced_days.add((reseller, day))
        return [str(sum(len(part[2]) for part in parts)), plain(total(gross)), plain(total(priced)),
                str(len(unpriced_days)), plain(total(unpriced))]

    def write(self, key, amount):
        """A click that a client names, perhaps over one that is there; None: it is deleted."""
        old = self.named.pop(key, None)
        if old is not None:
            self.clicks.remove((key[0], key[1], key[3], old))
        if amount is not None:
            self.named[key] = amount
            self.clicks.append((key[0], key[1], key[3], amount))

    def forget(self, reseller, first, last, ad):
        self.named = {key: amount for key, amount in self.named.items()
                      if not (key[0] == reseller and first <= key[1] <= last and
                              ad in (None, key[3]))}

    def void(self, reseller, first, last, ad):
        gone = [click for click in self.clicks
                if click[0] == reseller and first <= click[1] <= last and ad in (None, click[2])]
        self.voided += gone
        self.forget(reseller, first, last, ad)
        for click in gone:
            self.clicks.remove(click)
        return bool(gone)

    def counters(self):
        return {"clicks_per_ad": collections.Counter((click[2],) for click in self.clicks),
                "clicks_per_reseller": collections.Counter((click[0],) for click in self.clicks),
                "clicks_per_reseller_per_day": collections.Counter(click[:2]
                                                                   for click in self.clicks)}


def table(directory, command, *words):
    text = daybook.run(command, "-d", directory, *words, "--format", "csv").out
    return [list(row.values()) for row in daybook.rows(text)]


def rounded(rows, columns, digits):
    unit = decimal.Decimal(1).scaleb(-digits)
    return [[plain(decimal.Decimal(cell).quantize(unit, context=EXACT))
             if at in columns and cell else cell for at, cell in enumerate(row)] for row in rows]


def some_of(model):
    """Resellers and days to ask for, and the words that do."""
    resellers, first, last = RESELLERS, "0000", "9999"
    words = []
    if model.random.random() < 0.6:
        resellers = model.random.sample(RESELLERS, model.random.randrange(1, 4))
        words += [word for reseller in resellers for word in ("--reseller", reseller)]
    if model.random.random() < 0.6:
        first, last = sorted(model.random.choices(DAYS, k=2))
        words += ["--from", first, "--to", last]
    return (resellers, first, last), words


def compare(directory, model):
    which, words = some_of(model)
    assert table(directory, "report", *words) == model.by_day(*which)
    assert rounded(model.by_day(*which), {3, 5}, 2) == table(directory, "report", *words,
                                                             "--round", 2)
    for by in ("month", "reseller", "ad", "total"):
        wanted = model.grouped(by, *which)
        assert table(directory, "report", "--by", by, *words) == wanted, (by, words)
    for name, counts in model.counters().items():
        found = {tuple(row[:-1]): int(row[-1]) for row in table(directory, "counters", name)}
        assert {key: count for key, count in found.items() if count} == dict(counts), name
    top = table(directory, "counters", "clicks_per_ad", "--top", 2)
    most = sorted(model.counters()["clicks_per_ad"].values(), reverse=True)[:2]
    assert [int(row[1]) for row in top] == most


def change_rates(directory, model):
    for _ in range(model.random.randrange(1, 4)):
        reseller, day = model.random.choice(RESELLERS), model.random.choice(DAYS)
        if day in model.rates[reseller] and model.random.random() < 0.5:
            daybook.run("rate", "delete", "-d", directory, reseller, day)
            del model.rates[reseller][day]
            continue
        rate = decimal.Decimal(model.random.randrange(1, 1000)).scaleb(-3)
        daybook.run("rate", "set", "-d", directory, reseller, day, plain(rate))
        model.rates[reseller][day] = rate


def void_some(directory, model):
    reseller, ad = model.random.choice(RESELLERS), model.random.choice([None, *ADS])
    first, last = sorted(model.random.choices(DAYS, k=2))
    words = ["--reseller", reseller, "--from", first, "--to", last, *(["--ad", ad] if ad else [])]
    are_there = model.void(reseller, first, last, ad)
    daybook.run("clicks", "void", "-d", directory, *words, status=0 if are_there else 1)
    if model.random.random() < 0.4:
        back = [click for click in model.voided if click[0] == reseller and
                first <= click[1] <= last and ad in (None, click[2])]
        daybook.run("clicks", "restore", "-d", directory, *words, status=0 if back else 1)
        model.clicks += back
        model.voided = [click for click in model.voided if click not in back]


def write_by_cql(session, model):
    insert = session.prepare("INSERT INTO daybook.ad_click (reseller_id, day, time, ad_id, "
                             "click_id, amount) VALUES (?, ?, ?, ?, ?, ?)")
    row = "WHERE reseller_id = ? AND day = ?"
    delete = session.prepare(f"DELETE FROM daybook.ad_click {row} AND time = ? AND ad_id = ? "
                             "AND click_id = ?")
    delete_all = session.prepare(f"DELETE FROM daybook.ad_click {row}")
    for _ in range(20):
        reseller, day = model.random.choice(RESELLERS), model.random.choice(DAYS)
        instant = datetime.datetime.fromisoformat(f"{day}T12:00:00")
        key = (reseller, day, instant, model.random.choice(ADS), -model.random.randrange(1, 3))
        amount = decimal.Decimal(model.random.randrange(10 ** 4)).scaleb(-3)
        session.execute(insert, (*key, amount))
        model.write(key, amount)
    for key in model.random.sample(sorted(model.named), min(8, len(model.named))):
        session.execute(delete, key)
        model.write(key, None)
    reseller, day = model.random.choice(RESELLERS), model.random.choice(DAYS)
    session.execute(delete_all, (reseller, day))
    model.clicks = [click for click in model.clicks if click[:2] != (reseller, day)]
    model.forget(reseller, day, day, None)


@pytest.mark.parametrize("seed", [1, 2])
def test_every_question_is_answered_as_the_model_does(serve, directory, seed):
    model = Model(seed)
    said = []
    for step in range(STEPS):
        server = serve("--cql", "127.0.0.1:0")
        lines = model.make(model.random.choice([1, 30, 200]))
        daybook.Producer(daybook.batches_of(lines, 50)).send_all(server.address)
        if step % 2 == 1:
            with cql.connected(server) as session:
                write_by_cql(session, model)
        if step % 3 == 2:
            void_some(directory, model)
        change_rates(directory, model)
        compare(directory, model)
        if model.random.random() < 0.5:
            server.run("compact")
        if model.random.random() < 0.5:
            server.kill()
        else:
            server.stop()
        compare(directory, model)
        daybook.run("rollup", "-d", directory)
        model.published |= {click[:2] for click in model.clicks}
        instant = datetime.datetime.now(datetime.timezone.utc)
        said.append((instant.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z",
                     table(directory, "report")))
        time.sleep(0.01)
    for instant, rows in said:
        assert table(directory, "report", "--as-of", instant) == rows
    daybook.run("verify", "-d", directory)
