"""Ratings of one output by several people are told as ratings by these people, never as reruns or flips."""

import json

import pandas as pd
import pytest

from flipcore.core.records import Item
from flipcore.reports.audit import audit
from flipcore.reports.browser_data.score import board
from flipcore.reports.compared_pairs import ONE_OUTPUT, flips, has_any_pair, samples_of, sides, why_no_flip
from flipcore.reports.exports.outputs import evidence
from flipcore.reports.graded_examples import graded_examples
from flipcore.reports.ratings import mean_words, rating_text, ratings_words
from flipcore.reports.regression import Run, regression_check
from flipcore.reports.score import score_rows, share_rows
from flipcore.reports.whole_study import whole_study
from flipcore.runs.log_import import store_logs
from flipcore.runs.log_survey import survey
from flipcore.store.connection import Store
from flipcore.store.export import export
from flipcore.store.queries import studies
from flipcore.store.queries.inspection import inspection
from tests.reports.rated_tables import PEOPLE, grade, rated, verdict

pytestmark = pytest.mark.usefixtures("allowed_folders")


@pytest.fixture
def stored(tmp_path):
    """A function that stores a table of ratings, and returns its store and study."""
    stores = []

    def put(score, **columns):
        store = Store.open(tmp_path / "flips.duckdb")
        stores.append(store)
        study_id = store_logs(survey([rated(tmp_path, score, **columns)]), store)
        return store, studies.declared(store, study_id)

    yield put
    for store in stores:
        store.close()


def first_view(store, study):
    items = list(studies.study_items(store, study.study_id)["item_id"])
    item = next(item for item in items if item.partition("@")[0].endswith("/d0"))
    return inspection(store, study.study_id, study.models[0].name, item, "recorded")


def test_a_rating_names_who_gave_it(stored):
    store, study = stored(verdict)
    view = first_view(store, study)
    (base,) = view.variants
    assert view.has_raters and [reading.rater for reading in base.readings] == list(PEOPLE)
    ratings = samples_of(view, base, "correct")
    assert ratings_words(view.item, ratings) == "anna wrong, bilal right, chen right"
    assert mean_words(ratings) == "Mean of 3 raters: 67% right. Their ratings differ."
    assert mean_words(ratings[1:]) == "Mean of 2 raters: 100% right. They agree."
    assert mean_words(ratings[:1]) == "1 rater: wrong." and mean_words([]) == "Nobody rated this output."


def test_a_grade_on_a_question_with_options_is_no_option(stored):
    store, study = stored(grade)
    view = first_view(store, study)
    rating = samples_of(view, view.variants[0], "rating")[1]
    item = Item("i", "d", "choice", "Which?", options=("a", "b", "c", "d"), target="0")
    assert rating_text(item, rating) == "3" and mean_words([rating]) == "1 rater: 3.00."


@pytest.mark.parametrize(
    ("people", "named"), [((1, 2, 3), ["Rater 1", "Rater 2", "Rater 3"]), (("w_7", "w_8"), ["w_7", "w_8"])]
)
def test_a_number_is_no_name_by_itself(stored, people, named):
    store, study = stored(verdict, people=people)
    assert [reading.rater for reading in first_view(store, study).variants[0].readings] == named


def test_ratings_of_an_earlier_import_are_told_by_their_place(stored):
    store, study = stored(verdict)
    # Versions until 0.2 kept no names.
    store._connection.execute("UPDATE completions SET raw_reply = '{}'")
    assert [reading.rater for reading in first_view(store, study).variants[0].readings] == ["Rater 1", "Rater 2", "Rater 3"]


def test_people_with_names_rate_answers_to_prompts_too(stored):
    store, study = stored(grade, has_question=True)
    view = first_view(store, study)
    assert "Summarize the long document" in view.variants[0].prompt
    assert [reading.rater for reading in samples_of(view, view.variants[0], "rating")] == list(PEOPLE)


def test_raters_who_differ_are_no_flip_and_no_samples(stored):
    store, study = stored(verdict)
    view = first_view(store, study)
    pairs = sides(view, "correct")
    assert list(pairs) == [ONE_OUTPUT] and not has_any_pair(pairs)
    assert not flips(pairs[ONE_OUTPUT]) and "no answer flips" in why_no_flip(view, pairs[ONE_OUTPUT])


def test_ratings_of_two_prompts_are_no_flip(stored):
    store, study = stored(verdict, prompts=("plain", "polite"))
    view = first_view(store, study)
    (pair,) = sides(view, "correct").values()
    assert [len(samples) for _, samples in pair] == [3, 3] and not flips(pair)
    # An extractor of ours reads the output, which several people only rated.
    (pair,) = sides(view, "regex").values()
    assert [len(samples) for _, samples in pair] == [1, 1]


def test_the_intervals_of_a_score_are_over_other_raters(stored):
    store, study = stored(verdict, prompts=("plain", "polite", "short"))
    report = whole_study(store, study.study_id).score
    data = json.dumps(board(report, 0.95).data())
    assert "other raters" in data and "reruns" not in json.dumps(board(report, 0.95).legend[0][0])
    (model_score,) = report.models
    assert score_rows(model_score)[0]["interval over"] == "other raters"
    assert "raters" in [row["part"] for row in share_rows(model_score)]
    quantities = [row.quantity for row in model_score.rows()]
    assert "score, other raters" in quantities and "share of variance: raters" in quantities
    lines = "\n".join(report.lines())
    assert "from differences between raters" in lines and "rerun" not in lines


def test_a_report_shows_a_rated_output_once(stored):
    store, study = stored(verdict)
    (behind, *_) = evidence(whole_study(store, study.study_id), 24)
    for pair in behind.pairs:
        (half,) = pair.halves
        (output,) = half.outputs
        assert output.line.startswith("Mean of 3 raters: ") and "anna" in output.line and half.n_more == 0
    assert "Sample" not in str(behind) and "sample" not in str(behind)


def test_an_export_says_who_gave_each_rating(stored, tmp_path):
    store, study = stored(verdict)
    paths = {path.name.partition("-")[2]: path for path in export(store, study.study_id, tmp_path, "csv")}
    names, readouts = pd.read_csv(paths["raters.csv"]), pd.read_csv(paths["readouts.csv"])
    ratings = readouts[readouts["extractor"] == "correct"].merge(names, validate="one_to_one")
    assert len(ratings) == len(names) == 72
    first = ratings[ratings["item_id"].str.partition("@")[0].str.endswith("/d0")].set_index("rater")["is_correct"]
    assert first.to_dict() == {"anna": False, "bilal": True, "chen": True}


def test_an_example_says_whose_rating_it_is(stored):
    store, study = stored(verdict)
    words = graded_examples(whole_study(store, study.study_id))
    assert "(rated by bilal)" in words and "(rated by anna)" in words


def test_prompts_get_different_ratings(stored):
    store, study = stored(verdict, prompts=("plain", "polite"))
    sentences = [finding.claim.sentence for finding in audit(store, study.study_id).findings]
    assert any("pairs of variants get different ratings" in sentence for sentence in sentences)


def test_a_check_speaks_of_raters(stored):
    store, study = stored(verdict)
    run = Run(store, study.study_id)
    (task,) = regression_check(run, run, 0.1).tasks
    notes = " ".join(task.notes())
    assert "Two raters of one output of the old run differ in 22% of pairs" in notes and "Rerun" not in notes
