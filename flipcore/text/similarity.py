"""Likeness of two texts: normalised compression distance and ROUGE-L (source 003; Li et al. 2004;
Lin 2004).

The compressor is part of the metric: distances under different compressors are never comparable.
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
    """Length in bytes of `data` under `xz` (preset 9|EXTREME) or `zlib` (level 9)."""
    if compressor == "zlib":
        return len(zlib.compress(data, 9))
    if compressor == "xz":
        # Preset 9 sets up a 64 MiB dictionary for every call. One that holds the whole input gives
        # the same bytes but for the header's dictionary field, whose length is fixed, so the length
        # is the same at a hundredth of the time.
        dict_size = max(SMALLEST_DICT, 1 << max(0, len(data) - 1).bit_length())
        chain = [{"id": lzma.FILTER_LZMA2, "preset": XZ_PRESET, "dict_size": dict_size}]
        return len(lzma.compress(data, format=lzma.FORMAT_XZ, filters=chain))
    raise BadInput(
        f"The compressor {compressor!r} is not offered: choose one of {', '.join(COMPRESSORS)}. "
        "bz2 is left out because a text is .09 to .24 away from itself under it."
    )


def ncd(x: str, y: str, comp: str = "zlib") -> float:
    """Normalised compression distance (C(xy) - min) / max on UTF-8 bytes; x is the reference, y the
    output.

    Both empty: 0. One empty: 1. May exceed 1 a little. Similarity is 1 - ncd.
    """
    return ncd_many(x, [y], comp=comp)[0]


def ncd_many(reference: str, outputs: Iterable[str], comp: str = "xz") -> list[float]:
    """`ncd` of one reference against many outputs; each is compressed once."""
    x = encoded(reference)
    size_x = n_bytes_compressed(x, comp)
    distances: dict[str, float] = {}
    result = []
    for output in outputs:
        if output not in distances:
            distances[output] = _distance(x, size_x, y=encoded(output), comp=comp)
        result.append(distances[output])
    return result


def _distance(x: bytes, size_x: int, y: bytes, comp: str) -> float:
    if not x or not y:
        return 0.0 if x == y else 1.0
    size_y = n_bytes_compressed(y, comp)
    return (n_bytes_compressed(x + y, comp) - min(size_x, size_y)) / max(size_x, size_y)


def encoded(text: str) -> bytes:
    """UTF-8 bytes; a lone surrogate, which a server may send, is kept as its three bytes."""
    return text.encode("utf-8", "surrogatepass")


def compressor_warning(texts: Iterable[str], comp: str) -> str:
    """Sentence if the compressor does not suit the lengths of `texts`, else ""."""
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
    """Tokens of rouge_score's tokeniser without stemming: lower-case runs of a-z and 0-9."""
    return re.findall(r"[a-z0-9]+", text.lower())


def n_common_subsequence(first: list[str], second: list[str]) -> int:
    """Length of the longest common subsequence, by machine words of `first` (Hyyrö 2004)."""
    places: dict[str, int] = {}
    for index, token in enumerate(first):
        places[token] = places.get(token, 0) | 1 << index
    everywhere = (1 << len(first)) - 1
    row = everywhere
    for token in second:
        matches = row & places.get(token, 0)
        if matches:
            row = (row + matches | row - matches) & everywhere
    return len(first) - row.bit_count()


def rouge_l(ref: str, hyp: str) -> float:
    """ROUGE-L F1 (beta = 1) as rouge_score has it without stemming; 0 without tokens."""
    return rouge_l_many(ref, [hyp])[0]


def rouge_l_many(reference: str, outputs: Iterable[str]) -> list[float]:
    """`rouge_l` of one reference against many outputs; the reference is split once and a repeated
    output scored once."""
    ref = tokens(reference)
    scores: dict[str, float] = {}
    result = []
    for output in outputs:
        if output not in scores:
            scores[output] = _f1(ref, tokens(output))
        result.append(scores[output])
    return result


def _f1(ref: list[str], hyp: list[str]) -> float:
    n_common = n_common_subsequence(ref, hyp)
    if not n_common:
        return 0.0
    precision, recall = n_common / len(hyp), n_common / len(ref)
    return 2 * precision * recall / (precision + recall)
