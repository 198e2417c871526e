"""Does the answer flip? What is done to say so."""

from flipcore.methods.method import Method

FLIP_RATE = Method(
    "flip rate",
    "For each item all pairs of its variants are compared, and T is the share of pairs with different answers under the "
    "compared extractor; the mean is taken over items.",
)
PARTS = Method(
    "genuine and artifact",
    "G is the flip rate under the reference extractor, on the same pairs. A = T − G = A+ − A−, where A+ flips under the "
    "compared extractor alone and A− under the reference alone; nothing is truncated.",
    ("wang2024my",),
)
FLOOR = Method(
    "noise floor",
    "The noise floor W is the same rate between samples of one and the same prompt; what lies beyond it is what the change did.",
)
LARGER = Method(
    "which part is larger",
    "A against G is tested on the items' differences, beyond both noise floors where those were measured, and guarded for few "
    "and rare flips; items that name one source or template count once.",
    ("miller2024error",),
)
UNREADABLE = Method(
    "answers that were not read",
    "An answer that could not be read counts as one more answer. An answer that was cut off is wrong and in no pair; an absent "
    "one is missing.",
)
METHODS = (FLIP_RATE, PARTS, FLOOR, LARGER, UNREADABLE)
