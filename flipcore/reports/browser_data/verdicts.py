"""The threshold board's sentences at each level, all made by `claims.flips` in advance.

The browser looks up the outcome at a level and puts the number with its interval into the sentence
of that outcome. So headline, tally and rows always belong to one level.
"""

from collections.abc import Mapping, Sequence
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
# Rows enter the decision record in the order of `rank`; the first one makes the headline.
OUTCOMES = {
    flips.ARTIFACT: Outcome(sign="✓ artifact", tone="yes", becomes="artifact", rank=0),
    flips.OF_BOTH: Outcome(
        sign="✓ both artifact", tone="yes", becomes="artifact of both extractors", rank=0
    ),
    flips.OF_REFERENCE: Outcome(
        sign="✓ reference", tone="yes", becomes="artifact of the reference", rank=1
    ),
    flips.GENUINE: Outcome(sign="✓ genuine", tone="no", becomes="genuine", rank=1),
    flips.ABOVE: Outcome(sign="A > G", tone="open", becomes="A above G", rank=2),
    flips.BELOW: Outcome(sign="A < G", tone="open", becomes="A below G", rank=2),
    flips.OPEN: Outcome(sign="–", tone="open", becomes="undecided", rank=3),
    flips.FEW: Outcome(tone="none", rank=4),
    flips.UNDEFINED: Outcome(tone="none", rank=5),
    flips.REFERENCE: Outcome(tone="reference", rank=6),
    WITHHELD: Outcome(tone="withheld"),
}
LEAD_BY_PART = dict(zip(THREE, LEADS, strict=True))  # part of flips -> its name on the board
RULES = ("parts", "paired", "nonoverlap")
N_BOOT = 199  # few resamples, because the board shows its own limits and not these intervals
Limits = Mapping[str, np.ndarray]  # quantity -> (rows, levels)


