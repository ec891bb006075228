"""The binary door in another language, made from docs/PROTOCOL.md alone: slow, independent of C.

A click is (reseller, day or None, time in ms, ad, amount, scale).
"""

import datetime
import socket
import struct

MAGIC = b"\x89DBB\r\n\x1a\n"
HELLO, CONTROL, STRINGS, BATCH, ANSWER = 1, 2, 3, 4, 128
NO_DAY = -(1 << 31)
EPOCH = datetime.date(1970, 1, 1)


def crc32c_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


TABLE = crc32c_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


def frame(kind, payload):
    header = struct.pack("<IBxxx", len(payload), kind)
    return header + struct.pack("<I", crc32c(header + payload)) + payload


def hello():
    return MAGIC + frame(HELLO, struct.pack("<HHI", 1, 1, 0))


def control(line):
    return frame(CONTROL, line.encode())


def width_of(greatest):
    return next(width for width in (0, 1, 2, 4, 8) if greatest < 1 << 8 * width)


def column(values, width):
    return b"".join(value.to_bytes(width, "little") for value in values)


def offsets(values):
    """The base, the width, and the distances from the base."""
    base = min(values, default=0)
    width = width_of(max(values, default=0) - base)
    return base, width, column([value - base for value in values], width)


def day_number(day):
    return NO_DAY if day is None else (datetime.date.fromisoformat(day) - EPOCH).days


class Writer:
    """What is said on one connection: knows which strings the server has."""

    def __init__(self):
        self.strings = {}

    def batch(self, number, clicks):
        """The frames of a batch, new strings first."""
        new = []
        for text in (text for click in clicks for text in (click[0], click[3])):
            if text not in self.strings:
                self.strings[text] = len(self.strings)
                new.append(text.encode())
        out = b""
        if new:
            out = frame(STRINGS, struct.pack("<II", 0, len(new)) +
                        column(map(len, new), 2) + b"".join(new))
        return out + frame(BATCH, self.columns(number, clicks))

    def columns(self, number, clicks):
        partitions = list(dict.fromkeys((click[0], click[1]) for click in clicks))
        ads = list(dict.fromkeys(click[3] for click in clicks))
        partition_codes = {partition: i for i, partition in enumerate(partitions)}
        ad_codes = {ad: i for i, ad in enumerate(ads)}
        partition_width = width_of(max(len(partitions) - 1, 0))
        ad_width = width_of(max(len(ads) - 1, 0))
        time_base, time_width, times = offsets([click[2] for click in clicks])
        amount_base, amount_width, amounts = offsets([click[4] for click in clicks])
        scales = [click[5] for click in clicks]
        scale = 255 if len(set(scales)) > 1 else scales[0] if scales else 0
        return (
            struct.pack("<QIIIBBBBqqB7x", number, len(clicks), len(partitions), len(ads),
                        partition_width, ad_width, time_width, amount_width, time_base,
                        amount_base, scale) +
            b"".join(struct.pack("<I", self.strings[reseller]) for reseller, _ in partitions) +
            b"".join(struct.pack("<i", day_number(day)) for _, day in partitions) +
            b"".join(struct.pack("<I", self.strings[ad]) for ad in ads) +
            column([partition_codes[click[0], click[1]] for click in clicks], partition_width) +
            column([ad_codes[click[3]] for click in clicks], ad_width) +
            times + amounts + (bytes(scales) if scale == 255 else b""))


def answers(data):
    """The text in whole frames of answers, and what is left."""
    text = b""
    while len(data) >= 12:
        size, kind = struct.unpack_from("<IB", data)
        if len(data) < 12 + size:
            break
        assert kind == ANSWER
        payload, sum_ = data[12:12 + size], struct.unpack_from("<I", data, 8)[0]
        assert crc32c(data[:8] + payload) == sum_
        text, data = text + payload, data[12 + size:]
    return text, data


class Client:
    """One connection."""

    def __init__(self, address, patience):
        self.socket = socket.create_connection(address, timeout=patience)
        self.writer = Writer()
        self.left = b""
        self.text = b""

    def send(self, data):
        self.socket.sendall(data)

    def finish(self):
        """Half-close, and all the lines that were answered."""
        self.socket.shutdown(socket.SHUT_WR)
        while piece := self.socket.recv(65536):
            text, self.left = answers(self.left + piece)
            self.text += text
        self.socket.close()
        assert not self.left
        return self.text.decode().splitlines()


def click_of(line):
    """A click of a line of CSV without quotes."""
    reseller, day, time, ad, amount = line.rstrip("\r\n").split(",")
    digits, _, decimals = amount.partition(".")
    return reseller, day or None, int(time), ad, int(digits + decimals), len(decimals)
