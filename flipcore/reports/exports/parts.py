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
from flipcore.detectors import Detector, analysis_of, detectors, item_scores, measure_of
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
            # A click on a row of the board opens the outputs behind its cell.
            behind = {}
            for i, cell in enumerate(cells):
                behind[f"{cell.axis}|{cell.extractor}"] = f"outputs-{m}-{i}"
            boards[f"board-{m}"] = {"part": "threshold_board", "data": arrays, "behind": behind}
    return (section("Does the answer flip?", "flips", *parts), boards) if parts else (None, {})


def _flips_of_model(c: WholeStudy, m: int, model: str, cells: list[Decomposition]) -> list[Markup]:
    claims = c.report.named_claims(model)
    n = n_text(cell.n_items for cell in cells if cell.n_items)
    bars = figure(
        flip_bars(cells, [cell_place(cell) for cell in cells]),
        "Share of pairs of variants that flip, with the interval of T. Reference:"
        f" {title_of(cells[0].reference).lower()}. {n} items. {_source(c, model, cells)}.",
    )
    notes = [paragraph(note, cls="quiet") for note in c.report.notes.get(model, ())]
    by_people = []
    if people := c.report.people.get(model, []):
        first = leading(people)
        by_people.append(paragraph(f"{first.sentence} {first.narrower}"))
    title = f"Every claim as a sentence, at 95% ({len(claims):,})"
    return [
        tag("h3", model),
        *notes,
        board_place("threshold_board", f"board-{m}"),
        paragraph(MOVED_LEVEL, cls="quiet screen-only"),
        legend(*BARS),
        bars,
        data_table(flips_table(c, m, model)),
        *by_people,
        *map(data_table, people_tables(c, m, model)),
        folded(title, *map(claimed, claims)),
    ]


def _source(c: WholeStudy, model: str, cells: list[Decomposition]) -> str:
    kinds, seeds = set(), set()
    for cell in cells:
        if cell.T.has_interval:
            kinds.add(cell.T.method.replace("_", " "))
        if cell.T.seed is not None:
            seeds.add(cell.T.seed)
    seed = ", ".join(map(str, sorted(seeds))) or "none"
    return f"{c.provenance}; {model}; 95% intervals ({', '.join(sorted(kinds))}), seed {seed}"


def flips_table(c: WholeStudy, m: int, model: str) -> Table:
    """One row per cell: its estimates with intervals, and its verdict."""
    cells, claims = c.report.decompositions[model], c.report.claims[model]
    records = table(cells, c.temperature(model)).to_dict("records")
    rows = []
    for record, claim in zip(records, claims, strict=True):
        row = {str(name): value for name, value in record.items()}
        rows.append(row | {"verdict": claim.word})
    caption = f"Flip rates by axis and extractor. {_source(c, model, cells)}."
    return Table(f"flips-{m}", f"Flips, {model}", rows, caption)


def people_tables(c: WholeStudy, m: int, model: str) -> list[Table]:
    """One row per cell with people's labels of pairs in it; nothing without labels."""
    rows = [people.table_row() for people in c.report.people.get(model, ())]
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
            for t, test in enumerate(tests):
                drawing, lines = _test(c, model, test, f"line-{m}-{t}")
                parts += drawing
                boards |= lines
    return (section("Is the score memory?", "memory", *parts), boards) if parts else (None, {})


def opening_memory(c: WholeStudy, model: str) -> list[Markup]:
    """The summary of a model's detectors; nothing where no items are compared."""
    tests = c.report.memory.get(model, [])
    if not tests:
        return []
    line = summary(tests, frames.compared_sets(c.answers_of(model), c.study)).text
    return [paragraph(tag("b", f"{model}: "), line, cls="headline")]


def memory_table(c: WholeStudy, m: int, model: str) -> Table:
    """One row per detector and kind of items."""
    rows = [_memory_row(test) for test in c.report.memory[model]]
    title = "Detectors of memory"
    return Table(f"memory-{m}", f"{title}, {model}", rows, f"{title}. {c.provenance}; {model}.")


def _p_value(p: float) -> str:
    """A p-value for a column that has the "p" in its head."""
    return p_text(p).removeprefix("p ").removeprefix("= ")


