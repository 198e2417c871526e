"""Check the log-probabilities that servers send; placeholders count as missing."""

import math
from collections.abc import Mapping, Sequence

# Probabilities may sum to a little over 1 by rounding. If they exceed this, the numbers are not
# log-probabilities.
_LARGEST_SUM = 1.01
_LARGEST_NATS = 1e-3  # a log-probability may exceed 0 by rounding


def usable_alternatives(top: Mapping[str, float] | None) -> dict[str, float] | None:
    """Return the first-token alternatives in nats, or None if they cannot be used.

    None means no alternative, only placeholders (0.0), or numbers that cannot be a distribution.
    HELM's stored states and some servers send 0.0 for every token.
    """
    if not top:
        return None
    alternatives = {
        str(token): float(nats)
        for token, nats in top.items()
        if not math.isnan(nats) and nats != -math.inf
    }
    values = alternatives.values()
    if all(nats == 0.0 for nats in values) or max(values) > _LARGEST_NATS:
        return None
    return alternatives if sum(map(math.exp, values)) <= _LARGEST_SUM else None


def usable_tokens(
    tokens: Sequence[tuple[str, float]] | None,
) -> tuple[tuple[str, float], ...] | None:
    """Return (text, nats) of each token, or None if they cannot be used: no token, one without a
    finite log-probability, or only placeholders (0.0)."""
    if not tokens:
        return None
    for _, nats in tokens:
        if nats is None or not math.isfinite(nats) or nats > _LARGEST_NATS:
            return None
    if all(nats == 0.0 for _, nats in tokens):
        return None
    return tuple((str(text), float(nats)) for text, nats in tokens)
