"""Tables of scores alone: item, model and score, and whichever of run, wording, scorer, task and subject they have."""

import random

import pandas as pd
import pytest

import flipcore
from flipcore.core.errors import BadInput
from flipcore.reports.audit import audit
from flipcore.reports.log_scores import task_scores
from flipcore.reports.whole_study import whole_study
from flipcore.runs.log_corrections import corrections_of
from flipcore.runs.log_import import store_logs
from flipcore.runs.log_survey import survey
from flipcore.store.queries import studies

pytestmark = pytest.mark.usefixtures("allowed_folders")


def written(tmp_path, rows, name="scores.csv"):
    path = tmp_path / name
    frame = pd.DataFrame(rows)
    frame.to_csv(path, index=False) if name.endswith("csv") else frame.to_parquet(path)
    return path


def rows_of(n=20, epochs=3, seed=0, **more):
    draw = random.Random(seed)
    return [
        {"item_id": f"i{i}", "model_id": "m-1", "score": float(draw.random() < 0.6), "epoch": e + 1} | more
        for i in range(n)
        for e in range(epochs)
    ]


def scores_of(store, path, *words):
    log_survey = survey([path], corrections_of(words, of_tables=True))
    study_id = store_logs(log_survey, store)
    return log_survey, study_id, task_scores(store, study_id, studies.declared(store, study_id))


def test_failed_calls_are_left_out_of_a_score_that_answered_calls_have_as_well(tmp_path):
    rows = []
    for i in range(20):
        output = "Error: 429 quota exceeded" if i % 5 == 4 else f"It is river {i}."
        rows.append({"id": f"q{i}", "prompt": f"Which river is number {i}?", "output": output, "score": i % 2})
    log_survey = survey([written(tmp_path, rows)], corrections_of(["column:failed=out"], of_tables=True))
    records = list(log_survey.plain_table().rows())
    scores = [log_survey.plain_table().readouts(row)[0].score for row in records]
    assert scores == [None if i % 5 == 4 else i % 2 for i in range(20)]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["scores.csv", pytest.param("scores.parquet", marks=pytest.mark.slow)])
def test_item_model_score_and_epoch_are_enough(tmp_path, store, name):
    rows = rows_of()
    log_survey, study_id, (one,) = scores_of(store, written(tmp_path, rows, name))
    assert one.mean.value == pytest.approx(sum(row["score"] for row in rows) / len(rows))
    assert (one.n_items, one.n_epochs, one.scorer) == (20, 3, "score")
    assert any("scores alone" in sentence for sentence in log_survey.sentences())
    text = whole_study(store, study_id).text()
    assert "20 questions × 1 prompt × 3 runs" in text and "by score (mean of 3 epochs)" in text
    frame = studies.readouts(store, study_id)
    assert set(frame["axis"]) == {"recorded"} and set(frame["variant"]) == {"base"}


@pytest.mark.slow
def test_wordings_runs_scorers_tasks_and_clusters_are_read_where_they_are(tmp_path, store):
    rows = [
        {
            "question_id": i,
            "prompt_id": w,
            "seed": 1000 + s,
            "metric": m,
            "task": f"t{i % 2}",
            "source_id": f"p{i // 4}",
            "passed": ok,
        }
        for i in range(120)
        for w in ("plain", "polite")
        for s in range(2)
        for m, ok in (("exact", i % 3 > 0), ("judge", i % 4 > 0))
    ]
    _, study_id, scores = scores_of(store, written(tmp_path, rows), "model=m-2")
    assert {(one.task, one.scorer): round(one.mean.value, 3) for one in scores} == {
        ("t0", "exact"): 0.667,
        ("t0", "judge"): 0.5,
        ("t1", "exact"): 0.667,
        ("t1", "judge"): 1.0,
    }
    frame = studies.readouts(store, study_id)
    assert set(frame["variant"]) == {"base", "polite"} and set(frame["sample"]) == {0, 1} and frame["family"].nunique() == 60


@pytest.mark.slow
@pytest.mark.parametrize(
    ("values", "mean"),
    [(["true", "False"], 0.5), (["pass", "FAIL"], 0.5), (["85%", "95 %"], 0.9), (["C", "P"], 0.75), ([1, None], 1.0)],
)
def test_scores_are_read_as_people_write_them(tmp_path, store, values, mean):
    rows = [{"item": i, "model": "m", "score": values[i % 2]} for i in range(20)]
    _, _, (one,) = scores_of(store, written(tmp_path, rows))
    assert one.mean.value == pytest.approx(mean)


