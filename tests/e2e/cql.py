"""CQL's clients, as the end-to-end tests use them."""

import contextlib
import pathlib
import re
import socket
import struct
import subprocess
import sys
import time

from cassandra.cluster import Cluster, ExecutionProfile, EXEC_PROFILE_DEFAULT
from cassandra.policies import WhiteListRoundRobinPolicy

import daybook

# At cost 10, the least that is taken.
BCRYPT_OF_SECRET = "$2b$10$abcdefghijklmnopqrstuuqflPDzB6gcMhKa1rZqKiun2YGL5sa2u"
CQLSH = pathlib.Path(sys.executable).parent / "cqlsh"


def port(server):
    return server.port("cql")


@contextlib.contextmanager
def connected(server, keyspace=None, timeout=30, **options):
    """A session of the python driver; all its connections are closed at the end."""
    profile = ExecutionProfile(WhiteListRoundRobinPolicy(["127.0.0.1"]), request_timeout=timeout)
    cluster = Cluster(["127.0.0.1"], port=port(server), connect_timeout=timeout,
                      control_connection_timeout=timeout,
                      execution_profiles={EXEC_PROFILE_DEFAULT: profile}, **options)
    try:
        yield cluster.connect(keyspace)
    finally:
        cluster.shutdown()


def cqlsh(server, *words, stdin="", status=0):
    """Run cqlsh to its end; returns what it printed, but for its remark on its own version."""
    done = subprocess.run(
        [str(CQLSH), "127.0.0.1", str(port(server)), "--no-color", *map(str, words)],
        input=stdin, capture_output=True, text=True, timeout=daybook.PATIENCE, check=False,
        env={**daybook.environment(), "CQL_HISTORY": "/dev/null"})
    assert status is None or done.returncode == status, (words, done.stdout, done.stderr)
    return re.sub("^WARNING: cqlsh was built against .*\n", "", done.stdout) + done.stderr


class Raw:
    """A connection of bytes: envelopes as the specification has them."""

    def __init__(self, server, version=4):
        self.version = version
        self.socket = socket.create_connection(("127.0.0.1", port(server)), daybook.PATIENCE)

    def send(self, opcode, body=b"", stream=0, flags=0):
        self.socket.sendall(self._envelope(opcode, body, stream, flags))

    def send_all(self, opcode, bodies):
        """Requests that leave together, in streams of their numbers."""
        self.socket.sendall(b"".join(self._envelope(opcode, body, stream, 0)
                                     for stream, body in enumerate(bodies)))

    def _envelope(self, opcode, body, stream, flags):
        return struct.pack(">BBhBi", self.version, flags, stream, opcode, len(body)) + body

    def receive(self):
        """The next envelope: version, stream, opcode, body; None at the end."""
        header = self._exactly(9)
        if header is None:
            return None
        version, _, stream, opcode, size = struct.unpack(">BBhBi", header)
        return version, stream, opcode, self._exactly(size)

    def _exactly(self, size):
        got = b""
        while len(got) < size:
            piece = self.socket.recv(size - len(got))
            if not piece:
                return None
            got += piece
        return got

    def startup(self):
        self.send(1, STARTUP)
        assert self.receive()[2] == 2

    def query(self, text, stream=0):
        self.send(7, struct.pack(">i", len(text)) + text.encode() + struct.pack(">HB", 1, 0),
                  stream)

    def close(self):
        self.socket.close()


def string(text):
    return struct.pack(">H", len(text.encode())) + text.encode()


# The body of a STARTUP without further options.
STARTUP = struct.pack(">H", 1) + string("CQL_VERSION") + string("3.0.0")


def wait_for(condition, seconds=20):
    """Ask until it holds; what it gave at last."""
    deadline = time.monotonic() + seconds
    while True:
        result = condition()
        if result or time.monotonic() > deadline:
            return result
        time.sleep(0.02)
