"""The parts of the report, in its order: flips, memory, the scores and who is first, two sets, the
outputs behind them, and what all of it rests on."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from flipcore.charts.theme import n_text
from flipcore.claims.holdout import outcome_claim
from flipcore.core.errors import FlipscopeError
from flipcore.core.locks import MANIFEST, STATE
from flipcore.core.records import IDENTITY, role_name
from flipcore.detectors import analysis_of, detectors, item_scores, measure_of
from flipcore.extractors import title_of
from flipcore.reports import ranking
from flipcore.reports.browser_data import levels, margins
from flipcore.reports.browser_data import ranking as ranking_board
from flipcore.reports.browser_data import score as score_board
from flipcore.reports.browser_data.cutoffs import SETS, detector_line
from flipcore.reports.compared_pairs import flips, sides, why_no_flip
from flipcore.reports.decision_record import table_of
from flipcore.reports.exports.data_tables import Table, data_table
from flipcore.reports.exports.figures import figure, flip_bars, interval_rows, legend
from flipcore.reports.exports.markup import (
    Content,
    Markup,
    board_place,
    claimed,
    data_link,
    folded,
    joined,
    paragraph,
    section,
    tag,
)
from flipcore.reports.holdout import HoldoutReport
from flipcore.reports.locks import claim_of
from flipcore.reports.memory import MemoryTest, members_of, settings_of, summary
from flipcore.reports.read_by_people import leading
from flipcore.reports.score import (
    LEVEL,
    next_rows,
    people_rows,
    reader_rows,
    score_rows,
    share_rows,
    wording_rows,
)
from flipcore.reports.study import cell_place, table
from flipcore.reports.whole_study import WholeStudy
from flipcore.stats.base.estimate import number_text, p_text
from flipcore.stats.flips import surface
from flipcore.stats.flips.coded_answers import coded_answers
from flipcore.stats.flips.decomposition import Decomposition
from flipcore.stats.holdout.difficulty import Condition
from flipcore.stats.holdout.units import (
    TITLES,
    bound_text,
    detectable_text,
    estimate_text,
    margin_text,
)
from flipcore.stats.holdout.verdict import TESTS
from flipcore.stats.memory import frames
from flipcore.stats.memory.drop_gap_analysis import DropGap
from flipcore.store.queries import decisions, locks
from flipcore.store.queries.inspection import Inspection, SampleView, SeenVariant, inspection
from flipcore.text.answers import answer_text
from flipcore.text.counts import count_of
from flipcore.text.differences import word_differences

# The report's part on flips: what is claimed, a bar a cell, the table, and the threshold board that
# still moves.

BARS = (
    ("artifact", "compared extractor alone"),
    ("genuine", "both extractors"),
    ("reference", "reference extractor alone"),
    ("floor", "noise floor"),
)
MOVED_LEVEL = (
    "Move the level and the settings: sentences and intervals follow. Limits hold for settings that"
    " were fixed before looking, so what is read after moving is exploratory."
)


def flips_part(c: WholeStudy) -> tuple[Markup | None, dict[str, Any]]:
    """(the part, the boards by the id of their place); nothing where no answer could flip."""
    parts: list[Markup] = []
    boards: dict[str, Any] = {}
    for m, model in enumerate(c.models):
        cells = c.report.decompositions[model]
        if cells:
            parts += _flips_of_model(c, m, model, cells)
            arrays = levels.board(
                coded_answers(c.flips_of(model)),
                title_of,
                closed_gates=c.closed_gates,
                temperature=c.temperature(model),
            )
            ids = [f"outputs-{m}-{i}" for i in range(len(cells))]
            behind = {
                f"{one.axis}|{one.extractor}": ident for one, ident in zip(cells, ids, strict=True)
            }
            boards[f"board-{m}"] = {"part": "threshold_board", "data": arrays, "behind": behind}
    return (section("Does the answer flip?", "flips", *parts), boards) if parts else (None, {})


def _flips_of_model(c: WholeStudy, m: int, model: str, cells: list[Decomposition]) -> list[Markup]:
    claims = c.report.named_claims(model)
    people = c.report.people.get(model, [])
    first = [leading(people)] if people else []
    labels = [cell_place(one) for one in cells]
    source = _source(c, model, cells)
    n = n_text(one.n_items for one in cells if one.n_items)
    bars = figure(
        flip_bars(cells, labels),
        "Share of pairs of variants that flip, with the interval of T. Reference:"
        f" {title_of(cells[0].reference).lower()}. {n} items. {source}.",
    )
    sentences = map(claimed, claims)
    return [
        tag("h3", model),
        *(paragraph(note, cls="quiet") for note in c.report.notes.get(model, ())),
        board_place("threshold_board", f"board-{m}"),
        paragraph(MOVED_LEVEL, cls="quiet screen-only"),
        legend(*BARS),
        bars,
        data_table(flips_table(c, m, model)),
        *(paragraph(f"{one.sentence} {one.narrower}") for one in first),
        *(data_table(one) for one in people_tables(c, m, model)),
        folded(f"Every claim as a sentence, at 95% ({len(claims):,})", *sentences),
    ]


def _source(c: WholeStudy, model: str, cells: list[Decomposition]) -> str:
    kinds = sorted({one.T.method.replace("_", " ") for one in cells if one.T.has_interval})
    seeds = sorted({one.T.seed for one in cells if one.T.seed is not None})
    return (
        f"{c.provenance}; {model}; 95% intervals ({', '.join(kinds)}), seed"
        f" {', '.join(map(str, seeds)) or 'none'}"
    )


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
    caption = (
        f"Flips with the pairs in them that people labelled. {c.provenance}; {model}; 95%"
        " intervals."
    )
    return [Table(f"flips-people-{m}", f"Flips by people, {model}", rows, caption)] if rows else []


def opening_flips(c: WholeStudy, model: str) -> list[Markup]:
    """A model's headline and its small print."""
    headline = c.report.headlines[model]
    details = joined([claim.detail for claim in headline.claims if claim.detail], " ")
    small = [paragraph(details, cls="quiet")] if details.html else []
    return [paragraph(tag("b", f"{model}: "), headline.sentence, cls="headline"), *small]


