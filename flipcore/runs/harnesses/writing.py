"""A study's prompts for another harness in a folder, or in a zip for a browser."""

import io
import json
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from flipcore.access.acting import Permission, require
from flipcore.core.errors import BadInput
from flipcore.core.study import ModelUse, Study
from flipcore.core.whole_files import write
from flipcore.runs.harnesses.planned import PlannedPrompt, planned_of, prompts, shown_items, use_of
from flipcore.runs.origins import study_row
from flipcore.runs.plan import declared_rows
from flipcore.store.connection import Store
from flipcore.store.queries import studies
from flipcore.text.counts import count_of

# Planned prompts as a task of Inspect, of lm-evaluation-harness, or as JSONL for any other.


DATASET, TASK_NAME = "dataset.jsonl", "flipscope_variants"

_INSPECT, _LM_EVAL = (
    Path(__file__).with_name(name).read_text(encoding="utf-8") for name in ("inspect_task.txt", "lm_eval_task.yaml")
)


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


HARNESSES = tuple(WRITERS)
_HOW = {
    "inspect": f"inspect eval {TASK_NAME}.py --model …",
    "lm-eval": f"lm_eval --include_path . --tasks {TASK_NAME} --log_samples --output_path out --model …",
    "jsonl": "put each answer into `response`, and how it ended into `finish_reason`",
}


@dataclass(frozen=True)
class VariantFiles:
    """`sentence` says what was written, what was left out, and what comes next."""

    files: tuple[Path, ...]
    n_prompts: int
    sentence: str


def write_variants(store: Store, study: Study, harness: str, folder: str | Path, model: str = "") -> VariantFiles:
    """The planned prompts of one model of the study, and study.toml. The study is stored as planned where it is not there yet, so
    that the answers find it. Raises BadInput for a study whose prompts cannot be written out."""
    require(Permission.PUBLISH)
    return _files_of(store, study, harness, Path(folder), model)


def _files_of(store: Store, study: Study, harness: str, folder: Path, model: str) -> VariantFiles:
    if harness not in WRITERS:
        raise BadInput(f"There is no harness {harness!r}; choose one of {', '.join(HARNESSES)}.")
    study_plan, use = planned_of(study, store), use_of(study, model)
    items = shown_items(study_plan, store)
    planned_prompts = list(prompts(study_plan, use, items))
    if not planned_prompts:
        raise BadInput("Every item of this study is set aside until its settings are locked, so no prompt can be written.")
    files = WRITERS[harness](folder, study, use, planned_prompts)
    write(folder / "study.toml", study.to_toml())
    if studies.study(store, study.study_id) is None:
        row = study_row(study, "planned", f"Its prompts were written for {harness}.", n_calls=len(planned_prompts))
        store.writer.add_together([*declared_rows(study_plan), ("studies", [row])]).result(60)
    n_hidden = len(study_plan.items) - len(items)
    sentence = f"{count_of(len(planned_prompts), 'prompt')} on {count_of(len(items), 'item')} for {use.name}."
    sentence += (
        f" {count_of(n_hidden, 'item is', 'items are')} set aside until the settings are locked, and left out."
        if n_hidden
        else ""
    )
    unread = [one.name for one in study_plan.extractors if not one.reads_text_alone]
    sentence += f" {', '.join(unread)} will be absent: a harness returns written answers only." if unread else ""
    sentence += f" Next: {_HOW[harness]}; then python -m flipcore import on what it wrote."
    return VariantFiles((*files, folder / "study.toml"), len(planned_prompts), sentence)


def zipped_variants(store: Store, study: Study, harness: str, model: str = "") -> tuple[bytes, str]:
    """(a zip of the same files, the sentence)."""
    with tempfile.TemporaryDirectory(prefix="flipscope-variants-") as folder:
        variant_files = _files_of(store, study, harness, Path(folder), model)
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in variant_files.files:
                archive.write(path, path.name)
    return packed.getvalue(), variant_files.sentence
