"""Write a study's prompts for another harness, into a folder or a zip."""

import io
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flipcore.access.acting import Permission, require
from flipcore.core.command_line import command
from flipcore.core.contracts import Backend, History
from flipcore.core.errors import BadInput
from flipcore.core.records import Call, Completion, Request, Variant
from flipcore.core.study import ModelUse, Study
from flipcore.core.whole_files import write
from flipcore.core.work_folders import work_folder
from flipcore.runs.origins import study_row
from flipcore.runs.plan import ItemPlan, Plan, declared_rows, plan
from flipcore.store.connection import Store
from flipcore.store.queries import locks, studies
from flipcore.text.counts import count_of

# Each prompt carries marks (study, model, variant, sample) by which its answer is recognized.

PLANNED_PROTOCOL = "single_shot"  # the protocol whose prompts are all known before any answer


class Elsewhere(Backend):
    """A model that another harness asks; it returns written answers only."""

    simulated = False
    abilities = frozenset({"generate"})

    def __init__(self, name: str, revision: str = "") -> None:
        self.name, self.revision = name, revision

    def why_not(self, ability: str) -> str:
        return "Another harness asked the prompts, and such a log holds written answers only."

    async def complete(self, call: Call) -> Completion:
        raise AssertionError("nothing is asked here")

    async def close(self) -> None:
        pass


@dataclass(frozen=True)
class PlannedPrompt:
    """One request for one sample. `right_answers` are as the prompt names them: labels for a
    choice, otherwise text."""

    study_id: str
    model: str
    item_id: str
    variant_id: str
    sample: int
    request: Request
    right_answers: tuple[str, ...]

    @property
    def prompt_id(self) -> str:
        return f"{self.variant_id}-{self.sample}"

    @property
    def marks(self) -> dict[str, str | int]:
        """Marks that the harness keeps as metadata and returns in its log."""
        return {
            "flipscope_study": self.study_id,
            "flipscope_model": self.model,
            "flipscope_variant": self.variant_id,
            "flipscope_sample": self.sample,
        }


def use_of(study: Study, model: str = "") -> ModelUse:
    """Return the study's model of this name, or its only model for "". Raises BadInput for an
    unknown name, and for "" if there are several models."""
    uses = [
        use for use in study.models if use.name == model or (not model and len(study.models) == 1)
    ]
    if not uses:
        names = ", ".join(use.name for use in study.models)
        reason = f"has no model {model!r}" if model else "has several models"
        raise BadInput(f"The study {reason}; choose one of {names} with --model.")
    return uses[0]


def history_of(
    study_plan: Plan,
    item_plan: ItemPlan,
    use: ModelUse,
    backend: Elsewhere,
    completions: Mapping[str, Completion] | None = None,
) -> History:
    """Return the protocol's view of an item, with the completions so far."""
    return study_plan.history(item_plan, use, backend, completions or {}, None)


def planned_calls(
    study_plan: Plan, item_plan: ItemPlan, use: ModelUse, backend: Elsewhere
) -> dict[tuple[str, int], Call]:
    """Return (variant id, sample) -> the call whose completion the extractors read. A prompt that
    stands under several axes appears once."""
    by_text: dict[tuple[str, str], Variant] = {}
    for variant in item_plan.variants:
        by_text.setdefault((variant.prompt.text, variant.prompt.system), variant)
    calls = study_plan.protocol.next_calls(history_of(study_plan, item_plan, use, backend))
    planned = {}
    for call in calls:
        if call.request.kind == "generate":
            variant = by_text[call.request.prompt, call.request.system]
            planned[variant.variant_id, call.sample] = call
    return planned


def planned_of(study: Study, store: Store | None) -> Plan:
    """Return the plan of a study whose prompts can be written out. Raises BadInput if prompts
    depend on earlier answers, or no extractor reads written answers."""
    if study.is_recorded:
        raise BadInput(
            f"{study.name!r} was imported, so it planned no prompts. Press Ask again on Audit, and"
            " write the prompts of that study."
        )
    if study.protocol.name != PLANNED_PROTOCOL:
        raise BadInput(
            f"The protocol {study.protocol.name} chooses each prompt by the answers before it, so"
            f" it cannot be written out. Use {PLANNED_PROTOCOL}."
        )
    study_plan = plan(study, store)
    if not any(extractor.reads_text_alone for extractor in study_plan.extractors):
        names = ", ".join(extractor.name for extractor in study_plan.extractors)
        raise BadInput(
            f"Another harness returns written answers, and {names} read none. Add the extractor"
            " regex to the study."
        )
    return study_plan


