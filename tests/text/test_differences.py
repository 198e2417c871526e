import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flipcore.text.differences import END_LETTERS, ends_of, word_differences


def test_a_changed_word_is_marked_and_nothing_else():
    assert word_differences("A red cat.", "A blue cat.") == [["same", "A "], ["new", "blue"], ["same", " cat."]]


def test_equal_texts_have_no_new_run_and_empty_text_has_none_at_all():
    assert word_differences("same", "same") == [["same", "same"]]
    assert word_differences("gone", "") == []


@pytest.mark.slow
@settings(max_examples=40)
@given(st.text(), st.text())
def test_the_runs_join_to_the_changed_text(original, changed):
    assert "".join(text for _, text in word_differences(original, changed)) == changed


def test_long_texts_of_repeated_words_take_no_cubic_time_and_keep_what_both_begin_and_end_with():
    original, changed = "Begin. " + "Long. " * 4000 + "End.", "Begin. " + "Lang. " * 4000 + "End."
    runs = word_differences(original, changed)  # with difflib alone this does not end
    assert [kind for kind, _ in runs] == ["same", "new", "same"] and runs[0][1] == "Begin. " and runs[-1][1].endswith("End.")


def test_a_long_stretch_alike_is_its_two_ends_and_how_long_the_rest_is():
    assert ends_of("a" * 3 * END_LETTERS) == "a" * 3 * END_LETTERS
    text = "b" * END_LETTERS + "c" * 1_000 + "d" * END_LETTERS
    assert ends_of(text) == "b" * END_LETTERS + "\n[… 1,000 letters alike …]\n" + "d" * END_LETTERS
