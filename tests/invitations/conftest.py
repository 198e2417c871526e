"""A store with access on, and its admin."""

import pytest

from flipcore.access import policy
from flipcore.access.acting import Level, Person, access_file
from flipcore.store.connection import Store


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("invited")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FLIPSCOPE_HOME", str(folder))
        patch.setenv("FLIPSCOPE_DB", str(folder / "invited.duckdb"))
        access_file().write_text(policy.TEMPLATE)
        held = Store.open()
        yield held
        held.close()


@pytest.fixture
def admin():
    return Person("root", Level.ADMIN)