def shown_items(study_plan: Plan, store: Store | None) -> list[ItemPlan]:
    """Return the plan's items; those set aside for confirmation only if the study has a lock."""
    is_locked = store is not None and bool(locks.locks(store, study_plan.study.study_id))
    return [item_plan for item_plan in study_plan.items if is_locked or not item_plan.confirmatory]


def prompts(study_plan: Plan, use: ModelUse, items: list[ItemPlan]) -> Iterator[PlannedPrompt]:
    """Yield every request of one model, item by item in the plan's order."""
    backend = Elsewhere(use.name)
    for item_plan in items:
        variants = {variant.variant_id: variant for variant in item_plan.variants}
        calls = planned_calls(study_plan, item_plan, use, backend)
        for (variant_id, sample), call in calls.items():
            right_answers = _right_answers(variants[variant_id])
            yield PlannedPrompt(
                study_plan.study.study_id,
                use.name,
                item_id=item_plan.item.item_id,
                variant_id=variant_id,
                sample=sample,
                request=call.request,
                right_answers=right_answers,
            )


def _right_answers(variant: Variant) -> tuple[str, ...]:
    if variant.target is None:
        return ()
    answers = variant.target.split("\n")
    if not variant.labels:
        return tuple(answers)
    return tuple(variant.labels[variant.order.index(int(answer))] for answer in answers)


# Formats: a task for Inspect, a task for lm-evaluation-harness, or JSONL for any other harness.

DATASET, TASK_NAME = "dataset.jsonl", "flipscope_variants"

_INSPECT = Path(__file__).with_name("inspect_task.txt").read_text(encoding="utf-8")
_LM_EVAL = Path(__file__).with_name("lm_eval_task.yaml").read_text(encoding="utf-8")


def write_inspect(
    folder: Path, study: Study, use: ModelUse, planned_prompts: Sequence[PlannedPrompt]
) -> list[Path]:
    """Write an Inspect task, `flipscope_variants.py`, and its data set; return both files."""
    rows = []
    for prompt in planned_prompts:
        request = prompt.request
        messages = _messages(prompt) if request.system or request.turns else request.prompt
        row = {
            "id": prompt.prompt_id,
            "input": messages,
            "target": list(prompt.right_answers) or "",
        }
        rows.append(row | prompt.marks)
    settings = {
        "temperature": use.temperature,
        "top_p": use.top_p,
        "max_tokens": use.max_tokens,
        "seed": use.seed,
    }
    words = [f"{key}={value!r}" for key, value in settings.items()]
    words += [f"stop_seqs={list(use.stop)!r}"] if use.stop else []
    code = _INSPECT.format(
        import_command=command("import"),
        study_id=study.study_id,
        file=f"{TASK_NAME}.py",
        task=TASK_NAME,
        dataset=DATASET,
        settings=", ".join(words),
    )
    return [_write_lines(folder / DATASET, rows), write(folder / f"{TASK_NAME}.py", code)]


def write_lm_eval(
    folder: Path, study: Study, use: ModelUse, planned_prompts: Sequence[PlannedPrompt]
) -> list[Path]:
    """Write an lm-eval task, `flipscope_variants.yaml`, and its data set; return both files. The
    task has no few-shot examples, and the harness uses its own seed. Raises BadInput for a prompt
    of several turns, which the harness would send as one message."""
    if any(prompt.request.turns for prompt in planned_prompts):
        raise BadInput(
            "lm-eval would send each prompt as one message, and this study's examples are turns of"
            " their own. Take inspect or jsonl."
        )
    rows = []
    for prompt in planned_prompts:
        target = prompt.right_answers[0] if prompt.right_answers else ""
        row: dict[str, Any] = {
            "id": prompt.prompt_id,
            "prompt": prompt.request.prompt,
            "target": target,
        }
        rows.append(row | prompt.marks)
    settings = {
        "until": list(use.stop),
        "max_gen_toks": use.max_tokens,
        "temperature": use.temperature,
        "do_sample": use.temperature > 0,
    }
    settings |= {"top_p": use.top_p} if use.temperature > 0 else {}
    lines = "\n".join(f"  {key}: {json.dumps(value)}" for key, value in settings.items())
    systems = [prompt.request.system for prompt in planned_prompts if prompt.request.system]
    flag = f" --system_instruction {json.dumps(systems[0])}" if systems else ""
    code = _LM_EVAL.format(
        import_command=command("import"),
        study_id=study.study_id,
        task=TASK_NAME,
        dataset=DATASET,
        settings=lines,
        system=flag,
    )
    return [_write_lines(folder / DATASET, rows), write(folder / f"{TASK_NAME}.yaml", code)]


