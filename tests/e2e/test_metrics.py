"""The metrics of a server: that Prometheus takes them, and that they say what happened."""

import re
import shutil
import subprocess
import time

import pytest

import cql
import daybook

SAMPLE = re.compile(r'([a-z_]+)(?:\{((?:[a-z]+="[^"\\\n]*",?)+)\})? (\S+)')
SUFFIXES = {"histogram": ("_bucket", "_sum", "_count"), "summary": ("_sum", "_count"),
            "counter": ("",), "gauge": ("",)}


class Metrics:
    """A text of Prometheus' format: its families with their types, and its samples."""

    def __init__(self, text):
        self.kinds = {}
        self.samples = {}
        family = ""
        for line in text.splitlines():
            if line.startswith("# HELP "):
                _, _, family, said = line.split(" ", 3)
                assert said and family not in self.kinds, line
                self.kinds[family] = None
            elif line.startswith("# TYPE "):
                assert line.split()[2] == family and self.kinds[family] is None, line
                self.kinds[family] = line.split()[3]
            else:
                name, labels, value = SAMPLE.fullmatch(line).groups()
                assert name.removeprefix(family) in SUFFIXES[self.kinds[family]], line
                assert (name, labels) not in self.samples, line
                self.samples[name, labels] = float(value)

    def __getitem__(self, name):
        return self.samples.get((name, None))

    def labelled(self, name):
        return {labels: value for (one, labels), value in self.samples.items() if one == name}


def metrics_of(server):
    return Metrics(server.run("status", "--metrics").out)


def click(amount="0.01", day="2013-11-28"):
    return f"r7,{day},1385654400000,a,{amount}\n"


def test_prometheus_takes_the_metrics(serve):
    server = serve("--cql", "127.0.0.1:0")
    text = server.run("status", "--metrics").out
    for name, kind in Metrics(text).kinds.items():
        assert name.startswith(("daybook_", "process_")), name
        assert name.endswith("_total") == (kind == "counter"), name
        assert not re.search(r"_(ms|us|s|msec|milliseconds|kb|mb|percent|histogram)(_|$)", name)
        if kind in ("histogram", "summary"):
            assert name.endswith("_seconds"), name
    # No one family is most of the page.
    names = [re.split(r"_bucket|_sum|_count|[{ ]", line)[0] for line in text.splitlines()
             if line[0] != "#"]
    assert max(names.count(name) for name in set(names)) < 50
    if not shutil.which("promtool"):
        pytest.skip("promtool is missing")
    done = subprocess.run(["promtool", "check", "metrics"], input=text, text=True,
                          capture_output=True, check=False)
    assert done.returncode == 0 and done.stderr == "", done.stderr


def test_the_page_has_log_memory_disk_and_process(serve):
    began = int(time.time())
    server = serve("--memory", "192M")
    metrics = metrics_of(server)
    assert metrics.labelled("daybook_build_info") == {'version="0.1.0"': 1}
    holders = metrics.labelled("daybook_memory_bytes")
    assert {'holder="rows"', 'holder="cql_requests"', 'holder="days"'} <= set(holders)
    assert metrics["daybook_log_bytes"] >= 1 << 20
    assert metrics["daybook_disk_free_bytes"] > metrics["daybook_disk_wanted_bytes"] > 0
    assert metrics["process_max_fds"] > (metrics["process_open_fds"] or 3) >= 3
    assert metrics["process_resident_memory_bytes"] > 1 << 20
    assert metrics["daybook_memory_limit_bytes"] == 192 << 20
    assert began <= metrics["process_start_time_seconds"] <= time.time()
    assert metrics["daybook_clock_in_doubt"] == 0
    for name in ("daybook_ingest_last_click_timestamp_seconds", "daybook_verify_timestamp_seconds",
                 "daybook_verify_differences", "daybook_backup_timestamp_seconds"):
        assert name in metrics.kinds and metrics[name] is None, name


def test_what_happened_is_counted_and_timed(serve, tmp_path):
    server = serve("--cql", "127.0.0.1:0")
    began = int(time.time())
    assert server.client().send(click(), click("x")).finish().rest()[-1] == \
        "ok - accepted 1 rejected 1"
    with cql.connected(server) as session:
        session.execute("SELECT clicks FROM daybook.clicks_per_ad WHERE ad_id = 'a'").one()
    server.run("rollup")
    server.run("verify")
    server.run("backup", tmp_path / "backup")
    metrics = metrics_of(server)
    assert metrics["daybook_ingest_clicks_total"] == 1
    assert metrics.labelled("daybook_ingest_rejected_total")['code="bad_amount"'] == 1
    for name in ("daybook_ingest_last_click_timestamp_seconds", "daybook_verify_timestamp_seconds",
                 "daybook_backup_timestamp_seconds"):
        assert began <= metrics[name] <= time.time(), name
    assert metrics["daybook_verify_differences"] == 0
    for name in ("daybook_commit_seconds", "daybook_cql_request_seconds",
                 "daybook_figure_lag_seconds", "daybook_loop_turn_seconds"):
        count = metrics[f"{name}_count"]
        assert count > 0 and 0 <= metrics[f"{name}_sum"] < 60 * count, name
        assert metrics.labelled(f"{name}_bucket")['le="+Inf"'] == count, name
    assert metrics.labelled("daybook_loop_busy_seconds_count")['cause="socket"'] > 0


def test_days_without_a_rate_are_counted(serve):
    server = serve()

    def unpriced():
        return metrics_of(server)["daybook_rollup_unpriced_figures"]

    server.client().send(click(), click(day="2013-11-29")).finish().rest()
    server.run("rollup")
    daybook.wait_until(lambda: unpriced() == 2, "two days without a rate")
    server.run("rate", "set", "r7", "2013-11-29", "25%")
    assert unpriced() == 1
