"""Bring the answers and right answers of logs into canonical form."""

from collections.abc import Callable, Sequence

from flipcore.core.records import ABSENT, OK, RIGHT, UNREADABLE, WRONG, Item, Reading, Variant
from flipcore.datasets.reading.checks import MAX_OPTIONS
from flipcore.datasets.recorded.log_records import LogReadout, LogRecord
from flipcore.text.answers import canonical_number, normalised_text, number_at_end, text_answer, text_target
from flipcore.text.prompts import labels_of

SEVERAL = "+"  # separates options that were chosen together


def kind_of(record: LogRecord) -> str:
    """Return the kind of item ("choice", "number" or "text") that one record suggests."""
    if record.kind:
        return record.kind
    if 1 < len(record.options) <= MAX_OPTIONS:
        places = [place_of(answer, record.options, record.labels, record.order) for answer in record.targets]
        if record.target_is_place or not record.targets or all(place is not None for place in places):
            return "choice"
    are_numbers = all(number_at_end(answer) is not None for answer in record.targets)
    return "number" if record.targets and are_numbers else "text"


def unique_options(options: Sequence[str]) -> tuple[str, ...]:
    """Return the options, numbered where two have the same text, as in some real benchmarks."""
    counts: dict[str, int] = {}
    texts = []
    for text in (option.strip() or "(empty)" for option in options):
        counts[text] = counts.get(text, 0) + 1
        texts.append(text if counts[text] == 1 else f"{text} [{counts[text]}]")
    return tuple(texts)


def place_of(
    answer: str, options: Sequence[str], labels: Sequence[str] = (), order: Sequence[int] | None = None, by_index: bool = True
) -> int | None:
    """Return the index of the option that `answer` names, in the item's own order; None for none or several.

    The answer may be, in this order: the option's text, its label as shown, its normalised text, its index from 0 (`by_index`).
    """
    text = answer.strip()
    texts = [option.strip() for option in options]
    if texts.count(text) == 1:
        return texts.index(text)
    order = list(order) if order is not None else list(range(len(options)))
    own_labels = list(labels) or list(labels_of("upper", min(len(options), MAX_OPTIONS)))
    label = text.strip("()[]{}.:,*` \n")
    for shown_labels, shown_label in ((own_labels, label), ([own_label.upper() for own_label in own_labels], label.upper())):
        if shown_labels.count(shown_label) == 1 and shown_labels.index(shown_label) < len(order):
            return order[shown_labels.index(shown_label)]
    plain_options, plain_text = [normalised_text(option) for option in options], normalised_text(text)
    if plain_options.count(plain_text) == 1:
        return plain_options.index(plain_text)
    if by_index and text.isdecimal() and int(text) < len(options):
        return int(text)
    return None


def target_of(record: LogRecord, kind: str, options: Sequence[str], as_written: bool = False) -> str | None:
    """Return the canonical right answers, one per line, formulas `as_written`; None if none fits the kind."""
    if kind == "choice":
        if record.target_is_place:
            places = [int(answer) for answer in record.targets if answer.isdecimal() and int(answer) < len(options)]
        else:
            named = [place_of(answer, record.options, record.labels, record.order) for answer in record.targets]
            places = [place for place in named if place is not None]
        return "\n".join(dict.fromkeys(map(str, places))) or None
    if kind == "number":
        return "\n".join(dict.fromkeys(filter(None, map(number_at_end, record.targets)))) or None
    return text_target(record.targets, as_written=as_written)


# (answer in formulas, its right answers, its question) -> canonical form
Mathematics = Callable[[str, str | None, str], str | None]


def reading_of(
    item: Item, variant: Variant, record: LogRecord, readout: LogReadout, mathematics: Mathematics | None = None
) -> Reading:
    """Return a recorded readout as a reading, formulas as `mathematics` reads them.

    An answer that the log calls right is the right answer, even in other words. A verdict without an answer is a reading too.
    """
    if readout.unreadable:
        return Reading(UNREADABLE, value=readout.score, reason=readout.reason or "The log says that no answer was found.")
    if readout.place is not None and item.kind == "choice" and readout.place < len(item.options):
        option = unique_options(record.options)[readout.place]
        place = item.options.index(option) if option in item.options else readout.place
        return Reading(OK, answer=str(place), value=readout.score, reason=readout.reason)
    has_verdict = readout.is_correct is not None or readout.score is not None
    if readout.answer is None:
        if has_verdict:
            return Reading(OK, answer=_outcome(readout, variant.target), value=readout.score)
        return Reading(ABSENT, reason=readout.reason or "The log has no score.")
    if mathematics and item.kind == "text":
        answer = mathematics(readout.answer, variant.target, item.question) or text_answer(readout.answer, variant.target)
    else:
        answer = _canonical_answer(item, variant, readout.answer)
    if readout.is_correct and variant.target and (answer is None or item.kind == "text" or SEVERAL in answer):
        answer = variant.target.split("\n")[0]
    if answer is None and has_verdict and readout.answer.strip() == (record.text or "").strip():
        # the scorer graded the whole text, and extracted no answer
        return Reading(OK, answer=_outcome(readout, variant.target), value=readout.score)
    if answer is None:
        problem = {"choice": "is none of the options, or several", "number": "is no number", "text": "is empty"}[item.kind]
        return Reading(UNREADABLE, value=readout.score, reason=f"{readout.answer.strip()[:80]!r} {problem}.")
    return Reading(OK, answer=answer, value=readout.score)


def _outcome(readout: LogReadout, target: str | None) -> str | None:
    """Return right or wrong, or a grade, as the answer of a scorer that extracts none.

    None for a score on a continuous scale, because two such scores are hardly ever equal.
    """
    if readout.is_correct is not None:
        return (target or RIGHT).split("\n")[0] if readout.is_correct else WRONG
    return f"{readout.score:g}" if readout.score is not None and readout.score.is_integer() else None


def _canonical_answer(item: Item, variant: Variant, answer: str) -> str | None:
    """Return an answer in the canonical form of the item's kind; None if it has none."""
    if item.kind == "choice":
        place = place_of(answer, item.options, variant.labels, variant.order, by_index=False)
        if place is None and "," in answer:  # several options at once, in any order
            parts = answer.split(",")
            places = [place_of(part, item.options, variant.labels, variant.order, by_index=False) for part in parts]
            return None if None in places else SEVERAL.join(sorted(set(map(str, places))))
        return None if place is None else str(place)
    if item.kind == "number":
        return canonical_number(answer)
    return text_answer(answer, variant.target)