@pytest.mark.slow
def test_shares_have_the_error_bar_of_all_their_rows_not_of_those_that_are_whole(tmp_path, store):
    """Of thirty shares one is 1.00: "answers 1.00 right" was said of that one beside a mean of 0.51."""
    shares = [0.5 + (i % 7 - 3) / 20 for i in range(29)] + [1.0]
    _, study_id, (one,) = scores_of(
        store, written(tmp_path, [{"item": i, "model": "m", "score": s} for i, s in enumerate(shares)])
    )
    text = whole_study(store, study_id).text()
    assert (
        f"m scores 0.51; with other questions {one.mean.low:.2f} to {one.mean.high:.2f}." in text
        and "right" not in text.partition(" with other ")[0]
    )
    assert "30 questions × 1 prompt × 1 run" in text


def test_a_score_that_is_none_and_one_that_comes_twice_are_refused_with_what_to_do(tmp_path):
    rows = [*rows_of(4, 2), {"item_id": "i0", "model_id": "m-1", "score": "n/k", "epoch": 9}]
    refusals = survey([written(tmp_path, rows)]).refusals
    assert len(refusals) == 1 and "has the score 'n/k'" in refusals[0] and "--map score=COLUMN" in refusals[0]
    rows = [*rows_of(4, 2), rows_of(4, 2)[0] | {"score": 0.5}]
    refusals = survey([written(tmp_path, rows)]).refusals
    assert len(refusals) == 1 and "repeats item i0, epoch 1 of m-1 with another score" in refusals[0]


def test_two_scales_and_two_readings_are_said(tmp_path):
    rows = [{"item": i, "model": "m", "score": 0.5 if i % 2 else 85} for i in range(20)]
    with pytest.raises(BadInput, match="10 scores between 0 and 1 and 10 up to 85: two scales"):
        survey([written(tmp_path, rows)])
    rows = [{"item": i, "model": "m", "score": 1, "correct": 0} for i in range(20)]
    assert [*survey([written(tmp_path, rows)]).readouts] == ["score", "correct"]  # two graders
    with pytest.raises(BadInput, match="No column tells which item"):
        survey([written(tmp_path, [{"score": 1, "model": "m"}] * 6)])


@pytest.mark.slow
def test_a_column_of_another_name_is_mapped(tmp_path, store):
    rows = [{"item": i, "model": "m", "points_awarded": i % 2} for i in range(20)]
    assert [*survey([written(tmp_path, rows)]).readouts] == ["points_awarded"]
    rows = [{"item": i, "model": "m", "xyz": i % 2, "uvw": i / 100} for i in range(20)]
    _, _, (one,) = scores_of(store, written(tmp_path, rows), "score=xyz")
    assert (one.mean.value, one.scorer) == (0.5, "xyz")


BAD = {  # what is wrong -> (scores of thirty items, more of each row, what the audit says, under which name)
    "one outside": (
        lambda i: 17 if i == 4 else i % 2,
        {},
        "outside the scale",
        "29 of 30 scores lie from 0 to 1, and 17 does not (Line 6",
    ),
    "one below": (lambda i: -3 if i == 4 else i % 2, {}, "outside the scale", "-3 does not"),
    "percentages without a sign": (lambda i: 40 + i, {}, "percentages", "whole numbers from 40 to 69"),
    "not a number": (lambda i: "NaN" if i % 5 == 0 else i % 2, {}, "no score", "6 of 30 rows hold no score"),
    "an infinite one": (lambda i: "inf" if i == 4 else i % 2, {}, "rows refused", "Line 6 of scores.csv has the score 'inf'"),
}


def abouts_of(store, path, *words):
    _, study_id, _ = scores_of(store, path, *words)
    return {one.about: one.claim.text for one in audit(store, study_id).findings}


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault", [pytest.param(fault, marks=pytest.mark.slow if fault == "one below" else ()) for fault in BAD]
)
def test_what_is_wrong_with_a_column_of_scores_is_a_finding(tmp_path, store, fault):
    score, more, about, sentence = BAD[fault]
    rows = [{"item_id": f"q{i}", "model": "m", "score": score(i)} | more for i in range(30)]
    assert sentence in abouts_of(store, written(tmp_path, rows))[about]


