"""What one reviewer's verdicts changed: the estimate of a study with and without them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from flipcore.annotation.paraphrases.effect import KEEP, decomposition_without
from flipcore.annotation.paraphrases.ratings import blind, people
from flipcore.annotation.paraphrases.verdicts import ADJUDICATION, keeps
from flipcore.stats.flips.strike_bounds import Place

STANDING = KEEP["standing"]


def state_of(verdicts: Sequence[Mapping]) -> str:
    """What people's verdicts on one pair make of it, as `store.queries.studies` decides it."""
    votes = blind(verdicts)
    judged = {row["reviewer"] for row in votes}
    settled = [row for row in verdicts if row["rule_version"] == ADJUDICATION and row["reviewer"] not in judged]
    if settled:
        return "accepted" if keeps(settled[-1]) else "rejected"
    if not votes:
        return "unreviewed"
    return "accepted" if 2 * sum(keeps(row) for row in votes) > len(votes) else "rejected"


def own_effect(
    readouts: pd.DataFrame,
    materials: Mapping[Place, str],
    verdicts: Sequence[Mapping],
    reviewer: str,
    extractor: str,
    reference: str,
) -> str:
    """One sentence: how far `reviewer`'s verdicts moved T. `readouts` are of one model with every paraphrase that was asked,
    `materials` (item, variant) -> pair, `verdicts` all that stand."""
    by_pair: dict[str, list[Mapping]] = {}
    for row in people(verdicts):
        by_pair.setdefault(row["pair_id"], []).append(row)
    pairs = set(materials.values())
    n_mine = sum(row["reviewer"] == reviewer for pair in pairs for row in by_pair.get(pair, ()))
    if not n_mine:
        return f"{reviewer} has judged none of the {len(pairs):,} paraphrases that this study asked."
    rates = []
    for without in (reviewer, None):
        strikes = {
            place
            for place, pair in materials.items()
            if state_of([row for row in by_pair.get(pair, ()) if row["reviewer"] != without]) not in STANDING
        }
        rates.append(decomposition_without(readouts, strikes, extractor, reference).T)
    before, after = rates
    what = f"{n_mine:,} verdict{'s' * (n_mine > 1)} of {reviewer} on the {len(pairs):,} paraphrases that this study asked"
    if before.text() == after.text():
        return f"{what} did not move T: it is {after.text()}."
    return f"{what} moved T from {before.text()} to {after.text()}."
