"""Inputs of the memorization tests, taken from the table of readouts: correctness before and after
a rewrite, losses per variant, PEARL's scores.

`frame` has all readouts of one model (`queries.readouts(..., everything=True)`), with the columns
item_id, role, axis, variant, position, sample, extractor, status, value, is_correct. In functions
that say "of all models" there are also the columns model and kind.
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
RIGHT_PREFIX = "right: "  # of a column name, before the name of a reference model


def compares(roles: Collection[str]) -> bool:
    """Return True if `roles` include both items under test and controls."""
    return bool({*roles} & {*ITEM_ROLES}) and bool({*roles} & {*CONTROL_ROLES})


def compared_sets(frame: pd.DataFrame, study: Study) -> pd.DataFrame:
    """Return the rows of all models, with the set that they are compared in as their `kind`.

    That is the item's kind. In a recording whose items under test come from several tasks it is the
    task, so that tasks are never pooled. A task without controls gets those of the tasks that have
    only controls; their rows are then repeated in each such set.
    """
    if not study.is_recorded or frame.empty:
        return frame
    task, is_tested = tasks_of(frame["item_id"]), frame["role"].isin(ITEM_ROLES)
    tested_tasks = list(dict.fromkeys(task[is_tested]))
    if len(tested_tasks) < 2:
        return frame
    control_rows, parts = frame[~task.isin(tested_tasks)], []
    for name in tested_tasks:
        task_rows = frame[task == name]
        if not task_rows["role"].isin(CONTROL_ROLES).any():
            has_same_kind = control_rows["kind"].isin(task_rows["kind"].unique())
            task_rows = pd.concat([task_rows, control_rows[has_same_kind]])
        parts.append(task_rows.assign(kind=name))
    return pd.concat(parts, ignore_index=True)


def with_reference(frame: pd.DataFrame, study: Study) -> pd.DataFrame:
    """Return the rows of all models with columns for the study's reference models, if any.

    reference : value of the reference model for the same text and extractor; NaN if it has none,
        and on the reference model's own rows.
    "right: MODEL" : one column per reference model of the hardness curve, 1 or 0 as its first
        answer to the published item is right or wrong; NaN on the rows of these models.
    """
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
    # A left join keeps the order of rows, which random draws depend on.
    joined = frame.merge(reference_rows, how="left", on=keys)
    return joined.assign(
        reference=pd.to_numeric(joined["reference"], errors="coerce").mask(is_reference.to_numpy())
    )


def _with_right(frame: pd.DataFrame, models: Sequence[str]) -> pd.DataFrame:
    keys = ["item_id", "extractor"]
    first_answers = frame[
        (frame["variant"] == BASE)
        & (frame["sample"] == 0)
        & (frame["status"] == OK)
        & frame["model"].isin(models)
    ]
    first_answers = first_answers.drop_duplicates([*keys, "model"])
    is_correct = pd.to_numeric(first_answers["is_correct"], errors="coerce")
    right = first_answers.assign(right=is_correct).pivot(
        index=keys, columns="model", values="right"
    )
    joined = frame.merge(
        right.astype(float).add_prefix(RIGHT_PREFIX), how="left", left_on=keys, right_index=True
    )
    # A reference model is not compared with itself.
    joined.loc[joined["model"].isin(models), joined.columns.str.startswith(RIGHT_PREFIX)] = np.nan
    return joined


def reference_columns(frame: pd.DataFrame) -> list[str]:
    """Return the names of the columns "right: MODEL" that `with_reference` added."""
    return [name for name in frame.columns if str(name).startswith(RIGHT_PREFIX)]


def over_reference(frame: pd.DataFrame, extractor: str, roles: Sequence[str]) -> pd.DataFrame:
    """Return one row per item with losses of the published variant in nats: `original`, `reference`
    (under the reference model), and `d` = reference - original. Items without `d` are left out."""
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


def written_extractor(frame: pd.DataFrame) -> str:
    """Return the extractor of written answers that these items have: numbers, words, expressions
    and code each have their own. The one for numbers if there is none."""
    used = set(frame["extractor"].unique())
    for extractor in (WRITTEN_ANSWER, WRITTEN_WORDS, WRITTEN_MATH, WRITTEN_CODE):
        if extractor in used:
            return extractor
    return WRITTEN_ANSWER


def _means(frame: pd.DataFrame, column: str) -> pd.Series:
    """Return the mean of `column` over samples, per (item, variant), without absent readouts."""
    present = frame[frame["status"] != "absent"]
    # A column with missing values has the type object, which has no mean.
    values = pd.to_numeric(present[column], errors="coerce").astype(float)
    return values.groupby([present["item_id"], present["variant"]], sort=False).mean()


def rewritten(
    frame: pd.DataFrame,
    operator: str,
    extractor: str,
    roles: Sequence[str],
    cut_as: tuple[float, float] | None = None,
) -> Rewritten:
    """Return correctness of the items in `roles` before and after the rewrite axis `operator`, and
    in reruns of the unchanged prompt.

    Correctness before is the mean over samples of the base prompt. An item that could not be
    rewritten has a base prompt only; it counts as uncovered. Answers that were cut off are wrong,
    unless `cut_as` gives the values (before, after) that they are counted as.
    """
    rows = frame[frame["role"].isin(roles) & (frame["extractor"] == extractor)]
    if cut_as is not None:
        cut_before, cut_after = cut_as
        cut_right = np.where(rows["variant"] == BASE, cut_before, cut_after)
        right = pd.to_numeric(rows["is_correct"], errors="coerce").astype(float)
        rows = rows.assign(is_correct=np.where(rows["status"] == CUT, cut_right, right))
    changed = rows[rows["axis"] == operator]
    wide = _means(changed, "is_correct").unstack() if len(changed) else pd.DataFrame()
    items = list(dict.fromkeys(changed["item_id"]))
    # Unstacking sorts the items, but random draws depend on their order in the study.
    wide = wide.reindex(items)
    before = wide[BASE] if BASE in wide else pd.Series(np.nan, index=items)
    after = wide.drop(columns=BASE, errors="ignore").dropna(axis=1, how="all")
    # Without any rewrite a column of NaN makes each item count as uncovered.
    right_after = (
        after.to_numpy(dtype=float) if after.shape[1] else np.full((len(items), 1), np.nan)
    )
    return Rewritten.make(items, before.to_numpy(dtype=float), right_after, _reruns(rows, items))


def _reruns(rows: pd.DataFrame, items: list[str]) -> np.ndarray | None:
    """Return (items, samples) correctness of reruns of the unchanged prompt; None if none."""
    # Sample 0 of the identity axis is the first answer to the base prompt, not a rerun.
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
    """Return one row per item: `d` is 1 if its first answer to the base prompt is right, 0 if it is
    wrong, NaN if it could not be read. The columns of reference models are kept."""
    rows = frame[frame["role"].isin(roles) & (frame["extractor"] == extractor)]
    first = rows[(rows["variant"] == BASE) & (rows["sample"] == 0)].drop_duplicates("item_id")
    # An unread answer is wrong in `is_correct`, but unknown (NaN) here.
    is_read = first["status"] == OK
    right = pd.to_numeric(first["is_correct"], errors="coerce").astype(float).where(is_read)
    table = pd.DataFrame(
        {"item_id": first["item_id"], "d": right, **first[reference_columns(first)]}
    )
    # An answer that was read but has no target is neither right nor wrong.
    return table[right.notna() | ~is_read].reset_index(drop=True)


def losses(
    frame: pd.DataFrame,
    extractor: str,
    roles: Sequence[str],
    operator: str = "paraphrase",
    *,
    is_absolute: bool = False,
) -> pd.DataFrame:
    """Return one row per item: `original` and `reworded` loss in nats, and `d` = reworded -
    original, which is large where the model knows the published variant.

    With `is_absolute`, for a measure that needs no second variant (such as min-k), `d` is the
    original's value. Items without `d` are left out.
    """
    readouts = frame[frame["role"].isin(roles) & (frame["extractor"] == extractor)]
    rows = readouts[readouts["axis"] == operator]
    # If nothing was rewritten, the rows of the base prompt still have the original loss.
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
    """Return item id -> scores[level][sample] of the items that have all levels, and the number of
    items that do not."""
    readouts = frame[
        frame["role"].isin(roles) & (frame["axis"] == axis) & (frame["extractor"] == metric)
    ]
    n_levels = readouts["position"].nunique()
    by_item: dict[str, Scores] = {}
    n_incomplete = 0
    for item_id, rows in readouts.groupby("item_id", sort=False):
        levels = [
            part["value"].astype(float).tolist() for _, part in rows.groupby("position", sort=True)
        ]
        # The drop over a missing level would be that of two steps.
        if len(levels) == n_levels:
            by_item[str(item_id)] = levels
        else:
            n_incomplete += 1
    return by_item, n_incomplete


def correctness(
    frame: pd.DataFrame, extractor: str, operator: str = "paraphrase"
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the mean correctness per item id, on the published variant and on all others."""
    rows = frame[(frame["axis"] == operator) & (frame["extractor"] == extractor)]
    means = _means(rows, "is_correct").reset_index()
    means.columns = ["item_id", "variant", "right"]
    is_base = means["variant"] == BASE
    published_right = dict(zip(means["item_id"][is_base], means["right"][is_base], strict=True))
    other_means = means[~is_base].groupby("item_id")["right"].mean()
    return published_right, {str(item): float(right) for item, right in other_means.items()}


def roles_of(frame: pd.DataFrame) -> tuple[list[str], list[str]]:
    """Return the roles of items under test and of controls that the frame has."""
    present = set(frame["role"].unique())
    item_roles = [role for role in ITEM_ROLES if role in present]
    control_roles = [role for role in CONTROL_ROLES if role in present]
    return item_roles, control_roles


def drop_rows(items: Rewritten) -> pd.DataFrame:
    """Return one row per covered item: correctness before and after, largest drop first."""
    rows = pd.DataFrame(
        {
            "item_id": items.covered_ids,
            "before": items.before[items.covered],
            "after": items.after_mean[items.covered],
            "drop": items.drops,
        }
    )
    return rows.sort_values("drop", ascending=False, kind="stable", ignore_index=True)
