"""Make dataclasses from tables: a study's parts, a model, a plug-in's parameters.

pydantic checks the types of the fields strictly: "2" is no number and 1 is not true. A list may
stand for a tuple, and a whole number for a float. Bounds are checked by `bounds`.
"""

import types
from collections.abc import Collection, Mapping
from dataclasses import MISSING, fields
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, Union, get_args, get_origin, get_type_hints

from flipcore.core.errors import BadInput

if TYPE_CHECKING:
    from pydantic import TypeAdapter

T = TypeVar("T")
# Messages never repeat these values, because a user may have typed an API key there by mistake.
_SECRET = ("api_key_env", "endpoint")
_TYPE_NAMES = {
    str: "text in quotes",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    dict: "a table",
    Mapping: "a table",
    tuple: "a list",
}


def declared(
    kind: type[T], table: Any, where: str, own_fields: Mapping[str, Any] | None = None
) -> T:
    """Make an instance of the dataclass `kind` from a table.

    `own_fields` are the caller's own values, for fields that the table may not set. Raises
    BadInput, with `where` and the key, for no table, an unknown key, a missing key, or a value of
    another type.
    """
    if not isinstance(table, Mapping):
        raise BadInput(f"{where} must be a table, not {type(table).__name__}.")
    caller_fields = own_fields or {}
    keys = [field for field in fields(kind) if field.init and field.name not in caller_fields]  # type: ignore[arg-type]
    check_keys(where, "key", table=table, names=[field.name for field in keys])
    for field in keys:
        if (
            field.name not in table
            and field.default is MISSING
            and field.default_factory is MISSING
        ):
            raise BadInput(f"{where} is incomplete: {field.name} is missing.")
    values = {key: fitting(kind, where, key=key, value=value) for key, value in table.items()}
    return kind(**values, **caller_fields)


def check_keys(where: str, noun: str, table: Mapping[str, Any], names: Collection[str]) -> None:
    """Raise BadInput for the first key (a `noun` in its sentence) that is not in `names`."""
    unknown = sorted(set(table) - set(names))
    if unknown:
        takes = f"it may have {', '.join(names)}" if names else f"it has no {noun}s"
        raise BadInput(f"{where} has the unknown {noun} {unknown[0]!r}; {takes}.")


def fitting(kind: type, where: str, key: str, value: Any, default: Any = None) -> Any:
    """Return the value in the type of the field `key` of `kind`; BadInput if it does not fit.
    If a plug-in's annotation cannot be resolved, the type of its `default` decides."""
    from pydantic import ValidationError

    fallback: Any = type(default)
    hint = _hint(kind, key, fallback=fallback)
    value = tuple(value) if isinstance(value, list) and _is_tuple(hint) else value
    try:
        return _adapter(kind, key, fallback=fallback).validate_python(value)
    except ValidationError as error:
        if key not in _SECRET:
            entry = f"{key} = {str(value)[:60]!r}"
        else:
            entry = f"another kind of value in {key}"
        raise BadInput(f"{where} has {entry}; it must be {_type_words(hint)}.") from error


@cache
def _adapter(kind: type, key: str, fallback: Any) -> "TypeAdapter":
    from pydantic import ConfigDict, TypeAdapter

    return TypeAdapter(
        _hint(kind, key, fallback=fallback),
        config=None if _is_record(kind, key, fallback=fallback) else ConfigDict(strict=True),
    )


def _is_record(kind: type, key: str, fallback: Any) -> bool:
    """Tell whether the field holds dataclasses: pydantic takes no configuration for those."""
    hint = _hint(kind, key, fallback=fallback)
    return any(hasattr(part, "__dataclass_fields__") for part in (hint, *get_args(hint)))


@cache
def _hint(kind: type, key: str, fallback: Any) -> Any:
    try:
        return get_type_hints(kind)[key]
    except Exception:  # an annotation of another package may name anything
        return Any if fallback is type(None) else fallback


def _is_tuple(hint: Any) -> bool:
    hints = (hint, *get_args(hint))
    return any(tuple in (part, get_origin(part)) for part in hints)


def _type_words(hint: Any) -> str:
    if isinstance(hint, types.UnionType) or get_origin(hint) is Union:
        return " or ".join(_type_words(part) for part in get_args(hint) if part is not type(None))
    origin = get_origin(hint) or hint
    if origin is tuple and get_args(hint)[:1] == (str,):
        return "a list of texts"
    return _TYPE_NAMES.get(origin, f"of the type {getattr(origin, '__name__', origin)}")
