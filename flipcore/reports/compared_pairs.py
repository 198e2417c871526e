"""What stands beside what in the inspector: a variant with the one it is compared with, and whether
the answers differ."""

from itertools import product

from flipcore.core.records import ABSENT, CUT
from flipcore.store.queries.inspection import Inspection, SampleView, SeenVariant
from flipcore.text.answers import answer_text

Side = tuple[SeenVariant, list[SampleView]]


def sides(view: Inspection, extractor: str) -> dict[str, tuple[Side, Side]]:
    """What may stand on the right, by name, each with its left: a variant and the one it is
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
    samples = _samples(base, extractor)
    for sample in samples[1:]:
        pairs[f"same prompt, sample {sample.sample + 1}"] = (base, samples[:1]), (base, [sample])
    return pairs or {"one sample": ((base, samples), (base, samples))}


def _samples(variant: SeenVariant, extractor: str) -> list[SampleView]:
    return [one for one in variant.readings if one.extractor == extractor]


def by_other_extractors(variant: SeenVariant, shown: SampleView) -> list[SampleView]:
    """What the other extractors took from the same sample: those that differ first, then those that
    agree, then numbers."""
    others = [
        view
        for view in variant.readings
        if view.sample == shown.sample and view.extractor != shown.extractor
    ]

    def place(view: SampleView) -> int:
        if view.answer is None and view.value is not None:
            return 2
        return int(view.answer == shown.answer)

    return sorted(others, key=place)


def flips(pair: tuple[Side, Side]) -> bool:
    """Does any sample on the right get another answer than one on the left? Absent readouts and
    answers that were cut off are in no pair, nor are variants for which another answer is, or may
    be, right."""
    if not _is_comparable(pair):
        return False
    before, after = (_answers(samples) for _, samples in pair)
    return any(left != right for left, right in product(before, after))


def _answers(samples: list[SampleView]) -> list[str | None]:
    return [one.answer for one in samples if one.status not in (ABSENT, CUT)]


def has_both(pair: tuple[Side, Side]) -> bool:
    """Whether there is something to compare: two askings, each with an answer that is in a pair."""
    (_, before), (_, after) = pair
    return before is not after and bool(_answers(before) and _answers(after))


def why_no_flip(view: Inspection, pair: tuple[Side, Side]) -> str:
    """Why another answer would be no flip, as a sentence; "" where it would be one."""
    other = pair[1][0]
    if pair[0][0].target != other.target:
        answer = answer_text(view.item, other.target)
        return (
            f"For the variant another answer is right, {answer}: to answer differently is no flip."
        )
    return (
        ""
        if _is_comparable(pair)
        else "This change may move the right answer, so to answer differently is no flip."
    )


def _is_comparable(pair: tuple[Side, Side]) -> bool:
    """The right answer is the same, and the change cannot have moved it."""
    (base, _), (other, _) = pair
    return base.target == other.target and base.is_harmless and other.is_harmless
