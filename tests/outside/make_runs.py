"""Run Inspect and lm-evaluation-harness over 100 sums and keep what they write in `runs/`.

    HARNESS_PYTHON -m tests.outside.make_runs

The Python is one with requirements-harnesses.txt; nothing is fetched. The models are simulated, so
the number of right answers is known:

    inspect/old.eval, inspect/new.eval   one task at two commits of a repository: 75 and 60 right
    lm_eval/alpha, lm_eval/beta          samples and results of two models: 80 and 70 right
"""

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

FOLDER = Path(__file__).with_name("runs")
N_ITEMS = 100
N_RIGHT_OF_COMMIT = {"old": 75, "new": 60}
N_RIGHT_OF_MODEL = {"alpha": 80, "beta": 70}


def answer_to(item: int, n_right: int) -> str:
    """Say the sum, or one more than the sum for all but the first `n_right` items."""
    return f"It is {2 * item + (item >= n_right)}"


def run_inspect(repository: Path) -> None:
    """Evaluate at two commits; Inspect writes the commit into its log."""
    from inspect_ai import Task, eval
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.scorer import match
    from inspect_ai.solver import generate

    model = "mockllm/model"
    samples = [Sample(id=i + 1, input=f"What is {i} + {i}?", target=str(2 * i)) for i in range(N_ITEMS)]
    _git(repository, "init", "-q")
    for name, n_right in N_RIGHT_OF_COMMIT.items():
        (repository / "prompt.txt").write_text(name, encoding="utf-8")
        _git(repository, "add", ".")
        _git(repository, "commit", "-q", "-m", f"The {name} prompt")
        outputs = [ModelOutput.from_content(model, answer_to(i, n_right)) for i in range(N_ITEMS)]
        for output in outputs:  # without it Inspect fetches a tokenizer to count
            output.usage = ModelUsage(input_tokens=9, output_tokens=4, total_tokens=13)
        task = Task(MemoryDataset(samples), solver=generate(), scorer=match(numeric=True), name="sums")
        logs = repository / "logs" / name
        eval(
            task,
            model=get_model(model, custom_outputs=outputs),
            log_dir=str(logs),
            display="none",
            max_connections=1,
            max_samples=1,
        )
        (log,) = logs.glob("*.eval")
        (FOLDER / "inspect").mkdir(parents=True, exist_ok=True)
        shutil.copy(log, FOLDER / "inspect" / f"{name}.eval")


def run_lm_eval(scratch: Path) -> None:
    """Evaluate two models on one task."""
    import lm_eval
    from lm_eval.api.model import LM
    from lm_eval.loggers import EvaluationTracker
    from lm_eval.tasks import TaskManager

    class Simulated(LM):
        tokenizer_name = "simulated"

        def __init__(self, n_right: int) -> None:
            super().__init__()
            self.n_right = n_right

        def loglikelihood(self, requests, **_):
            raise NotImplementedError

        def loglikelihood_rolling(self, requests, **_):
            raise NotImplementedError

        def generate_until(self, requests, **_):
            items = [int(request.args[0].split("What is ")[1].split(" ")[0]) for request in requests]
            return [answer_to(item, self.n_right) for item in items]

    rows = [{"question": f"What is {i} + {i}?", "answer": str(2 * i)} for i in range(N_ITEMS)]
    data = scratch / "sums.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    number = {"function": "regex", "regex_pattern": r"(\d+)", "group_select": -1}
    config = {
        "task": "sums",
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(data)}},
        "test_split": "test",
        "output_type": "generate_until",
        "doc_to_text": "Q: {{question}}\nA:",
        "doc_to_target": "{{answer}}",
        "generation_kwargs": {"until": ["Q:"], "do_sample": False, "temperature": 0.0},
        "metric_list": [{"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}],
        "filter_list": [{"name": "flexible-extract", "filter": [number, {"function": "take_first"}]}],
    }
    for name, n_right in N_RIGHT_OF_MODEL.items():
        results = lm_eval.simple_evaluate(
            model=Simulated(n_right),
            tasks=[config],
            task_manager=TaskManager(include_defaults=False),
            log_samples=True,
            bootstrap_iters=0,
        )
        tracker = EvaluationTracker(output_path=str(scratch / "out"))
        tracker.general_config_tracker.model_name = name
        tracker.general_config_tracker.model_name_sanitized = name
        samples = results.pop("samples")
        tracker.save_results_aggregated(results=results, samples=samples)
        for task, task_rows in samples.items():
            tracker.save_results_samples(task_name=task, samples=task_rows)
        folder = FOLDER / "lm_eval" / name
        shutil.copytree(scratch / "out" / name, folder)
        (report,) = folder.glob("results_*.json")
        kept = json.loads(report.read_text(encoding="utf-8"))
        kept.pop("pretty_env_info", None)  # the machine that ran it is nobody's business
        report.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def _git(repository: Path, *words: str) -> None:
    identity = ["-c", "user.name=Tests", "-c", "user.email=tests@localhost"]
    subprocess.run(["git", *identity, *words], cwd=repository, check=True)


if __name__ == "__main__":
    import inspect_ai  # noqa: F401  # both have to be here before anything is removed
    import lm_eval  # noqa: F401

    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    with tempfile.TemporaryDirectory() as scratch:
        repository = Path(scratch) / "evals"
        repository.mkdir()
        os.chdir(repository)  # Inspect asks git about the folder it runs in
        run_inspect(repository)
        run_lm_eval(Path(scratch))
        os.chdir(FOLDER)  # so that the scratch folder can be removed anywhere
