"""Pairs in the inspector: a variant with the one it is compared with, and whether
the answers differ."""

from itertools import product

from flipcore.core.records import ABSENT, CUT
from flipcore.store.queries.inspection import Inspection, SampleView, SeenVariant
from flipcore.text.answers import answer_text

Side = tuple[SeenVariant, list[SampleView]]


def sides(view: Inspection, extractor: str) -> dict[str, tuple[Side, Side]]:
    """The pairs that may be shown, by name, left and right: a variant and the one it is
    compared with; where only the base was asked again, its further samples."""
    by_key = {v.key: v for v in view.variants}
    base = view.variants[0]
    pairs: dict[str, tuple[Side, Side]] = {}
    for variant in view.variants[1:]:
        compared = by_key.get(variant.compared_with, base)
        left, right = _samples(compared, extractor), _samples(variant, extractor)
        pairs[variant.key] = (compared, left), (variant, right)
    if pairs:
        return pairs
    # Where only the base was asked again, its first sample is compared with the others.
    samples = _samples(base, extractor)
    for sample in samples[1:]:
        pairs[f"same prompt, sample {sample.sample + 1}"] = (base, samples[:1]), (base, [sample])
    return pairs or {"one sample": ((base, samples), (base, samples))}


def _samples(variant: SeenVariant, extractor: str) -> list[SampleView]:
    return [view for view in variant.readings if view.extractor == extractor]


def by_other_extractors(variant: SeenVariant, shown: SampleView) -> list[SampleView]:
    """Other extractors' readouts of the same sample: those that differ first, then those that
    agree, then numbers."""

    def place(view: SampleView) -> int:
        # A number cannot be held against the shown answer, so it comes last.
        if view.answer is None and view.value is not None:
            return 2
        return int(view.answer == shown.answer)

    same_output = [view for view in variant.readings if view.sample == shown.sample]
    return sorted([v for v in same_output if v.extractor != shown.extractor], key=place)


def flips(pair: tuple[Side, Side]) -> bool:
    """Return whether any sample on the right gets another answer than one on the left. Absent
    readouts and answers that were cut off are in no pair, nor are variants for which another answer
    is, or may be, right."""
    if not _is_comparable(pair):
        return False
    (_, before), (_, after) = pair
    return any(left != right for left, right in product(_answers(before), _answers(after)))


def _answers(samples: list[SampleView]) -> list[str | None]:
    # Nobody knows what an absent or cut answer would have been.
    return [view.answer for view in samples if view.status not in (ABSENT, CUT)]


def has_both(pair: tuple[Side, Side]) -> bool:
    """Return whether there are two askings to compare, each with an answer that counts."""
    (_, before), (_, after) = pair
    return before is not after and bool(_answers(before) and _answers(after))


def why_no_flip(view: Inspection, pair: tuple[Side, Side]) -> str:
    """Say why another answer would be no flip; "" where it would be one."""
    (base, _), (variant, _) = pair
    if base.target != variant.target:
        answer = answer_text(view.item, variant.target)
        return (
            f"For the variant another answer is right, {answer}: to answer differently is no flip."
        )
    if _is_comparable(pair):
        return ""
    return "This change may move the right answer, so to answer differently is no flip."


def _is_comparable(pair: tuple[Side, Side]) -> bool:
    """The right answer is the same, and the change cannot have moved it."""
    (base, _), (variant, _) = pair
    return base.target == variant.target and base.is_harmless and variant.is_harmless
