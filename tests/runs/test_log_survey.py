"""What a survey counts in logs before anything is stored: plans, scales, items and repeats."""

import json
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import pytest

from flipcore.core import folders
from flipcore.core.errors import BadInput
from flipcore.core.records import BASE, WRITTEN_MATH
from flipcore.datasets.recorded.formats.tables import TABLE
from flipcore.datasets.recorded.log_documents import Document
from flipcore.datasets.recorded.log_places import OWN_PROMPT
from flipcore.datasets.recorded.log_records import LogAbout, LogReadout, LogRecord, Rejection
from flipcore.datasets.recorded.plain_tables import NotPlain, PlainRow
from flipcore.extractors import EXTRACTORS
from flipcore.runs import log_survey
from flipcore.runs.log_survey import (
    LogFacts,
    LogFile,
    ReadScores,
    ScoreCounts,
    Survey,
    _count_readouts,
    _first_two,
    _PlainItems,
    preview_row,
    survey,
)
from tests.datasets.recorded import harness_files

pytestmark = pytest.mark.usefixtures("allowed_folders")


def record_of(item="i", **fields):
    return LogRecord("a:1", "t", item, f"What is {item}?", f"What is {item}?", **fields)


def facts_of(n_by_item=(1, 1), n_extra=0, **plan):
    """Facts of a log with so many epochs per item, and rows that are there twice."""
    facts = LogFacts("a.json", LogAbout("inspect", plan=plan))
    for item, n in enumerate(n_by_item):
        for epoch in range(n):
            facts.rows[f"i{item}", "hash", str(epoch)] += 1
    if n_extra:
        facts.rows["i0", "hash", "0"] += n_extra
    return list(facts.sentences())


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"items": 2}, {}),
        ({"items": 2, "n_extra": 1}, {"rows doubled": "1 row is there twice, the same item and epoch."}),
        ({"items": 2, "n_extra": 2}, {"rows doubled": "2 rows are there twice, the same item and epoch."}),
        (
            {"items": 3},
            {"rows missing": "the log planned 3 items × 1 epoch; 1 item is missing. The score is of those that are left."},
        ),
        (
            {"items": 1_004, "epochs": 2, "n_by_item": (2, 2)},
            {
                "rows missing": "the log planned 1,004 items × 2 epochs; 1,002 items are missing. The score is of those that are left."
            },
        ),
        ({"items": 1}, {"items of no plan": "the log planned 1 item and holds 2."}),
        ({"items": 2, "ids": ["i0", "i1"]}, {}),
        ({"items": 1, "ids": ["i0"]}, {"items of no plan": "1 item is not in the log's own list of samples, the first i1."}),
        (
            {"items": 1, "ids": ["x"]},
            {
                "items of no plan": "2 items are not in the log's own list of samples, the first i0.",
                "rows missing": "the log planned 1 item × 1 epoch; 1 item is missing. The score is of those that are left.",
            },
        ),
        (
            {"items": 2, "epochs": 2, "n_by_item": (2, 1)},
            {"epochs missing": "1 of 2 items have fewer than the 2 epochs that were planned."},
        ),
        ({"items": 2, "epochs": 2, "n_by_item": (2, 2)}, {}),
        ({"items": 2, "epochs": 2, "n_by_item": (3, 2)}, {}),
        (
            {"items": 2, "all_items": 1_500},
            {"part of the items": "the score is of 2 of 1,500 items (the first ones, not a random part)."},
        ),
        (
            {"items": 2, "all_items": 9, "is_drawn": True},
            {"part of the items": "the score is of 2 of 9 items (drawn at random)."},
        ),
        ({"items": 1, "all_items": 9}, {"items of no plan": "the log planned 1 item and holds 2."}),
        ({"items": 1, "ids": ["i0"], "all_items": 9, "n_by_item": (1,)}, {"part of the items"}),
        ({"items": 1, "ids": ["i0"], "all_items": 9}, {"items of no plan", "part of the items"}),
        ({"epochs": 1}, {}),
        ({"items": 2, "n_by_item": ()}, {}),  # no row is there at all
        ({}, {}),
    ],
)
def test_rows_are_held_against_the_plan_of_their_log(facts, said):
    found = dict(facts_of(**facts))
    if isinstance(said, set):
        assert set(found) == said
    else:
        assert found == {about: f"a.json: {sentence}" for about, sentence in said.items()}


def facts_with(*records, **about):
    facts = LogFacts("a.csv", LogAbout(TABLE, **about))
    for record in records:
        facts.add(record)
    return dict(facts.sentences())


def test_one_id_with_two_questions_is_two_items():
    other = LogRecord("a:2", "t", "i", "Another?", "Another?")
    assert facts_with(record_of(), other, plan={"items": 2}) == {}
    assert "rows doubled" in facts_with(record_of(), record_of(), plan={"items": 1})
    assert facts_with(record_of(sample=0), record_of(sample=1), plan={"items": 1, "epochs": 2}) == {}


