"""Every choice on Ranking and Score: links, messages of a browser, decisions, locks and who may write them."""

import json

import pytest

from flipcore.access.acting import Level, Person, acting_as
from flipcore.core.errors import AccessDenied
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.runs import demo
from flipcore.store.connection import Store
from flipcore.store.queries import decisions, locks
from pages.components import boards
from tests.pages.opening import opened, quiet, words
from tests.stores import store_with

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("allowed_folders")]
STUDY = Study(
    "two models",
    (ItemSource("flipscope_choice", n=40),),
    (Part("identity"), Part("option_order", {"kind": "cyclic", "n": 2})),
    (Part("first_token"), Part("regex")),
    tuple(ModelUse(f"simulated-{name}") for name in ("artifact-prone", "clean")),
    confirmatory_share=0.4,
)
CHOICES = ("extractor", "reruns", "prompt", "weights", "categories")
VIEW = {"level": 0.9, "threshold": 0.0} | dict.fromkeys(CHOICES, "")


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return store_with(tmp_path_factory.mktemp("choices"), STUDY)


@pytest.fixture
def part(file, monkeypatch):
    """Opens the part; `app.boards` are the boards that were drawn, which answer with `sent`."""
    quiet(monkeypatch, file)
    monkeypatch.setattr(demo, "demo_studies", list)

    def open_part(page="ranking", sent=(None, None, None), **link):
        drawn = []

        def draw(board, **_):
            drawn.append(board)
            return sent

        monkeypatch.setattr(boards, "draw", draw)
        app = opened(f"{page}/page.py", study=STUDY.study_id, **{"show": "Every choice"} | link)
        assert not app.exception
        app.boards = drawn
        return app

    return open_part


def prompts_of(board):
    """The options of the prompt that the browser has the ways of."""
    (options,) = [choice["options"] for choice in board["rows"][0]["pictures"][0]["choices"] if choice["name"] == "prompt"]
    return [option["name"] for option in options]


@pytest.mark.parametrize("page", ["ranking", "score"])
def test_the_part_is_drawn_with_every_number_behind_it(part, page):
    app = part(page)
    (board,) = app.boards
    assert {control["name"] for control in board["controls"]} == {"level", "threshold"}
    assert tuple(choice["name"] for choice in board["choices"]) == CHOICES
    options, ways = (table.value for table in app.dataframe)
    assert "option order rotate-1 alone" not in set(options["option"]) and len(ways) > 2
    assert set(options["class"]) == {"equally defensible"}


def test_flips_of_each_change_and_extractor_are_a_decision_with_choices_of_their_own(part):
    app = part("flips")
    (board,) = app.boards
    assert [choice["name"] for choice in board["choices"]] == ["reference", "categories"]
    picture = board["rows"][0]["pictures"][0]
    assert (picture["ahead"], picture["words"]) == ("The extractor", ["ahead", "ahead"])
    assert "Every number" in [expander.label for expander in app.expander]
    assert len(app.selectbox(key="flips").options) == 2  # a change, an extractor, two models


def test_a_link_restores_level_margin_and_switches_and_what_nobody_has_is_left_out(part):
    text = "level:0.9,threshold:1.5,prompt:option_order%3Arotate-1"
    board = part(at=text, pair="simulated-clean v simulated-artifact-prone").boards[0]
    assert [control["start"] for control in board["controls"]] == [0.9, 1.5]
    assert {choice["name"]: choice["chosen"] for choice in board["choices"]}["prompt"] == "option_order%3Arotate-1"
    assert len(prompts_of(board)) == 3
    board = part(at="level:7,threshold:nan,prompt:nobody,other:x", pair="a v b", way="prompt=%00+x").boards[0]
    assert board["controls"][0]["start"] == 0.95
    assert len(prompts_of(board)) == 2


def test_a_way_of_other_weights_alone_says_that_items_weigh_otherwise(part):
    app = part("score", way="weights=alike")
    captions = [caption.value for caption in app.caption]
    assert "Every item counts as declared, but with another weight." in captions
    assert "It counts every item as the declared way does." not in captions


@pytest.mark.parametrize(
    "forged", [{"control": 5}, VIEW | {"level": "high"}, VIEW | {"prompt": None}, [1], "x", VIEW | {"level": 3}]
)
def test_a_forged_message_gets_a_sentence(part, forged):
    for place in range(2):
        sent = [None, None, None]
        sent[place] = forged
        assert "settings that this page does not have" in words(part(sent=tuple(sent)))


def test_a_decision_is_written_in_the_words_of_the_claim_with_its_choices(part, file):
    app = part(sent=(None, VIEW | {"sentences": ["Anything at all."]}, None))
    (radio,) = app.radio
    assert "Anything at all." not in radio.options and "ways of counting show it" in radio.options[0]
    app.text_input(key="decision-ranking_choices-name").set_value("Ada")
    app.button(key="decision-ranking_choices-keep").click().run()
    store = Store.open(file)
    row = decisions.decisions(store, STUDY.study_id).iloc[0]
    store.close()
    settings = json.loads(row["settings"])
    assert (
        "Prompt: the study's own or mean of 2 prompts (equally defensible)" in settings["choices"] and settings["level"] == 0.9
    )
    assert "ways of counting show it" in settings["ways"] and "Anything" not in row["sentence"]


def test_a_viewer_may_not_decide_and_a_lock_stores_the_choices(part, file):
    store = Store.open(file)
    with acting_as(Person("Vi", Level.VIEWER)), pytest.MonkeyPatch.context() as patch:
        patch.setattr("flipcore.access.acting.is_access_on", lambda: True)
        with pytest.raises(AccessDenied):
            decisions.keep_decision(store, STUDY.study_id, "ranking_choices", "explore", "x", {}, "Vi")
    store.close()
    app = part(**{"choices-mode": "Locked"})
    assert "Lock your settings" in words(app)
    app.text_input(key="lock-name-ranking_choices").set_value("Ada").run()
    app.button(key="lock-ranking_choices").click().run()
    assert not app.exception
    store = Store.open(file)
    lock = locks.lock_of_page(store, STUDY.study_id, "ranking_choices")
    store.close()
    stored = {row["name"]: [option["name"] for option in row["options"]] for row in lock["settings"]["choices"]}
    assert stored["prompt"] == ["own", "mean"]
    assert app.boards
    board = app.boards[-1]
    details = {detail for _, _, detail in board["rows"][0]["pictures"][0]["sentences"]}
    assert all("chosen before anybody saw the answers." in detail for detail in details)


def test_a_part_of_another_page_in_the_link_shows_the_order(part):
    assert part(show="Parts").boards[0]["kind"] != "curve"