def _memory_row(test: MemoryTest) -> dict[str, object]:
    assertion, numbers = test.claim.assertion, test.numbers
    # Detectors name their counts by what they count.
    n_items = numbers.get("n_benchmark", numbers.get("n"))
    n_controls = numbers.get("n_controls", numbers.get("n_non_members"))
    return {
        "items": test.items,
        "detector": test.detector,
        "verdict": test.decision,
        "n": n_items,
        "controls": numbers.get("n_control", n_controls),
        "p (Holm)": _p_value(numbers.get("p_adjusted", math.nan)),
        "error rate, one-sided": f"{100 * assertion.error_rate:g}%" if assertion else None,
    }


def _test(
    c: WholeStudy, model: str, test: MemoryTest, ident: str
) -> tuple[list[Markup], dict[str, Any]]:
    claims = (test.claim, *test.further)
    details = " ".join(claim.detail for claim in claims if claim.detail)
    words = [
        tag("h4", f"{test.items.capitalize()}, {test.detector}"),
        *(paragraph(claim.text, cls="claim") for claim in claims),
        paragraph(details, cls="quiet"),
    ]
    try:
        line, below = _line(c, model, test)
    except FlipscopeError as error:
        return [*words, paragraph(str(error), cls="quiet")], {}
    if line is None:
        return words, {}
    board = {ident: {"part": "cutoff_line", "data": line}}
    return [*words, board_place("cutoff_line", ident), below], board


def _detector_of(test: MemoryTest) -> Detector | None:
    """The detector that a test was made by; None where it could not measure, or is not here."""
    if test.measurement is None or test.measurement.problem:
        return None
    name = test.measurement.name
    return next((detector for detector in detectors() if detector.name == name), None)


def _frame_of(c: WholeStudy, model: str, test: MemoryTest) -> pd.DataFrame:
    """The answers to the items of a test."""
    frame = frames.compared_sets(c.answers_of(model), c.study)
    return frame[frame["kind"] == test.measurement.kind] if test.measurement else frame


def _line(c: WholeStudy, model: str, test: MemoryTest) -> tuple[dict | None, Markup]:
    """The line of a detector as its page draws it, and the figure below it."""
    detector = _detector_of(test)
    if detector is None:
        return None, NOTHING
    frame = _frame_of(c, model, test)
    members, settings = members_of(c.study, c.items, c.pairs), settings_of(detector, c.study, model)
    analysis = analysis_of(detector, frame, *frames.roles_of(frame), members, **settings)
    if analysis is None:
        return None, NOTHING
    line = detector_line(test, analysis, detector.unit)
    if isinstance(analysis, DropGap):
        return line, _accuracies(analysis, f"{c.provenance}; {model}")
    # What all cut-offs together show is said on the page, of a line that somebody moved.
    return line, NOTHING


def _accuracies(gap: DropGap, source: str) -> Markup:
    rows = []
    for name, drop in zip(SETS, (gap.benchmark, gap.control), strict=True):
        accuracies = {"original": drop.accuracy_before, "rewritten": drop.accuracy_after}
        for when, accuracy in accuracies.items():
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
        *map(data_table, ranking_tables(c)),
    ]
    data = ranking_board.board(report, ranking.LEVEL)
    boards = {RANKING: {"part": "ranking_board", "data": data}}
    return section("Which model is better?", RANKING, *parts), boards


def ranking_tables(c: WholeStudy) -> list[Table]:
    """One row per pair of models, and one per way of asking and reading."""
    report = c.ranking
    if report is None:
        return []
    source = f"{role_name(report.role)} items, {c.provenance}."
    pairs, ways = ranking.pair_rows(report.pairs), ranking.way_rows(report.contest)
    of_ways = f"Accuracy and rank under every way; {source}"
    return [
        Table("pairs", "Pairs of models", pairs, f"Every pair of models on the same {source}"),
        Table("ways", "Ways of asking and reading", ways, of_ways),
    ]


def score_part(c: WholeStudy) -> tuple[Markup | None, dict[str, Any]]:
    """(the part, its board); nothing where nothing was judged right or wrong."""
    report = c.score
    if report is None:
        return None, {}
    parts = [
        *map(claimed, report.claims),
        *(paragraph(note, cls="quiet") for note in report.notes),
        *map(paragraph, c.judges.sentences),
        board_place("score_board", SCORES),
        *map(data_table, score_tables(c)),
    ]
    boards = {SCORES: {"part": "score_board", "data": score_board.board(report, LEVEL)}}
    return section("How much of the score to trust?", SCORES, *parts), boards


