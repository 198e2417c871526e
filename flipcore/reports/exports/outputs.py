"""The raw outputs behind each claim of a report: per item two prompts, two answers and readouts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from flipcore.extractors import title_of
from flipcore.reports.compared_pairs import ONE_OUTPUT, flips, sides, why_no_flip
from flipcore.reports.exports.memory_lines import highest_items
from flipcore.reports.ratings import mean_words, ratings_words
from flipcore.reports.read_by_people import cell_name
from flipcore.reports.whole_study import WholeStudy
from flipcore.stats.base.estimate import number_text
from flipcore.stats.flips import surface
from flipcore.stats.flips.decomposition import Decomposition
from flipcore.store.queries.inspection import Inspection, SampleView, SeenVariant, inspection
from flipcore.text.answers import answer_text
from flipcore.text.differences import word_differences

MAX_CHARS = 6_000  # most characters of a prompt or an answer
MAX_SAMPLES = 3  # most answers to one prompt
# Status of a readout without an answer -> its description.
_STATES = {
    "unreadable": "no answer could be read",
    "cut": "cut off: wrong for accuracy, and never counted as a flip",
    "absent": "absent: missing, and never counted as a flip",
}


@dataclass(frozen=True)
class Run:
    """A piece of a text, marked or not."""

    words: str
    is_marked: bool = False


@dataclass(frozen=True)
class Output:
    """One answer: `line` says what was read, and `text` has the words that were read marked."""

    line: str
    text: tuple[Run, ...]


@dataclass(frozen=True)
class Side:
    """A prompt with the words marked that the other prompt lacks, and its answers. `n_more` counts
    the answers that are left out."""

    title: str
    system: str
    prompt: tuple[Run, ...]
    outputs: tuple[Output, ...]
    n_more: int


@dataclass(frozen=True)
class Pair:
    """The original and a variant of an item, which are the two `halves`.

    An output that several people rated is one half. `note` says why there are no halves, or why
    their answers cannot count as a flip.
    """

    item: str
    about: str
    halves: tuple[Side, ...]
    note: str = ""


@dataclass(frozen=True)
class Evidence:
    """The pairs behind one claim. `ident` is the id that a row of a board links to; "" without a
    row."""

    title: str
    pairs: tuple[Pair, ...]
    ident: str = ""


def evidence(results: WholeStudy, n_items: int) -> list[Evidence]:
    """Return the outputs behind each cell of flips and each detector, `n_items` items for each. The
    items that show the effect most come first."""
    if not n_items:
        return []
    all_evidence: list[Evidence] = []
    for m, model in enumerate(results.models):
        all_evidence += _evidence_of_model(results, m, model, n_items)
    return all_evidence


def _evidence_of_model(results: WholeStudy, m: int, model: str, n_items: int) -> Iterator[Evidence]:
    for i, cell in enumerate(results.flips[model].cells):
        pairs = []
        for item in _flip_items(results, model, cell)[:n_items]:
            pairs.append(_pair(results, model, item, cell.axis, cell.extractor))
        yield Evidence(f"{model}: {cell_name(cell)}", tuple(pairs), f"outputs-{m}-{i}")
    for test in results.memory.tests.get(model, ()):
        pairs = []
        for item, axis, extractor, score in highest_items(results, model, test, n_items):
            pairs.append(_pair(results, model, item, axis, extractor, score))
        if pairs:
            yield Evidence(f"{model}: {test.items}, {test.detector}", tuple(pairs))


def _flip_items(results: WholeStudy, model: str, cell: Decomposition) -> list[str]:
    """Return the items in the order of the page. The items on which the two extractors differ most
    come first; for the reference those that flip most."""
    frame = results.flip_readouts_of(model)
    order = list(dict.fromkeys(frame["item_id"]))
    first, second = surface.align(
        surface.variant_cells(frame, cell.axis, cell.extractor),
        surface.variant_cells(frame, cell.axis, cell.reference),
        order,
    )
    # "faithful" sorts by the flips under the second extractor, which is the reference.
    order_name = "faithful" if cell.is_reference else "difference"
    return [first.items[i] for i in surface.order_of(first, second, order_name, first.items)]


def _pair(
    results: WholeStudy,
    model: str,
    item: str,
    axis: str,
    extractor: str,
    score: float | None = None,
) -> Pair:
    """Return the outputs of an item; `score` is that of a detector."""
    view = inspection(results.store, results.study_id, model, item, axis)
    if view is None or not view.variants:
        return Pair(item, "", (), "it was not asked under this axis.")
    pairs = sides(view, extractor)
    # A variant that flips shows the effect best; without one the first variant is shown.
    key = next((name for name in pairs if flips(pairs[name])), next(iter(pairs)))
    (base, before), (variant, after) = pairs[key]
    right = f"Right answer: {answer_text(view.item, view.item.target)}."
    scored = "" if score is None else f" Score {number_text(score, 3)}."
    about = f" · {key.replace('_', ' ')} · {title_of(extractor)}. {right}{scored}"
    if key == ONE_OUTPUT:
        return Pair(item, about, (_side("Original", view, base.prompt, base, before),))
    halves = (
        _side("Original", view, variant.prompt, base, before),
        _side(f"Variant: {key}", view, base.prompt, variant, after),
    )
    return Pair(item, about, halves, why_no_flip(view, pairs[key]) or "")


def _side(
    title: str,
    view: Inspection,
    compared_prompt: str,
    variant: SeenVariant,
    samples: Sequence[SampleView],
) -> Side:
    system, prompt = _cut(variant.system or ""), _with_marks(compared_prompt, variant.prompt)
    if samples and samples[0].rater:
        line = f"{mean_words(samples)} {ratings_words(view.item, samples)}."
        text = samples[0].text
        output = Output(line, _with_span(text, samples[0].span) if text else ())
        return Side(title, system, prompt, (output,), n_more=0)
    outputs = tuple(_output(view, sample) for sample in samples[:MAX_SAMPLES])
    return Side(title, system, prompt, outputs, max(len(samples) - MAX_SAMPLES, 0))


def _with_marks(compared: str, prompt: str) -> tuple[Run, ...]:
    """Mark the words of a prompt that the compared one lacks."""
    short = _cut(prompt)
    # Where either prompt is cut, all words of the other after the cut would be marked.
    if short != prompt or len(compared) > MAX_CHARS:
        return (Run(short),)
    runs = word_differences(compared, prompt) or [["same", prompt]]
    return tuple(Run(words, kind == "new") for kind, words in runs)


def _output(view: Inspection, sample: SampleView) -> Output:
    # The statuses in `_STATES` mean that nothing was read.
    read = _STATES.get(sample.status) or _reading(view, sample)
    verdict = ""
    if sample.is_correct is not None:
        verdict = ", right" if sample.is_correct else ", wrong"
    label = "Output" if view.has_raters else f"Sample {sample.sample + 1}"
    line = f"{label}: {read}{verdict}."
    if sample.reason:
        line += f" {sample.reason}"
    if sample.error:
        line += f" The call failed: {_cut(sample.error)}"
    return Output(line, _with_span(sample.text, sample.span) if sample.text else ())


def _reading(view: Inspection, sample: SampleView) -> str:
    if sample.answer is None and sample.value is not None:
        return f"measured {number_text(sample.value, 3)}"
    return f"read as “{answer_text(view.item, sample.answer)}”"


def _with_span(text: str, span: tuple[int, int] | None) -> tuple[Run, ...]:
    """Mark the characters of a text that were read, unless they are beyond the cut."""
    if span is None or not 0 <= span[0] <= span[1] <= min(len(text), MAX_CHARS):
        return (Run(_cut(text)),)
    start, end = span
    after = _cut(text[end:], MAX_CHARS - end)
    return (Run(text[:start]), Run(text[start:end], is_marked=True), Run(after))


def _cut(text: str, limit: int = MAX_CHARS) -> str:
    n_more = len(text) - limit
    return text if n_more <= 0 else f"{text[:limit]} … ({n_more:,} more characters)"
