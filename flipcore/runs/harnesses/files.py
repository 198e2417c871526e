"""Planned prompts as a task of Inspect, of lm-evaluation-harness, or as JSONL for any other."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from flipcore.core.errors import BadInput
from flipcore.core.study import ModelUse, Study
from flipcore.core.whole_files import write
from flipcore.runs.harnesses.planned import PlannedPrompt

DATASET, TASK_NAME = "dataset.jsonl", "flipscope_variants"

_INSPECT = '''"""Prompts of the Flipscope study {study_id}; `inspect eval {file} --model …`, then `python -m flipcore import` on the log."""

from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import FieldSpec, json_dataset
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import includes
from inspect_ai.solver import generate

MARKS = ["flipscope_study", "flipscope_model", "flipscope_variant", "flipscope_sample"]


@task
def {task}():
    return Task(
        dataset=json_dataset(str(Path(__file__).with_name("{dataset}")), FieldSpec(metadata=MARKS)),
        solver=generate(cache=False),
        scorer=includes(),
        config=GenerateConfig({settings}),
    )
'''

_LM_EVAL = """# Prompts of the Flipscope study {study_id}. Run it in this folder, then `python -m flipcore import` the output folder:
#   lm_eval --include_path . --tasks {task} --log_samples --output_path out --model …{system}
task: {task}
dataset_path: json
dataset_kwargs:
  data_files:
    test: {dataset}
test_split: test
output_type: generate_until
doc_to_text: "{{{{prompt}}}}"
doc_to_target: "{{{{target}}}}"
generation_kwargs:
{settings}
metric_list:
  - metric: exact_match
    aggregation: mean
    higher_is_better: true
    ignore_case: true
    ignore_punctuation: true
metadata:
  version: 1
"""


def write_inspect(folder: Path, study: Study, use: ModelUse, planned_prompts: Sequence[PlannedPrompt]) -> list[Path]:
    """`flipscope_variants.py` and its data set."""
    rows = [
        {
            "id": one.prompt_id,
            "input": _messages(one) if one.request.system or one.request.turns else one.request.prompt,
            "target": list(one.right) or "",
        }
        | one.marks
        for one in planned_prompts
    ]
    settings = {"temperature": use.temperature, "top_p": use.top_p, "max_tokens": use.max_tokens, "seed": use.seed}
    words = [f"{key}={value!r}" for key, value in settings.items()]
    words += [f"stop_seqs={list(use.stop)!r}"] if use.stop else []
    code = _INSPECT.format(
        study_id=study.study_id, file=f"{TASK_NAME}.py", task=TASK_NAME, dataset=DATASET, settings=", ".join(words)
    )
    return [_lines(folder / DATASET, rows), write(folder / f"{TASK_NAME}.py", code)]


def write_lm_eval(folder: Path, study: Study, use: ModelUse, planned_prompts: Sequence[PlannedPrompt]) -> list[Path]:
    """`flipscope_variants.yaml` and its data set. The harness asks each prompt as it is: no shots, its own seed. BadInput for a
    prompt of several turns, which the harness would send as one."""
    if any(one.request.turns for one in planned_prompts):
        raise BadInput(
            "lm-eval would send each prompt as one message, and this study's examples are turns of their own. Take inspect or jsonl."
        )
    rows = [
        {"id": one.prompt_id, "prompt": one.request.prompt, "target": one.right[0] if one.right else "", **one.marks}
        for one in planned_prompts
    ]
    settings = {
        "until": list(use.stop),
        "max_gen_toks": use.max_tokens,
        "temperature": use.temperature,
        "do_sample": use.temperature > 0,
    }
    settings |= {"top_p": use.top_p} if use.temperature > 0 else {}
    lines = "\n".join(f"  {key}: {json.dumps(value)}" for key, value in settings.items())
    system = next((one.request.system for one in planned_prompts if one.request.system), "")
    flag = f" --system_instruction {json.dumps(system)}" * bool(system)
    code = _LM_EVAL.format(study_id=study.study_id, task=TASK_NAME, dataset=DATASET, settings=lines, system=flag)
    return [_lines(folder / DATASET, rows), write(folder / f"{TASK_NAME}.yaml", code)]


def write_jsonl(folder: Path, study: Study, use: ModelUse, planned_prompts: Sequence[PlannedPrompt]) -> list[Path]:
    """One prompt a line. Put each answer into `response` (and how it ended into `finish_reason`), and import the file."""
    rows = [
        {
            "id": one.prompt_id,
            "messages": _messages(one),
            "temperature": use.temperature,
            "top_p": use.top_p,
            "max_tokens": use.max_tokens,
            "seed": use.seed,
            "stop": list(use.stop),
            "right": list(one.right),
            "metadata": one.marks,
            "response": None,
            "finish_reason": None,
        }
        for one in planned_prompts
    ]
    return [_lines(folder / "prompts.jsonl", rows)]


WRITERS: dict[str, Callable[[Path, Study, ModelUse, Sequence[PlannedPrompt]], list[Path]]] = {
    "inspect": write_inspect,
    "lm-eval": write_lm_eval,
    "jsonl": write_jsonl,
}


def _messages(one: PlannedPrompt) -> list[dict[str, str]]:
    system = [{"role": "system", "content": one.request.system}] if one.request.system else []
    return [*system, *one.request.messages]


def _lines(path: Path, rows: Sequence[dict]) -> Path:
    return write(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
