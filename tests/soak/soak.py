#!/usr/bin/env python3
"""A server under everything at once for a long time: do memory and files stay, is it right?

Producers send numbered batches, some connections come and go without sense, reports and counters
are read, rates change, segments are merged, backups are made and one directory follows. Every few
seconds memory, open files and sizes are sampled into soak.csv; at the end they are drawn as
soak.svg, and it must hold that

* every acknowledged click is counted, once, and `verify` agrees;
* a restored point verifies, and what follows has the same report as the server;
* memory was never above --memory, and its mean over the last half is not above that over the
  quarter before it by more than MEMORY_SLACK: a leak raises the mean, while the most of twice as
  many samples is higher without one;
* the fewest open files of the last half are not above those of the quarter before it by more than
  FILE_SLACK: their number follows that of segments, and a leak raises the least.

MINUTES (60), CLICKS a second (20000), SEED, SOAK_DIR (build/soak). While the file named by
SOAK_PAUSE exists, server and senders stand still, for a machine that is wanted quiet.
"""

import csv
import os
import pathlib
import random
import shutil
import signal
import statistics
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "e2e"))
import daybook  # noqa: E402  (found by the line above)

MINUTES = float(os.environ.get("MINUTES", "60"))
CLICKS = int(os.environ.get("CLICKS", "20000"))
SEED = int(os.environ.get("SEED", "1"))
DIRECTORY = pathlib.Path(os.environ.get("SOAK_DIR", ROOT / "build" / "soak"))
PAUSE = os.environ.get("SOAK_PAUSE")

PRODUCERS = 4
BATCH = 1000
POOL = 48                       # batches made before the start, sent again and again
RESELLERS = 16
DAYS = 60
ADS = 5000
SAMPLE_S = 5
MEMORY = 128                    # MiB, for --memory
MEMORY_SLACK = 1.10
FILE_SLACK = 8
COLUMNS = ["seconds", "memory_kb", "files", "log_mb", "segment_mb", "segments", "clicks",
           "backup_lag_ms", "backup_mb", "most_memory_kb"]


def make_batch(choice):
    """Lines of a batch, and how many of them are good."""
    lines = []
    bad = 0
    for _ in range(BATCH):
        day = choice.randrange(DAYS)
        time_ms = 1383264000000 + day * 86400000 + choice.randrange(86400000)
        amount = f"0.{choice.randrange(1, 999):03}"
        if choice.random() < 0.001:
            amount = "none"
            bad += 1
        lines.append(f"r{choice.randrange(RESELLERS):02},,{time_ms},ad{choice.randrange(ADS)},"
                     f"{amount}\n")
    return "".join(lines), BATCH - bad


