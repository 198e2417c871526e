"""What the Memorization page calls its parts, kinds of items, rewrite methods and detectors."""

from __future__ import annotations

NAMES = {"numeric_resample": "numbers resampled", "entity_rename": "names changed", "paraphrase": "paraphrased"}
SIMILAR = {"rouge_l": "ROUGE-L", "ncd": "1 − NCD"}
PARTS = {
    "summary": "Summary",
    "gap": "Drop gap",
    "loss": "Loss test",
    "pearl": "PEARL",
    "agreement": "Do they agree?",
    "truth": "Ground truth",
}  # a link names a part by its title
KINDS = {"number": "Problems", "choice": "Choices", "completion": "Passages"}


def detector_title(detector: str) -> str:
    """ "Drop gap, names changed" of "drop gap, entity_rename"."""
    for operator, words in NAMES.items():
        detector = detector.replace(operator, words)
    return detector[:1].upper() + detector[1:]
