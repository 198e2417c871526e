"""Two versions of a holdout: the edits between them, and the change of each test's outcome."""

import math
from collections.abc import Mapping

from flipcore.stats.base.estimate import number_text, percent_text
from flipcore.stats.holdout.units import NO_DIFFERENCE, ONE_SIDED, TITLES
from flipcore.stats.holdout.verdict import UNDECIDED, HoldoutTest

# Name that earlier releases stored -> its name today, for keys and for outcomes.
_RENAMED_KEYS = {"p_seed": "p_source"}
_RENAMED_STATES = {"inconclusive": UNDECIDED}


def result_of(test: HoldoutTest) -> dict:
    """Return the record of a test that a version stores: plain values, None for missing numbers."""
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
    """Return the stored records of a version's tests, with the keys and outcomes of earlier
    releases under their names of today."""
    records = {}
    for name, result in results.items():
        record = {_RENAMED_KEYS.get(key, key): value for key, value in result.items()}
        record["state"] = _RENAMED_STATES.get(result["state"], result["state"])
        records[name] = record
    return records


def _plain(x: float) -> float | None:
    return float(x) if math.isfinite(x) else None


def describe_edits(before: Mapping, after: Mapping) -> list[str]:
    """Return sentences about the edits between two stored versions, rows of
    `store.queries.holdout.versions`.

    First come the numbers of new and deleted entries and any changed settings (embedding,
    classifier, seed). Then each test has its estimates before and after, and its outcome.
    """
    old_ids, new_ids = set(before["retro_ids"]), set(after["retro_ids"])
    sentences = [
        f"Since the version before, {len(new_ids - old_ids):,} holdout entries are new or changed, "
        f"{len(old_ids - new_ids):,} are gone."
    ]
    if set(before["target_ids"]) != set(after["target_ids"]):
        sentences.append(
            "The benchmark changed too, so the two versions are not answers to the same question."
        )
    # A changed setting could change a result by itself, so it comes before the results.
    settings = after["settings"]
    changed = [key for key in settings if before["settings"].get(key) != settings[key]]
    if changed:
        sentences.append(
            f"The {' and the '.join(changed)} changed as well: a difference may come from there."
        )
    old_results, new_results = read_results(before["results"]), read_results(after["results"])
    for name in TITLES:
        if name in old_results and name in new_results:
            sentences.append(_change_sentence(name, old_results[name], new_results[name]))
    return sentences


def _change_sentence(name: str, old: Mapping, new: Mapping) -> str:
    """Return the sentence on the test `name`, from its records in the old and the new version."""
    if old["value"] is None or new["value"] is None:
        return f"{TITLES[name]}: one of the versions has no estimate."
    numbers = f"{_value_text(name, old['value'])} → {_value_text(name, new['value'])}"
    if old["state"] != new["state"]:
        return f"{TITLES[name]}: {numbers}; the outcome went from {old['state']} to {new['state']}."
    distance_before = abs(old["value"] - NO_DIFFERENCE[name])
    distance_after = abs(new["value"] - NO_DIFFERENCE[name])
    direction = "nearer to no difference" if distance_after < distance_before else "no nearer"
    return f"{TITLES[name]}: {numbers}, {direction}; still {new['state']}."


def _value_text(name: str, value: float) -> str:
    """Return an estimate in the unit of its test, with a decimal more than its margin."""
    if name == "difficulty":
        return f"{number_text(100 * value, 1, sign=True)} points"
    # Differences of cosines are small.
    return percent_text(value, 1) if name in ONE_SIDED else number_text(value, 4)
