"""One server for all hostile requests of a module: none of them may do it lasting harm."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import hostile  # noqa: E402


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    one = hostile.start(tmp_path_factory.mktemp("hostile") / "data")
    yield one
    assert one.stop() == 0, one.text()[-4000:]
