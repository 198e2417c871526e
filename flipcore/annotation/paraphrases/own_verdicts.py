"""What one reviewer's verdicts changed: acceptance of each source, and the estimate of a study, with and without them."""

from collections.abc import Mapping, Sequence

import pandas as pd

from flipcore.annotation.paraphrases.effect import KEEP, decomposition_without
from flipcore.annotation.paraphrases.ratings import blind, by_pair, people, settling
from flipcore.annotation.paraphrases.verdicts import keeps
from flipcore.core.wordings import NOUNS, PARAPHRASE
from flipcore.stats.base.estimate import MIN_N
from flipcore.stats.base.gate_rules import paraphrase_gate
from flipcore.stats.flips.exclusion_bounds import Place

STANDING = KEEP["standing"]


def state_of(verdicts: Sequence[Mapping]) -> str:
    """What people's verdicts on one pair make of it, as `store.queries.studies` decides it."""
    votes = blind(verdicts)
    if settled := settling(verdicts):
        return "accepted" if keeps(settled) else "rejected"
    if not votes:
        return "unreviewed"
    return "accepted" if 2 * sum(keeps(row) for row in votes) > len(votes) else "rejected"


def own_acceptance(verdicts: Sequence[Mapping], sources: Mapping[str, str], reviewer: str) -> list[str]:
    """One sentence for each source of which `reviewer` judged pairs: how far that moved its acceptance. `verdicts` are all that
    stand, `sources` pair -> source."""
    rows_of = by_pair(people(verdicts))
    mine = [sources[pair] for pair, rows in rows_of.items() if pair in sources and _judged_by(rows, reviewer)]
    sentences = []
    for source in dict.fromkeys(mine):
        pairs = _in_sample(rows_of, [pair for pair, one in sources.items() if one == source])
        before, after = (_acceptance([_without(rows_of[pair], one) for pair in pairs]) for one in (reviewer, None))
        n, n_pairs = mine.count(source), sum(one == source for one in sources.values())
        n_verdicts = f"{n:,} verdict{'s' * (n > 1)} of {reviewer} on the {n_pairs:,} stored paraphrases of {source}"
        moved = f"acceptance from {before} to {after}" if before != after else f"nothing: acceptance is {after}"
        sentences.append(f"{n_verdicts} moved {moved}.")
    return sentences


def _in_sample(rows_of: Mapping[str, Sequence[Mapping]], pairs: Sequence[str]) -> list[str]:
    """Those of a source's `pairs` that stand for it, as `store.queries.paraphrase_states` decides it."""
    reviewed = [pair for pair in pairs if pair in rows_of]
    if len(reviewed) == len(pairs):
        return reviewed
    return [pair for pair in reviewed if any(not row["by_choice"] for row in blind(rows_of[pair]))]


def _acceptance(by_pair: Sequence[Sequence[Mapping]]) -> str:
    """ "0.90 [0.80, 0.96] of 60 pairs"; an interval from 10 pairs on."""
    states = [state_of(rows) for rows in by_pair]
    n = sum(state != "unreviewed" for state in states)
    if not n:
        return "unknown (no pair reviewed)"
    estimate = paraphrase_gate(states.count("accepted"), n).accepted
    share = estimate.text() if n >= MIN_N else f"{estimate.value:.2f}"
    return f"{share} of {n:,} pair{'s' * (n > 1)}"


def _judged_by(rows: Sequence[Mapping], reviewer: str) -> bool:
    return any(row["reviewer"] == reviewer for row in rows)


def _without(rows: Sequence[Mapping], reviewer: str | None) -> list[Mapping]:
    return [row for row in rows if row["reviewer"] != reviewer]


def own_effect(
    readouts: pd.DataFrame,
    materials: Mapping[Place, str],
    verdicts: Sequence[Mapping],
    reviewer: str,
    extractor: str,
    reference: str,
    axis: str = PARAPHRASE,
) -> str:
    """One sentence: how far `reviewer`'s verdicts moved T. `readouts` are of one model with every wording that was asked,
    `materials` (item, variant of the axis) -> pair, `verdicts` all that stand."""
    rows_of = by_pair(people(verdicts))
    pairs = set(materials.values())
    n_mine = sum(_judged_by(rows_of.get(pair, ()), reviewer) for pair in pairs)
    if not n_mine:
        return f"{reviewer} has judged none of the {len(pairs):,} {NOUNS[axis][1]} that this study asked."
    rates = []
    for without in (reviewer, None):
        strikes = {
            place for place, pair in materials.items() if state_of(_without(rows_of.get(pair, ()), without)) not in STANDING
        }
        rates.append(decomposition_without(readouts, strikes, extractor, reference, axis).T)
    before, after = rates
    what = f"{n_mine:,} verdict{'s' * (n_mine > 1)} of {reviewer} on the {len(pairs):,} {NOUNS[axis][1]} that this study asked"
    if before.text() == after.text():
        return f"{what} did not move T: it is {after.text()}."
    return f"{what} moved T from {before.text()} to {after.text()}."
