"""A declaration in a line each: what is asked, how it is read, how long it takes."""

import pytest

from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.reports.declaration import (
    design_sentence,
    duration_text,
    filter_text,
    in_order,
    items_summary,
    models_summary,
    n_answer_extractors,
    questions_summary,
    source_title,
)


def test_items_are_summed_up_with_their_role():
    sources = [ItemSource("flipscope_choice", n=24), ItemSource("pocket_prose", role="control"), ItemSource("mine")]
    line = items_summary(sources)
    assert line.startswith("24 of ") and "(control)" in line and line.endswith("all of mine")
    assert items_summary([]) == "which questions, in what role"


def test_axes_and_extractors_are_counted_or_what_is_to_be_chosen_is_said():
    both = questions_summary({"axes": [Part("option_order")], "extractors": [Part("regex"), Part("cloze")]})
    assert both == "1 axis, 2 extractors"
    assert questions_summary({"axes": [Part("option_order")]}) == "what is changed, and how the answer is read"


def test_settings_of_models_are_said_once_where_they_are_alike():
    models = [ModelUse("a"), ModelUse("b"), ModelUse("c", temperature=0.7, n_samples=2, max_tokens=1_000)]
    assert models_summary(models) == ("temperature 0, 1 sample, token limit 256; temperature 0.7, 2 samples, token limit 1,000")


def test_a_design_says_what_it_finds_before_what_that_rests_on():
    found, conditions = design_sentence(40, 40, n_cells=6)
    assert found.endswith("four times in five.") and conditions.startswith("10% of pairs flip")
    assert design_sentence(9, 9, n_cells=1) == ("Below 10 items there is no interval. Take more.", "")


def test_only_extractors_that_read_an_answer_of_this_kind_count():
    study = Study(
        "s",
        (ItemSource("flipscope_choice"),),
        (Part("option_order"),),
        (Part("regex"), Part("first_token"), Part("min_k"), Part("unheard_of")),
        (ModelUse("simulated-clean"),),
    )
    assert (n_answer_extractors(study, "choice"), n_answer_extractors(study, "number")) == (2, 1)


@pytest.mark.parametrize(("seconds", "text"), [(None, "unknown"), (119.4, "119 s"), (120, "2 min"), (3600, "60 min")])
def test_two_minutes_and_more_are_minutes(seconds, text):
    assert duration_text(seconds) == text


def test_a_source_is_called_by_its_title_and_one_of_the_hub_with_its_repository():
    assert source_title(ItemSource("hub", options={"repo": "a/b"})) == "A Hugging Face dataset (a/b)"
    assert source_title(ItemSource("mine")) == "mine"


@pytest.mark.parametrize(("wanted", "text"), [("test", "test"), ([1, 2], "[1, 2]"), (list(range(7)), "one of 7")])
def test_a_long_filter_is_counted(wanted, text):
    assert filter_text(wanted) == text


def test_parts_keep_the_order_of_the_draft_and_new_ones_come_last():
    parts = (Part("a"), Part("b"), Part("c"), Part("d"))
    assert [part.name for part in in_order(parts, (Part("d"), Part("b")))] == ["d", "b", "a", "c"]
