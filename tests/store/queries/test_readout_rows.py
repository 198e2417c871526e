"""Readouts come as Categoricals in the order of the study, and every number that is made of them is that of their texts."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.reports.by_model import flip_panels
from flipcore.reports.flips import flip_to_open, headline, map_claim
from flipcore.reports.ranking import ranking_report
from flipcore.runs import runner
from flipcore.stats.flips import label_mass, surface
from flipcore.stats.flips.coded_answers import coded_answers
from flipcore.stats.flips.decomposition import decompositions
from flipcore.stats.flips.readout_mismatch import disagreements
from flipcore.stats.ranking.ways import scores
from flipcore.store.connection import Store
from flipcore.store.export import safe
from flipcore.store.queries import studies
from flipcore.store.queries.locks import sight
from flipcore.store.queries.readout_rows import (
    COLUMNS,
    TEXTS,
    _encode,
    _join,
    _smallest_int,
    all_and_comparable,
    as_categories,
    as_texts,
    category,
    texts_at,
)

JOINED = """
SELECT r.model, r.item_id, i.role, q.kind, r.axis, r.variant_id, v.key AS variant, v.position, v.compared_with, r.sample,
       r.extractor, r.status, r.answer, r.value, r.is_correct, r.label_mass, r.reason, coalesce(q.source_id, r.item_id) AS family
FROM readouts r JOIN study_items i USING (study_id, item_id) JOIN items q USING (item_id)
JOIN study_variants v USING (study_id, item_id, axis, variant_id)
ORDER BY r.model, i.position, r.axis, v.position, r.sample, r.extractor
"""


SHUFFLED = """
UPDATE readouts SET status = s, answer = if(s = 'ok', a, NULL), is_correct = if(s = 'ok', a = '1', NULL)
FROM (SELECT *, CASE WHEN u < $odd THEN 'unreadable' WHEN u < 2 * $odd THEN 'cut' WHEN u < 3 * $odd THEN 'absent' ELSE 'ok' END AS s
      FROM (SELECT study_id, model, item_id, axis, variant_id, sample, extractor, (hash(k, 'u', $seed) % 10007) / 10007 AS u,
                   (hash(k, 'a', $seed) % $n)::TEXT AS a
            FROM (SELECT *, concat_ws('/', study_id, model, item_id, axis, variant_id, sample, extractor) AS k FROM readouts))) new
WHERE (readouts.study_id, readouts.model, readouts.item_id, readouts.axis, readouts.variant_id, readouts.sample, readouts.extractor)
    = (new.study_id, new.model, new.item_id, new.axis, new.variant_id, new.sample, new.extractor)
