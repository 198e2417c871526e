"""Runs lm-evaluation-harness itself over drawn settings, without a network: ``python lm_eval_runs.py FOLDER N`` writes N logs."""

import json
import random
import sys
from pathlib import Path

import lm_eval
from lm_eval.api.model import LM
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager

FILTERS = {
    "strict-match": [{"function": "regex", "regex_pattern": r"#### (\-?\d+)"}, {"function": "take_first"}],
    "flexible-extract": [{"function": "regex", "regex_pattern": r"(\-?\d+)", "group_select": -1}, {"function": "take_first"}],
}


class Drawn(LM):
    """Answers by chance: right, wrong, marked or bare; log-likelihoods by chance."""

    tokenizer_name = "drawn"

    def __init__(self, seed):
        super().__init__()
        self.rng = random.Random(seed)

    def loglikelihood(self, requests, **_):
        return [(-self.rng.uniform(1, 30), self.rng.random() < 0.5) for _ in requests]

    def loglikelihood_rolling(self, requests, **_):
        raise NotImplementedError

    def generate_until(self, requests, **_):
        return [self.said(request.args[0]) for request in requests]

    def said(self, prompt):
        number = int("".join(letter for letter in str(prompt).rpartition("What is ")[2].partition(" ")[0] if letter.isdigit()))
        answer = 2 * number + self.rng.choice([0, 0, 0, 1])
        return self.rng.choice([f"That makes {answer}.", f"So it is.\n#### {answer}", "I cannot say.", f"{answer}"])

    def apply_chat_template(self, messages, add_generation_prompt=True):
        return json.dumps(messages)


def dataset(folder, rng, n):
    rows = [
        {
            "question": f"What is {i} + {i}?",
            "answer": f"Twice.\n#### {2 * i}",
            "choices": [f"{2 * i}", f"{2 * i + 10}", "none at all"],
            "gold": rng.choice([0, 0, 1]),
            "subject": rng.choice(["a", "b"]),
        }
        for i in range(n)
    ]
    path = folder / "data.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return {"dataset_path": "json", "dataset_kwargs": {"data_files": {"test": str(path)}}, "test_split": "test"}


def written(name, rng, source):
    """Sums with one filter, two, or none, and repeats."""
    filters = rng.choice([[], ["strict-match"], ["strict-match", "flexible-extract"]])
    metric = {"metric": "exact_match", "aggregation": "mean", "higher_is_better": True, "ignore_punctuation": True}
    config = source | {
        "task": name,
        "output_type": "generate_until",
        "doc_to_text": "Q: {{question}}\nA:",
        "doc_to_target": "{{answer.split('#### ')[-1]}}",
        "generation_kwargs": {"until": ["Q:"], "do_sample": False, "temperature": rng.choice([0.0, 0.7])},
        "metric_list": [metric],
        "repeats": rng.choice([1, 1, 3]),
    }
    return config | ({"filter_list": [{"name": one, "filter": FILTERS[one]} for one in filters]} if filters else {})


def chosen(name, rng, source):
    """Options by log-likelihood, as sums, or also by length."""
    metrics = rng.choice([["acc"], ["acc", "acc_norm"]])
    return source | {
        "task": name,
        "output_type": "multiple_choice",
        "doc_to_text": "Q: {{question}}\nA:",
        "doc_to_target": "gold",
        "doc_to_choice": "choices",
        "metric_list": [{"metric": one, "aggregation": "mean", "higher_is_better": True} for one in metrics],
    }


def main(folder, n_logs):
    for number in range(n_logs):
        rng, own = random.Random(number), Path(folder, str(number))
        own.mkdir(parents=True)
        make = rng.choice([written, written, chosen])
        config = make(f"sums_{number}", rng, dataset(own, rng, rng.choice([4, 7])))
        is_chat = rng.random() < 0.4
        results = lm_eval.simple_evaluate(
            model=Drawn(number),
            tasks=[config],
            task_manager=TaskManager(include_defaults=False),
            limit=rng.choice([None, 3]),
            log_samples=True,
            apply_chat_template=is_chat,
            bootstrap_iters=0,
            random_seed=number,
        )
        tracker = EvaluationTracker(output_path=str(own / "out"))
        tracker.general_config_tracker.model_name = f"drawn-{number}"
        samples = results.pop("samples")
        tracker.save_results_aggregated(results=results, samples=samples)
        for task, rows in samples.items():
            tracker.save_results_samples(task_name=task, samples=rows)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
