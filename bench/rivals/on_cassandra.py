"""Cassandra 5 from its jars: one node, every answer after fsync, gocql as the client."""

import subprocess
import time

import cassandra_node
from rival import Rival


def jars(rival):
    return rival.installed / "cassandra-all" / "lib"


def start(rival, root):
    cassandra_node.prepare(root)
    started = time.perf_counter()
    server, _ = rival.serve(cassandra_node.PORTS.cql, cassandra_node.command(jars(rival), root))
    cassandra_node.wait_cql(server)
    return server, time.perf_counter() - started


def client(rival, limit, what):
    done = subprocess.run([str(rival.installed / "cql_client"), "-csv", str(rival.csv),
                           "-limit", str(limit), what], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return {line.split()[0]: float(line.split()[1]) for line in done.stdout.splitlines()}


def main():
    rival = Rival("Cassandra")
    root = rival.fresh("node")
    server, start_s = start(rival, root)
    jar = next(jars(rival).glob("cassandra-all-*.jar"))
    rival.version(jar.stem.split("-")[-1])
    rival.figure("start_ms", start_s * 1e3, "until CQL answers")
    rival.figure("idle_mib", rival.memory_mib(server.pid),
                 f"heap {cassandra_node.HEAP}, touched at start")
    client(rival, 150000, "insert")  # the compiler of the JVM needs its warm-up
    rival.figure("single", client(rival, 100000, "insert")["insert/s"],
                 "prepared INSERT, 64 in flight, commitlog_sync batch")
    client(rival, 50000, "counter")
    counters = client(rival, 100000, "counter")["counter/s"]
    for name in ("counters", "counters_single"):
        rival.figure(name, counters, "prepared counter updates, 64 in flight, commitlog_sync batch")
    found = client(rival, 1, "month")
    rival.figure("month_p50_us", found["month_p50_us"], "over CQL, 30 stored rows")
    rival.figure("month_p99_us", found["month_p99_us"], "over CQL, 30 stored rows")
    clicks = min(rival.clicks, 2000000)
    rival.figure("stream", client(rival, clicks, "load")["load/s"],
                 "unlogged batches of 100 in one partition, 16 in flight, commitlog_sync batch")
    rival.stop(server)  # which flushes
    tables = (root / "data" / "bench").glob("ad_click-*")
    rival.figure("bytes", max(map(rival.bytes_in, tables)) / clicks, "ZstdCompressor, 64 KiB")
    rival.finish()


if __name__ == "__main__":
    main()
