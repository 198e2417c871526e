"""The report of a study: what pages and `stats` say, in one file, the same bytes every time."""

import csv
import io
import json
import re
from collections import Counter
from dataclasses import replace

import pytest

from flipcore import __main__ as command_line
from flipcore.claims.holdout import outcome_claim
from flipcore.core.errors import BadInput
from flipcore.core.study import RECORDED, ItemSource, ModelUse, Part, Study
from flipcore.detectors import DETECTORS, Detector, detectors
from flipcore.reports.exports.data_files import ITEMS, READOUTS, VALUES
from flipcore.reports.exports.document import report
from flipcore.reports.exports.methods_text import methods_text
from flipcore.reports.holdout import holdout_report
from flipcore.reports.whole_study import whole_study
from flipcore.store.connection import Store
from flipcore.store.queries import decisions
from flipcore.store.queries import studies as queries
from tests.pages.opening import few_permutations
from tests.reports.exports.reading import everything_in, files_in
from tests.stores import store_with

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("allowed_folders")]
STUDY = Study(
    name="Report & <study>",
    items=(
        ItemSource("flipscope_problems", categories=("travel", "rates", "building", "sport")),
        ItemSource("flipscope_problems", role="control", categories=("fractions", "business")),
    ),
    axes=(Part("identity"), Part("numeric_resample")),
    extractors=(Part("regex"),),
    models=(ModelUse("simulated-memorized"),),
)
FLIPS = Study(
    name="flips alone",
    items=(ItemSource("flipscope_choice", n=14),),
    axes=(Part("identity"), Part("option_order", {"n": 3})),
    extractors=(Part("first_token"), Part("regex")),
    models=(ModelUse("simulated-artifact-prone", n_samples=2),),
)


TWO = Study(
    name="two models, two sets",
    items=(
        ItemSource("flipscope_choice", role="target", categories=("logic",)),
        ItemSource("flipscope_choice", role="retro", categories=("science",)),
    ),
    axes=(Part("identity"), Part("prompt_format", {"layouts": ["paren"]})),
    extractors=(Part("regex"),),
    models=(ModelUse("simulated-noisy"), ModelUse("simulated-clean")),
)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = store_with(tmp_path_factory.mktemp("report"), STUDY, FLIPS, TWO)
    opened = Store.open(path)
    decisions.keep_decision(opened, FLIPS.study_id, "decomposition", "explore", "We go on <b>.", {"level": 0.9}, "Ada")
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def flips(store):
    return report(store, FLIPS.study_id, 1)


@pytest.fixture(scope="module")
def memory(store):
    return report(store, STUDY.study_id, 1)


@pytest.fixture(scope="module")
def whole(store):
    return whole_study(store, FLIPS.study_id)


def test_it_says_what_stats_says_word_for_word(store, flips, memory, whole):
    for text, study in ((flips, whole), (memory, whole_study(store, STUDY.study_id))):
        said = everything_in(text)
        for model, flips in study.flips.items():
            assert flips.headline.sentence in said
            assert [claim.text for claim in flips.cell_claims if claim.text not in said] == []
            assert [one.claim.text for one in study.memory.tests.get(model, ()) if one.claim.text not in said] == []
        assert json.loads(files_in(text)["stats.json"]) == study.as_dict()


def test_several_models_and_two_sets_have_their_claims_tables_and_board(store, monkeypatch):
    few_permutations(monkeypatch)
    text = report(store, TWO.study_id, 0)
    whole = whole_study(store, TWO.study_id)
    said, ranking, score = everything_in(text), whole.ranking, whole.score
    assert score is not None and [claim.text for claim in score.claims if claim.text not in said] == []
    assert {"score-intervals-1.csv", "score-intervals-2.csv"} <= files_in(text).keys() and 'data-board="scores"' in text
    assert ranking is not None and [claim.text for claim in ranking.claims if claim.text not in said] == []
    assert "higher on the benchmark" in said
    assert {"pairs.csv", "ways.csv", "inflation.csv"} <= files_in(text).keys() and 'data-board="ranking"' in text
    assert report(store, TWO.study_id, 0) == text  # the permutations too are those of the seed
    tests = holdout_report(store, TWO.study_id)
    assert tests is not None and tests.claim.text in said and 'data-board="margins"' in text
    assert [one.name for one in tests.tests.values() if outcome_claim(one).text not in said] == []
    by_name = {row["test"]: row for row in csv.DictReader(io.StringIO(files_in(text)["tests.csv"]))}
    assert (
        tests.about["prediction"][1:] in said and "seed 0" in tests.about["prediction"] and tests.missing["odd one out"] in said
    )
    assert by_name["Human odd-one-out"]["verdict"] == "not run" and by_name["Prediction accuracy"]["p"]
    assert "The outputs behind the claims" not in text
    rows = list(csv.DictReader(io.StringIO(files_in(text)["numbers.csv"])))
    assert ranking is not None and [row["quantity"] for row in rows].count("inflation") == 4  # two models, two layouts
    n_ways = len(ranking.contest.order.scores.ways)
    assert len([row for row in rows if row["quantity"] == "accuracy under a way"]) == 2 * n_ways
    (difference,) = [row for row in rows if row["quantity"] == f"lead over {ranking.pairs[0].second}"]
    assert float(difference["value"]) == ranking.pairs[0].paired.difference.value and "Newcombe" in said
    own = {row["where"]: int(row["n"]) for row in rows if row["quantity"] == "accuracy" and row["model"] == "simulated-noisy"}
    roles = Counter(queries.study_items(store, TWO.study_id)["role"])
    assert own == {f"base prompt, reference extractor, {role}": n for role, n in roles.items()}  # sets are not pooled
    words = re.search(r'<p id="methods-text">(.*?)</p>', text, re.DOTALL)[1]
    assert "1 sample a prompt and 2 of the original" in words and "classifier is cross-validated" in words
    assert "The limits are those of the method" not in words


