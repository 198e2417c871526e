"""The parameters of a plug-in: one control each, by the kind of its default."""

from dataclasses import fields

from flipcore.core import bounds


def params(plugin, before: dict, place, key: str) -> dict:
    """The parameters that differ from the plug-in's own defaults."""
    overrides = {}
    declared = [field for field in fields(plugin) if field.init]
    for field, column in zip(declared, place.columns(max(len(declared), 1)), strict=False):
        default = getattr(plugin, field.name)
        value = _param(column, field, before.get(field.name, default), f"{key}-{field.name}")
        if value != default:
            overrides[field.name] = list(value) if isinstance(value, tuple) else value
    return overrides


def _param(column, field, value, key: str):
    """One control, by the kind of its default; `choices` in the field's metadata limit it."""
    label, choices = field.metadata.get("label") or field.name.replace("_", " "), list(field.metadata.get("choices", ()))
    if isinstance(value, bool):
        return column.toggle(label, value, key=key)
    if isinstance(value, (tuple, list)):
        selection = column.multiselect(label, choices or list(value), list(value), key=key, accept_new_options=not choices)
        return tuple(selection) if choices else tuple(_number(one) for one in selection)
    if choices:
        return column.selectbox(label, choices, choices.index(value), key=key)
    if isinstance(value, int):
        return int(column.number_input(label, 0, int(bounds.PARAMETERS.get(field.name, (0, 1_000))[1]), value, key=key))
    if isinstance(value, float):
        return float(column.number_input(label, value=value, key=key))
    return column.text_input(label, value, key=key)


def _number(typed):
    """What was typed as a number where it is one; the plug-in says what is wrong with anything else."""
    try:
        return float(typed)
    except (TypeError, ValueError):
        return typed
