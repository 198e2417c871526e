"""The headline of a study that compares items with controls."""

import pandas as pd

from flipcore.reports.memory import memory_headline

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


def said(*rows):
    return memory_headline(pd.DataFrame([row for part in rows for row in part], columns=COLUMNS))


def test_a_loss_that_can_be_tested_comes_first():
    assert said(rows_of("number", "paraphrase", "question_loss", 1.0, 5.0)) == "question loss flags 20 of 20 problems."


def test_without_a_loss_the_drop_gap_speaks():
    text = said(rows_of("choice", "entity_rename", "regex", True, False))
    assert text.startswith("the drop gap on choices is +100.0 pp")


def test_too_few_non_members_leave_pearl_out():
    assert said(rows_of("completion", "bit_flip", "rouge_l", 1.0, 0.1)) == ""


def test_nothing_to_compare_is_an_empty_sentence():
    only = [row for row in rows_of("number", "paraphrase", "question_loss", 1.0, 5.0) if row[3] == "benchmark"]
    assert said(only) == "" and said() == ""