# The report's part on memory: every detector's verdict as on its page, with the lines that still
# move.

NOTHING = Markup("")


def memory_part(c: WholeStudy) -> tuple[Markup | None, dict[str, Any]]:
    """(the part, its lines by the id of their place); nothing where no items are compared."""
    parts: list[Markup] = []
    boards: dict[str, Any] = {}
    for m, model in enumerate(c.models):
        tests = c.report.memory.get(model, [])
        if tests:
            claim = summary(tests, frames.compared_sets(c.answers_of(model), c.study))
            parts += [tag("h3", model), claimed(claim)]
            parts.append(data_table(memory_table(c, m, model)))
            for t, one in enumerate(tests):
                drawing, lines = _test(c, model, one, f"line-{m}-{t}")
                parts += drawing
                boards |= lines
    return (section("Is the score memory?", "memory", *parts), boards) if parts else (None, {})


def opening_memory(c: WholeStudy, model: str) -> list[Markup]:
    """What all detectors of a model say together; nothing where no items are compared."""
    tests = c.report.memory.get(model, [])
    if not tests:
        return []
    line = summary(tests, frames.compared_sets(c.answers_of(model), c.study)).text
    return [paragraph(tag("b", f"{model}: "), line, cls="headline")]


def memory_table(c: WholeStudy, m: int, model: str) -> Table:
    """A row a detector and kind of items."""
    rows = [_memory_row(one) for one in c.report.memory[model]]
    return Table(
        f"memory-{m}",
        f"Detectors of memory, {model}",
        rows,
        f"Detectors of memory. {c.provenance}; {model}.",
    )


def _memory_row(one: MemoryTest) -> dict[str, object]:
    assertion, n = one.claim.assertion, one.numbers
    n_items = n.get("n_benchmark", n.get("n"))
    return {
        "items": one.items,
        "detector": one.detector,
        "verdict": one.decision,
        "n": n_items,
        "controls": n.get("n_control", n.get("n_controls", n.get("n_non_members"))),
        "p (Holm)": p_text(n.get("p_adjusted", math.nan)).removeprefix("p ").removeprefix("= "),
        "error rate, one-sided": f"{100 * assertion.error_rate:g}%" if assertion else None,
    }