def test_the_line_of_a_packages_own_kind_of_detector_stands_in_the_report(store, memory, monkeypatch):
    """It is neither a score an item nor a drop gap of the house: it hands over its evidence and what its line is drawn from."""
    gap = DETECTORS["drop_numeric_resample"]

    class Own(Detector):
        scores, evidence, analysis = gap.scores, gap.evidence, gap.analysis

    own = Own("own", "gap of a package", "What a package measures.", gap.axis, gap.measure, gap.unit)
    every = (*detectors(), own)
    for place in ("detectors", "reports.exports.memory_lines"):
        monkeypatch.setattr(f"flipcore.{place}.detectors", lambda: every)
    text = report(store, STUDY.study_id, 0)
    part, drawn = 'data-board="line-', text.partition("gap of a package</h4>")[2].partition("<h4")[0]
    assert part in drawn and text.count(part) > memory.count(part)


def test_a_reader_can_compute_a_number_from_the_tables_inside(flips, whole):
    (cells,) = (flips.cells for flips in whole.flips.values())
    rows = list(csv.DictReader(io.StringIO(files_in(flips)["item-values.csv"])))
    for one in cells:
        mine = [row for row in rows if row["cell"].startswith(one.axis.replace("_", " ")) and one.extractor[:5] in _key(row)]
        values = [float(row["T"]) for row in mine if row["T"]]
        assert len(values) == one.T.n and sum(values) / len(values) == pytest.approx(one.T.value)
    readouts = list(csv.DictReader(io.StringIO(files_in(flips)["readouts.csv.gz"])))
    assert len(readouts) == len(whole.flip_readouts)


def _key(row):
    return "regex" if row["cell"].endswith("written answer") else row["cell"].replace(" ", "_")


def test_every_column_of_the_files_stands_in_the_data_dictionary(flips):
    files = files_in(flips)
    for name, columns in (("readouts.csv.gz", READOUTS), ("items.csv.gz", ITEMS), ("item-values.csv", VALUES)):
        assert next(csv.reader(io.StringIO(files[name]))) == list(columns), name
        assert [column for column in columns if column not in files["dictionary.csv"]] == []


def test_methods_name_every_interval_with_its_n_and_its_papers(flips):
    words = re.search(r'<p id="methods-text">(.*?)</p>', flips, re.DOTALL)[1]
    assert "14 items (14 benchmark) of flipscope_choice" in words and "seed 0" in words and "(Miller 2024)" in words
    rows = list(csv.DictReader(io.StringIO(files_in(flips)["numbers.csv"])))
    assert rows and all(row["n"] and row["method"] for row in rows)
    entries = files_in(flips)[f"{FLIPS.study_id}.bib"]
    cited = set(re.findall(r"\(([A-Z][a-z]+)[^()]* \d{4}\)", words))
    assert cited and all(name in entries for name in cited)


def test_an_imported_study_is_not_said_to_have_been_asked_in_random_order(store):
    c = whole_study(store, FLIPS.study_id)
    imported = whole_study(store, FLIPS.study_id)
    vars(imported)["study"] = replace(FLIPS, protocol=Part(RECORDED))  # where its cache keeps it
    words = methods_text(imported).text
    assert "random order" not in words and "14 items (14 benchmark) of flipscope_choice; their outputs were imported." in words
    assert "Models: simulated-artifact-prone." in words and "temperature" in methods_text(c).text
    assert "asked in random order (seed 0)" in methods_text(c).text


def test_open_gates_do_not_promise_that_everything_may_be_claimed(flips):
    assert "No gate is closed." in flips and "everything here may be claimed" not in flips


def test_decisions_and_declaration_are_in_it_as_text(flips, memory):
    assert "We go on &lt;b&gt;." in flips and "Ada" in flips and "level 0.9" in flips
    assert "No decision has been written down yet." in memory
    assert Study.from_toml(files_in(flips)[f"{FLIPS.study_id}.toml"]) == FLIPS


def test_it_names_nothing_outside_itself_and_only_its_own_script_may_run(flips):
    assert re.findall(r'(?:src|href)="(?!data:)', flips) == [] and "url(" not in flips and "@import" not in flips
    assert "default-src 'none'" in flips and "unsafe-inline" not in flips
    assert len(re.findall(r"<script\b", flips)) == 2 and flips.count("<style>") == 1
    assert re.search(r"\son\w+=", re.sub(r"<script.*?</script>", "", flips, flags=re.DOTALL)) is None


def test_the_command_writes_the_same_bytes_again_and_refuses_what_it_cannot(store, flips, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(Store, "open", classmethod(lambda cls: store))
    monkeypatch.setattr(store, "close", lambda: None)
    out = tmp_path / "r.html"
    assert command_line.main(["report", "flips alone", "--out", str(out), "--outputs", "1"]) == 0
    assert out.read_text(encoding="utf-8") == flips and "opens without a server" in capsys.readouterr().out
    assert command_line.main(["report", "flips alone", "--out", str(tmp_path)]) == 1
    assert "could not be written" in capsys.readouterr().err
    with pytest.raises(BadInput, match="from 0 to 50"):
        report(store, FLIPS.study_id, 51)
