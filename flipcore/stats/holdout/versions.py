"""Two versions of a holdout: the edits, and the change of each test's outcome."""

import math
from collections.abc import Mapping

from flipcore.stats.base.estimate import number_text
from flipcore.stats.holdout.units import NOTHING, TITLES
from flipcore.stats.holdout.verdict import UNDECIDED, HoldoutTest

_RENAMED = {"p_seed": "p_source"}  # keys of versions that an earlier release stored
_STATES = {"inconclusive": UNDECIDED}


def result_of(test: HoldoutTest) -> dict:
    """Return the record that a version keeps of a test: plain values, missing numbers as None."""
    return {
        "state": test.state,
        "p": _plain(test.p),
        "p_source": [_plain(p) for p in test.p_source],
        "margin": test.margin,
        "value": _plain(test.estimate.value),
        "bound": [_plain(x) for x in test.bound],
        "detectable": _plain(test.detectable),
    }


def read_results(results: Mapping[str, Mapping]) -> dict[str, dict]:
    """Read the records of a version's tests, whatever release stored them: earlier names of keys
    and outcomes become today's."""
    read = {}
    for name, result in results.items():
        record = {_RENAMED.get(key, key): value for key, value in result.items()}
        record["state"] = _STATES.get(result["state"], result["state"])
        read[name] = record
    return read


def _plain(x: float) -> float | None:
    return float(x) if math.isfinite(x) else None


def edited(before: Mapping, after: Mapping) -> list[str]:
    """Describe the edits in sentences: how many entries came and went, then per test its estimate
    before and after, and its outcome. Both are rows of `holdout_queries.versions`. Another
    embedding, classifier or seed is stated first."""
    old, new = set(before["retro_ids"]), set(after["retro_ids"])
    sentences = [
        f"Since the version before, {len(new - old):,} holdout entries are new or changed, "
        f"{len(old - new):,} are gone."
    ]
    if set(before["target_ids"]) != set(after["target_ids"]):
        sentences.append(
            "The target set changed too, so the two versions are not answers to the same question."
        )
    # Another setting could move a result by itself, so the reader is told first.
    changed = [
        key for key in after["settings"] if before["settings"].get(key) != after["settings"][key]
    ]
    if changed:
        sentences.append(
            f"The {' and the '.join(changed)} changed as well: a difference may come from there."
        )
    old_results, new_results = read_results(before["results"]), read_results(after["results"])
    return sentences + [
        _moved(name, old_results[name], new_results[name])
        for name in TITLES
        if name in old_results and name in new_results
    ]


def _moved(name: str, old: Mapping, new: Mapping) -> str:
    if old["value"] is None or new["value"] is None:
        return f"{TITLES[name]}: one of the versions has no estimate."
    digits = 4 if name == "semantic" else 3
    numbers = f"{number_text(old['value'], digits)} → {number_text(new['value'], digits)}"
    if old["state"] != new["state"]:
        return f"{TITLES[name]}: {numbers}; the outcome went from {old['state']} to {new['state']}."
    before, after = (abs(result["value"] - NOTHING[name]) for result in (old, new))
    way = "nearer to no difference" if after < before else "no nearer"
    return f"{TITLES[name]}: {numbers}, {way}; still {new['state']}."
