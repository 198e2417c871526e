"""The claims table: every assertion has its worlds, the rule of acceptance is the one that is stated, the table is whole."""

import ast
import multiprocessing
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from time import monotonic
from types import ModuleType

import numpy as np
import pytest

from flipcore.claims.catalogue import ASSERTIONS, BY_NAME
from flipcore.claims.claim import Assertion, Claim
from flipcore.claims.memory_gap import GAP_WITHIN
from flipcore.runs.cluster import ray_cluster
from flipcore.stats.base.gate_rules import ParaphraseGate
from flipcore.stats.memory.gap_decision import OTHER, PAIRED, RANDOM
from tests.claims.sentences import check_made
from tests.conftest import ROOT
from tests.lab.claims import MODULES, all_cells, cells_of, results
from tests.lab.claims import __main__ as claims_main
from tests.lab.claims import gates as gate_cells
from tests.lab.claims.__main__ import run, sample
from tests.lab.claims.acceptance import Row, failures
from tests.lab.claims.cell import Cell, each
from tests.lab.claims.memory_gaps import promising, verdict
from tests.lab.claims.memory_worlds import WORLDS, studies
from tests.lab.claims.running import finished
from tests.lab.claims.traces import Trace, difference, recorded_claims, trace_cell

CELLS = [cell for part in all_cells().values() for cell in part]
COIN = Assertion("coin", "heads", 0.05, 1, "each claim", ("fair",))


def row(n_asserted: int, n_runs: int = 4_000, nominal: float = 0.05, name: str = "a", truth: str = "null") -> Row:
    return Row(name, "coin", "fair", "40", truth, n_asserted, n_runs, nominal, "abc")


@pytest.mark.parametrize("assertion", ASSERTIONS, ids=lambda one: one.name)
def test_every_assertion_is_simulated_in_each_world_that_it_names(assertion):
    null = {cell.world for cell in CELLS if cell.assertion == assertion and cell.truth == "null"}
    assert assertion.worlds and set(assertion.worlds) <= null


@pytest.mark.parametrize("assertion", ASSERTIONS, ids=lambda one: one.name)
def test_every_assertion_has_a_world_in_which_it_is_true(assertion):
    assert [cell for cell in CELLS if cell.assertion == assertion and cell.truth == "planted"]


def test_every_cell_belongs_to_an_assertion_of_the_catalogue_and_has_a_name_of_its_own():
    assert [cell.name for cell in CELLS if BY_NAME.get(cell.assertion.name) != cell.assertion] == []
    assert len({cell.name for cell in CELLS}) == len(CELLS)
    assert len(BY_NAME) == len(ASSERTIONS)


@pytest.mark.parametrize("module", MODULES)
def test_the_committed_table_holds_every_cell_or_names_it_as_not_run(module):
    rows = results.rows_on_disk(module, ROOT / results.FOLDER)
    n_runs = {cell.name: cell.n_runs for cell in all_cells()[module]}
    names = list(n_runs)
    assert list(rows) == [name for name in names if name in rows]
    assert {row.name: row.n_runs for row in rows.values() if row.n_runs < min(2_000, n_runs[row.name])} == {}
    page = (ROOT / results.TABLE).read_text(encoding="utf-8")
    not_run = page.partition("## Not run")[2].splitlines()
    assert {name for name in names if f"- {name}" in not_run} == set(names) - set(rows)


def test_every_assertion_was_simulated_in_a_world_where_it_is_false():
    rows = [row for module in MODULES for row in results.rows_on_disk(module, ROOT / results.FOLDER).values()]
    assert {one.name for one in ASSERTIONS} - {row.claim for row in rows if row.truth == "null"} == set()


def test_no_claim_of_the_committed_table_is_false_more_often_than_it_says():
    rows = [row for module in MODULES for row in results.rows_on_disk(module, ROOT / results.FOLDER).values()]
    assert failures(rows) == {}


