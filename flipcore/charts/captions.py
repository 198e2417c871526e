"""What stands under a figure that is saved: what it shows, and the level, kind, n and seed of its intervals."""

from collections.abc import Iterable

from flipcore.stats.base.estimate import Estimate


def caption(words: str, estimates: Iterable[Estimate] = ()) -> str:
    """`words` is a sentence; of the estimates only those that are there count."""
    there = [one for one in estimates if one.value == one.value]
    return f"{words} {_intervals(there)}".strip()


def n_text(ns: Iterable[int]) -> str:
    """ "n = 20", or "n = 20 to 32" of several; "n = 0" of none."""
    sizes = sorted(set(ns)) or [0]
    return f"n = {sizes[0]:,}" if len(sizes) == 1 else f"n = {sizes[0]:,} to {sizes[-1]:,}"


def _intervals(there: list[Estimate]) -> str:
    """ "95 % intervals (bca, wilson), n = 20 to 32, seed 0."; "" without an estimate."""
    if not there:
        return ""
    n = n_text(one.n for one in there)
    with_interval = [one for one in there if one.has_interval]
    if not with_interval:
        return f"No interval, {n}."
    levels = ", ".join(f"{100 * level:g}" for level in sorted({one.level for one in with_interval}))
    methods = ", ".join(sorted({one.method.replace("_", " ") for one in with_interval}))
    seeds = ", ".join(str(seed) for seed in sorted({one.seed for one in with_interval if one.seed is not None}))
    return f"{levels} % intervals ({methods}), {n}{f', seed {seeds}' if seeds else ''}."
