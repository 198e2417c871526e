"""The installed packages that a study's plug-ins come from."""

from typing import Any

from flipcore.axes import AXES
from flipcore.core.plugins import SHIPPED, Registry
from flipcore.core.study import Study
from flipcore.datasets import LOADERS
from flipcore.extractors import EXTRACTORS
from flipcore.models import BACKENDS, model_cards
from flipcore.store import rows


def origins(study: Study) -> list[dict[str, str]]:
    """Return kind, name, package and version of each plug-in that is not Flipscope's own."""
    uses: list[tuple[Registry, list[str]]] = [
        (LOADERS, [source.dataset for source in study.items]),
        (AXES, [part.name for part in study.axes]),
        (EXTRACTORS, [part.name for part in study.extractors]),
        (BACKENDS, _backends(study)),
    ]
    rows_of_plugins = []
    for registry, names in uses:
        for name in dict.fromkeys(names):
            origin = registry.origin(name)
            if origin != SHIPPED:
                row = {"kind": registry.noun, "name": name}
                rows_of_plugins.append(row | {"package": origin.package, "version": origin.version})
    return rows_of_plugins


def _backends(study: Study) -> list[str]:
    """Return the backends of the study's models and judge; Python functions have none."""
    if study.is_recorded:
        return []
    cards = model_cards()
    names = [use.name for use in study.models] + ([study.judge] if study.judge else [])
    return [cards[name].backend for name in names if name in cards]


def study_row(study: Study, state: str, message: str = "", **columns: Any) -> dict:
    """Return `store.rows.study_row` with the packages of the study's plug-ins filled in."""
    return rows.study_row(study, state, message, plugins=origins(study), **columns)
