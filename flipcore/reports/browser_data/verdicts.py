"""What the threshold board says at each level: outcomes, sentences and the headline, all made by `claims.flips` beforehand.

JavaScript looks an outcome up and puts the leading number with its interval into the sentence that belongs to it, so that the
headline, the tally and the rows are always of one level.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from flipcore.claims import flips
from flipcore.claims.flips import FEW, LESS, MORE, OPEN, REFERENCE, UNDEFINED, Verdict
from flipcore.stats.flips.coded_answers import CodedAnswers
from flipcore.stats.flips.decomposition import Decomposition, decompositions
from flipcore.stats.flips.pooled import across_axes

WITHHELD = "withheld"
CODES = {MORE: "m", LESS: "l", OPEN: "u", FEW: "f", REFERENCE: "r", UNDEFINED: "x", WITHHELD: "w"}
RULES = ("paired", "nonoverlap")
N_BOOT = 199  # of decompositions whose intervals are not shown: the board has its own limits
Limits = Mapping[str, np.ndarray]  # quantity -> (rows, levels)


class Wording:
    """Cells of one reference and policy with their verdicts, ready to be asked at any level; where several axes are `pooled`,
    rows over all of them follow, from which the headline is taken: it is the claim that the study's card leads with."""

    def __init__(
        self,
        answers: CodedAnswers,
        reference: str,
        policy: str,
        closed_gates: Mapping[str, str],
        temperature: float | None,
        pooled: Sequence[str] = (),
    ) -> None:
        own = decompositions(answers, reference, policy=policy, n_boot=N_BOOT, tests=False)
        pool = [one for one in own if one.axis in pooled] if len(pooled) > 1 else []
        families = [own, across_axes(pool, n_boot=N_BOOT)]
        self.n_own, self.cells = len(own), [one for family in families for one in family]
        self.claims = [claim for family in families for claim in flips.cell_claims(family, closed_gates, temperature)]
        self.verdicts = [one for family in families for one in _verdicts(family, closed_gates, temperature)]
        shut = flips.headline(families[-1] or own, closed_gates, temperature)
        self.instead = shut.text if not self._leads(self._open()) else ""

    def rows(self) -> list[dict]:
        """For each row its sentences by outcome code, its headlines, its leading quantity and its three parts."""
        return [self._row(*row) for row in zip(self.cells, self.claims, self.verdicts, strict=True)]

    def quantities(self) -> list[tuple[str, ...]]:
        """For each row the quantities that its sentences and its verdict rest on: of the reference itself A is 0 by definition."""
        rest = [("A", "A_minus_G", *([one.lead] if one else [])) for one in self.verdicts]
        return [("T", "G", *(() if cell.is_reference else more)) for cell, more in zip(self.cells, rest, strict=True)]

    def _row(self, one: Decomposition, claim, verdict: Verdict | None) -> dict:
        parts = [_plain(getattr(one, name).value) for name in ("A_plus", "both", "A_minus")]
        if one.is_reference:
            parts = [0.0, _plain(one.T.value), 0.0]
        row = {"parts": parts, "detail": claim.detail, "lead": verdict.lead if verdict else "T"}
        if verdict is None or claim.withheld:
            code = WITHHELD if claim.withheld else claim.outcome
            sentence = claim.text.replace(one.T.text(), "{lead}", 1) if code == REFERENCE else claim.text
            return row | {"sentences": {CODES[code]: sentence}, "headlines": {CODES[code]: sentence}}
        return row | {
            "sentences": {CODES[key]: text for key, text in verdict.sentences.items()},
            "headlines": {CODES[key]: text for key, text in verdict.headlines.items()},
        }

    def _open(self) -> list[tuple[int, Verdict]]:
        """Row number and verdict of the cells that may be claimed."""
        return [
            (row, verdict)
            for row, (claim, verdict) in enumerate(zip(self.claims, self.verdicts, strict=True))
            if verdict is not None and not claim.withheld
        ]

    def _leads(self, decided: Sequence) -> list:
        """Of what is decided by row, that which a headline may name."""
        return [one for one in decided if len(self.cells) == self.n_own or one[0] >= self.n_own]

    def verdicts_at(self, rule: str, levels: Sequence[float], low: Limits, high: Limits, band: bool = False) -> dict:
        """`outcomes[row]`: one code a level; `headline[level]`: the row that it names (-1: none, `instead` is said);
        `tally[level]`: its place among `tallies`."""
        codes = [[CODES[WITHHELD if claim.withheld else claim.outcome]] * len(levels) for claim in self.claims]
        leads, tally_at = [], []
        tallies: dict = {}
        for at, level in enumerate(levels):
            outcomes = []
            for row, verdict in self._open():
                outcome = verdict.outcome(
                    level, low["A_minus_G"][row, at], high["A_minus_G"][row, at], _apart(rule, low, high, row, at), band
                )
                codes[row][at] = CODES[outcome]
                outcomes.append((row, verdict, outcome))
            leads.append(_lead(self._leads(outcomes)))
            text = flips.tally_of([outcome for row, _, outcome in outcomes if row < self.n_own]).text
            tally_at.append(tallies.setdefault(text, len(tallies)))
        return {"outcomes": ["".join(row) for row in codes], "headline": leads, "tally": tally_at, "tallies": list(tallies)}


def _verdicts(
    family: Sequence[Decomposition], closed_gates: Mapping[str, str], temperature: float | None
) -> list[Verdict | None]:
    """Of each cell, corrected over those that are claimed together."""
    by_place = flips.verdicts(family, closed_gates, temperature)
    return [by_place.get((one.axis, one.extractor)) for one in family]


def _apart(rule: str, low: Limits, high: Limits, row: int, at: int) -> int | None:
    if rule == "paired":
        return None
    return int(low["A"][row, at] > high["G"][row, at]) - int(high["A"][row, at] < low["G"][row, at])


def _lead(outcomes: Sequence[tuple[int, Verdict, str]]) -> int:
    if not outcomes:
        return -1
    lead = flips.leading([(verdict, outcome) for _, verdict, outcome in outcomes])
    return next(row for row, verdict, _ in outcomes if verdict is lead)


def _plain(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def wordings(
    answers: CodedAnswers,
    references: Sequence[str],
    policies: Sequence[str],
    closed_gates: Mapping[str, str],
    temperature: float | None,
    pooled: Sequence[str] = (),
) -> Callable[[str, str], Wording]:
    """(reference, policy) -> its verdicts, each made once."""
    of = {(r, p): Wording(answers, r, p, closed_gates, temperature, pooled) for r in references for p in policies}
    return lambda reference, policy: of[reference, policy]
