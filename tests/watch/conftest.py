"""A server in use, and a Prometheus that has watched it for a minute."""

import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]

import watched  # noqa: E402


@pytest.fixture(scope="session")
def network(tmp_path_factory):
    with watched.network(tmp_path_factory.mktemp("watch")) as one:
        yield one
