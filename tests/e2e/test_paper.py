"""The paper's own example: six clicks, three rates, four days of revenue."""

import daybook


def test_its_clicks_and_rates_give_its_revenue(serve, paper):
    server = serve()
    server.run("rate", "load", paper.rates)
    assert server.client().send(paper.bytes).finish().rest() == [paper.ok()]
    daybook.assert_holds(server.directory, paper)


def test_the_order_of_clicks_and_rates_does_not_matter(directory, paper):
    daybook.run("load", "-d", directory, daybook.DATA / "paper-clicks.csv")
    unpriced = daybook.rows(daybook.run("report", "-d", directory, "--format", "csv").out)
    assert [(row["rate"], row["amount"]) for row in unpriced] == [("", "")] * 4
    daybook.run("rate", "load", "-d", directory, paper.rates)
    daybook.assert_holds(directory, paper)


def test_rates_may_carry_their_percent_sign(serve, paper):
    server = serve()
    server.client().send(paper.bytes).finish().rest()
    for day, rate in (("2011-02-13", "20%"), ("2012-01-22", "25%"), ("2013-11-30", "30%")):
        server.run("rate", "set", "supaboobs", day, rate)
    amounts = {row["day"]: row["amount"]
               for row in daybook.rows(server.run("report", "--format", "csv").out)}
    assert amounts == {"2013-12-01": "0.0030", "2013-11-30": "0.00150",
                       "2013-11-29": "0.003750", "2013-11-28": "0.00250"}


def test_clicks_over_ndjson_are_the_same_clicks(serve, paper):
    server = serve()
    server.run("rate", "load", paper.rates)
    names = paper.header.strip().split(",")
    for line in paper.lines:
        fields = zip(names, line.strip().split(","))
        text = ",".join(f'"{name}":{value if name == "amount" else chr(34) + value + chr(34)}'
                        for name, value in fields)
        assert server.client().send("{" + text + "}\n").finish().rest() == [
            "ok - accepted 1 rejected 0"]
    daybook.assert_holds(server.directory, paper)
