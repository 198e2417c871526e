"""From the one table to what the memorization tests take: before and after a rewriting, losses by wording, PEARL's scores.

`frame` is everything that one model answered (`queries.readouts(..., everything=True)`): columns item_id, role, axis,
variant, position, sample, extractor, status, value, is_correct.
"""

from collections.abc import Collection, Sequence

import numpy as np
import pandas as pd

from flipcore.core.records import BASE, CUT, IDENTITY, OK, WRITTEN_ANSWER, WRITTEN_CODE, WRITTEN_MATH, WRITTEN_WORDS
from flipcore.core.study import Study
from flipcore.stats.base.accuracy import tasks_of
from flipcore.stats.memory.pearl_analysis import Scores
from flipcore.stats.memory.rewritten import Rewritten

ITEM_ROLES, CONTROL_ROLES = ("benchmark", "target"), ("control", "non_member", "retro")
RIGHT = "right: "  # begins the name of a column: whether this reference model is right


def compares(roles: Collection[str]) -> bool:
    """Whether there are items that are judged and items that they are compared with."""
    return bool({*roles} & {*ITEM_ROLES}) and bool({*roles} & {*CONTROL_ROLES})


def compared_sets(frame: pd.DataFrame, study: Study) -> pd.DataFrame:
    """The rows of all models with `kind` naming what is compared as one set: the kind of its items or, of a recording whose judged
    items come from several tasks, the task, so that no two tasks are pooled. A task without controls of its own is compared
    with those of the tasks that have nothing else, whose rows then stand in each such set."""
    if not study.is_recorded or frame.empty:
        return frame
    task, is_judged = tasks_of(frame["item_id"]), frame["role"].isin(ITEM_ROLES)
    judged_tasks = list(dict.fromkeys(task[is_judged]))
    if len(judged_tasks) < 2:
        return frame
    of_controls, parts = frame[~task.isin(judged_tasks)], []
    for name in judged_tasks:
        own = frame[task == name]
        if not own["role"].isin(CONTROL_ROLES).any():
            own = pd.concat([own, of_controls[of_controls["kind"].isin(own["kind"].unique())]])
        parts.append(own.assign(kind=name))
    return pd.concat(parts, ignore_index=True)


def with_reference(frame: pd.DataFrame, study: Study) -> pd.DataFrame:
    """The rows of all models with a column `reference`: what the study's reference model has on the same text by the same extractor.
    NaN where it has nothing, and on its own rows. So, too, with a column for each of its reference models of a hardness curve: whether
    its first answer to the item as published is right. The rows themselves where the study names none."""
    if study.reference_models and not frame.empty:
        frame = _with_right(frame, study.reference_models)
    if not study.reference_model or frame.empty:
        return frame
    keys = ["item_id", "axis", "variant", "sample", "extractor"]
    is_own = frame["model"] == study.reference_model
    own = frame.loc[is_own, [*keys, "value"]].rename(columns={"value": "reference"}).drop_duplicates(keys)
    beside = frame.merge(own, how="left", on=keys)
    return beside.assign(reference=pd.to_numeric(beside["reference"], errors="coerce").mask(is_own.to_numpy()))


def _with_right(frame: pd.DataFrame, models: Sequence[str]) -> pd.DataFrame:
    keys = ["item_id", "extractor"]
    first = frame[(frame["variant"] == BASE) & (frame["sample"] == 0) & (frame["status"] == OK) & frame["model"].isin(models)]
    first = first.drop_duplicates([*keys, "model"])
    right = first.assign(right=pd.to_numeric(first["is_correct"], errors="coerce")).pivot(
        index=keys, columns="model", values="right"
    )
    beside = frame.merge(right.astype(float).add_prefix(RIGHT), how="left", left_on=keys, right_index=True)
    beside.loc[beside["model"].isin(models), beside.columns.str.startswith(RIGHT)] = np.nan
    return beside


