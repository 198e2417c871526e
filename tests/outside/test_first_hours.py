"""The first hour with files of one's own, by command line: each ends with the right number."""

import re
import shutil

import pytest

from tests.outside.clone import RUNS
from tests.outside.quiz import HOLDOUT, QUIZ, QuizServer, flat_row_of, row_of
from tests.outside.user import write_csv, write_jsonl

N_QUIZ = 20
N_KNOWN = 15


def outputs_of(n_right, n=40):
    """A table of outputs of which the first `n_right` are right."""
    rows = []
    for i in range(n):
        said = 2 * i + (i >= n_right)
        rows.append({"question": f"What is {i} plus {i}?", "answer": str(2 * i), "output": f"The answer is {said}."})
    return rows


def said_by(result, code=0):
    """What a command printed, all in one line; it ended as it should and without a traceback."""
    assert result.code == code and "Traceback" not in result.err, result
    return " ".join(result.out.split())


def test_two_tables_of_outputs_are_two_models(user):
    write_csv(user.folder / "alpha.csv", outputs_of(32))
    write_csv(user.folder / "beta.csv", outputs_of(24))
    said = said_by(user.flipscope("audit", "alpha.csv", "beta.csv"))
    assert "alpha: 80% right" in said and "beta: 60% right" in said
    assert "alpha scores higher than beta on the same 40 items" in said and "+20.0 points" in said


@pytest.mark.slow
def test_two_tables_of_scores_are_two_models(whole_user):
    for name, n_right in (("alpha", 150), ("beta", 120)):
        rows = [{"id": f"q{i}", "score": int(i < n_right)} for i in range(200)]
        write_csv(whole_user.folder / f"{name}.csv", rows)
    said = said_by(whole_user.flipscope("audit", "alpha.csv", "beta.csv"))
    assert "alpha: 75% right" in said and "beta: 60% right" in said
    assert "on the same 200 items" in said and "+15.0 points" in said


@pytest.mark.slow
def test_two_inspect_logs_of_two_commits(whole_user):
    shutil.copytree(RUNS / "inspect", whole_user.folder, dirs_exist_ok=True)
    assert ": 75% right" in said_by(whole_user.flipscope("audit", "old.eval"))
    assert ": 60% right" in said_by(whole_user.flipscope("audit", "new.eval"))
    said = said_by(whole_user.flipscope("check", "old.eval", "new.eval", "--margin", "2pp"), code=1)
    assert said.startswith("FAIL") and "15.0 points lower [" in said and "15 items fell, 0 rose" in said
    said = said_by(whole_user.flipscope("audit", "old.eval", "new.eval"))
    assert len(re.findall(r"model, commit [0-9a-f]{7}: (?:75|60)% right", said)) == 2
    assert "+15.0 points" in said and "noise floor" not in said


@pytest.mark.slow
def test_two_lm_eval_sample_files_with_their_results(whole_user):
    shutil.copytree(RUNS / "lm_eval", whole_user.folder, dirs_exist_ok=True)
    said = said_by(whole_user.flipscope("audit", "alpha", "beta"))
    assert "alpha: 80% right" in said and "beta: 70% right" in said
    assert "alpha scores higher than beta on the same 100 items" in said and "+10.0 points" in said
    assert "results file" not in said


@pytest.mark.slow
@pytest.mark.parametrize("is_renamed", [False, True], ids=["in two folders", "renamed"])
def test_two_lm_eval_sample_files_without_results_are_two_models_and_it_is_said(whole_user, is_renamed):
    names = []
    for model in ("alpha", "beta"):
        (samples,) = (RUNS / "lm_eval" / model).glob("samples_*.jsonl")
        names.append(f"{model}.jsonl" if is_renamed else f"{model}/{samples.name}")
        path = whole_user.folder / names[-1]
        path.parent.mkdir(exist_ok=True)
        shutil.copy(samples, path)
    said = said_by(whole_user.flipscope("audit", *names))
    assert "alpha: 80% right" in said and "beta: 70% right" in said
    assert "have no results file beside them" in said and "noise floor" not in said


@pytest.fixture
def quiz_user(whole_user):
    """Somebody with a quiz of twenty questions and a study of it."""
    write_jsonl(whole_user.folder / "quiz.jsonl", [row_of(item) for item in range(N_QUIZ)])
    (whole_user.folder / "quiz.toml").write_text(QUIZ, encoding="utf-8")
    return whole_user


