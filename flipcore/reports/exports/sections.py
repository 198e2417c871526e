"""Contents of each part of a report, for its template, and its interactive boards."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flipcore.charts.theme import n_text
from flipcore.claims.claim import Claim
from flipcore.claims.holdout import outcome_claim
from flipcore.core.errors import FlipscopeError
from flipcore.core.locks import MANIFEST, STATE
from flipcore.extractors import title_of
from flipcore.reports import ranking
from flipcore.reports.browser_data import every_choice, levels, margins
from flipcore.reports.browser_data import ranking as ranking_board
from flipcore.reports.browser_data import score as score_board
from flipcore.reports.browser_data.cutoffs import SETS
from flipcore.reports.choices import ChoicesReport
from flipcore.reports.exports.data_tables import File, Table
from flipcore.reports.exports.figures import Drawing, flip_bars, interval_rows
from flipcore.reports.exports.memory_lines import line_of
from flipcore.reports.exports.result_tables import (
    flips_source,
    flips_table,
    memory_table,
    moment,
    people_tables,
)
from flipcore.reports.holdout import HoldoutReport
from flipcore.reports.locks import claim_of
from flipcore.reports.memory import MemoryTest
from flipcore.reports.read_by_people import cell_name, leading
from flipcore.reports.score import LEVEL
from flipcore.reports.whole_study import WholeStudy
from flipcore.stats.flips.coded_answers import coded_answers
from flipcore.stats.holdout.difficulty import Condition
from flipcore.stats.holdout.units import TITLES
from flipcore.stats.holdout.verdict import TESTS
from flipcore.stats.memory.drop_gap_analysis import DropGap
from flipcore.store.queries import locks
from flipcore.text.counts import count_of, with_capital

# Ids of the elements that hold boards.
RANKING, SCORES, MARGINS, CHOICES = "ranking", "scores", "margins", "choices"
Boards = dict[str, Any]  # id of the element -> board


def boards(results: WholeStudy) -> Boards:
    """Return the boards that cover all models: those of scores, of the ranking, and of the margins
    of the holdout's tests."""
    boards_by_id: Boards = {}
    if results.score:
        boards_by_id[SCORES] = {"data": score_board.board(results.score, LEVEL).data()}
    if results.ranking:
        board = ranking_board.board(results.ranking, ranking.LEVEL)
        boards_by_id[RANKING] = {"data": board.data()}
    if report := results.holdout:
        tests = list(report.tests.values())
        board = margins.board(tests, report.view, report.about, report.missing)
        boards_by_id[MARGINS] = {"data": board.data()}
    return boards_by_id


def choices_board(report: ChoicesReport) -> Boards:
    """Return the board of every choice, without the parts that need a server. It offers no
    uncertain options, because only a server could count them, and a click on a mark opens
    nothing."""
    board = every_choice.board(report, report.curve, every_choice.start_of(report.offered)).data()
    for picture in board["rows"][0]["pictures"]:
        picture |= {"offered": [], "idle": "Point at a mark to see its settings."}
    return {CHOICES: {"data": board}}


@dataclass(frozen=True)
class ModelFlips:
    """The flips of one model: a bar per cell, tables and claims. `board` is the board's id."""

    model: str
    board: str
    notes: Sequence[str]
    bars: Drawing
    bars_caption: str
    table: Table
    by_people: str
    people_tables: Sequence[Table]
    claims: Sequence[Claim]


def flips(results: WholeStudy) -> tuple[list[ModelFlips], Boards]:
    """Return the flips and boards of each model with answers that could flip."""
    shown, boards_by_id = [], {}
    for m, model in enumerate(results.models):
        cells = results.flips[model].cells
        if not cells:
            continue
        shown.append(_flips_of_model(results, m, model))
        data = levels.board(
            coded_answers(results.flip_readouts_of(model)),
            title_of,
            closed_gates=results.closed_gates,
            temperature=results.temperature(model),
        )
        # A click on a row of the board opens the outputs behind its cell.
        behind = {}
        for i, cell in enumerate(cells):
            behind[f"{cell.axis}|{cell.extractor}"] = f"outputs-{m}-{i}"
        boards_by_id[f"board-{m}"] = {"data": data, "behind": behind}
    return shown, boards_by_id


def _flips_of_model(results: WholeStudy, m: int, model: str) -> ModelFlips:
    cells = results.flips[model].cells
    n = n_text(cell.n_items for cell in cells if cell.n_items)
    by_people = ""
    if people := results.flips[model].people:
        first = leading(people)
        by_people = f"{first.sentence} {first.narrower}"
    return ModelFlips(
        model,
        board=f"board-{m}",
        notes=results.flips[model].notes,
        bars=flip_bars(cells, [cell_name(cell) for cell in cells]),
        bars_caption="Share of pairs of variants that flip, with the interval of T. Reference:"
        f" {title_of(cells[0].reference).lower()}. {n} items. {flips_source(results, model)}.",
        table=flips_table(results, m, model),
        by_people=by_people,
        people_tables=people_tables(results, m, model),
        claims=results.flips[model].named_claims(),
    )


