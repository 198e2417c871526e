"""The flip surface and the readout disagreement matrix."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipcore.stats.coding import coded_answers
from flipcore.stats.matrix import flip_surface, readout_disagreement
from tests import naive


def row(item, axis, variant, extractor, answer, status="ok", sample=0):
    return {"item_id": item, "axis": axis, "variant": variant, "sample": sample, "extractor": extractor, "status": status,
            "answer": answer}


SURFACE = coded_answers(pd.DataFrame(
    [row(item, axis, v, "e", a) for item, axis, answers in [
        ("b", "order", "00"), ("b", "format", "01"), ("a", "order", "01"), ("a", "format", "00"), ("c", "order", "01"),
        ("d", "order", "0")] for v, a in zip(("base", "r1"), answers, strict=False)]))


def test_rows_fall_by_mean_over_the_defined_axes_then_by_id():
    found = flip_surface(SURFACE, "e")
    assert list(found.index) == ["c", "a", "b", "d"] and list(found.columns) == ["order", "format"]
    assert found.loc["c", "order"] == 1.0 and np.isnan(found.loc["c", "format"]) and found.loc["d"].isna().all()


def test_a_second_surface_takes_the_first_ones_order():
    assert list(flip_surface(SURFACE, "e", axes=["format"], order=["a", "b", "c", "d"]).index) == ["a", "b", "c", "d"]


CELL = st.sampled_from(["0", "1", None, "absent", "not asked"])


@given(st.lists(st.tuples(CELL, CELL, CELL), min_size=1, max_size=12))
def test_disagreement_is_the_naive_share_over_completions_that_both_have(cells):
    rows, known = [], {}
    for i, answers in enumerate(cells):
        for extractor, a in zip("xyz", answers, strict=True):
            if a == "not asked":
                continue
            status = "absent" if a == "absent" else "unreadable" if a is None else "ok"
            rows.append(row("i", "order", f"r{i}", extractor, a if status == "ok" else None, status))
            if status != "absent":
                known.setdefault(i, {})[extractor] = a
    if not rows:
        return
    found = readout_disagreement(pd.DataFrame(rows))
    for i, first in enumerate(found.extractors):
        for j, second in enumerate(found.extractors):
            assert found.share[i, j] == pytest.approx(naive.readout_disagreement(known, first, second), nan_ok=True)


def test_a_prompt_that_stands_on_two_axes_counts_once():
    rows = pd.DataFrame([row("i", axis, "base", x, a) | {"variant_id": "p"} for axis in ("order", "format")
                         for x, a in (("x", "0"), ("y", "1"))])
    found = readout_disagreement(rows)
    assert found.n[0, 1] == 1 and found.share[0, 1] == 1.0
    assert readout_disagreement(rows.drop(columns="variant_id")).n[0, 1] == 2


def test_statuses_are_counted_and_an_absent_readout_disagrees_with_nothing():
    rows = [row("i", "order", "base", "x", "0"), row("i", "order", "base", "y", None, "absent"),
            row("i", "order", "r", "x", None, "unreadable")]
    found = readout_disagreement(pd.DataFrame(rows))
    assert found.n[0, 1] == 0 and np.isnan(found.share[0, 1]) and found.n[0, 0] == 2
    assert found.status.loc["x"].tolist() == [1, 1, 0] and found.status.loc["y"].tolist() == [0, 0, 1]
