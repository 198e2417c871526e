"""Stored outputs read again by another extractor or a pattern: new readouts beside the old ones, without a call.

Each re-reading is a version of its own ("pattern v1", "regex v2"), so nothing that was shown before changes.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from flipcore.access.acting import Permission, require
from flipcore.core.contracts import Extractor
from flipcore.core.errors import BadInput
from flipcore.core.records import BASE, Completion, Item, Prompt, Reading, Readout, Variant, correctness
from flipcore.core.version import __version__
from flipcore.extractors import EXTRACTORS, VALUES, extractor_of
from flipcore.store import rows
from flipcore.store.connection import Store
from flipcore.store.queries import planning, studies

_BATCH = 2_000
CAN_REREAD = tuple(name for name, one in EXTRACTORS.items() if one.reads_text_alone and name not in VALUES)


def reread(store: Store, study_id: str, extractor: str, params: Mapping[str, Any] | None = None) -> str:
    """Reads every stored answer of the study and returns the name of the new readouts. The same extractor with the same
    parameters gives the same version again.

    Raises BadInput for an extractor that needs more than written answers, and for a study that holds none that it can read."""
    require(Permission.RUN)
    studies.declared(store, study_id)
    if extractor not in CAN_REREAD:
        raise BadInput(f"{extractor!r} cannot read stored answers; choose one of {', '.join(CAN_REREAD)}.")
    reader = extractor_of(extractor, params)
    name, versions = version_of(store, study_id, extractor, dict(params or {}))
    if not _keep(store, study_id, _readouts(store, study_id, reader, name)):
        kinds = " or ".join(sorted(reader.applies_to))
        raise BadInput(f"This study holds no written answer to a {kinds} item, so {extractor} has nothing to read.")
    _keep_mark(store, study_id, versions)
    return name


def params_of(extractor: str, words: Sequence[str]) -> dict[str, Any]:
    """KEY=VALUE words as parameters, in the type that the extractor's own have: a list is separated by commas.

    Raises BadInput for a word without a sign, or a number that is none."""
    params: dict[str, Any] = {}
    for word in words:
        key, sign, value = word.partition("=")
        if not sign:
            raise BadInput(f"{word!r} sets nothing; write KEY=VALUE, for example expression=answer: (.+)")
        default = getattr(EXTRACTORS.get(extractor), key, "")
        try:
            params[key] = tuple(value.split(",")) if isinstance(default, tuple) else type(default)(value)
        except (TypeError, ValueError):
            raise BadInput(f"{key} is {value!r}; it must be of the kind of {default!r}.") from None
    return params


def versions_of(store: Store, study_id: str) -> dict[str, dict[str, Any]]:
    """Name -> extractor, parameters and Flipscope's version of each re-reading of a study, in order."""
    text = store.rows("SELECT value FROM store_info WHERE key = $key", key=_key(study_id))
    return json.loads(text[0][0]) if text else {}


def _key(study_id: str) -> str:
    return f"reread {study_id}"


def keep_version(
    store: Store, study_id: str, name: str, extractor: str, params: dict[str, Any], readouts: Sequence[Readout]
) -> None:
    """Stores all readouts of a re-reading, and that it was made."""
    versions = version_of(store, study_id, extractor, params)[1]
    _keep(store, study_id, readouts)
    _keep_mark(store, study_id, versions)


def _keep_mark(store: Store, study_id: str, versions: Mapping[str, Any]) -> None:
    mark = {"key": _key(study_id), "value": json.dumps(versions, ensure_ascii=False)}
    store.writer.add("store_info", [mark]).result()
    store.touch([study_id])


def version_of(store: Store, study_id: str, extractor: str, params: dict[str, Any]) -> tuple[str, dict[str, dict[str, Any]]]:
    """The name of this re-reading, which may have been made before, and all versions with it."""
    versions, names = versions_of(store, study_id), studies.axes_and_extractors(store, study_id)[1]
    declared = json.loads(json.dumps({"extractor": extractor, "params": params, "version": __version__}))
    for name, one in versions.items():
        if one == declared:
            return name, versions
    number = 1 + (extractor in names) + sum(one["extractor"] == extractor for one in versions.values())
    while (name := f"{extractor} v{number}") in names:
        number += 1
    return name, versions | {name: declared}


@dataclass(frozen=True)
class Answer:
    """One stored answer with its item and prompt, as a readout finds it."""

    model: str
    item: Item
    variant: Variant
    variant_id: str  # as stored: recordings may hold one prompt under several ids
    sample: int
    completion: Completion

    def readout(self, name: str, reading: Reading, is_correct: bool | None, sources: Sequence[str]) -> Readout:
        """What `name` reads in it."""
        place = (self.model, self.item.item_id, self.variant.axis, self.variant_id, self.sample)
        return Readout(*place, name, reading, is_correct, tuple(sources))


def stored_answers(store: Store, study_id: str, kinds: Sequence[str]) -> Iterator[Answer]:
    """Every stored answer of the study to an item of one of these kinds and to a prompt that asks for an answer."""
    for row in planning.written_answers(store, study_id, sorted(kinds)):
        item = Item(row["item_id"], row["dataset"], row["kind"], row["question"], tuple(row["options"]), row["item_target"])
        variant = Variant(
            row["item_id"],
            row["axis"],
            BASE,
            Prompt(tuple((part, text) for part, text in json.loads(row["parts"])), row["system"]),
            row["target"],
            tuple(row["option_order"]),
            tuple(row["labels"]),
            row["layout"],
        )
        yield Answer(row["model"], item, variant, row["variant_id"], row["sample"], rows.completion_of(row))


def _readouts(store: Store, study_id: str, reader: Extractor, name: str) -> Iterator[Readout]:
    for answer in stored_answers(store, study_id, sorted(reader.applies_to)):
        reading = reader.read(answer.item, answer.variant, [answer.completion])
        is_correct = correctness(reading, answer.variant.target)
        yield answer.readout(name, reading, is_correct, [answer.completion.call_id])


def _keep(store: Store, study_id: str, readouts: Iterable[Readout]) -> int:
    """How many there were; a batch of them in memory at once."""
    left, n = iter(readouts), 0
    while batch := list(islice(left, _BATCH)):
        readout_rows, source_rows = rows.readout_rows(study_id, batch)
        store.writer.add_together([("readouts", readout_rows), ("readout_sources", source_rows)]).result()
        n += len(batch)
    return n
