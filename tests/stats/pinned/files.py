"""The files of pinned results: one for each package of flipcore/stats, a line for each case."""

import json
from collections import defaultdict
from functools import cache
from pathlib import Path

from tests.stats.pinned import audit, base, choices, flips, holdout, memory, ranking, score  # noqa: F401 -- they register
from tests.stats.pinned.cases import GROUPS
from tests.stats.pinned.results import declared, differences, outcome

FOLDER = Path(__file__).parent
MISSING = "not pinned"
DECLARED = "declared"  # the case of a module's constants and defaults


def results(group: str) -> dict[str, object]:
    """Return the present results of a module's cases, by their names."""
    by_name: dict[str, object] = {}
    for name, call in GROUPS[group]():
        if name in by_name:
            raise ValueError(f"Two cases of {group} are called {name!r}.")
        by_name[name] = outcome(call)
    return by_name | {DECLARED: declared(group)}


@cache
def stored(package: str) -> dict[str, dict[str, object]]:
    """Return the stored results of a package, by module and case."""
    path = FOLDER / f"{package}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def changed(groups: list[str] | None = None) -> list[str]:
    """Return a line for each value that differs: module, case, field, what was stored, what it is."""
    lines = []
    for group in groups or list(GROUPS):
        before = stored(group.partition(".")[0]).get(group, {})
        after = json.loads(json.dumps(results(group)))
        for name in sorted(before.keys() | after.keys()):
            lines += [f"{group} / {name}: {line}" for line in differences(before.get(name, MISSING), after.get(name, MISSING))]
    return lines


def write() -> None:
    """Write the files anew from the present results. A value that is as before stays as it was written."""
    packages: dict[str, dict[str, dict[str, object]]] = defaultdict(dict)
    for group in sorted(GROUPS):
        package = group.partition(".")[0]
        before = stored(package).get(group, {})
        after = json.loads(json.dumps(results(group)))
        for name, result in after.items():
            if name in before and not list(differences(before[name], result)):
                after[name] = before[name]
        packages[package][group] = after
    for package, by_group in packages.items():
        lines = []
        for group, by_case in by_group.items():
            cases = [f"  {json.dumps(name)}: {json.dumps(result, ensure_ascii=False)}" for name, result in by_case.items()]
            lines.append(f"{json.dumps(group)}: {{\n" + ",\n".join(cases) + "\n}")
        (FOLDER / f"{package}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
