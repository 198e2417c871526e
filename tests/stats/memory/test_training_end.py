"""Publication dates of controls against a training cut-off."""

import pandas as pd

from flipcore.stats.memory.training_end import AFTER, BEFORE, UNKNOWN, control_rows, control_sentence

ITEMS = pd.DataFrame(
    {
        "dataset": ["a", "a", "b", "c"],
        "role": ["control", "control", "control", "benchmark"],
        "published": [pd.Timestamp("2024-05-01"), pd.Timestamp("2022-01-01"), None, None],
    }
)


def counted(cutoff):
    return control_rows(ITEMS, ["control"], cutoff)


def test_items_are_counted_by_set_and_by_what_is_known():
    rows = counted("2023-10-01").set_index(["dataset", "published"])["items"].to_dict()
    assert rows == {("a", AFTER): 1, ("a", BEFORE): 1, ("b", UNKNOWN): 1}
    assert set(counted(None)["published"]) == {UNKNOWN}


def test_what_may_have_been_seen_is_said_before_what_is_not_known():
    assert control_sentence(counted("2023-10-01"), "m", "2023-10-01", doses_known=False).startswith(
        "1 of 3 controls were published before"
    )
    assert "no publication date" in control_sentence(counted("2021-01-01"), "m", "2021-01-01", doses_known=False)
    assert "not declared" in control_sentence(counted(None), "m", None, doses_known=False)
    only = control_rows(ITEMS[:1], ["control"], "2023-10-01")
    assert "could not have seen them" in control_sentence(only, "m", "2023-10-01", doses_known=False)
    assert "manifest" in control_sentence(only, "pocket", None, doses_known=True)


def test_a_cutoff_that_names_only_the_month_does_not_clear_what_came_out_in_it():
    """2024-05 may mean its last day; read as its first, an item of the 15th would count as unseen."""
    items = ITEMS[:1].assign(published=pd.Timestamp("2024-05-15"))
    assert list(control_rows(items, ["control"], "2024-05")["published"]) == [UNKNOWN]
    assert list(control_rows(items, ["control"], "2024-04")["published"]) == [AFTER]
