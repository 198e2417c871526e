"""How many of a run's written answers were cut off, said when it ends: the effect of the token limit."""

from collections import Counter
from collections.abc import Iterable, Sequence

from flipcore.core.contracts import ANSWER, Extractor
from flipcore.core.records import ABSENT, CUT, Readout
from flipcore.core.study import ModelUse, Study


class CutCount:
    """Counts completions that an answer was to be read from, each once, by model and token limit."""

    def __init__(self) -> None:
        self.n_answers: Counter[tuple[str, int]] = Counter()
        self.n_cut: Counter[tuple[str, int]] = Counter()

    def add(self, use: ModelUse, extractors: Sequence[Extractor], readouts: Iterable[Readout]) -> None:
        """The readouts of one item. Scores, first tokens and continuations of fixed length have no limit to run into."""
        extractor_names = {one.name for one in extractors if "generate" in one.abilities and one.asks == ANSWER}
        ended = {
            one.source_ids[0]: one.reading.status
            for one in readouts
            if one.extractor in extractor_names and one.source_ids and one.reading.status != ABSENT
        }
        self.add_counts(use, len(ended), sum(status == CUT for status in ended.values()))

    def add_counts(self, use: ModelUse, n_answers: int, n_cut: int) -> None:
        """What was counted before, of one model."""
        key = (use.name, use.max_tokens)
        self.n_answers[key] += n_answers
        self.n_cut[key] += n_cut

    def sentence(self) -> str:
        """One sentence a model that was cut off; "" where none was."""
        return " ".join(
            f"{share_text(n_cut, self.n_answers[name, limit])} of {name}'s {self.n_answers[name, limit]:,} written answers were "
            f"cut off, with a limit of {limit:,} tokens. Raise the limit, or set stop sequences."
            for (name, limit), n_cut in self.n_cut.items()
            if n_cut
        )


def share_text(n: int, of: int) -> str:
    """ "31 %", and "less than 1 %" rather than "0 %"."""
    share = 100 * n / of
    return f"{share:.0f} %" if share >= 1 else "less than 1 %"


def token_limits(study: Study) -> str:
    """What the token limits of a study mean, before anything is asked."""
    limits = ", ".join(f"{use.name} {use.max_tokens:,}" for use in study.models)
    return (
        f"Token limit of an answer: {limits}. A longer answer is cut off, and no answer is read from it. A pilot says how "
        "many are."
    )
