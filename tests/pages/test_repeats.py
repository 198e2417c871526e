"""Items that repeat a template are named beside every claim that takes them as independent."""

import pytest

from flipcore.runs import demo
from tests.pages.opening import PAGE_MARKS, opened, quiet
from tests.pages.test_memorization import memory_store
from tests.stores import copy_of

WARNING = "9 of 96 items repeat another item's wording with other numbers or names."
pytestmark = PAGE_MARKS


@pytest.mark.parametrize(("page", "link"), [("flips", {"show": "Parts"}), ("memorization", {}), ("flips", {})])
def test_items_that_repeat_a_template_are_named_on_a_page(tmp_path, tmp_path_factory, monkeypatch, page, link):
    quiet(monkeypatch, copy_of(memory_store(tmp_path_factory), tmp_path))
    monkeypatch.setattr(demo, "demo_studies", list)
    asked = []
    monkeypatch.setattr("pages.common.repeats.repeated_templates", lambda *words: asked.append(words) or WARNING)
    app = opened(f"{page}/page.py", **link)
    assert not app.exception and [one.value for one in app.warning if "repeat another" in one.value]
    ((questions, families, options),) = asked
    assert len(questions) == len(families) == len(options) == 96
    app.run()
    assert len(asked) == 1 and [one.value for one in app.warning if "repeat another" in one.value]


def test_they_are_named_beside_two_sets_too(tmp_path, tmp_path_factory, monkeypatch):
    quiet(monkeypatch, copy_of(memory_store(tmp_path_factory), tmp_path))
    monkeypatch.setattr("pages.common.repeats.repeated_templates", lambda *words: WARNING)
    app = opened("holdout/page.py")
    assert not app.exception and [one.value for one in app.warning if "repeat another" in one.value]
