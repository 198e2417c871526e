"""The threshold board's words at each level: outcomes, sentences and the headline, all made by
`claims.flips` beforehand.

JavaScript looks an outcome up and puts the leading number with its interval into the sentence that
belongs to it, so that the headline, the tally and the rows are always of one level.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import product

import numpy as np

from flipcore.claims import flips
from flipcore.claims.claim import Claim
from flipcore.reports.browser_data.level_limits import LEADS
from flipcore.reports.rows import plain
from flipcore.stats.flips.coded_answers import CodedAnswers
from flipcore.stats.flips.decomposition import PARTS, THREE, Decomposition, decompositions
from flipcore.stats.flips.pooled import across_axes

WITHHELD = "withheld"
# One letter each, because an outcome travels once per row and level.
CODES = {
    flips.ARTIFACT: "a",
    flips.OF_REFERENCE: "b",
    flips.OF_BOTH: "e",
    flips.GENUINE: "g",
    flips.ABOVE: "m",
    flips.BELOW: "l",
    flips.OPEN: "u",
    flips.FEW: "f",
}
CODES |= {flips.REFERENCE: "r", flips.UNDEFINED: "x", WITHHELD: "w"}
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

    def rows(self) -> list[dict]:
        """The rows' sentences by outcome code, the quantities that they lead with and its
        three parts."""
        return [self._row(*row) for row in zip(self.cells, self.claims, self.verdicts, strict=True)]

    def _row(self, cell: Decomposition, claim: Claim, verdict: flips.Verdict | None) -> dict:
        parts = [plain(part.value) for part in (cell.A_plus, cell.both, cell.A_minus)]
        if cell.is_reference:
            parts = [0.0, plain(cell.T.value), 0.0]
        row: dict = {"parts": parts, "detail": claim.detail}
        if verdict is None or claim.withheld:
            code, sentence = WITHHELD if claim.withheld else claim.outcome, claim.text
            if code == flips.REFERENCE:
                sentence = sentence.replace(cell.T.text_percent(), "{lead}", 1)
            return row | {"leads": {}, "sentences": {CODES[code]: sentence}}
        leads, sentences = {}, {}
        for outcome, name in verdict.leads.items():
            leads[CODES[outcome]] = LEADS[THREE.index(name.removesuffix("_excess"))]
        for outcome, text in verdict.sentences.items():
            sentences[CODES[outcome]] = text
        return row | {"leads": leads, "sentences": sentences}

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

    def verdicts_at(self, rule: str, levels: Sequence[float], low: Limits, high: Limits) -> dict:
        """`outcomes[row]`: one code a level; `headline[level]`: the row that it names (-1: none,
        `instead` is said); `tally[level]`: its place among `tallies`."""
        codes = []
        for claim in self.claims:
            code = CODES[WITHHELD if claim.withheld else claim.outcome]
            codes.append([code] * len(levels))
        leads, tally_at = [], []
        tallies: dict = {}
        for i, level in enumerate(levels):
            outcomes = []
            for row, verdict in self._open():
                if rule == PARTS:
                    outcome = verdict.outcome(level)
                else:
                    names = ("A", "G", "A_minus_G")
                    limits = ((low[name][row, i], high[name][row, i]) for name in names)
                    outcome = flips.source_outcome(rule, *limits)
                codes[row][i] = CODES[outcome]
                outcomes.append((row, verdict, outcome))
            leads.append(_lead(self._leads(outcomes)))
            # Rows over all axes are means of the others, and are not counted beside them.
            counted = [outcome for row, _, outcome in outcomes if row < self.n_own]
            text = flips.tally_of(counted).text
            # A tally stands once, however many levels it is true at.
            tally_at.append(tallies.setdefault(text, len(tallies)))
        return {
            "outcomes": ["".join(row) for row in codes],
            "headline": leads,
            "tally": tally_at,
            "tallies": list(tallies),
        }


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


def _lead(outcomes: Sequence[tuple[int, flips.Verdict, str]]) -> int:
    if not outcomes:
        return -1
    lead = flips.leading([(verdict, outcome) for _, verdict, outcome in outcomes])
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
