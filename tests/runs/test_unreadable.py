"""A pilot says how many answers each reader cannot read for each model, and which other declared reader reads them."""

import pytest

from flipcore.__main__ import main
from flipcore.core.records import ABSENT, CUT, OK, UNREADABLE, Reading, Readout
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.extractors import extractor_of
from flipcore.runs.truncation import UnreadableCount

pytestmark = pytest.mark.usefixtures("allowed_folders")

READERS = [extractor_of("regex"), extractor_of("text_match"), extractor_of("answer_loss")]


def readouts(statuses, axis="option_order", extractor="regex"):
    return [
        Readout("m", "q", axis, f"v{i}", 0, extractor, Reading(status, answer="0" if status == OK else None), None)
        for i, status in enumerate(statuses)
    ]


def test_an_answer_counts_once_and_cut_ones_do_not():
    count = UnreadableCount()
    own = [UNREADABLE, UNREADABLE, OK, CUT, ABSENT]
    rows = readouts(own) + readouts(own, "label_set")  # the same variants stand on both axes
    count.add("m", READERS, rows + readouts([OK, UNREADABLE, OK, OK, OK], extractor="text_match"))
    assert count.sentences() == [
        "m: written answer cannot read 2 of 3 answers (67%). Of these, other extractors read: text match 1.",
        "m: text match cannot read 1 of 5 answers (20%). No other declared extractor reads them.",
    ]


def test_all_read_and_nothing_asked():
    count = UnreadableCount()
    assert count.sentences() == []
    count.add("m", READERS, readouts([OK, OK]))
    assert count.sentences() == ["Every extractor read every answer."]


@pytest.mark.slow
def test_the_command_says_it_and_stores_no_study(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("FLIPSCOPE_DB", str(tmp_path / "flips.duckdb"))
    monkeypatch.setattr("flipcore.runs.demo.fill_store", lambda store: None)
    never = Part("pattern", {"expression": r"Verdict: (\w+)"})
    study = Study(
        "sixty",
        (ItemSource("flipscope_problems", n=6),),
        (Part("identity"),),
        (Part("regex"), never),
        (ModelUse("simulated-clean"),),
    )
    file = tmp_path / "study.toml"
    file.write_text(study.to_toml(), encoding="utf-8")
    assert main(["run", str(file), "--pilot", "4"]) == 0
    said = capsys.readouterr().out
    assert "Pilot of 4 items. The whole study:" in said
    assert "cannot read 8 of 8 answers (100%). Of these, other extractors read: written answer 8." in said
