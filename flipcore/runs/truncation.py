"""How many of a run's written answers were cut off, said when it ends, and how many a reader cannot read, said by a pilot before money is
spent."""

from collections import Counter
from collections.abc import Iterable, Sequence

from flipcore.core.contracts import ANSWER, Extractor
from flipcore.core.records import ABSENT, CUT, OK, UNREADABLE, Readout
from flipcore.core.study import ModelUse, Study
from flipcore.extractors import title_of


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
    """ "31%", and "less than 1%" rather than "0%"."""
    share = 100 * n / of
    return f"{share:.0f}%" if share >= 1 else "less than 1%"


def token_limits(study: Study) -> str:
    """What the token limits of a study mean, before anything is asked."""
    limits = ", ".join(f"{use.name} {use.max_tokens:,}" for use in study.models)
    return (
        f"Token limit of an answer: {limits}. A longer answer is cut off, and no answer is read from it. A pilot says how "
        "many are."
    )


MOST_OTHERS = 2  # readers that a sentence names


class UnreadableCount:
    """Counts answers that ended by themselves, each once whatever its axis, by model and reader."""

    def __init__(self) -> None:
        self.n_answers: Counter[tuple[str, str]] = Counter()
        self.n_unreadable: Counter[tuple[str, str]] = Counter()
        self.read_by: dict[tuple[str, str], Counter[str]] = {}

    def add(self, model: str, extractors: Sequence[Extractor], readouts: Iterable[Readout]) -> None:
        """The readouts of one item, under the readers that give an answer."""
        names = [one.name for one in extractors if one.gives == ANSWER and one.asks == ANSWER]
        status = {(one.variant_id, one.sample, one.extractor): one.reading.status for one in readouts if one.extractor in names}
        for (variant, sample, name), ended in status.items():
            if ended in (ABSENT, CUT):
                continue
            self.n_answers[model, name] += 1
            if ended != UNREADABLE:
                continue
            self.n_unreadable[model, name] += 1
            others = [one for one in names if status.get((variant, sample, one)) == OK]
            self.read_by.setdefault((model, name), Counter()).update(others)

    def sentences(self) -> list[str]:
        """One a model and reader that leaves something unread, the most unread first; one for all where nothing is."""
        if not self.n_answers:
            return []
        if not self.n_unreadable:
            return ["Every extractor read every answer."]
        share = {key: n / self.n_answers[key] for key, n in self.n_unreadable.items()}
        return [self._sentence(*key) for key in sorted(share, key=lambda key: -share[key])]

    def _sentence(self, model: str, name: str) -> str:
        n, of = self.n_unreadable[model, name], self.n_answers[model, name]
        others = self.read_by[model, name].most_common(MOST_OTHERS)
        readers = " and ".join(f"{title_of(other).lower()} {k:,}" for other, k in others)
        read = f"Of these, other extractors read: {readers}." if others else "No other declared extractor reads them."
        return f"{model}: {title_of(name).lower()} cannot read {n:,} of {of:,} answers ({share_text(n, of)}). {read}"
