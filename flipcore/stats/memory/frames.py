"""Inputs of the memorization tests from the table of readouts: correctness before and after a
rewriting, losses by variant, PEARL's scores.

`frame` holds all that one model answered (`queries.readouts(..., everything=True)`): columns
item_id, role, axis, variant, position, sample, extractor, status, value, is_correct.
"""

from collections.abc import Collection, Sequence

import numpy as np
import pandas as pd

from flipcore.core.records import (
    BASE,
    CUT,
    IDENTITY,
    OK,
    WRITTEN_ANSWER,
    WRITTEN_CODE,
    WRITTEN_MATH,
    WRITTEN_WORDS,
)
from flipcore.core.study import Study
from flipcore.stats.base.accuracy import tasks_of
from flipcore.stats.memory.pearl_analysis import Scores
from flipcore.stats.memory.rewritten import Rewritten

ITEM_ROLES, CONTROL_ROLES = ("benchmark", "target"), ("control", "non_member", "retro")
RIGHT = "right: "  # begins the name of a column: whether this reference model is right


def compares(roles: Collection[str]) -> bool:
    """Return True where there are items that are judged and items that they are compared with."""
    return bool({*roles} & {*ITEM_ROLES}) and bool({*roles} & {*CONTROL_ROLES})


def compared_sets(frame: pd.DataFrame, study: Study) -> pd.DataFrame:
    """Return the rows of all models with `kind` naming the set that they are compared in: the kind
    of its items or, of a recording whose judged items come from several tasks, the task, so that no
    two tasks are pooled. A task without controls is compared with those of the tasks that have
    nothing else, whose rows then stand in each such set."""
    if not study.is_recorded or frame.empty:
        return frame
    task, is_judged = tasks_of(frame["item_id"]), frame["role"].isin(ITEM_ROLES)
    judged_tasks = list(dict.fromkeys(task[is_judged]))
    # One task has nothing to be kept apart from.
    if len(judged_tasks) < 2:
        return frame
    control_rows, parts = frame[~task.isin(judged_tasks)], []
    for name in judged_tasks:
        task_rows = frame[task == name]
        if not task_rows["role"].isin(CONTROL_ROLES).any():
            task_rows = pd.concat(
                [task_rows, control_rows[control_rows["kind"].isin(task_rows["kind"].unique())]]
            )
        parts.append(task_rows.assign(kind=name))
    return pd.concat(parts, ignore_index=True)


def with_reference(frame: pd.DataFrame, study: Study) -> pd.DataFrame:
    """Return the rows of all models with a column `reference`: the value of the study's reference
    model on the same text by the same extractor. NaN where it has nothing, and on its own rows.
    There is also a column for each of its reference models of a hardness curve: 1 where its first
    answer to the item as published is right. The rows themselves where the study names none."""
    if study.reference_models and not frame.empty:
        frame = _with_right(frame, study.reference_models)
    if not study.reference_model or frame.empty:
        return frame
    keys = ["item_id", "axis", "variant", "sample", "extractor"]
    is_reference = frame["model"] == study.reference_model
    reference_rows = (
        frame.loc[is_reference, [*keys, "value"]]
        .rename(columns={"value": "reference"})
        .drop_duplicates(keys)
    )
    # A left join keeps the rows and their order, on which draws depend.
    joined = frame.merge(reference_rows, how="left", on=keys)
    return joined.assign(
        reference=pd.to_numeric(joined["reference"], errors="coerce").mask(is_reference.to_numpy())
    )


def _with_right(frame: pd.DataFrame, models: Sequence[str]) -> pd.DataFrame:
    keys = ["item_id", "extractor"]
    first = frame[
        (frame["variant"] == BASE)
        & (frame["sample"] == 0)
        & (frame["status"] == OK)
        & frame["model"].isin(models)
    ]
    first = first.drop_duplicates([*keys, "model"])
    right = first.assign(right=pd.to_numeric(first["is_correct"], errors="coerce")).pivot(
        index=keys, columns="model", values="right"
    )
    joined = frame.merge(
        right.astype(float).add_prefix(RIGHT), how="left", left_on=keys, right_index=True
    )
    # A reference model is not expected by itself.
    joined.loc[joined["model"].isin(models), joined.columns.str.startswith(RIGHT)] = np.nan
    return joined


