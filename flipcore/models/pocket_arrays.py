"""A language model's arithmetic on plain arrays: softmax, rotary positions, rows padded to one
length, and drawing a token."""

from collections.abc import Callable, Iterator

import numpy as np

BATCH = 48  # sequences computed together; a larger batch gains nothing on one core


def log_softmax(logits: np.ndarray) -> np.ndarray:
    """Log-probabilities over the last axis."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def softmax(scores: np.ndarray) -> np.ndarray:
    """Shares over the last axis."""
    raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return raised / raised.sum(axis=-1, keepdims=True)


def spread(logs: np.ndarray) -> list[tuple[float, float]]:
    """(mean, standard deviation) of the log-probabilities of each row (rows, vocabulary), each
    weighted by its own probability."""
    shares = np.exp(logs)
    means = (shares * logs).sum(axis=-1)
    variances = (shares * (logs - means[:, None]) ** 2).sum(axis=-1)
    return list(zip(means.tolist(), np.sqrt(variances).tolist(), strict=True))


def likeliest(logs: np.ndarray, top_k: int, piece: Callable[[int], str]) -> dict[str, float]:
    """Likeliest tokens of one row by their texts; tokens that print alike are added up."""
    top: dict[str, float] = {}
    for token in np.argsort(-logs, kind="stable")[:top_k].tolist():
        text, value = piece(token), float(logs[token])
        top[text] = float(np.logaddexp(top[text], value)) if text in top else value
    return top


def turned(x: np.ndarray, cos: np.ndarray, sin: np.ndarray) -> np.ndarray:
    """Rotary positions: `x` (…, d) turned by the angles of `cos` and `sin`."""
    half = x.shape[-1] // 2
    return x * cos + np.concatenate([-x[..., half:], x[..., :half]], axis=-1) * sin


def padded(rows: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    """(tokens (rows, longest) filled with 0, lengths (rows,))."""
    lengths = np.array([len(row) for row in rows])
    tokens = np.zeros((len(rows), lengths.max()), dtype=np.int64)
    for i, row in enumerate(rows):
        tokens[i, : len(row)] = row
    return tokens, lengths


def batches(lengths: list[int]) -> Iterator[list[int]]:
    """Positions in groups of similar length, so that little is padded."""
    order = sorted(range(len(lengths)), key=lambda i: lengths[i])
    for start in range(0, len(order), BATCH):
        yield order[start : start + BATCH]


def drawn_token(
    logs: np.ndarray, stream: np.random.Generator, temperature: float, top_p: float
) -> int:
    """A token drawn from its log-probabilities (vocabulary,): the likeliest at temperature 0, else
    by the next number of `stream` among the likeliest tokens that together reach `top_p`."""
    if temperature <= 0:
        return int(np.argmax(logs))
    weights = np.exp((logs.astype(np.float64) - logs.max()) / temperature)
    total, draw = weights.sum(), stream.random()
    # sorting is dear: what weighs next to nothing is sorted only where the draw reaches it
    for least in (1e-3, -1.0):
        candidates = np.flatnonzero(weights > least)
        order = candidates[np.argsort(-weights[candidates], kind="stable")]
        shares = np.cumsum(weights[order]) / total
        n_kept = int(np.searchsorted(shares, top_p - 1e-12)) + 1 if top_p < 1 else len(shares)
        top = shares[n_kept - 1] if top_p < 1 and n_kept <= len(shares) else 1.0
        place = int(np.searchsorted(shares, draw * top))
        if place < min(n_kept, len(order)):
            return int(order[place])
    return int(order[min(n_kept, len(order)) - 1])