def write_jsonl(
    folder: Path, study: Study, use: ModelUse, planned_prompts: Sequence[PlannedPrompt]
) -> list[Path]:
    """Write one prompt per line, and return the file. The user puts each answer into `response`,
    how it ended into `finish_reason`, and imports it."""
    rows = [
        {
            "id": prompt.prompt_id,
            "messages": _messages(prompt),
            "temperature": use.temperature,
            "top_p": use.top_p,
            "max_tokens": use.max_tokens,
            "seed": use.seed,
            "stop": list(use.stop),
            "right": list(prompt.right_answers),
            "metadata": prompt.marks,
            "response": None,
            "finish_reason": None,
        }
        for prompt in planned_prompts
    ]
    return [_write_lines(folder / "prompts.jsonl", rows)]


WRITERS: dict[str, Callable[[Path, Study, ModelUse, Sequence[PlannedPrompt]], list[Path]]] = {
    "inspect": write_inspect,
    "lm-eval": write_lm_eval,
    "jsonl": write_jsonl,
}


def _messages(prompt: PlannedPrompt) -> list[dict[str, str]]:
    system = [{"role": "system", "content": prompt.request.system}] if prompt.request.system else []
    return [*system, *prompt.request.messages]


def _write_lines(path: Path, rows: Sequence[dict]) -> Path:
    return write(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


HARNESSES = tuple(WRITERS)
_NEXT_STEPS = {
    "inspect": f"inspect eval {TASK_NAME}.py --model …",
    "lm-eval": (
        f"lm_eval --include_path . --tasks {TASK_NAME} --log_samples --output_path out --model …"
    ),
    "jsonl": "put each answer into `response`, and how it ended into `finish_reason`",
}


@dataclass(frozen=True)
class VariantFiles:
    """The written files; `sentence` says what was written and left out, and what to do next."""

    files: tuple[Path, ...]
    n_prompts: int
    sentence: str


def write_variants(
    store: Store, study: Study, harness: str, folder: str | Path, model: str = ""
) -> VariantFiles:
    """Write the planned prompts of one of the study's models, and study.toml, into a folder. A
    study that is not in the database is stored as planned, so that the answers can be imported.
    Raises BadInput for a study whose prompts cannot be written out."""
    require(Permission.PUBLISH)
    return _files_of(store, study, harness, Path(folder), model)


def _files_of(store: Store, study: Study, harness: str, folder: Path, model: str) -> VariantFiles:
    if harness not in WRITERS:
        raise BadInput(f"There is no harness {harness!r}; choose one of {', '.join(HARNESSES)}.")
    study_plan, use = planned_of(study, store), use_of(study, model)
    items = shown_items(study_plan, store)
    planned_prompts = list(prompts(study_plan, use, items))
    if not planned_prompts:
        raise BadInput(
            "Every item of this study is set aside until its settings are locked, so no prompt can"
            " be written."
        )
    files = WRITERS[harness](folder, study, use, planned_prompts)
    write(folder / "study.toml", study.to_toml())
    if studies.study(store, study.study_id) is None:
        row = study_row(
            study,
            "planned",
            f"Its prompts were written for {harness}.",
            n_calls=len(planned_prompts),
        )
        store.writer.add_together([*declared_rows(study_plan), ("studies", [row])]).result(60)
    n_hidden = len(study_plan.items) - len(items)
    sentence = (
        f"{count_of(len(planned_prompts), 'prompt')} on {count_of(len(items), 'item')} for"
        f" {use.name}."
    )
    if n_hidden:
        sentence += (
            f" {count_of(n_hidden, 'item is', 'items are')} set aside until the settings are"
            " locked, and left out."
        )
    unread = [
        extractor.name for extractor in study_plan.extractors if not extractor.reads_text_alone
    ]
    if unread:
        sentence += f" {', '.join(unread)} will be absent: a harness returns written answers only."
    sentence += f" Next: {_NEXT_STEPS[harness]}; then {command('import')} on what it wrote."
    return VariantFiles((*files, folder / "study.toml"), len(planned_prompts), sentence)


def zipped_variants(store: Store, study: Study, harness: str, model: str = "") -> tuple[bytes, str]:
    """Return (a zip of the files of `write_variants`, its sentence)."""
    with work_folder("variants") as folder:
        variant_files = _files_of(store, study, harness, folder, model)
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in variant_files.files:
                archive.write(path, path.name)
    return packed.getvalue(), variant_files.sentence
