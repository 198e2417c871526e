"""A gate that people close or open after a lock changes nothing under it, on every page that has a lock."""

import json
from dataclasses import replace

import pytest

from flipcore.annotation import gates
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.reports.exports.document import report
from flipcore.runs import demo
from flipcore.store.connection import Store
from flipcore.store.queries import locks
from pages.components import boards
from tests.pages.opening import PAGE_MARKS, opened, quiet, words
from tests.pages.test_memorization import memory_study
from tests.stores import store_with

pytestmark = PAGE_MARKS
AFTERWARDS = "Closed after the lock."
FLIPS = Study(
    "set aside",
    (ItemSource("flipscope_choice", n=48),),
    (Part("identity"), Part("combined", {"n": 3, "parts": ["option_order", "label_set"]})),
    (Part("first_token"), Part("regex")),
    (ModelUse("simulated-noisy", n_samples=2), ModelUse("simulated-artifact-prone", n_samples=2)),
    confirmatory_share=0.5,
)
TWO_SETS = replace(
    FLIPS,
    name="two sets",
    items=(ItemSource("flipscope_choice", role="target", n=48), ItemSource("flipscope_problems", role="retro", n=48)),
    axes=(Part("identity"),),
    extractors=(Part("regex"),),
)
MEMORY = memory_study()
MEMORY = replace(
    MEMORY, items=tuple(replace(one, n=36) for one in MEMORY.items if one.dataset == "pocket_problems"), confirmatory_share=0.5
)
PAGES = {  # the name of a page's lock -> its study, address and link
    "score": (FLIPS, "score/page.py", {}),
    "decomposition": (FLIPS, "flips/page.py", {"show": "Parts"}),
    "ranking": (FLIPS, "ranking/page.py", {}),
    "memorization": (MEMORY, "memorization/page.py", {"tab": "Drop gap"}),
    "holdout": (TWO_SETS, "holdout/page.py", {"part": "Inflation"}),
}


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    """Study -> its file, each run once."""
    return {study.study_id: store_with(tmp_path_factory.mktemp("gates"), study) for study, *_ in PAGES.values()}


@pytest.mark.parametrize("page", PAGES)
def test_what_a_lock_shows_stays_when_every_gate_closes_afterwards(page, stores, monkeypatch):
    study, address, link = PAGES[page]
    quiet(monkeypatch, stores[study.study_id])
    monkeypatch.setattr(demo, "demo_studies", list)

    drawn, draw = [], boards.draw

    def said(mode: str) -> str:
        drawn.clear()
        app = opened(address, study=study.study_id, mode=mode, **link)
        assert not app.exception
        return " ".join([words(app), *drawn])

    def draw_and_note(data, **settings):
        drawn.append(json.dumps(data))
        return draw(data, **settings)

    monkeypatch.setattr(boards, "draw", draw_and_note)
    app = opened(address, study=study.study_id, mode="Locked", **link)
    app.text_input(key=f"lock-name-{page}").set_value("Ada").run()
    app.button(key=f"lock-{page}").click().run()
    before = said("Locked")
    assert "Settings stored by Ada" in before and "at least 10 are needed" not in before
    monkeypatch.setattr(gates, "_missing_reviews", lambda *_, **__: AFTERWARDS)
    monkeypatch.setattr(gates, "needs_judge", lambda name: True)
    monkeypatch.setattr(gates, "reads_together", lambda name: False)
    monkeypatch.setattr(gates, "OWN_PROMPT", AFTERWARDS)
    monkeypatch.setattr(gates, "REVIEW_AXES", [*gates.REVIEW_AXES, "numeric_resample", "bit_flip"])
    assert AFTERWARDS in said("Explore")
    assert said("Locked") == before


def test_card_header_and_report_count_the_same_items_and_what_is_set_aside(tmp_path, monkeypatch):
    """Not the share that was declared, and not 48 items here and 31 there."""
    path = store_with(tmp_path, FLIPS)  # of its own: a lock opens what is set aside
    store = Store.open(path)
    n = locks.n_set_aside(store, FLIPS.study_id)
    said = report(store, FLIPS.study_id)
    store.close()
    assert f"· 48 items, {n} of them set aside ·" in said
    assert f"{48 - n} items ({48 - n} benchmark) of flipscope_choice, beside {n} that are set aside, were asked" in said
    quiet(monkeypatch, path)
    monkeypatch.setattr(demo, "demo_studies", list)
    assert n not in (0, 24) and f"48 items, {n} of them set aside" in words(opened())  # drawn one by one: half of 48 is a mean
    popovers = opened("flips/page.py", study=FLIPS.study_id).get("popover")
    assert any(f"48 items, {n} of them set aside" in one.proto.popover.label for one in popovers)