@pytest.mark.parametrize(("columns", "n_found"), [({"score": "s"}, 1), ({"score": "s", "sample": "k"}, 0), ({}, 0)])
def test_rows_of_a_table_that_nothing_tells_apart_are_said(columns, n_found):
    rows = (record_of("i"), record_of("i"), record_of("j"))
    found = facts_with(*rows, columns=columns)
    assert len(found) == n_found and len(facts_with(*rows[1:], columns=columns)) == 0
    assert all("a.csv: 1 of 2 items stand in several rows" in sentence for sentence in found.values())


def test_a_file_with_too_many_items_is_not_counted_item_by_item(monkeypatch):
    monkeypatch.setattr(log_survey, "MAX_ITEMS", 2)
    assert set(dict(facts_of(n_by_item=(1,), items=2))) == {"rows missing"} and facts_of(items=3) == []
    monkeypatch.setattr(log_survey, "MAX_ITEMS", 1)
    assert facts_with(record_of(), record_of(), columns={"score": "s"}) == {}


def test_at_most_four_models_and_temperatures_are_named():
    rows = [record_of(served_model=f"m-{i}", sampling={"temperature": i}) for i in range(5)]
    found = facts_with(*rows)
    assert found["several models"].endswith("5 models answered under one name: m-0 (1), m-1 (1), m-2 (1), m-3 (1).")
    assert found["several temperatures"].endswith("at 5 temperatures: 0 (1), 1 (1), 2 (1), 3 (1).")


def test_models_temperatures_and_times_that_contradict_each_other_are_said():
    rows = [record_of(served_model="m-1", sampling={"temperature": 0}, is_backward=True)] * 2
    other = record_of(served_model="m-2", sampling={"temperature": 0.5})
    assert set(facts_with(*rows)) == {"times"} and facts_with(other) == {}
    assert facts_with(*rows)["times"] == "a.csv: 2 samples end before they started."
    assert facts_with(*rows, other) == {
        "several models": "a.csv: 2 models answered under one name: m-1 (2), m-2 (1).",
        "several temperatures": "a.csv: the rows were asked at 2 temperatures: 0 (2), 0.5 (1).",
        "times": "a.csv: 2 samples end before they started.",
    }
    assert facts_with(rows[0])["times"] == "a.csv: 1 sample ends before it started."


def counts_of(*scores):
    counts = ScoreCounts()
    for number, score in enumerate(scores):
        counts.add(score, f"row {number}")
    return counts


def test_scores_are_counted_by_the_scales_they_may_be_on():
    assert counts_of(0, 1, 1.5, 7).outside == (1.5, "row 2") and counts_of(0, 1, 1.5).n_unit == 2
    counts = counts_of(None, 0, 1, 0.5, 10, 10.5, 11, -1)
    assert (counts.n, counts.n_none, counts.n_unit, counts.n_between, counts.n_above_ten, counts.n_whole) == (7, 1, 3, 1, 2, 5)
    assert counts.outside == (10, "row 4")


def doubts(scores, low, high, is_declared=False):
    return dict(counts_of(*scores).sentences("acc", low, high, is_declared=is_declared))


@pytest.mark.parametrize(
    ("scores", "ends", "said"),
    [
        ([0, 1, 0.5], (0, 1), {}),
        ([0, 1, None], (0, 1), {"no score": "acc: 1 of 3 row holds no score and count in no mean."}),
        ([0, None, None], (0, 1), {"no score": "acc: 2 of 3 rows hold no score and count in no mean."}),
        ([None, None], (0, 1), {}),
        (
            [1] * 9 + [7],
            (0, 7),
            {
                "outside the scale": "acc: 9 of 10 scores lie from 0 to 1, and 7 does not (row 9); the scale is taken to run from "
                "0 to 7. Correct it, or name another column: --map score=COLUMN."
            },
        ),
        ([1] * 8 + [7, 7], (0, 7), {}),
        (
            [40, 85],
            (40, 85),
            {
                "percentages": "acc holds whole numbers from 40 to 85, read as grades on that scale. If they are percentages, "
                "write 85% as 85% or 0.85."
            },
        ),
        ([40, 85.5], (40, 85.5), {}),
        ([-1, 85], (-1, 85), {}),
        ([0, 100], (0, 100), {"percentages"}),
        ([0, 101], (0, 101), {}),
        ([5, 10], (5, 10), {}),
    ],
)
def test_scores_that_may_be_on_another_scale_are_said(scores, ends, said):
    found = doubts(scores, *ends)
    assert (set(found) if isinstance(said, set) else found) == said
    assert set(doubts(scores, *ends, is_declared=True)) == {"no score"} & set(found)


@pytest.mark.parametrize(("n_shares", "n_percent", "is_refused"), [(9, 1, True), (10, 1, False), (1, 9, True), (1, 10, False)])
def test_shares_beside_percentages_are_refused_from_a_tenth_on_where_no_scale_is_declared(n_shares, n_percent, is_refused):
    scores = [0.5] * n_shares + [85] * n_percent
    doubts(scores, 0, 85, is_declared=True)
    if is_refused:
        with pytest.raises(BadInput, match=f"holds {n_shares} scores between 0 and 1 and {n_percent} up to 85: two scales"):
            doubts(scores, 0, 85)
    else:
        doubts(scores, 0, 85)


DOCUMENT = Document(3, "t", shares_hash=False)


