"""What the threshold board says at each level: outcomes, sentences and the headline, all made by
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
        self.instead = shut.text if not self._leads(self._open()) else ""

    def rows(self) -> list[dict]:
        """For each row its sentences by outcome code, the quantities that they lead with and its
        three parts."""
        return [self._row(*row) for row in zip(self.cells, self.claims, self.verdicts, strict=True)]

    def _row(self, one: Decomposition, claim, verdict: flips.Verdict | None) -> dict:
        parts = [plain(getattr(one, name).value) for name in ("A_plus", "both", "A_minus")]
        if one.is_reference:
            parts = [0.0, plain(one.T.value), 0.0]
        row: dict = {"parts": parts, "detail": claim.detail}
        if verdict is None or claim.withheld:
            code = WITHHELD if claim.withheld else claim.outcome
            sentence = (
                claim.text.replace(one.T.text_percent(), "{lead}", 1)
                if code == flips.REFERENCE
                else claim.text
            )
            return row | {"leads": {}, "sentences": {CODES[code]: sentence}}
        return row | {
            "leads": {
                CODES[key]: LEADS[THREE.index(name.removesuffix("_excess"))]
                for key, name in verdict.leads.items()
            },
            "sentences": {CODES[key]: text for key, text in verdict.sentences.items()},
        }

    def _open(self) -> list[tuple[int, flips.Verdict]]:
        return [
            (row, verdict)
            for row, (claim, verdict) in enumerate(zip(self.claims, self.verdicts, strict=True))
            if verdict is not None and not claim.withheld
        ]

    def _leads(self, decided: Sequence) -> list:
        """Of what is decided by row, that which a headline may name."""
        return [one for one in decided if len(self.cells) == self.n_own or one[0] >= self.n_own]

    def verdicts_at(self, rule: str, levels: Sequence[float], low: Limits, high: Limits) -> dict:
        """`outcomes[row]`: one code a level; `headline[level]`: the row that it names (-1: none,
        `instead` is said); `tally[level]`: its place among `tallies`."""
        codes = [
            [CODES[WITHHELD if claim.withheld else claim.outcome]] * len(levels)
            for claim in self.claims
        ]
        leads, tally_at = [], []
        tallies: dict = {}
        for at, level in enumerate(levels):
            outcomes = []
            for row, verdict in self._open():
                limits = (
                    (low[name][row, at], high[name][row, at]) for name in ("A", "G", "A_minus_G")
                )
                outcome = (
                    verdict.outcome(level) if rule == PARTS else flips.source_outcome(rule, *limits)
                )
                codes[row][at] = CODES[outcome]
                outcomes.append((row, verdict, outcome))
            leads.append(_lead(self._leads(outcomes)))
            text = flips.tally_of(
                [outcome for row, _, outcome in outcomes if row < self.n_own]
            ).text
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
    every: Sequence[Decomposition] | None,
) -> list[flips.Verdict | None]:
    """Of each cell, corrected over those that are claimed together."""
    by_place = flips.verdicts(family, closed_gates, temperature, every)
    return [by_place.get((one.axis, one.extractor)) for one in family]


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
    every: Sequence[Decomposition] | None = None,
) -> Callable[[str, str], Wording]:
    """(reference, policy) -> its verdicts, each made once."""
    made = {}
    for reference, policy in product(references, policies):
        made[reference, policy] = Wording(
            answers, reference, policy, closed_gates, temperature, pooled, every
        )
    return lambda reference, policy: made[reference, policy]