def _test(
    c: WholeStudy, model: str, one: MemoryTest, ident: str
) -> tuple[list[Markup], dict[str, Any]]:
    words = [
        tag("h4", f"{one.items.capitalize()}, {one.detector}"),
        *(paragraph(claim.text, cls="claim") for claim in (one.claim, *one.further)),
        paragraph(
            " ".join(filter(None, (claim.detail for claim in (one.claim, *one.further)))),
            cls="quiet",
        ),
    ]
    try:
        line, below = _line(c, model, one)
    except FlipscopeError as error:
        return [*words, paragraph(str(error), cls="quiet")], {}
    if line is None:
        return words, {}
    return [*words, board_place("cutoff_line", ident), below], {
        ident: {"part": "cutoff_line", "data": line}
    }


def _line(c: WholeStudy, model: str, one: MemoryTest) -> tuple[dict | None, Markup]:
    """The line of a detector as its page draws it, and what stands below it."""
    measurement = one.measurement
    detector = next(
        (one for one in detectors() if measurement and one.name == measurement.name), None
    )
    if measurement is None or detector is None or measurement.problem:
        return None, NOTHING
    frame = frames.compared_sets(c.answers_of(model), c.study)
    frame = frame[frame["kind"] == measurement.kind]
    members, settings = members_of(c.study, c.items, c.pairs), settings_of(detector, c.study, model)
    analysis = analysis_of(detector, frame, *frames.roles_of(frame), members, **settings)
    if analysis is None:
        return None, NOTHING
    line = detector_line(one, analysis, detector.unit)
    if isinstance(analysis, DropGap):
        return line, _accuracies(analysis, f"{c.provenance}; {model}")
    return line, NOTHING  # what all cut-offs together show is said of one that somebody moved


def _accuracies(gap: DropGap, source: str) -> Markup:
    rows = []
    for name, drop in zip(SETS, (gap.benchmark, gap.control), strict=True):
        for when, accuracy in (
            ("original", drop.accuracy_before),
            ("rewritten", drop.accuracy_after),
        ):
            rows.append((f"{name}, {when} (n = {accuracy.n:,})", accuracy, accuracy.text()))
    title = "Accuracy, original and rewritten"
    return figure(interval_rows(rows, title, "%"), f"{title}, with 95% intervals. {source}.")


# The report's parts on the scores and on several models: the sentence of each, the boards that
# still move, and the tables.

RANKING, SCORES = "ranking", "scores"


def ranking_part(c: WholeStudy) -> tuple[Markup | None, dict[str, Any]]:
    """(the part, its board); nothing for a single model."""
    report = c.ranking
    if report is None:
        return None, {}
    parts = [
        *map(claimed, report.claims),
        *(paragraph(note, cls="quiet") for note in report.notes),
        board_place("ranking_board", RANKING),
        *(data_table(one) for one in ranking_tables(c)),
    ]
    data = ranking_board.board(report, ranking.LEVEL)
    return section("Which model is better?", RANKING, *parts), {
        RANKING: {"part": "ranking_board", "data": data}
    }


def ranking_tables(c: WholeStudy) -> list[Table]:
    """A row a pair of models, and a row a way of asking and reading."""
    report = c.ranking
    if report is None:
        return []
    of = f"{role_name(report.role)} items, {c.provenance}."
    pairs, ways = ranking.pair_rows(report.pairs), ranking.way_rows(report.contest)
    return [
        Table("pairs", "Pairs of models", pairs, f"Every pair of models on the same {of}"),
        Table(
            "ways", "Ways of asking and reading", ways, f"Accuracy and rank under every way; {of}"
        ),
    ]


def score_part(c: WholeStudy) -> tuple[Markup | None, dict[str, Any]]:
    """(the part, its board); nothing where nothing was judged right or wrong."""
    report = c.score
    if report is None:
        return None, {}
    parts = [
        *map(claimed, report.claims),
        *(paragraph(note, cls="quiet") for note in report.notes),
        *(paragraph(one) for one in c.judges.sentences),
        board_place("score_board", SCORES),
        *(data_table(one) for one in score_tables(c)),
    ]
    return section("How much of the score to trust?", SCORES, *parts), {
        SCORES: {"part": "score_board", "data": score_board.board(report, LEVEL)}
    }


