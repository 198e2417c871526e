"""The report as one HTML file: it opens from a folder, asks for nothing, and runs one script of its
own and no other."""

import base64
import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from flipcore.charts.theme import DARK, LIGHT, Colours
from flipcore.core.errors import BadInput
from flipcore.core.version import __version__
from flipcore.reports.badges import MEANINGS
from flipcore.reports.browser_data.parts import part, script_of
from flipcore.reports.declaration import items_text
from flipcore.reports.exports import parts
from flipcore.reports.exports.data_part import data_part
from flipcore.reports.exports.markup import Markup, claimed, joined, paragraph, section, tag
from flipcore.reports.exports.methods_text import methods_part
from flipcore.reports.whole_study import WholeStudy, whole_study
from flipcore.store.connection import Store

N_OUTPUTS, MOST_OUTPUTS = 2, 50
_HERE = Path(__file__).parent
_LONG = 200  # a string of a board that is longer and comes again is written once


def report(store: Store, study_id: str, n_outputs: int = N_OUTPUTS) -> str:
    """The report of a stored study with `n_outputs` pairs of raw outputs behind each claim. The
    same study gives the same bytes. Raises BadInput for a number of outputs out of range."""
    if not 0 <= n_outputs <= MOST_OUTPUTS:
        raise BadInput(
            f"The number of outputs behind a claim came as {n_outputs}: it is from 0 to"
            f" {MOST_OUTPUTS}."
        )
    c = whole_study(store, study_id)
    store.told("wrote a report", study_id)
    flips, boards = parts.flips_part(c)
    memory, lines = parts.memory_part(c)
    scores, bars = parts.score_part(c)
    ranking, order = parts.ranking_part(c)
    sets, margins = parts.holdout_part(c)
    # The answers come first, then what they rest on.
    sections = [
        scores,
        ranking,
        flips,
        memory,
        sets,
        parts.outputs_part(c, n_outputs),
        parts.decisions_part(c),
        parts.settings_part(c),
        methods_part(c),
        data_part(c),
    ]
    # The script looks the boards up by the ids of their places, which no two parts share.
    boards = boards | bars | lines | order | margins
    return _page(c, [part for part in sections if part is not None], boards)


def _page(c: WholeStudy, sections: Sequence[Markup], boards: dict[str, Any]) -> str:
    names = sorted({board["part"] for board in boards.values()})
    own_style = (_HERE / "report.css").read_text(encoding="utf-8")
    own_script = (_HERE / "report.js").read_text(encoding="utf-8")
    style = "\n".join([_palette(LIGHT, DARK), own_style, *(part(name).css for name in names)])
    scripts = ",\n".join(f"{name}: {script_of(part(name).js)}" for name in names)
    script = f'"use strict";\nconst PARTS = {{\n{scripts}\n}};\n{own_script}'
    # The hashes allow this one script and this one style: text from data can bring none.
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; img-src data:;"
        " base-uri 'none'; form-action 'none'"
    )
    head = joined(
        [
            Markup('<meta charset="utf-8">'),
            Markup(f'<meta http-equiv="Content-Security-Policy" content="{policy}">'),
            Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
            Markup('<meta name="referrer" content="no-referrer">'),
            tag("title", f"{c.study.name}: Flipscope report"),
            Markup(f"<style>{style}</style>"),
        ],
        "\n",
    )
    closing = f"{c.provenance}. This file asks for nothing from the network."
    end = tag("footer", paragraph(closing, cls="quiet"))
    body = tag("main", _opening(c), *sections, end)
    # A script of this type is data, which is never run.
    data = Markup(f'<script type="application/json" id="boards">{_payload(boards)}</script>')
    page = [head, Markup("</head>\n<body>"), body, data, Markup(f"<script>{script}</script>")]
    inner = joined(page, "\n").html
    return f'<!DOCTYPE html>\n<html lang="en">\n<head>\n{inner}\n</body>\n</html>\n'


def _opening(c: WholeStudy) -> Markup:
    badges = [tag("span", text, cls="badge", title=MEANINGS[badge]) for badge, text in c.badges]
    meanings = (tag("li", tag("b", text), f": {MEANINGS[badge]}") for badge, text in c.badges)
    n_items, when = items_text(c.store, c.row), "date unknown"
    if c.row["created_at"] is not None:
        when = f"declared {parts.moment(c.row['created_at'])}"
    about = (
        f"{', '.join(c.models) or 'no model'} · {n_items} · {when} · study {c.study_id} · Flipscope"
        f" {__version__}"
    )
    return tag(
        "header",
        tag("h1", c.study.name),
        paragraph(about, cls="quiet"),
        paragraph(*badges, cls="badges"),
        section("What it says", "says", *_says(c)),
        tag("ul", *meanings, cls="quiet meanings"),
    )


def _says(c: WholeStudy) -> list[Markup]:
    """The scores of the models whose wordings were measured, the first of the ranking, and the four
    tests together; of each model its detectors of memory, its flips, and its answers that were cut
    off."""
    first = []
    for claim in c.score.whole_claims if c.score else ():
        first.append(paragraph(claim.text, cls="headline"))
    if c.ranking:
        first.append(paragraph(c.ranking.claims[0].text, cls="headline"))
    if c.holdout:
        first.append(claimed(c.holdout.claim, cls="headline"))
    lines: list[Markup] = []
    for model in c.models:
        lines += [*parts.opening_memory(c, model), *parts.opening_flips(c, model)]
    if not lines:
        lines.append(paragraph("No answer has come back yet."))
    for truncation in c.cut:
        lines.append(paragraph(f"{truncation.model}, {truncation.sentence()}", cls="quiet"))
    return [*first, *lines]


def _palette(light: Colours, dark: Colours) -> str:
    """The colours as properties: light, dark where the reader's system is, light on paper."""

    def properties(c: Colours) -> str:
        return " ".join(
            f"--{name}: {value};" for name, value in asdict(c).items() if isinstance(value, str)
        )

    return (
        f":root {{ color-scheme: light; {properties(light)} }}\n@media screen and"
        f" (prefers-color-scheme: dark) {{ :root {{ color-scheme: dark; {properties(dark)} }} }}"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _payload(boards: dict[str, Any]) -> str:
    """The boards as JSON that ends no script; long strings that come again stand once in
    `strings`."""
    strings: dict[str, int] = {}
    plain = {ident: _plain(board, strings) for ident, board in boards.items()}
    payload = {
        "boards": plain,
        "strings": list(strings),
        "light": asdict(LIGHT),
        "dark": asdict(DARK),
    }
    text = json.dumps(payload, allow_nan=False, separators=(",", ":"))
    # "</script>" within a string would end the script that the JSON stands in.
    return text.replace("<", "\\u003c").replace(">", "\\u003e")


def _plain(value: Any, strings: dict[str, int]) -> Any:
    """Values that JSON has: what is not finite is None, a long string is its place among
    `strings`."""
    if isinstance(value, dict):
        return {str(key): _plain(part, strings) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part, strings) for part in value]
    if isinstance(value, str) and len(value) > _LONG:
        return {"$string": strings.setdefault(value, len(strings))}
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value.item() if hasattr(value, "item") else value
