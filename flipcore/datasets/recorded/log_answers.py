"""Answers and right answers of logs in canonical form."""

from collections.abc import Callable, Sequence

from flipcore.core.records import ABSENT, OK, RIGHT, UNREADABLE, WRONG, Item, Reading, Variant
from flipcore.datasets.recorded.log_records import LogReadout, LogRecord
from flipcore.text.answers import canonical_number, normalised_text, number_at_end, text_answer, text_target
from flipcore.text.prompts import labels_of

MAX_OPTIONS = 26
SEVERAL = "+"  # between options that were chosen together


def kind_of(record: LogRecord) -> str:
    """Return the kind of item that a record would be, looked at alone."""
    if record.kind:
        return record.kind
    if 1 < len(record.options) <= MAX_OPTIONS:
        places = [place_of(one, record.options, record.labels, record.order) for one in record.targets]
        if record.target_is_place or not record.targets or all(place is not None for place in places):
            return "choice"
    return "number" if record.targets and all(number_at_end(one) is not None for one in record.targets) else "text"


def unique_options(options: Sequence[str]) -> tuple[str, ...]:
    """The options, told apart where two have one text (real benchmarks hold such items) or none."""
    counts: dict[str, int] = {}
    texts = []
    for text in (one.strip() or "(empty)" for one in options):
        counts[text] = counts.get(text, 0) + 1
        texts.append(text if counts[text] == 1 else f"{text} [{counts[text]}]")
    return tuple(texts)


def place_of(
    answer: str, options: Sequence[str], labels: Sequence[str] = (), order: Sequence[int] | None = None, by_index: bool = True
) -> int | None:
    """The option's index in the item's own order that `answer` names: by its text, the label shown, its normalised text, or
    last its index from 0; None where it names none or several."""
    text = answer.strip()
    stripped = [one.strip() for one in options]
    if stripped.count(text) == 1:
        return stripped.index(text)
    order = list(order) if order is not None else list(range(len(options)))
    own_labels = list(labels) or list(labels_of("upper", min(len(options), MAX_OPTIONS)))
    label = text.strip("()[]{}.:,*` \n")
    for several, one in ((own_labels, label), ([k.upper() for k in own_labels], label.upper())):
        if several.count(one) == 1 and several.index(one) < len(order):
            return order[several.index(one)]
    folded, plain_text = [normalised_text(one) for one in options], normalised_text(text)
    if folded.count(plain_text) == 1:
        return folded.index(plain_text)
    if by_index and text.isdecimal() and int(text) < len(options):
        return int(text)
    return None


def target_of(record: LogRecord, kind: str, options: Sequence[str], as_written: bool = False) -> str | None:
    """The canonical right answers, one a line, formulas `as_written`; None where the log has none that fits the kind."""
    if kind == "choice":
        if record.target_is_place:
            places = [int(one) for one in record.targets if one.isdecimal() and int(one) < len(options)]
        else:
            indices = [place_of(one, record.options, record.labels, record.order) for one in record.targets]
            places = [one for one in indices if one is not None]
        return "\n".join(dict.fromkeys(map(str, places))) or None
    if kind == "number":
        numbers = [number_at_end(one) for one in record.targets]
        return "\n".join(dict.fromkeys(one for one in numbers if one is not None)) or None
    return text_target(record.targets, as_written=as_written)


# an answer in formulas, its right answers and its question -> its canonical form
Mathematics = Callable[[str, str | None, str], str | None]


def reading_of(
    item: Item, variant: Variant, record: LogRecord, readout: LogReadout, mathematics: Mathematics | None = None
) -> Reading:
    """A recorded readout as a reading, formulas as `mathematics` reads them. Right or wrong without an answer is a reading with a value
    alone; what the log called right in other words than the target's is the right answer."""
    if readout.unreadable:
        return Reading(UNREADABLE, value=readout.score, reason=readout.reason or "The log says that no answer was found.")
    if readout.place is not None and item.kind == "choice" and readout.place < len(item.options):
        own = unique_options(record.options)[readout.place]
        place = item.options.index(own) if own in item.options else readout.place
        return Reading(OK, answer=str(place), value=readout.score, reason=readout.reason)
    has_verdict = readout.is_correct is not None or readout.score is not None
    if readout.answer is None:
        if has_verdict:
            return Reading(OK, answer=_outcome(readout, variant.target), value=readout.score)
        return Reading(ABSENT, reason=readout.reason or "The log has no score.")
    if mathematics and item.kind == "text":
        answer = mathematics(readout.answer, variant.target, item.question) or text_answer(readout.answer, variant.target)
    else:
        answer = _canonical(item, variant, readout.answer)
    if readout.is_correct and variant.target and (answer is None or item.kind == "text" or SEVERAL in answer):
        answer = variant.target.split("\n")[0]
    if answer is None and has_verdict and readout.answer.strip() == (record.text or "").strip():
        # the scorer looked at the whole text and took no answer out of it
        return Reading(OK, answer=_outcome(readout, variant.target), value=readout.score)
    if answer is None:
        what = {"choice": "is none of the options, or several", "number": "is no number", "text": "is empty"}[item.kind]
        return Reading(UNREADABLE, value=readout.score, reason=f"{readout.answer.strip()[:80]!r} {what}.")
    return Reading(OK, answer=answer, value=readout.score)


def _outcome(readout: LogReadout, target: str | None) -> str | None:
    """Return what stands for the answer where a scorer judges a text or a trajectory and takes no
    answer out of it: right or wrong, or a grade; None for a score on a continuous scale, which
    hardly ever comes twice."""
    if readout.is_correct is not None:
        return (target or RIGHT).split("\n")[0] if readout.is_correct else WRONG
    return f"{readout.score:g}" if readout.score is not None and readout.score.is_integer() else None


def _canonical(item: Item, variant: Variant, answer: str) -> str | None:
    if item.kind == "choice":
        place = place_of(answer, item.options, variant.labels, variant.order, by_index=False)
        if place is None and "," in answer:  # several options at once, in any order
            parts = answer.split(",")
            places = [place_of(one, item.options, variant.labels, variant.order, by_index=False) for one in parts]
            return None if None in places else SEVERAL.join(sorted({str(one) for one in places}))
        return None if place is None else str(place)
    if item.kind == "number":
        return canonical_number(answer)
    return text_answer(answer, variant.target)
