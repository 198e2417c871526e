"""Results of estimators as plain values that a file can hold, and what differs between two."""

import importlib
import inspect
import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cached_property

import numpy as np
import pandas as pd

from flipcore.core.errors import FlipscopeError
from flipcore.core.records import digest
from flipcore.stats.base.estimate import Estimate

DIGITS = 12  # significant digits that are kept
RELATIVE, ABSOLUTE = 1e-9, 1e-11  # other processors may add in another order
MAX_SHOWN = 6  # values of an array that are kept one by one
MAX_LENGTH = 250  # characters of a result; beyond them its longest parts are summed up
LIMITS = (120, 60, 30)  # characters of a part
SUMMED = "summed"
ESTIMATE = "estimate"
ESTIMATE_FIELDS = ("value", "low", "high", "level", "n", "method", "note", "effective", "seed", "coverage")
Case = tuple[str, Callable[[], object]]


def outcome(call: Callable[[], object]) -> object:
    """Return what a call returned as plain values, or the words of its error."""
    try:
        return _shortened(plain(call()))
    except FlipscopeError as error:
        return f"{type(error).__name__}: {error}"


def _shortened(result: object) -> object:
    """Return a result whose longest parts are sums, so that the files stay small."""
    for limit in LIMITS:
        if len(json.dumps(result)) > MAX_LENGTH:
            result = _cut(result, limit, is_whole=True)
    return result


def _cut(result: object, limit: int, *, is_whole: bool = False) -> object:
    """Return a result in which sums stand for each part that is longer than the limit."""
    if not isinstance(result, dict | list) or len(json.dumps(result)) <= limit or SUMMED in result:
        return result
    parts = result.values() if isinstance(result, dict) else result
    if not is_whole and not any(isinstance(part, dict | list) and len(part) > 2 for part in parts):
        return _summed(result)
    if isinstance(result, dict):
        return {name: _cut(part, limit) for name, part in result.items()}
    return [_cut(part, limit) for part in result]


def _summed(result: dict | list) -> dict[str, object]:
    """Return a sum that each number of a result changes, and a digest of its texts."""
    numbers: list[float] = []
    texts: list[str] = []
    waiting: list[object] = [result]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            texts += sorted(part)
            waiting += [part[name] for name in sorted(part)]
        elif isinstance(part, list):
            waiting += part
        elif isinstance(part, int | float) and not isinstance(part, bool):
            numbers.append(float(part))
        else:
            texts.append(str(part))
    # As large numbers would hide small ones, the sum is over their logarithms, with their signs.
    total = float(np.arcsinh(numbers) @ np.sin(np.arange(1, len(numbers) + 1)))
    return {SUMMED: [_number(total), len(numbers), digest(*texts)[:8]]}


def plain(value: object, depth: int = 0) -> object:
    """Return a value as texts, numbers, lists and dictionaries; of an object also its properties."""
    match value:
        case Enum():
            return str(value.value)
        case None | bool() | str() | int():
            return value
        case float() | np.floating():
            return _number(float(value))
        case np.bool_() | np.integer():
            return value.item()
        case np.ndarray():
            return _array(value)
        case pd.DataFrame():
            return {str(name): _array(value[name].to_numpy()) for name in value} | {"index": _array(value.index.to_numpy())}
        case pd.Series() | pd.Index():
            return _array(value.to_numpy())
        case Mapping():
            return {str(key): plain(item, depth) for key, item in value.items()}
        case set() | frozenset():
            return sorted(map(str, value))
        case list() | tuple() if not hasattr(value, "_asdict"):
            return _sequence(value, depth)
        case Iterator():
            return plain(list(value), depth)
    if isinstance(value, Estimate):
        return _estimate(value)
    if depth > 3:
        return type(value).__name__
    return {name: plain(item, depth + 1) for name, item in _attributes(value)}


def _estimate(estimate: Estimate) -> dict[str, object]:
    """Return the fields of an estimate in short, without empty ones at the end; its texts follow from them."""
    values = [plain(getattr(estimate, name)) for name in ESTIMATE_FIELDS]
    while values[-1] in (None, ""):
        values.pop()
    return {ESTIMATE: values}


