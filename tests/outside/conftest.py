"""A user for every test, and the package that the user has installed."""

import pytest

from tests.outside.user import INSTALL_SECONDS, IS_WHOLE, ROOT, User, build_wheel, install_wheel, make_stand_in, unpack_wheel


def pytest_itemcollected(item):
    """Give the first slow test the time of the installation that it waits for: two to five minutes."""
    if IS_WHOLE and item.get_closest_marker("slow") and not item.get_closest_marker("timeout"):
        item.add_marker(pytest.mark.timeout(300 + INSTALL_SECONDS))


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """The wheel of this checkout, built once."""
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def command(request, tmp_path_factory):
    """A `flipscope` with this environment's packages: of the wheel in CI, of this checkout elsewhere.

    A wheel that was just unpacked has to be compiled, which takes longer than the tests.
    """
    folder = tmp_path_factory.mktemp("light")
    site = unpack_wheel(request.getfixturevalue("wheel"), folder / "site") if IS_WHOLE else ROOT
    return make_stand_in(folder / "venv", site)


@pytest.fixture
def user(tmp_path, command):
    """Somebody with an empty folder and a home of their own."""
    return User(tmp_path / "home", tmp_path / "work", command)


@pytest.fixture(scope="session")
def installed(wheel, tmp_path_factory):
    """The command as pip installs it into a new virtual environment; None outside of CI."""
    return install_wheel(wheel, tmp_path_factory.mktemp("installed") / "venv") if IS_WHOLE else None


@pytest.fixture
def whole_user(user, installed, tmp_path):
    """Somebody who installed the wheel, in CI; `user` elsewhere. For slow tests."""
    return User(tmp_path / "home", tmp_path / "work", installed) if installed else user
