"""Two versions of a retro set: what was edited, and which tests moved towards sameness."""

from __future__ import annotations

import math
from collections.abc import Mapping

from flipcore.stats.base.estimate import number_text
from flipcore.stats.holdout.verdict import DIFFERENT, EQUIVALENT, INCONCLUSIVE, NOTHING, TITLES, HoldoutTest

_ORDER = {DIFFERENT: 0, INCONCLUSIVE: 1, EQUIVALENT: 2}


def result_of(test: HoldoutTest) -> dict:
    """What a version keeps of a test: plain values, missing numbers as None."""
    return {
        "state": test.state,
        "p": _plain(test.p),
        "p_source": [_plain(p) for p in test.p_source],
        "margin": test.margin,
        "value": _plain(test.estimate.value),
        "bound": [_plain(x) for x in test.bound],
        "detectable": _plain(test.detectable),
    }


def _plain(x: float) -> float | None:
    return float(x) if math.isfinite(x) else None


def edited(before: Mapping, after: Mapping) -> list[str]:
    """Sentences: how many entries came and went, then a test each: its estimate before and after, and whether that is nearer
    to no difference. Both are rows of `holdout_queries.versions`. Another embedding, classifier or seed is said first."""
    old, new = set(before["retro_ids"]), set(after["retro_ids"])
    sentences = [f"Since the version before, {len(new - old):,} retro entries are new or changed, {len(old - new):,} are gone."]
    if set(before["target_ids"]) != set(after["target_ids"]):
        sentences.append("The target set changed too, so the two versions are not answers to the same question.")
    changed = [key for key in after["settings"] if before["settings"].get(key) != after["settings"][key]]
    if changed:
        sentences.append(f"The {' and the '.join(changed)} changed as well: a difference may come from there.")
    return sentences + [
        _moved(name, before["results"][name], after["results"][name])
        for name in TITLES
        if name in before["results"] and name in after["results"]
    ]


def _moved(name: str, old: Mapping, new: Mapping) -> str:
    if old["value"] is None or new["value"] is None:
        return f"{TITLES[name]}: one of the versions has no estimate."
    distance = [abs(one["value"] - NOTHING[name]) for one in (old, new)]
    digits = 4 if name == "semantic" else 3
    numbers = f"{number_text(old['value'], digits)} → {number_text(new['value'], digits)}"
    nearer = "nearer to no difference" if distance[1] < distance[0] else "no nearer"
    if _ORDER[new["state"]] > _ORDER[old["state"]]:
        nearer = f"helped: {old['state']} → {new['state']}"
    elif _ORDER[new["state"]] < _ORDER[old["state"]]:
        nearer = f"made it worse: {old['state']} → {new['state']}"
    return f"{TITLES[name]}: {numbers}, {nearer}."
