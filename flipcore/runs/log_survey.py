"""What lies in files before anything is stored: which formats, how many outputs, of what, and what each guess was.

One pass over the records, which keeps counts and no texts. The `Survey` is what the command line and the page show, what a
user corrects, and what the import then does.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from flipcore.core.errors import BadInput
from flipcore.core.records import KINDS, ROLES
from flipcore.datasets.recorded.formats import READERS
from flipcore.datasets.recorded.formats.reader import Reader
from flipcore.datasets.recorded.log_answers import kind_of
from flipcore.datasets.recorded.log_files import Source, lfs_pointer, sources
from flipcore.datasets.recorded.log_records import LogAbout, LogRecord, Refused, Reported
from flipcore.datasets.recorded.log_rows import OTHER_PROMPT, OWN_PROMPT, UNNAMED

KEYS = ("model", "kind", "role", "name", "format", "leave")
N_REFUSED = 200
_EVERY = 2_000


@dataclass(frozen=True)
class LogFile:
    """One file of an import: what reads it, what lies beside it, and the digest that names its outputs."""

    source: Source
    reader: Reader
    about: LogAbout
    revision: str


@dataclass
class Survey:
    """What was recognised. `kinds` are by task, `models`, `readouts`, `axes` in order of appearance; `unread` are sentences for
    files that no reader knows; `refused` the first sentences for rows, `n_refused` all of them."""

    files: list[LogFile]
    beside: list[Source]
    unread: list[str]
    corrections: Mapping[str, str] = field(default_factory=dict)
    n_records: int = 0
    n_refused: int = 0
    n_samples: int = 1
    refused: list[str] = field(default_factory=list)
    kinds: dict[str, str] = field(default_factory=dict)
    models: dict[str, dict] = field(default_factory=dict)
    readouts: dict[str, int] = field(default_factory=dict)
    axes: dict[str, int] = field(default_factory=dict)
    has_text: bool = False
    has_scores: bool = False
    first: list[LogRecord] = field(default_factory=list)

    @property
    def reported(self) -> list[Reported]:
        """The scores that the logs report of themselves, under the names that their models have here."""
        return [replace(one, model=model_of(self.corrections, one.model)) for file in self.files for one in file.about.reported]

    @property
    def name(self) -> str:
        """The study's name: as corrected, or after tasks and models."""
        tasks, models = list(self.kinds), list(self.models)
        said = [", ".join(some[:2]) + (f" and {len(some) - 2} more" if len(some) > 2 else "") for some in (tasks, models)]
        return self.corrections.get("name") or f"{said[0]} by {said[1]}, recorded"

    def sentences(self) -> list[str]:
        """What was recognised, what is used and what is left, for people."""
        formats = Counter(file.about.format for file in self.files)
        said = ["Recognised: " + ", ".join(f"{n:,} × {name}" for name, n in formats.items()) + "."]
        said.append(
            f"{self.n_records:,} rows on {len(self.kinds):,} task{'s' * (len(self.kinds) != 1)}; models: "
            f"{', '.join(self.models)}; readouts: {', '.join(self.readouts) or 'none recorded'}."
        )
        said.append("Kinds: " + ", ".join(f"{task}={kind}" for task, kind in list(self.kinds.items())[:12]) + ".")
        used = dict.fromkeys(name for file in self.files for name in file.about.uses)
        said += [f"Read with them: {', '.join(used)}."] if used else []
        left = dict.fromkeys(name for file in self.files for name in file.about.leaves)
        said += [f"Not used: {', '.join(left)}."] if left else []
        said += list(dict.fromkeys(note for file in self.files for note in file.about.notes))
        if self.n_refused:
            said.append(f"Rows that were refused: {self.n_refused:,}. The first: {self.refused[0]}")
        return said + self.unread


def model_of(corrections: Mapping[str, str], named: str) -> str:
    """The model's name: a correction "model:old=new", the name in the log, a correction "model=new" for logs without one."""
    return corrections.get(f"model:{named}") or named or corrections.get("model") or UNNAMED