@pytest.mark.parametrize(
    ("variant", "axis", "is_first_prompt"),
    [
        (BASE, "style", True),
        ("", OWN_PROMPT, True),
        ("", "style", False),
        ("short", OWN_PROMPT, False),
        (BASE, OWN_PROMPT, True),
    ],
)
def test_only_answers_to_the_first_prompt_are_scored(variant, axis, is_first_prompt):
    read = ReadScores({})
    read.add(record_of(variant=variant, readouts=(LogReadout("acc", score=1.0),)), "m", DOCUMENT, axis)
    assert [row.scorer for row in read.rows] == ["acc"] * is_first_prompt
    assert read.items_with_versions == (set() if is_first_prompt else {("t", 3)})


@pytest.mark.parametrize(
    ("readout", "is_whole", "scorer"),
    [
        (LogReadout("acc", score=0.0), True, "acc"),
        (LogReadout("acc", is_correct=False), True, "acc"),
        (LogReadout("acc", answer="A"), False, ""),  # our own extractors have to judge it
        (LogReadout("acc", place=0), False, ""),
        (LogReadout("acc", unreadable=True), False, ""),
        (LogReadout("acc"), True, ""),
        (LogReadout("acc", answer="A", score=1.0), True, "acc"),
    ],
)
def test_scores_are_whole_where_each_answer_was_judged(readout, is_whole, scorer):
    read = ReadScores({"role": "control"})
    read.add_readouts("m", read.place_of(record_of(), DOCUMENT), (readout,))
    assert read.is_whole == is_whole and [(row.scorer, row.role) for row in read.rows] == [(scorer, "control")]


def test_scores_of_too_many_rows_are_not_kept(monkeypatch):
    monkeypatch.setattr(log_survey, "MAX_ITEMS", 2)
    read = ReadScores({"role:t": "holdout", "role": "control"})
    place = read.place_of(record_of(), DOCUMENT)
    assert place.role == "holdout" and ReadScores({}).place_of(record_of(), DOCUMENT).role == "benchmark"
    read.add_readouts("m", place, (LogReadout("acc", score=1.0),) * 2)
    assert read.is_whole and len(read.rows) == 2
    read.add_readouts("m", place, ())
    assert not read.is_whole and not read.rows


def survey_of(*n_reported, corrections=(), **about):
    """A survey of files that report so many scores."""
    files = []
    for number, n in enumerate(n_reported):
        facts = SimpleNamespace(**{"reported": ["score"] * n, "columns": {}} | about)
        files.append(SimpleNamespace(about=facts, revision=f"r{number}", reader=SimpleNamespace(name=TABLE)))
    return Survey(files, [], [], dict(corrections))


@pytest.mark.parametrize(("n_reported", "revisions"), [((), []), ((2,), []), ((1, 2), ["r0", "r1", "r1"]), ((0, 1, 0), ["r1"])])
def test_reported_scores_name_their_file_where_there_are_several(n_reported, revisions):
    assert survey_of(*n_reported).files_of_reported == revisions


@pytest.mark.parametrize(
    ("names", "words"),
    [(["a"], "a"), (["a", "b"], "a, b"), (["a", "b", "c"], "a, b and 1 more"), (list("abcd"), "a, b and 2 more")],
)
def test_two_names_stand_for_many(names, words):
    assert _first_two(names) == words


@pytest.mark.parametrize(
    ("readout", "is_of_rows", "ends"),
    [
        (LogReadout("acc", score=2.5), True, (2.5, 2.5)),
        (LogReadout("acc", is_correct=True), True, (1.0, 1.0)),
        (LogReadout("acc", is_correct=False), True, (0.0, 0.0)),
        (LogReadout("acc", is_correct=True, score=0.5), True, (0.5, 0.5)),
        (LogReadout("acc", answer="A"), True, None),
        (LogReadout("acc", place=0), True, None),
        (LogReadout("acc", unreadable=True), True, None),
        (LogReadout("acc"), False, None),
    ],
)
def test_a_readouts_score_is_its_own_or_its_verdicts(readout, is_of_rows, ends):
    survey = survey_of(0, columns={"score": "s"})
    _count_readouts(survey, "t", (readout,), "row 1")
    assert survey.readouts == {"acc": 1} and survey.readouts_in_rows == ({("t", "acc")} if is_of_rows else set())
    assert survey.scales.get("t", {}).get("acc") == ends
    assert survey.score_counts["t", "acc"].n == (ends is not None)


def test_a_scale_reaches_from_the_lowest_to_the_highest_score():
    survey = survey_of(0)
    _count_readouts(survey, "t", [LogReadout("acc", score=score) for score in (3.0, 1.0, 5.0)], "row 1")
    assert survey.scale("t", "acc") == (1.0, 5.0) and survey.scale("t", "other") == (0.0, 1.0)
    assert survey.readouts == {"acc": 3} and not survey.score_counts  # no table with a column for the score


