"""cql_month: one reseller's month as a prepared SELECT, over a connection that is kept.

As a rival's driver would, no more and no less: EXECUTE, the answer's rows, their days and exact
amounts. The bytes are those of docs/PROTOCOL.md, "The CQL door", protocol version 4.
"""

import decimal
import socket
import struct

STARTUP, PREPARE, EXECUTE, READY, RESULT = 1, 9, 10, 2, 8
ROWS, PREPARED = 2, 4
ONE, HAS_VALUES, SKIP_METADATA = 1, 1, 2
NO_METADATA = 4
SELECT = b"SELECT day, amount FROM daybook.amount_by_day WHERE reseller_id = ? " \
    b"AND day >= '2026-08-01' AND day <= '2026-08-31'"
# A row: the day's cell, which has ten bytes, and the size of the amount's, -1 for null; then the
# amount, its scale first.
PRICED = struct.Struct(">i10sii")
NULL = struct.calcsize(">i10si")
PADDING = bytes(PRICED.size - NULL)  # what stands for the scale of a null that ends the answer
# By scale. What it multiplies has fewer digits than a decimal keeps, so the product is exact.
UNITS = [decimal.Decimal(1).scaleb(-scale) for scale in range(32)]


class CqlMonth:
    """The question, ready to be asked of a server on a port."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        words = b"".join(struct.pack(">H", len(word)) + word for word in (b"CQL_VERSION", b"3.0.0"))
        self._ask(STARTUP, struct.pack(">H", 1) + words, READY)
        answer = self._ask(PREPARE, struct.pack(">i", len(SELECT)) + SELECT, RESULT)
        kind, size = struct.unpack_from(">iH", answer)
        if kind != PREPARED:
            raise OSError("it is not prepared")
        self.head = answer[4:6 + size] + struct.pack(">HBH", ONE, HAS_VALUES | SKIP_METADATA, 1)

    def close(self):
        self.socket.close()

    def ask(self, reseller):
        """The days that are priced, with what the reseller earned in each."""
        name = reseller.encode()
        key = struct.pack(">i", len(name)) + name
        answer = self._ask(EXECUTE, self.head + key, RESULT) + PADDING
        kind, flags, _, rows = struct.unpack_from(">iiii", answer)
        if kind != ROWS or not flags & NO_METADATA:
            raise OSError("the answer is no rows")
        days, at = [], 16
        for _ in range(rows):
            _, day, size, scale = PRICED.unpack_from(answer, at)
            at += NULL
            if size > 0:
                digits = int.from_bytes(answer[at + 4:at + size], "big", signed=True)
                days.append((day.decode(), digits * UNITS[scale]))
                at += size
        return days

    def _ask(self, opcode, body, wanted):
        self.socket.sendall(struct.pack(">BBhBi", 4, 0, 0, opcode, len(body)) + body)
        got = self.socket.recv(65536)
        while len(got) < 9 or len(got) < 9 + struct.unpack_from(">i", got, 5)[0]:
            piece = self.socket.recv(65536)
            if not piece:
                raise OSError("the server hung up")
            got += piece
        if got[4] != wanted:
            raise OSError(f"the answer is {got[9:]}")
        return got[9:]
