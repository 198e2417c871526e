from contextlib import closing
from dataclasses import replace

import pytest

from flipcore.core.records import Item
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.runs import runner
from flipcore.stats.holdout.difficulty import conditions
from flipcore.store.connection import Store
from flipcore.store.judgements import SURVEY_ANSWERS
from flipcore.store.queries import holdout, judgements, locks
from tests.stores import empty_store, store_with

pytestmark = pytest.mark.usefixtures("allowed_folders")

STUDY = Study(
    "roles",
    (
        ItemSource("flipscope_choice", role="target", categories=("logic", "language")),
        ItemSource("flipscope_choice", role="retro", categories=("measure", "science")),
        ItemSource("flipscope_problems", role="benchmark", n=4),
    ),
    (Part("identity"), Part("prompt_format", {"layouts": ["paren"]}), Part("option_order", {"n": 3})),
    (Part("first_token"), Part("regex")),
    (ModelUse("simulated-noisy", n_samples=2),),
    confirmatory_share=0.25,
)

SMALL = replace(STUDY, name="small", items=tuple(replace(source, n=16) for source in STUDY.items[:2]), axes=STUDY.axes[:2])


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    opened = Store.open(tmp_path_factory.mktemp("holdout") / "flips.duckdb")
    runner.run(STUDY, opened)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def small_store(tmp_path_factory):
    """A store with a study of sixteen items per role, without changes of the order of options."""
    with closing(Store.open(store_with(tmp_path_factory.mktemp("small"), SMALL))) as opened:
        yield opened


@pytest.fixture
def empty(tmp_path):
    with closing(empty_store(tmp_path / "flips.duckdb")) as opened:
        yield opened


@pytest.mark.slow
def test_studies_with_items_of_both_roles_are_found(store):
    found = holdout.studies_with_both(store)
    assert [(row["study_id"], row["n_target"], row["n_retro"]) for row in found] == [(STUDY.study_id, 24, 24)]


@pytest.mark.slow
def test_items_of_a_role_come_back_as_they_were_and_those_set_aside_only_under_a_lock(store):
    from flipcore.datasets import load

    loaded = {item.item_id: item for item in load(STUDY.items[0])}
    lock = locks.keep_lock(store, STUDY.study_id, "holdout", {}, "Ada")
    shown, hidden = (holdout.role_items(store, STUDY.study_id, "target", lock=one) for one in (None, lock))
    assert len(shown) + len(hidden) == 24 and shown and hidden
    assert all(item == loaded[item.item_id] and item.meta == loaded[item.item_id].meta for item in (*shown, *hidden))


@pytest.mark.slow
def test_one_answer_an_item_and_layout_its_first_sample_of_the_base_prompt(store):
    frame = holdout.accuracies(store, STUDY.study_id)
    assert not frame.duplicated(["model", "extractor", "layout", "item_id"]).any()
    assert set(frame["layout"]) == {"plain", "paren"} and set(frame["role"]) == {"target", "retro"}
    first = dict(
        store.rows(
            "SELECT item_id, is_correct FROM readouts JOIN study_variants USING (study_id, item_id, axis, "
            "variant_id) WHERE extractor = 'regex' AND axis = 'identity' AND sample = 0"
        )
    )
    plain = frame[(frame["layout"] == "plain") & (frame["extractor"] == "regex")]
    assert len(plain) and all(first[row.item_id] == row.is_correct for row in plain.itertuples())
    shown = {item.item_id for role in ("target", "retro") for item in holdout.role_items(store, STUDY.study_id, role)}
    assert set(frame["item_id"]) == shown


def test_the_rows_make_conditions_with_boosts(small_store):
    found = conditions(holdout.accuracies(small_store, SMALL.study_id), (2,))
    boosts = {(one.extractor, one.layout, one.boost) for one in found}
    assert ("first_token", "plain", "top 2") in boosts and ("regex", "paren", "") in boosts
    top = {one.boost: one.counts for one in found if (one.extractor, one.layout) == ("first_token", "plain")}
    assert top["top 2"][0] >= top[""][0] and top["top 2"][1] == top[""][1]


