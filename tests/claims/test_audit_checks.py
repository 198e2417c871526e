"""What could be checked of a log: said in the place of findings, with what the log lacks."""

import pandas as pd
import pytest

from flipcore.claims.audit_checks import CHECKS, Coverage, coverage
from flipcore.claims.audit_input import LEAST_TEMPLATES, MAX_COMPARED, AuditInput
from flipcore.claims.audit_prompts import LEAST_ITEMS
from flipcore.core.records import WRITTEN_ANSWER
from tests.claims.test_audit import audited
from tests.datasets.recorded import harness_files as made

pytestmark = pytest.mark.usefixtures("allowed_folders")


@pytest.mark.slow
def test_a_log_with_nothing_to_compare_says_what_could_not_be_checked(tmp_path, store):
    header = made.inspect_header(1.0, 1)
    del header["results"]
    found = audited(store, made.inspect_eval(tmp_path / "a.eval", [made.inspect_sample(0)], header))
    lacking = dict(found.coverage.lacking)
    assert found.coverage.sentence == f"{len(CHECKS) - len(lacking)} of {len(CHECKS)} checks could be made."
    assert lacking["Reported scores against the rows"] == "the log reports no score"
    assert lacking["Repeated prompts"] == "no prompt was asked twice"
    assert lacking["Repeated questions"] == "there is one item alone"
    assert found.headline == f"{found.coverage.sentence.removesuffix('.')}; none failed."
    assert "- Repeated prompts: no prompt was asked twice." in found.text()


def test_the_number_of_checks_is_said_where_all_or_one_or_none_could_be_made():
    lacking = tuple((f"check {i}", "reason") for i in range(13))
    assert Coverage(13, ()).sentence == "All 13 checks could be made."
    assert Coverage(13, lacking[1:]).sentence == "1 of 13 checks could be made."
    assert Coverage(13, lacking).sentence == "None of the 13 checks could be made on this log."


FRAME = {"model": "m", "item_id": "t/0", "sample": 0, "task": "t", "extractor": "choice", "axis": "identity", "variant": "base"}
FRAME |= {"status": "ok", "answer": "1", "score": 1.0}


def rows_of(*changes):
    """Readouts, each with other values in some columns."""
    return pd.DataFrame([FRAME | change for change in changes])


def is_possible(title, base=None, **tables):
    log = AuditInput(**{"frame": rows_of({}), "items": pd.DataFrame(), "calls": pd.DataFrame()} | tables)
    (check,) = [check for check in CHECKS if check.title == title]
    return bool(check.applies(log, rows_of({}) if base is None else base))


@pytest.mark.parametrize(
    ("title", "rows", "is_made"),
    [
        ("Scores against the log's own answers", [{}], True),
        ("Scores against the log's own answers", [{"score": 0.0}], True),
        ("Scores against the log's own answers", [{"score": 0.5}], False),
        ("Scores against the log's own answers", [{"score": 1.0}, {"score": 5.0}], False),  # grades
        ("Scores against the log's own answers", [{"status": "unreadable"}], False),
        ("Scores against the log's own answers", [{"answer": None}], False),
        ("Scores against the log's own answers", [{"extractor": WRITTEN_ANSWER}], False),
        ("Texts without an answer", [{"extractor": WRITTEN_ANSWER}], False),
        ("Texts without an answer", [{"extractor": WRITTEN_ANSWER}, {}], True),
        ("Two readouts of the same texts", [{}, {"extractor": "other"}], True),
        ("Two readouts of the same texts", [{}, {}], False),
        ("Two readouts of the same texts", [{}, {"extractor": "other", "item_id": "t/1"}], False),
        ("Two readouts of the same texts", [{}, {"extractor": "other", "sample": 1}], False),
        ("Two readouts of the same texts", [{}, {"extractor": "other", "score": None}], False),
        ("Two readouts of the same texts", [{}, {"extractor": "other", "score": 3.0}], False),  # another scale
        ("Repeated prompts", [{}, {"sample": 1}], True),
        ("Repeated prompts", [{}, {}], False),
        ("Repeated prompts", [{}, {"sample": 1, "status": "cut"}], False),
        ("Repeated prompts", [{}, {"sample": 1, "item_id": "t/1"}], False),
    ],
)
def test_a_check_of_readouts_needs_rows_that_it_can_compare(title, rows, is_made):
    assert is_possible(title, rows_of(*rows)) == is_made


def of_models(*items_by_model, **change):
    rows = []
    for number, items in enumerate(items_by_model):
        rows += [{"model": f"m-{number}", "item_id": f"t/{item}"} | change for item in items]
    return rows_of(*rows)


@pytest.mark.parametrize(
    ("items", "is_made"),
    [
        (["ab", "ab"], True),
        (["ab", "bc"], False),  # one item alone
        (["ab"], False),
        (["ab", "cd", "bcd"], True),
        (["ab"] + [""] * 2 + ["ab"], True),
    ],
)
def test_two_models_are_compared_from_two_shared_items_on(items, is_made):
    assert is_possible("Two models on the same items", of_models(*items)) == is_made


def test_two_models_share_items_of_one_task_under_one_extractor():
    both = of_models("ab", "ab")
    assert not is_possible("Two models on the same items", both.assign(extractor=both["model"]))
    assert not is_possible("Two models on the same items", both.assign(task=both["model"]))
    assert not is_possible("Two models on the same items", of_models("ab", "ab", score=None))
    assert not is_possible("Two models on the same items", pd.concat([of_models("ab", "a"), of_models("a", "a")]))


