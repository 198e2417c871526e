"""After pairs were struck out, gates closed and settings locked, no page, `stats`, report or export claims what it should not.

Every claim that is made shows as MADE with the name of its assertion, so that the walk sees claims and not words. The study asks
nothing but paraphrases, so that behind the closed gate of its paraphrases nothing at all may be claimed; with the gate open the
same pages claim something, or the walk would prove nothing.
"""

import json

import pytest

from flipcore import __main__ as command_line
from flipcore.annotation import gates
from flipcore.annotation.paraphrases.verdicts import verdict_row
from flipcore.claims.claim import Claim
from flipcore.claims.locks import LOCKED
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.reports.exports.document import report
from flipcore.runs import demo, runner
from flipcore.store.connection import Store
from flipcore.store.judgements import PAIR_VERDICTS
from flipcore.store.queries import judgements, locks, review
from pages.memorization import gap
from tests.annotation.paraphrases.pairs import OTHER
from tests.claims.walks import BOARD, FLIPS, MEMORY, REVIEW, page_of, sent, walk_over
from tests.pages.opening import clear_caches
from tests.reports.exports.reading import everything_in

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.slow,
    pytest.mark.usefixtures("allowed_folders", "allowed_callables"),
]

MADE = "MADE by assertion"
CHOICE, PROBLEMS = ("logic", "language"), ("measure", "science")
STUDY = Study(
    name="paraphrases alone",
    items=(
        ItemSource("flipscope_choice", role="benchmark", categories=CHOICE),
        ItemSource("flipscope_choice", role="control", categories=PROBLEMS),
    ),
    axes=(Part("identity"), Part("paraphrase", {"unreviewed": True})),
    extractors=(Part("first_token"), Part("regex")),
    models=(ModelUse("simulated-artifact-prone", n_samples=2),),
    confirmatory_share=0.3,
)
S = STUDY.study_id
WAYS = [
    ("studies/page.py", {}),
    (FLIPS, {"study": S}),
    (FLIPS, {"study": S, "opened": "variants of paraphrase"}),
    *((FLIPS, BOARD | {"study": S, "mode": mode}) for mode in ("Explore", "Simultaneous")),
    *((MEMORY, {"study": S, "tab": tab}) for tab in ("Summary", "Drop gap", "Do they agree?")),
    (REVIEW, {"part": "Effect"}),
    (REVIEW, {"part": "Agreement"}),
    ("audit/page.py", {"study": S}),
    *(("report/page.py", {"study": S, "part": part}) for part in ("Report", "Sentences", "Tables")),
]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    place = tmp_path_factory.mktemp("gates") / "flips.duckdb"
    store = Store.open(place)
    demo.fill_store(store)
    runner.run(STUDY, store)
    pairs = review.pairs(store)
    judgements.keep(
        store, PAIR_VERDICTS, [verdict_row(pair, name, OTHER, "") for pair in pairs[::3] for name in ("Bea", "Cem", "Dee")]
    )
    store.close()
    return place


@pytest.fixture(scope="module")
def store(path):
    with pytest.MonkeyPatch.context() as patch, walk_over(path) as opened:
        patch.setattr(gap, "gap_rows", list)  # verdicts on the source's simulated table are about no study's paraphrases
        says = property(lambda self: f"{MADE} {self.assertion.name}" if self.is_made else _unmade(self))
        patch.setattr(Claim, "text", says)
        yield opened


def _unmade(claim):
    return f"Not claimed: {claim.withheld}" if claim.withheld else claim.sentence


OF_NO_GATE = " score over other questions"  # of the study's own prompt: no paraphrase and no reader that a gate shuts


def claims_in(text):
    """What is claimed; a score of the study's own prompt is behind no gate."""
    parts = [part.split("\\")[0][:60] for part in text.split(MADE)[1:]]
    return [one for one in parts if not one.startswith(OF_NO_GATE)]


@pytest.mark.parametrize(("page", "link"), WAYS, ids=[f"{page.split('/')[0]}-{i}" for i, (page, _) in enumerate(WAYS)])
def test_no_page_claims_what_a_closed_gate_withholds(store, page, link):
    assert "paraphrase" in gates.reasons(store, S)
    assert claims_in(sent(page_of(page, link))) == []