@pytest.mark.parametrize(("declared", "ends"), [("1..5", (1.0, 5.0)), ("0..9", (0.0, 9.0)), ("2..5", None), ("1..4", None)])
def test_a_declared_scale_holds_all_scores(declared, ends):
    survey = survey_of(0, corrections={"scale:acc": declared, "scale": "0..1"})
    _count_readouts(survey, "t", [LogReadout("acc", score=1.0), LogReadout("acc", score=5.0)], "row 1")
    assert survey.declared_scale("acc") == declared and survey.declared_scale("other") == "0..1"
    if ends:
        assert survey.scale("t", "acc") == ends
    else:
        with pytest.raises(BadInput, match=rf"holds scores from 1 to 5, beyond the scale {declared}"):
            survey.scale("t", "acc")


@pytest.mark.parametrize(
    ("sample_from", "sample", "n_samples"), [(None, None, 1), (None, 0, 1), (None, 4, 5), (3, None, 4), (3, 4, 8)]
)
def test_a_study_has_as_many_samples_as_its_last_row_says(sample_from, sample, n_samples):
    survey = survey_of(0)
    file = SimpleNamespace(model_of=lambda corrections, name: name)
    log_survey._count_record(record_of(sample=sample, sample_from=sample_from, model="m"), survey, {}, file)
    assert survey.n_samples == n_samples and survey.n_records == 1 and survey.n_rows == Counter(m=1)


def plain_row(item="i", model="m"):
    return PlainRow(1, model, ("t", item), {})


def table_with(content=1, **fields):
    fields = {"axis": OWN_PROMPT, "variant": BASE} | fields
    return SimpleNamespace(content=lambda row: content, record=lambda row: record_of(row.item[1], **fields))


def test_the_items_of_a_plain_table_are_numbered_as_they_appear():
    items = _PlainItems()
    numbers = [items.number(table_with(), plain_row(item, model), model)[0] for model in "ab" for item in "ij"]
    assert numbers == [0, 1, 0, 1] and list(items.group_indices) == [0, 0] and len(items.groups) == 1
    with pytest.raises(NotPlain):
        items.number(table_with(), plain_row("j", "a"), "a")  # asked twice
    with pytest.raises(NotPlain):
        items.number(table_with(content=2), plain_row("i", "c"), "c")  # another question
    items.require_own_prompts()


@pytest.mark.parametrize(
    ("fields", "is_plain"),
    [({}, True), ({"axis": ""}, False), ({"variant": "short"}, False), ({"axis": "", "variant": "short"}, False)],
)
def test_a_plain_tables_rows_name_their_axis_and_answer_its_base(fields, is_plain):
    items = _PlainItems()
    if is_plain:
        assert items.number(table_with(**fields), plain_row(), "m")[0] == 0
    else:
        with pytest.raises(NotPlain):
            items.number(table_with(**fields), plain_row(), "m")


def read_rows(*readouts, survey=None, records=(), **change):
    """The rows of the scores that scorers gave one item each, of the models m-0, m-1, ... in turn."""
    read = ReadScores({})
    for number, readout in enumerate(readouts):
        record = records[number] if records else record_of(f"i{number}", family="f", category="c")
        document = Document(number, "t", shares_hash=False)
        read.note_question(record, document)
        read.add_readouts(
            f"m-{number if change.get('has_models') else 0}", read.place_of(record, document), (readout,) * bool(readout)
        )
    read.items_with_versions.add(("t", 0))
    return read.scores(survey or survey_of(0), str.upper)


def test_scores_of_a_file_are_those_that_the_store_will_return():
    first, second = read_rows(LogReadout("acc", score=0.5), LogReadout("acc", is_correct=True))
    assert first == {
        "model": "m-0",
        "task": "t",
        "item_id": "t/0",
        "role": "benchmark",
        "extractor": "ACC",
        "score": 0.5,
        "family": "t/0",
        "has_versions": True,
    }
    assert (second["score"], second["family"], second["has_versions"]) == (1.0, "t/1", False)


@pytest.mark.parametrize(
    ("cluster", "families"), [("family", ["t/f", "t/f"]), ("subject", ["t/c", "t/c"]), ("none", ["t/0", "t/1"])]
)
def test_items_of_a_file_are_clustered_as_the_survey_says(cluster, families):
    survey = survey_of(0)
    survey.clusters["t"] = cluster
    rows = read_rows(*[LogReadout("acc", score=1.0)] * 2, survey=survey)
    assert [row["family"] for row in rows] == families


@pytest.mark.parametrize(("has_models", "scores"), [(False, [(None, ""), (1.0, "ACC")]), (True, [(1.0, "ACC")])])
def test_an_item_without_a_score_counts_where_one_model_was_asked(has_models, scores):
    rows = read_rows(None, LogReadout("acc", score=1.0), has_models=has_models)
    assert [(row["score"], row["extractor"]) for row in rows] == scores


@pytest.mark.parametrize(
    ("ends", "score"), [((0.0, 1.0), 1.0), ((0.0, 1.5), 0.5), ((-0.5, 1.0), 0.5), ((0.5, 1.0), 1.0), ((1.0, 5.0), 0.5)]
)
def test_a_verdict_counts_unless_the_score_is_a_grade(ends, score):
    survey = survey_of(0)
    survey.scales["t"] = {"acc": ends}
    (row,) = read_rows(LogReadout("acc", score=0.5, is_correct=True), survey=survey)
    assert row["score"] == score