class BoardRows:
    """The rows of one reference and policy: cells with their claims and verdicts at any level.

    Where several axes are `pooled`, rows over all of them follow the first `n_own` rows. They give
    the headline, as on the study's card. `family` are the cells over which
    p-values are corrected where any reference may be chosen after looking; None corrects over the
    cells of this reference. `why_no_lead` says why no row may lead, "" if one may.
    """

    def __init__(
        self,
        answers: CodedAnswers,
        reference: str,
        policy: str,
        closed_gates: Mapping[str, str],
        temperature: float | None,
        pooled: Sequence[str] = (),
        family: Sequence[Decomposition] | None = None,
    ) -> None:
        own_cells = decompositions(answers, reference, policy=policy, n_boot=N_BOOT, tests=False)
        pool = [cell for cell in own_cells if cell.axis in pooled] if len(pooled) > 1 else []
        pooled_cells = across_axes(pool, n_boot=N_BOOT)
        self.n_own = len(own_cells)
        self.cells: list[Decomposition] = []
        self.claims: list[Claim] = []
        self.verdicts: list[flips.Verdict | None] = []
        for cells in (own_cells, pooled_cells):
            self.cells += cells
            self.claims += flips.cell_claims(cells, closed_gates, temperature, family)
            by_pairing = flips.verdicts(cells, closed_gates, temperature, family)
            self.verdicts += [by_pairing.get((cell.axis, cell.extractor)) for cell in cells]
        self.why_no_lead = ""
        if not any(self._may_lead(row) for row, _ in self._open_rows()):
            headline = flips.headline(pooled_cells or own_cells, closed_gates, temperature)
            self.why_no_lead = headline.text

    def sentences(self, row: int) -> tuple[dict[str, str], dict[str, str]]:
        """Return outcome -> sentence, and outcome -> the quantity that fills its {lead}."""
        cell, claim, verdict = self.cells[row], self.claims[row], self.verdicts[row]
        if verdict is None or claim.withheld:
            outcome, sentence = _outcome_of(claim), claim.text
            if outcome == flips.REFERENCE:
                sentence = sentence.replace(cell.T.text_percent(), "{lead}", 1)
            return {outcome: sentence}, {}
        leads = {}
        for outcome, part in verdict.leads.items():
            leads[outcome] = LEAD_BY_PART[part.removesuffix("_excess")]
        return dict(verdict.sentences), leads

    def parts(self, row: int) -> list[float]:
        """Return the three parts of a row: compared extractor alone, both, reference alone."""
        cell = self.cells[row]
        if cell.is_reference:
            return [0.0, cell.T.value, 0.0]
        return [part.value for part in (cell.A_plus, cell.both, cell.A_minus)]

    def _open_rows(self) -> list[tuple[int, flips.Verdict]]:
        """Return (row, verdict) of the rows with a verdict that is not withheld."""
        open_rows = []
        for row, (claim, verdict) in enumerate(zip(self.claims, self.verdicts, strict=True)):
            if verdict is not None and not claim.withheld:
                open_rows.append((row, verdict))
        return open_rows

    def _may_lead(self, row: int) -> bool:
        """Tell whether a headline may name this row. Where rows over all axes exist, only they."""
        has_pooled_rows = len(self.cells) > self.n_own
        return row >= self.n_own or not has_pooled_rows

    def verdicts_at(
        self, rule: str, levels: Sequence[float], low: Limits, high: Limits
    ) -> "VerdictsAt":
        """Return the verdicts at each level by a rule; the limits serve the sources' rules."""
        outcomes_by_row = [[_outcome_of(claim)] * len(levels) for claim in self.claims]
        leading_rows, tallies = [], []
        for i, level in enumerate(levels):
            candidates, counted = [], []
            for row, verdict in self._open_rows():
                if rule == PARTS:
                    outcome = verdict.outcome(level)
                else:
                    names = ("A", "G", "A_minus_G")
                    limits = ((low[name][row, i], high[name][row, i]) for name in names)
                    outcome = flips.source_outcome(rule, *limits)
                outcomes_by_row[row][i] = outcome
                if self._may_lead(row):
                    candidates.append((row, verdict, outcome))
                # Rows over all axes are means of the others, so the tally leaves them out.
                if row < self.n_own:
                    counted.append(outcome)
            leading_rows.append(_leading_row(candidates))
            tallies.append(flips.tally(counted).text)
        return VerdictsAt(
            [steps(outcomes) for outcomes in outcomes_by_row], steps(leading_rows), steps(tallies)
        )


class VerdictsAt(NamedTuple):
    """Steps over levels: each row's outcome, the leading row (None for none), and the tally."""

    outcomes: list[Steps]
    leading_row: Steps
    tally: Steps


def _outcome_of(claim: Claim) -> str:
    return WITHHELD if claim.withheld else claim.outcome


def every_pairing(answers: CodedAnswers, references: Sequence[str]) -> list[Decomposition]:
    """Return the cells under each of these references. P-values are corrected over all of them
    where any may be chosen after looking."""
    cells: list[Decomposition] = []
    # Only p-values are taken from these cells, so intervals need no resamples.
    for reference in references:
        cells += decompositions(answers, reference, kind="clt_cluster", tests=False)
    return cells


def _leading_row(candidates: Sequence[tuple[int, flips.Verdict, str]]) -> int | None:
    """Return the row that leads, of (row, verdict, outcome); None if there is none."""
    if not candidates:
        return None
    lead = flips.leading_verdict([(verdict, outcome) for _, verdict, outcome in candidates])
    return next(row for row, verdict, _ in candidates if verdict is lead)


def board_rows(
    answers: CodedAnswers,
    references: Sequence[str],
    policies: Sequence[str],
    closed_gates: Mapping[str, str],
    temperature: float | None,
    pooled: Sequence[str] = (),
    family: Sequence[Decomposition] | None = None,
) -> dict[tuple[str, str], BoardRows]:
    """Return (reference, policy) -> its rows."""
    rows = {}
    for reference, policy in product(references, policies):
        rows[reference, policy] = BoardRows(
            answers, reference, policy, closed_gates, temperature, pooled, family
        )
    return rows
