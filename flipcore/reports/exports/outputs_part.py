"""The raw outputs behind each claim: for a chosen number of items the two prompts, the two answers and what was read."""

from collections.abc import Iterator, Sequence

from flipcore.core.errors import FlipscopeError
from flipcore.core.records import IDENTITY
from flipcore.detectors import detectors, item_scores, measure_of
from flipcore.extractors import title_of
from flipcore.reports.compared_pairs import flips, sides, why_no_flip
from flipcore.reports.exports.markup import Content, Markup, folded, joined, paragraph, section, tag
from flipcore.reports.memory import MemoryTest
from flipcore.reports.study import cell_place
from flipcore.reports.whole_study import WholeStudy
from flipcore.stats.base.estimate import number_text
from flipcore.stats.flips import surface
from flipcore.stats.flips.decomposition import Decomposition
from flipcore.stats.memory import frames
from flipcore.store.queries.inspection import Inspection, SampleView, SeenVariant, inspection
from flipcore.text.answers import answer_text
from flipcore.text.differences import word_differences

MOST_CHARS = 6_000  # of one prompt or one answer
MOST_SAMPLES = 3
_STATES = {
    "unreadable": "no answer could be read",
    "cut": "cut off: wrong for accuracy, and never counted as a flip",
    "absent": "absent: missing, and never counted as a flip",
}


def outputs_part(c: WholeStudy, n_outputs: int) -> Markup | None:
    """Behind each row of the flips and each detector, `n_outputs` items: those first on which it shows most."""
    if not n_outputs:
        return None
    parts = [one for m, model in enumerate(c.models) for one in _of_model(c, m, model, n_outputs)]
    what = "the item that shows it most" if n_outputs == 1 else f"the {n_outputs:,} items that show it most"
    note = f"Behind each claim: {what}. Differences are marked; in an answer, what was read is marked."
    return section("The outputs behind the claims", "outputs", paragraph(note, cls="quiet"), *parts) if parts else None


def _of_model(c: WholeStudy, m: int, model: str, n_outputs: int) -> Iterator[Markup]:
    for i, one in enumerate(c.report.decompositions[model]):
        pairs = [_pair(c, model, item, one.axis, one.extractor) for item in _flip_items(c, model, one)[:n_outputs]]
        yield folded(f"{model}: {cell_place(one)}", *pairs, ident=f"outputs-{m}-{i}")
    for test in c.report.memory.get(model, ()):
        places = list(_memory_items(c, model, test, n_outputs))
        if places:
            pairs = [_pair(c, model, item, axis, extractor, score) for item, axis, extractor, score in places]
            yield folded(f"{model}: {test.items}, {test.detector}", *pairs)


def _flip_items(c: WholeStudy, model: str, one: Decomposition) -> list[str]:
    """Those first on which the two extractors differ most, as on the page; of the reference those that flip most."""
    frame = c.flips_of(model)
    order = list(dict.fromkeys(frame["item_id"]))
    mine, reference = (surface.opened(frame, one.axis, name) for name in (one.extractor, one.reference))
    first, second = surface.aligned(mine, reference, order)
    by = "faithful" if one.is_reference else "difference"
    return [first.items[i] for i in surface.order_of(first, second, by, first.items)]


def _memory_items(c: WholeStudy, model: str, test: MemoryTest, n_outputs: int) -> Iterator[tuple[str, str, str, float]]:
    """(item, axis, extractor, score) of the items that a detector scores highest."""
    detector = next((one for one in detectors() if test.measurement and one.name == test.measurement.name), None)
    if detector is None or test.measurement is None or test.measurement.problem:
        return
    frame = frames.compared_sets(c.answers_of(model), c.study)
    frame = frame[frame["kind"] == test.measurement.kind]
    try:
        rows = item_scores(detector, frame, frames.roles_of(frame)[0])
    except FlipscopeError:
        return
    rows = rows.sort_values(["d", "item_id"], ascending=[False, True], kind="stable").head(n_outputs)
    for item, score in zip(rows["item_id"], rows["d"], strict=True):
        yield item, detector.axis or IDENTITY, measure_of(detector, frame), float(score)


def _pair(c: WholeStudy, model: str, item: str, axis: str, extractor: str, score: float | None = None) -> Markup:
    """The original beside the variant on which it shows."""
    view = inspection(c.store, c.study_id, model, item, axis)
    if view is None or not view.variants:
        return paragraph(f"{item}: it was not asked under this axis.", cls="quiet")
    pairs = sides(view, extractor)
    key = next((name for name in pairs if flips(pairs[name])), next(iter(pairs)))
    (base, before), (other, after) = pairs[key]
    right = f"Right answer: {answer_text(view.item, view.item.target)}."
    scored = "" if score is None else f" Score {number_text(score, 3)}."
    title = paragraph(tag("b", item), f" · {key.replace('_', ' ')} · {title_of(extractor)}. {right}{scored}", cls="item")
    halves = (_side("Original", view, other, base, before), _side(f"Variant: {key}", view, base, other, after))
    why = why_no_flip(view, pairs[key])
    return tag("div", title, tag("div", *halves, cls="pair"), *([paragraph(why, cls="quiet")] if why else []), cls="evidence")


def _side(title: str, view: Inspection, other: SeenVariant, variant: SeenVariant, samples: Sequence[SampleView]) -> Markup:
    """A prompt against the other side's, and below it what came back."""
    system = [paragraph(f"System prompt: {_cut(variant.system)}", cls="quiet")] if variant.system else []
    more = len(samples) - MOST_SAMPLES
    rest = [paragraph(f"{more:,} more samples are not shown.", cls="quiet")] if more > 0 else []
    read = [_sample(view, one) for one in samples[:MOST_SAMPLES]] or [paragraph("Nothing came back.", cls="quiet")]
    return tag(
        "div", tag("h5", title), *system, tag("pre", _with_marks(other.prompt, variant.prompt)), *read, *rest, cls="side"
    )


def _with_marks(other: str, prompt: str) -> Markup:
    """The prompt with the words that the other one lacks underlined."""
    short, runs = _cut(prompt), []
    if short == prompt and len(other) <= MOST_CHARS:
        runs = word_differences(other, prompt)
    return joined(tag("ins", words) if kind == "new" else words for kind, words in runs) if runs else joined([short])


def _sample(view: Inspection, one: SampleView) -> Markup:
    read = _STATES.get(one.status) or _reading(view, one)
    right = "" if one.is_correct is None else ", right" if one.is_correct else ", wrong"
    words: list[Content] = [f"Sample {one.sample + 1}: {read}{right}."]
    words += [f" {one.reason}"] if one.reason else []
    words += [f" The call failed: {_cut(one.error)}"] if one.error else []
    text = [tag("pre", _spanned(one.text, one.span), cls="answer")] if one.text else []
    return joined([paragraph(*words, cls="read"), *text])


def _reading(view: Inspection, one: SampleView) -> str:
    if one.answer is None and one.value is not None:
        return f"measured {number_text(one.value, 3)}"
    return f"read as “{answer_text(view.item, one.answer)}”"


def _spanned(text: str, span: tuple[int, int] | None) -> Markup:
    if span is None or not 0 <= span[0] <= span[1] <= min(len(text), MOST_CHARS):
        return joined([_cut(text)])
    start, end = span
    return joined([text[:start], tag("mark", text[start:end]), _cut(text[end:], MOST_CHARS - end)])


def _cut(text: str, most: int = MOST_CHARS) -> str:
    return text if len(text) <= most else f"{text[:most]} … ({len(text) - most:,} more characters)"
