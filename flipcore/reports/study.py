"""Every estimate of a study as one object: for the command line, for tables and for export."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

import numpy as np
import pandas as pd

from flipcore.reports.flips import Headline, claimed_headline
from flipcore.reports.memory import MemoryTest
from flipcore.stats.base.estimate import Estimate
from flipcore.stats.flips.coding import coded_answers
from flipcore.stats.flips.decomposition import COLUMNS, Decomposition, decompositions
from flipcore.stats.memory.rewritten import HarnessAccuracy


@dataclass(frozen=True)
class Report:
    """`decompositions[model]` in the order of axes and readouts; `headlines[model]` the sentence above them; `memory[model]`
    the tests of items against controls, `harness[model]` what rotation adds to a single vote, where there are any. `closed` are
    the axes and readouts that enter no claim, each with what is missing."""

    headlines: dict[str, Headline]
    decompositions: dict[str, list[Decomposition]]
    memory: dict[str, list[MemoryTest]] = field(default_factory=dict)
    harness: dict[str, HarnessAccuracy] = field(default_factory=dict)
    closed: Mapping[str, str] = field(default_factory=dict)

    def claims(self, one: Decomposition) -> bool:
        """Whether a cell's gates are open."""
        return one.axis not in self.closed and one.extractor not in self.closed

    def text(self) -> str:
        lines = []
        for model, found in self.decompositions.items():
            lines += ["", f"{model}: {self.headlines[model].sentence}"]
            lines += [
                f"  {one.sentence(readout_title=one.extractor.replace('_', ' '))} (n = {one.n_items:,})"
                f"{'' if self.claims(one) else ' [enters no claim]'}"
                for one in found
                if not math.isnan(one.T.value)
            ]
            lines += [f"  {self.harness[model].sentence()}"] if model in self.harness else []
            lines += [f"  {one.items}, {one.detector}: {one.sentence}" for one in self.memory.get(model, ())]
        lines += [""] * bool(self.closed) + [
            f"{name.replace('_', ' ')} enters no claim. {why}" for name, why in self.closed.items()
        ]
        return "\n".join(lines).strip() or "No answer has come back yet."

    def as_dict(self) -> dict:
        """Plain values for JSON; a missing number is None."""
        return {
            "models": {
                model: {
                    "headline": self.headlines[model].sentence,
                    "cells": [_cell(one) | {"enters_claims": self.claims(one)} for one in found],
                    "harness": _harness(self.harness.get(model)),
                    "memory": [one.as_dict() for one in self.memory.get(model, ())],
                }
                for model, found in self.decompositions.items()
            },
            "closed": dict(self.closed),
        }


def study_report(frame: pd.DataFrame, reference: str = "regex", closed: Mapping[str, str] | None = None, **settings) -> Report:
    """`frame` holds the readouts of one or more models; `settings` go to `decompositions`. Where a model lacks the
    reference its last readout stands in, and every cell says which one it was. What is in `closed` enters no claim."""
    models = list(dict.fromkeys(frame["model"])) if not frame.empty else []
    found, said = {}, {}
    for model in models:
        part = frame[frame["model"] == model]
        answers = coded_answers(part)
        used = reference if reference in answers.extractors else answers.extractors[-1]
        found[model] = decompositions(answers, used, **settings)
        said[model] = claimed_headline(part, closed or {})
    return Report(said, found, closed=closed or {})


def table(found: list[Decomposition], title_of=str) -> pd.DataFrame:
    """One row a cell with estimates as text, for a page and for download."""
    return pd.DataFrame([_row(one, title_of) for one in found])


def _row(one: Decomposition, title_of) -> dict:
    hidden = one.is_reference
    return {
        "axis": one.axis.replace("_", " "),
        "readout": title_of(one.extractor),
        "items": one.n_items,
        "T": one.T.text(),
        "G genuine": one.G.text(),
        "A artifact": "reference" if hidden else one.A.text(),
        "A+": "" if hidden else one.A_plus.text(),
        "A−": "" if hidden else one.A_minus.text(),
        "A − G": "" if hidden else one.A_minus_G.text(),
        "floor": one.W.text(),
        "T beyond floor": one.excess.text(),
        "items left out": one.n_excluded,
        "unreadable %": None if np.isnan(one.nulls.rate) else round(100 * one.nulls.rate, 1),
    }


def _cell(one: Decomposition) -> dict:
    numbers = {name: _estimate(getattr(one, name)) for name in (*COLUMNS, "share")}
    return {
        "axis": one.axis,
        "extractor": one.extractor,
        "reference": one.reference,
        "sentence": one.sentence(),
        "n_items": one.n_items,
        "n_excluded": one.n_excluded,
        "n_left_out": one.n_left_out,
        "rule": one.rule,
        "p_artifact": _number(one.p_artifact),
        "p_more": _number(one.p_more),
        "established": one.established,
    } | numbers


def _harness(found: HarnessAccuracy | None) -> dict | None:
    return (
        None
        if found is None
        else {
            "rotation": _estimate(found.led),
            "single": _estimate(found.single),
            "difference": _estimate(found.difference),
            "n": found.n,
        }
    )


def _estimate(estimate: Estimate) -> dict:
    return {key: _number(value) if isinstance(value, float) else value for key, value in asdict(estimate).items()}


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
