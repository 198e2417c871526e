"""The threshold board's words at each level: outcomes, sentences and the headline, all made by
`claims.flips` beforehand.

The browser looks an outcome up and puts the leading number with its interval into the sentence that
belongs to it, so that the headline, the tally and the rows are always of one level.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from flipcore.claims import flips
from flipcore.claims.claim import Claim
from flipcore.reports.browser_data.board import Outcome, Steps, steps
from flipcore.reports.browser_data.level_limits import LEADS
from flipcore.stats.flips.coded_answers import CodedAnswers
from flipcore.stats.flips.decomposition import PARTS, THREE, Decomposition, decompositions
from flipcore.stats.flips.pooled import across_axes

WITHHELD = "withheld"
# Rows are written to the record in this order; of the first the headline is made.
OUTCOMES = {
    flips.ARTIFACT: Outcome("✓ artifact", "yes", "artifact", rank=0),
    flips.OF_BOTH: Outcome("✓ both artifact", "yes", "artifact of both extractors", rank=0),
    flips.OF_REFERENCE: Outcome("✓ reference", "yes", "artifact of the reference", rank=1),
    flips.GENUINE: Outcome("✓ genuine", "no", "genuine", rank=1),
    flips.ABOVE: Outcome("A > G", "open", "A above G", rank=2),
    flips.BELOW: Outcome("A < G", "open", "A below G", rank=2),
    flips.OPEN: Outcome("–", "open", "undecided", rank=3),
    flips.FEW: Outcome(tone="none", rank=4),
    flips.UNDEFINED: Outcome(tone="none", rank=5),
    flips.REFERENCE: Outcome(tone="reference", rank=6),
    WITHHELD: Outcome(tone="withheld"),
}
RULES = ("parts", "paired", "nonoverlap")
N_BOOT = 199  # of decompositions whose intervals are not shown: the board has its own limits
Limits = Mapping[str, np.ndarray]  # quantity -> (rows, levels)


class Wording:
    """Cells of one reference and policy with their verdicts, ready to be asked at any level; where
    several axes are `pooled`, rows over all of them follow, from which the headline is taken: it is
    the claim that the study's card leads with. `together` are the cells that are claimed together
    where any reference may be chosen after looking."""

    def __init__(
        self,
        answers: CodedAnswers,
        reference: str,
        policy: str,
        closed_gates: Mapping[str, str],
        temperature: float | None,
        pooled: Sequence[str] = (),
        together: Sequence[Decomposition] | None = None,
    ) -> None:
        own_cells = decompositions(answers, reference, policy=policy, n_boot=N_BOOT, tests=False)
        pool = [cell for cell in own_cells if cell.axis in pooled] if len(pooled) > 1 else []
        pooled_cells = across_axes(pool, n_boot=N_BOOT)
        self.n_own = len(own_cells)
        self.cells: list[Decomposition] = []
        self.claims: list[Claim] = []
        self.verdicts: list[flips.Verdict | None] = []
        for family in (own_cells, pooled_cells):
            self.cells += family
            self.claims += flips.cell_claims(family, closed_gates, temperature, together)
            self.verdicts += _verdicts(family, closed_gates, temperature, together)
        shut = flips.headline(pooled_cells or own_cells, closed_gates, temperature)
        # Where no row may lead, the headline says why.
        self.instead = shut.text if not self._leads(self._open()) else ""

    def sentences(self, row: int) -> tuple[dict[str, str], dict[str, str]]:
        """Return the sentences of a row by outcome, and the quantity that each leads with."""
        cell, claim, verdict = self.cells[row], self.claims[row], self.verdicts[row]
        if verdict is None or claim.withheld:
            outcome, sentence = _stated(claim), claim.text
            if outcome == flips.REFERENCE:
                sentence = sentence.replace(cell.T.text_percent(), "{lead}", 1)
            return {outcome: sentence}, {}
        leads = {}
        for outcome, name in verdict.leads.items():
            leads[outcome] = LEADS[THREE.index(name.removesuffix("_excess"))]
        return dict(verdict.sentences), leads

    def parts(self, row: int) -> list[float]:
        """Return the three parts of a row: compared extractor alone, both, reference alone."""
        cell = self.cells[row]
        if cell.is_reference:
            return [0.0, cell.T.value, 0.0]
        return [part.value for part in (cell.A_plus, cell.both, cell.A_minus)]

    def _open(self) -> list[tuple[int, flips.Verdict]]:
        open_rows = []
        for row, (claim, verdict) in enumerate(zip(self.claims, self.verdicts, strict=True)):
            if verdict is not None and not claim.withheld:
                open_rows.append((row, verdict))
        return open_rows

    def _leads(self, decided: Sequence) -> list:
        """The decided rows that a headline may name: those over all axes where there are any."""
        is_pooled = len(self.cells) > self.n_own
        return [row for row in decided if not is_pooled or row[0] >= self.n_own]

    def verdicts_at(
        self, rule: str, levels: Sequence[float], low: Limits, high: Limits
    ) -> "VerdictsAt":
        """Return the verdicts by level."""
        outcomes_by_row = [[_stated(claim)] * len(levels) for claim in self.claims]
        leads, tallies = [], []
        for i, level in enumerate(levels):
            outcomes = []
            for row, verdict in self._open():
                if rule == PARTS:
                    outcome = verdict.outcome(level)
                else:
                    names = ("A", "G", "A_minus_G")
                    limits = ((low[name][row, i], high[name][row, i]) for name in names)
                    outcome = flips.source_outcome(rule, *limits)
                outcomes_by_row[row][i] = outcome
                outcomes.append((row, verdict, outcome))
            leads.append(_lead(self._leads(outcomes)))
            # Rows over all axes are means of the others, and are not counted beside them.
            counted = [outcome for row, _, outcome in outcomes if row < self.n_own]
            tallies.append(flips.tally_of(counted).text)
        return VerdictsAt(
            [steps(outcomes) for outcomes in outcomes_by_row], steps(leads), steps(tallies)
        )


class VerdictsAt(NamedTuple):
    """Steps over levels: outcome of each row, the leading row (None: none may), the tally."""

    outcomes: list[Steps]
    leading_row: Steps
    tally: Steps


def _stated(claim: Claim) -> str:
    return WITHHELD if claim.withheld else claim.outcome


def every_pairing(answers: CodedAnswers, references: Sequence[str]) -> list[Decomposition]:
    """The cells beside each of these references: what is claimed together where any of them may be
    chosen after looking."""
    cells: list[Decomposition] = []
    for reference in references:
        cells += decompositions(answers, reference, kind="clt_cluster", tests=False)
    return cells


def _verdicts(
    family: Sequence[Decomposition],
    closed_gates: Mapping[str, str],
    temperature: float | None,
    together: Sequence[Decomposition] | None,
) -> list[flips.Verdict | None]:
    """The verdict of each cell, corrected over those that are claimed together."""
    by_place = flips.verdicts(family, closed_gates, temperature, together)
    return [by_place.get((cell.axis, cell.extractor)) for cell in family]


def _lead(outcomes: Sequence[tuple[int, flips.Verdict, str]]) -> int | None:
    if not outcomes:
        return None
    lead = flips.leading_verdict([(verdict, outcome) for _, verdict, outcome in outcomes])
    return next(row for row, verdict, _ in outcomes if verdict is lead)


def wordings(
    answers: CodedAnswers,
    references: Sequence[str],
    policies: Sequence[str],
    closed_gates: Mapping[str, str],
    temperature: float | None,
    pooled: Sequence[str] = (),
    together: Sequence[Decomposition] | None = None,
) -> Callable[[str, str], Wording]:
    """(reference, policy) -> its verdicts, each made once."""
    wording_of = {}
    for reference, policy in product(references, policies):
        wording_of[reference, policy] = Wording(
            answers, reference, policy, closed_gates, temperature, pooled, together
        )
    return lambda reference, policy: wording_of[reference, policy]