@pytest.mark.slow
def test_a_good_table_has_none_of_these_findings(tmp_path, store):
    heard = {about for _, _, about, _ in BAD.values()} | {"rows alike"}
    grades = [{"item_id": f"q{i}", "model": "m", "score": 1 + i % 5} for i in range(30)]
    for name, rows in (("a.csv", rows_of(30)), ("b.csv", grades)):
        assert not heard & set(abouts_of(store, written(tmp_path, rows, name)))


@pytest.mark.slow
def test_rows_that_no_column_tells_apart_are_said(tmp_path, store):
    rows = [{"item_id": f"q{i}", "model": "m", "score": i % 2} for i in range(30)]
    rows.append(rows[3] | {"score": 0})  # a row that repeats another word for word would be left out
    assert "1 of 30 items stand in several rows" in abouts_of(store, written(tmp_path, rows))["rows alike"]
    both = rows + [row | {"model": "m2"} for row in rows]
    assert "1 of 30 items stand in several rows" in abouts_of(store, written(tmp_path, both, "b.csv"))["rows alike"]
    rows = [{"id": i, "question_id": f"q{i // 2}", "model": "m", "score": i % 2} for i in range(30)]
    said = abouts_of(store, written(tmp_path, rows, "two.csv"))
    assert "15 of 15 items" in said["rows alike"] and "--map item=id" in said["two columns"]


