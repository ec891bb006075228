"""Redis with its append-only file synced before every answer: counters, and figures kept in it."""

import csv
import decimal
import os
import re
import statistics
import subprocess

import redis

from rival import STARTS, Rival

PORT = 6399


def benchmark(rival, environment, pipeline, requests, connections=50):
    """Increments a second of a million random keys."""
    done = subprocess.run(
        [str(rival.installed / "redis/usr/bin/redis-benchmark"), "-p", str(PORT), "-c",
         str(connections), "-P", str(pipeline), "-n", str(requests), "-r", "1000000", "-q", "incr",
         "k:__rand_int__"], capture_output=True, text=True, check=True, env=environment)
    return float(re.search(r"([\d.]+) requests per second", done.stdout).group(1))


def months(rival):
    """Figures that somebody else works out and keeps here, a hash for each reseller."""
    days = {}
    with rival.report.open() as file:
        for row in csv.DictReader(file):
            days.setdefault(row["reseller_id"], {})[row["day"]] = row["amount"]
    client = redis.Redis(port=PORT, decode_responses=True)
    for reseller, amounts in days.items():
        client.hset(reseller, mapping=amounts)

    def question(reseller):
        found = client.hgetall(reseller)
        return {day: decimal.Decimal(amount) for day, amount in found.items()}

    rival.months(question, "HGETALL over TCP, of figures that daybook worked out")
    client.close()


def main():
    rival = Rival("Redis")
    files = rival.installed / "redis/usr"
    environment = {**os.environ, "LD_LIBRARY_PATH": str(files / "lib/x86_64-linux-gnu")}
    starts = []
    for _ in range(STARTS):
        if starts:
            rival.stop(server)
        directory = rival.fresh("always")
        server, start_s = rival.serve(PORT, [
            files / "bin/redis-server", "--port", PORT, "--bind", "127.0.0.1", "--dir", directory,
            "--save", "", "--appendonly", "yes", "--appendfsync", "always"], env=environment)
        starts.append(start_s * 1e3)
    client = redis.Redis(port=PORT)
    rival.version(client.info("server")["redis_version"])
    rival.figure("start_ms", statistics.median(starts), "to its port")
    rival.figure("idle_mib", rival.memory_mib(server.pid))
    rival.figure("counters", benchmark(rival, environment, 100, 1000000),
                 "INCR, 50 connections, 100 in flight on each, appendfsync always")
    rival.figure("counters_single", benchmark(rival, environment, 1, 100000, connections=64),
                 "INCR, 64 connections, one in flight on each, appendfsync always")
    client.close()
    months(rival)
    rival.stop(server)
    rival.finish()


if __name__ == "__main__":
    main()
