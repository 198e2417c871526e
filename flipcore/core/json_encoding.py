"""JSON of many small values."""

import json
from collections.abc import Callable
from json import encoder
from typing import Any


def json_encoder(
    *, sort_keys: bool = False, separators: tuple[str, str] = (", ", ": ")
) -> Callable[[Any], str]:
    """Return `JSONEncoder.encode`, with other characters as they are and unknown values as text.

    The encoder in C, which `encode` makes anew at each call, is made once here: for the few values
    of an id that is half of the time. References to itself end in a RecursionError.
    """
    make = getattr(encoder, "c_make_encoder", None)
    if make is None:  # an interpreter without the one in C
        slow = json.JSONEncoder(
            sort_keys=sort_keys, ensure_ascii=False, separators=separators, default=str
        )
        return slow.encode
    between, behind_key = separators
    markers = indent = None
    skips_keys, allows_nan = False, True
    parts_of = make(
        markers,
        str,
        encoder.encode_basestring,
        indent,
        behind_key,
        between,
        sort_keys,
        skips_keys,
        allows_nan,
    )
    return lambda value: "".join(parts_of(value, 0))
