"""A language model's arithmetic on plain arrays: softmax, rotary positions, padding, drawing."""

from collections.abc import Callable, Iterator

import numpy as np

BATCH = 48  # sequences per batch; a larger batch gains nothing on one core


def log_softmax(logits: np.ndarray) -> np.ndarray:
    """Return log-probabilities over the last axis."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def softmax(scores: np.ndarray) -> np.ndarray:
    """Return probabilities over the last axis."""
    raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return raised / raised.sum(axis=-1, keepdims=True)


def spread(logs: np.ndarray) -> list[tuple[float, float]]:
    """Return (mean, standard deviation) of the log-probabilities of each row of (rows, vocabulary).
    Each log-probability is weighted by its own probability."""
    shares = np.exp(logs)
    means = (shares * logs).sum(axis=-1)
    variances = (shares * (logs - means[:, None]) ** 2).sum(axis=-1)
    return list(zip(means.tolist(), np.sqrt(variances).tolist(), strict=True))


def likeliest(logs: np.ndarray, top_k: int, piece: Callable[[int], str]) -> dict[str, float]:
    """Return the log-probabilities of one row's likeliest tokens by text (`piece`: token -> text).
    Tokens with the same text are added up."""
    by_text: dict[str, float] = {}
    for token in np.argsort(-logs, kind="stable")[:top_k].tolist():
        text, value = piece(token), float(logs[token])
        by_text[text] = float(np.logaddexp(by_text[text], value)) if text in by_text else value
    return by_text


def rotated(x: np.ndarray, cos: np.ndarray, sin: np.ndarray) -> np.ndarray:
    """Apply rotary positions: rotate `x` (…, width) by the angles of `cos` and `sin`."""
    half = x.shape[-1] // 2
    return x * cos + np.concatenate([-x[..., half:], x[..., :half]], axis=-1) * sin


def padded(rows: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Return tokens (rows, longest), filled with 0 on the right, and lengths (rows,)."""
    lengths = np.array([len(row) for row in rows])
    tokens = np.zeros((len(rows), lengths.max()), dtype=np.int64)
    for i, row in enumerate(rows):
        tokens[i, : len(row)] = row
    return tokens, lengths


def batches(lengths: list[int]) -> Iterator[list[int]]:
    """Yield the indices of texts in batches of similar length, so that padding stays short."""
    order = sorted(range(len(lengths)), key=lambda i: lengths[i])
    for start in range(0, len(order), BATCH):
        yield order[start : start + BATCH]


def drawn_token(
    logs: np.ndarray, stream: np.random.Generator, temperature: float, top_p: float
) -> int:
    """Draw a token from log-probabilities (vocabulary,).

    Temperature 0 takes the likeliest. Otherwise the next number of `stream` decides among the
    likeliest tokens whose probabilities together reach `top_p`.
    """
    if temperature <= 0:
        return int(np.argmax(logs))
    weights = np.exp((logs.astype(np.float64) - logs.max()) / temperature)
    total, draw = weights.sum(), stream.random()
    # Sorting is slow, so first try without the tokens of tiny weight: the draw rarely reaches them.
    for min_weight in (1e-3, -1.0):
        candidates = np.flatnonzero(weights > min_weight)
        order = candidates[np.argsort(-weights[candidates], kind="stable")]
        shares = np.cumsum(weights[order]) / total
        n_kept = int(np.searchsorted(shares, top_p - 1e-12)) + 1 if top_p < 1 else len(shares)
        kept_share = shares[n_kept - 1] if top_p < 1 and n_kept <= len(shares) else 1.0
        drawn = int(np.searchsorted(shares, draw * kept_share))
        if drawn < min(n_kept, len(order)):
            return int(order[drawn])
    return int(order[min(n_kept, len(order)) - 1])
