"""What every test of the page may ask for: chromium, and servers to look at."""

import pathlib
import shutil
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import browser  # noqa: E402


def pytest_configure(config):
    config.addinivalue_line("markers", "quick: is in `make test`, half a minute of these in all")


@pytest.fixture(scope="session")
def chromium():
    with browser.started() as one:
        yield one


@pytest.fixture(scope="session")
def flights_directory(tmp_path_factory):
    """The flights with their rates, loaded once: for tests that copy it."""
    path = tmp_path_factory.mktemp("flights") / "data"
    browser.load_flights(path)
    yield path
    shutil.rmtree(path)


@pytest.fixture(scope="session")
def flights(tmp_path_factory, flights_directory):
    """A server over the flights, of which tests only read."""
    path = tmp_path_factory.mktemp("served") / "data"
    shutil.copytree(flights_directory, path)
    site = browser.Site(path)
    yield site
    site.stop()


@pytest.fixture
def start(tmp_path):
    """Start servers of the test's own, over a directory that is new or a copy."""
    sites = []

    def begin(*options, copy_of=None):
        path = tmp_path / f"data{len(sites)}"
        if copy_of:
            shutil.copytree(copy_of, path)
        sites.append(browser.Site(path, *options))
        return sites[-1]

    yield begin
    for site in sites:
        site.stop()


@pytest.fixture
def show(chromium):
    """Open pages; of each of them must hold what browser.py says."""
    tabs = []

    def begin(site, path, **options):
        tabs.append(browser.Tab(chromium, site, path, **options))
        return tabs[-1]

    yield begin
    for tab in tabs:
        tab.close()
