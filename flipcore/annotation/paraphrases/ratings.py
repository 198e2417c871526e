"""Reviewers' verdicts as ratings: agreement before they saw each other, what they disagree on, and
what an audit keeps.

People and models are never mixed: `people` and `models` part the verdicts, and everything else
takes those of one kind.
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

FEWEST_SHARED = 20  # pairs judged by two people, below which nothing is said of agreement
OVERALL = "kept"
RATED = {
    OVERALL: "pair accepted",
    "meaning": "meaning",
    "difficulty": "difficulty",
    "solution_path": "solution path",
}
SOURCE_CHECKS = ("meaning", "solution_path")  # source 001 audits these two


def people(verdicts: Sequence[Mapping]) -> list[Mapping]:
    """Verdicts of people."""
    return [row for row in verdicts if row["reviewer_kind"] != MODEL]


def models(verdicts: Sequence[Mapping]) -> list[Mapping]:
    """Verdicts of models, to be shown next to those of people."""
    return [row for row in verdicts if row["reviewer_kind"] == MODEL]


def blind(verdicts: Sequence[Mapping]) -> list[Mapping]:
    """Without adjudications: those were given after seeing the others."""
    return [row for row in verdicts if row["rule_version"] != ADJUDICATION]


def by_pair(verdicts: Sequence[Mapping]) -> dict[str, list[Mapping]]:
    """Pair -> the verdicts on it, in their order."""
    rows_of: dict[str, list[Mapping]] = {}
    for row in verdicts:
        rows_of.setdefault(row["pair_id"], []).append(row)
    return rows_of


def ratings(
    verdicts: Sequence[Mapping], check: str
) -> tuple[list[str], list[str], list[list[str | None]]]:
    """(reviewers, pairs, ratings[reviewer][pair]) of one check, or of whether a reviewer keeps the
    pair (`kept`)."""

    def answer(row: Mapping) -> str | None:
        if check == OVERALL:
            return "yes" if keeps(row) else "no"
        return row[check]

    return ratings_table(verdicts, PAIR_VERDICTS, answer)


@dataclass(frozen=True)
class CheckAgreement:
    """Agreement on one check. `pairwise` are (reviewer, reviewer, Cohen's) with common pairs."""

    check: str
    alpha: Agreement
    fleiss: Agreement
    pairwise: tuple[tuple[str, str, Agreement], ...]

    @property
    def never_differ(self) -> tuple[str, ...]:
        """Reviewers who agree on everything: it may be one file loaded twice."""
        sentences: list[str] = []
        for a, b, pair_agreement in self.pairwise:
            for text in pair_agreement.warnings:
                if "agree on all" in text:
                    sentences.append(f"{a} and {b}: {text}")
        return tuple(sentences)


def is_too_few(check_agreement: CheckAgreement) -> bool:
    """Tell whether too few pairs were judged by two people to say how far they agree."""
    return check_agreement.alpha.n_items < FEWEST_SHARED


def agreement_sentence(check_agreement: CheckAgreement) -> str:
    """Sentence on how far those who judged the same pairs agree about keeping them."""
    if not check_agreement.alpha.n_items:
        return "No pair has been judged by two people yet, so agreement is not measured."
    n, raw = check_agreement.alpha.n_items, check_agreement.alpha.raw
    # Shares of a pair vary less than yes and no, so with three reviewers this is a little wide.
    low, high = wilson(raw * n, n)
    sentence = (
        f"On {n:,} pair{'s' * (n > 1)} judged by two or more, {percent_text(raw)} of the "
        f"judgements agree about keeping the pair [{100 * low:.0f}, {100 * high:.0f}]"
    )
    if is_too_few(check_agreement):
        return f"{sentence}. Too few: {FEWEST_SHARED} pairs judged by both say something."
    if math.isnan(check_agreement.alpha.estimate.value):
        return f"{sentence}. All say the same one thing, so agreement beyond chance is undefined."
    return (
        f"{sentence}; beyond chance that is {check_agreement.alpha.estimate.text()} "
        "(Krippendorff's alpha)."
    )


def agreement_warnings(by_check: Mapping[str, CheckAgreement]) -> list[str]:
    """Reasons for distrust, each once: one answer prevails, or somebody never differs."""
    prevailing = []
    never: dict[str, list[str]] = {}
    for check, check_agreement in by_check.items():
        for text in check_agreement.alpha.warnings:
            if "prevails" in text:
                prevailing.append(f"{RATED[check]} ({text.split(': ')[0]})")
        for text in check_agreement.never_differ:
            never.setdefault(text, []).append(RATED[check])
    warnings = []
    if prevailing:
        warnings.append(
            f"One answer prevails on {'; '.join(prevailing)}. Kappa and alpha then read low "
            "however well people agree: look at the raw agreement too."
        )
    return warnings + [f"{text} (On {', '.join(checks)}.)" for text, checks in never.items()]


def agreement(
    verdicts: Sequence[Mapping], check: str, seed: int = 0, n_boot: int = 2000
) -> CheckAgreement:
    """Raw agreement, Krippendorff, Fleiss and each pair's Cohen on one check, of blind answers."""
    reviewers, _, table = ratings(blind(verdicts), check)
    pairwise = []
    for (a, said_a), (b, said_b) in combinations(zip(reviewers, table, strict=True), 2):
        pair_agreement = cohen_agreement(said_a, said_b, seed=seed, n_boot=n_boot)
        if pair_agreement.n_items:
            pairwise.append((a, b, pair_agreement))
    return CheckAgreement(
        check,
        krippendorff_agreement(table, seed=seed, n_boot=n_boot),
        fleiss=fleiss_agreement(table, seed=seed, n_boot=n_boot),
        pairwise=tuple(pairwise),
    )


@dataclass(frozen=True)
class Disagreement:
    """A pair that some keep and others do not, what each said, and the verdict that settled it."""

    pair_id: str
    verdicts: tuple[Mapping, ...]
    settled: Mapping | None

    @property
    def checks(self) -> list[str]:
        differing = []
        for check in CHECKS:
            if len({row[check] for row in self.verdicts}) > 1:
                differing.append(RATED[check])
        return differing


def disagreements(verdicts: Sequence[Mapping]) -> list[Disagreement]:
    """Pairs on whose keeping two people differ, judged unseen; the unsettled first."""
    conflicts = []
    for pair_id, rows in by_pair(people(verdicts)).items():
        votes = blind(rows)
        if len({keeps(row) for row in votes}) > 1:
            conflicts.append(Disagreement(pair_id, tuple(votes), settled=settling(rows)))
    return sorted(
        conflicts, key=lambda disagreement: (disagreement.settled is not None, disagreement.pair_id)
    )


def models_sentence(verdicts: Sequence[Mapping]) -> str:
    """Sentence on how much of what models judged they keep, majority rule on all that was asked;
    empty where none did."""
    votes = models(verdicts)
    if not votes:
        return ""
    names = sorted({row["reviewer"] for row in votes})
    retention = retained(votes, "majority", checks=tuple(CHECKS))
    return (
        f"Beside that, {len(names)} model reviewer{'s' * (len(names) > 1)} ({', '.join(names)}) "
        f"keep {retention.text()} of {retention.n:,} pairs. Models count in no agreement, "
        "majority or gate."
    )


def settling(rows: Sequence[Mapping]) -> Mapping | None:
    """The verdict that settled a pair: of several the last (`rows` are oldest first), never of one
    who had judged it."""
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
    """Share of the judged pairs that are kept: on each of `checks` the votes of its reviewers pass
    `rule`; a pair that was settled follows the verdict that settled it. A check that nobody was
    asked about passes."""
    rows_of, n_kept = by_pair(verdicts), 0
    for rows in rows_of.values():
        settled = settling(rows)
        rows = [settled] if settled else rows
        n_kept += all(_passes_on(check, rows, rule=rule) for check in checks)
    share = retention_estimate(n_kept, len(rows_of), rule=rule)
    return replace(
        share,
        note=f"Kept: {rule} of the reviewers on {', '.join(RATED[check] for check in checks)}.",
    )


def _passes_on(check: str, rows: Sequence[Mapping], rule: str) -> bool:
    """Tell whether the votes on one check pass the rule; a check that nobody was asked passes."""
    votes = [row[check] == "yes" for row in rows if row[check] is not None]
    return not votes or passes(votes, rule)