class Soak:
    """The run: its server, its threads, and what they have found."""

    def __init__(self):
        shutil.rmtree(DIRECTORY, ignore_errors=True)
        DIRECTORY.mkdir(parents=True)
        self.data = DIRECTORY / "data"
        self.server = daybook.Server(self.data, "--memory", f"{MEMORY}M", "--keep-log", "256M")
        self.running = threading.Event()
        self.running.set()
        self.stopping = threading.Event()
        self.lock = threading.Lock()
        self.busy = 0                   # turns under way
        self.accepted = 0
        self.counts = {}
        self.failures = []
        self.samples = []
        self.paused_s = 0.0
        self.started = time.monotonic()

    def elapsed(self):
        """Seconds of work, without pauses."""
        return time.monotonic() - self.started - self.paused_s

    def count(self, what, number=1):
        with self.lock:
            self.counts[what] = self.counts.get(what, 0) + number

    def threads(self):
        """Name, function and pause of each, in seconds between two turns."""
        chosen = random.Random(SEED)
        turns = [(f"producer {i}", self.producer(random.Random(SEED + i)),
                  BATCH * PRODUCERS / CLICKS) for i in range(PRODUCERS)]
        turns += [("report", lambda: self.run("report", "--by", "reseller"), 1.0),
                  ("counters", lambda: self.run("counters", "clicks_per_ad", "--top", "10"), 2.0),
                  ("status", lambda: self.run("status", "--check"), 1.0),
                  ("rate", lambda: self.change_rate(chosen), 2.0),
                  ("compact", lambda: self.run("compact"), 61.0),
                  ("verify", lambda: self.run("verify"), 127.0),
                  ("backup", lambda: self.run("backup", DIRECTORY / "points", "--keep", "3"), 43.0),
                  ("follow", self.follow_again, 97.0),
                  ("churn", self.churn, 0.1)]
        return [threading.Thread(target=self.turns, args=turn, daemon=True) for turn in turns]

    def turn_begin(self):
        while True:
            self.running.wait()
            with self.lock:
                if self.running.is_set():
                    self.busy += 1
                    return

    def turn_end(self):
        with self.lock:
            self.busy -= 1

    def turns(self, name, function, pause):
        next_s = self.elapsed()
        while not self.stopping.is_set():
            self.turn_begin()
            try:
                function()
                self.count(name.split()[0])
            except Exception as error:          # whatever it is, the run has failed
                self.failures.append(f"{name}: {error!r}")
                self.stopping.set()
            self.turn_end()
            next_s = max(next_s + pause, self.elapsed() - 5 * pause)
            while next_s > self.elapsed() and not self.stopping.is_set():
                time.sleep(min(0.2, max(0.001, next_s - self.elapsed())))

    def run(self, *words):
        return self.server.run(*words)

    def producer(self, choice):
        """A function that sends one batch, and waits for its answer, over a connection that is
        made anew now and then."""
        pool = [make_batch(choice) for _ in range(POOL)]
        sender = daybook.Producer([])
        state = {"next": 1}

        def send():
            if sender.client is None or choice.random() < 0.01:
                if sender.client is not None:
                    sender.client.close()
                sender.connect(self.server.address)
            text, good = pool[state["next"] % POOL]
            sender.client.send(f"#batch {state['next']} {BATCH}\n{text}")
            words = sender.answer()
            assert words[:4] == ["ok", str(state["next"]), "accepted", str(good)], words
            state["next"] += 1
            with self.lock:
                self.accepted += good
        return send

    def change_rate(self, choice):
        day = f"2013-11-{choice.randrange(1, 31):02}"
        self.run("rate", "set", f"r{choice.randrange(RESELLERS):02}", day,
                 f"{choice.randrange(1, 99)}%")

    def follow_again(self):
        self.server.run("backup", "--stop", status=None)
        deadline = time.monotonic() + daybook.PATIENCE
        while self.server.run("backup", "--follow", DIRECTORY / "follow", status=None).status != 0:
            assert time.monotonic() < deadline, "the old one does not end"
            time.sleep(0.2)

    def churn(self):
        """Connections that say nothing, half a line, nonsense, or too little."""
        client = self.server.client()
        pieces = ["", "r01,", "\x00\xff\n", "#batch 1 5\nr,,1,a,1\n", "#producer x\n",
                  "r01,2013-11-02,1383350400000"]
        try:
            client.send(pieces[self.counts.get("churn", 0) % len(pieces)])
        except OSError:
            pass
        client.close()

    def sample(self):
        status = dict(line.split(None, 1) if line[:18].strip().count(" ") == 0 else
                      (line[:18].strip(), line[18:].strip())
                      for line in self.run("status").out.splitlines())
        lag = status.get("backup lag", "0 frames, 0 ms").split(", ")[1].split()[0]
        log = sum(f.stat().st_size for f in (self.data / "log").iterdir() if f.exists())
        segments = [f.stat().st_size for f in (self.data / "segments").iterdir() if f.exists()]
        backups = {f.stat().st_ino: f.stat().st_size for name in ("points", "follow")
                   for f in (DIRECTORY / name).rglob("*") if f.is_file()}
        self.samples.append([round(self.elapsed(), 1), self.server.memory_kb("VmRSS"),
                             len(os.listdir(f"/proc/{self.server.process.pid}/fd")),
                             log >> 20, sum(segments) >> 20, len(segments), self.accepted,
                             int(lag), sum(backups.values()) >> 20,
                             self.server.memory_kb("VmHWM")])

    def wait_while_paused(self):
        if not PAUSE or not os.path.exists(PAUSE):
            return
        began = time.monotonic()
        with self.lock:
            self.running.clear()
        while self.busy > 0:                    # or their patience would end meanwhile
            time.sleep(0.1)
        self.server.process.send_signal(signal.SIGSTOP)
        while os.path.exists(PAUSE):
            time.sleep(1)
        self.server.process.send_signal(signal.SIGCONT)
        self.paused_s += time.monotonic() - began
        self.running.set()

    def watch(self):
        next_s = 0.0
        while self.elapsed() < MINUTES * 60 and not self.stopping.is_set():
            self.wait_while_paused()
            if self.elapsed() >= next_s:
                next_s += SAMPLE_S
                try:
                    self.sample()
                except FileNotFoundError:       # removed between its listing and its size
                    pass
                write_csv(self.samples)
            time.sleep(0.2)

    def work(self):
        threads = self.threads()
        for thread in threads:
            thread.start()
        self.watch()
        self.stopping.set()
        for thread in threads:
            thread.join(daybook.PATIENCE)
            assert not thread.is_alive(), "a thread hangs"

    def prove(self):
        """All is counted, agrees, and can be restored."""
        total = self.run("report", "--by", "total", "--format", "csv").out.splitlines()[1]
        clicks = int(total.split(",")[0])
        assert clicks == self.accepted, f"{clicks} clicks, {self.accepted} acknowledged"
        assert "all agree" in self.run("verify").out
        report = self.run("report", "--format", "csv").out
        assert self.server.stop() == 0, self.server.text()
        for name, how in (("points", []), ("follow", ["--latest"])):
            to = DIRECTORY / f"restored-{name}"
            daybook.run("restore", DIRECTORY / name, to, *how)
            assert "all agree" in daybook.run("verify", "-d", to).out
        restored = daybook.run("report", "-d", DIRECTORY / "restored-follow", "--format", "csv")
        assert restored.out == report, "what follows has another report"

    def check_flat(self):
        half = len(self.samples) // 2
        first, last = self.samples[half // 2:half], self.samples[half:]
        for column, pick, slack in ((1, statistics.mean, lambda mean: mean * MEMORY_SLACK),
                                    (2, min, lambda least: least + FILE_SLACK)):
            before = pick(sample[column] for sample in first)
            after = pick(sample[column] for sample in last)
            if after > slack(before):
                self.failures.append(f"{COLUMNS[column]} grew from {before:.0f} to {after:.0f}")
        most = self.samples[-1][-1]
        if most > MEMORY << 10:
            self.failures.append(f"memory reached {most} KB, and --memory is {MEMORY << 10}")


def write_csv(samples):
    with open(DIRECTORY / "soak.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows(samples)


def curve(samples, column, top, height, title):
    """One panel: its frame, title, and line."""
    most = max(sample[column] for sample in samples) or 1
    last = samples[-1][0] or 1
    points = " ".join(f"{60 + 700 * sample[0] / last:.1f},"
                      f"{top + height - height * sample[column] / most:.1f}"
                      for sample in samples)
    return (f'<rect x="60" y="{top}" width="700" height="{height}" fill="none" stroke="#bbb"/>'
            f'<text x="60" y="{top - 6}">{title}, at most {most:,}</text>'
            f'<polyline points="{points}" fill="none" stroke="#06c" stroke-width="1.5"/>')


def write_svg(samples):
    panels = [(1, "resident memory in KB"), (2, "open files"), (6, "clicks acknowledged"),
              (4, "segments in MB"), (7, "lag of the following backup in ms")]
    body = "".join(curve(samples, column, 40 + 150 * i, 110, title)
                   for i, (column, title) in enumerate(panels))
    height = 40 + 150 * len(panels)
    (DIRECTORY / "soak.svg").write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="800" height="{height}" '
        f'font-family="sans-serif" font-size="12"><rect width="800" height="{height}" '
        f'fill="#fff"/>{body}<text x="60" y="{height - 6}">{samples[-1][0] / 60:.0f} minutes</text>'
        f'</svg>\n', encoding="utf-8")


def main():
    soak = Soak()
    try:
        soak.work()
        if not soak.failures:
            soak.prove()
        soak.check_flat()
    except AssertionError as error:
        soak.failures.append(f"assertion: {error}")
    finally:
        if soak.server.process.poll() is None:
            soak.server.kill()
    write_svg(soak.samples)
    print(f"soak: {soak.elapsed() / 60:.1f} minutes, {soak.accepted:,} clicks, "
          + ", ".join(f"{number} x {what}" for what, number in sorted(soak.counts.items())))
    print(f"soak: {DIRECTORY}/soak.csv, soak.svg; memory at most "
          f"{soak.samples[-1][-1]:,} KB, open files at most "
          f"{max(sample[2] for sample in soak.samples)}")
    for failure in soak.failures:
        print(f"soak: FAILED: {failure}")
    return 1 if soak.failures else 0


if __name__ == "__main__":
    sys.exit(main())