def test_one_question_under_two_ids_is_one_cluster():
    def families(**fields):
        records = [LogRecord("a:1", "t", item, **{"question": "What is a mole?", "prompt": "P"} | fields) for item in "ij"]
        return len({row["family"] for row in read_rows(*[LogReadout("acc", score=1.0)] * 2, records=records)})

    assert families() == 1 and families(question=" ", prompt="What is a mole?") == 1


@pytest.mark.parametrize(
    ("n_files", "dataset", "corrections", "name"),
    [
        (1, "woods", {}, "woods, recorded"),
        (2, "woods", {}, "t by m, recorded"),
        (1, "", {}, "t by m, recorded"),
        (1, "woods", {"name": "mine"}, "mine"),
    ],
)
def test_a_study_is_named_by_its_table_or_its_tasks_and_models(n_files, dataset, corrections, name):
    survey = survey_of(*[0] * n_files, columns={"dataset": dataset}, corrections=corrections)
    survey.kinds["t"], survey.models["m"] = "choice", {}
    assert survey.name == name


@pytest.mark.parametrize(("settings", "model"), [("", "m"), ("temperature 0.5", "m, temperature 0.5")])
def test_runs_under_other_settings_are_models_of_their_own(settings, model):
    file = LogFile(None, None, LogAbout("inspect"), "r", settings)
    assert file.model_of({}, "m") == model and file.model_of({f"model:{model}": "new"}, "m") == "new"


def counted(*records, **corrections):
    survey = survey_of(0, corrections=corrections)
    votes = {}
    file = SimpleNamespace(model_of=lambda corrections, name: corrections.get("model", name))
    for record in records:
        log_survey._count_record(record, survey, votes, file)
    return survey, votes


def test_each_record_is_counted():
    mark = SimpleNamespace(study_id="s")
    first = record_of(model="m", text="A", sampling={"temperature": 0.5}, mark=mark, repeat="again")
    survey, votes = counted(first, record_of(model="m", mark=mark), record_of(model="m-2"), model="new")
    assert (survey.n_records, survey.n_repeated, survey.n_rows) == (3, 1, Counter({"m": 2, "m-2": 1}))
    assert survey.models == {"new": {"temperature": 0.5}} and votes == {"t": Counter(text=3)}
    assert survey.marks == {"s": 2} and (survey.has_text, survey.has_scores) == (True, False)
    others, _ = counted(record_of(option_scores=(0.5, 0.5)))
    assert (others.has_text, others.has_scores) == (False, True)
    assert len(counted(*[record_of()] * 9)[0].first) == 8


def test_refused_rows_are_counted_and_the_first_ones_kept():
    survey, votes = counted(*[Rejection(f"a:{i}: no text") for i in range(202)])
    assert (survey.n_refused, len(survey.refusals), survey.refusals[0], votes) == (202, 200, "a:0: no text", {})


@pytest.mark.parametrize(
    ("survey", "said"),
    [
        ({}, {}),
        ({"n_refused": 1, "refusals": ["a:1: no text"]}, {"rows refused": "1 row was refused. The first: a:1: no text"}),
        (
            {"n_refused": 1_000, "refusals": ["a:1: no text"]},
            {"rows refused": "1,000 rows were refused. The first: a:1: no text"},
        ),
        ({"unread": ["b is empty."]}, {"files left out": "b is empty."}),
        ({"unread": ["b is empty.", "c is empty."]}, {"files left out": "2 files were left out. The first: b is empty."}),
    ],
)
def test_what_is_doubtful_of_a_table_is_said(survey, said):
    table = replace(survey_of(0, doubts=[]), **survey)
    assert dict(log_survey._doubts(table)) == said
    table.files[0].reader.name = "inspect"  # a log says so elsewhere
    assert dict(log_survey._doubts(table)) == {}


@pytest.mark.parametrize(
    ("n_rows", "said"),
    [
        ({"m": 9, "m-2": 7, "m-3": 9}, {"no score": "Cells without an answer, which count in no score, of 9: m-2 2."}),
        ({"m": 9, "m-2": 9}, {}),
    ],
)
def test_empty_cells_of_model_columns_are_said(n_rows, said):
    table = survey_of(0, doubts=[], columns={"model_columns": ["m", "m-2"]})
    table.n_rows.update(n_rows)
    assert dict(log_survey._doubts(table)) == said


def settings_of(*runs):
    """The settings that tell runs apart; a run is a task, a model and its words."""
    files = []
    for run in runs:
        about = LogAbout("inspect", run=SimpleNamespace(task=run[0], model=run[1], words=run[2]) if run else None)
        files.append(LogFile(None, None, about, "r"))
    return [file.settings for file in log_survey._with_settings(files)]


@pytest.mark.parametrize(
    ("runs", "settings"),
    [
        ([("t", "m", "cold"), ("t", "m", "warm")], ["cold", "warm"]),
        ([("t", "m", "cold"), ("t", "m", "cold")], ["", ""]),
        ([("t", "m", "cold"), ("u", "m", "warm")], ["", ""]),
        ([("t", "m", "cold"), ("t", "m-2", "warm")], ["", ""]),
        (
            [("t", "m", "cold"), ("t", "m", "warm"), ("u", "m", "hot"), ("t", "m-2", "cold"), None],
            ["cold", "warm", "hot", "", ""],
        ),
    ],
)
def test_runs_of_one_task_and_model_under_several_settings_are_told_apart(runs, settings):
    assert settings_of(*runs) == settings