def score_tables(c: WholeStudy) -> list[Table]:
    """Of each model its intervals, whose the variance is, what the next call buys, its wordings and
    readers."""
    kinds = {
        "intervals": ("Score", score_rows),
        "shares": ("Whose the uncertainty is", share_rows),
        "next": ("What would narrow this", next_rows),
        "wordings": ("Each prompt", wording_rows),
        "readers": ("Each extractor", reader_rows),
        "people": ("Each extractor against people", people_rows),
    }
    several = c.score is not None and len(c.score.models) > 1
    out = []
    for number, one in enumerate(c.score.models if c.score else (), start=1):
        for kind, (title, rows_of) in kinds.items():
            if (rows := rows_of(one)) and not (kind == "readers" and len(rows) < 2):
                name = f"score-{kind}-{number}" if several else f"score-{kind}"
                of = f"{one.model}, read by {title_of(one.reader).lower()}; {c.provenance}."
                out.append(
                    Table(
                        name,
                        f"{title}: {one.model}" if several else title,
                        rows,
                        f"{title} of {of}",
                    )
                )
    if c.score and c.score.by_people.pairs:
        title = "Pairs of models by people"
        out.append(
            Table(
                "score-pairs-people",
                title,
                c.score.by_people.table_rows(),
                f"{title}; {c.provenance}.",
            )
        )
    return out


# The report's part on two sets: the four tests with margins that still move, and the inflation of
# every model.

MARGINS = "margins"
MOVED_MARGIN = (
    "Move a margin: its sentence and the verdict follow. Margins are for setting before looking, so"
    " what is read after moving is exploratory."
)


def holdout_part(c: WholeStudy) -> tuple[Markup | None, dict[str, Any]]:
    """(the part, its board); nothing for a study without both sets."""
    tests, boards = _four_tests(c)
    parts = [*tests, *_inflation(c)]
    return (section("Is the holdout fair?", "holdout", *parts), boards) if parts else (None, {})


def _four_tests(c: WholeStudy) -> tuple[list[Markup], dict[str, Any]]:
    report = c.holdout
    if report is None:
        return [], {}
    data = margins.board(list(report.tests.values()), report.view, report.about, report.missing)
    words = [
        claimed(report.claim),
        *(_sentence_of(report, name) for name in TESTS),
        board_place("margin_board", MARGINS),
        paragraph(MOVED_MARGIN, cls="quiet screen-only"),
        data_table(tests_table(c)),
    ]
    return words, {MARGINS: {"part": "margin_board", "data": data}}


def _sentence_of(report: HoldoutReport, name: str) -> Markup:
    """What a test says and how it was made, or why it was not run."""
    if name not in report.tests:
        return paragraph(f"{TITLES[name]}. {report.missing[name]}", cls="quiet")
    about = report.about[name].rstrip(".")
    small = tag("span", f"{about[:1].upper()}{about[1:]}.", cls="quiet")
    return paragraph(outcome_claim(report.tests[name]).text, " ", small, cls="claim")


def tests_table(c: WholeStudy) -> Table:
    """A row a test, also of those that were not run."""
    rows = [_test_row(c.holdout, name) for name in TESTS] if c.holdout else []
    return Table(
        "tests",
        "Four tests of the two sets",
        rows,
        f"Whether target and retro could have one source. {c.provenance}.",
    )


def _test_row(report: HoldoutReport, name: str) -> dict[str, object]:
    one = report.tests.get(name)
    return {
        "test": TITLES[name],
        "verdict": one.state if one else "not run",
        "estimate": estimate_text(one) if one else None,
        "held against the margin": bound_text(one) if one else None,
        "margin": margin_text(name, report.view[name]),
        "p": p_text(one.p).removeprefix("p ").removeprefix("= ") if one else None,
        "could detect": detectable_text(one) if one else None,
        "source's rule": one.source_state if one else None,
        "n": one.estimate.n if one else None,
    }


