"""Score and flips with and without the items that people dispute."""

from collections.abc import Collection, Mapping

import pandas as pd

from flipcore.reports.study import cell_place, study_report


def with_and_without(
    frame: pd.DataFrame, disputed: Collection[str], closed_gates: Mapping[str, str] | None = None
) -> list[dict]:
    """A row a number of each model: its accuracy at the base prompt and T of each axis and extractor, of all items and of those that
    nobody disputes (`frame` as `studies.readouts` gives it). What gates withhold is left out."""
    shut = set(closed_gates or ())
    both = [study_report(one) for one in (frame, frame[~frame["item_id"].isin(list(disputed))])]
    rows = []
    for model, whole in both[0].headlines.items():
        rest = both[1].headlines.get(model)
        for role, mean in whole.accuracies.items():
            rest_mean = rest.accuracies.get(role) if rest else None
            rows.append(_row(model, f"accuracy, {role.replace('_', ' ')} items", mean, rest_mean))
        cells = {(one.axis, one.extractor): one.T for one in both[1].decompositions.get(model, [])}
        rows += [
            _row(model, f"T, {cell_place(one)}", one.T, cells.get((one.axis, one.extractor)))
            for one in both[0].decompositions[model]
            if not {one.axis, one.extractor} & shut
        ]
    return rows


def _row(model: str, what: str, whole, rest) -> dict:
    return {
        "model": model,
        "number": what,
        "all items": whole.text(),
        "without disputed": rest.text() if rest else "–",
        "items then": rest.n if rest else 0,
    }