@pytest.mark.slow
def test_a_random_twentieth_of_the_cells_passes_today_as_far_as_two_minutes_reach(monkeypatch):
    # a test of a page leaves its script as the main module, which a spawned process would run
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))
    seed = int(os.environ.get("CLAIMS_SEED") or np.random.SeedSequence().entropy % 1_000_000)
    drawn = sample(0.05, seed)
    places = [drawn[i] for i in np.random.default_rng(seed).permutation(len(drawn))]
    until, rows = monotonic() + 120, []
    # some cells take an hour: leaving the block ends what has not ended
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        done = pool.imap_unordered(partial(finished, seed=seed, runs=1_000), places)
        with suppress(StopIteration, multiprocessing.TimeoutError):
            while True:
                rows.append(done.next(timeout=max(0, until - monotonic())))
    print(f"CLAIMS_SEED={seed}: {len(rows)} of {len(places)} cells")
    if not rows:
        pytest.skip(f"no cell of CLAIMS_SEED={seed} ended in two minutes")
    assert failures(rows, slack=True) == {}, f"CLAIMS_SEED={seed}"


@pytest.mark.parametrize(("n_asserted", "fails"), [(200, False), (229, True), (261, True)])
def test_a_cell_fails_by_its_lower_bound_or_by_its_point(n_asserted, fails):
    assert bool(failures([row(n_asserted)])) is fails


def test_a_sample_holds_its_bound_over_all_null_cells_and_the_point_over_each():
    many = [row(229, name="a"), *(row(200, name=f"b{i}") for i in range(50))]
    assert failures(many, slack=True) == {}  # one of 51 at .057 is no sign of anything
    assert set(failures(many)) == {"a"}  # a row of the table is judged by itself
    assert set(failures([*many, row(265, name="c")], slack=True)) == {"c"}


def test_planted_cells_have_no_limit():
    assert failures([row(4_000, truth="planted")]) == {}


def test_a_sample_with_few_runs_is_forgiven_its_monte_carlo_error_and_no_more():
    assert failures([row(33, 500)]) and failures([row(33, 500)], slack=True) == {}
    assert failures([row(60, 500)], slack=True)


def test_only_claims_that_are_made_count():
    made = Claim(COIN, "heads", "Heads.", asserted=True)
    simulate = each(lambda rng: made if rng.random() < 0.5 else made.not_claimed("the gate is closed"))
    n_asserted, runs = simulate(np.random.default_rng(0), 1_000)
    assert runs == 1_000 and 450 < n_asserted < 550
    assert each(lambda rng: replace(made, asserted=False))(np.random.default_rng(0), 10) == (0, 10)


def test_rows_are_replaced_by_name_and_leave_with_their_cell(tmp_path):
    results.store("memory", [row(1, name="a"), row(2, name="b")], ["a", "b"], tmp_path)
    results.store("memory", [row(3, name="b"), row(4, name="c")], ["c", "b"], tmp_path)
    assert [(one.name, one.n_asserted) for one in results.rows_on_disk("memory", tmp_path).values()] == [("c", 4), ("b", 3)]


def test_the_page_tells_null_from_planted_and_says_what_fails():
    text = results.markdown({"memory": [row(400), row(3_000, name="b", truth="planted")]})
    assert "**no**: " in text and "power on planted truth" in text and "1 cells\n" in text


def traced(n_asserted: int = 3) -> Trace:
    return Trace(40, n_asserted, 40, "0" * 37 + "1" * 3, 12.5, 250.0)


def test_the_page_says_which_rows_decide_otherwise_than_when_they_were_simulated():
    rows = [replace(row(1, name="a"), trace=traced()), replace(row(1, name="b"), trace=traced()), row(1, name="c")]
    text = results.markdown({"memory": rows}, check=results.Check("abc123", 2, ("b",)))
    assert "2 of 3 rows keep what their first runs decided" in text
    assert "on abc123, ran 2 rows; 1 were stale (‡)." in text
    assert text.count("| abc |") == 2 and text.count("| abc ‡ |") == 1


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({}, ""),
        ({"total": 12.5 + 1e-12}, ""),  # another order of additions
        ({"total": 12.5 + 1e-7}, "the numbers sum to"),
        ({"weighted": 251.0}, "the numbers sum to"),
        ({"made": "1" * 40}, "claims"),
        ({"n_asserted": 4}, "asserted in 4 of 40 runs, 3 before"),
    ],
)
def test_a_trace_differs_by_a_decision_or_by_a_number(changes, what):
    said = difference(traced(), replace(traced(), **changes))
    assert what in said and bool(said) is bool(what)


