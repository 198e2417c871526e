"""What a pilot says before money is spent: how many answers a reader cannot read, and which other declared reader reads them."""

from collections import Counter
from collections.abc import Iterable, Sequence

from flipcore.core.contracts import ANSWER, Extractor
from flipcore.core.records import ABSENT, CUT, OK, UNREADABLE, Readout
from flipcore.extractors import title_of
from flipcore.runs.truncation import share_text

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
