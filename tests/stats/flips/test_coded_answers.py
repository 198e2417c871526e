"""From rows to codes: nothing is averaged, nothing absent becomes an answer, no order matters."""

import pandas as pd
import pytest

from flipcore.core.errors import BadInput
from flipcore.stats.flips.coded_answers import coded_answers, unread_warnings
from flipcore.stats.flips.disagreement import ABSENT, NULL, between


def rows(*readouts, axis="order", extractor="stated"):
    """Rows from (item, variant, sample, status, answer)."""
    frame = pd.DataFrame(readouts, columns=["item_id", "variant", "sample", "status", "answer"])
    return frame.assign(axis=axis, extractor=extractor)


FRAME = pd.concat(
    [
        rows(
            ("i", "base", 0, "ok", "2"),
            ("i", "rotate-1", 0, "unreadable", None),
            ("j", "base", 0, "ok", "2"),
            ("j", "rotate-2", 0, "absent", None),
            ("j", "rotate-3", 0, "ok", "0"),
        ),
        rows(("i", "base", 0, "ok", "2"), ("j", "base", 0, "ok", "1"), axis="order", extractor="first_token"),
    ],
    ignore_index=True,
)


def test_status_decides_what_a_row_is():
    coded = coded_answers(FRAME)
    stated = coded.cell("order", "stated")
    assert [coded.texts[code] if code >= 0 else code for code in stated[:, :, 0].ravel()] == [
        "2",
        NULL,
        ABSENT,
        "2",
        ABSENT,
        "0",
    ]
    assert coded.n_absent["order", "stated"] == 1
    assert (coded.cell("order", "first_token")[:, 1:] == ABSENT).all()


def test_a_reading_that_is_a_value_is_no_answer():
    coded = coded_answers(rows(("i", "base", 0, "ok", None), ("i", "rotate-1", 0, "ok", "1")))
    assert coded.cell("order", "stated")[0, 0, 0] == ABSENT


def test_the_order_of_rows_changes_no_rate():
    coded = coded_answers(FRAME)
    shuffled = coded_answers(FRAME.sample(frac=1, random_state=3))
    place = {item: k for k, item in enumerate(shuffled.items)}
    for axis, extractor in coded.codes:
        rates = between(coded.cell(axis, extractor)).rate
        again = between(shuffled.cell(axis, extractor)).rate[[place[item] for item in coded.items]]
        assert rates == pytest.approx(again, nan_ok=True)


def test_the_base_prompt_leaves_on_request():
    coded = coded_answers(FRAME)
    assert (coded.cell("order", "stated", include_base=False)[:, 0] == ABSENT).all()
    assert (coded.cell("order", "stated")[:, 0] != ABSENT).all()


def test_identity_compares_samples_of_the_base_prompt():
    frame = rows(*(("i", "base", s, "ok", a) for s, a in enumerate("001")), axis="identity")
    coded = coded_answers(frame)
    assert sorted(coded.texts[coded.cell("identity", "stated", include_base=False).ravel()]) == ["0", "0", "1"]
    assert between(coded.cell("identity", "stated")).rate[0] == pytest.approx(2 / 3)


def test_variant_names_of_single_items_take_no_space():
    frame = rows(*((f"i{k}", name, 0, "ok", "1") for k in range(50) for name in ("base", f"paraphrase-{k}")))
    assert coded_answers(frame).cell("order", "stated").shape == (50, 2, 1)


def test_a_key_that_occurs_twice_is_an_error_and_never_an_average():
    with pytest.raises(BadInput, match=r"1 readouts occur twice.*'variant': 'base'.*own sample number"):
        coded_answers(pd.concat([FRAME, FRAME.iloc[[0]]]))


def test_missing_columns_and_mixed_models_are_refused():
    with pytest.raises(BadInput, match="lack the column"):
        coded_answers(FRAME.drop(columns="sample"))
    with pytest.raises(BadInput, match="2 models"):
        coded_answers(FRAME.assign(model=["a"] * 6 + ["b"]))


def test_null_rates_raise_both_flags():
    # 8 readouts of changed prompts, 2 unreadable; 4 of base prompts, none unreadable: 2/12, 0 and 25%
    frame = rows(
        *(
            (f"i{k}", v, 0, "unreadable" if k < 1 and v != "base" else "ok", "1")
            for k in range(4)
            for v in ("base", "rotate-1", "rotate-2")
        )
    )
    # item 0 has one answer and two gaps: all alike 0, all different 1; the other three never flip
    assert unread_warnings(coded_answers(frame), "order", "stated") == (
        "16.7% of the answers could not be read (more than 5%).",
        "Unreadable answers: 0.0% of base prompts, 25.0% of changed ones (more than 2 percentage points apart).",
        "Whatever they were, the flip rate lies between 0.00 and 0.25.",
    )
    assert unread_warnings(coded_answers(FRAME), "order", "first_token") == ()


def test_three_points_between_base_and_changed_prompts_are_enough_to_flag():
    frame = rows(
        *(
            (f"i{k}", v, 0, "unreadable" if k < 3 and v == "base" else "ok", "1")
            for k in range(100)
            for v in ("base", "rotate-1")
        )
    )
    warnings = unread_warnings(coded_answers(frame), "order", "stated")
    assert len(warnings) == 2 and "3.0% of base prompts" in warnings[0]


def test_nothing_at_all_is_missing_and_not_zero():
    frame = rows(("i", "base", 0, "absent", None))
    answers = coded_answers(frame)
    assert unread_warnings(answers, "order", "stated") == () and answers.n_absent["order", "stated"] == 1
