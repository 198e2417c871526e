"""What a user corrects of the guesses about logs: words that the command line takes and the page writes."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from flipcore.core.errors import BadInput
from flipcore.core.records import BASE, KINDS, OTHER_PROMPT, ROLES
from flipcore.core.study import CONTROLS
from flipcore.datasets.recorded.formats import READERS
from flipcore.datasets.recorded.formats.tables import COLUMN, COLUMN_KEYS, READ, TABLE, column_correction
from flipcore.datasets.recorded.log_documents import JOINS
from flipcore.datasets.recorded.log_places import OWN_PROMPT
from flipcore.datasets.recorded.log_records import LogRecord, Rejection
from flipcore.datasets.recorded.log_rows import UNNAMED

KEYS = tuple(
    "model kind role control unpublished_control reference name format leave join cluster scale axis harmless target prompt "
    "sample".split()
)
CLUSTERS = ("family", "subject", "none")
ROWS = "rows"  # each row of a prompt is its next sample, whatever the log says
MOST_SAMPLES = 60_000
_FOR_ALL = ("axis", "harmless", "prompt")  # keys that name one axis or file
_File = TypeVar("_File")


def model_of(corrections: Mapping[str, str], name: str) -> str:
    """The model's name: a correction "model:old=new", the name in the log, a correction "model=new" for logs without one."""
    return corrections.get(f"model:{name}") or name or corrections.get("model") or UNNAMED


def axis_of(corrections: Mapping[str, str], name: str) -> str:
    """The axis's name: a correction "axis:old=new", or as it was derived."""
    return corrections.get(f"axis:{name}") or name


def scale_in(word: str) -> tuple[float, float]:
    """ "scale:grade=1..5" -> (1, 5). Raises BadInput for anything else."""
    low, _, high = word.rpartition("=")[2].partition("..")
    try:
        ends = float(low), float(high)
    except ValueError:
        ends = math.nan, math.nan
    if not -math.inf < ends[0] < ends[1] < math.inf:
        raise BadInput(f"{word!r} is no scale; write the least and the most that a score can be, as in scale:SCORER=1..5.")
    return ends


