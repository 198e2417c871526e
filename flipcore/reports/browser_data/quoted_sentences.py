"""The sentences that a board shows at its handles' positions, made as `board.js` makes them.

A decision quotes these sentences. A browser could send any text, so it sends only the positions of
the handles, and the sentences are made here again.
"""

import base64
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from flipcore.stats.base.estimate import MISSING, number_text, percent_text, without_interval

_FIELD = re.compile(r"\{(\w+)(?:\|(\w+))?\}", re.ASCII)
_FORMATS = {
    "whole": lambda x: number_text(x, 0),
    "number": number_text,
    "fine": lambda x: number_text(x, 3),
    "percent": lambda x: percent_text(x, 1),
    "points": lambda x: f"{number_text(100 * x, 1)} points",
}


def sentences_at(board: Mapping[str, Any], view: Mapping[str, Any]) -> list[str]:
    """Return the sentences of `board` (`Board.data`) for the decision record at a view.

    `view` has the values of handles and choices. Headlines and lines come first, then the rows by
    rank. Settings that the board does not have give no sentence.
    """
    return _Shown(board, view).sentences() if _has_settings(board, view) else []


def _has_settings(board: Mapping[str, Any], view: Mapping[str, Any]) -> bool:
    """Tell whether the view's choices are options, and its handles have numbers."""
    for choice in board.get("choices", ()):
        options = choice.get("options")
        value = view.get(choice["name"], choice.get("chosen"))
        if options and value not in [option[0] for option in options]:
            return False
    rows = board.get("rows", ())
    controls = list(board.get("controls", ()))
    if not isinstance(rows, Mapping):
        controls += [row["control"] for row in rows if row.get("control")]
    for control in controls:
        value = view.get(control["name"], control.get("start"))
        if not isinstance(value, (int, float)) and (control.get("range") or value is not None):
            return False
    return True


