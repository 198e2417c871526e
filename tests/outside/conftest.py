"""A user for every test, and the package that the user has installed."""

import pytest

from tests.outside.user import User, build_wheel, unpack_wheel, write_launcher


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The wheel of this checkout, unpacked beside the environment's own packages."""
    return unpack_wheel(build_wheel(tmp_path_factory.mktemp("wheel")), tmp_path_factory.mktemp("site"))


@pytest.fixture
def user(tmp_path, site):
    """Somebody with an empty folder and a home of their own."""
    return User(tmp_path / "home", tmp_path / "work", write_launcher(tmp_path / "bin" / "flipscope", site))
