"""Markup, style and script of the browser parts, for pages and for files without a server."""

from collections.abc import Sequence
from dataclasses import dataclass

from flipcore.core.paths import COMPONENTS


@dataclass(frozen=True)
class Part:
    """A browser part; the default export of `js` takes {data, parentElement, setTriggerValue}."""

    html: str
    css: str
    js: str


BOARD = ("numbers.js", "curve.js")  # scripts that a board's own script needs before it


def part(name: str, shared: Sequence[str] = ()) -> Part:
    """Return the part of a name, such as "flip_map"; its style may be missing. `shared` scripts
    come before its own, because a part cannot import them."""
    css = _text(f"{name}.css") if (COMPONENTS / f"{name}.css").is_file() else ""
    scripts = map(_text, (*shared, f"{name}.js"))
    return Part(_text(f"{name}.html"), css, "\n".join(scripts))


def _text(name: str) -> str:
    return (COMPONENTS / name).read_text(encoding="utf-8")


def script_of(js: str) -> str:
    """Return a part's module as a JavaScript expression, for a file with a single script.

    Raises ValueError for a script that imports, or has not exactly one default export.
    """
    # An HTML file that was opened from a folder may not import modules.
    body, exports = js.replace("export default ", "return "), js.count("export default ")
    if exports != 1 or "import " in js.split("export default ")[0]:
        raise ValueError(
            f"A browser part needs one default export and no import; this one has {exports}"
            " exports."
        )
    return f"(() => {{\n{body}\n}})()"
