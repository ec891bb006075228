"""Statements made at random from the grammar, for MINUTES, from SEED on.

A finding names the seed: SEED=n MINUTES=0 sends statement n alone, to a new server.
"""

import os
import time

import generate
import hostile

SECONDS = 60 * float(os.environ.get("MINUTES", "1"))
SEED = int(os.environ.get("SEED", "1"))
TOGETHER = 50                    # statements that one honest client watches


def prepare(server):
    client = hostile.Client(server)
    for text in generate.PREPARE:
        client.run(text)
    for text, values in generate.rows():
        client.run(text, values)
    return client


def send(server, client, seed):
    """How long statement `seed` took; any answer is right that comes in time."""
    made = generate.Maker(seed)
    began = time.monotonic()
    try:
        hostile.attempt(client, made.text, made.values)
        assert server.process.poll() is None, "the server ended"
        hostile.check_memory(server)
    except (AssertionError, OSError) as finding:
        said = server.text()[-3000:]
        raise AssertionError(f"SEED={seed}: {finding}\n{made.text[:200]}\n{said}") from finding
    return time.monotonic() - began


def test_statements_from_the_grammar(tmp_path):
    seed, deadline = SEED, time.monotonic() + SECONDS
    server = hostile.start(tmp_path / "data")
    client = prepare(server)
    while seed == SEED or time.monotonic() < deadline:
        took = {}
        with hostile.watched(server, f"statements from SEED={seed} on", lambda: slowest(took)):
            while len(took) < TOGETHER and (not took or time.monotonic() < deadline):
                took[seed] = send(server, client, seed)
                seed += 1
        for text, values in generate.rows():
            client.run(text, values)
    client.close()
    assert server.stop() == 0
    print(f"{seed - SEED} statements")


def slowest(took):
    """The seeds that took longest: of these one had the honest client wait."""
    order = sorted(took, key=took.get, reverse=True)[:5]
    return "; slowest: " + ", ".join(f"SEED={seed} {took[seed]:.1f} s" for seed in order)
