"""Items of one template are one unit on the Flip surface's strip, in the disagreement of extractors and in the predictor."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from flipcore.core.randomness import generator
from flipcore.stats.flips import surface
from flipcore.stats.flips.coded_answers import coded_answers
from flipcore.stats.flips.decomposition import decompositions
from flipcore.stats.flips.map_cells import means_with_intervals
from flipcore.stats.flips.predictor import FEATURES, flip_prediction
from flipcore.stats.flips.readout_mismatch import disagreements
from tests.stats.flips.test_surface import asked, frame

N_FAMILIES, SIZE = 20, 8


def cells_of_families():
    """Every family flips as one: 20 independent values, each eight times."""
    values = np.repeat(generator(1).random(N_FAMILIES).round(), SIZE)[:, None]
    items = [f"i{k}" for k in range(N_FAMILIES * SIZE)]
    return surface.Cells(items, ["option_order"], values, np.zeros(values.shape))


def test_a_column_of_the_strip_is_as_sure_as_its_families_are_many():
    cells = cells_of_families()
    family_of = {item: f"f{k // SIZE}" for k, item in enumerate(cells.items)}
    (alone,), (by_family,) = surface.column_means(cells), surface.column_means(cells, family_of)
    assert by_family.value == pytest.approx(alone.value) and (alone.n, by_family.n) == (160, 20)
    ratio = (by_family.high - by_family.low) / (alone.high - alone.low)
    assert ratio == pytest.approx(math.sqrt(SIZE), rel=0.12)


def test_items_without_families_stay_what_they_were():
    cells = cells_of_families()
    assert surface.column_means(cells, {item: item for item in cells.items}) == surface.column_means(cells)


@pytest.mark.parametrize("families_of", [1, 2])
def test_a_mean_has_one_interval_on_the_map_in_an_audit_and_in_the_decomposition(families_of):
    """Twelve items are read by the reference alone and no row of the map; its rows are sorted by what flips."""
    rng, rows = generator(3), []
    for i in range(32):
        rows += asked(f"i{i}", list(rng.choice(["A", "B", "C"], 3)))
        rows += asked(f"i{i}", list(rng.choice(["A", "B"], 3, p=(0.7, 0.3))), extractor="cloze") if i % 3 else []
    readouts = frame(rows)
    readouts["family"] = [f"f{int(item[1:]) // families_of}" for item in readouts["item_id"]]
    family_of = dict(zip(readouts["item_id"], readouts["family"], strict=True))
    cells = surface.surface(readouts, "cloze")
    order = list(np.argsort(-cells.rate[:, 0]))
    on_map = replace(cells, items=[cells.items[i] for i in order], rate=cells.rate[order], unreadable=cells.unreadable[order])
    (one,) = (one.T for one in decompositions(coded_answers(readouts), "regex", tests=False) if one.extractor == "cloze")
    assert one.method != "clt_cluster" or families_of == 2
    for told, *_ in (surface.column_means(on_map, family_of), means_with_intervals(on_map, family_of)):
        assert (told.low, told.high, told.method) == (pytest.approx(one.low), pytest.approx(one.high), one.method)


def frame_of_families():
    rows = []
    differs = generator(2).random(N_FAMILIES) < 0.5
    for k in range(N_FAMILIES * SIZE):
        for extractor in ("regex", "first_token"):
            answer = "1" if extractor == "regex" or not differs[k // SIZE] else "2"
            rows.append((f"i{k}", f"f{k // SIZE}", "v", 0, extractor, "ok", answer))
    return pd.DataFrame(rows, columns=["item_id", "family", "variant_id", "sample", "extractor", "status", "answer"])


def test_disagreement_of_extractors_counts_families():
    frame = frame_of_families()
    (by_family,) = disagreements(frame).estimates.values()
    (alone,) = disagreements(frame.drop(columns="family")).estimates.values()
    assert by_family.value == alone.value and (alone.n, by_family.n) == (160, 20)
    assert by_family.high - by_family.low > 2 * (alone.high - alone.low)


@pytest.mark.slow
def test_the_predictor_takes_whole_families_for_folds_resamples_and_permutations():
    draw = generator(3)
    family = np.repeat(np.arange(30), 6)
    flips = draw.random(30) < 0.5
    rows = pd.DataFrame({name: draw.normal(size=180) for name in FEATURES})
    rows["margin"] = np.repeat(draw.normal(size=30) + 0.7 * flips, 6)  # 30 values, not 180
    rows = rows.assign(item_id=[f"i{k}" for k in range(180)], axis="a", flipped=flips[family].astype(int))
    alone = flip_prediction(rows, n_permutations=39, n_boot=200)
    grouped = flip_prediction(rows.assign(family=family), n_permutations=39, n_boot=200)
    assert alone.auc.n == 180 and grouped.auc.n == 30
    assert alone.p < grouped.p
    assert grouped.auc.high - grouped.auc.low > 1.5 * (alone.auc.high - alone.auc.low)
