"""A study's prompts for another harness in a folder, or in a zip for a browser."""

import io
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from flipcore.access.acting import require
from flipcore.access.levels import Permission
from flipcore.core.errors import BadInput
from flipcore.core.study import Study
from flipcore.core.whole_files import write
from flipcore.runs.declaration import declared_rows
from flipcore.runs.harnesses.files import TASK_NAME, WRITERS
from flipcore.runs.harnesses.planned import planned_of, prompts, shown_items, use_of
from flipcore.runs.origins import study_row
from flipcore.store.connection import Store
from flipcore.store.queries import studies
from flipcore.text.counts import count_of

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
    unread = [one.name for one in study_plan.extractors if one.abilities != {"generate"} or one.needs_judge]
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
