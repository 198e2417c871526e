"""What a plan was made from, as a hash: while it stays, the same calls are planned and the same readouts read from them.

Everything that a plan reads goes in: the declaration, the items with all that is stored of them, paraphrases with what stands of
them, what is hidden from prompts, the models' revisions and abilities, and the code itself. A study with plug-ins of other packages
has no hash, because their code may change under the same version."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from flipcore.core.contracts import Backend
from flipcore.core.records import digest
from flipcore.core.study import Study
from flipcore.core.version import __version__
from flipcore.runs.plan import ItemPlan, PlanInputs
from flipcore.store.origins import origins

UNKNOWN = ""  # no hash: nothing is passed over
_CODE = Path(__file__).resolve().parents[1]


@cache
def code_hash() -> str:
    """Of the Python files of this package, as they are on the disk when it is first asked for."""
    return _hash(line for path in sorted(_CODE.rglob("*.py")) for line in (str(path.relative_to(_CODE)), path.read_bytes()))


def study_hash(study: Study, backends: Sequence[Backend]) -> str:
    """Of the declaration, the models and the code; `UNKNOWN` where a plug-in is another package's. `backends` hold a judge too."""
    if origins(study):
        return UNKNOWN
    return digest(__version__, code_hash(), study.to_toml(), [_facts(one) for one in backends])


def inputs_hash(inputs: PlanInputs, of_study: str) -> str:
    """Of all that a plan is made from, in the order in which it is asked; `of_study` is its `study_hash`."""
    if of_study == UNKNOWN:
        return UNKNOWN
    own, paraphrases = inputs.own, inputs.material.paraphrases
    parts: list[Any] = [of_study, sorted(inputs.hidden), inputs.material.n_examples, inputs.material.has_system]
    if own is not None:
        parts += [own.own, own.layout, own.seed, own.pools.get(("", ""), ())]
    for item, role in inputs.items:
        parts += [item, role, paraphrases.get(item.item_id, ())]
    return _hash(map(repr, parts))


def item_hash(of_study: str, item_plan: ItemPlan, model: str) -> str:
    """Of what one item will be asked of one model; `UNKNOWN` where the study has none."""
    if of_study == UNKNOWN:
        return UNKNOWN
    ways = [(one.axis, one.key, one.variant_id, one.compared_with, one.target, one.params) for one in item_plan.variants]
    return digest(of_study, model, item_plan.item.item_id, item_plan.item.solution, ways)


def _facts(backend: Backend) -> list[Any]:
    return [backend.name, backend.revision, sorted(backend.abilities), sorted(backend.takes), backend.simulated]


def _hash(parts: Iterable[str | bytes]) -> str:
    whole = hashlib.sha256()
    for part in parts:
        whole.update(part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass"))
        whole.update(b"\0")
    return whole.hexdigest()[:20]