def corrections_of(words: Iterable[str]) -> dict[str, str]:
    """`model=…`, `model:OLD=…`, `kind=…`, `kind:TASK=…`, `role=…`, `role:TASK=…`, `name=…`, `format=…`, `leave=READOUT,…`.

    Raises BadInput for anything else."""
    kept: dict[str, str] = {}
    for word in words:
        key, sign, value = word.partition("=")
        plain = key.partition(":")[0]
        if not sign or plain not in KEYS:
            raise BadInput(f"{word!r} corrects nothing; write key=value with one of the keys {', '.join(KEYS)}.")
        allowed = {"kind": KINDS, "role": ROLES, "format": tuple(one.name for one in READERS)}.get(plain)
        if allowed and value not in allowed:
            raise BadInput(f"{word!r}: {plain} is one of {', '.join(allowed)}.")
        kept[key] = value
    return kept


def recognised(
    paths: Sequence[str | Path], corrections: Mapping[str, str] | None = None
) -> tuple[list[LogFile], list[Source], list[str]]:
    """(files that a reader knows, files that go with them, sentences for the rest)."""
    known, beside, unread = [], [], []
    for source in sources(paths):
        try:
            pointer = lfs_pointer(source) if source.size else f"{source.name} is empty."
            if pointer:
                unread.append(pointer)
            elif any(reader.belongs(source) for reader in READERS):
                beside.append(source)
            else:
                known.append((source, _reader(source, corrections or {})))
        except (BadInput, OSError) as error:
            unread.append(str(error))
    files = []
    for source, reader in known:
        if reader is None:
            unread.append(f"{source.name} is no log that is known here; it is left out.")
            continue
        try:
            files.append(LogFile(source, reader, reader.about(source, beside), _revision(source)))
        except BadInput as error:
            unread.append(str(error))
    return files, beside, unread


def _reader(source: Source, corrections: Mapping[str, str]) -> Reader | None:
    if corrections.get("format"):
        return next(one for one in READERS if one.name == corrections["format"])
    return next((reader for reader in READERS if reader.recognises(source)), None)


def _revision(source: Source) -> str:
    with source.path.open("rb") as stream:
        return f"recorded-{hashlib.file_digest(stream, 'sha256').hexdigest()[:8]}"


def survey(
    paths: Sequence[str | Path], corrections: Mapping[str, str] | None = None, on_progress: Callable[[int], None] | None = None
) -> Survey:
    """Reads everything once. Raises BadInput when no file is a log or no row of them can be used."""
    corrections = corrections or {}
    files, beside, unread = recognised(paths, corrections)
    if not files:
        raise BadInput(" ".join(unread[:5]) or "There is no file; give a log, a folder of logs or a zip.")
    found = Survey(files, beside, unread, corrections)
    votes: dict[str, Counter] = {}
    prompts: dict[int, int] = {}
    for file in files:
        try:
            for record in file.reader.records(file.source, beside):
                _counted(record, found, votes, prompts)
                if on_progress and (found.n_records + found.n_refused) % _EVERY == 0:
                    on_progress(found.n_records)
        except BadInput as error:
            found.unread.append(f"{error} What stands before that place is used.")
    if not found.n_records:
        raise BadInput(" ".join([*found.refused[:1], *found.unread[:3]]) or "The files hold no outputs.")
    for task, counted in votes.items():
        guess = "choice" if 2 * counted["choice"] > counted.total() else "text" if counted["text"] else "number"
        found.kinds[task] = corrections.get(f"kind:{task}") or corrections.get("kind") or guess
    return found


def _counted(record: LogRecord | Refused, found: Survey, votes: dict[str, Counter], prompts: dict[int, int]) -> None:
    if isinstance(record, Refused):
        found.n_refused += 1
        if len(found.refused) < N_REFUSED:
            found.refused.append(record.sentence)
        return
    found.n_records += 1
    if len(found.first) < 8:
        found.first.append(record)
    counted = votes.get(record.task) or votes.setdefault(record.task, Counter())
    counted[kind_of(record)] += 1
    model = model_of(found.corrections, record.model)
    if model not in found.models:
        found.models[model] = dict(record.sampling)
    for one in record.readouts:
        found.readouts[one.name] = found.readouts.get(one.name, 0) + 1
    found.n_samples = max(found.n_samples, (record.sample or 0) + 1)
    found.has_text |= record.text is not None
    found.has_scores |= record.option_scores is not None
    place = hash((model, record.item_hash or (record.task, record.item)))
    asked = hash((record.prompt, record.system))
    axis = record.axis or (OWN_PROMPT if prompts.setdefault(place, asked) == asked else OTHER_PROMPT)
    found.axes[axis] = found.axes.get(axis, 0) + 1
