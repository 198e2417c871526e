"""Rows as a table in CSV, Markdown and LaTeX, with the escapes of each format."""

import csv
import io
import math
from collections.abc import Mapping, Sequence

FORMATS = {"csv": "CSV", "md": "Markdown", "tex": "LaTeX"}
# a spreadsheet runs a cell that starts with one of these
FORMULA = ("=", "+", "-", "@", "\t", "\r")
_TEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "−": "$-$",
    "±": r"$\pm$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "∞": r"$\infty$",
    "–": "--",
    "“": "``",
    "”": "''",
    "…": r"\ldots{}",
    "α": r"$\alpha$",
    "κ": r"$\kappa$",
    "×": r"$\times$",
    "→": r"$\to$",
    "✓": r"$\checkmark$",
    "✗": r"$\times$",
}
_MARKDOWN = "\\`*_{}[]<>|#"
Row = Mapping[str, object]


def table_text(rows: Sequence[Row], format: str, caption: str = "") -> str:
    """Return the table in a format of `FORMATS`. All `rows` have the same names in the same order;
    None and NaN become an empty cell."""
    return {"csv": csv_text, "md": markdown_text, "tex": latex_text}[format](rows, caption)


def csv_text(rows: Sequence[Row], caption: str = "") -> str:
    """Return the table as CSV, without the caption. A text that a spreadsheet would run as a
    formula gets an apostrophe in front."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([_without_formula(name) for name in _columns(rows)])
    for row in rows:
        writer.writerow([_without_formula(_cell_text(value)) for value in row.values()])
    return out.getvalue()


def markdown_text(rows: Sequence[Row], caption: str = "") -> str:
    """Return the table in GitHub's Markdown, with the caption below it."""
    columns = _columns(rows)
    lines = [
        _markdown_row(columns),
        _markdown_row(
            ["---:" if _is_numeric(rows, name) else "---" for name in columns], escape=False
        ),
    ]
    lines += [_markdown_row(list(map(_cell_text, row.values()))) for row in rows]
    if caption:
        lines += ["", markdown(caption)]
    return "\n".join(lines) + "\n"


def latex_text(rows: Sequence[Row], caption: str = "") -> str:
    """Return the table as a LaTeX tabular with booktabs rules, in a table with the caption."""
    columns = _columns(rows)
    align = "".join("r" if _is_numeric(rows, name) else "l" for name in columns)
    body = [_latex_row(columns), r"\midrule"]
    body += [_latex_row(list(map(_cell_text, row.values()))) for row in rows]
    lines = ["% needs \\usepackage{booktabs}", r"\begin{table}", r"\centering"]
    if caption:
        lines.append(rf"\caption{{{latex(caption)}}}")
    lines += [rf"\begin{{tabular}}{{{align}}}", r"\toprule", *body, r"\bottomrule"]
    return "\n".join([*lines, r"\end{tabular}", r"\end{table}"]) + "\n"


def _latex_row(cells: Sequence[str]) -> str:
    row = " & ".join(map(latex, cells))
    # LaTeX would read a bracket or star at the start as an argument of the `\\` before it.
    return f"{'{}' if row.startswith(('[', '*')) else ''}{row} " + r"\\"


def latex(text: str) -> str:
    """Return text that LaTeX prints literally; signs outside its text fonts are in math mode."""
    return "".join(_TEX.get(letter, letter) for letter in " ".join(text.split()))


def _columns(rows: Sequence[Row]) -> list[str]:
    return [str(name) for name in rows[0]] if rows else []


def _cell_text(value: object) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return str(value)


def _without_formula(cell: str) -> str:
    """Return a cell that a spreadsheet does not run as a formula."""
    digits = cell
    for sign in ".-e+":
        digits = digits.replace(sign, "", 1)
    is_number = digits.isdigit()
    return "'" + cell if cell.startswith(FORMULA) and not is_number else cell


def _is_numeric(rows: Sequence[Row], name: str) -> bool:
    values = [row[name] for row in rows if _cell_text(row[name])]
    return bool(values) and all(
        isinstance(value, (int, float)) and not isinstance(value, bool) for value in values
    )


def _markdown_row(cells: Sequence[str], *, escape: bool = True) -> str:
    return "| " + " | ".join(markdown(cell) if escape else cell for cell in cells) + " |"


def markdown(text: str) -> str:
    """Return text on one line that Markdown prints literally."""
    line = " ".join(text.split())
    return "".join(f"\\{letter}" if letter in _MARKDOWN else letter for letter in line)
