"""Killed at random moments, the program neither loses nor doubles an acknowledged click.

DAYBOOK_KILLS sets how often (make kills N=10000), DAYBOOK_SEED which moments; the seed is printed.
"""

import os
import random
import subprocess
import time

import daybook

KILLS = int(os.environ.get("DAYBOOK_KILLS", "100"))
SEED = int(os.environ.get("DAYBOOK_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 32)
PRODUCERS = 8
WINDOW = 8
# The server remembers 64 batches, of which some may have been applied without our knowledge.
REMEMBERED = 63 - WINDOW


class Life:
    """The sender's side of one life of the server, from ready to kill -9."""

    def __init__(self, server, producers, choice):
        self.server = server
        self.choice = choice
        self.producers = producers
        self.commands = []

    def connect(self):
        """Every producer says again what it has no answer for, and some that it has."""
        for producer in self.producers:
            producer.connect(self.server.address)
            known = producer.acknowledged
            producer.sent = known
            if known and self.choice.random() < 0.5:
                again = self.choice.randint(max(1, known - REMEMBERED), known)
                self.expect_duplicate(producer, again)

    @staticmethod
    def expect_duplicate(producer, number):
        producer.send(number)
        words = producer.answer()
        lines = producer.batches[number - 1]
        good = sum(1 for line in lines if line.split(",")[3])
        assert words == ["ok", str(number), "accepted", str(good), "rejected",
                         str(len(lines) - good), "duplicate"], words

    def start_command(self):
        """Something that works on the same data at the moment of the kill."""
        words = self.choice.choice([
            ["compact"], ["rollup"], ["verify"],
            ["rate", "load", str(daybook.DATA / "flights-rates.csv")],
            ["rate", "set", "AA", "2013-04-01", "50%"], ["rate", "delete", "AA", "2013-04-01"]])
        self.commands.append(subprocess.Popen(
            [daybook.PROGRAM, *words, "-d", str(self.server.directory)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env=daybook.environment()))

    def fill(self, producer):
        while producer.sent < len(producer.batches) and \
                producer.sent - producer.acknowledged < WINDOW:
            producer.sent += 1
            producer.send(producer.sent)

    def live(self, answers):
        """Send until so many answers came or all is sent, leaving batches under way."""
        for _ in range(answers):
            left = [producer for producer in self.producers if not producer.is_done()]
            if not left:
                break
            for producer in left:
                self.fill(producer)
            self.choice.choice(left).answer()
        for producer in self.producers:
            self.fill(producer)

    def end(self):
        time.sleep(self.choice.random() * 0.004)
        self.server.kill()
        for producer in self.producers:
            producer.client.close()
        for command in self.commands:
            command.wait(timeout=daybook.PATIENCE)


def test_random_kills_leave_the_same_report(directory, flights):
    print(f"DAYBOOK_SEED={SEED}")
    choice = random.Random(SEED)
    lines = list(flights.lines)
    choice.shuffle(lines)
    size = max(10, len(lines) // (KILLS * 8))
    producers = [daybook.Producer(daybook.batches_of(lines[i::PRODUCERS], size))
                 for i in range(PRODUCERS)]
    kills = 0
    while kills < KILLS or not all(producer.is_done() for producer in producers):
        life = Life(daybook.Server(directory, "--wait", "60s"), producers, choice)
        life.connect()
        if choice.random() < 0.7:
            life.start_command()
        life.live(choice.randint(0, 14))
        life.end()
        kills += 1
    server = daybook.Server(directory)
    for producer in producers:
        producer.connect(server.address)
        Life.expect_duplicate(producer, len(producer.batches))
        producer.client.close()
    server.run("rate", "load", flights.rates)
    server.run("rate", "delete", "AA", "2013-04-01", status=None)
    server.run("compact")
    daybook.assert_holds(directory, flights)
    assert server.stop() == 0, server.text()
    daybook.assert_holds(directory, flights)


def test_a_batch_killed_before_its_ok_counts_once(directory, paper):
    producer = daybook.Producer([paper.lines])
    server = daybook.Server(directory)
    producer.connect(server.address)
    producer.send(1)
    server.kill()
    producer.client.close()
    for _ in range(2):
        server = daybook.Server(directory)
        producer.connect(server.address)
        producer.send(1)
        assert producer.answer()[:6] == ["ok", "1", "accepted", "6", "rejected", "0"]
        server.kill()
        producer.client.close()
    daybook.run("rate", "load", "-d", directory, paper.rates)
    daybook.assert_holds(directory, paper)
