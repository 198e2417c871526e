"""The report's part on flips: what is claimed, a bar a cell, the table, and the threshold board that still moves."""

from typing import Any

from flipcore.charts.theme import n_text
from flipcore.extractors import title_of
from flipcore.reports.browser_data.levels import board
from flipcore.reports.exports.data_tables import Table, data_table
from flipcore.reports.exports.figures import figure, flip_bars, legend
from flipcore.reports.exports.markup import Markup, board_place, claimed, folded, joined, paragraph, section, tag
from flipcore.reports.read_by_people import leading
from flipcore.reports.study import cell_place, table
from flipcore.reports.whole_study import WholeStudy
from flipcore.stats.flips.coded_answers import coded_answers
from flipcore.stats.flips.decomposition import Decomposition

BARS = (
    ("artifact", "compared extractor alone"),
    ("genuine", "both extractors"),
    ("reference", "reference extractor alone"),
    ("floor", "noise floor"),
)
MOVED = (
    "Move the level and the settings: sentences and intervals follow. Limits hold for settings that were fixed before looking, "
    "so what is read after moving is exploratory."
)


def flips_part(c: WholeStudy) -> tuple[Markup | None, dict[str, Any]]:
    """(the part, the boards by the id of their place); nothing where no answer could flip."""
    parts: list[Markup] = []
    boards: dict[str, Any] = {}
    for m, model in enumerate(c.models):
        cells = c.report.decompositions[model]
        if cells:
            parts += _of_model(c, m, model, cells)
            arrays = board(
                coded_answers(c.flips_of(model)), title_of, closed_gates=c.closed_gates, temperature=c.temperature(model)
            )
            ids = [f"outputs-{m}-{i}" for i in range(len(cells))]
            behind = {f"{one.axis}|{one.extractor}": ident for one, ident in zip(cells, ids, strict=True)}
            boards[f"board-{m}"] = {"part": "threshold_board", "data": arrays, "behind": behind}
    return (section("Does the answer flip?", "flips", *parts), boards) if parts else (None, {})


def _of_model(c: WholeStudy, m: int, model: str, cells: list[Decomposition]) -> list[Markup]:
    claims = c.report.named_claims(model)
    people = c.report.people.get(model, [])
    first = [leading(people)] if people else []
    labels = [cell_place(one) for one in cells]
    source = _source(c, model, cells)
    n = n_text(one.n_items for one in cells if one.n_items)
    bars = figure(
        flip_bars(cells, labels),
        f"Share of pairs of variants that flip, with the interval of T. Reference: {title_of(cells[0].reference).lower()}. "
        f"{n} items. {source}.",
    )
    sentences = map(claimed, claims)
    return [
        tag("h3", model),
        *(paragraph(note, cls="quiet") for note in c.report.notes.get(model, ())),
        board_place("threshold_board", f"board-{m}"),
        paragraph(MOVED, cls="quiet screen-only"),
        legend(*BARS),
        bars,
        data_table(flips_table(c, m, model)),
        *(paragraph(f"{one.sentence} {one.narrower}") for one in first),
        *(data_table(one) for one in people_tables(c, m, model)),
        folded(f"Every claim as a sentence, at 95 % ({len(claims):,})", *sentences),
    ]


def _source(c: WholeStudy, model: str, cells: list[Decomposition]) -> str:
    kinds = sorted({one.T.method.replace("_", " ") for one in cells if one.T.has_interval})
    seeds = sorted({one.T.seed for one in cells if one.T.seed is not None})
    return f"{c.provenance}; {model}; 95 % intervals ({', '.join(kinds)}), seed {', '.join(map(str, seeds)) or 'none'}"


def flips_table(c: WholeStudy, m: int, model: str) -> Table:
    """A row a cell: its estimates with intervals, and its verdict."""
    cells, claims = c.report.decompositions[model], c.report.claims[model]
    records = table(cells, c.temperature(model)).to_dict("records")
    rows = [
        {str(name): value for name, value in row.items()} | {"verdict": claim.word}
        for row, claim in zip(records, claims, strict=True)
    ]
    caption = f"Flip rates by axis and extractor. {_source(c, model, cells)}."
    return Table(f"flips-{m}", f"Flips, {model}", rows, caption)


def people_tables(c: WholeStudy, m: int, model: str) -> list[Table]:
    """A row a cell with people's labels of pairs in it; nothing without labels."""
    rows = [one.table_row() for one in c.report.people.get(model, ())]
    caption = f"Flips with the pairs in them that people labelled. {c.provenance}; {model}; 95 % intervals."
    return [Table(f"flips-people-{m}", f"Flips by people, {model}", rows, caption)] if rows else []


def opening_flips(c: WholeStudy, model: str) -> list[Markup]:
    """A model's headline and its small print."""
    headline = c.report.headlines[model]
    details = joined([claim.detail for claim in headline.claims if claim.detail], " ")
    small = [paragraph(details, cls="quiet")] if details.html else []
    return [paragraph(tag("b", f"{model}: "), headline.sentence, cls="headline"), *small]
