"""What others are handed of a link."""

from flipcore.core.links import settings_from, settings_text, shared_query


def test_a_link_is_shared_without_what_belongs_to_one_visit():
    assert shared_query("?study=a%20b&as=Ada&view=projector&mode=&decision=d&study=c") == "study=a+b&mode=&study=c"
    assert shared_query("") == shared_query("?") == ""


def test_settings_go_through_a_link_and_only_those_of_the_page_come_out():
    start = {"level": 0.95, "policy": "own_class", "margin": None, "seed": 0}
    settings = {"level": 0.1 + 0.2, "policy": "left_out", "margin": 0.07, "seed": 3}
    assert settings_from(settings_text(settings), start) == settings
    assert settings_text({"level": 0.9, "margin": None}) == "level:0.9"
    assert settings_from("level:0.9,unknown:1,seed:nan,margin:<b>,policy:", start) == {"level": 0.9}
    assert settings_from("level", start) == settings_from("", start) == settings_from("level:inf,level:1e999", start) == {}
