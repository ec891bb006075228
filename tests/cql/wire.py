"""CQL over bare sockets, protocol v4, and its answers as text: what a case file shows.

A driver would decode values its own way, hide warnings, codes and types, and prepare what it likes;
here an answer is what came over the wire, printed the same for every server:

    (p int, v list<text>)       the columns with their types
    1 | ['a', 'b']              a row; null is null, an empty value of a type that has none: empty
    ERROR 2200 text             an error's code and text
    WARNING text                a warning of the answer
"""

import datetime
import decimal
import ipaddress
import math
import socket
import struct
import uuid

PATIENCE_S = 60
READY, RESULT, ERROR, QUERY, PREPARE, EXECUTE = 2, 8, 0, 7, 9, 10
VOID, ROWS, SET_KEYSPACE, PREPARED, SCHEMA_CHANGE = 1, 2, 3, 4, 5
NULL, UNSET = -1, -2
PRIMITIVES = {1: "ascii", 2: "bigint", 3: "blob", 4: "boolean", 5: "counter", 6: "decimal",
              7: "double", 8: "float", 9: "int", 11: "timestamp", 12: "uuid", 13: "text",
              14: "varint", 15: "timeuuid", 16: "inet", 17: "date", 18: "time", 19: "smallint",
              20: "tinyint", 21: "duration"}
CUSTOM, LIST, MAP, SET, UDT, TUPLE = 0, 0x20, 0x21, 0x22, 0x30, 0x31
DURATION_CLASS = "org.apache.cassandra.db.marshal.DurationType"


class Reader:
    """The protocol's notations, one after the other."""

    def __init__(self, data):
        self.data = data
        self.at = 0

    def take(self, size):
        piece = self.data[self.at:self.at + size]
        if len(piece) != size:
            raise ValueError("an answer ends too early")
        self.at += size
        return piece

    def number(self, form):
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def short(self):
        return self.number(">H")

    def int(self):
        return self.number(">i")

    def string(self):
        return self.take(self.short()).decode()

    def bytes(self):
        """None for null."""
        size = self.int()
        return None if size < 0 else self.take(size)

    def vint(self):
        """Cassandra's: leading ones of the first byte count the bytes that follow; zigzag."""
        first = self.number("B")
        more = 0
        while more < 8 and first & (0x80 >> more):
            more += 1
        value = first & (0xFF >> more)
        for byte in self.take(more):
            value = value << 8 | byte
        return value >> 1 ^ -(value & 1)

    def rest(self):
        return self.take(len(self.data) - self.at)


# ---- types: a name, the types inside, the names of a user type's fields ----


class Type:
    def __init__(self, name, inner=(), fields=()):
        self.name = name
        self.inner = inner
        self.fields = fields

    def __str__(self):
        if not self.inner or self.fields:
            return self.name
        return f"{self.name}<{', '.join(map(str, self.inner))}>"


def read_type(reader):
    code = reader.short()
    if code == CUSTOM:
        name = reader.string()
        return Type("duration" if name == DURATION_CLASS else f"'{name}'")
    if code in (LIST, SET):
        return Type("list" if code == LIST else "set", (read_type(reader),))
    if code == MAP:
        return Type("map", (read_type(reader), read_type(reader)))
    if code == TUPLE:
        return Type("tuple", tuple(read_type(reader) for _ in range(reader.short())))
    if code == UDT:
        reader.string()
        name = reader.string()
        fields = [(reader.string(), read_type(reader)) for _ in range(reader.short())]
        return Type(name, tuple(kind for _, kind in fields), tuple(field for field, _ in fields))
    return Type(PRIMITIVES[code])


def read_columns(reader, count, has_global):
    """Names and types; the table's name is for drivers."""
    if has_global:
        reader.string(), reader.string()
    columns = []
    for _ in range(count):
        if not has_global:
            reader.string(), reader.string()
        columns.append((reader.string(), read_type(reader)))
    return columns


# ---- values as text ----

EPOCH = datetime.date(1970, 1, 1)


