"""Ranking of a study's models: their order under every way of asking and reading, and each pair.

A way is a prompt (axis and variant) with an extractor.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from flipcore.claims import ranking as ranking_claims
from flipcore.claims.claim import Claim
from flipcore.claims.ranking import Contest
from flipcore.core.records import role_name
from flipcore.core.study import Study
from flipcore.reports.answer import Answer, Question
from flipcore.reports.rows import Row, as_json, claim_fields, notebook_table
from flipcore.reports.unread import is_unread
from flipcore.stats.audit.paired import PairedScores, paired_scores
from flipcore.stats.base.accuracy import accuracy as accuracy_interval
from flipcore.stats.base.estimate import Estimate, missing, p_text, percent_text
from flipcore.stats.flips.decomposition import default_reference
from flipcore.stats.memory.frames import CONTROL_ROLES
from flipcore.stats.ranking.order import order, rank_limits
from flipcore.stats.ranking.ways import scores as scores_by_way
from flipcore.text.counts import count_of

LEVEL = ranking_claims.LEVEL


@dataclass(frozen=True)
class ModelPair:
    """Two models at the study's own prompt under the reference extractor.

    `p` is corrected over all pairs (Holm). `joint` is the difference with limits that exclude 0
    exactly where `p` is small enough. `claim` is about all ways. `paired.p` is McNemar's exact p,
    or that of the t test where an item has several samples or templates repeat.
    """

    first: str
    second: str
    paired: PairedScores
    joint: Estimate
    p: float
    claim: Claim


@dataclass(frozen=True, eq=False)
class RankingReport(Answer):
    """Several models compared on the items of one `role`; `notes` say what was left out and why."""

    contest: Contest
    role: str
    reference: str
    best: Claim
    pairs: tuple[ModelPair, ...]
    notes: tuple[str, ...] = ()
    level: float = LEVEL

    question = Question.RANKING

    @property
    def winners(self) -> Claim:
        """The claim on how often each model is first over all ways."""
        return ranking_claims.winners(self.contest)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The claims on the best model and on how often each is first, then on each pair."""
        return (self.best, self.winners, *(pair.claim for pair in self.pairs))

    def lines(self) -> list[str]:
        lines = [f"Ranking of {len(self.contest.models)} models ({role_name(self.role)} items)"]
        lines += [f"  {line}" for line in super().lines()]
        lines += [f"  {note}" for note in self.notes]
        for row in way_rows(self.contest, self.level):
            ranks = []
            for model in self.contest.models:
                ranks.append(f"{model} {row[model]} (rank {row[f'rank of {model}']})")
            lines.append(f"  {row['way']}: {'; '.join(ranks)}")
        return lines

    def rows(self) -> Iterator[Row]:
        """Yield every model's accuracy under every way, then the difference of each pair."""
        for i, way in enumerate(self.contest.order.scores.ways):
            way_name = ranking_claims.way_text(way)
            for m, model in enumerate(self.contest.models):
                estimate = accuracy(self.contest, i, m)
                columns = {"model": model, "way": way_name}
                yield Row(model, way_name, "accuracy under a way", estimate, columns=columns)
        yield from self._leads()

    def _leads(self) -> Iterator[Row]:
        """Yield each pair's difference at the study's own prompt."""
        for pair in self.pairs:
            yield Row(
                pair.first,
                "own prompt",
                "difference",
                pair.paired.difference,
                pair.claim,
                columns={"first": pair.first, "second": pair.second},
                title=f"lead over {pair.second}",
            )

    @property
    def frame(self) -> pd.DataFrame:
        """Table of pairs, without the many ways, which have no claim of their own."""
        return notebook_table(self._leads())

    def as_dict(self) -> dict[str, Any]:
        return {
            "role": self.role,
            "reference": self.reference,
            "claims": [claim_fields(claim) for claim in self.claims],
            "pairs": [_pair_as_dict(pair) for pair in self.pairs],
            "ways": way_rows(self.contest, self.level),
            "notes": list(self.notes),
        }


def compares_models(study: Study) -> bool:
    """Return whether a study asks more than one model."""
    return len(study.models) > 1


def roles_of(frame: pd.DataFrame) -> list[str]:
    """Return the roles of the items, roles of controls last."""
    if frame.empty:
        return []
    return sorted(frame["role"].unique(), key=lambda role: role in CONTROL_ROLES)


def counted_role(frame: pd.DataFrame) -> str:
    """Return the role that counts by default; "" for an empty frame. Scores count one role only,
    because models may differ between benchmark and controls."""
    return next(iter(roles_of(frame)), "")


