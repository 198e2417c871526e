"""The four tests of a study are one computation for page, report and command line; what cannot be run says why."""

import json
import re
from dataclasses import replace

import pytest

from flipcore.api import StudyView
from flipcore.core.errors import BadInput
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.reports.exports.document import report
from flipcore.reports.holdout import START, four_tests, holdout_report
from flipcore.reports.holdout_sets import sets_of_study
from flipcore.reports.whole_study import whole_study
from flipcore.runs import runner
from flipcore.runs.demo import example_holdout
from flipcore.store.connection import Store
from pages.common import session
from pages.holdout import cached
from tests.pages.opening import clear_caches, few_permutations
from tests.reports.exports.reading import everything_in
from tests.stores import store_with

pytestmark = pytest.mark.usefixtures("allowed_folders")

TWO = Study(
    name="two sets",
    items=(
        ItemSource("flipscope_choice", role="target", categories=("logic",)),
        ItemSource("flipscope_choice", role="retro", categories=("science",)),
    ),
    axes=(Part("identity"),),
    extractors=(Part("regex"),),
    models=(ModelUse("simulated-noisy"),),
)
ONE = Study(
    name="one set",
    items=(ItemSource("flipscope_choice", n=6),),
    axes=(Part("identity"),),
    extractors=(Part("regex"),),
    models=(ModelUse("simulated-noisy"),),
)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    opened = Store.open(store_with(tmp_path_factory.mktemp("tests"), TWO, ONE))
    yield opened
    opened.close()


@pytest.mark.slow
def test_the_page_and_the_report_compute_the_same(store, monkeypatch):
    few_permutations(monkeypatch)
    monkeypatch.setattr(session, "store", lambda: store)
    clear_caches()
    report = holdout_report(store, TWO.study_id)
    page_report = cached.four_tests(sets_of_study(store, TWO.study_id), START, confirmatory=False)
    clear_caches()
    assert set(report.tests) >= {"semantic", "prediction"}
    assert (str(report.tests), report.about, report.missing) == (str(page_report.tests), page_report.about, page_report.missing)
    assert holdout_report(store, TWO.study_id, {"prediction": 0.99}).tests["prediction"].margin == 0.99


@pytest.mark.slow
def test_pairs_most_alike_across_the_sets_are_in_stats_and_json(store, monkeypatch):
    few_permutations(monkeypatch)
    tests, roles = holdout_report(store, TWO.study_id), sets_of_study(store, TWO.study_id)
    pairs = tests.as_dict()["most_alike_across"]
    assert {one["target"] for one in pairs} <= {item.item_id for item in roles.target} and len(pairs) >= 10
    assert {one["retro"] for one in pairs} <= {item.item_id for item in roles.retro}
    lines = whole_study(store, TWO.study_id).text()
    first = pairs[0]
    assert f"Most alike across the sets:\n  {first['target']} and {first['retro']}: cosine " in lines


@pytest.mark.slow
def test_a_study_without_both_sets_has_none(store):
    assert holdout_report(store, ONE.study_id) is None


def test_what_cannot_be_run_says_why_and_what_waits_is_not_run():
    def broken():
        raise BadInput("this embedding was not found.")

    four = four_tests({"semantic": broken, "prediction": broken}, START, {"prediction": "Running: a moment."})
    assert four.tests == {} and four.missing == {
        "semantic": "Not run: this embedding was not found.",
        "prediction": "Running: a moment.",
    }
    assert four.claim.text.startswith("Undecided: the holdout is like the benchmark on none of 4 tests")


@pytest.mark.slow
def test_what_the_pocket_model_read_decides_which_holdout_it_may_be_asked_about(tmp_path):
    """The demo's holdout, whose target it read, and its twin with items that it never read: one maker, so the texts are alike in both."""
    leaked, opened = example_holdout(), Store.open(tmp_path / "flips.duckdb")
    never_read = replace(leaked.items[0], where={"split": "control"})
    twin = replace(leaked, name="twin", items=(never_read, *leaked.items[1:]))
    said = {}
    for study in (leaked, twin):
        runner.run(study, opened)
        said[study.name] = holdout_report(opened, study.study_id, {"difficulty": 0.13})
    first, second = said[leaked.name], said["twin"]
    assert first.missing["difficulty"].endswith("pocket: its training held 140 of the 140 benchmark entries.")
    assert first.claim.outcome == "undecided" and not first.claim.is_made
    for one in (first, second):  # a margin on MMD² from a fifth of the target, which the test leaves out
        assert one.tests["semantic"].state == one.tests["prediction"].state == "equivalent"
        assert 0.03 < one.view["semantic"] == one.tests["semantic"].margin < 0.04
        assert "a planted shift of 0.2 SD of" in one.about["semantic"]
    assert second.tests["semantic"].estimate.n == 120 + 200 and "of 30 benchmark entries" in second.about["semantic"]
    assert second.claim.is_made and second.claim.text == (
        "The sets could have one source as far as it was tested: alike on 3 of 3 tests; the survey was not run."
    )
    own_margin = holdout_report(opened, twin.study_id)
    assert own_margin.tests["difficulty"].state == "undecided" and not own_margin.claim.is_made
    alike = own_margin.as_dict()["tests"]["semantic"]["sentence"]
    assert re.search(r"; at most \d+% are close copies\.$", alike)  # no way to "equivalent" leaves the limit out
    whole = whole_study(opened, twin.study_id)
    ways = {
        "stats": whole.text(),
        "json": json.dumps(whole.as_dict(), ensure_ascii=False, default=str),
        "report": everything_in(report(opened, twin.study_id, 0)),
        "notebook": " ".join(one.text for one in StudyView(opened, twin.study_id).holdout().claims),
    }
    assert {name for name, text in ways.items() if alike not in text} == set()
    opened.close()