@pytest.fixture
def every_verdict_asserts(monkeypatch):
    """So few items may well be undecided: here each verdict that a gate does not withhold counts as a claim."""
    monkeypatch.setattr(Claim, "is_made", property(lambda self: self.assertion is not None and not self.withheld))
    clear_caches()
    yield
    clear_caches()


@pytest.mark.parametrize(("page", "link"), [WAYS[1], WAYS[3]])
def test_the_walk_would_see_a_claim(store, page, link, monkeypatch, every_verdict_asserts):
    monkeypatch.setattr(gates, "closed_gates", lambda *_, **__: {})
    assert claims_in(sent(page_of(page, link))) != []


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_stats_claims_nothing_behind_a_closed_gate(store, form, capsys, monkeypatch, request):
    assert command_line.main(["stats", S, *form]) == 0
    said = capsys.readouterr().out
    assert claims_in(said) == [] and "Not claimed" in said
    if form:
        models = json.loads(said)["models"].values()
        assert [cell for one in models for cell in one["cells"] if cell["is_claimed"] or cell["established"]] == []
    monkeypatch.setattr("flipcore.reports.whole_study.reasons", lambda *_, **__: {})
    request.getfixturevalue("every_verdict_asserts")
    assert command_line.main(["stats", S, *form]) == 0
    assert claims_in(capsys.readouterr().out) != []


def test_a_report_claims_nothing_behind_a_closed_gate(store, monkeypatch, request):
    said = everything_in(report(store, S, 1))
    assert claims_in(said) == [] and "Not claimed" in said
    monkeypatch.setattr("flipcore.reports.whole_study.reasons", lambda *_, **__: {})
    request.getfixturevalue("every_verdict_asserts")
    assert claims_in(everything_in(report(store, S, 1))) != []


def test_an_export_holds_rows_and_no_claim(store, tmp_path):
    command_line.main(["export", S, "--format", "csv", "--folder", str(tmp_path)])
    files = list(tmp_path.iterdir())
    assert files and all(MADE not in path.read_text(encoding="utf-8") for path in files)


def test_after_a_lock_only_its_own_page_says_locked_and_the_gate_stays_closed(store):
    if not locks.locks(store, S):
        locks.keep_lock(store, S, "decomposition", {"level": 0.95, "reference": "regex"}, "Ada")
    under_lock = claims_in(sent(page_of(FLIPS, BOARD | {"study": S, "mode": "Locked"})))
    assert under_lock and all(one.strip().startswith(LOCKED.name) for one in under_lock)
    for page, link in (WAYS[1], WAYS[3], WAYS[5], (MEMORY, {"study": S, "mode": "Locked"})):
        assert claims_in(sent(page_of(page, link))) == [], page


def test_a_second_lock_on_items_that_the_first_had_opened_is_not_claimed(store):
    if not locks.locks(store, S):
        locks.keep_lock(store, S, "decomposition", {"level": 0.95, "reference": "regex"}, "Ada")
    if not locks.lock_of_page(store, S, "memorization"):
        locks.keep_lock(store, S, "memorization", {"margin": 0.05}, "Ada")
    said = sent(page_of(MEMORY, {"study": S, "mode": "Locked"}))
    assert claims_in(said) == [] and "had opened these items before" in said


def test_a_lock_that_was_changed_shows_nothing_and_claims_nothing(store):
    if not locks.locks(store, S):
        locks.keep_lock(store, S, "decomposition", {"level": 0.95, "reference": "regex"}, "Ada")
    sql = "UPDATE locks SET settings = json_merge_patch(settings, '{\"level\": 0.5}') WHERE study_id = $one"
    store.writer.transact(lambda connection: connection.execute(sql, {"one": S})).result(10)
    said = sent(page_of(FLIPS, BOARD | {"study": S, "mode": "Locked"}))
    assert claims_in(said) == [] and "was changed after it was stored" in said