def _inflation(c: WholeStudy) -> list[Markup]:
    """Accuracy on target and retro, read in the plainest way; nothing where no model answered both
    sets."""
    mine, claim = c.inflation.selection, c.inflation.claim
    if not mine:
        return []
    rows = [(one.model, one.inflation(), one.inflation().text_points()) for one in mine]
    read = f"read by {title_of(mine[0].extractor).lower()}, {mine[0].layout}"
    caption = (
        f"Accuracy on target less accuracy on retro, percentage points, {read}; 95% intervals."
        f" {c.provenance}."
    )
    return [
        tag("h3", "Inflation"),
        claimed(claim),
        paragraph(
            "A difference is contamination only as far as the two sets could have come from one"
            " source.",
            cls="quiet",
        ),
        figure(interval_rows(rows, "Inflation of each model", " points"), caption),
        data_table(inflation_table(c)),
    ]


def inflation_table(c: WholeStudy) -> Table:
    """A row a model and way of reading."""
    rows = [_inflation_row(one) for one in c.inflation.conditions]
    return Table("inflation", "Inflation", rows, f"Accuracy on target and retro. {c.provenance}.")


def _inflation_row(one: Condition) -> dict[str, object]:
    target, retro = one.accuracies
    inflation = one.inflation()
    return {
        "model": one.model,
        "extractor": title_of(one.extractor),
        "asked as": one.layout,
        "target": round(target, 3),
        "retro": round(retro, 3),
        "inflation": inflation.text_points(),
        "p": p_text(one.test(1.0).p).removeprefix("p ").removeprefix("= "),
        "interval": inflation.method.replace("_", " "),
        "n": inflation.n,
    }


# The raw outputs behind each claim: for a chosen number of items the two prompts, the two answers
# and what was read.

MOST_CHARS = 6_000  # of one prompt or one answer
MOST_SAMPLES = 3
_STATES = {
    "unreadable": "no answer could be read",
    "cut": "cut off: wrong for accuracy, and never counted as a flip",
    "absent": "absent: missing, and never counted as a flip",
}


def outputs_part(c: WholeStudy, n_outputs: int) -> Markup | None:
    """Behind each row of the flips and each detector, `n_outputs` items: those first on which it
    shows most."""
    if not n_outputs:
        return None
    parts: list[Markup] = []
    for m, model in enumerate(c.models):
        parts += _outputs_of_model(c, m, model, n_outputs)
    items = (
        "the item that shows it most"
        if n_outputs == 1
        else f"the {n_outputs:,} items that show it most"
    )
    note = (
        f"Behind each claim: {items}. Differences are marked; in an answer, what was read is"
        " marked."
    )
    return (
        section("The outputs behind the claims", "outputs", paragraph(note, cls="quiet"), *parts)
        if parts
        else None
    )


def _outputs_of_model(c: WholeStudy, m: int, model: str, n_outputs: int) -> Iterator[Markup]:
    for i, one in enumerate(c.report.decompositions[model]):
        pairs = [
            _pair(c, model, item, one.axis, one.extractor)
            for item in _flip_items(c, model, one)[:n_outputs]
        ]
        yield folded(f"{model}: {cell_place(one)}", *pairs, ident=f"outputs-{m}-{i}")
    for test in c.report.memory.get(model, ()):
        places = list(_memory_items(c, model, test, n_outputs))
        if places:
            pairs = [
                _pair(c, model, item, axis, extractor, score)
                for item, axis, extractor, score in places
            ]
            yield folded(f"{model}: {test.items}, {test.detector}", *pairs)


def _flip_items(c: WholeStudy, model: str, one: Decomposition) -> list[str]:
    """Those first on which the two extractors differ most, as on the page; of the reference those
    that flip most."""
    frame = c.flips_of(model)
    order = list(dict.fromkeys(frame["item_id"]))
    mine, reference = (
        surface.opened(frame, one.axis, name) for name in (one.extractor, one.reference)
    )
    first, second = surface.aligned(mine, reference, order)
    by = "faithful" if one.is_reference else "difference"
    return [first.items[i] for i in surface.order_of(first, second, by, first.items)]


