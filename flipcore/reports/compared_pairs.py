"""Pairs in the inspector: a variant with the one it is compared with, and whether they flip."""

from itertools import product

from flipcore.core.records import ABSENT, CUT
from flipcore.store.queries.inspection import Inspection, SampleView, SeenVariant
from flipcore.text.answers import answer_text

Side = tuple[SeenVariant, list[SampleView]]  # a variant with its samples under one extractor
Pair = tuple[Side, Side]  # left the compared variant, right the variant
ONE_SAMPLE = "one sample"  # the only sample of an item, which stands on both sides
ONE_OUTPUT = "one output"  # an output that several people rated, which stands on both sides


def sides(view: Inspection, extractor: str) -> dict[str, Pair]:
    """Return the pairs that may be shown, by name.

    A pair is a variant and the one it is compared with. Where only the base was asked again, the
    pairs are its first sample with each further one. People who rated one output are no such
    samples: the output stands on both sides.
    """
    by_key = {variant.key: variant for variant in view.variants}
    base = view.variants[0]
    pairs: dict[str, Pair] = {}
    for variant in view.variants[1:]:
        compared = by_key.get(variant.compared_with, base)
        left = samples_of(view, compared, extractor)
        right = samples_of(view, variant, extractor)
        pairs[variant.key] = (compared, left), (variant, right)
    if pairs:
        return pairs
    samples = samples_of(view, base, extractor)
    if view.has_raters:
        return {ONE_OUTPUT: ((base, samples), (base, samples))}
    for sample in samples[1:]:
        pairs[f"same prompt, sample {sample.sample + 1}"] = (base, samples[:1]), (base, [sample])
    return pairs or {ONE_SAMPLE: ((base, samples), (base, samples))}


def has_any_pair(pairs: dict[str, Pair]) -> bool:
    """Tell whether there are two outputs to compare."""
    return ONE_SAMPLE not in pairs and ONE_OUTPUT not in pairs


def samples_of(view: Inspection, variant: SeenVariant, extractor: str) -> list[SampleView]:
    """Return the samples to show: one of those in which an extractor read the same rated output."""
    samples = [sample for sample in variant.readings if sample.extractor == extractor]
    is_read = view.has_raters and not any(sample.rater for sample in samples)
    has_same_text = len({sample.text for sample in samples}) == 1
    return samples[:1] if is_read and has_same_text else samples


def by_other_extractors(variant: SeenVariant, shown: SampleView) -> list[SampleView]:
    """Return other extractors' readouts of the sample `shown`. Readouts that differ come first,
    then those that agree, then numbers."""

    def rank(view: SampleView) -> int:
        # A number cannot be compared with the shown answer, so it comes last.
        if view.answer is None and view.value is not None:
            return 2
        return int(view.answer == shown.answer)

    other_readouts = []
    for view in variant.readings:
        if view.sample == shown.sample and view.extractor != shown.extractor:
            other_readouts.append(view)
    return sorted(other_readouts, key=rank)


def flips(pair: Pair) -> bool:
    """Tell whether a sample on the right has another answer than one on the left.

    Absent readouts and answers that were cut off do not count. Variants whose right answer is or
    may be another one never flip, nor do ratings by people.
    """
    if not _is_comparable(pair):
        return False
    (_, before), (_, after) = pair
    return any(left != right for left, right in product(_answers(before), _answers(after)))


def _answers(samples: list[SampleView]) -> list[str | None]:
    # What an absent or cut answer would have been is unknown.
    return [view.answer for view in samples if view.status not in (ABSENT, CUT)]


def has_both(pair: Pair) -> bool:
    """Tell whether both sides have an answer that counts, and are not the same samples."""
    (_, before), (_, after) = pair
    return before is not after and bool(_answers(before) and _answers(after))


def why_no_flip(view: Inspection, pair: Pair) -> str:
    """Say why a different answer would be no flip; "" if it would be one."""
    (base, _), (variant, _) = pair
    if _is_rated(pair):
        return "People gave these ratings: where two of them differ, no answer flips."
    if base.target != variant.target:
        answer = answer_text(view.item, variant.target)
        return (
            f"For the variant another answer is right, {answer}: to answer differently is no flip."
        )
    if _is_comparable(pair):
        return ""
    return "This change may move the right answer, so to answer differently is no flip."


def _is_comparable(pair: Pair) -> bool:
    """Tell whether the right answer is the same and the change cannot have changed it."""
    (base, _), (variant, _) = pair
    if _is_rated(pair):
        return False
    return base.target == variant.target and base.is_harmless and variant.is_harmless


def _is_rated(pair: Pair) -> bool:
    (_, before), (_, after) = pair
    return any(view.rater for view in (*before, *after))
