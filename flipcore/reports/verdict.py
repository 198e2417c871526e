"""An audit in ten lines, the answer first: the score, what does not hold, and what to do about it."""

from dataclasses import dataclass
from typing import Any

from flipcore.claims.audit_input import Finding
from flipcore.extractors import title_of
from flipcore.reports.audit import ASIDE, GRADES, LESS_SURE, UNDECIDED, WRONG, Audit, grade
from flipcore.reports.whole_study import WholeStudy
from flipcore.text.counts import count_of

MOST_SCORES, MOST_FINDINGS = 3, 4
_PLAN = "Run the items and epochs that are missing, and drop what is there twice, before quoting the score."
ADVICE = {  # what a finding is about -> what to do
    **dict.fromkeys(("rows doubled", "rows missing", "epochs missing", "items of no plan"), _PLAN),
    "several models": "Split the log by the model that answered.",
    "several temperatures": "Split the log by temperature.",
    "wordings": "Ask all items in one wording, or compare the wordings as variants.",
    "own examples": "Take each item out of its own examples and ask it again.",
    "leaked answers": "Take the answer out of the prompt and ask again.",
    "keys at one place": "Shuffle the options, so that no place is right more often.",
    "one answer always": "Look at what the model writes: it does not answer the question.",
    "reported score": "Do not quote the reported score: take the one from the rows, and ask for the rows that are missing.",
    "score against answer": "Look at the answers that contradict their scores, and mend the scorer.",
    "impossible rate": "Ask how the reported rate was counted: it cannot come from these scores.",
    "contradicting golds": "Settle the right answers that contradict each other before comparing models.",
    "SCORE rate": "Quote the share of pairs that agree, not lm-eval's rate.",
    "failed": "Run the calls that failed again; they count as wrong or are left out.",
    "were cut off": "Raise the token limit and ask the cut items again.",
    "unreadable": "Read the unreadable answers, and say how many they are beside the score.",
    "readouts": "Say which scorer the score is by: another reads the same outputs otherwise.",
    "repeated items": "Count each question once.",
    "standard error": "Give the interval by subject or template.",
}
DEFAULT_ADVICE = "Open the items behind it: keep the study (--keep) and look at its page Audit."


@dataclass(frozen=True)
class Verdict:
    """`score_lines` a line a model, and the `audit` of the same rows."""

    score_lines: tuple[str, ...]
    audit: Audit

    def advice(self) -> list[str]:
        """What to do, the most urgent first, each once."""
        return list(dict.fromkeys(ADVICE.get(one.about, DEFAULT_ADVICE) for one in self.audit.of(WRONG, LESS_SURE)))

    def text(self) -> str:
        """Ten lines."""
        scores = [*self.score_lines[:MOST_SCORES]]
        more = len(self.score_lines) - len(scores)
        scores += [f"… and {count_of(more, 'further model')} (--all)."] * bool(more)
        against = self.audit.of(WRONG, LESS_SURE)
        findings = [f"- {one.claim.text}" for one in against[:MOST_FINDINGS]]
        rest = len(against) - len(findings)
        findings += [f"- … and {count_of(rest, 'further finding')} (--all)."] * (rest > 0)
        others = [f"- {one.claim.text}" for one in self.audit.of(ASIDE, UNDECIDED)[:2]]
        todo = [f"What to do: {self.advice()[0]}"] if against else others
        return "\n".join([*scores, self.audit.headline, *findings, *todo, self.audit.recognised])

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "holds": not self.audit.of(WRONG),
            "headline": self.audit.headline,
            "scores": list(self.score_lines),
            "findings": [_finding(one) for one in self.audit.of(*GRADES)],
            "advice": self.advice(),
            "recognised": self.audit.recognised,
            "checks": self.audit.coverage.sentence,
            "notes": list(self.audit.notes),
        }


def _finding(one: Finding) -> dict[str, Any]:
    return {
        "about": one.about,
        "grade": grade(one),
        "sentence": one.claim.text,
        "detail": one.claim.detail,
        "model": one.model,
        "extractor": one.extractor,
        "items": list(one.items),
    }


def verdict(whole: WholeStudy, audit: Audit) -> Verdict:
    """Of one study: its scores as `stats` says them, and the audit's findings."""
    return Verdict(tuple(_score_line(whole, model) for model in whole.models), audit)


def _score_line(whole: WholeStudy, model: str) -> str:
    """The score with its whole error bar where it has one, and by which scorer; else the headline's sentence."""
    bar = whole.score.of(model) if whole.score else None
    if bar and whole.score:
        passes = [note for note in whole.report.notes.get(model, ()) if "pass^" in note]
        return "\n".join(
            [f"{bar.claim.text} By {title_of(whole.score.reader).lower()}; {bar.claim.detail}".rstrip("; "), *passes]
        )
    score = whole.report.headlines[model].score
    return f"{model}: {score.text.removeprefix(f'{model}: ') if score else 'No score was recorded.'}"