@dataclass(frozen=True)
class Detected:
    """One test of memory. `line` is the id of the board with its line of scores; "" without one,
    and then `why_no_line` says why the board could not be made. `accuracies` are the figure of the
    accuracies of a drop gap."""

    title: str
    claims: Sequence[Claim]
    details: str
    line: str = ""
    why_no_line: str = ""
    accuracies: Drawing | None = None


@dataclass(frozen=True)
class ModelMemory:
    """The tests of memory of one model, with the claim on all of them."""

    model: str
    claim: Claim
    table: Table
    tests: Sequence[Detected]
    accuracies_title: str
    source: str


def memory(results: WholeStudy) -> tuple[list[ModelMemory], Boards]:
    """Return the tests and boards of each model that has tests of memory."""
    shown: list[ModelMemory] = []
    boards_by_id: Boards = {}
    for m, model in enumerate(results.models):
        claim = results.memory.summaries.get(model)
        if claim is None:
            continue
        tests = []
        for t, test in enumerate(results.memory.tests[model]):
            detected, test_boards = _detected(results, model, test, f"line-{m}-{t}")
            tests.append(detected)
            boards_by_id |= test_boards
        table, source = memory_table(results, m, model), f"{results.provenance}; {model}"
        shown.append(
            ModelMemory(
                model, claim, table=table, tests=tests, accuracies_title=ACCURACIES, source=source
            )
        )
    return shown, boards_by_id


ACCURACIES = "Accuracy, original and rewritten"


def _detected(
    results: WholeStudy, model: str, test: MemoryTest, ident: str
) -> tuple[Detected, Boards]:
    """Return a test with its board, whose id is `ident`; without the board where none is drawn."""
    claims = (test.claim, *test.further)
    details = " ".join(claim.detail for claim in claims if claim.detail)
    title = f"{test.items.capitalize()}, {test.detector}"
    try:
        line, gap = line_of(results, model, test)
    except FlipscopeError as error:
        return Detected(title, claims, details, why_no_line=str(error)), {}
    if line is None:
        return Detected(title, claims, details), {}
    accuracies = _accuracies(gap) if gap else None
    board = {ident: {"data": line.data()}}
    return Detected(title, claims, details, ident, accuracies=accuracies), board


def _accuracies(gap: DropGap) -> Drawing:
    rows = []
    for name, drop in zip(SETS, (gap.benchmark, gap.control), strict=True):
        accuracies = {"original": drop.accuracy_before, "rewritten": drop.accuracy_after}
        for when, accuracy in accuracies.items():
            rows.append((f"{name}, {when} (n = {accuracy.n:,})", accuracy, accuracy.text()))
    return interval_rows(rows, ACCURACIES, "%")


def sentences_of_tests(report: HoldoutReport) -> list[tuple[str, str]]:
    """Return (sentence, small print) of each of the four tests; "" for tests that were not run."""
    sentences = []
    for name in TESTS:
        if name in report.tests:
            about = report.about[name].rstrip(".")
            small_print = f"{with_capital(about)}."
            sentences.append((outcome_claim(report.tests[name]).text, small_print))
        else:
            sentences.append(("", f"{TITLES[name]}. {report.missing[name]}"))
    return sentences


def inflation(selection: Sequence[Condition]) -> tuple[Drawing, str]:
    """Return the drawing of each model's inflation, and words on its extractor and layout."""
    rows = []
    for condition in selection:
        difference = condition.inflation()
        rows.append((condition.model, difference, difference.text_points()))
    read = f"read by {title_of(selection[0].extractor).lower()}, {selection[0].layout}"
    return interval_rows(rows, "Inflation of each model", " points"), read


def notes_on_items(results: WholeStudy) -> list[str]:
    """Return notes on items that are set aside and on those that a lock holds."""
    notes = []
    if n := locks.n_set_aside(results.store, results.study_id):
        notes.append(
            f"{count_of(n, 'item was', 'items were')} set aside for confirmation and not counted"
            " here without a lock."
        )
    if hidden := locks.hidden_sentence(results.store, results.study_id):
        notes.append(hidden)
    return notes


@dataclass(frozen=True)
class LockShown:
    """A lock: its claim, who stored it, what it fixed, and its manifest."""

    title: str
    by_whom: str
    fixed: str
    manifest: File


def locks_of(results: WholeStudy) -> list[LockShown]:
    """Return each lock of the study."""
    shown, all_locks = [], locks.locks(results.store, results.study_id)
    for lock in all_locks:
        claim, lock_id = claim_of(results.store, lock, all_locks), lock["lock_id"]
        # The stored state of the data serves `verify` and would not help a reader.
        fixed = {key: value for key, value in lock["settings"].items() if key != STATE}
        stored = {name: lock[name] for name in MANIFEST}
        manifest = json.dumps(stored, indent=1, sort_keys=True, ensure_ascii=False)
        by_whom = f"Stored by {lock['reviewer']} on {moment(lock['created_at'])}, {lock_id}."
        shown.append(
            LockShown(
                f"{claim.text} {claim.detail}",
                by_whom,
                json.dumps(fixed, indent=2, sort_keys=True, ensure_ascii=False),
                File("Save its manifest", f"lock-{lock_id}.json", manifest, "application/json"),
            )
        )
    return shown