def _memory_items(
    c: WholeStudy, model: str, test: MemoryTest, n_outputs: int
) -> Iterator[tuple[str, str, str, float]]:
    """(item, axis, extractor, score) of the items that a detector scores highest."""
    detector = next(
        (one for one in detectors() if test.measurement and one.name == test.measurement.name), None
    )
    if detector is None or test.measurement is None or test.measurement.problem:
        return
    frame = frames.compared_sets(c.answers_of(model), c.study)
    frame = frame[frame["kind"] == test.measurement.kind]
    try:
        rows = item_scores(detector, frame, frames.roles_of(frame)[0])
    except FlipscopeError:
        return
    rows = rows.sort_values(["d", "item_id"], ascending=[False, True], kind="stable").head(
        n_outputs
    )
    for item, score in zip(rows["item_id"], rows["d"], strict=True):
        yield item, detector.axis or IDENTITY, measure_of(detector, frame), float(score)


def _pair(
    c: WholeStudy, model: str, item: str, axis: str, extractor: str, score: float | None = None
) -> Markup:
    """The original beside the variant on which it shows."""
    view = inspection(c.store, c.study_id, model, item, axis)
    if view is None or not view.variants:
        return paragraph(f"{item}: it was not asked under this axis.", cls="quiet")
    pairs = sides(view, extractor)
    key = next((name for name in pairs if flips(pairs[name])), next(iter(pairs)))
    (base, before), (other, after) = pairs[key]
    right = f"Right answer: {answer_text(view.item, view.item.target)}."
    scored = "" if score is None else f" Score {number_text(score, 3)}."
    title = paragraph(
        tag("b", item),
        f" · {key.replace('_', ' ')} · {title_of(extractor)}. {right}{scored}",
        cls="item",
    )
    halves = (
        _side("Original", view, other, base, before),
        _side(f"Variant: {key}", view, base, other, after),
    )
    why = why_no_flip(view, pairs[key])
    return tag(
        "div",
        title,
        tag("div", *halves, cls="pair"),
        *([paragraph(why, cls="quiet")] if why else []),
        cls="evidence",
    )


def _side(
    title: str,
    view: Inspection,
    other: SeenVariant,
    variant: SeenVariant,
    samples: Sequence[SampleView],
) -> Markup:
    """A prompt against the other side's, and below it what came back."""
    system = (
        [paragraph(f"System prompt: {_cut(variant.system)}", cls="quiet")] if variant.system else []
    )
    more = len(samples) - MOST_SAMPLES
    rest = [paragraph(f"{more:,} more samples are not shown.", cls="quiet")] if more > 0 else []
    read = [_sample(view, one) for one in samples[:MOST_SAMPLES]] or [
        paragraph("Nothing came back.", cls="quiet")
    ]
    return tag(
        "div",
        tag("h5", title),
        *system,
        tag("pre", _with_marks(other.prompt, variant.prompt)),
        *read,
        *rest,
        cls="side",
    )


def _with_marks(other: str, prompt: str) -> Markup:
    """The prompt with the words that the other one lacks underlined."""
    short, runs = _cut(prompt), []
    if short == prompt and len(other) <= MOST_CHARS:
        runs = word_differences(other, prompt)
    return (
        joined(tag("ins", words) if kind == "new" else words for kind, words in runs)
        if runs
        else joined([short])
    )


def _sample(view: Inspection, one: SampleView) -> Markup:
    read = _STATES.get(one.status) or _reading(view, one)
    right = "" if one.is_correct is None else ", right" if one.is_correct else ", wrong"
    words: list[Content] = [f"Sample {one.sample + 1}: {read}{right}."]
    words += [f" {one.reason}"] if one.reason else []
    words += [f" The call failed: {_cut(one.error)}"] if one.error else []
    text = [tag("pre", _spanned(one.text, one.span), cls="answer")] if one.text else []
    return joined([paragraph(*words, cls="read"), *text])


def _reading(view: Inspection, one: SampleView) -> str:
    if one.answer is None and one.value is not None:
        return f"measured {number_text(one.value, 3)}"
    return f"read as “{answer_text(view.item, one.answer)}”"


def _spanned(text: str, span: tuple[int, int] | None) -> Markup:
    if span is None or not 0 <= span[0] <= span[1] <= min(len(text), MOST_CHARS):
        return joined([_cut(text)])
    start, end = span
    return joined([text[:start], tag("mark", text[start:end]), _cut(text[end:], MOST_CHARS - end)])


def _cut(text: str, most: int = MOST_CHARS) -> str:
    return text if len(text) <= most else f"{text[:most]} … ({len(text) - most:,} more characters)"


