"""Disks of a test's own: mounted for it, and filled up."""

import contextlib
import subprocess

import pytest


@contextlib.contextmanager
def mounted(kind, source, target, options):
    """Mount if the system lets us; else the test cannot be run here."""
    target.mkdir(exist_ok=True)
    done = subprocess.run(["mount", "-t", kind, "-o", options, str(source), str(target)],
                          capture_output=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"cannot mount: {done.stderr.decode().strip()}")
    try:
        yield target
    finally:
        subprocess.run(["umount", str(target)], check=True)


def fill(filler):
    """Take all the room there is."""
    with filler.open("wb", buffering=0) as file:
        for size in (1 << 16, 1 << 12):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                pass
