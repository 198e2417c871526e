"""What reviewers said as ratings: agreement before they saw each other, what they disagree on, and what an audit keeps.

People and models are never mixed: `people` and `models` part the verdicts, and everything else takes those of one kind.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from flipcore.annotation.paraphrases.verdicts import ADJUDICATION, CHECKS, MODEL, keeps
from flipcore.stats.base.agreement import Agreement, cohen_agreement, fleiss_agreement, krippendorff_agreement
from flipcore.stats.base.estimate import Estimate, percent_text
from flipcore.stats.base.retention import passes, retention_estimate

OVERALL = "kept"
RATED = {
    OVERALL: "all that was asked is kept",
    "meaning": "meaning",
    "difficulty": "difficulty",
    "solution_path": "solution path",
}
SOURCE_CHECKS = ("meaning", "solution_path")  # source 001 audits these two


def people(verdicts: Sequence[Mapping]) -> list[Mapping]:
    """What people said."""
    return [row for row in verdicts if row["reviewer_kind"] != MODEL]


def models(verdicts: Sequence[Mapping]) -> list[Mapping]:
    """What models said, to be shown beside what people said."""
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


def ratings(verdicts: Sequence[Mapping], check: str) -> tuple[list[str], list[str], list[list[str | None]]]:
    """(reviewers, pairs, ratings[reviewer][pair]) of one check, or of whether a reviewer keeps the pair (`kept`)."""
    reviewers, pairs = (sorted({row[name] for row in verdicts}) for name in ("reviewer", "pair_id"))
    answers = {
        (row["reviewer"], row["pair_id"]): ("yes" if keeps(row) else "no") if check == OVERALL else row[check]
        for row in verdicts
    }
    return reviewers, pairs, [[answers.get((reviewer, pair)) for pair in pairs] for reviewer in reviewers]


@dataclass(frozen=True)
class CheckAgreement:
    """Agreement on one check. `pairwise` are (reviewer, reviewer, Cohen's) of those who judged a pair in common."""

    check: str
    alpha: Agreement
    fleiss: Agreement
    pairwise: tuple[tuple[str, str, Agreement], ...]

    @property
    def never_differ(self) -> tuple[str, ...]:
        """Reviewers who agree on everything: it may be one file loaded twice."""
        return tuple(f"{a} and {b}: {text}" for a, b, one in self.pairwise for text in one.warnings if "agree on all" in text)


def agreement_sentence(check_agreement: CheckAgreement) -> str:
    """How far those who judged the same pairs agree about keeping them."""
    if not check_agreement.alpha.n_items:
        return "No pair has been judged by two people yet, so agreement is not measured."
    sentence = (
        f"On {check_agreement.alpha.n_items:,} pair{'s' * (check_agreement.alpha.n_items > 1)} judged by two or more, "
        f"{percent_text(check_agreement.alpha.raw)} of the judgements agree about keeping the pair"
    )
    if math.isnan(check_agreement.alpha.estimate.value):
        return f"{sentence}. All say the same one thing, so agreement beyond chance is undefined."
    return f"{sentence}; beyond chance that is {check_agreement.alpha.estimate.text()} (Krippendorff's alpha)."


def agreement_warnings(by_check: Mapping[str, CheckAgreement]) -> list[str]:
    """What to distrust, each once: where one answer prevails, and who never differs on which check."""
    prevailing = [
        f"{RATED[check]} ({text.split(': ')[0]})"
        for check, one in by_check.items()
        for text in one.alpha.warnings
        if "prevails" in text
    ]
    warnings = (
        [
            f"One answer prevails on {'; '.join(prevailing)}. Kappa and alpha then read low however well people agree: look "
            "at the raw agreement too."
        ]
        if prevailing
        else []
    )
    never: dict[str, list[str]] = {}
    for check, one in by_check.items():
        for text in one.never_differ:
            never.setdefault(text, []).append(RATED[check])
    return warnings + [f"{text} (On {', '.join(checks)}.)" for text, checks in never.items()]


def agreement(verdicts: Sequence[Mapping], check: str, seed: int = 0, n_boot: int = 2000) -> CheckAgreement:
    """Raw agreement, Krippendorff, Fleiss and each pair's Cohen on one check, over what was said blind."""
    reviewers, _, table = ratings(blind(verdicts), check)
    pairwise = []
    for (a, said_a), (b, said_b) in combinations(zip(reviewers, table, strict=True), 2):
        one = cohen_agreement(said_a, said_b, seed=seed, n_boot=n_boot)
        if one.n_items:
            pairwise.append((a, b, one))
    return CheckAgreement(
        check,
        krippendorff_agreement(table, seed=seed, n_boot=n_boot),
        fleiss_agreement(table, seed=seed, n_boot=n_boot),
        tuple(pairwise),
    )


@dataclass(frozen=True)
class Disagreement:
    """A pair that some keep and others do not, what each said, and the verdict that settled it."""

    pair_id: str
    verdicts: tuple[Mapping, ...]
    settled: Mapping | None

    @property
    def checks(self) -> list[str]:
        return [RATED[check] for check in CHECKS if len({row[check] for row in self.verdicts}) > 1]


def disagreements(verdicts: Sequence[Mapping]) -> list[Disagreement]:
    """Pairs on which two people who had not seen each other differ about keeping; the unsettled first."""
    conflicts = []
    for pair_id, rows in by_pair(people(verdicts)).items():
        votes = blind(rows)
        if len({keeps(row) for row in votes}) > 1:
            conflicts.append(Disagreement(pair_id, tuple(votes), settling(rows)))
    return sorted(conflicts, key=lambda one: (one.settled is not None, one.pair_id))


def models_sentence(verdicts: Sequence[Mapping]) -> str:
    """How much of what models judged they keep, majority rule on all that was asked; empty where none did."""
    votes = models(verdicts)
    if not votes:
        return ""
    names = sorted({row["reviewer"] for row in votes})
    retention = retained(votes, "majority", tuple(CHECKS))
    return (
        f"Beside that, {len(names)} model reviewer{'s' * (len(names) > 1)} ({', '.join(names)}) keep {retention.text()} of "
        f"{retention.n:,} pairs. Models count in no agreement, majority or gate."
    )


def settling(rows: Sequence[Mapping]) -> Mapping | None:
    """The verdict that settled a pair: of several the last (`rows` are oldest first), never of one who had judged it."""
    reviewers = {row["reviewer"] for row in blind(rows)}
    settled = [row for row in rows if row["rule_version"] == ADJUDICATION and row["reviewer"] not in reviewers]
    return settled[-1] if settled else None


def retained(verdicts: Sequence[Mapping], rule: str, checks: Sequence[str] = SOURCE_CHECKS) -> Estimate:
    """Share of the judged pairs that are kept: on each of `checks` the votes of its reviewers pass `rule`; a pair that was
    settled follows the verdict that settled it. A check that nobody was asked about passes."""
    rows_of, n_kept = by_pair(verdicts), 0
    for rows in rows_of.values():
        settled = settling(rows)
        rows = [settled] if settled else rows
        votes = [[row[check] == "yes" for row in rows if row[check] is not None] for check in checks]
        n_kept += all(passes(one, rule) for one in votes if one)
    share = retention_estimate(n_kept, len(rows_of), rule)
    return replace(share, note=f"Kept: {rule} of the reviewers on {', '.join(RATED[check] for check in checks)}.")
