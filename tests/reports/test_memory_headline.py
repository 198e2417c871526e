"""The headline of a study that compares items with controls."""

from dataclasses import replace

import pandas as pd

from flipcore.claims.memory_gap import MARGIN
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.reports.memory import family_tests, measurements_of, memory_report

COLUMNS = [
    "model",
    "kind",
    "item_id",
    "role",
    "axis",
    "variant",
    "position",
    "sample",
    "extractor",
    "status",
    "value",
    "is_correct",
]


def rows_of(kind, axis, extractor, base, other):
    """20 judged items with `base` and `other`, 30 controls whose two values are the same."""
    rows = []
    for i in range(50):
        role = "benchmark" if i < 20 else "control"
        pair = (base, other if i < 20 else base)
        for position, (name, value) in enumerate(zip(("base", "w"), pair, strict=True)):
            right = value if extractor == "regex" else None
            rows.append(
                (
                    "m",
                    kind,
                    f"{kind}{i}",
                    role,
                    axis,
                    name,
                    position,
                    0,
                    extractor,
                    "ok",
                    None if right is not None else value + i / 1e4,
                    right,
                )
            )
    return rows


STUDY = Study("s", (ItemSource("x"),), (Part("identity"),), (Part("regex"),), (ModelUse("m"),), control="random")


def frame_of(*rows):
    return pd.DataFrame([row for part in rows for row in part], columns=COLUMNS)


def memory_tests(frame, study, items=None, closed_gates=None, pairs=None):
    """Model -> its tests, all models one family."""
    return family_tests(measurements_of(frame, study, items, pairs), study.control, closed_gates or {}, MARGIN)


def memory_headline(frame, study, **settings):
    return memory_report(memory_tests(frame, study, **settings), frame, study).summaries.get("m")


def said(*rows):
    claim = memory_headline(frame_of(*rows), STUDY)
    return claim.text if claim else ""


def test_the_line_names_each_kind_of_evidence_once():
    losses = [rows_of("number", "paraphrase", name, 1.0, 5.0) for name in ("question_loss", "answer_loss")]
    assert said(losses[0]) == "The model remembers these questions. One kind of evidence shows it on the 20 problems."
    assert (
        said(*losses) == "The model remembers these questions. One kind of evidence shows it on the 20 problems."
    )  # two detectors, one kind of evidence: two of two do not agree
    claim = memory_headline(frame_of(*losses), STUDY)
    assert claim.detail == "20 problems: how likely the text is. 2 of 2 detectors see it. Compared with 30 control items."


def test_a_clean_study_shows_none():
    assert said(rows_of("choice", "entity_rename", "regex", True, True)) == "No memory shown in the 20 choices."


def test_a_set_that_no_detector_was_run_on_is_in_no_sentence_on_what_was_seen():
    alone = [row for row in rows_of("choice", "entity_rename", "regex", True, True) if row[3] == "benchmark"]
    claim = memory_headline(frame_of(rows_of("number", "entity_rename", "regex", True, True), alone), STUDY)
    assert claim.text == "No memory shown in the 20 problems."
    assert claim.detail.endswith("Compared with 30 control items. No detector was run on the 20 choices.")


def test_where_every_test_is_withheld_nothing_is_said_to_be_absent():
    """The one test stands behind a closed gate: "No memory shown" was said of what nobody tested."""
    frame = frame_of(rows_of("number", "paraphrase", "regex", True, True))
    claim = memory_headline(
        frame, replace(STUDY, control="other"), closed_gates={"paraphrase": "No pair has been reviewed yet."}
    )
    assert claim.text == "Not claimed: memory in the 20 problems cannot be judged yet. No pair has been reviewed yet."
    two = frame_of(
        rows_of("number", "paraphrase", "regex", True, True), rows_of("number", "entity_rename", "regex", True, True)
    )
    other = memory_headline(two, replace(STUDY, control="other"), closed_gates={"paraphrase": "No pair has been reviewed yet."})
    assert other.text == "No memory shown in the 20 problems." and "1 is undecided or not claimed" in other.detail


def test_nothing_to_compare_is_an_empty_line():
    only = [row for row in rows_of("number", "paraphrase", "question_loss", 1.0, 5.0) if row[3] == "benchmark"]
    assert said(only) == "" and said() == ""
