"""The browser parts, for pages and for files that open without a server: markup, style and
script."""

from collections.abc import Sequence
from dataclasses import dataclass

from flipcore.core.paths import COMPONENTS


@dataclass(frozen=True)
class Part:
    """`js` is a module whose default export is handed {data, parentElement, setTriggerValue}."""

    html: str
    css: str
    js: str


BOARD = ("numbers.js", "curve.js")  # scripts that stand before that of a board


def part(name: str, shared: Sequence[str] = ()) -> Part:
    """The part of that name, as "flip_map": before its own script stand the `shared` ones, because
    no part can import them. A part may do without a style."""
    css = _text(f"{name}.css") if (COMPONENTS / f"{name}.css").is_file() else ""
    scripts = map(_text, (*shared, f"{name}.js"))
    return Part(_text(f"{name}.html"), css, "\n".join(scripts))


def _text(name: str) -> str:
    return (COMPONENTS / name).read_text(encoding="utf-8")


def script_of(js: str) -> str:
    """A part's module as an expression, for a file whose script is one block."""
    # A module of an HTML file that was opened from a folder may not be imported.
    body, exports = js.replace("export default ", "return "), js.count("export default ")
    if exports != 1 or "import " in js.split("export default ")[0]:
        raise ValueError(
            f"A browser part needs one default export and no import; this one has {exports}"
            " exports."
        )
    return f"(() => {{\n{body}\n}})()"