def right_of_references(frame: pd.DataFrame) -> list[str]:
    """Return the columns of reference models that `with_reference` gave."""
    return [name for name in frame.columns if str(name).startswith(RIGHT)]


def over_reference(frame: pd.DataFrame, extractor: str, roles: Sequence[str]) -> pd.DataFrame:
    """Return one row per item: `original`, its loss in nats on the published variant, `reference`,
    that under the reference model, and `d`, the second less the first."""
    rows = frame[
        frame["role"].isin(roles) & (frame["extractor"] == extractor) & (frame["variant"] == BASE)
    ]
    values = rows[["value", "reference"]].apply(pd.to_numeric, errors="coerce").astype(float)
    means = values.groupby(rows["item_id"].to_numpy(), sort=False).mean()
    table = pd.DataFrame(
        {
            "item_id": means.index.astype(str),
            "original": means["value"].to_numpy(),
            "reference": means["reference"].to_numpy(),
        }
    )
    return table.assign(d=table["reference"] - table["original"]).dropna(
        subset="d", ignore_index=True
    )


def reader_of(frame: pd.DataFrame) -> str:
    """Return the extractor of written answers on these items; answers in words, expressions and
    code have one each."""
    present = set(frame["extractor"].unique())
    for extractor in (WRITTEN_ANSWER, WRITTEN_WORDS, WRITTEN_MATH, WRITTEN_CODE):
        if extractor in present:
            return extractor
    return WRITTEN_ANSWER


def _means(frame: pd.DataFrame, column: str) -> pd.Series:
    """Return the mean over samples of each (item, variant); absent readouts are in no mean."""
    present = frame[frame["status"] != "absent"]
    # Missing values come as objects, which have no mean.
    values = pd.to_numeric(present[column], errors="coerce").astype(float)
    return values.groupby([present["item_id"], present["variant"]], sort=False).mean()


def rewritten(
    frame: pd.DataFrame,
    operator: str,
    extractor: str,
    roles: Sequence[str],
    cut_as: tuple[float, float] | None = None,
) -> Rewritten:
    """Return correctness before and after `operator` of the items in `roles`, and on further
    samples of the unchanged prompt.

    An item that the rewrite method could not rewrite has a base and nothing else: it is uncovered.
    Before is the mean over the base's samples. Answers that were cut off are wrong, or with
    `cut_as` taken for (before, after).
    """
    rows = frame[frame["role"].isin(roles) & (frame["extractor"] == extractor)]
    if cut_as is not None:
        values = np.where(rows["variant"] == BASE, *cut_as)
        right = pd.to_numeric(rows["is_correct"], errors="coerce").astype(float)
        rows = rows.assign(is_correct=np.where(rows["status"] == CUT, values, right))
    changed = rows[rows["axis"] == operator]
    wide = _means(changed, "is_correct").unstack() if len(changed) else pd.DataFrame()
    items = list(dict.fromkeys(changed["item_id"]))
    # Unstacking sorts the items; draws go by their order in the study.
    wide = wide.reindex(items)
    before = wide[BASE] if BASE in wide else pd.Series(np.nan, index=items)
    after = wide.drop(columns=BASE, errors="ignore").dropna(axis=1, how="all")
    # No rewrite at all: one column of NaN, so that each item counts as uncovered.
    table = after.to_numpy(dtype=float) if after.shape[1] else np.full((len(items), 1), np.nan)
    return Rewritten.make(items, before.to_numpy(dtype=float), table, _reruns(rows, items))


def _reruns(rows: pd.DataFrame, items: list[str]) -> np.ndarray | None:
    """Return (items, samples) correctness when the unchanged prompt is asked again; None where it
    was not."""
    # Sample 0 of the identity axis is the base prompt's own first answer.
    reruns = rows[(rows["axis"] == IDENTITY) & (rows["sample"] > 0) & (rows["status"] != "absent")]
    if reruns.empty:
        return None
    right = pd.to_numeric(reruns["is_correct"], errors="coerce").astype(float)
    return (
        right.groupby([reruns["item_id"], reruns["sample"]])
        .mean()
        .unstack()
        .reindex(items)
        .to_numpy(dtype=float)
    )


