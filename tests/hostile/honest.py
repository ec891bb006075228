"""A client that reads one row again and again, and says how long it waited.

A process of its own: a thread beside the one that attacks would measure the interpreter. Prints
"ready", and when its input ends the milliseconds of every read, slowest first.
"""

import select
import socket
import struct
import sys
import time

QUERY = b"SELECT v FROM honest.rows WHERE k = 1"
PATIENCE = 60
PAUSE_S = 0.002


def exactly(connection, size):
    got = b""
    while len(got) < size:
        piece = connection.recv(size - len(got))
        if not piece:
            sys.exit("the server hung up on the honest client")
        got += piece
    return got


def ask(connection, opcode, body):
    """The answer's opcode."""
    connection.sendall(struct.pack(">BBhBi", 4, 0, 0, opcode, len(body)) + body)
    _, _, _, answer, size = struct.unpack(">BBhBi", exactly(connection, 9))
    body = exactly(connection, size)
    if answer == 0:
        sys.exit(f"the honest client was refused: {body[:200]}")
    return answer


def main():
    connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])), PATIENCE)
    ask(connection, 1, struct.pack(">HH", 1, 11) + b"CQL_VERSION" + struct.pack(">H", 5) + b"3.0.0")
    body = struct.pack(">i", len(QUERY)) + QUERY + struct.pack(">HB", 1, 0)
    waits = []
    print("ready", flush=True)
    while not waits or not select.select([sys.stdin], [], [], PAUSE_S)[0]:
        began = time.monotonic()
        ask(connection, 7, body)
        waits.append((time.monotonic() - began) * 1000)
    print(" ".join(f"{wait:.1f}" for wait in sorted(waits, reverse=True)))


main()