def right_of_references(frame: pd.DataFrame) -> list[str]:
    """The columns of reference models that `with_reference` gave."""
    return [name for name in frame.columns if str(name).startswith(RIGHT)]


def over_reference(frame: pd.DataFrame, extractor: str, roles: Sequence[str]) -> pd.DataFrame:
    """One row an item: `original`, its loss in nats on the published wording, `reference`, that under the reference model, and `d`, how
    much smaller the first is."""
    mine = frame[frame["role"].isin(roles) & (frame["extractor"] == extractor) & (frame["variant"] == BASE)]
    values = mine[["value", "reference"]].apply(pd.to_numeric, errors="coerce").astype(float)
    means = values.groupby(mine["item_id"].to_numpy(), sort=False).mean()
    table = pd.DataFrame(
        {"item_id": means.index.astype(str), "original": means["value"].to_numpy(), "reference": means["reference"].to_numpy()}
    )
    return table.assign(d=table["reference"] - table["original"]).dropna(subset="d", ignore_index=True)


def reader_of(frame: pd.DataFrame) -> str:
    """The extractor of written answers on these items: of answers in words, of expressions and of code its own."""
    there = set(frame["extractor"].unique())
    return next((one for one in (WRITTEN_ANSWER, WRITTEN_WORDS, WRITTEN_MATH, WRITTEN_CODE) if one in there), WRITTEN_ANSWER)


def _means(frame: pd.DataFrame, column: str) -> pd.Series:
    """Mean over samples of each (item, variant); what is absent is in no mean."""
    there = frame[frame["status"] != "absent"]
    values = pd.to_numeric(there[column], errors="coerce").astype(float)
    return values.groupby([there["item_id"], there["variant"]], sort=False).mean()


def rewritten(
    frame: pd.DataFrame, operator: str, extractor: str, roles: Sequence[str], cut_as: tuple[float, float] | None = None
) -> Rewritten:
    """Correctness before and after `operator` of the items in `roles`, and on further samples of the unchanged prompt.

    An item that the rewrite method could not rewrite has a base and nothing else: it is uncovered. Before is the mean over the
    base's samples. Answers that were cut off are wrong, or with `cut_as` taken for (before, after).
    """
    mine = frame[frame["role"].isin(roles) & (frame["extractor"] == extractor)]
    if cut_as is not None:
        values = np.where(mine["variant"] == BASE, *cut_as)
        right = pd.to_numeric(mine["is_correct"], errors="coerce").astype(float)
        mine = mine.assign(is_correct=np.where(mine["status"] == CUT, values, right))
    changed = mine[mine["axis"] == operator]
    wide = _means(changed, "is_correct").unstack() if len(changed) else pd.DataFrame()
    items = list(dict.fromkeys(changed["item_id"]))
    wide = wide.reindex(items)
    before = wide[BASE] if BASE in wide else pd.Series(np.nan, index=items)
    after = wide.drop(columns=BASE, errors="ignore").dropna(axis=1, how="all")
    table = after.to_numpy(dtype=float) if after.shape[1] else np.full((len(items), 1), np.nan)
    return Rewritten.make(items, before.to_numpy(dtype=float), table, _again(mine, items))


def _again(mine: pd.DataFrame, items: list[str]) -> np.ndarray | None:
    """(items, samples) correctness when the unchanged prompt is asked again; None where it was not."""
    again = mine[(mine["axis"] == IDENTITY) & (mine["sample"] > 0) & (mine["status"] != "absent")]
    if again.empty:
        return None
    right = pd.to_numeric(again["is_correct"], errors="coerce").astype(float)
    return right.groupby([again["item_id"], again["sample"]]).mean().unstack().reindex(items).to_numpy(dtype=float)


