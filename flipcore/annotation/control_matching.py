"""Match controls to a benchmark, from the study's own controls or any loadable set.

Matching uses properties of the items and answers of reference models. It never uses answers of a
model under test, because the pairs would then be chosen by the result.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from flipcore.access.acting import signature
from flipcore.core.errors import BadInput
from flipcore.core.study import PAIRED_CONTROL, ItemSource, Study
from flipcore.datasets import LOADERS, load_report
from flipcore.datasets.loading import ITEM_ID
from flipcore.stats.memory.frames import CONTROL_ROLES, ITEM_ROLES
from flipcore.stats.memory.matching import (
    ACCURACY,
    CALIPER,
    LENGTH,
    STEPS,
    TRAITS,
    Matching,
    Traits,
    matching_of,
)
from flipcore.store.connection import Store
from flipcore.store.queries import holdout, pairs, planning, studies

_CALCULATION = re.compile(r"<<[^<>\n]*>>")  # GSM8K's calculator chains


def reference_models(store: Store, study: Study) -> list[str]:
    """Return models that this study does not ask and that answered its items in another study."""
    under_test = {use.name for use in study.models}
    return [
        name for name in pairs.models_with_answers(store, study.study_id) if name not in under_test
    ]


def control_sources(store: Store) -> dict[str, ItemSource]:
    """Return title -> a set to take controls from: shipped sets, and sets of stored studies."""
    sources = {LOADERS[name].title: ItemSource(name) for name in LOADERS if LOADERS[name].local}
    rows = studies.studies(store)
    for study_id in rows[rows["problem"] == ""]["study_id"]:
        for source in studies.declared(store, study_id).items:
            loader = LOADERS.get(source.dataset)
            if loader is None or (loader.local and not source.path):
                continue
            if source.path:
                place = source.path.rsplit("/", 1)[-1]
            else:
                place = ", ".join(map(str, source.options.values())) or "from the hub"
            # The whole set, not only the part that the study drew.
            whole_set = replace(source, role="control", n=0, seed=0, categories=(), where={})
            sources.setdefault(f"{loader.title} ({place})", whole_set)
    return sources


def matched_in_study(
    store: Store,
    study_id: str,
    by: Sequence[str] = TRAITS,
    caliper: float = CALIPER,
    models: Sequence[str] = (),
) -> Matching:
    """Pair the study's benchmark items with its own controls, set-aside items among themselves.

    `by` are the traits to match, `caliper` the largest distance of a pair, and `models` the
    reference models whose accuracy is a trait. Raises BadInput without benchmark or controls.
    """
    study = studies.declared(store, study_id)
    rows = planning.members(store, study_id)
    benchmark = [row for row in rows if row["role"] in ITEM_ROLES]
    control = [row for row in rows if row["role"] in CONTROL_ROLES]
    if not benchmark or not control:
        raise BadInput(
            "This study has no controls to match from. Choose another set, or declare controls "
            "under New study."
        )
    return _matched(store, study, benchmark, control, by=by, caliper=caliper, models=models)


def matched_from_set(
    store: Store,
    study_id: str,
    source: ItemSource,
    by: Sequence[str] = TRAITS,
    caliper: float = CALIPER,
    models: Sequence[str] = (),
) -> Matching:
    """Pair the study's benchmark items with items of any set.

    Items that are in the study, repeat its wording, or were set aside by another study are left
    out. Raises BadInput if no item is left. Parameters are as in `matched_in_study`.
    """
    study = studies.declared(store, study_id)
    members = planning.members(store, study_id)
    wordings = {_wording(row["question"]) for row in members}
    items = load_report(source).items
    excluded_ids = holdout.hidden_items(store, [item.item_id for item in items])
    excluded_ids |= {row["item_id"] for row in members}
    candidates = []
    for item in items:
        if item.item_id not in excluded_ids and _wording(item.question) not in wordings:
            candidates.append({**vars(item), "confirmatory": False})
    # No candidate is set aside, so set-aside benchmark items may be paired with them too.
    benchmark = [row | {"confirmatory": False} for row in members if row["role"] in ITEM_ROLES]
    if not benchmark or not candidates:
        raise BadInput(
            f"{source.dataset} has no item that could be a control of this study's benchmark items."
        )
    return _matched(store, study, benchmark, candidates, by=by, caliper=caliper, models=models)


def _matched(
    store: Store,
    study: Study,
    benchmark: Sequence[Mapping[str, Any]],
    controls: Sequence[Mapping[str, Any]],
    by: Sequence[str],
    caliper: float,
    models: Sequence[str],
) -> Matching:
    """Match controls to the benchmark; raises BadInput for a model under test as reference."""
    models_under_test = {use.name for use in study.models}
    if refused := [name for name in models if name in models_under_test]:
        raise BadInput(
            f"{refused[0]} is under test here, so its accuracy cannot choose its controls. Take "
            "another model."
        )
    models = tuple(models)
    ids = [row["item_id"] for row in (*benchmark, *controls)]
    accuracies = pairs.reference_accuracies(store, ids, models=models)
    return matching_of(
        _traits(benchmark, accuracies),
        _traits(controls, accuracies),
        by=by,
        caliper=caliper,
        models=models,
    )


def store_matching(store: Store, matching: Matching, made_by: str) -> None:
    """Store the pairs and wait for the disk; raises BadInput without a name or pairs."""
    made_by = signature(made_by)
    if not made_by:
        raise BadInput("Pairs need the name of whoever matched them.")
    if not matching.pairs:
        raise BadInput(
            "There is no pair to store. Widen the caliper, match by fewer traits, or load more "
            "controls."
        )
    pairs.store_pairs(
        store, matching.pairs, how=matching.how(), made_by=made_by, unpaired=matching.unpaired
    ).result(timeout=30)


def paired_study(study: Study, matching: Matching, source: ItemSource | None = None) -> Study:
    """Return the study to run next, whose control is declared as paired.

    Its controls are those of the pairs, from `source`; the study's own ones if `source` is None.
    """
    items = study.items
    if source is not None:
        ids = list(dict.fromkeys(matching.pairs.values()))
        controls = replace(source, role="control", n=0, where={ITEM_ID: ids})
        benchmark = [part for part in study.items if part.role not in CONTROL_ROLES]
        items = (*benchmark, controls)
    return replace(
        study, name=f"{study.name}, paired controls", items=items, control=PAIRED_CONTROL
    )


def _wording(question: str) -> str:
    return " ".join(question.casefold().split())


def _traits(rows: Sequence[Mapping[str, Any]], accuracies: Mapping[str, float]) -> Traits:
    """Return the traits of items; `accuracies` of reference models are by item id."""
    ids = tuple(row["item_id"] for row in rows)
    numbers = {
        LENGTH: np.array([_length(row) for row in rows], dtype=float),
        STEPS: np.array([_steps(row) for row in rows], dtype=float),
        ACCURACY: np.array([accuracies.get(item, np.nan) for item in ids], dtype=float),
    }
    # Both items of a pair have the same kind and number of options, and both or none is set aside.
    part = tuple(
        f"{row['kind']}, {len(row['options'] or ())} options, {bool(row['confirmatory'])}"
        for row in rows
    )
    return Traits(
        ids, numbers, subject=tuple(str(row["category"] or "") for row in rows), part=part
    )


def _length(row: Mapping[str, Any]) -> int:
    """Count the words of the question and its options."""
    return sum(len(text.split()) for text in (row["question"], *(row["options"] or ())))


def _steps(row: Mapping[str, Any]) -> float:
    """Return the number of steps by the item's own data, else by its solution; NaN without one."""
    n = (row["meta"] or {}).get("steps")
    return float(n) if isinstance(n, (int, float)) else n_steps(row["solution"] or "")


def n_steps(solution: str) -> float:
    """Count calculations marked `<<…>>`, else lines before the final answer; NaN for neither."""
    steps = solution.rpartition("####")[0] if "####" in solution else solution
    n_calculations = len(_CALCULATION.findall(steps))
    n_lines = sum(bool(line.strip()) for line in steps.splitlines())
    return float(n_calculations or n_lines) or math.nan
