"""Cassandra 5 from its jars: one node, every answer after fsync, gocql as the client."""

import socket
import subprocess
import time

from rival import Rival

PORT = 9042
HEAP = "2G"
YAML = """
cluster_name: bench
num_tokens: 4
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
endpoint_snitch: SimpleSnitch
seed_provider:
  - class_name: org.apache.cassandra.locator.SimpleSeedProvider
    parameters:
      - seeds: "127.0.0.1:7000"
listen_address: 127.0.0.1
rpc_address: 127.0.0.1
native_transport_port: {port}
data_file_directories:
  - {root}/data
commitlog_directory: {root}/commitlog
hints_directory: {root}/hints
saved_caches_directory: {root}/saved_caches
commitlog_sync: batch
auto_snapshot: false
"""
LOGBACK = "<configuration><root level=\"OFF\"/></configuration>\n"
EXPORTS = ("java.base/jdk.internal.misc", "java.management.rmi/com.sun.jmx.remote.internal.rmi",
           "java.rmi/sun.rmi.registry", "java.rmi/sun.rmi.server", "java.sql/java.sql",
           "java.base/java.lang.ref", "jdk.unsupported/sun.misc", "java.base/jdk.internal.ref",
           "java.base/sun.nio.ch", "jdk.compiler/com.sun.tools.javac.file",
           "jdk.attach/sun.tools.attach")
OPENS = ("java.base/java.lang.module", "java.base/jdk.internal.loader",
         "java.base/jdk.internal.ref", "java.base/jdk.internal.reflect",
         "java.base/jdk.internal.math", "java.base/jdk.internal.module",
         "java.base/jdk.internal.util.jar", "jdk.management/com.sun.management.internal",
         "java.base/sun.nio.ch", "java.base/java.io", "java.base/java.nio", "java.base/java.lang",
         "java.base/java.lang.reflect", "java.base/java.math", "java.base/java.net",
         "java.base/java.util", "java.base/java.util.concurrent",
         "java.base/java.util.concurrent.atomic")


def command(rival, root):
    """As the stock jvm-server.options and jvm17-server.options start it."""
    jars = rival.installed / "cassandra-all" / "lib"
    agent = next(jars.glob("jamm-*.jar"))
    return ["java", "-ea", f"-Xms{HEAP}", f"-Xmx{HEAP}", "-Xss256k", "-XX:+AlwaysPreTouch",
            "-XX:+UseG1GC", "-XX:+ParallelRefProcEnabled", "-XX:MaxTenuringThreshold=1",
            "-XX:G1HeapRegionSize=16m", "-XX:MaxGCPauseMillis=300", "-XX:+PerfDisableSharedMem",
            "-Djdk.attach.allowAttachSelf=true", "-Dio.netty.tryReflectionSetAccessible=true",
            "-Djava.net.preferIPv4Stack=true",
            *(f"--add-exports={name}=ALL-UNNAMED" for name in EXPORTS),
            *(f"--add-opens={name}=ALL-UNNAMED" for name in OPENS),
            f"-javaagent:{agent}", f"-Dcassandra.storagedir={root}", f"-Dcassandra.logdir={root}",
            f"-Dcassandra.triggers_dir={root}/triggers", "-Dlogback.configurationFile=logback.xml",
            "-Dcassandra.jmx.local.port=7199", "-Dcassandra.ring_delay_ms=3000",
            "-Dcassandra.skip_wait_for_gossip_to_settle=0", "-cp", f"{root}/conf:{jars}/*",
            "org.apache.cassandra.service.CassandraDaemon"]


def wait_cql():
    """Its port is open before it speaks: ask OPTIONS of protocol v4, wait for an answer."""
    while True:
        try:
            with socket.create_connection(("127.0.0.1", PORT), 3) as connection:
                connection.sendall(b"\x04\0\0\0\x05\0\0\0\0")
                if connection.recv(1) == b"\x84":
                    return
        except OSError:
            pass
        time.sleep(0.02)


def start(rival, root):
    for name in ("conf", "triggers"):
        (root / name).mkdir()
    (root / "conf" / "cassandra.yaml").write_text(YAML.format(port=PORT, root=root))
    (root / "conf" / "logback.xml").write_text(LOGBACK)
    started = time.perf_counter()
    server, _ = rival.serve(PORT, command(rival, root))
    wait_cql()
    return server, time.perf_counter() - started


def client(rival, limit, what):
    done = subprocess.run([str(rival.installed / "cassandra_client"), "-csv", str(rival.csv),
                           "-limit", str(limit), what], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return {line.split()[0]: float(line.split()[1]) for line in done.stdout.splitlines()}


def main():
    rival = Rival("Cassandra")
    root = rival.fresh("node")
    server, start_s = start(rival, root)
    jar = next((rival.installed / "cassandra-all" / "lib").glob("cassandra-all-*.jar"))
    rival.version(jar.stem.split("-")[-1])
    rival.figure("start_ms", start_s * 1e3, "until CQL answers")
    rival.figure("idle_mib", rival.memory_mib(server.pid), f"heap {HEAP}, touched at start")
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
