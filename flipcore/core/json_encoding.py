"""Fast JSON of many small values."""

import json
from collections.abc import Callable
from json import encoder
from typing import Any

json_string = encoder.encode_basestring  # a text as JSON, like `json_encoder` with a text


def json_encoder(
    *, sort_keys: bool = False, separators: tuple[str, str] = (", ", ": ")
) -> Callable[[Any], str]:
    """Return a function like `JSONEncoder.encode`, which keeps non-ASCII characters.

    Unknown values are written as text. `encode` makes a new C encoder for each call, which is half
    of the time for the few values of an id; here it is made once. A value that contains itself
    raises RecursionError.
    """
    make = getattr(encoder, "c_make_encoder", None)
    if make is None:  # this interpreter has no encoder in C
        slow = json.JSONEncoder(
            sort_keys=sort_keys, ensure_ascii=False, separators=separators, default=str
        )
        return slow.encode
    between, after_key = separators
    markers = indent = None
    skips_keys, allows_nan = False, True
    parts_of = make(
        markers,
        str,
        encoder.encode_basestring,
        indent,
        after_key,
        between,
        sort_keys,
        skips_keys,
        allows_nan,
    )
    return lambda value: "".join(parts_of(value, 0))