def test_traces_come_back_from_disk_as_they_were_stored(tmp_path):
    stored = replace(row(1, name="a"), trace=traced())
    results.store("memory", [stored, row(2, name="b")], ["a", "b"], tmp_path)
    assert results.rows_on_disk("memory", tmp_path) == {"a": stored, "b": row(2, name="b")}
    results.store_check(results.Check("abc", 2, ("b",)), tmp_path / "rows")
    assert results.last_check(tmp_path / "rows") == results.Check("abc", 2, ("b",))


PLACE = ("gates", 0)  # a cheap cell, whose claim follows from a threshold


def check_one_row(monkeypatch, capsys, folder):
    """`--check` of one row, stored in another folder with today's first runs."""
    cell = cells_of(PLACE[0])[PLACE[1]]
    stored = replace(row(1, name=cell.name), claim=cell.assertion.name, trace=finished(PLACE, runs=1).trace)
    results.store(PLACE[0], [stored], [cell.name], folder)
    monkeypatch.setattr(results, "rows_on_disk", partial(results.rows_on_disk, folder=folder))
    return lambda: (
        claims_main.main(["--check", "--only", PLACE[0], "--cell", cell.name, "--processes", "1"]),
        capsys.readouterr().out,
    )


def test_a_reworded_sentence_leaves_a_row_valid(monkeypatch, capsys, tmp_path):
    check = check_one_row(monkeypatch, capsys, tmp_path)
    worded = gate_cells.paraphrases_claim
    monkeypatch.setattr(gate_cells, "paraphrases_claim", lambda gate: replace(worded(gate), sentence="Anew."))
    code, said = check()
    assert code == 0 and "1 rows checked" in said and "STALE" not in said


def test_another_threshold_makes_its_rows_stale_and_red(monkeypatch, capsys, tmp_path):
    check = check_one_row(monkeypatch, capsys, tmp_path)
    monkeypatch.setattr(ParaphraseGate, "is_open", property(lambda gate: gate.accepted.low >= 0.7))
    code, said = check()
    assert code == 1 and "STALE" in said and "1 stale" in said


@pytest.mark.slow
def test_a_few_rows_of_every_module_decide_as_when_they_were_simulated():
    """The whole check is `python -m tests.lab.claims --check`; here as many rows as half a minute reaches."""
    seed = int(os.environ.get("CLAIMS_SEED") or np.random.SeedSequence().entropy % 1_000_000)
    until, stale = monotonic() + 30, {}
    for place in sample(0.1, seed):
        cell = cells_of(place[0])[place[1]]
        stored = results.rows_on_disk(place[0], ROOT / results.FOLDER)[cell.name].trace
        if monotonic() < until and (what := difference(stored, trace_cell(cell))):
            stale[cell.name] = what
    assert stale == {}, f"CLAIMS_SEED={seed}"


@pytest.mark.slow
@pytest.mark.parametrize("assertion", ASSERTIONS, ids=lambda assertion: assertion.name)
def test_no_sentence_of_an_assertion_is_too_long(assertion):
    cell = max((cell for cell in CELLS if cell.assertion == assertion), key=lambda cell: cell.n_runs)
    with recorded_claims(assertion) as claims:
        cell.simulate(np.random.default_rng(1), 2)
    for claim in claims:
        check_made(claim)


def test_every_committed_row_keeps_its_first_runs():
    rows = [row for module in MODULES for row in results.rows_on_disk(module, ROOT / results.FOLDER).values()]
    assert [row.name for row in rows if row.trace is None] == []


def test_where_a_condition_does_not_hold_there_is_no_limit():
    rows = [row(4_000, truth="outside")]
    assert failures(rows) == {} and "where a claim's condition does not hold" in results.markdown({"memory": rows})


