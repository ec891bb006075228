"""Writes over CQL with a daybook-request-id: counted once, whatever became of the first answer."""

import random
import uuid

import pytest
from cassandra import InvalidRequest
from cassandra.query import BatchStatement, BatchType, SimpleStatement

import cql

KEYSPACE = "CREATE KEYSPACE IF NOT EXISTS ads WITH replication = " \
    "{'class': 'SimpleStrategy', 'replication_factor': 1}"
TABLE = "CREATE TABLE IF NOT EXISTS ads.clicks_per_ad (ad_id text PRIMARY KEY, clicks counter)"
COUNT = "UPDATE ads.clicks_per_ad SET clicks = clicks + 1 WHERE ad_id = "
KILLS = 8


@pytest.fixture
def server(serve):
    return serve("--cql", "127.0.0.1:0")


def send(session, statement, request_id, values=None):
    """What docs/CQL.md shows: the id beside the statement, and what the answer says of it."""
    future = session.execute_async(statement, values,
                                   custom_payload={"daybook-request-id": request_id.bytes})
    future.result()
    return future.custom_payload["daybook-request-id"].decode()


def clicks(session, ad):
    row = session.execute("SELECT clicks FROM ads.clicks_per_ad WHERE ad_id = %s", (ad,)).one()
    return row.clicks if row else 0


@pytest.mark.parametrize("version", [4, 5])
def test_a_retry_with_its_id_counts_once_and_says_so(server, version):
    with cql.connected(server, protocol_version=version) as session:
        session.execute(KEYSPACE)
        session.execute(TABLE)
        prepared = session.prepare(COUNT + "?")
        prepared.is_idempotent = True
        one, two = uuid.uuid4(), uuid.uuid4()
        assert send(session, prepared, one, ("ad",)) == "applied"
        assert send(session, prepared, one, ("ad",)) == "duplicate"
        with pytest.raises(InvalidRequest, match="another statement or other values"):
            send(session, prepared, one, ("other",))
        batch = BatchStatement(BatchType.COUNTER)
        batch.add(prepared, ("ad",))
        batch.add(prepared, ("ad",))
        assert send(session, batch, two) == "applied"
        assert send(session, batch, two) == "duplicate"
        assert clicks(session, "ad") == 3
        assert clicks(session, "other") == 0


def test_a_comment_does_for_version_3(server):
    with cql.connected(server, protocol_version=3) as session:
        session.execute(KEYSPACE)
        session.execute(TABLE)
        text = f"/* daybook-request-id: {uuid.uuid4().hex} */ {COUNT}'ad'"
        session.execute(text)
        session.execute(text)
        assert clicks(session, "ad") == 1


def test_killed_at_random_moments_every_request_is_counted_once(serve):
    choice = random.Random(7)
    wanted = {f"ad{number}": 0 for number in range(5)}
    unanswered = []
    for life in range(KILLS + 1):
        server = serve("--cql", "127.0.0.1:0")
        with cql.connected(server) as session:
            session.execute(KEYSPACE)
            session.execute(TABLE)
            for ad, request_id in unanswered:
                send(session, SimpleStatement(f"{COUNT}'{ad}'"), request_id)
            unanswered = []
            if life == KILLS:
                assert {ad: clicks(session, ad) for ad in wanted} == wanted
                break
            sent = []
            for _ in range(choice.randint(20, 200)):
                ad, request_id = choice.choice(list(wanted)), uuid.uuid4()
                wanted[ad] += 1
                future = session.execute_async(
                    f"{COUNT}'{ad}'", custom_payload={"daybook-request-id": request_id.bytes})
                sent.append((ad, request_id, future))
            sent[choice.randrange(len(sent))][2].result()
            server.kill()
            for ad, request_id, future in sent:
                try:
                    future.result()
                except Exception:  # pylint: disable=broad-except  # however the driver puts it
                    unanswered.append((ad, request_id))