def text_of_float(value, form):
    """The shortest digits that are this value and no other of its width."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if form == ">d":
        return repr(value)
    for digits in range(1, 10):
        text = f"{value:.{digits}g}"
        if struct.pack(form, float(text)) == struct.pack(form, value):
            return repr(float(text))
    return repr(value)


def text_of_timestamp(value):
    """ISO 8601 where the calendar reaches, else the milliseconds."""
    days, ms = divmod(value, 86_400_000)
    try:
        day = EPOCH + datetime.timedelta(days)
    except OverflowError:
        return str(value)
    return f"{day}T{text_of_time(ms * 1_000_000)[:12]}Z"


def text_of_time(ns):
    seconds, ns = divmod(ns, 1_000_000_000)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{ns:09}"


def text_of_date(value):
    try:
        return str(EPOCH + datetime.timedelta(value - (1 << 31)))
    except OverflowError:
        return str(value - (1 << 31))


def text_of_decimal(data):
    scale, digits = struct.unpack(">i", data[:4])[0], int.from_bytes(data[4:], "big", signed=True)
    sign, text = ("-" if digits < 0 else ""), str(abs(digits))
    if 0 <= scale <= 100:
        text = text.rjust(scale + 1, "0")
        return sign + (f"{text[:-scale]}.{text[-scale:]}" if scale else text)
    return f"{sign}{text}E{-scale:+}"


def text_of_duration(data):
    reader = Reader(data)
    return "{}mo{}d{}ns".format(reader.vint(), reader.vint(), reader.vint())


def quoted(data):
    text = data.decode().replace("\\", "\\\\").replace("\n", "\\n").replace("'", "''")
    return f"'{text}'"


def fixed(form, show=str):
    return lambda data: show(struct.unpack(form, data)[0])


SCALARS = {
    "ascii": quoted, "text": quoted, "blob": lambda data: "0x" + data.hex(),
    "boolean": lambda data: "true" if data[0] else "false",
    "bigint": fixed(">q"), "counter": fixed(">q"), "int": fixed(">i"), "smallint": fixed(">h"),
    "tinyint": fixed(">b"), "timestamp": fixed(">q", text_of_timestamp),
    "time": fixed(">q", text_of_time), "date": fixed(">I", text_of_date),
    "float": fixed(">f", lambda value: text_of_float(value, ">f")),
    "double": fixed(">d", lambda value: text_of_float(value, ">d")),
    "decimal": text_of_decimal, "duration": text_of_duration,
    "varint": lambda data: str(int.from_bytes(data, "big", signed=True)),
    "uuid": lambda data: str(uuid.UUID(bytes=data)),
    "timeuuid": lambda data: str(uuid.UUID(bytes=data)),
    "inet": lambda data: str(ipaddress.ip_address(data)),
}


def text_of_fields(kind, reader):
    """Of a tuple or user type, whose last fields may be missing."""
    values = []
    for inner in kind.inner:
        is_there = reader.at < len(reader.data)
        values.append(text_of(inner, reader.bytes() if is_there else None))
    if kind.fields:
        return "{" + ", ".join(map(": ".join, zip(kind.fields, values))) + "}"
    return "(" + ", ".join(values) + ")"


def text_of(kind, data):
    if data is None:
        return "null"
    if not data and kind.name not in ("text", "ascii", "blob"):
        return "empty"
    reader = Reader(data)
    if kind.name in ("list", "set"):
        items = [text_of(kind.inner[0], reader.bytes()) for _ in range(reader.int())]
        return ("[{}]" if kind.name == "list" else "{{{}}}").format(", ".join(items))
    if kind.name == "map":
        pairs = [[text_of(inner, reader.bytes()) for inner in kind.inner]
                 for _ in range(reader.int())]
        return "{" + ", ".join(map(": ".join, pairs)) + "}"
    if kind.inner:
        return text_of_fields(kind, reader)
    try:
        return SCALARS.get(kind.name, SCALARS["blob"])(data)
    except (ValueError, struct.error, UnicodeDecodeError):
        return f"invalid 0x{data.hex()}"


# ---- a connection ----


class Rows:
    """One page of an answer."""

    def __init__(self, reader):
        flags, count = reader.int(), reader.int()
        self.state = reader.bytes() if flags & 2 else None
        self.columns = [] if flags & 4 else read_columns(reader, count, flags & 1)
        self.cells = [[reader.bytes() for _ in range(count)] for _ in range(reader.int())]


class Connection:
    """Statements in, lines out."""

    def __init__(self, host, port):
        self.socket = socket.create_connection((host, port), PATIENCE_S)
        body = struct.pack(">H", 1) + string("CQL_VERSION") + string("3.0.0")
        opcode, _, _ = self._ask(1, body)
        if opcode != READY:
            raise OSError("the server wants more than STARTUP")

    def close(self):
        self.socket.close()

    def run(self, statement, page_size=0, is_hidden=False):
        """Its answer, of all pages, as lines."""
        text = statement.encode()
        return self._pages(QUERY, struct.pack(">i", len(text)) + text, [], page_size, is_hidden)

    def run_bound(self, statement, executions, page_size=0, is_hidden=False):
        """Prepare it, then execute it with each list of bytes, NULL and UNSET."""
        text = statement.encode()
        answer = self._ask(PREPARE, struct.pack(">i", len(text)) + text)
        lines = list(answer_lines(*answer))
        if lines[0].startswith("PREPARED"):
            reader = Reader(answer[1])
            reader.int()
            name = reader.take(reader.short())
            for values in executions:
                head = struct.pack(">H", len(name)) + name
                lines += self._pages(EXECUTE, head, values, page_size, is_hidden)
        return lines

    def _pages(self, opcode, head, values, page_size, is_hidden):
        lines, state = [], None
        while True:
            answer = self._ask(opcode, head + parameters(values, page_size, state))
            rows = rows_of(*answer[:2])
            if rows is None:
                return lines + list(answer_lines(*answer))
            lines += ["-- next page"] if state else [text_of_columns(rows.columns)]
            lines += [text_of_row(rows.columns, row, is_hidden) for row in rows.cells]
            lines += [f"WARNING {warning}" for warning in answer[2]]
            state = rows.state
            if state is None:
                return lines

    def _ask(self, opcode, body):
        """Opcode, body and warnings of the answer."""
        self.socket.sendall(struct.pack(">BBhBi", 4, 0, 0, opcode, len(body)) + body)
        _, flags, _, opcode, size = struct.unpack(">BBhBi", self._receive(9))
        reader = Reader(self._receive(size))
        if flags & 2:
            reader.take(16)
        warnings = [reader.string() for _ in range(reader.short())] if flags & 8 else []
        return opcode, reader.rest(), warnings

    def _receive(self, size):
        got = b""
        while len(got) < size:
            piece = self.socket.recv(size - len(got))
            if not piece:
                raise OSError("the server hung up")
            got += piece
        return got


def string(text):
    return struct.pack(">H", len(text.encode())) + text.encode()


def parameters(values, page_size, state):
    """Of QUERY and EXECUTE: consistency ONE, what is bound, pages."""
    flags = (1 if values else 0) | (4 if page_size else 0) | (8 if state else 0)
    body = struct.pack(">HB", 1, flags)
    if values:
        body += struct.pack(">H", len(values))
        for value in values:
            is_bytes = isinstance(value, bytes)
            body += struct.pack(">i", len(value)) + value if is_bytes else struct.pack(">i", value)
    if page_size:
        body += struct.pack(">i", page_size)
    if state:
        body += struct.pack(">i", len(state)) + state
    return body


def rows_of(opcode, body):
    reader = Reader(body)
    return Rows(reader) if opcode == RESULT and reader.int() == ROWS else None


def text_of_columns(columns):
    return "(" + ", ".join(f"{name} {kind}" for name, kind in columns) + ")"


def text_of_row(columns, row, is_hidden):
    if is_hidden:
        return " | ".join("null" if data is None else "*" for data in row)
    return " | ".join(text_of(kind, data) for (_, kind), data in zip(columns, row))


def answer_lines(opcode, body, warnings):
    """What is no row."""
    reader = Reader(body)
    if opcode == ERROR:
        code = reader.int()
        message = reader.string().replace("\n", "\\n")
        yield f"ERROR {code:04x} {message}"
    else:
        yield text_of_result(reader)
    for warning in warnings:
        yield f"WARNING {warning}"


def text_of_result(reader):
    kind = reader.int()
    if kind == SET_KEYSPACE:
        return f"USE {reader.string()}"
    if kind == SCHEMA_CHANGE:
        change, target, keyspace = reader.string(), reader.string(), reader.string()
        name = f".{reader.string()}" if target != "KEYSPACE" else ""
        return f"{change} {target} {keyspace}{name}"
    if kind == PREPARED:
        reader.take(reader.short())
        flags, count = reader.int(), reader.int()
        keys = [reader.short() for _ in range(reader.int())]
        columns = read_columns(reader, count, flags & 1)
        return f"PREPARED {text_of_columns(columns)} key {keys}"
    return "OK"
