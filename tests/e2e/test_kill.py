"""Killed at random moments, the program neither loses nor doubles an acknowledged click.

Most lives of the server end by SIGKILL, some by SIGTERM; some are held by SIGSTOP for a while.
Beside its producers, which retry, there are commands, clients that die in the middle of a batch,
others that send no further, now and then thousands of them, and in one test a disk that is full
for a while.  What they began and did not end counts for nothing.

DAYBOOK_KILLS sets how often (make kills N=10000), DAYBOOK_SEED which moments; the seed is printed.
"""

import os
import random
import resource
import signal
import socket
import struct
import subprocess
import time
import uuid

import pytest

import daybook
import disks

KILLS = int(os.environ.get("DAYBOOK_KILLS", "100"))
SEED = int(os.environ.get("DAYBOOK_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 32)
PRODUCERS = 8
WINDOW = 8
# The server remembers 64 batches, of which some may have been applied without our knowledge.
REMEMBERED = 63 - WINDOW
CROWD = 2000                    # in one of so many lives:
CROWD_LIVES = 50
# A batch that never becomes whole, up to the middle of a line.
BROKEN = "#producer {} 1 new\n#batch 1 100\n" + "AA,2013-04-01,1364774400000,ad1,0.05\n" * 20 + \
    "AA,2013-04-01,13647"

pytestmark = pytest.mark.usefixtures("descriptors")


class Others:
    """Clients that do not end what they began: they die by a reset, or send no further."""

    def __init__(self, address, choice):
        self.address = address
        self.choice = choice
        self.clients = []

    def come(self, count):
        for _ in range(count):
            text = BROKEN.format(uuid.uuid4())
            client = daybook.Client(self.address)
            client.send(text[:self.choice.randint(1, len(text))])
            self.clients.append(client)

    def die(self):
        for client in self.clients:
            if self.choice.random() < 0.3:
                client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                         struct.pack("ii", 1, 0))
                client.close()
        self.clients = [client for client in self.clients if client.socket.fileno() >= 0]

    def end(self):
        for client in self.clients:
            client.close()


class Life:
    """The sender's side of one life of the server, from ready to its end."""

    def __init__(self, server, producers, choice, filler=None):
        self.server = server
        self.choice = choice
        self.producers = producers
        self.filler = filler    # takes all the room on the disk for a while; None: there is enough
        self.others = Others(server.address, choice)
        self.is_held = False    # by SIGSTOP: it answers nobody any more
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

    def hold(self):
        """Nobody answers for a while, as when the machine stands still; or until the end."""
        self.server.process.send_signal(signal.SIGSTOP)
        self.others.die()
        time.sleep(self.choice.random() * 0.02)
        self.is_held = self.choice.random() >= 0.7
        if not self.is_held:
            self.server.process.send_signal(signal.SIGCONT)

    def lack_room(self):
        """The disk is full for a while; whether there is room again before the end."""
        disks.fill(self.filler)
        time.sleep(self.choice.random() * 0.05)
        has_room = self.choice.random() < 0.5
        if has_room:
            self.filler.unlink()
        return has_room

    def go_through(self):
        self.work()
        self.end()

    def work(self):
        self.connect()
        self.others.come(crowd() if self.choice.randrange(CROWD_LIVES) == 0 else
                         self.choice.randint(0, 4))
        if self.choice.random() < 0.7:
            self.start_command()
        self.live(self.choice.randint(0, 7))
        self.others.die()
        if self.filler is not None and self.choice.random() < 0.5 and not self.lack_room():
            return
        if self.choice.random() < 0.1:
            self.hold()
        if not self.is_held:
            self.live(self.choice.randint(0, 7))

    def end(self):
        time.sleep(self.choice.random() * 0.004)
        if not self.is_held and self.choice.random() < 0.1:
            assert self.server.stop() == 0, self.server.text()
        else:
            self.server.kill()
        self.others.end()
        for producer in self.producers:
            producer.client.close()
        for command in self.commands:
            command.wait(timeout=daybook.PATIENCE)
        if self.filler is not None:
            self.filler.unlink(missing_ok=True)


def crowd():
    """As many as the system lets us have beside everything else."""
    return min(CROWD, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2)


def live_and_die(directory, flights, lives, filler=None):
    print(f"DAYBOOK_SEED={SEED}")
    choice = random.Random(SEED)
    lines = list(flights.lines)
    choice.shuffle(lines)
    size = max(10, len(lines) // (lives * 8))
    producers = [daybook.Producer(daybook.batches_of(lines[i::PRODUCERS], size))
                 for i in range(PRODUCERS)]
    lived = 0
    while lived < lives or not all(producer.is_done() for producer in producers):
        Life(daybook.Server(directory, "--wait", "60s"), producers, choice, filler).go_through()
        lived += 1
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


def test_random_kills_leave_the_same_report(directory, flights):
    live_and_die(directory, flights, KILLS)


def test_random_kills_beside_a_full_disk_leave_the_same_report(small_disk, flights):
    live_and_die(small_disk / "data", flights, max(1, KILLS // 10), small_disk / "filler")


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
