"""Single requests that want all of a server: the honest client is served meanwhile."""

import pytest

import cases
import hostile


@pytest.mark.parametrize("case", cases.CASES, ids=lambda case: case.name)
def test_a_request_leaves_the_server_to_others(server, case):
    client = hostile.Client(server)
    for text, values in case.prepare:
        client.run(text, values)
    with hostile.watched(server, case.name):
        for text, values in case.requests:
            hostile.attempt(client, text, values)
    client.close()