def published(frame: pd.DataFrame, extractor: str, roles: Sequence[str]) -> pd.DataFrame:
    """One row an item: `d` is 1 or 0 as its first answer to the base prompt is right or wrong, NaN where that could not be read."""
    mine = frame[frame["role"].isin(roles) & (frame["extractor"] == extractor)]
    first = mine[(mine["variant"] == BASE) & (mine["sample"] == 0)].drop_duplicates("item_id")
    is_read = first["status"] == OK
    right = pd.to_numeric(first["is_correct"], errors="coerce").astype(float).where(is_read)
    table = pd.DataFrame({"item_id": first["item_id"], "d": right, **first[right_of_references(first)]})
    return table[right.notna() | ~is_read].reset_index(drop=True)  # an answer that is read and has no target is neither


def losses(
    frame: pd.DataFrame, extractor: str, roles: Sequence[str], operator: str = "paraphrase", *, alone: bool = False
) -> pd.DataFrame:
    """One row an item: `original` and `reworded` loss in nats and their difference `d`, large where the published wording
    is known. What needs no second wording (`alone`, as min-k) has its own value as `d`."""
    mine = frame[frame["role"].isin(roles) & (frame["extractor"] == extractor)]
    rows = mine[mine["axis"] == operator]
    rows = rows if len(rows) else mine
    means = _means(rows, "value").unstack() if len(rows) else pd.DataFrame()
    items = list(dict.fromkeys(rows["item_id"]))
    means = means.reindex(items)
    original = means[BASE] if BASE in means else pd.Series(np.nan, index=items, dtype=float)
    reworded = means.drop(columns=BASE, errors="ignore").mean(axis=1)
    reworded = reworded if len(reworded) else pd.Series(np.nan, index=items, dtype=float)
    d = original if alone else reworded - original
    table = pd.DataFrame(
        {"item_id": items, "original": original.to_numpy(), "reworded": reworded.to_numpy(), "d": d.to_numpy()}
    )
    return table.dropna(subset="d", ignore_index=True)


def pearl_scores(
    frame: pd.DataFrame, metric: str, roles: Sequence[str], axis: str = "bit_flip"
) -> tuple[dict[str, Scores], int]:
    """Scores by item, [level][sample], of the items whose levels are all there; and how many items are not complete."""
    mine = frame[frame["role"].isin(roles) & (frame["axis"] == axis) & (frame["extractor"] == metric)]
    n_levels = mine["position"].nunique()
    by_item: dict[str, Scores] = {}
    left_out = 0
    for item_id, rows in mine.groupby("item_id", sort=False):
        levels = [part["value"].astype(float).tolist() for _, part in rows.groupby("position", sort=True)]
        if len(levels) == n_levels:
            by_item[str(item_id)] = levels
        else:
            left_out += 1
    return by_item, left_out


def correctness(frame: pd.DataFrame, extractor: str, operator: str = "paraphrase") -> tuple[dict[str, float], dict[str, float]]:
    """Mean correctness by item on the published wording and on the others."""
    means = _means(frame[(frame["axis"] == operator) & (frame["extractor"] == extractor)], "is_correct").reset_index()
    means.columns = ["item_id", "variant", "right"]
    base = means["variant"] == BASE
    return (
        dict(zip(means["item_id"][base], means["right"][base], strict=True)),
        {str(item): float(right) for item, right in means[~base].groupby("item_id")["right"].mean().items()},
    )


def roles_of(frame: pd.DataFrame) -> tuple[list[str], list[str]]:
    """The roles that are judged and those that they are compared with, as far as the study has them."""
    there = set(frame["role"].unique())
    return [role for role in ITEM_ROLES if role in there], [role for role in CONTROL_ROLES if role in there]


def drop_rows(items: Rewritten) -> pd.DataFrame:
    """Covered items with their correctness before and after, the largest drop first."""
    rows = pd.DataFrame(
        {
            "item_id": items.covered_ids,
            "before": items.before[items.covered],
            "after": items.after_mean[items.covered],
            "drop": items.drops,
        }
    )
    return rows.sort_values("drop", ascending=False, kind="stable", ignore_index=True)
