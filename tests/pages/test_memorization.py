"""The Memorization page on a small real study of the pocket model: every tab, and what it says where something is missing."""

import json
import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.runs import demo, runner
from flipcore.stats.memory import frames
from flipcore.stats.memory.frames import drop_rows
from flipcore.store.connection import Store
from pages.memorization.items import PARTS
from tests.pages.opening import PAGE_MARKS, opened, quiet, words
from tests.runs.test_runner import tiny_study
from tests.stores import built_once, copy_of

ONE_STORE = True  # only the last test writes to it
pytestmark = PAGE_MARKS


def memory_study() -> Study:
    sources = [
        ItemSource(name, role, 24, 3, where=where)
        for name in ("pocket_problems", "pocket_prose")
        for role, where in (("benchmark", {"dose": [256]}), ("control", {"split": "control"}))
    ]
    axes = (
        Part("identity"),
        Part("paraphrase"),
        Part("bit_flip", {"levels_pct": [0.0, 2.0], "n_samples": 3}),
        Part("bit_flip_summary", {"levels_pct": [0.0, 2.0], "n_samples": 2}),
    )
    extractors = tuple(map(Part, ("regex", "answer_loss", "question_loss", "min_k", "rouge_l", "ncd")))
    return Study("memory", tuple(sources), axes, extractors, (ModelUse("pocket", max_tokens=48),), control="random")


def memory_store(factory: pytest.TempPathFactory) -> Path:
    def fill(store):
        assert runner.run(memory_study(), store).n_failed == 0

    return built_once(factory, "memory", fill)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return copy_of(memory_store(tmp_path_factory), tmp_path_factory.mktemp("memory"))


@pytest.fixture(autouse=True)
def alone(monkeypatch, path):
    quiet(monkeypatch, path)
    monkeypatch.setattr(demo, "demo_studies", list)


def shown(tab: str, kind: str = "number") -> AppTest:
    app = opened("memorization/page.py", tab=PARTS[tab])
    groups = [group for group in app.button_group if group.key in ("kind", "passages") and group.value != kind]
    for group in groups:
        group.set_value(kind)
    return app.run() if groups else app


def test_the_summary_says_what_each_detector_sees():
    app = shown("summary")
    assert not app.exception
    said = words(app)
    # the same sentence as on the study's card
    assert re.search(r"The model remembers these questions\. .* on the 24 problems, and .* on the 24 passages\.", said)
    assert re.search(r"\d+ of \d+ detectors see it; \d+ are undecided or not claimed\. Compared with 48 control items\.", said)
    # 24 never-seen problems: half of them, twelve, are too few to set a cut-off, and the page says so instead of naming a best one
    assert "Which detector to trust, on problems:** Not enough never-seen items to set any cut-off" in said
    assert "never in pocket" in said
    app.button(key="to-truth").click().run()
    assert not app.exception and "AUC" in words(app)


def test_the_loss_test_sees_what_was_read_256_times():
    said = words(shown("loss"))
    assert "Memory: 24 of 24 problems beyond the controls' mark" in said and "At least" in said
    # every item is flagged, so nothing is left: no interval and no accuracy but the random control's
    assert (
        "without memory is the random control's" in said and "Dropping the 24 items beyond the cut-off leaves unknown" in said
    )


def test_exchangeability_is_checked_on_request():
    app = shown("loss")
    app.toggle(key="exchange").set_value(True).run()
    assert not app.exception and "No difference of controls and benchmark is shown" in words(app)


def test_the_drop_gap_shows_its_verdict_once_and_other_rules_behind_a_fold():
    app = shown("gap")
    assert not [block.value for block in app.markdown if block.value.startswith("## ")]  # the board says it
    folded = next(block for block in app.expander if block.label == "By other rules")
    said = " ".join(block.value for block in folded.markdown)
    assert "The source's rule" in said and "The rule of an earlier release" in said


def test_items_that_broke_show_shares_as_percentages_and_drops_in_points(monkeypatch):
    monkeypatch.setattr(frames, "drop_rows", lambda items: drop_rows(items).assign(before=1.0, after=0.25, drop=0.75))
    table = next(one for one in shown("gap").dataframe if "right before" in one.value)
    formats = json.loads(table.proto.columns)
    assert {formats[name]["type_config"]["format"] for name in ("right before", "right after")} == {"percent"}
    assert set(table.value["drop, points"]) == {75.0}


def test_pearl_refuses_too_few_non_members_and_takes_the_sources_quantile_when_asked():
    app = shown("pearl", "completion")
    assert not app.exception and any("too few" in one.value for one in app.warning)
    app.selectbox(key="pearl-rule").set_value("source").run()
    assert not app.exception and "24 of 24 texts" in words(app)


def test_detectors_are_compared_item_by_item():
    app = shown("agreement")
    assert not app.exception and "flagged by one or more of" in words(app)


def test_pearl_of_completions_stands_beside_pearl_of_summaries():
    app = shown("pearl", "completion")
    task = next(group for group in app.button_group if group.key == "task")
    task.set_value("bit_flip_summary").run()
    assert not app.exception and "α is not set" in words(app)
    app = shown("agreement", "completion")
    pairs = next(one.value for one in app.dataframe if "κ" in one.value)
    assert "PEARL, summaries, ROUGE-L" in set(pairs["and"])
    assert "PEARL, ROUGE-L" in set(pairs["detector"])


def test_the_ground_truth_needs_enough_never_seen_items():
    app = shown("truth")
    assert not app.exception and "Not enough never-seen items to set any" in words(app)


def test_locked_mode_shows_nothing_before_a_lock():
    app = shown("loss")
    app.button_group(key="mode").set_value("locked").run()
    assert not app.exception and "set no items aside" in words(app)
    assert "under How it is asked set a share aside" in words(app)


def test_a_study_without_controls_says_what_to_add(monkeypatch, tmp_path, another_store):
    monkeypatch.setenv("FLIPSCOPE_DB", str(tmp_path / "other.duckdb"))
    store = Store.open(tmp_path / "other.duckdb")
    runner.run(tiny_study(), store)
    store.close()
    app = opened("memorization/page.py")
    assert not app.exception and "only one of the two" in words(app)


def test_controls_are_matched_with_their_balance_and_stored(path):
    app = shown("gap")
    app.toggle(key=f"match-{memory_study().study_id}").set_value(True).run()
    said = words(app)
    assert not app.exception and "benchmark items have a control of their own" in said
    assert {"trait", "before, SD", "after, SD"} <= set(next(one.value for one in app.dataframe if "trait" in one.value))
    app.multiselect(key="match-by").set_value(["length"])
    app.text_input(key="match-name").set_value("Ada").run()
    app.button(key="match-store").click().run()
    assert not app.exception and "stored pairs the gap is" in words(app)
    assert "the study declares another control" in words(app)
    app.selectbox(key="match-from").set_value("Pocket: word problems").run()
    assert not app.exception and any(button.key == "match-study" for button in app.button)
