"""One node of Cassandra 5 from its jars, on this machine's own address: for bench/rivals, and for
tests/cql/record.py, which asks it what daybook must answer."""

import collections
import contextlib
import socket
import time

Ports = collections.namedtuple("Ports", "cql storage jmx")
PORTS = Ports(9042, 7000, 7199)
HEAP = "2G"
YAML = """
cluster_name: bench
num_tokens: 4
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
endpoint_snitch: SimpleSnitch
seed_provider:
  - class_name: org.apache.cassandra.locator.SimpleSeedProvider
    parameters:
      - seeds: "127.0.0.1:{ports.storage}"
storage_port: {ports.storage}
listen_address: 127.0.0.1
rpc_address: 127.0.0.1
native_transport_port: {ports.cql}
data_file_directories:
  - {root}/data
commitlog_directory: {root}/commitlog
hints_directory: {root}/hints
saved_caches_directory: {root}/saved_caches
commitlog_sync: batch
read_request_timeout: 60s
write_request_timeout: 60s
counter_write_request_timeout: 60s
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


def free_ports():
    """Three that nobody has now."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in Ports._fields]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return Ports(*(one.getsockname()[1] for one in sockets))


def prepare(root, ports=PORTS):
    """The files it starts from, in an empty folder."""
    for name in ("conf", "triggers"):
        (root / name).mkdir()
    (root / "conf" / "cassandra.yaml").write_text(YAML.format(ports=ports, root=root))
    (root / "conf" / "logback.xml").write_text(LOGBACK)


def command(jars, root, ports=PORTS):
    """As the stock jvm-server.options and jvm17-server.options start it."""
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
            f"-Dcassandra.jmx.local.port={ports.jmx}", "-Dcassandra.ring_delay_ms=3000",
            "-Dcassandra.skip_wait_for_gossip_to_settle=0", "-cp", f"{root}/conf:{jars}/*",
            "org.apache.cassandra.service.CassandraDaemon"]


def wait_cql(server, ports=PORTS):
    """Its port is open before it speaks: ask OPTIONS of protocol v4, wait for an answer."""
    while server.poll() is None:
        try:
            with socket.create_connection(("127.0.0.1", ports.cql), 3) as connection:
                connection.sendall(b"\x04\0\0\0\x05\0\0\0\0")
                if connection.recv(1) == b"\x84":
                    return
        except OSError:
            pass
        time.sleep(0.02)
    raise SystemExit(f"Cassandra ended with status {server.returncode}")