def published(frame: pd.DataFrame, extractor: str, roles: Sequence[str]) -> pd.DataFrame:
    """Return one row per item: `d` is 1 or 0 as its first answer to the base prompt is right or
    wrong, NaN where that could not be read."""
    rows = frame[frame["role"].isin(roles) & (frame["extractor"] == extractor)]
    first = rows[(rows["variant"] == BASE) & (rows["sample"] == 0)].drop_duplicates("item_id")
    is_read = first["status"] == OK
    right = pd.to_numeric(first["is_correct"], errors="coerce").astype(float).where(is_read)
    table = pd.DataFrame(
        {"item_id": first["item_id"], "d": right, **first[right_of_references(first)]}
    )
    # An answer that is read and has no target is neither right nor wrong.
    return table[right.notna() | ~is_read].reset_index(drop=True)


def losses(
    frame: pd.DataFrame,
    extractor: str,
    roles: Sequence[str],
    operator: str = "paraphrase",
    *,
    is_absolute: bool = False,
) -> pd.DataFrame:
    """Return one row per item: `original` and `reworded` loss in nats and their difference `d`,
    large where the published variant is known. A measure that needs no second variant
    (`is_absolute`, as min-k) has its value as `d`."""
    readouts = frame[frame["role"].isin(roles) & (frame["extractor"] == extractor)]
    rows = readouts[readouts["axis"] == operator]
    # Without any rewrite the base prompt's rows remain.
    rows = rows if len(rows) else readouts
    means = _means(rows, "value").unstack() if len(rows) else pd.DataFrame()
    items = list(dict.fromkeys(rows["item_id"]))
    means = means.reindex(items)
    original = means[BASE] if BASE in means else pd.Series(np.nan, index=items, dtype=float)
    reworded = means.drop(columns=BASE, errors="ignore").mean(axis=1)
    reworded = reworded if len(reworded) else pd.Series(np.nan, index=items, dtype=float)
    d = original if is_absolute else reworded - original
    table = pd.DataFrame(
        {
            "item_id": items,
            "original": original.to_numpy(),
            "reworded": reworded.to_numpy(),
            "d": d.to_numpy(),
        }
    )
    return table.dropna(subset="d", ignore_index=True)


def pearl_scores(
    frame: pd.DataFrame, metric: str, roles: Sequence[str], axis: str = "bit_flip"
) -> tuple[dict[str, Scores], int]:
    """Return scores by item, [level][sample], of the items that have all levels, and the number of
    items that are not complete."""
    readouts = frame[
        frame["role"].isin(roles) & (frame["axis"] == axis) & (frame["extractor"] == metric)
    ]
    n_levels = readouts["position"].nunique()
    by_item: dict[str, Scores] = {}
    left_out = 0
    for item_id, rows in readouts.groupby("item_id", sort=False):
        levels = [
            part["value"].astype(float).tolist() for _, part in rows.groupby("position", sort=True)
        ]
        # A missing level would make one drop out of two steps.
        if len(levels) == n_levels:
            by_item[str(item_id)] = levels
        else:
            left_out += 1
    return by_item, left_out


def correctness(
    frame: pd.DataFrame, extractor: str, operator: str = "paraphrase"
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the mean correctness by item on the published variant and on the others."""
    means = _means(
        frame[(frame["axis"] == operator) & (frame["extractor"] == extractor)], "is_correct"
    ).reset_index()
    means.columns = ["item_id", "variant", "right"]
    base = means["variant"] == BASE
    return (
        dict(zip(means["item_id"][base], means["right"][base], strict=True)),
        {
            str(item): float(right)
            for item, right in means[~base].groupby("item_id")["right"].mean().items()
        },
    )


def roles_of(frame: pd.DataFrame) -> tuple[list[str], list[str]]:
    """Return the roles that are judged and those that they are compared with, as far as the study
    has them."""
    present = set(frame["role"].unique())
    return [role for role in ITEM_ROLES if role in present], [
        role for role in CONTROL_ROLES if role in present
    ]


def drop_rows(items: Rewritten) -> pd.DataFrame:
    """Return the covered items with their correctness before and after, the largest drop first."""
    rows = pd.DataFrame(
        {
            "item_id": items.covered_ids,
            "before": items.before[items.covered],
            "after": items.after_mean[items.covered],
            "drop": items.drops,
        }
    )
    return rows.sort_values("drop", ascending=False, kind="stable", ignore_index=True)
