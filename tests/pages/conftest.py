"""Every page test starts with empty caches: they outlive a test and hold another test's store. A module whose tests all look at
one store says `ONE_STORE = True` and starts with empty caches once.

The cross-validation is permuted 19 times here, not 199: what a page shows of it is the same, a tenth of the work."""

import pytest

from flipcore.runs import demo
from tests.pages.opening import clear_caches, few_permutations, quiet


@pytest.fixture(autouse=True, scope="module")
def caches_of_this_module():
    few = pytest.MonkeyPatch()
    few_permutations(few)
    clear_caches()
    yield
    clear_caches()
    few.undo()


@pytest.fixture(autouse=True)
def fresh_caches(request):
    if not getattr(request.module, "ONE_STORE", False):
        clear_caches()


@pytest.fixture
def another_store():
    """For the one test of such a module that looks at a store of its own."""
    clear_caches()
    yield
    clear_caches()


@pytest.fixture
def path(file, monkeypatch):
    """The `file` of a test module, as the only store that the pages see."""
    quiet(monkeypatch, file)
    monkeypatch.setattr(demo, "demo_studies", list)
    return file