def test_a_preview_shows_the_begin_of_a_question_and_the_ends_of_texts():
    """The answer stands at the end of what a model wrote."""
    record = record_of(text="b" * 161 + "c", targets=("d" * 81 + "e",), readouts=(LogReadout("acc", answer="A", score=0.5),))
    record.question = "f" + "g" * 160
    record.item, record.model = "h" * 161, "m-1"
    shown = preview_row(record)
    assert (shown["item"], shown["question"], shown["model"]) == ("h" * 160, "f" + "g" * 159, "m-1")
    assert (shown["written"], shown["right"], shown["acc"]) == ("b" * 159 + "c", "d" * 79 + "e", "A")
    unanswered = record_of(readouts=(LogReadout("acc", score=0.0),))
    shown = preview_row(unanswered)
    assert (shown["item"], shown["question"], shown["written"], shown["right"], shown["acc"]) == (
        "i",
        "What is i?",
        "",
        "",
        0.0,
    )


@pytest.mark.parametrize(
    ("targets", "is_place", "right"),
    [
        (("1",), True, "tin"),
        (("0", "1"), True, "oak or tin"),
        (("2",), True, "2"),  # none of the two options
        (("0", "tin"), True, "0 or tin"),
        (("1",), False, "1"),
    ],
)
def test_a_right_option_is_shown_by_its_text(targets, is_place, right):
    assert preview_row(record_of(options=("oak", "tin"), targets=targets, target_is_place=is_place))["right"] == right
    assert preview_row(record_of(targets=targets, target_is_place=is_place))["right"] == " or ".join(targets)


@pytest.mark.parametrize(
    ("files", "unread"),
    [
        (["notes.dat"], ["notes.dat"]),
        (["README.md"], ["README.md"]),  # alone it was meant
        (["samples_x.jsonl", "notes.dat", "README.md", "docs/LICENSE"], ["notes.dat"]),
    ],
)
def test_files_that_are_no_logs_are_named_unless_they_belong_beside_logs(tmp_path, files, unread):
    paths = [tmp_path / name for name in files]
    for path in paths:
        path.parent.mkdir(exist_ok=True)
        if path.name == "samples_x.jsonl":
            harness_files.lines(path, [harness_files.lm_eval_row(1, "2", "2", True)])
        else:
            path.write_text("Some words.", encoding="utf-8")
    assert log_survey.recognize_files(paths)[2] == [f"{name} is no log that is known here; it is left out." for name in unread]


@pytest.mark.parametrize("n_files", [1, 5, 7])
def test_of_files_that_are_no_logs_the_first_five_are_named(tmp_path, n_files):
    paths = [tmp_path / f"{number}.dat" for number in range(n_files)]
    for path in paths:
        path.write_text("Some words.", encoding="utf-8")
    with pytest.raises(BadInput) as refused:
        survey(paths)
    said = str(refused.value)
    assert [path.name for path in paths if path.name in said] == [path.name for path in paths[:5]]
    assert said.endswith("Items and texts for a model belong under New study.")


def test_what_to_give_is_said_only_where_all_files_are_of_unknown_kinds(tmp_path, monkeypatch):
    with pytest.raises(BadInput, match="^There is no file; give a log, a folder of logs or a zip.$"):
        survey([])

    def reader(source, corrections):
        if source.name == "a.dat":
            raise BadInput("a.dat is damaged.")

    monkeypatch.setattr(log_survey, "_reader", reader)
    paths = [tmp_path / "a.dat", tmp_path / "b.dat"]
    for path in paths:
        path.write_text("Some words.", encoding="utf-8")
    with pytest.raises(BadInput) as refused:
        survey(paths)
    assert str(refused.value) == "a.dat is damaged. b.dat is no log that is known here; it is left out."


@pytest.mark.parametrize(("n_files", "prefix"), [(1, ""), (2, "a.dat: ")])
@pytest.mark.parametrize("is_named", [True, False])
def test_a_file_that_cannot_be_read_is_named_once_where_there_are_several(tmp_path, monkeypatch, n_files, prefix, is_named):
    reason = "a.dat is damaged." if is_named else "It is damaged."

    def reader(source, corrections):
        if source.name == "a.dat":
            raise BadInput(reason)

    monkeypatch.setattr(log_survey, "_reader", reader)
    paths = [tmp_path / "a.dat", tmp_path / "README.md"][:n_files]
    for path in paths:
        path.write_text("Some words.", encoding="utf-8")
    assert log_survey.recognize_files(paths)[2] == [reason if is_named else prefix + reason]


@pytest.mark.parametrize("name", ["lm-eval", "inspect", "openai_evals"])
def test_a_format_that_is_named_needs_no_recognition(name):
    assert log_survey._reader(None, {"format": name}).name == name


@pytest.mark.parametrize("is_table", [False, True])
def test_the_first_eight_rows_are_shown(tmp_path, is_table):
    path = tmp_path / "table.csv"
    path.write_text("id,output,target\n" + "".join(f"q{i},It is {i}.,{i}\n" for i in range(9)), encoding="utf-8")
    found = survey([path if is_table else harness_files.lm_eval(tmp_path / "run", n=9).parent])
    assert found.is_plain == is_table and found.n_records > 8 and len(found.first) == 8