def score_tables(c: WholeStudy) -> list[Table]:
    """The tables of each model: intervals, parts of the variance, next calls, wordings,
    extractors."""
    kinds = {
        "intervals": ("Score", score_rows),
        "shares": ("Whose the uncertainty is", share_rows),
        "next": ("What would narrow this", next_rows),
        "wordings": ("Each prompt", wording_rows),
        "readers": ("Each extractor", reader_rows),
        "people": ("Each extractor against people", people_rows),
    }
    if c.score is None:
        return []
    has_several = len(c.score.models) > 1
    tables = []
    for number, score in enumerate(c.score.models, start=1):
        source = f"{score.model}, read by {title_of(score.reader).lower()}; {c.provenance}."
        for kind, (title, rows_of) in kinds.items():
            rows = rows_of(score)
            # A single extractor has nothing beside it.
            if not rows or (kind == "readers" and len(rows) < 2):
                continue
            name = f"score-{kind}-{number}" if has_several else f"score-{kind}"
            shown_title = f"{title}: {score.model}" if has_several else title
            tables.append(Table(name, shown_title, rows, f"{title} of {source}"))
    if c.score.by_people.pairs:
        title, rows = "Pairs of models by people", c.score.by_people.table_rows()
        tables.append(Table("score-pairs-people", title, rows, f"{title}; {c.provenance}."))
    return tables


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
    """The sentence of a test and how it was made, or why it was not run."""
    if name not in report.tests:
        return paragraph(f"{TITLES[name]}. {report.missing[name]}", cls="quiet")
    about = report.about[name].rstrip(".")
    small = tag("span", f"{about[:1].upper()}{about[1:]}.", cls="quiet")
    return paragraph(outcome_claim(report.tests[name]).text, " ", small, cls="claim")


def tests_table(c: WholeStudy) -> Table:
    """One row per test, also of those that were not run."""
    rows = [_test_row(c.holdout, name) for name in TESTS] if c.holdout else []
    caption = f"Whether benchmark and holdout could have one source. {c.provenance}."
    return Table("tests", "Four tests of the two sets", rows, caption)


def _test_row(report: HoldoutReport, name: str) -> dict[str, object]:
    test = report.tests.get(name)
    return {
        "test": TITLES[name],
        "verdict": test.state if test else "not run",
        "estimate": estimate_text(test) if test else None,
        "held against the margin": bound_text(test) if test else None,
        "margin": margin_text(name, report.view[name]),
        "p": _p_value(test.p) if test else None,
        "could detect": detectable_text(test) if test else None,
        "source's rule": test.source_state if test else None,
        "n": test.estimate.n if test else None,
    }