def add_model(user, server):
    """Add the server as somebody does who knows its address."""
    added = user.flipscope("models", "add", "mymodel", "--endpoint", server.url, "--model", "served")
    said = said_by(added)
    assert "First-token log-probabilities: " in said
    return said


@pytest.mark.slow
def test_twenty_questions_to_a_server_without_log_probabilities(quiz_user):
    with QuizServer(lambda item: item < N_KNOWN) as server:
        add_model(quiz_user, server)
        ran = quiz_user.flipscope("run", "quiz.toml")
        assert "done. 80 calls, 0 reused, 0 failed" in said_by(ran)
    said = said_by(quiz_user.flipscope("stats", "Quiz"))
    assert "mymodel: 75% right" in said
    # Of each item two other orders are compared with its own: 2 of 20 items change in both.
    assert (
        "The answer differs between two prompts of one question in 10% (likely" in said
        and "written answer is the reference" in said
    )


@pytest.mark.slow
def test_a_fifth_of_the_calls_fails(quiz_user):
    with QuizServer(lambda item: item < N_KNOWN, is_refused=lambda item: item % 5 == 0) as server:
        add_model(quiz_user, server)
        ran = quiz_user.flipscope("run", "quiz.toml")
        assert "80 calls, 0 reused, 16 failed" in said_by(ran, code=3)
        server.is_refused = lambda item: False
        said = said_by(quiz_user.flipscope("stats", "Quiz"))
        assert "mymodel: 75% right" in said and "of 16 items" in said and "20% of calls have no score" in said
        again = quiz_user.flipscope("run", "quiz.toml")
        assert "64 reused, 0 failed" in said_by(again)
    assert "20 questions" in said_by(quiz_user.flipscope("stats", "Quiz"))


@pytest.mark.slow
def test_all_calls_fail(quiz_user):
    with QuizServer(lambda item: True, is_refused=lambda item: True) as server:
        add_model(quiz_user, server)
        assert "80 failed" in said_by(quiz_user.flipscope("run", "quiz.toml"), code=3)
    said = said_by(quiz_user.flipscope("stats", "Quiz"))
    assert "No answer could be read, so nothing was measured." in said and "this one is refused" in said
    assert "so there is no accuracy" not in said and "asked once" not in said


@pytest.mark.slow
def test_a_holdout_of_two_tables(whole_user):
    write_csv(whole_user.folder / "public.csv", [flat_row_of(item) for item in range(40)])
    write_csv(whole_user.folder / "fresh.csv", [flat_row_of(item) for item in range(100, 140)])
    (whole_user.folder / "holdout.toml").write_text(HOLDOUT, encoding="utf-8")
    with QuizServer(lambda item: item < 36 or 100 <= item < 128) as server:
        add_model(whole_user, server)
        assert "0 failed" in said_by(whole_user.flipscope("run", "holdout.toml"))
    said = said_by(whole_user.flipscope("stats", "My holdout"))
    assert re.search(r"mymodel scores 20\.0 points higher on the benchmark than on the holdout \(likely .*?\)", said)
    assert "Undecided: the holdout is like the benchmark on 2 of 4 tests" in said


def paraphrased():
    """Fifteen questions in two wordings, of which the second changes the answer to three."""
    rows = []
    for i in range(15):
        row = {"id": i, "variant": "original", "question": f"What is {i} plus {i}?", "answer": str(2 * i)}
        rows.append(row | {"output": f"The answer is {2 * i}."})
        changed = {"variant": "reworded", "question": f"Add {i} to {i}. What do you get?"}
        rows.append(row | changed | {"output": f"The answer is {2 * i + (i < 3)}."})
    return rows


@pytest.mark.slow
def test_fifteen_paraphrases_that_nobody_has_reviewed_are_not_claimed(whole_user):
    write_csv(whole_user.folder / "asked.csv", paraphrased())
    imported = whole_user.flipscope("import", "asked.csv", "--map", "axis:recorded=paraphrase")
    assert "15 paraphrases wait for reviewers under Review" in said_by(imported)
    study_id = re.search(r"stats ([0-9a-f]{12})", imported.out)[1]
    said = said_by(whole_user.flipscope("stats", study_id))
    assert ": 100% right" in said and "Not claimed: too little was reviewed of paraphrase" in said
