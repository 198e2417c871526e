"""A dashboard and a page of its own for every module of browser tests; a module with other studies has a `database` of its own."""

import pytest

from flipcore.core.study import Study
from tests.browser.serving import ROOT, browser_page, dashboard
from tests.stores import store_with


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    """A store that already has a small finished study, so that the demo does not start."""
    from tests.browser.test_main_job import SIMULATED

    return store_with(tmp_path_factory.mktemp("browser"), Study.from_toml(SIMULATED))


@pytest.fixture(scope="module")
def address(database):
    with dashboard(ROOT / "app.py", database) as url:
        yield url


@pytest.fixture(scope="module")
def page(address):
    """A page for somebody who has taken the tour before."""
    with browser_page() as opened:
        opened.set_default_timeout(90_000)
        opened.add_init_script("localStorage.setItem('flipscope-tour', 'done')")
        yield opened
