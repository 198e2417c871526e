"""Corrections of guesses about logs, as "key=value" from the command line or the page."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from flipcore.core.errors import BadInput
from flipcore.core.records import BASE, KINDS, OTHER_PROMPT, ROLES
from flipcore.core.study import CONTROLS
from flipcore.datasets.recorded.formats import READERS
from flipcore.datasets.recorded.formats.tables import (
    COLUMN,
    COLUMN_KEYS,
    READ,
    TABLE,
    column_correction,
)
from flipcore.datasets.recorded.log_documents import JOINS
from flipcore.datasets.recorded.log_places import OWN_PROMPT
from flipcore.datasets.recorded.log_records import LogRecord, Rejection
from flipcore.datasets.recorded.log_rows import UNNAMED

KEYS = tuple(
    "model kind role control unpublished_control reference name format leave join cluster scale "
    "axis harmless target prompt sample".split()
)
CLUSTERS = ("family", "subject", "none")
# The value of `sample=rows`: number the rows of each prompt, whatever samples the log gives.
ROWS = "rows"
MAX_SAMPLES = 60_000
# Keys that an axis or a file must follow, as in "axis:old=new"
_KEYS_WITH_NAME = ("axis", "harmless", "prompt")
_File = TypeVar("_File")


def model_of(corrections: Mapping[str, str], name: str) -> str:
    """Return the model's name: "model:old=new", the log's name, or "model=new" without one."""
    return corrections.get(f"model:{name}") or name or corrections.get("model") or UNNAMED


def axis_of(corrections: Mapping[str, str], name: str) -> str:
    """Return the axis's name: "axis:old=new", or the name as it is."""
    return corrections.get(f"axis:{name}") or name


def scale_in(word: str) -> tuple[float, float]:
    """Return the ends of a scale: (1, 5) for "scale:grade=1..5". BadInput for anything else."""
    low, _, high = word.rpartition("=")[2].partition("..")
    try:
        lowest, highest = float(low), float(high)
    except ValueError:
        lowest = highest = math.nan
    if not -math.inf < lowest < highest < math.inf:
        raise BadInput(
            f"{word!r} is no scale; write the least and the most that a score can be, "
            "as in scale:SCORER=1..5."
        )
    return lowest, highest


def _counted_from_zero(targets: tuple[str, ...]) -> tuple[str, ...]:
    """Return indices that count from 1 as indices that count from 0; other targets stay."""
    indices = []
    for target in targets:
        counts_from_one = target.strip().isdecimal() and int(target) > 0
        indices.append(str(int(target) - 1) if counts_from_one else target)
    return tuple(indices)


# value of the correction "target" -> (a record's right answers, whether they are indices)
TARGETS: dict[str, Callable[[LogRecord], tuple[tuple[str, ...], bool]]] = {
    "index": lambda record: (record.targets, True),
    "index1": lambda record: (_counted_from_zero(record.targets), True),
    "text": lambda record: (record.targets, False),
    "none": lambda record: ((), False),
}


def corrected(
    records: Iterable[LogRecord | Rejection], corrections: Mapping[str, str], file: str
) -> Iterator[LogRecord | Rejection]:
    """Yield the records of a file with the right answers, prompt and sample corrected."""
    if not any(key.partition(":")[0] in ("target", "prompt", "sample") for key in corrections):
        yield from records
        return
    prompt = _for_file(corrections, "prompt", file)
    sample = _for_file(corrections, "sample", file) or corrections.get("sample", "")
    for record in records:
        if isinstance(record, LogRecord):
            form = corrections.get(f"target:{record.task}") or corrections.get("target")
            if form:
                record.targets, record.target_is_place = TARGETS[form](record)
            if prompt not in ("", BASE) and record.axis in ("", OWN_PROMPT):
                record.axis, record.variant = OTHER_PROMPT, prompt
            if sample == ROWS:
                record.sample = None
            elif sample:
                record.sample_from = int(sample)
        yield record


def _for_file(corrections: Mapping[str, str], base_key: str, file: str) -> str:
    """Return the correction for a file, by its path or its last part; "" without one."""
    name = file.rpartition("/")[2]
    return corrections.get(f"{base_key}:{file}") or corrections.get(f"{base_key}:{name}") or ""