@pytest.mark.parametrize("is_table", [False, True])
def test_progress_is_told_in_steps_and_only_to_whoever_asks(tmp_path, monkeypatch, is_table):
    monkeypatch.setattr(log_survey, "_REPORT_EVERY", 2)
    path = tmp_path / "table.csv"
    path.write_text("id,output,target\n" + "".join(f"q{i},It is {i}.,{i}\n" for i in range(5)), encoding="utf-8")
    paths = [path if is_table else harness_files.lm_eval(tmp_path / "run", n=5).parent]
    told = []
    found = log_survey.survey(paths, on_progress=told.append)
    assert found.is_plain == is_table and told == list(range(2, found.n_records + 1, 2)) and len(told) > 1
    assert log_survey.survey(paths).n_records == found.n_records


@pytest.mark.parametrize("can_read", [True, False])
def test_formulas_are_read_as_mathematics_and_without_their_reader_it_is_said(tmp_path, monkeypatch, can_read):
    folders.admit(tmp_path)
    rows = [
        {"problem": f"Solve {n}x = 1.", "answer": rf"\frac{{1}}{{{n}}}", "prediction": rf"\frac{{1}}{{{n}}}"}
        for n in range(2, 30)
    ]
    names = ["Ann", "Bob", "Cleo", "Dan"]
    words = [{"question": f"Who is {n}?", "answer": names[n % 4], "prediction": names[n % 3]} for n in range(28)]
    for name, lines in (("formulas", rows), ("words", words)):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    monkeypatch.setattr(type(EXTRACTORS[WRITTEN_MATH]), "why_not", lambda self: "" if can_read else "math-verify is missing.")
    found = survey([tmp_path / "formulas.jsonl"])
    assert found.mathematics == (["formulas"] if can_read else [])
    reason = "math-verify is missing. Without it the formulas of formulas are compared as words."
    assert (reason in found.joining) is not can_read and (("formulas", reason) in found.facts) is not can_read
    assert survey([tmp_path / "words.jsonl"]).mathematics == []


