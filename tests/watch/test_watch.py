"""What operators use: docs/grafana-dashboard.json and docs/alerts.yml, against a server in use."""

import datetime
import json
import subprocess

import cassandra.util

import cql
import watched
from test_metrics import Metrics

PROMETHEUS = "prometheus"
CASSANDRA = "hadesarchitect-cassandra-datasource"


def dashboard():
    return json.loads(watched.DASHBOARD.read_text())


def targets(kind):
    """The queries of all panels with that data source, each with its panel's title."""
    return [(panel["title"], target) for panel in dashboard()["panels"]
            for target in panel.get("targets", []) if target["datasource"]["type"] == kind]


def promtool(*words, stdin=""):
    done = subprocess.run(["promtool", *map(str, words)], input=stdin, capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


# ---- against a server ----


def test_prometheus_scrapes_the_server(network):
    assert promtool("check", "metrics", stdin=network.metrics_text()) == ""
    prometheus = network.prometheus
    assert prometheus.values("min_over_time(up[10m])") == [1]
    assert prometheus.values("count_over_time(up[10m])")[0] >= watched.SCRAPES_S * 0.9
    assert prometheus.values("sum(daybook_ingest_clicks_total)")[0] > 100
    # Series are what a scrape costs Prometheus for as long as it keeps them.
    assert prometheus.values("max_over_time(scrape_samples_scraped[10m])")[0] < 300


def test_each_metric_that_is_named_is_there(network):
    known = {name for name, _ in Metrics(network.metrics_text()).samples}
    expressions = [target["expr"] for _, target in targets(PROMETHEUS)]
    expressions += [rule["query"] for rule in network.prometheus.rules()]
    expressions += ['sum(rate(daybook_of_nothing_total{a="daybook_b"}[1m]))']
    named = set().union(*map(watched.names_in, expressions))
    assert len(named) > 40 and named - known == {"daybook_of_nothing_total"}


def test_each_panel_has_data(network):
    asked = targets(PROMETHEUS)
    empty = [(title, target["expr"]) for title, target in asked
             if not network.prometheus.values(watched.filled_in(target["expr"]))]
    assert len(asked) > 30 and not empty


def test_each_query_over_cql_has_data(network):
    variables = [(one["label"], one["query"]["query"])
                 for one in dashboard()["templating"]["list"]
                 if one.get("datasource", {}).get("type") == CASSANDRA]
    panels = [(title, target["target"]) for title, target in targets(CASSANDRA)]
    assert len(variables) == 1 and len(panels) == 2
    with cql.connected(network.server) as session:
        for title, statement in variables + panels:
            rows = list(session.execute(watched.filled_in(statement)))
            assert rows and rows[0][0] == watched.RESELLER, (title, rows)
            if (title, statement) in panels:
                check_series(title, rows)


def check_series(title, rows):
    """What the data source draws: a name, a number that is no decimal, and a time that grows."""
    times = [row[2] for row in rows]
    for row in rows:
        assert len(row) == 3 and isinstance(row[1], float), (title, row)
        assert isinstance(row[2], (datetime.datetime, cassandra.util.Date)), (title, row)
    assert times == sorted(times), title
    assert sum(row[1] for row in rows) > 0, title


def test_each_rule_has_data_and_none_is_due(network):
    rules = network.prometheus.rules()
    assert len(rules) >= 20
    for rule in rules:
        assert rule["health"] == "ok", rule
        assert set(rule["annotations"]) == {"summary", "todo"}, rule["name"]
        assert rule["labels"]["severity"] in ("critical", "warning"), rule["name"]
        compared = watched.without_thresholds(rule["query"])
        assert compared != rule["query"], rule["name"]
        assert network.prometheus.values(compared), (rule["name"], compared)
    # What a busy machine makes slow for a moment is pending at most.
    alerts = network.prometheus.ask("alerts")["alerts"]
    assert [alert for alert in alerts if alert["state"] == "firing"] == []


# ---- the rules alone ----

# For each alert: the minutes of a step, then series in promtool's notation.  In the first 20 steps
# all is well, then something is wrong; by step 40 the alert has to be there.
CASES = {
    "DaybookDown": (1, {"up": "1x20 0x20"}),
    "DaybookRestartsAgainAndAgain": (1, {"process_start_time_seconds": "1000x20 2000+60x20"}),
    "DaybookWaits": (1, {'daybook_waiting{reason="disk_full"}': "0x20 1x20"}),
    "DaybookDiskNearlyFull": (1, {"daybook_disk_free_bytes": "1e9x20 1e8x20",
                                  "daybook_disk_wanted_bytes": "6e7x40"}),
    "DaybookDiskFullTomorrow": (15, {"daybook_disk_free_bytes": "1e9x20 1e9-4e7x20"}),
    "DaybookMemoryNearItsLimit": (1, {"process_resident_memory_bytes": "50x20 95x20",
                                      "daybook_memory_limit_bytes": "100x40"}),
    "DaybookLogGrows": (1, {"daybook_log_unflushed_bytes": "1e9x20 2e9x20"}),
    "DaybookSlowDisk": (1, {"daybook_commit_seconds_sum": "0+0.1x20 2+20x20",
                            "daybook_commit_seconds_count": "0+60x40"}),
    "DaybookUnreadablePages": (1, {"daybook_failed_reads_total": "0x20 1x20"}),
    "DaybookClockInDoubt": (1, {"daybook_clock_in_doubt": "0x20 1x20"}),
    # The server was started again, and has no last click.
    "DaybookNoClicks": (120, {"daybook_ingest_last_click_timestamp_seconds": "0+7200x20 _x20"}),
    "DaybookRefusesLines": (1, {'daybook_ingest_rejected_total{code="bad_day"}': "0x20 0+30x20",
                                'daybook_ingest_rejected_total{code="bad_time"}': "0+1x40",
                                "daybook_ingest_clicks_total": "0+60x40"}),
    "DaybookConnectionsNearTheirLimit": (1, {"daybook_ingest_connections": "10x20 99x20",
                                             "daybook_ingest_connections_max": "100x40"}),
    "DaybookFiguresLate": (1, {"daybook_figure_lag_seconds_sum": "0+0.1x20 2+300x20",
                               "daybook_figure_lag_seconds_count": "0+20x40"}),
    "DaybookFiguresStandStill": (1, {"daybook_rollup_dirty_figures": "0 3x40",
                                     "daybook_rollup_figures_written_total": "0+5x20 100x20"}),
    "DaybookUnpricedDays": (5, {"daybook_rollup_unpriced_figures": "0x20 2x20"}),
    "DaybookBooksDisagree": (1, {"daybook_verify_differences": "0x20 1x20"}),
    "DaybookVerifyTooOld": (120, {"daybook_verify_timestamp_seconds": "0+7200x20 144000x20",
                                  "process_start_time_seconds": "0x40"}),
    "DaybookBackupTooOld": (120, {"daybook_backup_timestamp_seconds": "_x40",
                                  "process_start_time_seconds": "61200x40"}),
    "DaybookBackupBehind": (1, {"daybook_backup_lag_seconds": "1x20 100+60x20"}),
}


def with_labels(series):
    """The series as a scrape of the job gives it."""
    name, _, more = series.partition("{")
    return f'{name}{{job="daybook",instance="a:7680",{more or "}"}'


def case(alert, minutes, series):
    def expect(step, labels):
        expression = f'count by (alertname) (ALERTS{{alertname="{alert}",alertstate="firing"}})'
        return {"expr": expression, "eval_time": f"{step * minutes}m",
                "exp_samples": [{"labels": labels, "value": 1}] if labels else []}

    return {"interval": f"{minutes}m",
            "input_series": [{"series": with_labels(name), "values": values}
                             for name, values in series.items()],
            "promql_expr_test": [expect(20, None), expect(40, f'{{alertname="{alert}"}}')]}


def test_each_rule_fires_and_rests(network, tmp_path):
    assert {rule["name"] for rule in network.prometheus.rules()} == set(CASES)
    promtool("check", "rules", watched.ALERTS)
    cases = tmp_path / "cases.json"       # JSON is YAML, too
    cases.write_text(json.dumps({
        "rule_files": [str(watched.ALERTS)], "evaluation_interval": "1m",
        "tests": [case(alert, *told) for alert, told in CASES.items()]}))
    promtool("test", "rules", cases)
