"""Findings of an audit that concern the items and the reported numbers themselves: golds, repeats, standard errors, impossible
rates."""

from collections.abc import Iterator
from itertools import combinations

import pandas as pd

from flipcore.claims.audit_input import (
    LEAST_TEMPLATES,
    N_LISTED,
    OWN_PROMPT,
    ROUNDING,
    AuditInput,
    Finding,
    item_scores,
    spoken_name,
)
from flipcore.claims.claim import description
from flipcore.stats.audit.paired import largest_flip_rate
from flipcore.stats.base.estimate import number_text
from flipcore.stats.base.intervals import clt, cluster_clt
from flipcore.text.answers import normalised_text


def _questions(items: pd.DataFrame) -> pd.Series:
    """What makes two items the same: question and options without case and punctuation."""
    texts = [
        normalised_text(question) + "|" + "|".join(sorted(map(normalised_text, options)))
        for question, options in zip(items["question"], items["options"], strict=True)
    ]
    return pd.Series(texts, index=items.index)


def _right_words(row: pd.Series) -> str:
    """The right answer as words, so that options in another order compare."""
    right = str(row["target"]).split("\n")
    options = list(row["options"])
    return "|".join(
        sorted(options[int(one)] if options and one.isdecimal() and int(one) < len(options) else one for one in right)
    )


def golds(log: AuditInput) -> Iterator[Finding]:
    """The same question with different right answers."""
    items = log.items[log.items["target"].notna()]
    if items.empty:
        return
    right = pd.Series([_right_words(row) for _, row in items.iterrows()], index=items.index)
    groups = right.groupby(_questions(items))
    apart = groups.transform("nunique") > 1
    if apart.any():
        listed = tuple(items.loc[apart, "item_id"])
        n = int(groups.nunique().gt(1).sum())
        sentence = (
            f"{n:,} question{'s' * (n != 1)} stand{'s' * (n == 1)} with contradicting right answers ({len(listed):,} items)."
        )
        yield Finding("contradicting golds", description(sentence, "contradicting golds"), 85, listed[:N_LISTED])


def repeated_items(log: AuditInput) -> Iterator[Finding]:
    """The same question under several ids: it counts several times in the score and in its standard error."""
    same = _questions(log.items)
    twice = same.duplicated(keep=False)
    if twice.any():
        n, extra = int(same[twice].nunique()), int(same.duplicated().sum())
        sentence = f"{n:,} question{'s' * (n != 1)} occur{'s' * (n == 1)} more than once: {extra:,} of {len(same):,} items are repeats."
        claim = description(sentence, "repeated items")
        yield Finding("repeated items", claim, 42 + 40 * extra / len(same), tuple(log.items.loc[twice, "item_id"])[:N_LISTED])


def standard_errors(log: AuditInput, frame: pd.DataFrame) -> Iterator[Finding]:
    """The standard error by items against the one by template or subject, where that is at least a fifth larger."""
    base = frame[frame["is_base"] & (frame["axis"] == OWN_PROMPT) & frame["score"].notna()]
    category = log.items.set_index("item_id")["category"]
    base = base if "role" in base else base.assign(role="")
    for (model, extractor, role), part in base.groupby(["model", "extractor", "role"], sort=False):
        means = item_scores(part)
        groups = category.reindex(means.index).fillna("")
        if groups.nunique() < LEAST_TEMPLATES or (groups == "").any():
            continue
        by_item, by_group = clt(means)["se"], cluster_clt(means, groups)["se_cr1"]
        if by_item > 0 and by_group / by_item >= 1.2:
            of_role = f", {str(role).replace('_', ' ')} items" if base["role"].nunique() > 1 else ""
            sentence = (
                f"{model}, {spoken_name(extractor)}{of_role}: the standard error is {number_text(by_group, 4)} by subject or template "
                f"and {number_text(by_item, 4)} by items."
            )
            detail = (
                f"{groups.nunique()} groups. Intervals of accuracy take single items; for other subjects or templates than these they "
                f"would be about {by_group / by_item:.1f} times as wide."
            )
            claim = description(sentence, "clustered", detail)
            yield Finding("standard error", claim, 38, model=str(model), extractor=str(extractor))


def flip_rates(log: AuditInput) -> Iterator[Finding]:
    """Reported rates of changed answers that no two such scores allow."""
    for one in log.reported:
        if "flip" not in str(one.get("metric") or one["readout"]).lower():
            continue
        scores = [
            other["value"]
            for other in log.reported
            if other["model"] == one["model"] and str(other.get("metric", "")).startswith(("acc", "exact"))
        ]
        for first, second in combinations(scores, 2):
            largest = largest_flip_rate(first, second)
            if one["value"] > largest + ROUNDING:
                sentence = (
                    f"{one['model']}: a flip rate of {number_text(one['value'], 3)} is impossible with scores "
                    f"{number_text(first, 3)} and {number_text(second, 3)}; at most {number_text(largest, 3)}."
                )
                detail = "Of two different answers one is wrong, so the rate is at most 2 minus both scores."
                yield Finding("impossible rate", description(sentence, "impossible", detail), 95, model=one["model"])
                break
