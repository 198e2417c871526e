"""What others are handed of a link."""

from flipcore.core.links import shared_query


def test_a_link_is_shared_without_what_belongs_to_one_visit():
    assert shared_query("?study=a%20b&as=Ada&view=projector&mode=&decision=d&study=c") == "study=a+b&mode=&study=c"
    assert shared_query("") == shared_query("?") == ""
