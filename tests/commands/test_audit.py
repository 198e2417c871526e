"""`audit FILE…`: the answer first, in ten lines, from memory alone."""

import json
import re
import zipfile

import pytest

from flipcore import __main__ as command
from flipcore.claims.audit_checks import Coverage
from flipcore.claims.audit_input import Finding
from flipcore.claims.claim import description
from flipcore.commands import audit
from flipcore.core import folders
from flipcore.core.errors import BadInput, StoreHeld
from flipcore.reports.audit import Audit
from flipcore.reports.log_scores import scores_of, task_scores
from flipcore.runs.log_import import scores_read, store_logs, study_of
from flipcore.runs.log_survey import ReadScores, survey
from flipcore.store.connection import Store
from flipcore.store.queries import studies
from tests import headlines
from tests.datasets.recorded import harness_files as made

pytestmark = pytest.mark.usefixtures("allowed_folders")


def sample(i, said, value):
    """The keys go round; what is said is one of them."""
    return made.inspect_sample(i, text=f"ANSWER: {said}", value=value, target="ABC"[i % 3])


@pytest.fixture
def log(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FLIPSCOPE_DB", str(tmp_path / "kept" / "flips.duckdb"))
    samples = [sample(i, "ABC"[i % 3 - (i % 5 == 0)], "I" if i % 5 == 0 else "C") for i in range(1, 31)]
    return made.inspect_eval(tmp_path / "woods.eval", samples, made.inspect_header(0.8, 30))


@pytest.mark.slow
def test_a_log_that_holds_is_said_to_and_nothing_is_written(log, tmp_path, capsys):
    assert command.main(["audit", str(log)]) == 0
    said, told = capsys.readouterr()
    lines = said.strip().splitlines()
    # the score was printed twice, the first time with "Whether it holds follows."
    assert said.count("openai/m-1: ") == 1 and "80%" not in told
    assert ": 80% right" in lines[0] and "By choice" in lines[0] and len(lines) <= 10
    assert "checks could be made; none failed." in lines[1]
    assert "MB of memory. Nothing was stored" in told
    assert [one.name for one in tmp_path.rglob("*")] == ["woods.eval"]


@pytest.mark.slow
def test_what_does_not_hold_stands_before_what_to_do(log, tmp_path, capsys):
    samples = [made.inspect_sample(i, value="C" if i % 3 else "I") for i in range(1, 31)]
    made.inspect_eval(log, samples, made.inspect_header(0.9, 30))
    assert command.main(["audit", str(log), "--json"]) == 0
    answer = json.loads(capsys.readouterr()[0])
    assert not answer["holds"] and "reported 0.900, recomputed 0.667" in answer["findings"][0]["sentence"]
    assert answer["advice"][0].startswith("Do not quote the reported score")
    assert command.main(["audit", str(log)]) == 0
    lines = capsys.readouterr()[0].splitlines()
    assert "do not hold" in lines[1] and lines[-2].startswith("What to do: ") and len(lines) <= 10


def test_the_score_of_a_large_file_is_told_before_anything_is_stored(log, monkeypatch, capsys):
    def store_nothing(*_, **__):
        raise BadInput(f"Said by now: {capsys.readouterr()[1]}")

    monkeypatch.setattr(audit, "LARGE_BYTES", 0)

    monkeypatch.setattr(audit, "store_logs", store_nothing)
    assert command.main(["audit", str(log)]) == 1
    assert "Said by now: First count, before the checks: openai/m-1: right on 80%" in capsys.readouterr()[1]
    assert command.main(["audit", str(log), "--json"]) == 1
    assert "Said by now: \n" in capsys.readouterr()[1]


def first_and_stored(path):
    """The scores of a log as they are said first, and those of its stored rows, in words."""
    folders.admit(path.parent)
    read = ReadScores({})
    looked_at = survey([path], scores=read)
    rows, store = scores_read(looked_at, read), Store.open(":memory:")
    try:
        study_id = store_logs(looked_at, store, is_checked=False)
        stored = task_scores(store, study_id, studies.declared(store, study_id))
    finally:
        store.close()
    first = scores_of(rows, study_of(looked_at))
    return [{(one.model, one.task, one.role, one.words()) for one in several} for several in (first, stored)]


LOGS = {
    "filters": lambda folder: made.lm_eval(folder / "run").parent,
    "likelihoods": lambda folder: made.lm_eval_scored(folder / "samples_woods_2025-01-01T00-00-00.jsonl"),
    "epochs and grades": lambda folder: made.inspect_eval(
        folder / "graded.eval",
        [
            made.inspect_sample(i, epoch, scores={"judge": {"value": 1 + (i + epoch) % 5}, "choice": {"value": "CIP"[i % 3]}})
            for i in range(1, 31)
            for epoch in (1, 2)
        ],
        made.inspect_header(0.5, 60),
    ),
    "families": lambda folder: made.inspect_eval(
        folder / "families.eval",
        [made.inspect_sample(i, value="CI"[i % 3 > 1], metadata={"template_id": f"t{i % 12}"}) for i in range(1, 41)],
        made.inspect_header(0.7, 40),
    ),
    "every eval ever": lambda folder: made.eee(folder / "eee"),
    "wordings": lambda folder: of_wordings(folder / "wordings.jsonl"),
}


def of_wordings(path):
    """Half as many are right in the first wording as in the others."""
    rows = [
        {"item_id": i, "prompt_id": wording, "run": run, "score": int(i % 4 < (2 if wording == "plain" else 4))}
        for i in range(40)
        for wording in ("plain", "polite", "short")
        for run in range(2)
    ]
    return made.lines(path, rows)


@pytest.mark.slow
def test_a_score_at_the_own_prompt_is_told_from_the_one_over_all_wordings(log, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(audit, "LARGE_BYTES", 0)
    place = of_wordings(tmp_path / "wordings.jsonl")
    assert command.main(["audit", str(place)]) == 0
    said, told = capsys.readouterr()
    (read_as, of_all, passes, *_), first = said.splitlines(), told.splitlines()[0]
    assert read_as.startswith("Read as 40 questions (item_id) × variants (prompt_id) × 2 runs (run)")
    assert "right on 50%" in first.lower() and "of 40 items at the own prompt, by score (mean of 2 epochs)" in first
    assert ": 83% right" in of_all and "By score; 40 questions × 3 prompts" in of_all and "Other questions alone: " in of_all
    assert "of 2 runs per item at the own prompt: pass^1 50.0%" in passes


@pytest.mark.slow
@pytest.mark.parametrize("name", LOGS)
def test_what_is_said_first_is_the_score_of_the_stored_rows(name, tmp_path):
    first, stored = first_and_stored(LOGS[name](tmp_path))
    assert first == stored and first


@pytest.mark.slow
@pytest.mark.stand_in("test_what_is_said_first_is_the_score_of_the_stored_rows")
def test_what_is_said_first_of_public_logs_is_the_score_of_the_stored_rows(shared_data):
    folders.admit(shared_data)
    paths = [path for name in ("inspect_logs", "logs", "agents", "scores") for path in headlines.logs_under(shared_data / name)]
    both = {path.name: first_and_stored(path) for path in paths if path.suffix != ".txt"}
    assert {name for name, (first, stored) in both.items() if first and first != stored} == set()
    assert sum(bool(first) for first, _ in both.values()) >= 11


def two_scorers(path, n_apart):
    """Thirty samples of which the second scorer calls the first `n_apart` wrong that the first calls right."""
    samples = [sample(i, "ABC"[i % 3], "C") for i in range(1, 31)]
    for i, one in enumerate(samples):
        one["scores"]["strict"] = {"value": "I" if i < n_apart else "C", "answer": one["scores"]["choice"]["answer"]}
    made.inspect_eval(path, samples, made.inspect_header(1.0, 30))


@pytest.mark.slow
@pytest.mark.parametrize(("n_apart", "is_shown"), [(12, True), pytest.param(2, False, marks=pytest.mark.slow)])
def test_two_scorers_make_a_score_less_sure_only_where_they_are_shown_to_differ(log, capsys, n_apart, is_shown):
    two_scorers(log, n_apart)
    assert command.main(["audit", str(log), "--json"]) == 0
    answer = json.loads(capsys.readouterr()[0])
    of_two = [one for one in answer["findings"] if one["about"] == "readouts" and "strict" in one["sentence"]]
    finding = next(one for one in of_two if "choice" in one["sentence"].lower())
    assert (finding["grade"] == "Makes the score less sure") is is_shown
    assert ("undecided whether" in finding["sentence"]) is not is_shown


@pytest.mark.slow
def test_kept_files_are_a_study_that_can_be_asked_again(log, tmp_path, capsys):
    assert command.main(["audit", str(log), "--keep", "--html", str(tmp_path / "out.html")]) == 0
    study_id = capsys.readouterr()[1].partition("Stored as study ")[2].partition(".")[0]
    assert (tmp_path / "out.html").stat().st_size > 10_000
    assert command.main(["audit", study_id]) == 0
    assert ": 80% right" in capsys.readouterr()[0]


def test_a_file_that_is_not_there_and_one_that_is_no_log_get_a_sentence(log, tmp_path, capsys):
    (tmp_path / "notes.txt").write_text("no log")
    assert command.main(["audit", str(tmp_path / "notes.txt")]) == 1
    assert command.main(["audit", str(log), "away.eval"]) == 1
    assert command.main(["audit", "away.eval"]) == 1
    told = capsys.readouterr()[1]
    assert "no log that is known" in told and told.count("'away.eval'") == 2 and "Traceback" not in told


def test_a_name_of_a_file_that_is_not_there_is_said_to_be_one_even_while_a_dashboard_is_open(log, capsys, monkeypatch):
    assert command.main(["audit", "nothere.csv"]) == 1
    assert "There is no file 'nothere.csv' here, and no study of that name" in capsys.readouterr()[1]

    def held():
        raise StoreHeld("It is held by process 7.")

    monkeypatch.setattr(Store, "open", lambda: held())
    for name in ("nothere.csv", "runs/nothere"):
        assert command.main(["audit", name]) == 1
        told = capsys.readouterr()[1]
        assert f"There is no file {name!r} here" in told and "process 7" not in told
    assert command.main(["audit", "Woods"]) == 1
    assert "held by process 7" in capsys.readouterr()[1]


def test_the_findings_that_are_printed_are_numbered_one_after_the_other():
    """By grade they stand in another order than by rank, by which a link names them."""
    abouts = ("repeats", "reported score", "prompts", "unreadable")
    findings = tuple(Finding(about, description(f"Said of {about}."), 9.0 - i) for i, about in enumerate(abouts))
    printed = Audit("a log", findings, (), Coverage(1, ())).text()
    assert re.findall(r"^(\d)\. Said of (.+)\.$", printed, re.MULTILINE) == [
        ("1", "reported score"), ("2", "unreadable"), ("3", "repeats"), ("4", "prompts")
    ]  # fmt: skip


@pytest.mark.slow
def test_every_headline_is_the_logs_own_number(log, tmp_path, capsys):
    """What `python -m tests.headlines` prints of any folder of logs."""
    assert headlines.main([str(tmp_path)]) == 0
    assert "0.800000  0.800000" in capsys.readouterr()[0]
    samples = [made.inspect_sample(i) for i in range(1, 31)]
    made.inspect_eval(log, samples, made.inspect_header(0.5, 30))
    assert headlines.main([str(tmp_path)]) == 1


@pytest.mark.slow
@pytest.mark.stand_in("test_every_headline_is_the_logs_own_number")
def test_every_public_log_has_its_own_number_as_the_headline(shared_data, capsys):
    folders.admit(shared_data)
    assert headlines.main([str(shared_data / name) for name in ("inspect_logs", "logs", "scores")]) == 0
    assert "NOT EQUAL" not in capsys.readouterr()[0]


FRUIT = ("apple", "pear", "plum", "fig", "date", "lime", "kiwi", "peach", "quince", "mango")


def wide_rows(n=30):
    """As MMLU-Pro publishes outputs: the options beside the question, which shows one of them now and then."""
    for i in range(n):
        options = [f"{FRUIT[(i + k) % 10]} of field {i + k}" for k in range(5)]
        said = options[i % 5] if i % 3 else options[(i + 1) % 5]
        yield {
            "question_id": i,
            "question": f"Which grows at place {i}{', beside ' + options[0] if not i else ''}?",
            "options": options,
            "answer": "ABCDE"[i % 5],
            "pred": "?" if i == 7 else "ABCDE"[options.index(said)],
            "generated_text": f"We look it up. The answer is ({'ABCDE'[options.index(said)]}).",
        }


@pytest.mark.slow
def test_a_zipped_table_whose_options_no_prompt_shows_is_read_as_a_choice(log, tmp_path, capsys, monkeypatch):
    place = tmp_path / "outputs.zip"
    with zipfile.ZipFile(place, "w") as packed:
        packed.writestr("outputs.json", json.dumps(list(wide_rows())))
    monkeypatch.setenv(
        "FLIPSCOPE_FOLDERS", str(tmp_path)
    )  # the folder of what is unpacked is no folder that an admin would name
    assert command.main(["audit", str(place), "--all"]) == 0
    said = capsys.readouterr()[0]
    assert ": 67% right" in said and "By written answer; 30 questions" in said
    assert "pred finds no answer in" in said and "(1 of 30)" in said  # each text once
    assert "contradicting right answers" not in said and "outside of the folders" not in said


def test_a_bad_file_of_a_zip_is_called_as_it_is_called_there(log, tmp_path, capsys):
    place = tmp_path / "several.zip"
    with zipfile.ZipFile(place, "w") as packed:
        packed.writestr("run/half.json", json.dumps(list(wide_rows()))[:800])
        packed.writestr("notes.csv", "x,y\n1,2\n")
    assert command.main(["audit", str(place)]) == 1
    told = capsys.readouterr()[1]
    assert "several/run/half.json is not valid JSON" in told and "several/notes.csv: The recording names no column" in told


SHOTS = (
    "Infer the date.\n\nQ: Today is Monday?\nOptions:\n(A) 01/02\n(B) 03/04\n(C) 05/06\nA: {}(B)\n\n"
    "Q: {}?\nOptions:\n(A) {}\n(B) {}\nA:{}"
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("think", "reply", "by"),
    [
        pytest.param("", "({})", "prediction", marks=pytest.mark.slow),
        (" Let's think step by step.", "It is the year before that day. So the answer is ({}).", "written answer"),
    ],
)
def test_few_shot_outputs_in_a_document_are_read_by_their_last_options(think, reply, by, log, tmp_path, capsys):
    """As BIG-Bench-Hard publishes outputs: examples with options of their own, and "A: Let's think step by step" behind the last."""
    outputs = [
        {
            "input": SHOTS.format(think and f"{think} So the answer is ", f"Day {i}", f"{i}/1", f"{i}/2", think),
            "prediction": reply.format("AB"[i % 4 == 0]),
            "target": "(A)",
        }
        for i in range(40)
    ]
    place = tmp_path / "dates.json"
    place.write_text(json.dumps({"canary": "never train on this", "outputs": outputs}))
    assert command.main(["audit", str(place)]) == 0
    said = capsys.readouterr()[0]
    assert ": 75% right" in said and f"By {by}; 40 questions" in said


@pytest.mark.slow
def test_outputs_whose_text_nobody_stored_are_not_wrong_under_what_reads_texts(log, tmp_path):
    """Two tables of one folder: one with sentences, one with bare answers."""
    folder = tmp_path / "both"
    folder.mkdir()
    for name, said in (("long", "It is the year before that day, so it must be ({})"), ("short", "({})")):
        rows = [
            {"input": SHOTS.format("", f"{name} {i}", i, i + 1, ""), "prediction": said.format("A"), "target": "A"}
            for i in range(20)
        ]
        (folder / f"{name}.json").write_text(json.dumps({"outputs": rows}))
    store, looked = Store.open(tmp_path / "both.duckdb"), survey([folder])
    store_logs(looked, store)
    frame = studies.readouts(store, study_of(looked).study_id)
    store.close()
    assert dict(frame.groupby("extractor")["is_correct"].agg(["size", "sum"])["size"]) == {"prediction": 20, "regex": 20}
    assert frame["is_correct"].all()


@pytest.mark.slow
@pytest.mark.stand_in("test_few_shot_outputs_in_a_document_are_read_by_their_last_options")
def test_published_outputs_have_the_score_that_their_authors_published(shared_data, capsys):
    folders.admit(shared_data)
    published = {  # BIG-Bench-Hard, code-davinci-002, table 2 of arXiv:2210.09261
        ("cot", "boolean_expressions"): "0.93", ("cot", "date_understanding"): "0.87", ("direct", "boolean_expressions"): "0.88",
        ("direct", "date_understanding"): "0.64",
    }  # fmt: skip
    for (way, task), score in published.items():
        path = shared_data / "bbh_outputs" / f"code-davinci-002-{way}" / f"{task}_few_shot_template_0-255000.json"
        assert command.main(["audit", str(path)]) == 0
        assert f": {float(score):.0%} right" in capsys.readouterr()[0]


@pytest.mark.slow
def test_what_the_publishers_own_program_could_not_read_is_counted_and_said_once(log, tmp_path, capsys):
    """Where there is no text there was nothing to read; what people did not label says nothing either."""
    rows = [row | {"human_label": row["answer"] if i < 5 else None} for i, row in enumerate(wide_rows())]
    for i in (4, 5, 8):
        rows[i]["pred"] = None
    rows[8]["generated_text"] = None
    place = made.lines(tmp_path / "outputs.jsonl", rows)
    assert command.main(["audit", str(place), "--all"]) == 0
    said = capsys.readouterr()[0]
    assert "pred finds no answer in 10% [" in said and said.count("(3 of 29)") == 1  # those two, and the "?"
    assert "human_label finds" not in said


@pytest.mark.slow
def test_answers_of_which_nobody_knows_what_is_right_are_compared_between_their_readers(log, tmp_path, capsys):
    """A survey has no right answer: what can be said is how far two readings of one text agree."""
    rows = [
        {
            "id": str(i),
            "prompt": f"How often, {i}?\nA. always\nB. never\n",
            "response": f"My answer is {'AB'[i % 2]}.",
            "label": "A",
        }
        for i in range(20)
    ]
    place = made.lines(tmp_path / "survey.jsonl", rows)
    assert command.main(["audit", str(place)]) == 0
    said = capsys.readouterr()[0].splitlines()[1]
    assert said.startswith("recorded model: No output was compared with a right answer, so there is no accuracy. ")
    assert (
        "label and written answer disagree most: on 50% [" in said or "Written answer and label disagree most: on 50% [" in said
    )
