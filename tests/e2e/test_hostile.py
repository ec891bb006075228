"""The short part of tests/hostile: requests that once ended the server or had everybody wait."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "hostile"))

import cases  # noqa: E402
import hostile  # noqa: E402


def test_no_request_takes_all_of_the_server(tmp_path):
    server = hostile.start(tmp_path / "data")
    client = hostile.Client(server)
    for case in cases.CASES:
        for text, values in case.prepare:
            client.run(text, values)
        with hostile.watched(server, case.name):
            for text, values in case.requests:
                hostile.attempt(client, text, values)
    client.close()
    assert server.stop() == 0
