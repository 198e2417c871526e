"""Every way to the score of a model of whose answers a reader of ours read less than half: none says one, all say why."""

import json
from random import Random

import pytest

from flipcore import __main__ as command_line
from flipcore.api import StudyView
from flipcore.reports.exports.document import report
from flipcore.reports.exports.every_eval_ever import write_every_eval_ever
from flipcore.runs.log_import import store_logs
from flipcore.runs.log_survey import survey
from tests.claims.walks import AUDIT, FLIPS, page_of, sent, walk_over
from tests.reports.exports.reading import everything_in

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.slow, pytest.mark.usefixtures("allowed_folders")]
RIGHT, N, N_READ = 3, 60, 6
PAGES = ("studies/page.py", "score/page.py", FLIPS, "ranking/page.py", AUDIT, "report/page.py")


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """Two models on the same questions: of `terse` a tenth of the answers are in words that the reader knows, half of them right."""
    folder, random = tmp_path_factory.mktemp("unread"), Random(0)
    for model in ("verbose", "terse"):
        rows = []
        for i in range(N):
            said = "AB"[i % 2 if i < RIGHT or model == "verbose" else 1 - i % 2]
            is_read = i < N_READ or model == "verbose"
            output = f"The answer is {said}." if is_read else random.choice(["Hard to say.", "It depends."])
            rows.append({"question": f"Is {i} even?", "options": ["yes", "no"], "answer": "AB"[i % 2], "output": output})
        (folder / f"{model}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with walk_over(folder / "flips.duckdb") as store:
        study = store_logs(survey([folder / "verbose.jsonl", folder / "terse.jsonl"], {}), store)
        yield store, study


def says_a_score(text: str) -> list[str]:
    """What no way may say: 3 of 60 with its interval, or as a share beside the model's name."""
    plain = text.replace("\\", "").replace("\xa0", " ")
    return [one for one in ("5% [", "terse 5%", "terse: 5%") if one in plain]


def test_the_walk_would_see_a_score(opened):
    store, study = opened
    assert "5% [" in says_a_score("terse: right on 5% [1, 14] of 60 items")
    assert "100% [" in StudyView(store, study).text()  # of the model that was read


@pytest.mark.parametrize("page", PAGES)
def test_no_page_says_one(opened, page):
    _, study = opened
    said = sent(page_of(page, {"study": study}))
    assert says_a_score(said) == []


def test_no_command_notebook_report_or_file_says_one(opened, capsys, tmp_path):
    store, study = opened
    command_line.main(["stats", study])
    said = capsys.readouterr().out
    assert says_a_score(said) == []
    assert "terse: Not claimed: 90% of terse's answers could not be read (written answer)." in said
    command_line.main(["audit", study])
    said = capsys.readouterr().out
    assert says_a_score(said) == [] and "terse: Not claimed: 90% of terse's answers could not be read" in said
    view = StudyView(store, study)
    assert says_a_score(view.text()) == [] and says_a_score(view.score().text()) == []
    assert says_a_score(everything_in(report(store, study, 1))) == []
    command_line.main(["export", study, "--format", "csv", "--folder", str(tmp_path / "csv")])
    written = {file.name: file.read_text(encoding="utf-8") for file in (tmp_path / "csv").iterdir()}
    assert written
    accuracies = [line for text in written.values() for line in text.splitlines() if "accuracy" in line and "terse" in line]
    assert [line for line in accuracies if ",0.05," in line] == []
    files = write_every_eval_ever(store, study, tmp_path / "every")
    whole = {one["model_info"]["name"]: one for one in map(json.loads, (f.read_text() for f in files if f.suffix == ".json"))}
    assert whole["verbose"]["evaluation_results"] and whole["terse"]["evaluation_results"] == []
    (why,) = [v for k, v in whole["terse"]["detailed_evaluation_results"]["additional_details"].items() if "not_claimed" in k]
    assert why.startswith("90% of terse's answers")
