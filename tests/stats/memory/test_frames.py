"""From the one table to the tests' inputs, by hand on a table of a few rows."""

from dataclasses import replace

import numpy as np
import pandas as pd

from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.stats.memory import frames

COLUMNS = ["item_id", "role", "axis", "variant", "position", "sample", "extractor", "status", "value", "is_correct"]


def frame(*rows):
    return pd.DataFrame(rows, columns=COLUMNS)


def row(
    item,
    axis="paraphrase",
    variant="base",
    sample=0,
    extractor="regex",
    value=None,
    right=None,
    role="benchmark",
    status="ok",
    position=0,
):
    return (item, role, axis, variant, position, sample, extractor, status, value, right)


def test_before_is_the_base_and_after_every_rewriting_by_item():
    made = frames.rewritten(
        frame(
            row("a", right=True),
            row("a", variant="w1", right=False),
            row("a", variant="w2", right=True),
            row("b", right=False),
            row("b", variant="w1", right=False),
            row("c", right=True),
            row("z", right=True, role="control"),
        ),
        "paraphrase",
        "regex",
        ["benchmark"],
    )
    assert made.item_ids == ("a", "b", "c")
    assert made.before.tolist() == [1, 0, 1]
    assert made.covered.tolist() == [True, True, False]  # c has nothing but its base: the operator refused it
    assert made.after_mean[:2].tolist() == [0.5, 0]


def test_samples_are_averaged_and_absent_ones_are_in_no_mean():
    made = frames.rewritten(
        frame(
            row("a", right=True),
            row("a", sample=1, right=False),
            row("a", variant="w1", right=True),
            row("a", variant="w1", sample=1, right=None, status="absent"),
        ),
        "paraphrase",
        "regex",
        ["benchmark"],
    )
    assert (made.before.tolist(), made.after.tolist()) == ([0.5], [[1]])


def test_asked_again_are_the_further_samples_of_the_identity_axis():
    made = frames.rewritten(
        frame(
            row("a", right=True),
            row("a", variant="w1", right=True),
            row("a", axis="identity", right=True),
            row("a", axis="identity", sample=1, right=False),
        ),
        "paraphrase",
        "regex",
        ["benchmark"],
    )
    assert made.identity.tolist() == [[0]]


def test_an_operator_that_was_not_asked_gives_nothing():
    made = frames.rewritten(frame(row("a", right=True)), "entity_rename", "regex", ["benchmark"])
    assert made.item_ids == () and made.drops.size == 0


def test_d_is_the_mean_rewordings_loss_less_the_originals_and_min_k_is_its_own():
    rows = [row("a", extractor=name, value=5.0) for name in ("question_loss", "min_k")]
    rows += [
        row("a", extractor=name, variant=f"w{k}", value=value)
        for name in ("question_loss", "min_k")
        for k, value in ((1, 8.0), (2, 10.0))
    ]
    made = frame(*rows)
    assert frames.losses(made, "question_loss", ["benchmark"]).to_dict("records") == [
        {"item_id": "a", "original": 5.0, "reworded": 9.0, "d": 4.0}
    ]
    assert frames.losses(made, "min_k", ["benchmark"], is_absolute=True)["d"].tolist() == [5.0]


def test_an_item_without_a_finite_difference_is_left_out():
    made = frame(
        row("a", extractor="question_loss", value=5.0),
        row("b", extractor="question_loss", value=1.0),
        row("b", extractor="question_loss", variant="w", value=2.0),
    )
    assert frames.losses(made, "question_loss", ["benchmark"])["item_id"].tolist() == ["b"]
    assert frames.losses(made, "question_loss", ["control"]).empty


def test_pearls_scores_are_by_level_and_sample_and_an_incomplete_text_is_counted():
    rows = [
        row("a", axis="bit_flip", extractor="ncd", position=level, variant=f"v{level}", sample=s, value=level + s / 10)
        for level in (0, 1)
        for s in (0, 1)
    ]
    rows.append(row("b", axis="bit_flip", extractor="ncd", position=0, value=0.5))
    scores, left_out = frames.pearl_scores(frame(*rows), "ncd", ["benchmark"])
    assert scores == {"a": [[0.0, 0.1], [1.0, 1.1]]} and left_out == 1


def test_correctness_is_of_the_published_wording_and_of_the_others():
    published, others = frames.correctness(
        frame(row("a", right=True), row("a", variant="w1", right=False), row("a", variant="w2", right=True)), "regex"
    )
    assert (published, others) == ({"a": 1.0}, {"a": 0.5})


def test_broken_items_come_first():
    made = frames.rewritten(
        frame(
            row("a", right=True), row("a", variant="w", right=True), row("b", right=True), row("b", variant="w", right=False)
        ),
        "paraphrase",
        "regex",
        ["benchmark"],
    )
    rows = frames.drop_rows(made)
    assert rows["item_id"].tolist() == ["b", "a"] and np.array_equal(rows["drop"], [1, 0])


