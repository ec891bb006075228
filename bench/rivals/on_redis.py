"""Redis with its append-only file synced before every answer: counters, and figures kept in it."""

import csv
import decimal
import os
import re
import subprocess

import redis

from rival import Rival

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


def start(rival, environment):
    """A server on an empty directory, and the seconds it took."""
    return rival.serve(PORT, [
        rival.installed / "redis/usr/bin/redis-server", "--port", PORT, "--bind", "127.0.0.1",
        "--dir", rival.fresh("always"), "--save", "", "--appendonly", "yes", "--appendfsync",
        "always"], env=environment)


def main():
    rival = Rival("Redis")
    environment = {**os.environ, "LD_LIBRARY_PATH":
                   str(rival.installed / "redis/usr/lib/x86_64-linux-gnu")}

    def start_s():
        server, seconds = start(rival, environment)
        rival.stop(server)
        return seconds

    rival.starts(start_s, "to its port")
    server, _ = start(rival, environment)
    client = redis.Redis(port=PORT)
    rival.version(client.info("server")["redis_version"])
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