def declared(group: str) -> dict[str, object]:
    """Return the constants of a module of flipcore/stats, and the defaults of its functions and classes."""
    module = importlib.import_module(f"flipcore.stats.{group}")
    values: dict[str, object] = {}
    for name, value in vars(module).items():
        if name.lstrip("_").isupper() and isinstance(value, int | float | str | tuple | dict | list | np.ndarray):
            values[name] = plain(value)
        elif getattr(value, "__module__", "") == module.__name__ and callable(value):
            values |= {f"{name}({option})": shown for option, shown in _defaults(value)}
    return values


def _defaults(value: Callable) -> Iterator[tuple[str, object]]:
    """Yield the defaults of a function's options; of a class also those of its methods."""
    functions = {"": value}
    if inspect.isclass(value):
        functions |= {f"{name}, ": member for name, member in vars(value).items() if inspect.isfunction(member)}
    for prefix, function in functions.items():
        try:
            options = inspect.signature(function).parameters.values()
        except ValueError:
            continue
        for option in options:
            if isinstance(option.default, bool | int | float | str | tuple):
                yield f"{prefix}{option.name}", plain(option.default)


def _sequence(values: list | tuple, depth: int) -> object:
    """Return a short sequence value by value, and a long one of numbers or texts by sums or counts."""
    if len(values) > MAX_SHOWN and all(isinstance(value, int | float) for value in values):
        return _array(np.array(values))
    if len(values) > 2 * MAX_SHOWN and all(isinstance(value, str) for value in values):
        counts = Counter(values)
        return {"texts": dict(counts) if len(counts) <= MAX_SHOWN else len(values), "in order": digest(*values)[:8]}
    return [plain(item, depth) for item in values]


def _number(value: float) -> float | str:
    if not math.isfinite(value):
        return str(value)
    return float(f"{value:.{DIGITS}g}")


def _array(values: np.ndarray) -> object:
    """Return the values of a short array, and of a long one sums that each value changes."""
    if values.size <= MAX_SHOWN or values.dtype.kind not in "biuf":
        return plain(values.tolist())
    numbers = values.astype(float).ravel()
    is_known = np.isfinite(numbers)
    kept = np.where(is_known, numbers, 0.0)
    ramp = np.sin(np.arange(1, numbers.size + 1))
    sums = {"sum": kept.sum(), "in order": kept @ ramp, "finite": (is_known * ramp).sum()}
    return {"shape": list(values.shape)} | {name: _number(float(number)) for name, number in sums.items()}


def _attributes(value: object) -> Iterator[tuple[str, object]]:
    """Yield public fields, properties and sentences of an object."""
    names = [field.name for field in fields(value)] if is_dataclass(value) else list(getattr(value, "_fields", ()))
    for kind in type(value).__mro__:
        for name, member in vars(kind).items():
            if isinstance(member, property | cached_property) or name in ("sentence", "text"):
                names.append(name)
    for name in dict.fromkeys(names):
        if name.startswith("_"):
            continue
        try:
            member = getattr(value, name)
            yield name, member() if name in ("sentence", "text") and callable(member) else member
        except (FlipscopeError, ValueError, TypeError) as error:
            yield name, f"{type(error).__name__}: {error}"


def differences(stored: object, current: object, place: str = "") -> Iterator[str]:
    """Yield a line for each value that is another one now: where, what was stored, what it is."""
    if isinstance(stored, dict) and isinstance(current, dict):
        stored, current = (_named(value) for value in (stored, current))
        for name in sorted(stored.keys() | current.keys()):
            missing = "nothing"
            yield from differences(stored.get(name, missing), current.get(name, missing), f"{place}.{name}")
    elif isinstance(stored, list) and isinstance(current, list) and len(stored) == len(current):
        for number, pair in enumerate(zip(stored, current, strict=True)):
            yield from differences(*pair, f"{place}[{number}]")
    elif not _is_same(stored, current):
        yield f"{place.lstrip('.')}: {stored!r} -> {current!r}"


def _named(value: dict) -> dict:
    """Return an estimate by the names of its fields, and any other dictionary as it is."""
    is_estimate = value.keys() == {ESTIMATE} and isinstance(value[ESTIMATE], list)
    return dict(zip(ESTIMATE_FIELDS, value[ESTIMATE], strict=False)) if is_estimate else value


def _is_same(stored: object, current: object) -> bool:
    is_number = [isinstance(value, int | float) and not isinstance(value, bool) for value in (stored, current)]
    if all(is_number):
        return math.isclose(stored, current, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    return type(stored) is type(current) and stored == current
