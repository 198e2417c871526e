"""What the three walks of claims share: pages opened over one store for a whole module, and everything that they send."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from flipcore.store.connection import Store
from pages.paraphrase_review import which_pairs
from tests.pages.opening import clear_caches, few_permutations, opened, quiet

FLIPS, MEMORY, HOLDOUT, REVIEW, AUDIT = (
    f"{name}/page.py" for name in ("flips", "memorization", "holdout", "paraphrase_review", "audit")
)
BOARD = {"show": "Parts"}  # of Flips


@contextmanager
def walk_over(path: Path) -> Iterator[Store]:
    """The open store of this file, which pages and commands share as long as the walk goes. Nothing runs in the background, and
    what the pages cache is kept from one step to the next, as it is for somebody who clicks through them."""
    with pytest.MonkeyPatch.context() as patch:
        few_permutations(patch)
        quiet(patch, path)
        store = Store.open(path)
        patch.setattr("flipcore.store.connection.Store.open", classmethod(lambda *_: store))
        patch.setattr(store, "close", lambda: None)
        clear_caches()
        try:
            yield store
        finally:
            clear_caches()
            Store.close(store)


def page_of(page: str, link: dict[str, str], name: str = "Ada") -> AppTest:
    """The page as this link opens it for a reviewer of this name, without a fault."""
    app = opened(page, {which_pairs.JUDGES_AS: name} if name else {}, **link)
    assert not app.exception, (page, link)
    return app


def _nodes(block):
    yield block
    for child in getattr(block, "children", {}).values():
        yield from _nodes(child)


def sent(app: AppTest) -> str:
    """Everything that the page sends to the browser, data of components too."""
    return " ".join(str(getattr(node, "proto", "")) for node in _nodes(app._tree))