def _from_one(targets: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(str(int(one) - 1) if one.strip().isdecimal() and int(one) else one for one in targets)


TARGETS: dict[str, Callable[[LogRecord], tuple[tuple[str, ...], bool]]] = {
    "index": lambda record: (record.targets, True),
    "index1": lambda record: (_from_one(record.targets), True),
    "text": lambda record: (record.targets, False),
    "none": lambda record: ((), False),
}


def corrected(
    records: Iterable[LogRecord | Rejection], corrections: Mapping[str, str], file: str
) -> Iterator[LogRecord | Rejection]:
    """The records of a file with right answers, prompt and sample as the user says."""
    if not any(key.partition(":")[0] in ("target", "prompt", "sample") for key in corrections):
        yield from records
        return
    prompt = _of_file(corrections, "prompt", file)
    sample = _of_file(corrections, "sample", file) or corrections.get("sample", "")
    for record in records:
        if isinstance(record, LogRecord):
            how = corrections.get(f"target:{record.task}") or corrections.get("target")
            if how:
                record.targets, record.target_is_place = TARGETS[how](record)
            if prompt not in ("", BASE) and record.axis in ("", OWN_PROMPT):
                record.axis, record.variant = OTHER_PROMPT, prompt
            if sample == ROWS:
                record.sample = None
            elif sample:
                record.sample_from = int(sample)
        yield record


def _of_file(corrections: Mapping[str, str], plain: str, file: str) -> str:
    """What is said of a file, by its whole name or the last part of it."""
    return corrections.get(f"{plain}:{file}") or corrections.get(f"{plain}:{file.rpartition('/')[2]}") or ""


def in_order(files: Sequence[_File], corrections: Mapping[str, str], name_of: Callable[[_File], str]) -> list[_File]:
    """The files as they will be read: the first prompt of an item is its base, and samples count on, so those come first that
    are said to be so. Raises BadInput for a correction of a file that is not there."""
    names = [name_of(file) for file in files]
    for key in corrections:
        plain, _, file = key.partition(":")
        if plain in ("prompt", "sample") and file and not any(file in (name, name.rpartition("/")[2]) for name in names):
            raise BadInput(f"{key!r} names no file that was given; the files are {', '.join(names[:8])}.")

    def place(file: _File) -> tuple[bool, int]:
        sample = _of_file(corrections, "sample", name_of(file))
        any_base = any(key.startswith("prompt:") and value == BASE for key, value in corrections.items())
        return any_base and _of_file(corrections, "prompt", name_of(file)) != BASE, int(sample) if sample.isdecimal() else 0

    return sorted(files, key=place)


def corrections_of(words: Iterable[str], of_tables: bool = False) -> dict[str, str]:
    """`model=…`, `model:OLD=…`, `kind=…`, `kind:TASK=…`, `role=…`, `role:TASK=…`, `control=…` (what the controls are),
    `unpublished_control=yes` (the controls were never published),
    `reference=MODEL,…` (by whose scores the hardness curve expects those of the others), `name=…`,
    `format=…`, `leave=READOUT,…`, `join=id|text` (all files), `cluster=…`, `cluster:TASK=family|subject|none`, `scale=LOW..HIGH`,
    `scale:SCORER=LOW..HIGH` (the least and the most that a score can be), `axis:OLD=NEW`,
    `harmless:AXIS=yes|no` (AXIS as it is called afterwards), `target=…`, `target:TASK=index|index1|text|none` (how right answers
    are written; none leaves them out),
    `prompt:FILE=NAME` (the prompt that the file's outputs answer; "base" is the one that others are compared with),
    `sample:FILE=N` (the number of its first sample), `sample=rows`, `sample:FILE=rows` (each row is a further sample).

    Of tables, also what their columns hold: `prompt=COLUMN` and the other keys of a `Recording`, which come before those of logs,
    `read:READOUT=COLUMN` (what was recorded; replaces what was guessed), `read=` (nothing was).

    Raises BadInput for anything else."""
    corrections: dict[str, str] = {}
    for word in words:
        plain = word.partition("=")[0].partition(":")[0]
        if (of_tables or word.startswith((COLUMN, READ))) and "=" in word and (pair := column_correction(word)):
            corrections[pair[0]] = pair[1]
            continue
        if of_tables and plain not in KEYS:
            raise BadInput(
                f"{word!r} maps nothing; write key=column with one of the keys {', '.join(COLUMN_KEYS)}, or {', '.join(KEYS)}."
            )
        key, sign, value = word.rpartition("=") if plain in ("prompt", "sample") else word.partition("=")
        if not sign or plain not in KEYS:
            raise BadInput(f"{word!r} corrects nothing; write key=value with one of the keys {', '.join(KEYS)}.")
        if plain in _FOR_ALL and ":" not in key:
            raise BadInput(_NAMES_NONE[plain].format(word=word))
        _check_value(word, plain, key, value)
        corrections[key] = value
    return corrections


_NAMES_NONE = {
    "axis": "{word!r} names no axis; write axis:AXIS=value, for example axis:prompt=style.",
    "harmless": "{word!r} names no axis; write harmless:AXIS=value, for example harmless:prompt=no.",
    "prompt": "{word!r} names no file; write prompt:FILE=name, for example prompt:samples.jsonl=base.",
}


def _check_value(word: str, plain: str, key: str, value: str) -> None:
    formats = (*(one.name for one in READERS), TABLE)
    choices = {"kind": KINDS, "role": ROLES, "format": formats, "join": JOINS, "cluster": CLUSTERS, "control": CONTROLS}
    choices |= {"harmless": ("yes", "no"), "unpublished_control": ("yes", "no"), "target": tuple(TARGETS)}
    if plain in choices and value not in choices[plain]:
        raise BadInput(f"{word!r}: {plain} is one of {', '.join(choices[plain])}.")
    if plain == "scale":
        scale_in(word)
    if plain == "prompt" and not value.strip():
        raise BadInput(f"{word!r} gives the prompt no name.")
    is_number = ":" in key and value.isdecimal() and int(value) <= MOST_SAMPLES
    if plain == "sample" and value != ROWS and not is_number:
        raise BadInput(f"{word!r}: write sample:FILE=N with a whole number from 0 to {MOST_SAMPLES:,}, or sample={ROWS}.")
