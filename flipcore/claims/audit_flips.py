"""Findings of an audit on answers that change: the same prompt asked again, several prompts of one item, lm-eval's SCORE."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from flipcore.claims.audit_input import N_LISTED, NO_ANSWER, OWN_PROMPT, ROUNDING, AuditInput, Finding, scored, spoken_name
from flipcore.claims.claim import description
from flipcore.stats.audit.score_rate import score_rates
from flipcore.stats.base.estimate import Estimate, number_text
from flipcore.stats.base.intervals import mean_interval
from flipcore.stats.flips.surface import column_means, surface


def answer_flips(log: AuditInput, frame: pd.DataFrame) -> Iterator[Finding]:
    """Repeats and prompts, from one count of the flips."""
    columns = list(_flip_columns(log.harmless))
    yield from _repeats(columns, frame)
    yield from _prompts(columns, log.harmless)


def _repeats(columns: Sequence[FlipColumn], frame: pd.DataFrame) -> Iterator[Finding]:
    """How often the same prompt asked again gives another answer: the floor under every comparison. Where a log has scores and no
    answers, how often the score differs."""
    own = frame[(frame["axis"] == OWN_PROMPT) & frame["is_base"] & ~frame["status"].isin(NO_ANSWER)]
    of_samples = {(one.model, one.extractor): one for one in columns if one.axis == OWN_PROMPT}
    for (model, extractor), part in own.groupby(["model", "extractor"], sort=False):
        column = of_samples.get((str(model), str(extractor)))
        rates = (
            column.rates if column else part.groupby("item_id", sort=False)["score"].agg(_disagreement).dropna().astype(float)
        )
        if rates.empty or not rates.sum():
            continue
        floor = column.mean if column else mean_interval(rates)
        under = f"under {spoken_name(extractor)} (n = {len(rates):,} items)"
        what = "answers" if column else "scores"
        sentence = f"{model}: noise floor, {floor.text()} of repeated {what} differ {under}."
        detail = (
            "Of the study's own prompt: as often a single run and its rerun disagree on an item, which says nothing of a score."
        )
        claim = description(sentence, "floor", detail, floor=floor)
        items = tuple(rates.index[rates > 0])[:N_LISTED]
        yield Finding("repeats", claim, 35 + 20 * floor.value, items, str(model), extractor=str(extractor))


def _disagreement(scores: pd.Series) -> float:
    """The share of pairs of samples that differ; NaN for one sample."""
    n = len(scores)
    counts = scores.value_counts(dropna=False).to_numpy()
    return math.nan if n < 2 else 1 - float((counts * (counts - 1)).sum()) / (n * (n - 1))


@dataclass(frozen=True)
class FlipColumn:
    """A column of the flip map: `rates` of the items that define one, and their mean as the map's head shows it."""

    model: str
    extractor: str
    axis: str
    rates: pd.Series
    mean: Estimate


def _flip_columns(harmless: pd.DataFrame) -> Iterator[FlipColumn]:
    """Every column of the flip maps of harmless readouts, counted as the Flip surface counts: an audit says no other number."""
    firsts = {str(model): part.drop_duplicates("item_id") for model, part in harmless.groupby("model", observed=True)}
    families = {model: dict(zip(part["item_id"], part["family"], strict=True)) for model, part in firsts.items()}
    for (model, extractor), part in harmless.groupby(["model", "extractor"], sort=False, observed=True):
        cells, family_of = surface(part, str(extractor)), families[str(model)]
        for c, (axis, mean) in enumerate(zip(cells.columns, column_means(cells, family_of), strict=True)):
            yield FlipColumn(str(model), str(extractor), axis, pd.Series(cells.rate[:, c], cells.items).dropna(), mean)


def _prompts(columns: Sequence[FlipColumn], harmless: pd.DataFrame) -> Iterator[Finding]:
    """Several prompts of one item: how often two of them get different answers, and the range of the scores."""
    if not columns:
        return
    by_column = scored(harmless).groupby(["model", "extractor", "axis"], observed=True)
    for column in columns:
        if column.axis == OWN_PROMPT or column.rates.empty or not column.rates.sum():
            continue
        part = by_column.get_group((column.model, column.extractor, column.axis))
        means = part.groupby("variant", observed=True)["score"].mean().dropna()
        lowest, highest = (number_text(one, 3) for one in (means.min(), means.max()))
        span = f" Scores range from {lowest} to {highest}." if lowest != highest else ""
        change, name = column.axis.replace("_", " "), spoken_name(column.extractor)
        sentence = (
            f"{column.model}: {column.mean.text()} of pairs of variants get different answers under {change}, read by {name}."
        )
        claim = description(
            sentence, "flips", f"{len(column.rates):,} items, counted as on Flip surface.{span}", flips=column.mean
        )
        items = tuple(column.rates.index[column.rates > 0])[:N_LISTED]
        yield Finding("prompts", claim, 45 + 30 * column.mean.value, items, column.model, column.axis, column.extractor)


def score_consistency(log: AuditInput, frame: pd.DataFrame) -> Iterator[Finding]:
    """lm-eval's SCORE rate as it computes it, and what it means to be, where the log moved the right option about."""
    moved = frame[(frame["axis"] == "option_order") & frame["variant"].str.match("base|right at ")]
    right = log.items.set_index("item_id")["target"]
    for (model, extractor), part in moved.groupby(["model", "extractor"], sort=False):
        part = part[part["item_id"].map(right).astype(str).str.isdecimal() & part["answer"].notna()]
        if not part["variant"].str.startswith("right at ").any():
            continue
        items = list(dict.fromkeys(part["item_id"]))
        original = np.array([int(right[item]) for item in items])
        answer_places, right_places = _places(part, items, original)
        harness, true = score_rates(answer_places, right_places, original)
        if abs(harness - true) > ROUNDING:
            sentence = (
                f"{model}, {extractor}: lm-eval's SCORE consistency is {number_text(harness, 3)}; "
                f"{number_text(true, 3)} of the pairs of answers agree."
            )
            detail = "SCORE counts an answer at the right option's original place as the right option, whatever stands there."
            yield Finding(
                "SCORE rate",
                description(sentence, "SCORE", detail),
                82,
                tuple(dict.fromkeys(part["item_id"]))[:N_LISTED],
                str(model),
                "option_order",
                str(extractor),
            )


def _places(part: pd.DataFrame, items: Sequence[str], original: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(place answered, place of the right option) of each item and version, -1 where there is none. An answer is an option of
    the item's own order; the version shows it where the swap put it."""
    row = {item: i for i, item in enumerate(items)}
    versions = list(dict.fromkeys(part["variant"]))
    answer_places, right_places = np.full((len(items), len(versions)), -1), np.full((len(items), len(versions)), -1)
    for item, variant, answer in zip(part["item_id"], part["variant"], part["answer"], strict=True):
        i, v, gold = row[item], versions.index(variant), original[row[item]]
        place = gold if variant == "base" else ord(variant[-1]) - ord("A")
        option = int(answer)
        right_places[i, v] = place
        answer_places[i, v] = place if option == gold else gold if option == place else option
    return answer_places, right_places
