"""Log-probabilities as servers send them: what can be used, and what is a placeholder and therefore
missing."""

import math
from collections.abc import Mapping, Sequence

# A distribution may exceed 1 by rounding; a server that exceeds it by more is not sending
# log-probabilities.
_MOST = 1.01


def usable_alternatives(top: Mapping[str, float] | None) -> dict[str, float] | None:
    """First-token alternatives in nats, or None for nothing, for placeholders (0.0 everywhere, also
    a single 0.0) and for what cannot be a distribution. HELM's stored states and some servers send
    0.0 for every token."""
    if not top:
        return None
    alternatives = {
        str(token): float(nats)
        for token, nats in top.items()
        if not math.isnan(nats) and nats != -math.inf
    }
    if (
        not alternatives
        or all(nats == 0.0 for nats in alternatives.values())
        or max(alternatives.values()) > 1e-3
    ):
        return None
    return alternatives if sum(math.exp(nats) for nats in alternatives.values()) <= _MOST else None


def usable_tokens(
    tokens: Sequence[tuple[str, float]] | None,
) -> tuple[tuple[str, float], ...] | None:
    """(text, nats) of each token, or None when there are none, when one is not a finite
    log-probability, or when all are the placeholder 0.0."""
    if not tokens:
        return None
    if any(nats is None or not math.isfinite(nats) or nats > 1e-3 for _, nats in tokens):
        return None
    if all(nats == 0.0 for _, nats in tokens):
        return None
    return tuple((str(text), float(nats)) for text, nats in tokens)