def test_a_preview_has_as_many_rows_as_are_wanted_or_are_there(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("id,output,target\n" + "".join(f"q{i},It is {i}.,{i}\n" for i in range(5)), encoding="utf-8")
    lengths = {n: len(log_survey.first_rows([path], {}, n)) for n in (0, 1, 4, 5, 6)}
    assert lengths == {0: 0, 1: 1, 4: 4, 5: 5, 6: 5}
    both = [path, harness_files.lm_eval(tmp_path / "run", n=3).parent]
    assert len(log_survey.first_rows(both, {}, 100)) > 5 >= len(log_survey.first_rows(both, {}, 5))


@pytest.mark.parametrize(
    ("n_families", "has_families"), [(0, False), (1, False), (9, False), (10, True), (23, True), (24, False)]
)
def test_families_are_clusters_where_they_are_enough_and_are_shared(n_families, has_families):
    """Of 24 items; a family is counted once per task."""
    items = log_survey._Items("", SimpleNamespace(add=lambda document: None))
    for number in range(24):
        family = f"f{number % n_families}" if n_families else ""
        items.note(record_of(f"i{number}", family=family), Document(number, "t", shares_hash=False, is_new=True))
        items.note(record_of(f"i{number}", family=family), Document(number, "t", shares_hash=False, is_new=False))
    assert items.n_items == {"t": 24} and items.n_families["t"] == n_families
    assert items.has_families("t") == has_families and not items.has_families("other")


def test_the_first_prompt_of_a_model_and_item_is_its_own_and_another_is_a_version():
    items = log_survey._Items("", SimpleNamespace(add=lambda document: None))
    first, other = record_of("i"), replace(record_of("i"), prompt="Another?")
    asked = ((first, "m"), (first, "m"), (other, "m"), (other, "n"), (first, "m"))
    found = [items.axis_and_document(record, model, 0, "inspect") for record, model in asked]
    assert [axis == OWN_PROMPT for axis, _ in found] == [True, True, False, True, True]
    assert {document.number for _, document in found} == {0}
    named = items.axis_and_document(replace(first, axis="tone"), "m", 0, "inspect")
    assert named[0] == "tone"
    second = items.axis_and_document(record_of("j"), "m", 0, "inspect")
    assert (second[0], second[1].number, items.n_items["t"]) == (OWN_PROMPT, 1, 2)


@pytest.mark.parametrize(
    ("fields", "is_plain"),
    [
        ({}, True),  # the questions differ
        ({"prompt": "Which?"}, False),
        ({"prompt": "", "question": "Which?"}, False),
        ({"prompt": ""}, True),
    ],
)
def test_items_of_a_plain_table_have_prompts_of_their_own(fields, is_plain):
    items = _PlainItems()
    for item in "ij":
        record = replace(record_of(item, axis=OWN_PROMPT, variant=BASE), **fields)
        table = SimpleNamespace(content=lambda row: 1, record=lambda row, record=record: record)
        items.number(table, plain_row(item), "m")
    if is_plain:
        items.require_own_prompts()
    else:
        with pytest.raises(NotPlain):
            items.require_own_prompts()


@pytest.mark.parametrize(("column", "cell", "has_text"), [("output", "It is {}.", True), ("score", "1", False)])
def test_a_table_of_scores_alone_has_no_texts(tmp_path, column, cell, has_text):
    path = tmp_path / "table.csv"
    path.write_text(f"id,question,{column},target\n" + "".join(f"q{i},What is {i}?,{cell.format(i)},{i}\n" for i in range(20)))
    found = survey([path])
    assert found.is_plain and found.has_text == has_text


@pytest.mark.parametrize(
    ("n_choice", "n_number", "n_text", "kind"),
    [(1, 0, 0, "choice"), (3, 2, 0, "choice"), (2, 2, 0, "number"), (2, 0, 2, "text"), (3, 0, 2, "choice"), (0, 2, 1, "text")],
)
def test_a_task_is_of_the_kind_of_most_of_its_rows(tmp_path, monkeypatch, n_choice, n_number, n_text, kind):
    votes = Counter(choice=n_choice, number=n_number, text=n_text)

    def count_file(log_survey, number, counts, scores, on_progress):
        log_survey.n_records = 1
        counts.votes["x"] = votes

    monkeypatch.setattr(log_survey, "_count_file", count_file)
    path = harness_files.lines(tmp_path / "samples_x.jsonl", [harness_files.lm_eval_row(1, "2", "2", True)])
    assert survey([path], {"model": "m"}).kinds == {"x": kind}
    assert survey([path], {"model": "m", "kind": "list"}).kinds == {"x": "list"}
    assert survey([path], {"model": "m", "kind": "list", "kind:x": "choice"}).kinds == {"x": "choice"}


@pytest.mark.parametrize(
    ("column", "scores", "refusal"),
    [
        ("score", (0.5, 80), "^The column score holds 10 scores between 0 and 1 and 10 up to 80: two scales."),
        ("error_rate", (0.1, 0.2), "^error_rate is called like something of which less is better"),
    ],
)
def test_a_question_that_moves_the_score_is_asked_or_refused(tmp_path, column, scores, refusal):
    """Of a table with two scales it is said that they are two, which no reading can mend."""
    rows = "".join(f"q{i},What is {i}?,m,{scores[i % 2]}\n" for i in range(20))
    (tmp_path / "table.csv").write_text(f"id,question,model,{column}\n{rows}", encoding="utf-8")
    with pytest.raises(BadInput, match=refusal):
        survey([tmp_path / "table.csv"])
    asked = []

    def ask(log_survey):
        asked.extend(question.about for question in log_survey.questions)

    if column == "error_rate":
        assert survey([tmp_path / "table.csv"], on_read=ask).n_records == 20 and asked == ["direction"]


@pytest.mark.parametrize(("correction", "is_plain"), [({}, True), ({"kind": "number"}, True), ({"join": "text"}, False)])
def test_a_table_whose_records_are_corrected_is_counted_record_by_record(tmp_path, correction, is_plain):
    path = tmp_path / "table.csv"
    path.write_text(
        "id,question,output,target\n" + "".join(f"q{i},What is {i}?,It is {i}.,{i}\n" for i in range(5)), encoding="utf-8"
    )
    read = survey([path], correction)
    assert read.is_plain is is_plain and read.n_records == 5


def test_forms_of_right_answers_are_counted_once_per_row(tmp_path, monkeypatch):
    """Two models of three items: a table's rows are counted without their records."""
    counted_forms = []
    monkeypatch.setattr(log_survey, "are_mathematics", lambda forms: counted_forms.append(sum(forms.values())) or False)
    rows = "".join(f"q{i},What is {i}?,m{k},It is so.,word{i}\n" for i in range(3) for k in range(2))
    (tmp_path / "table.csv").write_text(f"id,question,model,output,target\n{rows}", encoding="utf-8")
    read = survey([tmp_path / "table.csv"], {"kind": "text"})
    assert read.is_plain and read.n_records == 6 and counted_forms == [6]


def test_where_no_row_can_be_used_three_of_the_files_that_were_left_out_are_named(tmp_path, monkeypatch):
    """A folder may hold hundreds of them."""
    folder = harness_files.lm_eval(tmp_path / "run", n=1).parent
    for number in range(4):
        (folder / f"no-{number}.jsonl").write_text("")
    monkeypatch.setattr(log_survey, "_count_file", lambda *_: None)
    with pytest.raises(BadInput) as error:
        log_survey.survey([folder])
    assert str(error.value).count(" is empty.") == 3


def test_how_tables_are_read_is_said_of_three_of_them(tmp_path):
    for number in range(1, 5):
        rows = "".join(f"{i},What {number} {i}?,x,1\n" for i in range(number))
        (tmp_path / f"table-{number}.csv").write_text(f"id,prompt,output,score\n{rows}")
    tables = log_survey.survey([tmp_path])
    assert len(tables.read_as) == 4
    sentences = tables.sentences()
    assert sentences[:3] == tables.read_as[:3] and sentences[3].startswith("Recognised: 4 ")