@pytest.mark.parametrize(
    ("changes", "is_made"),
    [
        ([{"variant": "base"}, {"variant": "short"}], True),
        ([{"variant": "base"}, {"variant": "base"}], False),
        ([{"variant": "base"}, {"variant": "short", "item_id": "t/1"}], False),
        ([{"variant": "base"}, {"variant": "short", "status": "absent"}], False),
        ([{"variant": "base", "axis": "identity"}, {"variant": "short", "axis": "identity"}], False),
    ],
)
def test_prompts_of_one_item_are_compared_within_an_axis(changes, is_made):
    harmless = rows_of(*[{"axis": "style"} | change for change in changes])
    assert is_possible("Several prompts of one item", harmless=harmless) == is_made


@pytest.mark.parametrize(
    ("axis", "variant", "is_made"),
    [("option_order", "right at 2", True)] + [("option_order", "base", False), ("style", "right at 2", False)],
)
def test_the_score_rate_needs_moved_options(axis, variant, is_made):
    assert is_possible("lm-eval's SCORE rate", frame=rows_of({}, {"axis": axis, "variant": variant})) == is_made


def grouped(n_groups, n_items=20, n_scored=20, category=""):
    """Items in groups; the first `n_scored` have a score, and the last one may be of no group."""
    items = [f"t/{i}" for i in range(n_items)]
    categories = [f"group {i % n_groups}" for i in range(n_items)]
    if category is None:
        categories[-1] = ""
    table = pd.DataFrame({"item_id": items, "category": categories})
    rows = rows_of(*[{"item_id": item, "score": 1.0 if i < n_scored else None} for i, item in enumerate(items)])
    return is_possible("Standard errors by subject or template", rows, items=table)


def test_groups_are_compared_where_a_models_scored_items_name_enough_of_them():
    assert grouped(LEAST_TEMPLATES) and not grouped(LEAST_TEMPLATES - 1)
    assert grouped(LEAST_TEMPLATES, n_scored=LEAST_TEMPLATES) and not grouped(LEAST_TEMPLATES, n_scored=LEAST_TEMPLATES - 1)
    assert not grouped(LEAST_TEMPLATES + 1, n_items=40, n_scored=40, category=None)
    assert grouped(LEAST_TEMPLATES + 1, n_items=40, n_scored=39, category=None)


@pytest.mark.parametrize(
    ("title", "tables", "is_made"),
    [
        ("Reported scores against the rows", {}, False),
        ("Reported scores against the rows", {"reported": [{"readout": "acc"}]}, True),
        ("Reported flip rates", {"reported": [{"readout": "acc"}]}, False),
        ("Reported flip rates", {"reported": [{"readout": "acc"}, {"readout": "Flip_rate"}]}, True),
        ("Reported flip rates", {"reported": [{"readout": "acc", "metric": "flips"}]}, True),
        ("Reported flip rates", {"reported": [{"readout": "flips", "metric": "acc"}]}, False),
        ("Calls that failed or were cut off", {"calls": pd.DataFrame({"n": [0]})}, False),
        ("Calls that failed or were cut off", {"calls": pd.DataFrame({"n": [1]})}, True),
        ("Contradicting right answers", {"items": pd.DataFrame({"target": ["1", None]})}, False),
        ("Contradicting right answers", {"items": pd.DataFrame({"target": ["1", "2"]})}, True),
        ("Repeated questions", {"items": pd.DataFrame({"target": ["1"]})}, False),
        ("Repeated questions", {"items": pd.DataFrame({"target": ["1", "2"]})}, True),
        ("Keys and answers by place", {"items": pd.DataFrame({"options": [["a", "b"]] * LEAST_ITEMS})}, True),
        ("Keys and answers by place", {"items": pd.DataFrame({"options": [["a", "b"]] * 19 + [["a"]]})}, False),
        ("Wordings, examples and leaks of prompts", {"prompts": pd.DataFrame({"item_id": ["a"] * LEAST_ITEMS})}, True),
        ("Wordings, examples and leaks of prompts", {"prompts": pd.DataFrame({"item_id": ["a"] * (LEAST_ITEMS - 1)})}, False),
    ],
)
def test_a_check_of_a_table_needs_its_rows(title, tables, is_made):
    assert is_possible(title, **tables) == is_made


def test_the_lines_say_what_the_log_lacks():
    assert Coverage(2, (("Repeated prompts", "no prompt was asked twice"),)).lines() == [
        "Repeated prompts: no prompt was asked twice."
    ]


def test_of_many_models_the_first_dozen_are_compared():
    """The first two models share their items; by name the first one would be the last of thirteen."""
    rows = of_models("ab", "ab", *["c"] * (MAX_COMPARED - 1))
    names = {f"m-{i}": f"m {20 - i}" for i in range(MAX_COMPARED + 1)}
    assert is_possible("Two models on the same items", rows.assign(model=rows["model"].map(names)))
    assert not is_possible("Two models on the same items", pd.concat([rows[4:], rows[:4]]))


def test_checks_look_at_the_logs_own_prompts():
    """A prompt that was asked twice counts at the base alone, and so does a second readout."""
    changes = [{}, {"sample": 1}, {"extractor": "other"}]
    frame = rows_of(*changes).assign(is_correct=True, value=None).drop(columns=["score", "task"])
    items = pd.DataFrame({"item_id": ["t/0"], "target": ["1"], "options": [[]], "category": ""})

    def lacking(**change):
        log = AuditInput(frame.assign(**change), items, pd.DataFrame({"n": [3]}))
        return {title for title, _ in coverage(log).lacking} & {"Repeated prompts", "Two readouts of the same texts"}

    assert lacking() == set()
    assert len(lacking(variant="short")) == len(lacking(axis="style")) == 2