# What a result rests on: the declaration, the gates, what is set aside, the locks and the
# decisions.


def moment(when: Any) -> str:
    """A stored time in UTC, so that it is the same wherever the report is written."""
    return f"{pd.Timestamp(when).tz_convert('UTC'):%Y-%m-%d %H:%M} UTC"


def decisions_part(c: WholeStudy) -> Markup:
    """The decision record of the study, the newest first."""
    record = decisions.decisions(c.store, c.study_id)
    moves = decisions.n_moves(c.store, c.study_id)
    note = (
        f"{moves:,} {'move of a threshold was' if moves == 1 else 'moves of a threshold were'}"
        " logged on this study."
    )
    if record.empty:
        return section(
            "Decisions",
            "decisions",
            paragraph("No decision has been written down yet."),
            paragraph(note, cls="quiet"),
        )
    return section(
        "Decisions", "decisions", data_table(decisions_table(c)), paragraph(note, cls="quiet")
    )


def decisions_table(c: WholeStudy) -> Table:
    """A row a decision, the newest first."""
    rows = [_decision(row) for row in decisions.decisions(c.store, c.study_id).to_dict("records")]
    return Table("decisions", "Decisions", rows, f"Decision record. {c.provenance}.")


def _decision(row: Mapping[Any, Any]) -> dict[str, object]:
    before = table_of(row["came_from"])
    return {
        "when": moment(row["created_at"]),
        "who": row["reviewer"],
        "page": row["page"],
        "mode": row["mode"],
        "we decide": row["resolution"] or "",
        "decision": row["sentence"],
        "instead of": before.get("sentence", ""),
        "settings": ", ".join(
            f"{key} {value}" for key, value in sorted(table_of(row["settings"]).items())
        ),
    }


def settings_part(c: WholeStudy) -> Markup:
    """The declaration, with what kept any of it from being claimed."""
    toml = c.study.to_toml()
    saved = paragraph(
        data_link("Save the declaration", f"{c.study_id}.toml", toml, "text/plain;charset=utf-8"),
        cls="links",
    )
    declared = folded("The study as it was declared (TOML)", tag("pre", toml), saved)
    plugins = [paragraph(f"Plug-ins of other packages: {c.plugins}.")] if c.plugins else []
    return section(
        "Settings, gates and locks", "settings", *_gates(c), *_locks(c), *plugins, declared
    )


def _gates(c: WholeStudy) -> list[Markup]:
    if not c.closed_gates:
        return [paragraph("No gate is closed.")]
    rows = [
        {"what": title_of(name).replace("_", " "), "why it is not claimed": why}
        for name, why in sorted(c.closed_gates.items())
    ]
    return [data_table(Table("gates", "Gates", rows, f"Gates that are closed. {c.provenance}."))]


def _locks(c: WholeStudy) -> list[Markup]:
    """What is set aside, and each lock with the word that may be said of it."""
    parts = []
    if n := locks.n_set_aside(c.store, c.study_id):
        parts.append(
            paragraph(
                f"{count_of(n, 'item was', 'items were')} set aside for confirmation and not"
                " counted here without a lock."
            )
        )
    if hidden := locks.held_sentence(c.store, c.study_id):
        parts.append(paragraph(hidden))
    every = locks.locks(c.store, c.study_id)
    for one in every:
        claim = claim_of(c.store, one, every)
        fixed = {key: value for key, value in one["settings"].items() if key != STATE}
        fixed_text = tag("pre", json.dumps(fixed, indent=2, sort_keys=True, ensure_ascii=False))
        who = f"Stored by {one['reviewer']} on {moment(one['created_at'])}, {one['lock_id']}."
        manifest = json.dumps(
            {name: one[name] for name in MANIFEST}, indent=1, sort_keys=True, ensure_ascii=False
        )
        link = data_link(
            "Save its manifest", f"lock-{one['lock_id']}.json", manifest, "application/json"
        )
        check = paragraph(link, ": flipscope verify FILE compares it with a database.", cls="links")
        parts.append(
            folded(f"{claim.text} {claim.detail}", paragraph(who, cls="quiet"), fixed_text, check)
        )
    return parts
