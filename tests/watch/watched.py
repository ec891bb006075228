"""watched: a server under clicks, rate changes, reads, backups and proofs, and a Prometheus that
scrapes it and evaluates docs/alerts.yml.

What the server shows is what an operator's is like when all is well: every metric that a panel or
a rule names has a value, and no alert is due.
"""

import contextlib
import datetime
import json
import math
import pathlib
import re
import socket
import subprocess
import threading
import time
import urllib.parse
import urllib.request

import cql
import daybook

ALERTS = daybook.ROOT / "docs" / "alerts.yml"
DASHBOARD = daybook.ROOT / "docs" / "grafana-dashboard.json"
RESELLER = "supaboobs"
SCRAPES_S = 60
CONFIG = """
global: {{scrape_interval: 1s, evaluation_interval: 1s}}
rule_files: ["{alerts}"]
scrape_configs:
  - job_name: daybook
    static_configs: [{{targets: ["127.0.0.1:{port}"]}}]
"""


def read(url):
    with urllib.request.urlopen(url, timeout=daybook.PATIENCE) as answer:
        return answer.read().decode()


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as one:
        return one.getsockname()[1]


# ---- Prometheus ----


class Prometheus:
    """Debian's, on a free port."""

    def __init__(self, place, scraped_port):
        config = place / "prometheus.yml"
        config.write_text(CONFIG.format(alerts=ALERTS, port=scraped_port))
        port = free_port()
        self.at = f"http://127.0.0.1:{port}"
        self.log = open(place / "prometheus.log", "wb")
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={place / 'series'}",
             f"--web.listen-address=127.0.0.1:{port}"], stdout=self.log, stderr=self.log)
        daybook.wait_until(self._is_ready, "Prometheus")

    def _is_ready(self):
        assert self.process.poll() is None, pathlib.Path(self.log.name).read_text()
        try:
            return "Ready" in read(f"{self.at}/-/ready")
        except OSError:
            return False

    def ask(self, what, **parameters):
        query = urllib.parse.urlencode(parameters)
        answer = json.loads(read(f"{self.at}/api/v1/{what}?{query}"))
        assert answer["status"] == "success", answer
        return answer["data"]

    def values(self, expression):
        """The numbers that an expression gives now."""
        found = [float(sample["value"][1])
                 for sample in self.ask("query", query=expression)["result"]]
        return [value for value in found if not math.isnan(value)]

    def rules(self):
        return [rule for group in self.ask("rules")["groups"] for rule in group["rules"]]

    def stop(self):
        self.process.terminate()
        self.process.wait(daybook.PATIENCE)
        self.log.close()


# ---- a server in use ----


class Network:
    """The server, and what goes on until it is stopped."""

    def __init__(self, server, prometheus):
        self.server = server
        self.prometheus = prometheus
        self.ends = threading.Event()
        self.failures = []
        self.threads = [threading.Thread(target=self._guard, args=(work,))
                        for work in (self._send, self._read)]
        for thread in self.threads:
            thread.start()

    def _guard(self, work):
        try:
            work()
        except Exception as failure:      # pylint: disable=broad-except
            self.failures.append(failure)

    def _send(self):
        """Batches of fifty clicks of this moment, of which one in a hundred is refused."""
        sender = daybook.Producer([])
        sender.connect(self.server.address)
        while not self.ends.wait(0.1):
            now_ms = int(time.time() * 1000)
            amount = "much" if len(sender.batches) % 2 else "0.01"
            sender.batches.append([f"{RESELLER},,{now_ms},ad{number % 7},0.02\n"
                                   for number in range(49)] +
                                  [f"{RESELLER},,{now_ms},ad7,{amount}\n"])
            sender.send(len(sender.batches))
            assert sender.answer()[0] == "ok"
        sender.client.close()

    def _read(self):
        with cql.connected(self.server) as session:
            while not self.ends.wait(0.2):
                session.execute("SELECT clicks FROM daybook.clicks_per_ad WHERE ad_id = 'ad1'")

    def metrics_text(self):
        return read(f"http://127.0.0.1:{self.server.port('http')}/metrics")

    def stop(self):
        self.ends.set()
        for thread in self.threads:
            thread.join(daybook.PATIENCE)


def today(days_ago=0):
    return (datetime.datetime.now(datetime.timezone.utc).date() -
            datetime.timedelta(days=days_ago)).isoformat()


@contextlib.contextmanager
def network(place):
    """Runs for SCRAPES_S before it is given, and on until it is given back."""
    server = daybook.Server(place / "data", "--cql", "127.0.0.1:0", "--http", "127.0.0.1:0")
    prometheus = Prometheus(place, server.port("http"))
    one = Network(server, prometheus)
    try:
        server.run("rate", "set", RESELLER, today(7), "25%")
        server.run("backup", place / "backup")
        time.sleep(SCRAPES_S / 2)
        server.run("rate", "set", RESELLER, today(1), "30%")
        server.run("rollup")
        server.run("verify")
        time.sleep(SCRAPES_S / 2)
        yield one
    finally:
        one.stop()
        prometheus.stop()
        status = server.stop()
    assert status == 0 and not one.failures, (server.text(), one.failures)


# ---- names and expressions ----


def names_in(expression):
    """The metrics that an expression names; `up` is Prometheus' own."""
    return set(re.findall(r"\b(?:daybook|process)_\w+", re.sub(r'"[^"]*"', "", expression)))


def without_thresholds(expression):
    """What an alert compares, without the numbers with which it compares: this has values while
    the alert is not due, too."""
    return re.sub(r"\s*(==|[<>]=?)\s*[\d.]+(e[+-]\d+)?", "", expression)


def filled_in(text):
    """A query of the dashboard, with its variables as Grafana puts them in."""
    now = time.time()
    variables = {"$instance": ".*", "$__rate_interval": "15s", "${reseller}": RESELLER,
                 "${__from:date:YYYY-MM-DD}": today(1), "${__to:date:YYYY-MM-DD}": today(),
                 "$__timeFrom": str(int((now - 3600) * 1000)), "$__timeTo": str(int(now * 1000))}
    for name, value in variables.items():
        text = text.replace(name, value)
    assert "$" not in text, f"a variable is unknown: {text}"
    return text
