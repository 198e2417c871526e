"""What the token limit cut off is said when a run ends, in a pilot, in `stats`, and behind the cell."""

from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import pytest

from flipcore.__main__ import main
from flipcore.core.contracts import ANSWER
from flipcore.core.errors import BadInput
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.reports.whole_study import truncations, whole_study
from flipcore.runs import runner, truncation
from flipcore.runs.background import Registry
from flipcore.runs.log_import import store_logs
from flipcore.runs.log_survey import survey
from flipcore.runs.truncation import CutCount, UnreadableCount, share_text, token_limits_sentence
from flipcore.store.connection import Store
from flipcore.store.queries import studies
from flipcore.store.queries.audit import endings
from flipcore.store.queries.inspection import inspection
from tests.datasets.recorded import harness_files as made
from tests.runs.test_runner import tiny_study

pytestmark = pytest.mark.usefixtures("allowed_folders")

SHORT = ModelUse("simulated-artifact-prone", max_tokens=6)  # its sums need 10 tokens, its choices at most 8


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setenv("FLIPSCOPE_DB", str(tmp_path / "flips.duckdb"))
    return tmp_path / "flips.duckdb"


@pytest.fixture
def store(path):
    opened = Store.open(path)
    yield opened
    opened.close()


@pytest.mark.slow
def test_a_run_says_at_its_end_what_the_limit_cut_off(store):
    study = tiny_study(models=(SHORT,))
    progress = runner.run(study, store)
    frame = studies.readouts(store, study.study_id)
    text = frame[frame["extractor"] == "regex"].drop_duplicates(["item_id", "variant_id", "sample"])
    n_cut = int((text["status"] == "cut").sum())
    assert 8 <= n_cut < len(text)
    assert (
        f"{100 * n_cut / len(text):.0f}% of simulated-artifact-prone's {len(text)} written answers were cut off" in progress.cut
    )
    assert "limit of 6 tokens" in progress.cut and progress.cut in progress.message
    assert not (frame[frame["extractor"] == "first_token"]["status"] == "cut").any()
    assert not frame[frame["status"] == "cut"]["is_correct"].astype(bool).any()
    again = runner.run(study, store)
    assert again.n_reused and again.cut == progress.cut


@pytest.mark.slow
def test_a_run_in_which_nothing_was_cut_off_says_nothing(store):
    assert runner.run(tiny_study(), store).cut == ""


def test_a_pilot_says_it_before_the_study_is_asked(store):
    found = Registry(store).pilot(tiny_study(models=(SHORT,)), 6)
    assert "written answers were cut off, with a limit of 6 tokens" in found.notes[0]
    assert "simulated-artifact-prone 6" in token_limits_sentence(tiny_study(models=(SHORT,)))


@pytest.mark.slow
def test_stats_says_it_with_both_accuracies_and_says_not_recorded_where_nobody_knows(path, capsys):
    store, study = Store.open(path), tiny_study(models=(SHORT,))
    runner.run(study, store)
    (found,) = truncations(endings(store, study.study_id), studies.readouts(store, study.study_id))
    frame = studies.readouts(store, study.study_id)
    text = frame[frame["extractor"] == "regex"]
    once = text.drop_duplicates(["item_id", "variant_id", "sample"])
    assert len(once) < len(text)  # the base prompt stands in both axes
    assert (found.n_answers, found.n_cut) == (len(once), int((once["status"] == "cut").sum()))  # as the run itself said
    assert found.n_cut and found.as_asked.value < found.among_finished.value and found.n_not_recorded == 0
    store.close()
    assert main(["stats", study.study_id]) == 0
    said = capsys.readouterr().out
    assert "were cut off at 6 tokens" in said and "as asked" in said and "among finished answers" in said
    assert "cut off at 1 token." in replace(found, max_tokens=1).sentence()
    unknown = replace(found, n_cut=0, n_not_recorded=found.n_answers)
    assert "not recorded" in unknown.sentence() and unknown.as_dict()["n_cut"] is None


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "among"), [("12", 0.75), ("def f(): return 12  # " + "and so on " * 20, None)])
def test_a_logs_own_score_and_a_reading_of_the_same_texts_count_the_same_ones_as_cut_off(store, tmp_path, answer, among):
    """What is right in more words than a reading of ours compares is read by the log's scorer alone: its texts ended as the log says."""
    rows = [
        {"id": str(i), "prompt": f"What is it, {i}?", "response": f"The answer is {answer}.", "score": i % 4 > 0}
        | {"target": answer, "finish_reason": "length" if i < 4 else "stop"}
        for i in range(20)
    ]
    looked = survey([made.lines(tmp_path / "outputs.jsonl", rows)])
    study_id = store_logs(looked, store)
    cut = truncations(endings(store, study_id), studies.readouts(store, study_id))
    assert {one.n_cut for one in cut} == {4} and {one.n_answers for one in cut} == {20}
    (score,) = [one for one in cut if one.extractor == "score"]
    assert score.as_asked.value == 0.75 and (among is None) == ("as asked" not in score.sentence())
    assert among is None or score.among_finished.value == among