class _Shown:
    """A board with its handles and choices at the values of a view."""

    def __init__(self, board: Mapping[str, Any], view: Mapping[str, Any]) -> None:
        self._board = board
        self._view = dict(view)
        for choice in board.get("choices", ()):
            self._view.setdefault(choice["name"], choice.get("chosen"))
        self._rows = self._part(board.get("rows")) or []
        self._outcomes = self._part(board.get("outcomes_by_row")) or []
        self._intervals = self._part(board.get("intervals_by_row")) or []

    def sentences(self) -> list[str]:
        headlines = self._part(self._board.get("headlines"))
        if not headlines:
            return []
        sentences = [self._headline(headline) for headline in headlines]
        sentences += [self._filled_step(line) for line in self._board.get("lines", ())]
        ranked = []
        for index, row in enumerate(self._rows):
            key = self._outcome(index, self._position(row))
            outcome = self._board.get("outcomes", {}).get(key) or {}
            if not row.get("is_hidden") and "rank" in outcome and row.get("sentences"):
                ranked.append((outcome["rank"], -row.get("weight", 0), index))
        for *_, index in sorted(ranked):
            sentences.append(self._sentence(index, self._position(self._rows[index])))
        return [self._with_setting(sentence) for sentence in sentences if sentence]

    def _part(self, chosen: Any) -> Any:
        """Return a part of the board; of a `board.Chosen` the one that the view's choices name.

        None if the board has no such part.
        """
        if not isinstance(chosen, Mapping) or "by" not in chosen:
            return chosen
        values = [str(self._view.get(name)) for name in chosen["by"]]
        return chosen["parts"].get("|".join(values))

    def _first_control(self) -> Mapping[str, Any] | None:
        controls = list(self._board.get("controls", ()))
        if not isinstance(self._board.get("rows"), Mapping):
            controls += [row["control"] for row in self._rows if row.get("control")]
        return controls[0] if controls else None

    def _position(self, row: Mapping[str, Any] | None = None) -> int:
        """Return the position of the row's own handle, or else of the board's first one."""
        control = (row or {}).get("control") or self._first_control()
        return self._position_of(control) if control else 0

    def _value(self, control: Mapping[str, Any]) -> Any:
        return self._view.get(control["name"], control.get("start"))

    def _position_of(self, control: Mapping[str, Any]) -> int:
        value = self._value(control)
        if not control.get("range"):
            return _nearest(control["values"], value)
        # This handle is a line that can be dragged to any value, see `board.Control`. Its positions
        # are 32-bit floats, so a value exactly at one of them must be one too.
        changes = _unpacked(control["positions"], "<f4")
        value = np.float32(self._value_in_range(control))
        # `is_exceeded`: the last position counts that is not above the line.
        if control.get("is_exceeded"):
            return max(int(np.searchsorted(changes, value, side="right")) - 1, 0)
        return min(int(np.searchsorted(changes, value, side="left")), len(changes) - 1)

    def _value_in_range(self, control: Mapping[str, Any]) -> float:
        """Return the value of a line, limited to its range."""
        low, high = control["range"]
        return min(max(self._value(control), low), high)

    def _with_setting(self, sentence: str) -> str:
        """Return the sentence with the first handle's value appended, unless it ends with it."""
        controls = self._board.get("controls", ())
        template = controls[0].get("quoted", "") if controls else ""
        if not template:
            return sentence
        control = controls[0]
        if control.get("range"):
            text = _filled(control["label"], lambda name: self._value_in_range(control))
        else:
            text = control["labels"][self._position_of(control)]
        if sentence.endswith(f" at {text}."):
            return sentence
        return sentence + _filled(template, lambda name: text)

    def _outcome(self, index: int, position: int) -> Any:
        """Return the outcome of the row at `index`, at a position of its handle."""
        by_row = self._outcomes[index] if index < len(self._outcomes) else None
        return _step_at(by_row or self._rows[index].get("outcomes"), position)

    def _headline(self, headline: Mapping[str, Any]) -> str:
        if combined := headline.get("combined"):
            outcomes = []
            for index, row in enumerate(self._rows):
                if row.get("control"):
                    outcomes.append(str(self._outcome(index, self._position(row))))
            sentence, _ = combined["|".join(outcomes)]
            return sentence
        index = _step_at(headline.get("rows"), self._position())
        if index is not None and 0 <= index < len(self._rows):
            return self._sentence(index, self._position())
        return self._filled_step(headline.get("sentence"))

    def _filled_step(self, steps: Any) -> str:
        position = self._position()
        template = _step_at(steps, position) or ""
        return _filled(template, lambda name: self._number(name, position))

    def _number(self, name: str, position: int) -> float | None:
        packed = self._board.get("numbers", {}).get(name)
        return float(_unpacked(packed, "<f4")[position]) if packed else None

    def _sentence(self, index: int, position: int) -> str:
        row = self._rows[index]
        sentences, outcome = row.get("sentences") or {}, self._outcome(index, position)
        is_steps = isinstance(sentences, (list, tuple))
        template = _step_at(sentences, position) if is_steps else sentences.get(outcome)

        def find(name: str) -> Any:
            if name != "lead":
                return self._number(name, position)
            # `leads` names the part to state: genuine or artifact. A row without it, such as that
            # of the reference extractor, states its total.
            return self._limits(index, (row.get("leads") or {}).get(outcome) or "T", position)

        return _filled(template or "", find)

    def _limits(self, index: int, name: str, position: int) -> tuple[float, float, float]:
        """Return (value, low, high) of a row's quantity; NaN where missing."""
        intervals = self._intervals[index] if index < len(self._intervals) else {}
        interval = (intervals or {}).get(name) or {}
        value = interval.get("value")
        ends = []
        for side in ("low", "high"):
            packed = interval.get(side)
            ends.append(float(_unpacked(packed, "<f8")[position]) if packed else math.nan)
        return math.nan if value is None else value, ends[0], ends[1]


def _unpacked(text: str, dtype: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype)


def _step_at(steps: Any, position: int) -> Any:
    """Return the value at a position of `steps`, [(first position, value), ...]; None if empty."""
    current = None
    for first, value in steps or ():
        if first > position:
            break
        current = value
    return current


def _nearest(values: Sequence[float | None], value: Any) -> int:
    """Return the index of the nearest value. None is nearest to None; without one it is 0."""
    if value is None:
        return list(values).index(None) if None in values else 0
    return min(
        range(len(values)), key=lambda i: math.inf if values[i] is None else abs(values[i] - value)
    )


def _filled(template: str, find: Any) -> str:
    """Fill the fields {name|format} of a template with `find(name)`; None leaves a field as is."""

    def text(match: re.Match) -> str:
        name, format_name = match.groups()
        value = find(name)
        if value is None:
            return match.group()
        if isinstance(value, tuple):
            return _interval_text(*value, is_likely=format_name == "likely")
        if not format_name:
            return str(value)
        return _FORMATS[format_name](value) if math.isfinite(value) else MISSING

    return _FIELD.sub(text, template)


def _interval_text(value: float, low: float, high: float, *, is_likely: bool) -> str:
    if math.isnan(value) or not (math.isfinite(low) and math.isfinite(high)):
        return MISSING if math.isnan(value) else percent_text(value)
    # The estimate serves to make the text, so it needs no method, n or seed.
    estimate = replace(without_interval(value, 0), low=low, high=high)
    return estimate.likely_percent() if is_likely else estimate.text_percent()
