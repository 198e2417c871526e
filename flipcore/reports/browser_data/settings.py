"""What the settings of a page may be, whoever set them: a hand, a link, a browser's message or a decision."""

from collections.abc import Mapping
from typing import Any

from flipcore.reports.browser_data import verdicts
from flipcore.reports.browser_data.levels import LEVELS
from flipcore.stats.flips.disagreement import POLICIES
from flipcore.stats.memory import pearl_alpha

BOUNDS = {"level": (LEVELS[0], LEVELS[-1]), "margin": (0.0, 1.0), "alpha": (0.0, 1.0), "fpr": (0.0, 1.0)}
CHOICES = (POLICIES, verdicts.RULES, pearl_alpha.RULES)


def fitting(settings: Mapping[str, Any], start: Mapping[str, Any]) -> dict[str, Any]:
    """Those of `start`'s settings that are within their bounds, or among the choices that `start` has them from."""
    return {key: value for key, value in settings.items() if key in start and _fits(key, value, start[key])}


def _fits(key: str, value: Any, start: Any) -> bool:
    if key in BOUNDS and value is not None:
        low, high = BOUNDS[key]
        return isinstance(value, (int, float)) and low <= value <= high
    choices = next((several for several in CHOICES if start in several), None)
    return choices is None or value in choices
