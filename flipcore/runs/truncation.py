"""Count answers that were cut off (reported after a run) or unreadable (reported by a pilot)."""

from collections import Counter
from collections.abc import Iterable, Sequence

from flipcore.core.contracts import ANSWER, Extractor
from flipcore.core.records import ABSENT, CUT, OK, UNREADABLE, Readout
from flipcore.core.study import ModelUse, Study
from flipcore.extractors import title_of
from flipcore.text.counts import with_capital


class CutCount:
    """Counts written answers, each once, and how many were cut off, by (model, token limit)."""

    def __init__(self) -> None:
        self.n_answers: Counter[tuple[str, int]] = Counter()
        self.n_cut: Counter[tuple[str, int]] = Counter()

    def add(
        self, use: ModelUse, extractors: Sequence[Extractor], readouts: Iterable[Readout]
    ) -> None:
        """Add the readouts of one item. Only written answers count: scores, first tokens and
        continuations of fixed length cannot be cut off."""
        names = {
            extractor.name
            for extractor in extractors
            if "generate" in extractor.abilities and extractor.asks == ANSWER
        }
        # Whether a completion was cut off does not depend on the extractor, so any status will do.
        status_by_call = {}
        for readout in readouts:
            has_output = readout.source_ids and readout.reading.status != ABSENT
            if has_output and readout.extractor in names:
                status_by_call[readout.source_ids[0]] = readout.reading.status
        n_cut = sum(status == CUT for status in status_by_call.values())
        self.add_counts(use, len(status_by_call), n_cut)

    def add_counts(self, use: ModelUse, n_answers: int, n_cut: int) -> None:
        """Add counts of one model."""
        key = (use.name, use.max_tokens)
        self.n_answers[key] += n_answers
        self.n_cut[key] += n_cut

    def sentence(self) -> str:
        """Return a sentence per model and limit with cut answers, joined; "" if none was cut."""
        sentences = []
        for (name, limit), n_cut in self.n_cut.items():
            n_answers = self.n_answers[name, limit]
            if n_cut:
                share = with_capital(share_text(n_cut, n_answers))
                sentences.append(
                    f"{share} of {name}'s {n_answers:,} written answers were cut off, with a limit"
                    f" of {limit:,} tokens. Raise the limit, or set stop sequences."
                )
        return " ".join(sentences)


def share_text(n: int, n_all: int) -> str:
    """Return n / n_all as "31%", or "less than 1%" below 1%."""
    share = 100 * n / n_all
    return f"{share:.0f}%" if share >= 1 else "less than 1%"


def token_limits_sentence(study: Study) -> str:
    """Say what the token limits of a study are and what they do, before anything is asked."""
    limits = ", ".join(f"{use.name} {use.max_tokens:,}" for use in study.models)
    return (
        f"Token limit of an answer: {limits}. A longer answer is cut off, and no answer is read"
        " from it. A pilot says how many are cut off."
    )


N_NAMED_EXTRACTORS = 2  # other extractors that a sentence names


class UnreadableCount:
    """Counts complete answers and the unreadable ones, once per variant and sample."""

    def __init__(self) -> None:
        # All by (model, extractor).
        self.n_answers: Counter[tuple[str, str]] = Counter()
        self.n_unreadable: Counter[tuple[str, str]] = Counter()
        # For the unreadable answers: how many of them each other extractor reads.
        self.read_by: dict[tuple[str, str], Counter[str]] = {}

    def add(self, model: str, extractors: Sequence[Extractor], readouts: Iterable[Readout]) -> None:
        """Add the readouts of one item by extractors that return an answer."""
        names = [
            extractor.name
            for extractor in extractors
            if extractor.gives == ANSWER and extractor.asks == ANSWER
        ]
        statuses = {}
        for readout in readouts:
            if readout.extractor in names:
                key = readout.variant_id, readout.sample, readout.extractor
                statuses[key] = readout.reading.status
        for (variant, sample, name), status in statuses.items():
            if status in (ABSENT, CUT):
                continue
            self.n_answers[model, name] += 1
            if status != UNREADABLE:
                continue
            self.n_unreadable[model, name] += 1
            readable_by = [
                extractor for extractor in names if statuses.get((variant, sample, extractor)) == OK
            ]
            self.read_by.setdefault((model, name), Counter()).update(readable_by)

    def sentences(self) -> list[str]:
        """Return a sentence per model and extractor with unreadable answers, worst first. A single
        sentence if every answer was read; none without answers."""
        if not self.n_answers:
            return []
        if not self.n_unreadable:
            return ["Every extractor read every answer."]
        shares = {key: n / self.n_answers[key] for key, n in self.n_unreadable.items()}
        return [self._sentence(*key) for key in sorted(shares, key=lambda key: -shares[key])]

    def _sentence(self, model: str, name: str) -> str:
        n, n_answers = self.n_unreadable[model, name], self.n_answers[model, name]
        counts = self.read_by[model, name].most_common(N_NAMED_EXTRACTORS)
        extractor_counts = " and ".join(
            f"{title_of(extractor).lower()} {n_read:,}" for extractor, n_read in counts
        )
        comparison = (
            f"Of these, other extractors read: {extractor_counts}."
            if counts
            else "No other declared extractor reads them."
        )
        share = share_text(n, n_answers)
        return (
            f"{model}: {title_of(name).lower()} cannot read {n:,} of {n_answers:,} answers"
            f" ({share}). {comparison}"
        )
