"""Reviewers' verdicts as ratings: blind agreement, disagreements, and the share that is kept.

People and models are never mixed: `people` and `models` filter the verdicts, and all other
functions take verdicts of one kind.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from flipcore.annotation.judging import ratings_table
from flipcore.annotation.paraphrases.verdicts import ADJUDICATION, CHECKS, MODEL, keeps
from flipcore.stats.base.agreement import (
    Agreement,
    cohen_agreement,
    fleiss_agreement,
    krippendorff_agreement,
)
from flipcore.stats.base.estimate import Estimate, percent_text
from flipcore.stats.base.proportions import wilson
from flipcore.stats.base.retention import passes, retention_estimate
from flipcore.store.judgements import PAIR_VERDICTS

MIN_SHARED = 20  # pairs judged by two people, for a statement on agreement
OVERALL = "kept"
LABELS = {
    OVERALL: "pair accepted",
    "meaning": "meaning",
    "difficulty": "difficulty",
    "solution_path": "solution path",
}
SOURCE_CHECKS = ("meaning", "solution_path")  # source 001 audits these two


def verdicts_by_people(verdicts: Sequence[Mapping]) -> list[Mapping]:
    """Return the verdicts of people."""
    return [row for row in verdicts if row["reviewer_kind"] != MODEL]


def verdicts_by_models(verdicts: Sequence[Mapping]) -> list[Mapping]:
    """Return the verdicts of models, which are shown next to those of people."""
    return [row for row in verdicts if row["reviewer_kind"] == MODEL]


def blind(verdicts: Sequence[Mapping]) -> list[Mapping]:
    """Return the verdicts without adjudications, which are given after seeing the others."""
    return [row for row in verdicts if row["rule_version"] != ADJUDICATION]


def by_pair(verdicts: Sequence[Mapping]) -> dict[str, list[Mapping]]:
    """Return pair id -> its verdicts, in the same order."""
    rows_of: dict[str, list[Mapping]] = {}
    for row in verdicts:
        rows_of.setdefault(row["pair_id"], []).append(row)
    return rows_of


def ratings(
    verdicts: Sequence[Mapping], check: str
) -> tuple[list[str], list[str], list[list[str | None]]]:
    """Return (reviewers, pairs, ratings[reviewer][pair]) of one check; None for no rating.

    The check "kept" (`OVERALL`) is whether the reviewer keeps the pair.
    """

    def answer(row: Mapping) -> str | None:
        if check == OVERALL:
            return "yes" if keeps(row) else "no"
        return row[check]

    return ratings_table(verdicts, PAIR_VERDICTS, answer)


@dataclass(frozen=True)
class CheckAgreement:
    """Agreement on one check.

    `pairwise` has (reviewer, reviewer, Cohen's kappa) for reviewers with common pairs.
    """

    check: str
    alpha: Agreement
    fleiss: Agreement
    pairwise: tuple[tuple[str, str, Agreement], ...]

    @property
    def never_differ(self) -> tuple[str, ...]:
        """Warnings on reviewers who agree on everything; maybe one file was loaded twice."""
        sentences: list[str] = []
        for first, second, pair_agreement in self.pairwise:
            for text in pair_agreement.warnings:
                if "agree on all" in text:
                    sentences.append(f"{first} and {second}: {text}")
        return tuple(sentences)


def is_too_few(check_agreement: CheckAgreement) -> bool:
    """Return whether too few pairs were judged by two people to measure agreement."""
    return check_agreement.alpha.n_items < MIN_SHARED


def agreement_sentence(check_agreement: CheckAgreement) -> str:
    """Return a sentence on how far reviewers of the same pairs agree about keeping them."""
    if not check_agreement.alpha.n_items:
        return "No pair has been judged by two people yet, so agreement is not measured."
    n, raw = check_agreement.alpha.n_items, check_agreement.alpha.raw
    # Wilson's interval is for yes and no. With three reviewers a pair's agreement is a share, which
    # varies less, so the interval is a little too wide.
    low, high = wilson(raw * n, n)
    sentence = (
        f"On {n:,} pair{'s' * (n > 1)} judged by two or more, {percent_text(raw)} of the "
        f"judgements agree about keeping the pair [{100 * low:.0f}, {100 * high:.0f}]"
    )
    if is_too_few(check_agreement):
        return f"{sentence}. Too few: {MIN_SHARED} pairs judged by both say something."
    if math.isnan(check_agreement.alpha.estimate.value):
        return f"{sentence}. All say the same one thing, so agreement beyond chance is undefined."
    return (
        f"{sentence}; beyond chance that is {check_agreement.alpha.estimate.text()} "
        "(Krippendorff's alpha)."
    )


def agreement_warnings(by_check: Mapping[str, CheckAgreement]) -> list[str]:
    """Return reasons to distrust the agreement: one answer prevails, or two never differ."""
    prevailing = []
    never: dict[str, list[str]] = {}
    for check, check_agreement in by_check.items():
        for text in check_agreement.alpha.warnings:
            if "prevails" in text:
                prevailing.append(f"{LABELS[check]} ({text.split(': ')[0]})")
        for text in check_agreement.never_differ:
            never.setdefault(text, []).append(LABELS[check])
    warnings = []
    if prevailing:
        warnings.append(
            f"One answer prevails on {'; '.join(prevailing)}. Kappa and alpha then read low "
            "however well people agree: look at the raw agreement too."
        )
    return warnings + [f"{text} (On {', '.join(checks)}.)" for text, checks in never.items()]


def agreement(verdicts: Sequence[Mapping], check: str) -> CheckAgreement:
    """Return raw agreement and coefficients of blind answers on one check.

    They are Krippendorff's alpha, Fleiss' kappa, and Cohen's kappa of each pair of reviewers.
    """
    reviewers, _, table = ratings(blind(verdicts), check)
    pairwise = []
    by_reviewer = dict(zip(reviewers, table, strict=True))
    for first, second in combinations(reviewers, 2):
        pair_agreement = cohen_agreement(by_reviewer[first], by_reviewer[second])
        if pair_agreement.n_items:
            pairwise.append((first, second, pair_agreement))
    return CheckAgreement(
        check,
        krippendorff_agreement(table),
        fleiss=fleiss_agreement(table),
        pairwise=tuple(pairwise),
    )


@dataclass(frozen=True)
class Disagreement:
    """A pair that some people keep and others do not; `settled` is None or the settling verdict."""

    pair_id: str
    verdicts: tuple[Mapping, ...]
    settled: Mapping | None

    @property
    def checks(self) -> list[str]:
        """Titles of the checks on which the verdicts differ."""
        differing = []
        for check in CHECKS:
            if len({row[check] for row in self.verdicts}) > 1:
                differing.append(LABELS[check])
        return differing


def disagreements(verdicts: Sequence[Mapping]) -> list[Disagreement]:
    """Return the pairs on which blind verdicts of people differ, unsettled ones first."""
    conflicts = []
    for pair_id, rows in by_pair(verdicts_by_people(verdicts)).items():
        votes = blind(rows)
        if len({keeps(row) for row in votes}) > 1:
            conflicts.append(Disagreement(pair_id, tuple(votes), settled=settling(rows)))
    return sorted(
        conflicts, key=lambda disagreement: (disagreement.settled is not None, disagreement.pair_id)
    )


def models_sentence(verdicts: Sequence[Mapping]) -> str:
    """Return a sentence on the share that models keep, by majority on all checks; "" for none."""
    votes = verdicts_by_models(verdicts)
    if not votes:
        return ""
    names = sorted({row["reviewer"] for row in votes})
    retention = retained(votes, "majority", checks=tuple(CHECKS))
    return (
        f"Beside that, {len(names)} model reviewer{'s' * (len(names) > 1)} ({', '.join(names)}) "
        f"keep {retention.text_percent()} of {retention.n:,} pairs. Models count in no agreement, "
        "majority or gate."
    )


def settling(rows: Sequence[Mapping]) -> Mapping | None:
    """Return the last verdict that settled a pair, None for none; `rows` are oldest first.

    A verdict of somebody who judged the pair blind does not count.
    """
    reviewers = {row["reviewer"] for row in blind(rows)}
    settled = [
        row
        for row in rows
        if row["rule_version"] == ADJUDICATION and row["reviewer"] not in reviewers
    ]
    return settled[-1] if settled else None


def retained(
    verdicts: Sequence[Mapping], rule: str, checks: Sequence[str] = SOURCE_CHECKS
) -> Estimate:
    """Return the share of the judged pairs that are kept.

    A pair is kept if its votes pass `rule` on each of `checks`. If it was settled, only the verdict
    that settled it counts. A check that nobody was asked about passes.
    """
    rows_of, n_kept = by_pair(verdicts), 0
    for rows in rows_of.values():
        settled = settling(rows)
        rows = [settled] if settled else rows
        n_kept += all(_passes_on(check, rows, rule=rule) for check in checks)
    share = retention_estimate(n_kept, len(rows_of), rule=rule)
    return replace(
        share,
        note=f"Kept: {rule} of the reviewers on {', '.join(LABELS[check] for check in checks)}.",
    )


def _passes_on(check: str, rows: Sequence[Mapping], rule: str) -> bool:
    """Return whether the votes on one check pass the rule; without votes they do."""
    votes = [row[check] == "yes" for row in rows if row[check] is not None]
    return not votes or passes(votes, rule)