def ranking_report(
    frame: pd.DataFrame,
    reference: str | None = None,
    closed_gates: Mapping[str, str] | None = None,
    role: str | None = None,
    level: float = LEVEL,
    scorers: Sequence[str] = (),
) -> RankingReport | None:
    """Compare the models of `frame`, which has readouts; None for fewer than two.

    `closed_gates` is axis or extractor -> why it is not claimed. `scorers` are an imported log's.
    `reference` and `role` are by default those of the study.
    """
    role = role or counted_role(frame)
    part = frame[frame["role"] == role] if len(frame) else frame
    if part.empty or part["model"].nunique() < 2 or not part["is_correct"].notna().any():
        return None
    reference_extractor = reference or default_reference(list(part["extractor"].unique()), scorers)
    # Ways behind a closed gate are shown but enter no claim.
    contest = ranking_claims.contest(order(scores_by_way(part)), reference_extractor, closed_gates)
    best = ranking_claims.best_claim(contest, level)
    pairs = tuple(_model_pair(contest, j, k, level) for j, k in combinations(by_rank(contest), 2))
    notes = tuple(filter(None, (*_notes(contest), _width_note(contest, best, level))))
    return RankingReport(
        contest,
        role,
        reference=reference_extractor,
        best=best,
        pairs=pairs,
        notes=notes,
        level=level,
    )


def by_rank(contest: Contest) -> list[int]:
    """Return model indices by accuracy at the own prompt under the reference, the best first.
    Models without a score there come last."""
    means = np.zeros(len(contest.models))
    if contest.declared_way >= 0:
        means = contest.order.means[contest.declared_way]
    return [int(i) for i in np.argsort(-np.nan_to_num(means, nan=-1.0), kind="stable")]


def _model_pair(contest: Contest, j: int, k: int, level: float) -> ModelPair:
    """Compare the models of index `j` and `k`."""
    values, families = contest.order.scores.values, contest.order.scores.families
    own_values = values[contest.declared_way]
    # Without answers at the own prompt under the reference, the scores there are unknown.
    if contest.declared_way < 0:
        own_values = np.full_like(values[0], np.nan)
    # `paired_scores` returns its second argument less its first, so model j is the second.
    paired = paired_scores(own_values[:, k], own_values[:, j], families, level=level)
    # Both directions of the pair are corrected already; the smaller p is that of the lead.
    p = float(np.fmin(contest.p_declared[j, k], contest.p_declared[k, j]))
    joint = ranking_claims.difference(contest, j, k, level)
    claim = ranking_claims.pair_claim(contest, j, k, level)
    return ModelPair(
        contest.models[j], contest.models[k], paired=paired, joint=joint, p=p, claim=claim
    )


def _notes(contest: Contest) -> list[str]:
    notes, ways = [], contest.order.scores.ways
    for gate, reason in contest.closed_gates.items():
        n = sum(ranking_claims.closes(gate, way) for way in ways)
        # A closed gate may concern an axis without ways here.
        if n:
            left_out = f"{n} of {count_of(len(ways), 'way')} {'is' if n == 1 else 'are'}"
            notes.append(f"{left_out} left out of the claims: {reason}")
    n_missing = len(contest.order.scores.items) - contest.order.n  # shape (ways,)
    if (n_missing > 0).any():
        notes.append(
            f"Up to {int(n_missing.max()):,} items lack an answer of some model under a way and are"
            " left out there."
        )
    return notes


def _width_note(contest: Contest, best: Claim, level: float) -> str:
    """Explain a model that the first sentence puts behind, and whose interval begins at rank 1."""
    says_behind = best.is_made and any(rank > 1 for rank in best.numbers.get("best", {}).values())
    if not says_behind or contest.declared_way < 0:
        return ""
    highest, _ = rank_limits(contest.p_by_way, 1 - level)
    if (highest[contest.declared_way] > 1).any():
        return ""
    n_ways = len(contest.order.scores.ways)
    return (
        "The first sentence compares the models at the study's own prompt alone. The intervals of "
        f"ranks hold for all {n_ways:,} ways at once, so they are wider."
    )


def way_rows(contest: Contest, level: float = LEVEL) -> list[dict[str, Any]]:
    """Return one row per way: each model's accuracy and its rank, both with intervals. The
    intervals of ranks ("2 [1, 3]") hold for all ways at once."""
    best, worst = rank_limits(contest.p_by_way, 1 - level)
    rows = []
    for i, way in enumerate(contest.order.scores.ways):
        row: dict[str, Any] = {
            "way": ranking_claims.way_text(way),
            "items": int(contest.order.n[i]),
            "claimed": bool(contest.may_be_claimed[i]),
        }
        for m, model in enumerate(contest.models):
            row[model] = _percent_or_note(accuracy(contest, i, m))
            row[f"rank of {model}"] = rank_text(
                contest.order.ranks[i, m], best[i, m], worst[i, m], may_be_claimed=row["claimed"]
            )
        rows.append(row)
    return rows


