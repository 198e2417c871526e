import numpy as np
import pandas as pd
import pytest

from flipcore.stats.flips import surface
from tests import naive


def frame(rows):
    """rows: (item, axis, variant, position, sample, extractor, status, answer)."""
    names = ["item_id", "axis", "variant", "position", "sample", "extractor", "status", "answer"]
    return pd.DataFrame(rows, columns=names).assign(model="m")


def asked(item, answers, axis="option_order", extractor="regex", sample=0):
    return [
        (
            item,
            axis,
            "base" if i == 0 else f"v{i}",
            i,
            sample,
            extractor,
            "absent" if answer == "absent" else "ok" if answer is not None else "unreadable",
            None if answer == "absent" else answer,
        )
        for i, answer in enumerate(answers)
    ]


def test_a_cell_is_the_items_flip_rate():
    cells = surface.surface(frame(asked("i", "AABC") + asked("j", "AAAA")), "regex")
    assert cells.rate[:, 0].tolist() == pytest.approx([naive.item_flip_rate(list("AABC")), 0.0])


def test_unreadable_is_a_share_and_absent_is_no_flip():
    cells = surface.surface(frame(asked("i", ["A", None, "absent"]) + asked("j", ["absent", "absent", "A"])), "regex")
    assert cells.rate[0, 0] == 1.0 and cells.unreadable[0, 0] == 0.5
    assert np.isnan(cells.rate[1, 0]) and cells.unreadable[1, 0] == 0.0


def test_an_item_that_is_never_readable_is_undefined_not_stable():
    cells = surface.surface(frame(asked("i", [None, None, None])), "regex")
    assert np.isnan(cells.rate[0, 0]) and cells.unreadable[0, 0] == 1.0


def test_identity_compares_samples_of_the_base():
    rows = asked("i", "A", "identity") + asked("i", "B", "identity", sample=1)
    assert surface.surface(frame(rows), "regex").rate.tolist() == [[1.0]]


def test_an_opened_axis_compares_each_variant_with_the_base():
    cells = surface.variant_cells(frame(asked("i", "ABA")), "option_order", "regex")
    assert cells.columns == ["v1", "v2"] and cells.rate.tolist() == [[1.0, 0.0]]


def test_two_readouts_line_up_on_items_and_axes_that_only_one_has():
    both = frame(asked("i", "AB", extractor="first_token") + asked("i", "AA") + asked("j", "AA"))
    first, second = surface.align(surface.surface(both, "first_token"), surface.surface(both, "regex"))
    assert first.items == second.items == ["i", "j"]
    assert np.isnan(first.rate[1, 0]) and second.rate[1, 0] == 0
    assert surface.align(first, second, ["j", "x", "i"])[0].items == ["j", "i"]
    assert surface.order_of(first, second, "difference", first.items) == [0, 1]


def test_an_items_mean_leaves_the_noise_floor_out_and_undefined_stays_undefined():
    rate = np.array([[1.0, 0.0, 0.5], [1.0, np.nan, np.nan]])
    cells = surface.Cells(["i", "j"], ["identity", "a", "b"], rate, np.zeros((2, 3)))
    means = surface.row_means(cells)
    assert means[0] == 0.25 and np.isnan(means[1])  # (0 + .5) / 2
    assert surface.most_flipping_column(cells, 0) == "identity"


def test_an_answer_that_was_cut_off_leaves_the_pairs_and_is_marked():
    rows = frame(asked("i", ["A", "B", "A", "A"]) + asked("j", ["A", "A", "A", "A"]))
    rows.loc[(rows["item_id"] == "i") & (rows["answer"] == "B"), ["status", "answer"]] = ["cut", None]
    cells = surface.surface(rows, "regex")
    assert cells.rate.tolist() == [[0.0], [0.0]]
    assert cells.cut_shares.tolist() == [[0.25], [0.0]] and cells.unreadable.tolist() == [[0.0], [0.0]]
    opened = surface.variant_cells(rows, rows["axis"].iloc[0], "regex")
    assert opened.cut_shares.tolist() == [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]] and np.isnan(opened.rate[0, 0])
    both, _ = surface.align(cells, cells, ["j", "i"])
    assert both.cut_shares.tolist() == [[0.0], [0.25]]