"""


def study(n_samples: int, **more) -> Study:
    return Study(
        "counted",
        (ItemSource("flipscope_choice", n=14), ItemSource("flipscope_problems", role="control", n=8)),
        (Part("identity"), Part("option_order", {"n": 4}), Part("prompt_format")),
        (Part("first_token"), Part("regex")),
        (ModelUse("simulated-artifact-prone", n_samples=n_samples), ModelUse("simulated-noisy", n_samples=n_samples)),
        **more,
    )


def shuffled(store, seed: int, odd: float = 0.08, n: int = 3) -> None:
    params = {"seed": seed, "odd": odd, "n": n}
    store.writer.transact(lambda connection: connection.execute(SHUFFLED, params)).result(30)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    store, one = Store.open(tmp_path_factory.mktemp("rows") / "flips.duckdb"), study(2)
    assert runner.run(one, store).state == "done"
    shuffled(store, 5)
    yield store, one.study_id
    store.close()


def plain(made) -> str:
    """All that something holds, to the last digit."""
    with np.printoptions(threshold=10**7, floatmode="unique"):
        return repr({name: getattr(made, name) for name in vars(made)} if hasattr(made, "__dict__") else made)


@pytest.mark.slow
def test_rows_are_those_of_the_join_in_the_study_s_order(run):
    store, study_id = run
    frame, joined = studies.readouts(store, study_id), store.frame(JOINED)
    assert tuple(frame.columns) == COLUMNS
    assert [name for name in frame if frame[name].dtype == "category"] == [name for name in frame if name in TEXTS]
    assert len(frame) == len(joined) > 900
    for name in COLUMNS:
        assert frame[name].astype(object).where(frame[name].notna(), None).tolist() == (
            joined[name].astype(object).where(joined[name].notna(), None).tolist()
        ), name
    assert frame["is_correct"].dtype == object
    assert {True, False, None} == set(frame["is_correct"])


@pytest.mark.slow
def test_all_and_comparable_readouts_of_one_look_are_those_of_two(run):
    store, study_id = run
    everything, harmless = all_and_comparable(store, study_id, sight(store, study_id, None), "standing")
    pd.testing.assert_frame_equal(as_texts(everything), studies.readouts(store, study_id, everything=True))
    pd.testing.assert_frame_equal(harmless, studies.readouts(store, study_id))


@pytest.mark.slow
def test_categories_stand_as_their_texts_are_sorted(run):
    store, study_id = run
    for name in TEXTS:
        categories = list(studies.readouts(store, study_id)[name].cat.categories)
        assert categories == sorted(set(categories)), name


@pytest.mark.slow
def test_texts_come_back_as_texts(run):
    store, study_id = run
    frame = as_texts(studies.readouts(store, study_id))
    pd.testing.assert_frame_equal(frame, studies.readouts(store, study_id, everything=True))
    assert None in set(frame["answer"])


def test_a_study_without_readouts_has_the_same_columns(store):
    frame = studies.readouts(store, "no such study")
    assert (len(frame), tuple(frame.columns)) == (0, COLUMNS)


@pytest.mark.slow
def test_every_statistic_is_that_of_the_texts(run):
    store, study_id = run
    frame = studies.readouts(store, study_id)
    frame.loc[frame["extractor"] == "first_token", "label_mass"] = 0.01
    texts = as_texts(frame)
    assert plain(headline(frame, 2)) == plain(headline(texts, 2))
    assert plain(scores(frame[frame["role"] == "target"])) == plain(scores(texts[texts["role"] == "target"]))
    assert plain(ranking_report(frame, role="target")) == plain(ranking_report(texts, role="target"))
    assert plain(flip_panels(frame, "regex")) == plain(flip_panels(texts, "regex"))
    assert flip_to_open(frame, "first_token") == flip_to_open(texts, "first_token")
    assert surface.choices(frame) == surface.choices(texts)
    assert label_mass.unreadable_labels(frame) == label_mass.unreadable_labels(texts) != []
    for model in texts["model"].unique():
        one, other = frame[frame["model"] == model], texts[texts["model"] == model]
        first, second = coded_answers(one), coded_answers(other)
        assert plain(first) == plain(second)
        cells = [decompositions(coded, "regex", n_boot=200) for coded in (first, second)]
        assert [plain(cell) for cell in cells[0]] == [plain(cell) for cell in cells[1]]
        assert plain(disagreements(one)) == plain(disagreements(other))
        assert plain(surface.surface(one, "regex")) == plain(surface.surface(other, "regex"))
        assert plain(surface.variant_cells(one, "option_order", "regex")) == plain(
            surface.variant_cells(other, "option_order", "regex")
        )
        assert map_claim(one, "first_token", "regex") == map_claim(other, "first_token", "regex")


def test_a_formula_in_a_category_is_harmless_in_a_spreadsheet():
    frame = pd.DataFrame({"answer": pd.Categorical(["=1+1", None, "4"])})
    assert safe(frame)["answer"].tolist()[0] == "'=1+1"
    assert "\n=1+1" not in safe(frame).to_csv(index=False)


# Codes and categories by hand.


def test_a_column_of_words_is_sorted_and_what_is_missing_stays_missing():
    table = pa.table({"answer": ["b", None, "a", "b"], "is_correct": [False, None, True, True], "sample": [0, 1, 2, 3]})
    frame = as_categories(table.set_column(0, "answer", table["answer"].dictionary_encode()))
    assert frame["is_correct"].tolist() == [False, None, True, True] and frame["is_correct"].dtype == object
    assert frame["answer"].cat.codes.tolist() == [1, -1, 0, 1]
    assert list(frame["answer"].cat.categories) == ["a", "b"] and frame["sample"].tolist() == [0, 1, 2, 3]
    assert list(as_categories(table[:0])["answer"].cat.categories) == []


@pytest.mark.parametrize("texts", [["a", "b", "c"], ["c", "b", "a"], ["a", "unseen", "b", "c"], ["unseen", "b", "c", "a"]])
def test_categories_are_sorted_and_those_that_do_not_occur_are_not_told(texts):
    wanted = ["b", None, "c", "a", "b"]
    codes = np.array([-1 if text is None else texts.index(text) for text in wanted], dtype=np.int32)
    made = category(codes, pa.array(texts))
    assert list(made.categories) == ["a", "b", "c"] and made.codes.tolist() == [1, -1, 2, 0, 1]
    assert made.codes.dtype == np.int8
    # The same rows again, with a category less.
    kept = texts_at(made, np.array([4, 0, 1]))
    assert list(kept.categories) == ["b"] and kept.codes.tolist() == [0, 0, -1]
    whole = texts_at(made, np.array([3, 2, 1, 0]))
    assert whole.dtype is made.dtype and whole.codes.tolist() == [0, 2, -1, 1]


@pytest.mark.parametrize(
    ("n", "kind"),
    [(0, "int8"), (127, "int8"), (128, "int16"), (32_767, "int16"), (32_768, "int32"), (2**31 - 1, "int32"), (2**31, "int64")],
)
def test_codes_take_the_smallest_integer_of_pandas(n, kind):
    assert np.dtype(_smallest_int(n)) == kind


def test_rows_stand_by_model_place_sample_and_extractor():
    places = {
        "item_id": ["i", "j"],
        "role": ["target"] * 2,
        "kind": ["choice"] * 2,
        "axis": ["x"] * 2,
        "variant_id": ["v", "w"],
    }
    places |= {"variant": ["base"] * 2, "position": [0, 1], "compared_with": ["base"] * 2, "family": ["f", "g"]}
    rows = [(1, "m", 0, "b"), (0, "n", 0, "a"), (0, "m", 1, "a"), (0, "m", 0, "b"), (0, "m", 0, "a"), (1, "m", 0, "a")]
    names = ("place", "model", "sample", "extractor")
    answers = {name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}
    answers |= {"status": ["ok"] * 6, "answer": [str(k) for k in range(6)], "value": [None] * 6, "is_correct": [True] * 6}
    answers |= {"label_mass": [0.5] * 6, "reason": [""] * 6}
    coded = _encode(pa.table(answers)).unify_dictionaries().combine_chunks()
    frame = _join(pa.table(places), coded)
    assert list(frame.columns) == list(COLUMNS) and frame["answer"].tolist() == ["4", "3", "2", "5", "0", "1"]
    assert frame["item_id"].tolist() == ["i", "i", "i", "j", "j", "i"] and frame["position"].tolist() == [0, 0, 0, 1, 1, 0]


def test_missing_texts_are_none_again():
    frame = pd.DataFrame({"answer": pd.Categorical(["b", None]), "model": pd.Categorical(["m", "m"]), "n": [1, 2]})
    plain = as_texts(frame)
    assert plain["answer"].tolist() == ["b", None] and plain["model"].tolist() == ["m", "m"] and plain["n"].tolist() == [1, 2]
    assert [str(dtype) for dtype in plain.dtypes] == ["object", "str", "int64"]
