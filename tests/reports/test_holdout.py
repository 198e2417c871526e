"""Only models from before the target enter the difficulty test; without one the reason is said."""

import re
from dataclasses import replace

import pandas as pd
import pytest

from flipcore.claims.next_steps import SetFacts
from flipcore.core.study import ItemSource
from flipcore.models.own_models import card_from
from flipcore.reports.holdout import (
    bound_text,
    checked_models,
    component_axes,
    difficulty_result,
    entry_rows,
    inflation_of,
    set_facts,
    ways,
)
from flipcore.reports.holdout_sets import Sets, divided_sets, pocket_study, sets_of_sources
from flipcore.runs.demo import example_holdout
from flipcore.stats.holdout.difficulty import conditions, pre_release
from flipcore.stats.holdout.verdict import difficulty_test
from flipcore.store.queries import holdout
from flipcore.store.queries.locks import keep_lock
from tests.stats.holdout.test_comparison import planted
from tests.stats.holdout.test_difficulty import rows
from tests.vectors.embeddings.items import entry

STATES = {"m": pre_release("m", "2020-01-01", ["2022-01-01"]), "n": pre_release("n", "2024-01-01", ["2022-01-01"])}


def test_a_model_that_may_have_seen_the_target_is_left_out():
    of_both = conditions(pd.DataFrame(rows() + rows(model="n", right=lambda i: True)))
    test, how = difficulty_result(of_both, STATES)
    assert test.estimate == difficulty_test(6, 12, 6, 12, 0.1).estimate and how.startswith("conditions 1 (m")


def test_without_a_model_from_before_there_is_a_reason_and_no_test():
    assert difficulty_result([], {}) == (
        None,
        "Not run: no model has answered both sets. Declare a study with these sets as benchmark and holdout.",
    )
    test, why = difficulty_result(conditions(pd.DataFrame(rows(model="n"))), {"n": STATES["n"]})
    assert test is None and why == f"Not run: {STATES['n'].sentence}"


def test_what_a_judge_read_behind_its_closed_gate_is_withheld_and_does_not_count():
    every = conditions(pd.DataFrame(rows(extractor="judge") + rows()))
    shut = {"judge": "Nobody has labelled a text."}
    mine, claim = inflation_of(every, shut)
    assert [one.extractor for one in mine] == ["regex"] and not claim.withheld
    mine, claim = inflation_of(every, shut, ("judge", "plain"))
    assert [one.extractor for one in mine] == ["judge"] and claim.text == "Not claimed: Nobody has labelled a text."
    _, how = difficulty_result(every, STATES, shut)
    assert how.startswith("conditions 1 (m, regex")
    assert difficulty_result(every[:1], STATES, shut) == (None, "Not run: Nobody has labelled a text.")
    assert inflation_of([], shut)[1].text == "No model has answered both sets, so there is no inflation to show."


def test_where_two_sets_stand_depends_on_dates_and_on_who_was_asked(monkeypatch):
    monkeypatch.setattr(
        "flipcore.reports.holdout.model_cards",
        lambda: {"m": card_from("m", "other", "m", cutoff="2020-01-01"), "pocket": card_from("pocket", "other", "p")},
    )
    target = [replace(entry("a", "animals"), published="2022-01-01"), replace(entry("b", "animals"), published="2022-01-01")]
    by_m, by_n = conditions(pd.DataFrame(rows())), conditions(pd.DataFrame(rows(model="n")))
    assert set_facts(target, by_n, has_survey=False) == SetFacts(is_dated=True, has_answers=False, is_free=False)
    assert set_facts(target, by_m, has_survey=True) == SetFacts(is_dated=True, has_answers=True, is_free=False, has_survey=True)
    assert not set_facts([replace(target[0], published=None), target[1]], by_m, has_survey=False).is_dated


def test_the_plain_layout_and_the_preferred_extractor_come_first():
    several = conditions(
        pd.DataFrame(rows(layout="helpful") + rows(extractor="cloze") + rows(extractor="first_token") + rows())
    )
    assert ways(several) == [("regex", "plain"), ("first_token", "plain"), ("cloze", "plain"), ("regex", "helpful")]


@pytest.mark.parametrize(
    ("name", "text"), [("difficulty", "[-5.0, +12.5] points (90%)"), ("odd one out", "below 0.125 (95%, one-sided)")]
)
def test_a_bound_stands_in_the_tests_own_unit(name, text):
    test = replace(difficulty_test(6, 12, 6, 12, 0.1), name=name, bound=(-0.05, 0.125))
    assert bound_text(test).replace("−", "-") == text