def test_versions_come_oldest_first_with_their_items(empty):
    made = [
        Item.make(
            dataset="d",
            key=str(i),
            kind="choice",
            question=f"q{i}?",
            options=("a", "b"),
            target="0",
            published="2024-02-03",
            meta={"x": [1, None]},
        )
        for i in range(4)
    ]
    row = {
        "name": "s",
        "note": "",
        "parent_id": None,
        "sets_id": "x",
        "target_ids": [made[0].item_id],
        "author": "me",
        "retro_ids": [item.item_id for item in made[1:]],
        "results": {"semantic": {"p": None}},
        "settings": {"seed": 0},
    }
    first = holdout.keep_version(empty, row, made)
    second = holdout.keep_version(empty, row | {"parent_id": first, "note": "again"}, made)
    found = holdout.versions(empty)
    assert [one["version_id"] for one in found] == [first, second] and found[1]["parent_id"] == first
    assert found[0]["results"] == {"semantic": {"p": None}} and first != second
    assert holdout.items(empty, [*found[0]["retro_ids"], "gone"]) == made[1:]


def test_surveys_are_found_by_their_sets(empty):
    holdout.keep_survey(empty, {"survey_id": "a", "name": "n", "sets_id": "one", "design": {"seed": 1}}, [])
    assert holdout.surveys(empty, "two") == [] and holdout.surveys(empty, "one")[0]["design"] == {"seed": 1}
    assert len(holdout.surveys(empty)) == 1 and judgements.standing(empty, SURVEY_ANSWERS, survey_id="a") == []


def test_a_study_covers_sets_when_it_asks_all_their_items_in_these_roles(small_store):
    ids = {
        role: [item.item_id for item in holdout.role_items(small_store, SMALL.study_id, role)] for role in ("target", "retro")
    }
    assert holdout.studies_of(small_store, ids["target"], ids["retro"]) == (SMALL.study_id,)
    assert holdout.studies_of(small_store, ids["target"][:3], ids["retro"][:3]) == (SMALL.study_id,)
    assert holdout.studies_of(small_store, ids["retro"], ids["target"]) == ()
    assert holdout.studies_of(small_store, [*ids["target"], "another"], ids["retro"]) == ()
    sql = "SELECT min(item_id) FROM study_items WHERE confirmatory AND role = 'target'"
    aside = small_store.rows(sql)[0][0]
    assert holdout.studies_of(small_store, [*ids["target"], aside], ids["retro"]) == ()


def frame_of(study, path):
    opened = Store.open(path / "flips.duckdb")
    runner.run(study, opened)
    found = holdout.accuracies(opened, study.study_id)
    opened.close()
    return found


@pytest.mark.slow
def test_examples_and_layouts_are_conditions_of_their_own(tmp_path):
    axes = (Part("identity"), Part("few_shot"), Part("prompt_format", {"layouts": ["helpful"]}))
    frame = frame_of(replace(STUDY, axes=axes, confirmatory_share=0.0), tmp_path)
    assert set(frame[frame["extractor"] == "regex"]["layout"]) == {"plain", "5-shot", "helpful"}
    counts = [one.counts[1::2] for one in conditions(frame) if one.extractor == "regex"]
    assert counts == [(24, 24)] * 3


@pytest.mark.slow
def test_the_vote_by_rotation_and_its_first_vote_are_readouts_of_their_own(tmp_path):
    study = Study(
        "rotated",
        (
            ItemSource("pocket_choice", role="target", n=10, where={"dose": 256}),
            ItemSource("pocket_choice", role="retro", n=10, where={"split": "fresh"}),
        ),
        (Part("identity"),),
        (Part("first_token"),),
        (ModelUse("pocket", max_tokens=8),),
        protocol=Part("rotation", {"cap": 7}),
    )
    found = {one.extractor: one for one in conditions(frame_of(study, tmp_path))}
    assert {"first_token", "rotation", "rotation_single"} <= set(found) and found["rotation"].counts[1::2] == (10, 10)


def test_sets_without_a_study_keep_what_they_set_aside_first(empty):
    """The hash of an id decides, so a share of 0 takes none and one of 1 takes all."""
    ids = [f"item {number}" for number in range(40)]
    assert holdout.keep_aside(empty, "none", ids, [], share=0.0) == set()
    assert holdout.keep_aside(empty, "all", ids[:2], ids[2:3], share=1.0) == set(ids[:3])
    half = holdout.keep_aside(empty, "half", ids[:20], ids[20:], share=0.5)
    assert 10 < len(half) < 30
    assert holdout.keep_aside(empty, "half", ids[:20], ids[20:], share=1.0) == half == holdout.entries_aside(empty, "half")
    smaller = holdout.keep_aside(empty, "quarter", ids, [], share=0.25)
    assert smaller < half
    stored = empty.rows("SELECT item_id, role, position FROM study_items WHERE study_id = 'half' AND confirmatory")
    assert all(ids.index(item) == position + (20 if role == "retro" else 0) for item, role, position in stored)
    assert {role for _, role, _ in stored} == {"target", "retro"}