def test_of_results_without_texts_nothing_is_said_to_be_cut_off_or_not_recorded(store, tmp_path):
    rows = [{"item_id": i, "epoch": k, "score": int(i > k)} for i in range(12) for k in range(2)]
    study_id = store_logs(survey([made.lines(tmp_path / "scores.jsonl", rows)]), store)
    assert endings(store, study_id).empty


@pytest.mark.slow
def test_its_accuracy_is_that_of_score_and_mixes_no_roles(store):
    control = ItemSource("pocket_problems", role="control", n=20, where={"split": "control"})
    sources = (ItemSource("pocket_problems", n=10, where={"split": "dosed"}), control)
    study = tiny_study(items=sources, axes=(Part("identity"),), extractors=(Part("regex"),), models=(SHORT,))
    runner.run(study, store)
    whole = whole_study(store, study.study_id)
    (one,), (cut,) = whole.score.models, whole.cut
    assert cut.as_asked.n == 10 and cut.as_asked.value == pytest.approx(one.bar.value)
    assert "own prompt (benchmark items)" in cut.sentence() and cut.sentence().endswith(" as asked, none finished.")


@pytest.mark.slow
def test_stop_texts_can_be_declared_and_change_no_id_of_a_study_without_them(store):
    plain = tiny_study()
    assert "stop" not in plain.to_toml() and plain.study_id == "7bafe56a7899"
    stopped = tiny_study(models=(ModelUse("simulated-artifact-prone", stop=("\n\n",)),))
    assert Study.from_toml(stopped.to_toml()) == stopped and stopped.study_id != plain.study_id
    runner.run(stopped, store)
    sent = store.rows("SELECT DISTINCT request->>'$.stop' FROM completions WHERE request->>'$.kind' = 'generate'")
    assert sent == [('["\\n\\n"]',)]
    with pytest.raises(BadInput, match="stop"):
        Study.from_toml(plain.to_toml().replace("n_samples = 1", 'n_samples = 1\nstop = "\\n"'))


@pytest.mark.slow
def test_the_inspector_shows_how_an_answer_ended_and_the_log_probabilities_that_came_back(store):
    study = tiny_study(models=(SHORT,))
    runner.run(study, store)
    item_id = studies.study_items(store, study.study_id)["item_id"].iloc[0]
    for item_id in studies.study_items(store, study.study_id)["item_id"]:
        seen = inspection(store, study.study_id, SHORT.name, item_id, "identity")
        by_name = {one.extractor: one for one in seen.variants[0].readings}
        assert by_name["regex"].ended in ("Ended by: stop.", "Ended by: length.")
        if "first_token" in by_name:
            (rows,) = by_name["first_token"].log_probabilities.values()
            assert rows[0]["logprob"] == max(row["logprob"] for row in rows) and by_name["first_token"].ended == ""


@pytest.mark.slow
def test_the_command_line_says_the_limits_before_a_run_and_what_a_pilot_saw(path, tmp_path, capsys):
    study = tiny_study(models=(SHORT,))
    (tmp_path / "study.toml").write_text(study.to_toml(), encoding="utf-8")
    assert main(["run", str(tmp_path / "study.toml"), "--pilot", "6"]) == 0
    output = capsys.readouterr().out
    assert output.startswith("Pilot of 6 items. The whole study: ") and "were cut off, with a limit of 6 tokens" in output
    store = Store.open(path)
    assert studies.studies(store).empty and store.rows("SELECT count(*) FROM completions")[0][0] > 0
    store.close()
    assert main(["run", str(tmp_path / "study.toml"), "--pilot", "0"]) == 1
    capsys.readouterr()
    assert main(["run", str(tmp_path / "study.toml")]) == 0
    assert capsys.readouterr().err.startswith("Token limit of an answer: simulated-artifact-prone 6.")


@pytest.mark.slow
def test_a_reference_that_a_model_lacks_makes_no_claim(path, capsys):
    store, study = Store.open(path), tiny_study()
    runner.run(study, store)
    store.close()
    assert main(["stats", study.study_id, "--reference", "cloze"]) == 0
    output = capsys.readouterr().out
    assert "cloze" in output.lower() and "more artifact" not in output and "more genuine" not in output
    assert main(["stats", study.study_id, "--reference", "cloze", "--json"]) == 0
    assert '"reference": "regex"' not in capsys.readouterr().out


def extractor(name, abilities=("generate",), asks=ANSWER, gives=ANSWER):
    return SimpleNamespace(name=name, abilities=abilities, asks=asks, gives=gives)


def readout(name, status="ok", source="call", variant="v", sample=0):
    reading = SimpleNamespace(status=status)
    return SimpleNamespace(
        extractor=name, reading=reading, source_ids=(source,) * bool(source), variant_id=variant, sample=sample
    )


WRITTEN, OTHER = extractor("regex"), extractor("judge")
FOUR = (WRITTEN, OTHER, extractor("third"), extractor("fourth"))
USE = SimpleNamespace(name="m", max_tokens=1_000)


