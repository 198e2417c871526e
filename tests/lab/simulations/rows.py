"""The part that coverage tables have in common: every world simulated in turn, each row printed when it is there."""

import argparse
import json
from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import Any, TypeVar

W = TypeVar("W")


def simulated(
    about: str | None,
    worlds: Iterable[W],
    coverage: Callable[[W, int, int], dict],
    fewer: Callable[[W], int | None] = lambda _: None,
) -> tuple[argparse.Namespace, list[tuple[W, dict[str, Any]]]]:
    """The command line's `--sims` and `--seed`, and a row a world; `fewer` says how many simulations a large world gets at most."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--sims", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rows = []
    for world in worlds:
        rows.append((world, coverage(world, min(options.sims, fewer(world) or options.sims), options.seed)))
        print(json.dumps({**asdict(world), **rows[-1][1]}), flush=True)  # type: ignore[call-overload]
    return options, rows