def test_roles_are_what_is_judged_and_what_it_is_compared_with():
    made = frame(row("a"), row("b", role="non_member"), row("c", role="control"))
    assert frames.roles_of(made) == (["benchmark"], ["control", "non_member"])


def test_a_comparison_takes_items_under_test_and_controls():
    assert frames.compares(["benchmark", "non_member"]) and frames.compares(["retro", "target"])
    assert not frames.compares(["benchmark", "target"]) and not frames.compares(["control", "other"])


def test_a_task_without_controls_is_held_against_the_tasks_that_have_nothing_else():
    places = [("a/1", "benchmark", "number"), ("b/1", "control", "number"), ("b/2", "control", "text")]
    places += [("c/1", "benchmark", "text"), ("c/2", "control", "text")]
    frame = pd.DataFrame(places, columns=["item_id", "role", "kind"])
    recorded = Study(
        "s", (ItemSource("recorded"),), (Part("recorded"),), (Part("regex"),), (ModelUse("m"),), protocol=Part("recorded")
    )
    sets = frames.compared_sets(frame, recorded)
    assert sets.groupby("kind")["item_id"].agg(list).to_dict() == {"a": ["a/1", "b/1"], "c": ["c/1", "c/2"]}
    assert sets.index.tolist() == [0, 1, 2, 3]  # a control of two sets is two rows
    assert frames.compared_sets(frame, replace(recorded, protocol=Part("single_shot"))) is frame
    one_task = frame[frame["item_id"].str.startswith("c")]
    assert frames.compared_sets(one_task, recorded) is one_task


def test_a_reference_models_losses_stand_beside_those_on_the_same_text():
    study = Study(
        "s",
        (ItemSource("x"),),
        (Part("identity"),),
        (Part("question_loss"),),
        (ModelUse("m"), ModelUse("old")),
        reference_model="old",
    )
    rows = frame(
        row("a", axis="identity", extractor="question_loss", value=3.0),
        row("a", axis="paraphrase", extractor="question_loss", value=3.0),
        row("a", axis="paraphrase", variant="w", extractor="question_loss", value=9.0),
        row("b", axis="identity", extractor="question_loss", value=5.0),
    )
    old = rows.assign(value=[4.5, 4.5, 1.0, 4.0]).iloc[:3]
    both = pd.concat([rows.assign(model="m"), old.assign(model="old")], ignore_index=True)
    beside = frames.with_reference(both, study)
    assert len(beside) == 7 and beside.loc[beside["model"] == "old", "reference"].isna().all()
    mine = beside[beside["model"] == "m"]
    table = frames.over_reference(mine, "question_loss", ["benchmark"])
    assert table.to_dict("records") == [
        {"item_id": "a", "original": 3.0, "reference": 4.5, "d": 1.5}
    ]  # b was not asked of the other
    assert frames.with_reference(both, replace(study, reference_model="")) is both


def test_what_reference_models_answered_first_stands_beside_each_item():
    uses = tuple(ModelUse(name) for name in ("m", "one", "two"))
    study = Study("s", (ItemSource("x"),), (Part("identity"),), (Part("regex"),), uses, reference_models=("one", "two"))
    rows = frame(row("a", right=True), row("a", sample=1), row("a", variant="w"), row("b", right=False))
    one = rows.assign(is_correct=[True, False, False, False])
    two = rows.assign(is_correct=[False, True, True, True], status=["ok", "ok", "ok", "unreadable"])
    every = pd.concat(
        [part.assign(model=use.name) for part, use in zip((rows, one, two), uses, strict=True)], ignore_index=True
    )
    beside = frames.with_reference(every, study)
    assert len(beside) == 12 and beside["model"].tolist() == every["model"].tolist()
    assert frames.reference_columns(beside) == ["right: one", "right: two"]
    assert beside.loc[beside["model"] != "m", ["right: one", "right: two"]].isna().all(axis=None)
    mine = frames.published(beside[beside["model"] == "m"], "regex", ["benchmark"]).set_index("item_id")
    assert mine["right: one"].tolist() == [1.0, 0.0] and mine["right: two"].fillna(-1).tolist() == [0.0, -1.0]


def test_the_reader_of_written_answers_is_the_one_that_read_these_items():
    read_by = lambda *names: frames.written_extractor(pd.DataFrame({"extractor": ["first_token", *names]}))  # noqa: E731
    assert read_by("regex", "math") == read_by() == "regex"
    assert (read_by("math"), read_by("text_match", "math")) == ("math", "text_match")
    assert read_by("raw_unit_tests", "unit_tests") == "unit_tests"