@pytest.mark.slow
def test_two_scales_are_refused_wherever_in_the_file_the_second_begins(tmp_path):
    rows = [{"item": i, "model": "m", "score": 0.5 if i < 600 else i // 10} for i in range(900)]
    with pytest.raises(BadInput, match="600 scores between 0 and 1 and 300 up to 89: two scales"):
        survey([written(tmp_path, rows)])
    rows = [{"item": i, "model": "m", "score": 10 + i / 7} for i in range(600)]  # a scale of its own
    assert survey([written(tmp_path, rows)]).n_records == 600


def test_a_table_in_german_is_read_and_one_without_words_says_which_column_holds_rights_and_wrongs(tmp_path):
    rows = [{"aufgabe": i, "punkte": i % 2, "modell": "m"} for i in range(20)]
    read = survey([written(tmp_path, rows)])
    assert [*read.readouts] == ["punkte"] and [*read.models] == ["m"]
    rows = [{"aufgabe": i, "c2": i % 2, "modell": "m"} for i in range(20)]
    with pytest.raises(BadInput, match=r"The columns are aufgabe, c2, modell.*--map score=c2"):
        survey([written(tmp_path, rows)])


def inspect_frame(n=20, **more):
    """As Inspect's `samples_df` gives it (inspect-ai 0.3.285): a row a sample and epoch, a column a scorer, no model."""
    return pd.DataFrame(
        [
            {
                "sample_id": f"u{i}-{e}",
                "eval_id": "ev",
                "log": "woods.eval",
                "id": f"q{i}",
                "epoch": e,
                "input": f"user:\nWhich is {i}?\n",
                "target": "A",
                "score_match": "CI"[(i + e) % 3 == 0],
                "score_model_graded_qa": "CPI"[i % 3],
                "model_usage": '{"openai/m-1": {"total_tokens": 8}}',
            }
            | more
            for i in range(n)
            for e in (1, 2)
        ]
    )


@pytest.mark.slow
def test_inspects_data_frames_come_in_as_they_are(tmp_path):
    frame = inspect_frame()
    view = flipcore.read(frame, name="woods")
    said = {one.scorer: one for one in task_scores(view.store, view.study_id, view.whole.study)}
    assert said["match"].mean.value == pytest.approx((frame["score_match"] == "C").mean()) and said["match"].n_epochs == 2
    assert said["model_graded_qa"].mean.value == pytest.approx(
        frame["score_model_graded_qa"].map({"C": 1, "P": 0.5, "I": 0}).mean()
    )
    assert said["match"].model == "openai/m-1" and "two columns" not in {one.about for one in view.audit().audit.findings}
    with_model = flipcore.read(inspect_frame(model="m-2", task_name="trees", score_match_accuracy=0.7))
    assert with_model.whole.models == ["m-2"] and set(with_model.readouts(everything=True)["extractor"]) == {
        "match",
        "model_graded_qa",
    }


@pytest.mark.slow
def test_a_data_frame_is_a_study_in_memory_and_its_columns_are_mapped():
    frame = pd.DataFrame({"item": range(40), "xyz": [i % 4 > 0 for i in range(40)]})
    with pytest.raises(BadInput, match="--map score=xyz"):
        flipcore.read(frame)
    view = flipcore.read(frame, "score=xyz", "model=m-7", name="woods")
    assert view.audit().text().startswith("m-7: 75% right; with other questions ") and view.score().frame["value"].iloc[
        0
    ] == pytest.approx(0.75)


@pytest.mark.slow
@pytest.mark.stand_in("test_item_model_score_and_epoch_are_enough")
def test_the_public_tables_give_their_numbers(shared_data, store):
    """The numbers of 17.13 on the crossed table, and the plain means of GPQA's."""
    path = shared_data / "scores" / "gpqa_diamond_scores.csv"
    _, _, scores = scores_of(store, path)
    means = pd.read_csv(path).groupby("model_id")["score"].mean()
    assert {one.model: one.mean.value for one in scores} == pytest.approx(dict(means)) and scores[0].n_epochs == 5
    _, study_id, _ = scores_of(store, shared_data / "crossed" / "ticket-multi-model-x-prompt.csv")
    halves = []
    for model in whole_study(store, study_id).score.models:
        halves.append(tuple(round(100 * model.bar.half_width(name), 1) for name in ("questions", "wordings")))
    assert (7.1, 11.3) in halves and (5.7, 9.6) in halves


def test_items_of_a_long_table_are_no_tasks(tmp_path):
    """From 400 items on each `task_id` was a task of its own, and from 2,000 on the table was refused."""
    path = tmp_path / "scores.csv"
    lines = [f"task_{i},{i * 7 % 10 / 10},2025-01-{1 + i % 28:02}" for i in range(900)]
    path.write_text("\n".join(["task_id,score,eval_date", *lines]), encoding="utf-8")
    read = survey([path], {})
    assert list(read.kinds) == ["scores"] and read.n_records == 900
    rows = [(f"p{i}", f"Eval/{i}", model) for i in range(164) for model in ("alpha-1", "beta-2", "gamma-3")]
    lines = [f"{problem},{task},{model},{place % 5 / 4}" for place, (problem, task, model) in enumerate(rows)]
    path.write_text("\n".join(["problem_id,task_id,model_name,success_rate", *lines]), encoding="utf-8")
    assert list(survey([path], {}).kinds) == ["scores"]  # a second id of the question is no task
    lines = [f"{'math' if i % 3 else 'law'},q{i},{i * 7 % 10 / 10}" for i in range(900)]
    path.write_text("\n".join(["task,question_id,score", *lines]), encoding="utf-8")
    assert sorted(survey([path], {}).kinds) == ["law", "math"]


def test_a_second_id_of_a_few_values_is_no_item(tmp_path):
    path = tmp_path / "scores.csv"

    def facts(n_values):
        lines = [f"q{i},e{i % n_values},{i % 5}" for i in range(60)]
        path.write_text("\n".join(["item_id,evaluator_id,score", *lines]), encoding="utf-8")
        return [sentence for kind, sentence in survey([path], {}).facts if kind == "two columns"]

    assert not facts(12) and len(facts(40)) == 1


def test_an_id_of_runs_that_differs_in_every_row_is_no_item(tmp_path):
    path = tmp_path / "runs.csv"

    def facts(name, runs):
        lines = [f"{run},t{i // 2},a{i % 2},{i % 3 % 2}" for i, run in enumerate(runs)]
        path.write_text("\n".join([f"{name},task,agent,success", *lines]), encoding="utf-8")
        return [sentence for kind, sentence in survey([path], {}).facts if kind == "two columns"]

    each_row = [f"r{i}" for i in range(60)]
    assert not facts("run_id", each_row) and not facts("trace_id", each_row)
    assert len(facts("run_id", [f"r{i % 40}" for i in range(60)])) == 1  # some runs have two rows
