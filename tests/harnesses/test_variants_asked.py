"""The real harnesses ask the pocket model behind a server: the exported prompts come back as the study that Flipscope itself
would have run (T, G and A equal, readout by readout), and a task of the harness's own with the scores that it reports."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from flipcore.core import folders
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.datasets import load
from flipcore.reports.study import study_report
from flipcore.runs import runner
from flipcore.runs.harnesses.import_answers import store_survey
from flipcore.runs.harnesses.writing import write_variants
from flipcore.runs.log_survey import survey
from flipcore.store.connection import Store
from flipcore.store.queries import studies
from tests.harnesses import python_with
from tests.harnesses.pocket_server import PocketServer

pytestmark = pytest.mark.usefixtures("allowed_folders")

STUDY = Study(
    name="asked by another harness",
    items=(ItemSource("pocket_choice", n=8), ItemSource("pocket_problems", n=5)),
    axes=(Part("identity"), Part("option_order", {"n": 3}), Part("label_set")),
    extractors=(Part("regex"), Part("pattern", {"expression": r"([A-Z]|\d+)", "group": "1", "which": "first"})),
    models=(ModelUse("pocket", max_tokens=96),),  # lm-eval logs no finish reason, so every answer has to end by itself
    layout="plain",
)
COLUMNS = ["item_id", "axis", "variant", "sample", "extractor", "status", "answer", "is_correct"]

INSPECT_TASK = """
import json
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import includes, match
from inspect_ai.solver import generate

@task
def small():
    rows = [json.loads(line) for line in open("small.jsonl")]
    samples = [Sample(id=i, input=row["question"], target=row["answer"]) for i, row in enumerate(rows)]
    return Task(dataset=samples, solver=generate(cache=False), scorer=[match(numeric=True), includes()])
"""
LM_EVAL_TASK = r"""
task: small
dataset_path: json
dataset_kwargs: {data_files: {test: small.jsonl}}
test_split: test
output_type: generate_until
doc_to_text: "{{question}}"
doc_to_target: "{{answer}}"
generation_kwargs: {until: [], max_gen_toks: 96, temperature: 0.0, do_sample: false}
metric_list: [{metric: exact_match, aggregation: mean, higher_is_better: true}]
filter_list:
  - {name: strict-match, filter: [{function: regex, regex_pattern: "is (\\d+)"}, {function: take_first}]}
  - {name: flexible-extract, filter: [{function: regex, regex_pattern: "(\\d+)", group_select: -1}, {function: take_first}]}
"""


def inspect_command(folder, url):
    words = ["eval", "flipscope_variants.py", "small.py", "--model", "openai-api/pocket/pocket", "--log-dir", "out"]
    (folder / "small.py").write_text(INSPECT_TASK)
    settings = ["--display", "none", "--max-tokens", "96", "--temperature", "0"]
    return ["-m", "inspect_ai", *words, *settings], {"POCKET_API_KEY": "none", "POCKET_BASE_URL": url}


def lm_eval_command(folder, url):
    (folder / "small.yaml").write_text(LM_EVAL_TASK)
    model = f"model=pocket,base_url={url}/completions,num_concurrent=4,tokenizer_backend=None,max_retries=1"
    words = ["--include_path", ".", "--tasks", "flipscope_variants,small", "--log_samples", "--output_path", "out"]
    own = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_DATASETS_CACHE": str(folder / "cache")}
    return ["-m", "lm_eval", "--model", "local-completions", "--model_args", model, *words], own


HARNESSES = {"inspect": ("inspect_ai", inspect_command), "lm-eval": ("lm_eval", lm_eval_command)}


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """Flipscope's own run."""
    store = Store.open(tmp_path_factory.mktemp("own") / "flips.duckdb")
    assert runner.run(STUDY, store).state == "done"
    yield store
    store.close()


@pytest.fixture(scope="module", params=HARNESSES)
def run(request, tmp_path_factory):
    """(a store with the written study, how many prompts, the harness's output folder, what the server said by prompt)."""
    module, command = HARNESSES[request.param]
    python = python_with(module)
    if not python:
        pytest.skip(f"{module} is not installed: requirements-harnesses.txt, or FLIPSCOPE_HARNESSES")
    folder = tmp_path_factory.mktemp(request.param.replace("-", "_"))
    folders.admit(folder)
    store = Store.open(folder / "flips.duckdb")
    n_prompts = write_variants(store, STUDY, request.param, folder).n_prompts
    items = load(ItemSource("pocket_problems", n=6, seed=3))
    rows = [{"question": one.question, "answer": one.target} for one in items]
    (folder / "small.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with PocketServer() as server:
        words, environment = command(folder, server.url)
        own_environment = os.environ | environment
        done = subprocess.run([python, *words], cwd=folder, env=own_environment, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, (done.stdout + done.stderr)[-3_000:]
    yield store, n_prompts, folder / "out", server.replies
    store.close()


def logs(folder: Path, task: str) -> list[Path]:
    """The harness's files of one task, and lm-eval's results."""
    files = [one for one in folder.rglob("*") if one.is_file()]
    return [one for one in files if task in one.name.replace("-", "_") or one.name.startswith("results_")]


def readings(store, study_id):
    frame = studies.readouts(store, study_id, everything=True)
    return frame[COLUMNS].sort_values(COLUMNS[:5]).reset_index(drop=True)


@pytest.mark.slow
def test_the_exported_prompts_come_back_as_an_own_run(own, run):
    store, n_prompts, out, replies = run
    log_survey = survey(logs(out, "flipscope_variants"))
    assert log_survey.marks == {STUDY.study_id: n_prompts} and log_survey.n_refused == 0
    store_survey(log_survey, store)
    assert studies.studies(store).iloc[0]["state"] == "done", studies.studies(store).iloc[0]["message"]
    mine, theirs = readings(own, STUDY.study_id), readings(store, STUDY.study_id)
    assert len(mine) > 100 and theirs.equals(mine)
    parts = [study_report(studies.readouts(one, STUDY.study_id), "regex")["pocket"].as_dict() for one in (own, store)]
    cells = parts[0]["cells"]
    assert parts[0] == parts[1] and any(cell[name]["value"] > 0 for cell in cells for name in ("T", "G", "A"))
    assert 0 < (mine["status"] == "unreadable").mean() < 1  # the two extractors differ, so that A is not 0 by itself


@pytest.mark.slow
def test_a_small_task_of_the_harness_comes_in_with_the_scores_that_it_reports(run):
    store, _, out, replies = run
    log_survey = survey(logs(out, "small"))
    assert len(log_survey.reported) == 2 and (log_survey.n_refused, log_survey.unread) == (0, [])
    study_id = store_survey(log_survey, store)
    frame = studies.readouts(store, study_id)
    for one in log_survey.reported:
        assert frame[frame["extractor"] == one.readout]["is_correct"].mean() == pytest.approx(one.value), one
    texts = store.rows(
        "SELECT request->>'$.prompt', text FROM completions JOIN study_calls USING (call_id) WHERE study_id = $study_id",
        study_id=study_id,
    )
    assert len(texts) == 6 and all(replies[prompt].strip() == text.strip() for prompt, text in texts)