def _inflation(c: WholeStudy) -> list[Markup]:
    """Accuracy on benchmark and holdout, read in the plainest way; nothing where no model answered
    both sets."""
    selection, claim = c.inflation.selection, c.inflation.claim
    if not selection:
        return []
    rows = []
    for condition in selection:
        inflation = condition.inflation()
        rows.append((condition.model, inflation, inflation.text_points()))
    read = f"read by {title_of(selection[0].extractor).lower()}, {selection[0].layout}"
    caption = (
        f"Accuracy on the benchmark less accuracy on the holdout, in points, {read}; 95% intervals."
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
    """One row per model and way of reading."""
    rows = [_inflation_row(condition) for condition in c.inflation.conditions]
    return Table(
        "inflation", "Inflation", rows, f"Accuracy on benchmark and holdout. {c.provenance}."
    )


def _inflation_row(condition: Condition) -> dict[str, object]:
    target, retro = condition.accuracies
    inflation = condition.inflation()
    return {
        "model": condition.model,
        "extractor": title_of(condition.extractor),
        "asked as": condition.layout,
        "benchmark": round(target, 3),
        "holdout": round(retro, 3),
        "inflation": inflation.text_points(),
        "p": _p_value(condition.test(1.0).p),
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
    """The outputs behind each row of the flips and each detector: `n_outputs` items, those that
    show most first."""
    if not n_outputs:
        return None
    parts: list[Markup] = []
    for m, model in enumerate(c.models):
        parts += _outputs_of_model(c, m, model, n_outputs)
    if not parts:
        return None
    items = "the item that shows it most"
    if n_outputs > 1:
        items = f"the {n_outputs:,} items that show it most"
    note = (
        f"Behind each claim: {items}. Differences are marked; in an answer, what was read is"
        " marked."
    )
    about = paragraph(note, cls="quiet")
    return section("The outputs behind the claims", "outputs", about, *parts)


def _outputs_of_model(c: WholeStudy, m: int, model: str, n_outputs: int) -> Iterator[Markup]:
    for i, cell in enumerate(c.report.decompositions[model]):
        pairs = []
        for item in _flip_items(c, model, cell)[:n_outputs]:
            pairs.append(_pair(c, model, item, cell.axis, cell.extractor))
        # The rows of the board link to these ids.
        yield folded(f"{model}: {cell_place(cell)}", *pairs, ident=f"outputs-{m}-{i}")
    for test in c.report.memory.get(model, ()):
        pairs = []
        for item, axis, extractor, score in _memory_items(c, model, test, n_outputs):
            pairs.append(_pair(c, model, item, axis, extractor, score))
        if pairs:
            yield folded(f"{model}: {test.items}, {test.detector}", *pairs)


def _flip_items(c: WholeStudy, model: str, cell: Decomposition) -> list[str]:
    """The items on which the two extractors differ most first, as on the page; of the reference
    those that flip most."""
    frame = c.flips_of(model)
    order = list(dict.fromkeys(frame["item_id"]))
    first, second = surface.aligned(
        surface.opened(frame, cell.axis, cell.extractor),
        surface.opened(frame, cell.axis, cell.reference),
        order,
    )
    by = "faithful" if cell.is_reference else "difference"
    return [first.items[i] for i in surface.order_of(first, second, by, first.items)]


def _memory_items(
    c: WholeStudy, model: str, test: MemoryTest, n_outputs: int
) -> Iterator[tuple[str, str, str, float]]:
    """(item, axis, extractor, score) of the items that a detector scores highest."""
    detector = _detector_of(test)
    if detector is None:
        return
    frame = _frame_of(c, model, test)
    item_roles, _ = frames.roles_of(frame)
    try:
        rows = item_scores(detector, frame, item_roles)
    except FlipscopeError:
        return
    # Ties are broken by the item's id, so that a study always gives the same bytes.
    rows = rows.sort_values(["d", "item_id"], ascending=[False, True], kind="stable")
    rows = rows.head(n_outputs)
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
    # The first variant that flips shows it best; without one any will do.
    key = next((name for name in pairs if flips(pairs[name])), next(iter(pairs)))
    (base, before), (variant, after) = pairs[key]
    right = f"Right answer: {answer_text(view.item, view.item.target)}."
    scored = "" if score is None else f" Score {number_text(score, 3)}."
    about = f" · {key.replace('_', ' ')} · {title_of(extractor)}. {right}{scored}"
    halves = (
        _side("Original", view, variant.prompt, base, before),
        _side(f"Variant: {key}", view, base.prompt, variant, after),
    )
    parts = [paragraph(tag("b", item), about, cls="item"), tag("div", *halves, cls="pair")]
    if reason := why_no_flip(view, pairs[key]):
        parts.append(paragraph(reason, cls="quiet"))
    return tag("div", *parts, cls="evidence")


def _side(
    title: str,
    view: Inspection,
    compared_prompt: str,
    variant: SeenVariant,
    samples: Sequence[SampleView],
) -> Markup:
    """A prompt with its differences from the compared one, and below it the outputs."""
    parts = [tag("h5", title)]
    if variant.system:
        parts.append(paragraph(f"System prompt: {_cut(variant.system)}", cls="quiet"))
    parts.append(tag("pre", _with_marks(compared_prompt, variant.prompt)))
    parts += [_sample(view, sample) for sample in samples[:MOST_SAMPLES]]
    if not samples:
        parts.append(paragraph("Nothing came back.", cls="quiet"))
    n_more = len(samples) - MOST_SAMPLES
    if n_more > 0:
        parts.append(paragraph(f"{n_more:,} more samples are not shown.", cls="quiet"))
    return tag("div", *parts, cls="side")


def _with_marks(compared: str, prompt: str) -> Markup:
    """The prompt with the words that the compared one lacks underlined."""
    short = _cut(prompt)
    # Where either is cut, every word behind the cut would be marked.
    if short != prompt or len(compared) > MOST_CHARS:
        return joined([short])
    runs = word_differences(compared, prompt) or [["same", prompt]]
    return joined(tag("ins", words) if kind == "new" else words for kind, words in runs)


def _sample(view: Inspection, sample: SampleView) -> Markup:
    # Any other state says by itself that nothing was read.
    read = _STATES.get(sample.status) or _reading(view, sample)
    right = "" if sample.is_correct is None else ", right" if sample.is_correct else ", wrong"
    words: list[Content] = [f"Sample {sample.sample + 1}: {read}{right}."]
    if sample.reason:
        words.append(f" {sample.reason}")
    if sample.error:
        words.append(f" The call failed: {_cut(sample.error)}")
    parts = [paragraph(*words, cls="read")]
    if sample.text:
        parts.append(tag("pre", _spanned(sample.text, sample.span), cls="answer"))
    return joined(parts)


def _reading(view: Inspection, sample: SampleView) -> str:
    if sample.answer is None and sample.value is not None:
        return f"measured {number_text(sample.value, 3)}"
    return f"read as “{answer_text(view.item, sample.answer)}”"


def _spanned(text: str, span: tuple[int, int] | None) -> Markup:
    # A span beyond the cut would mark characters that are not shown.
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
    # The machine that writes the report may be in another zone than its reader.
    return f"{pd.Timestamp(when).tz_convert('UTC'):%Y-%m-%d %H:%M} UTC"


def decisions_part(c: WholeStudy) -> Markup:
    """The decision record of the study, the newest first."""
    record = decisions.decisions(c.store, c.study_id)
    moves = decisions.n_moves(c.store, c.study_id)
    note = (
        f"{moves:,} {'move of a threshold was' if moves == 1 else 'moves of a threshold were'}"
        " logged on this study."
    )
    shown = paragraph("No decision has been written down yet.")
    if not record.empty:
        shown = data_table(decisions_table(c))
    return section("Decisions", "decisions", shown, paragraph(note, cls="quiet"))


def decisions_table(c: WholeStudy) -> Table:
    """One row per decision, the newest first."""
    rows = [_decision(row) for row in decisions.decisions(c.store, c.study_id).to_dict("records")]
    return Table("decisions", "Decisions", rows, f"Decision record. {c.provenance}.")


def _decision(row: Mapping[Any, Any]) -> dict[str, object]:
    before, settings = table_of(row["came_from"]), table_of(row["settings"])
    return {
        "when": moment(row["created_at"]),
        "who": row["reviewer"],
        "page": row["page"],
        "mode": row["mode"],
        "we decide": row["resolution"] or "",
        "decision": row["sentence"],
        "instead of": before.get("sentence", ""),
        "settings": ", ".join(f"{key} {value}" for key, value in sorted(settings.items())),
    }


def settings_part(c: WholeStudy) -> Markup:
    """The declaration, with what kept any of it from being claimed."""
    toml, file_name = c.study.to_toml(), f"{c.study_id}.toml"
    link = data_link("Save the declaration", file_name, toml, "text/plain;charset=utf-8")
    title = "The study as it was declared (TOML)"
    parts = [_gates(c), *_locks(c)]
    if c.plugins:
        parts.append(paragraph(f"Plug-ins of other packages: {c.plugins}."))
    parts.append(folded(title, tag("pre", toml), paragraph(link, cls="links")))
    return section("Settings, gates and locks", "settings", *parts)


def _gates(c: WholeStudy) -> Markup:
    if not c.closed_gates:
        return paragraph("No gate is closed.")
    rows = []
    for name, reason in sorted(c.closed_gates.items()):
        title = title_of(name).replace("_", " ")
        rows.append({"what": title, "why it is not claimed": reason})
    return data_table(Table("gates", "Gates", rows, f"Gates that are closed. {c.provenance}."))


def _locks(c: WholeStudy) -> list[Markup]:
    """The items set aside, and each lock with the word that may be said of it."""
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
    all_locks = locks.locks(c.store, c.study_id)
    for lock in all_locks:
        claim, lock_id = claim_of(c.store, lock, all_locks), lock["lock_id"]
        # The state of the data then is for `verify`, and says nothing to a person.
        fixed = {key: value for key, value in lock["settings"].items() if key != STATE}
        fixed_text = tag("pre", json.dumps(fixed, indent=2, sort_keys=True, ensure_ascii=False))
        stored = f"Stored by {lock['reviewer']} on {moment(lock['created_at'])}, {lock_id}."
        manifest = json.dumps(
            {name: lock[name] for name in MANIFEST}, indent=1, sort_keys=True, ensure_ascii=False
        )
        file_name = f"lock-{lock_id}.json"
        link = data_link("Save its manifest", file_name, manifest, "application/json")
        check = paragraph(link, ": flipscope verify FILE compares it with a database.", cls="links")
        title, by_whom = f"{claim.text} {claim.detail}", paragraph(stored, cls="quiet")
        parts.append(folded(title, by_whom, fixed_text, check))
    return parts
