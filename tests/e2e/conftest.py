"""What every end-to-end test may ask for."""

import resource
import shutil
import warnings

import pytest

import daybook
import disks


def pytest_configure(config):
    config.addinivalue_line("markers", "counts: compares counts with bounds; see conftest.py")


def pytest_pyfunc_call(pyfuncitem):
    """Run a test that is marked `counts` up to three times: of three runs two must pass.

    What a count should not depend on can fall into one run by chance, on either side of a
    difference. What really grew fails each time. All but a count over its bound fails at once.
    """
    if not pyfuncitem.get_closest_marker("counts"):
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    place = arguments.get("tmp_path")
    passed = failed = 0
    while passed < 2 and (passed == 0 or failed > 0):
        if place:
            arguments["tmp_path"] = place / str(passed + failed)
            arguments["tmp_path"].mkdir()
        try:
            pyfuncitem.obj(**arguments)
            passed += 1
        except daybook.OverBound as over:
            failed += 1
            if failed == 2:
                raise
            warnings.warn(str(over))
    return True


@pytest.fixture
def directory(tmp_path):
    """A data directory that does not exist yet, and is gone after the test."""
    path = tmp_path / "data"
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def serve(directory):
    """Start servers; each that still runs at the end of the test must end cleanly."""
    servers = []

    def start(*options, **more):
        servers.append(daybook.Server(more.pop("directory", directory), *options, **more))
        return servers[-1]

    yield start
    for server in servers:
        if server.process.returncode is None:
            assert server.stop() == 0, server.text()


@pytest.fixture
def small_disk(tmp_path):
    """A disk that is soon full, where the system lets us mount one."""
    with disks.mounted("tmpfs", "none", tmp_path / "small", "size=192m") as small:
        yield small


@pytest.fixture
def own_memory():
    """That what the program takes is its own: a sanitizer's shadow and what it keeps are not."""
    if daybook.IS_SANITIZED:
        pytest.skip("a sanitizer takes memory of its own")


@pytest.fixture
def descriptors():
    """As many open files as the system allows: how many that is."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (before[1], before[1]))
    yield before[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.fixture(scope="session")
def flights():
    """A year of flights: 334,264 clicks, 2,512 lines to be refused, 48 rates."""
    return daybook.Input("flights")


@pytest.fixture(scope="session")
def paper():
    """The six clicks and three rates of the paper."""
    return daybook.Input("paper")


@pytest.fixture(scope="session")
def flights_directory(tmp_path_factory, flights):
    """The flights with their rates, loaded once: for tests that copy it or only read."""
    path = tmp_path_factory.mktemp("flights") / "data"
    daybook.run("load", "-d", path, "-", "--producer", "flights", stdin=flights.bytes)
    daybook.run("rate", "load", "-d", path, flights.rates)
    yield path
    shutil.rmtree(path)


@pytest.fixture
def flights_copy(flights_directory, directory):
    """A directory of the test's own that holds the flights."""
    shutil.copytree(flights_directory, directory)
    return directory