def in_order(
    files: Sequence[_File], corrections: Mapping[str, str], name_of: Callable[[_File], str]
) -> list[_File]:
    """Sort the files into the order in which they are read. Raises BadInput for a correction that
    names a file that was not given."""
    names = [name_of(file) for file in files]
    short_names = [name.rpartition("/")[2] for name in names]
    for key in corrections:
        base_key, _, file = key.partition(":")
        if base_key in ("prompt", "sample") and file and file not in (*names, *short_names):
            raise BadInput(
                f"{key!r} names no file that was given; the files are {', '.join(names[:8])}."
            )

    def order_key(file: _File) -> tuple[bool, int]:
        # The first prompt read of an item becomes its base, and samples are numbered in the order
        # read. So the file of the base comes first, then files by their first sample.
        sample = _for_file(corrections, "sample", name_of(file))
        is_later = _for_file(corrections, "prompt", name_of(file)) != BASE
        return is_later, int(sample) if sample.isdecimal() else 0

    return sorted(files, key=order_key)


def corrections_of(words: Iterable[str], *, of_tables: bool = False) -> dict[str, str]:
    """Parse words such as "kind=choice" into corrections by key.

    - `model=…`, `model:OLD=…`, `kind=…`, `kind:TASK=…`, `role=…`, `role:TASK=…`
    - `control=…` (what the controls are), `unpublished_control=yes` (never published)
    - `reference=MODEL,…` (models from whose scores the hardness curve predicts those of others)
    - `name=…`, `format=…`, `leave=READOUT,…`, `join=id|text` (all files)
    - `cluster=…`, `cluster:TASK=family|subject|none`
    - `scale=LOW..HIGH`, `scale:SCORER=LOW..HIGH` (the lowest and the highest possible score)
    - `axis:OLD=NEW`, `harmless:AXIS=yes|no` (AXIS is the name after any renaming)
    - `target=…`, `target:TASK=index|index1|text|none` (form of right answers; none: no answers)
    - `prompt:FILE=NAME` (the prompt of the file's outputs; others are compared with "base")
    - `sample:FILE=N` (number of its first sample), `sample=rows`, `sample:FILE=rows` (each row
      is a further sample)

    With `of_tables` also columns: `prompt=COLUMN` and the other keys of a `Recording`, which take
    precedence over those of logs; `read:READOUT=COLUMN` (replaces the guess) and `read=` (the table
    holds no readout). Raises BadInput for anything else.
    """
    corrections: dict[str, str] = {}
    for word in words:
        base_key = word.partition("=")[0].partition(":")[0]
        if (of_tables or word.startswith((COLUMN, READ))) and "=" in word:
            if correction := column_correction(word):
                key, value = correction
                corrections[key] = value
                continue
        if of_tables and base_key not in KEYS:
            raise BadInput(
                f"{word!r} maps nothing; write key=column with one of the keys "
                f"{', '.join(COLUMN_KEYS)}, or {', '.join(KEYS)}."
            )
        # A file's name may hold "=", so corrections of files are split at the last "=".
        is_of_file = base_key in ("prompt", "sample")
        key, sign, value = word.rpartition("=") if is_of_file else word.partition("=")
        if not sign or base_key not in KEYS:
            raise BadInput(
                f"{word!r} corrects nothing; write key=value with one of the keys "
                f"{', '.join(KEYS)}."
            )
        if base_key in _KEYS_WITH_NAME and ":" not in key:
            raise BadInput(_NAME_MISSING[base_key].format(word=word))
        _check_value(word, base_key, key, value)
        corrections[key] = value
    return corrections


_NAME_MISSING = {
    "axis": "{word!r} names no axis; write axis:AXIS=value, for example axis:prompt=style.",
    "harmless": "{word!r} names no axis; write harmless:AXIS=value, "
    "for example harmless:prompt=no.",
    "prompt": "{word!r} names no file; write prompt:FILE=name, "
    "for example prompt:samples.jsonl=base.",
}


def _check_value(word: str, base_key: str, key: str, value: str) -> None:
    choices: dict[str, Sequence[str]] = {
        "kind": KINDS,
        "role": ROLES,
        "format": [*(reader.name for reader in READERS), TABLE],
        "join": JOINS,
        "cluster": CLUSTERS,
        "control": CONTROLS,
        "harmless": ("yes", "no"),
        "unpublished_control": ("yes", "no"),
        "target": tuple(TARGETS),
    }
    if base_key in choices and value not in choices[base_key]:
        raise BadInput(f"{word!r}: {base_key} is one of {', '.join(choices[base_key])}.")
    if base_key == "scale":
        scale_in(word)
    if base_key == "prompt" and not value.strip():
        raise BadInput(f"{word!r} gives the prompt no name.")
    is_number = ":" in key and value.isdecimal() and int(value) <= MAX_SAMPLES
    if base_key == "sample" and value != ROWS and not is_number:
        raise BadInput(
            f"{word!r}: write sample:FILE=N with a whole number from 0 to {MAX_SAMPLES:,}, "
            f"or sample={ROWS}."
        )