def split_items(contest: Contest, way: int, first: str, second: str) -> list[str]:
    """Return items on which two models' scores under a way differ, the largest difference first."""
    j, k = contest.models.index(first), contest.models.index(second)
    scores_of_way, items = contest.order.scores.values[way], contest.order.scores.items
    gaps = np.nan_to_num(np.abs(scores_of_way[:, j] - scores_of_way[:, k]))
    return [items[i] for i in np.argsort(-gaps, kind="stable") if gaps[i] > 0]


def rank_text(rank: float, best: int, worst: int, *, may_be_claimed: bool) -> str:
    """Return "2 [1, 3]", or the rank alone where no interval is claimed."""
    # A model without an answer under a way has no rank there.
    if np.isnan(rank):
        return "–"
    return f"{int(rank)} [{best}, {worst}]" if may_be_claimed else f"{int(rank)}"


def accuracy(contest: Contest, way: int, model: int) -> Estimate:
    """Return a model's accuracy under a way, over the items that every model answered there.
    Missing where too few of the model's answers could be read."""
    scores, is_common = contest.order.scores, contest.order.scores.common(way)
    unread = _unread(contest, way, model)
    if is_unread(scores.ways[way].extractor, unread):
        return missing(note=f"not claimed, {percent_text(unread)} unread")
    return accuracy_interval(scores.values[way][is_common, model], scores.families[is_common])


def _unread(contest: Contest, way: int, model: int) -> float:
    """Return the share of a model's answers under a way that was not read; NaN without answers."""
    scores = contest.order.scores
    answered = ~np.isnan(scores.values[way][:, model])
    open_shares = (scores.highest - scores.lowest)[way][answered, model]
    # An item whose answers were never read has NaN limits, so its whole score is open.
    return float(np.nan_to_num(open_shares, nan=1.0).mean()) if len(open_shares) else float("nan")


def _percent_or_note(estimate: Estimate) -> str:
    if math.isnan(estimate.value) and estimate.note:
        return estimate.note
    return estimate.text_percent()


def accuracies_sentence(report: RankingReport) -> str:
    """State each model's accuracy at the own prompt under the reference; "" without answers."""
    contest = report.contest
    if contest.declared_way < 0:
        return ""
    parts = []
    for m in by_rank(contest):
        score = _percent_or_note(accuracy(contest, contest.declared_way, m))
        parts.append(f"{contest.models[m]} {score}")
    items = f"{int(contest.order.n[contest.declared_way]):,} {role_name(report.role)} items"
    return f"Right at the study's own prompt, on {items}: {'; '.join(parts)}."


def pair_rows(pairs: Sequence[ModelPair]) -> list[dict[str, Any]]:
    """Return one row per pair for a table on a page."""
    rows: list[dict[str, Any]] = []
    for pair in pairs:
        paired, numbers = pair.paired, pair.claim.numbers
        row = {
            "first": pair.first,
            "second": pair.second,
            "difference, pair alone": paired.difference.text_points(),
            "difference, all pairs at once": pair.joint.text_points(),
            # The pair's first model is the second one of `paired` (`_model_pair`).
            "only first right": paired.second_only,
            "only second right": paired.first_only,
            "differ in part": paired.n_partly,
            "items": paired.n_items,
            "p, pair alone": p_text(paired.p),
            "p over all pairs": p_text(pair.p),
            "ways first leads": f"{numbers.get('ahead', 0)} of {numbers.get('ways', 0)}",
            "ways second leads": numbers.get("behind", 0),
        }
        rows.append(row)
    return rows


def _pair_as_dict(pair: ModelPair) -> dict[str, Any]:
    return {
        "first": pair.first,
        "second": pair.second,
        "difference": as_json(pair.paired.difference),
        "difference_over_pairs": as_json(pair.joint),
        "p_pair_alone": as_json(pair.paired.p),
        "p_over_pairs": as_json(pair.p),
        "only_first_right": pair.paired.second_only,
        "only_second_right": pair.paired.first_only,
        "n_differ_in_part": pair.paired.n_partly,
        "n_items": pair.paired.n_items,
        **claim_fields(pair.claim),
    }