@pytest.mark.slow
@pytest.mark.parametrize("control", [RANDOM, OTHER, PAIRED])
def test_a_study_that_is_not_put_into_words_would_have_claimed_no_gap(control):
    """Studies of one world, half of them with a planted gap, so that some are claimed."""
    rng = np.random.default_rng(4)
    for world in ("brittle both", "gap .15"):
        drawn = studies(WORLDS[world], 60, 60, rng, 60)
        for within in (False, True):
            chosen = set(promising(drawn, control, within).tolist())
            kinds = [verdict(drawn, i, control, rng) for i in range(60)]
            made = {i for i, one in enumerate(kinds) if one.is_made and (one.assertion is GAP_WITHIN) is within}
            assert made <= chosen
    assert 0 < len(set(promising(drawn, control, False).tolist())) and any(one.is_made for one in kinds)


def test_no_sentence_of_the_product_is_a_claim_outside_the_catalogue():
    """Every `Assertion` that is defined anywhere is in the catalogue, and no claim is built on another."""
    texts = [
        path.read_text(encoding="utf-8") for folder in ("flipcore", "pages") for path in sorted((ROOT / folder).rglob("*.py"))
    ]
    defined = [
        node.args[0].value
        for text in texts
        if "Assertion(" in text
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Assertion"
    ]
    # Claims of short intervals are made from others in one place, and named after them.
    of_others = {f"{name}, about 91%" for name in defined}
    assert sorted(defined) == sorted(set(BY_NAME) - of_others)


def test_a_cell_needs_a_known_truth():
    with pytest.raises(ValueError, match="null, planted"):
        Cell(COIN, "fair", "40", each(lambda rng: False), truth="other")


@pytest.mark.slow
def test_runs_that_are_not_put_into_words_would_have_claimed_nothing():
    from tests.lab.claims import flips as worlds

    drawn = worlds.parts(0.3, 0.0, 0.15)(np.random.default_rng(3), 40 * 150)
    chosen = set(worlds.promising(drawn, 40, 150).tolist())
    made = {
        run
        for run in range(150)
        if any(claim.is_made for claim in worlds.flips.cell_claims(worlds.in_words(worlds.part(drawn, run, 40))))
    }
    assert made and made <= chosen and len(chosen) < 150


@pytest.mark.parametrize("every_way", [False, True])
def test_orders_that_are_not_put_into_words_would_have_claimed_nothing_false(every_way):
    from tests.lab.claims import ranking as worlds

    families = np.arange(40)
    right = worlds.worlds_of(np.random.default_rng(3), 100, worlds.EQUAL, families, templated=False)
    right[:10, :, :, 0] = True  # model A is far better than its world says
    chosen = set(worlds.promising(right, families, worlds.EQUAL, every_way).tolist())
    is_false = worlds.separates_falsely if every_way else worlds.misses_a_rank
    made = {i for i in range(len(right)) if is_false(worlds.in_words(right[i], families), worlds.EQUAL)}
    assert made == chosen and 10 <= len(chosen) < 30


@pytest.mark.slow
def test_a_row_is_the_same_wherever_it_is_computed(monkeypatch, capsys):
    """On a cluster cells are run one by one elsewhere, in any order; a thread pool stands for it here."""
    asked = []
    monkeypatch.setattr(claims_main, "RayPool", lambda on: asked.append(on) or ThreadPoolExecutor(2))
    places = [("flips", 0), ("flips", 1)]
    alone = list(run(places, seed=5, runs=3, processes=1))
    assert list(run(places, seed=5, runs=3, on="ray://head:10001")) == alone and asked == ["ray://head:10001"]


def test_without_ray_the_simulations_say_what_to_install(monkeypatch, capsys):
    monkeypatch.setattr(ray_cluster, "find_spec", lambda name: None)
    assert claims_main.main(["--share", "0.001", "--on", "ray"]) == 1
    assert "pip install -r requirements-ray.txt" in capsys.readouterr().err


def test_a_cell_that_does_not_exist_is_an_error_that_names_near_ones(capsys):
    assert claims_main.main(["--only", "flips", "--cell", "artifact or genuine / nothing chnges"]) == 1
    said = capsys.readouterr().err
    assert "Nothing was run" in said and "artifact or genuine / nothing changes" in said