def test_a_model_without_a_declared_cut_off_may_have_seen_the_target():
    states = checked_models([entry("t", "When?", published="2022-01-01")], ["nobody declares this"])
    assert states["nobody declares this"].state == pre_release("x", None, ["2022-01-01"]).state


def test_entries_are_rows_with_their_set_and_axes_say_the_share_of_the_variance():
    sets = planted([0, 10, 90], [12, 80])
    assert entry_rows(sets, [0, 3], mean_cosine=[1, 2]) == [
        {"set": "benchmark", "entry": sets.texts[0], "mean cosine": 1},
        {"set": "holdout", "entry": sets.texts[3], "mean cosine": 2},
    ]
    places, axes = component_axes(sets)
    assert places.shape == (5, 2) and re.fullmatch(r"component 1: \d+\.\d% of the variance", axes[0])


# Two sets read from their sources: what stands in both is target, what is set aside is shown under a lock only.


SOURCES = [
    ItemSource("flipscope_choice", role="target", categories=("logic",)),
    ItemSource("flipscope_choice", role="retro", categories=("measure",)),
]


def test_both_sets_are_read_and_named_by_what_they_hold():
    sets = sets_of_sources("mine", SOURCES)
    assert {item.category for item in sets.target} == {"logic"} and {item.category for item in sets.retro} == {"measure"}
    assert sets.record_id == f"sets-{sets.sets_id}" and not sets.is_of_study and sets.sources == tuple(SOURCES)
    assert sets.sets_id == Sets.without_study("another name", sets.target, sets.retro).sets_id
    assert set(sets.items) == {item.item_id for item in (*sets.target, *sets.retro)}


def test_an_item_that_stands_in_both_is_target_and_no_holdout():
    sets = sets_of_sources("same", [SOURCES[0], ItemSource("flipscope_choice", role="retro", categories=("logic", "measure"))])
    n = len(sets.target)
    assert {item.category for item in sets.retro} == {"measure"}
    assert sets.notes == (f"{n:,} items of the holdout are in the benchmark, too, and left out of the holdout.",)
    assert sets.sources == (), "no study can ask for these sets by their sources"


def test_entries_that_come_from_elsewhere_are_other_content_of_the_same_sets():
    """The tests compare one entry per source, and no entry's id says its source."""
    sets = sets_of_sources("mine", SOURCES)
    copied = replace(sets, retro=tuple(replace(item, source_id="one page") for item in sets.retro))
    assert copied.sets_id == sets.sets_id and copied.content_id != sets.content_id
    assert replace(sets, name="yours").content_id == sets.content_id


def test_a_share_that_is_set_aside_stays_aside_whatever_is_asked_for_later(store):
    whole = sets_of_sources("mine", SOURCES)
    open_part = divided_sets(store, whole, 0.5, confirmatory=False)
    # Whoever asks for the part set aside before its lock gets the open one.
    assert divided_sets(store, whole, 0.0, confirmatory=True) == open_part
    keep_lock(store, whole.record_id, "holdout", {}, "Ada", sorted(holdout.entries_aside(store, whole.record_id)))
    aside = divided_sets(store, whole, 0.0, confirmatory=True)
    assert open_part.target and aside.target and open_part.n_aside == len(aside.items) and aside.n_aside == 0
    assert not set(open_part.items) & set(aside.items) and set(open_part.items) | set(aside.items) == set(whole.items)
    assert set(divided_sets(store, whole, 0.0, confirmatory=False).items) == set(open_part.items)
    assert set(aside.items) == set(holdout.entries_aside(store, whole.record_id))


def test_nothing_is_set_aside_without_a_share(store):
    whole = sets_of_sources("mine", SOURCES)
    assert divided_sets(store, whole, 0.0, confirmatory=False) == whole


def test_entries_that_other_sets_keep_aside_are_left_out_with_a_note(store):
    whole = sets_of_sources("mine", SOURCES)
    divided_sets(store, whole, 0.5, confirmatory=False)
    aside = holdout.entries_aside(store, whole.record_id)
    other = Sets.without_study("other", whole.target[:-1], whole.retro)
    shown = divided_sets(store, other, 0.0, confirmatory=False)
    assert aside and not set(shown.items) & aside
    assert "a study set them aside, and only its lock opens them" in shown.notes[-1]


def test_the_pocket_model_is_asked_as_the_example_declares_it():
    example = example_holdout()
    own = pocket_study(sets_of_sources("Example: mine", SOURCES))
    assert own.name == "Holdout: mine" and own.items == tuple(SOURCES) and own.models == example.models
    assert pocket_study(Sets.without_study("any", (), (), sources=example.items)) == example
