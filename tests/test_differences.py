from hypothesis import given
from hypothesis import strategies as st

from flipcore.differences import word_differences


def test_a_changed_word_is_marked_and_nothing_else():
    assert word_differences("A red cat.", "A blue cat.") == [["same", "A "], ["new", "blue"], ["same", " cat."]]


def test_equal_texts_have_no_new_run_and_empty_text_has_none_at_all():
    assert word_differences("same", "same") == [["same", "same"]]
    assert word_differences("gone", "") == []


@given(st.text(), st.text())
def test_the_runs_join_to_the_changed_text(original, changed):
    assert "".join(text for _, text in word_differences(original, changed)) == changed
