"""Likeness of two texts: normalised compression distance and ROUGE-L (source 003; Li et al. 2004;
Lin 2004).

The compressor is part of the metric, so distances under different compressors are not comparable.
"""

import lzma
import re
import zlib
from collections.abc import Iterable

from flipcore.core.errors import BadInput

XZ_PRESET = 9 | lzma.PRESET_EXTREME
SMALLEST_DICT = 1 << 16
COMPRESSORS = ("xz", "zlib")
ZLIB_WINDOW = 1 << 15


def n_bytes_compressed(data: bytes, compressor: str = "xz") -> int:
    """Return the length in bytes of `data` under `xz` (preset 9|EXTREME) or `zlib` (level 9).
    Raises BadInput for another compressor."""
    if compressor == "zlib":
        return len(zlib.compress(data, 9))
    if compressor == "xz":
        # Preset 9 sets up a 64 MiB dictionary for every call. A dictionary that just holds the
        # input gives the same length in a hundredth of the time: only the header's dictionary field
        # differs, and its length is fixed.
        dict_size = max(SMALLEST_DICT, 1 << max(0, len(data) - 1).bit_length())
        chain = [{"id": lzma.FILTER_LZMA2, "preset": XZ_PRESET, "dict_size": dict_size}]
        return len(lzma.compress(data, format=lzma.FORMAT_XZ, filters=chain))
    raise BadInput(
        f"The compressor {compressor!r} is not offered: choose one of {', '.join(COMPRESSORS)}. "
        "bz2 is left out because a text is .09 to .24 away from itself under it."
    )


def ncd(x: str, y: str, comp: str = "zlib") -> float:
    """Return the normalised compression distance (C(xy) - min) / max of the reference x and the
    output y, on UTF-8 bytes.

    0 if both are empty, 1 if one is; it may exceed 1 a little. The similarity is 1 - ncd.
    """
    return ncd_many(x, [y], comp=comp)[0]


def ncd_many(reference: str, outputs: Iterable[str], comp: str = "xz") -> list[float]:
    """Return the `ncd` of one reference and each output; repeated outputs are compressed once."""
    x = encoded(reference)
    size_x = n_bytes_compressed(x, comp)
    distances: dict[str, float] = {}
    ordered_distances = []
    for output in outputs:
        if output not in distances:
            distances[output] = _distance(x, size_x, y=encoded(output), comp=comp)
        ordered_distances.append(distances[output])
    return ordered_distances


def _distance(x: bytes, size_x: int, y: bytes, comp: str) -> float:
    if not x or not y:
        return 0.0 if x == y else 1.0
    size_y = n_bytes_compressed(y, comp)
    return (n_bytes_compressed(x + y, comp) - min(size_x, size_y)) / max(size_x, size_y)


def encoded(text: str) -> bytes:
    """Return UTF-8 bytes; a lone surrogate, which a server may send, becomes its three bytes."""
    return text.encode("utf-8", "surrogatepass")


def compressor_warning(texts: Iterable[str], comp: str) -> str:
    """Return a sentence if the compressor does not suit the lengths of `texts`, else ""."""
    lengths = [len(encoded(text)) for text in texts]
    if comp == "zlib" and lengths and 2 * max(lengths) > ZLIB_WINDOW:
        return (
            "zlib looks back 32 kB and the longest pair is longer, so it misses copies that lie "
            "further apart: use xz."
        )
    if comp == "xz" and lengths and sorted(lengths)[len(lengths) // 2] < 200:
        return (
            "Half of the texts are shorter than 200 bytes, where the container of xz outweighs "
            "the text: read zlib beside it."
        )
    return ""


def tokens(text: str) -> list[str]:
    """Return the tokens of rouge_score without stemming: lower-case runs of a-z and 0-9."""
    return re.findall(r"[a-z0-9]+", text.lower())


def n_common_subsequence(first: list[str], second: list[str]) -> int:
    """Return the length of the longest common subsequence, by bit operations (Hyyrö 2004)."""
    # Bit i of an integer stands for token i of `first`, so one step handles all of `first`.
    positions: dict[str, int] = {}
    for index, token in enumerate(first):
        positions[token] = positions.get(token, 0) | 1 << index
    all_bits = (1 << len(first)) - 1
    row = all_bits
    for token in second:
        matches = row & positions.get(token, 0)
        if matches:
            row = (row + matches | row - matches) & all_bits
    return len(first) - row.bit_count()


def rouge_l(ref: str, hyp: str) -> float:
    """Return ROUGE-L F1 (beta = 1) as rouge_score does without stemming; 0 without tokens."""
    return rouge_l_many(ref, [hyp])[0]


def rouge_l_many(reference: str, outputs: Iterable[str]) -> list[float]:
    """Return the `rouge_l` of one reference and each output; repeated outputs are scored once."""
    ref = tokens(reference)
    scores: dict[str, float] = {}
    ordered_scores = []
    for output in outputs:
        if output not in scores:
            scores[output] = _f1(ref, tokens(output))
        ordered_scores.append(scores[output])
    return ordered_scores


def _f1(ref: list[str], hyp: list[str]) -> float:
    n_common = n_common_subsequence(ref, hyp)
    if not n_common:
        return 0.0
    precision, recall = n_common / len(hyp), n_common / len(ref)
    return 2 * precision * recall / (precision + recall)