@pytest.mark.parametrize(
    ("extractors", "readouts", "counts"),
    [
        ([WRITTEN], [("ok", "1"), ("cut", "2"), ("unreadable", "3")], (3, 1)),
        ([WRITTEN], [("cut", "1"), ("cut", "1")], (1, 1)),  # one answer, read twice
        ([WRITTEN], [("absent", "1"), ("cut", "")], (0, 0)),
        ([extractor("regex", abilities=("score",))], [("cut", "1")], (0, 0)),
        ([extractor("regex", asks="first token")], [("cut", "1")], (0, 0)),
        ([OTHER], [("cut", "1")], (0, 0)),
        ([], [("cut", "1")], (0, 0)),
    ],
)
def test_each_written_answer_is_counted_once(extractors, readouts, counts):
    count = CutCount()
    count.add(USE, extractors, [readout("regex", status, source) for status, source in readouts])
    assert (count.n_answers["m", 1_000], count.n_cut["m", 1_000]) == counts


def test_cut_answers_are_said_by_model_and_limit():
    count = CutCount()
    for name, limit, n_cut in (("m", 1_000, 400), ("m", 1_000, 100), ("m-2", 6, 0), ("m-3", 6, 1)):
        count.add_counts(SimpleNamespace(name=name, max_tokens=limit), n_answers=600, n_cut=n_cut)
    raise_limit = "Raise the limit, or set stop sequences."
    assert count.sentence() == (
        f"42% of m's 1,200 written answers were cut off, with a limit of 1,000 tokens. {raise_limit} "
        f"Less than 1% of m-3's 600 written answers were cut off, with a limit of 6 tokens. {raise_limit}"
    )
    assert CutCount().sentence() == ""


@pytest.mark.parametrize(("n", "n_all", "text"), [(1, 100, "1%"), (1, 101, "less than 1%"), (31, 100, "31%"), (3, 3, "100%")])
def test_a_share_below_a_hundredth_is_less_than_one_percent(n, n_all, text):
    assert share_text(n, n_all) == text


def test_the_limits_of_a_study_are_named():
    study = SimpleNamespace(models=(USE, SimpleNamespace(name="m-2", max_tokens=6)))
    assert token_limits_sentence(study).startswith("Token limit of an answer: m 1,000, m-2 6. A longer answer is cut off")


def unread(*readouts, extractors=FOUR):
    count = UnreadableCount()
    count.add("m", extractors, readouts)
    return count.sentences()


@pytest.mark.parametrize(
    ("readouts", "sentences"),
    [
        ([], []),
        ([readout("regex", "cut"), readout("regex", "absent", sample=1)], []),
        ([readout("regex")], ["Every extractor read every answer."]),
        (
            [readout("regex", "unreadable"), readout("regex", sample=1)],
            ["m: written answer cannot read 1 of 2 answers (50%). No other declared extractor reads them."],
        ),
        (
            [readout("regex", "unreadable"), readout("judge"), readout("regex", variant="w")],
            ["m: written answer cannot read 1 of 2 answers (50%). Of these, other extractors read: judge 1."],
        ),
        (
            [readout("regex", "unreadable"), readout("judge", sample=1)],
            ["m: written answer cannot read 1 of 1 answers (100%). No other declared extractor reads them."],
        ),
        (
            [readout(name, "unreadable", sample=k) for name, n in (("regex", 1), ("judge", 2)) for k in range(n)]
            + [readout(name, sample=k) for name, n in (("regex", 1), ("judge", 2)) for k in range(n, 4)],
            [
                "m: judge cannot read 2 of 4 answers (50%). Of these, other extractors read: written answer 1.",
                "m: written answer cannot read 1 of 4 answers (25%). No other declared extractor reads them.",
            ],
        ),
        (
            [readout("regex", "unreadable"), readout("judge"), readout("third"), readout("fourth")],
            ["m: written answer cannot read 1 of 1 answers (100%). Of these, other extractors read: judge 1 and third 1."],
        ),
    ],
)
def test_a_pilot_says_which_extractor_reads_what_another_does_not(readouts, sentences, monkeypatch):
    monkeypatch.setattr(truncation, "title_of", lambda name: {"regex": "Written answer"}.get(name, name))
    assert unread(*readouts) == sentences


def test_the_extractor_with_the_largest_share_of_unreadable_answers_is_named_first():
    count = UnreadableCount()
    count.n_answers.update({("m", "regex"): 2, ("m", "judge"): 10, ("n", "regex"): 4})
    count.n_unreadable.update({("m", "regex"): 1, ("m", "judge"): 3, ("n", "regex"): 4})
    count.read_by = {key: Counter() for key in count.n_unreadable}
    assert [sentence.partition("%")[0].rpartition("(")[2] for sentence in count.sentences()] == ["100", "50", "30"]


@pytest.mark.parametrize("change", [{"gives": "value"}, {"asks": "first token"}])
def test_extractors_without_an_answer_are_not_counted(change):
    assert unread(readout("regex", "unreadable"), extractors=(extractor("regex", **change),)) == []
