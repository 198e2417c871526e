"""Every part of the review page: content or a sentence, never a traceback; files come in and go out through it."""

import json
import re
from dataclasses import replace

import pytest

from flipcore.annotation.judge_labels import label_row
from flipcore.annotation.key_review import MIN_OUTPUTS
from flipcore.annotation.paraphrases.random_order import review_view
from flipcore.annotation.paraphrases.verdicts import ADJUDICATION, verdict_row
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.datasets import load
from flipcore.models import cards
from flipcore.runs import demo, runner
from flipcore.store.connection import Store
from flipcore.store.judgements import KEY_VERDICTS, OUTPUT_LABELS, PAIR_VERDICTS
from flipcore.store.queries import judgements, judges, review, studies
from flipcore.store.rows import now
from pages.common.flip_verdicts import WORDS
from pages.paraphrase_review import judging, which_pairs
from tests.annotation.paraphrases.pairs import OTHER, SAME, made_pairs, stored
from tests.annotation.paraphrases.test_effect import reworded_study
from tests.annotation.proposals.test_proposing import reply
from tests.annotation.test_judge_labels import STUDY as JUDGED
from tests.models.server import Server
from tests.pages.opening import opened
from tests.pages.test_pages import path, words  # noqa: F401
from tests.runs.test_declared_memory import REWORDING, imported

ARTIFACTS = Study(
    name="artifacts",
    items=(ItemSource("flipscope_choice", n=30),),
    axes=(Part("option_order", {"n": 3}),),
    extractors=(Part("first_token"), Part("regex")),
    models=(ModelUse("simulated-artifact-prone"),),
)
BLIND = ("tests.annotation", "regex", "Written answer", "Judge")  # model and extractors of the judged study
PARTS = ["Review", "Agreement", "Effect", "Outputs", "Keys", "Propose and exchange"]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.usefixtures("allowed_folders", "allowed_callables"),
]  # Streamlit's own: threads without a script context


@pytest.fixture
def store(path, monkeypatch):  # noqa: F811
    """An open store that the page then shares; the demo neither seeds nor runs."""
    monkeypatch.setattr(demo, "fill_store", lambda store: None)
    monkeypatch.setattr("flipcore.runs.background.Registry.start", lambda self, study: None)
    opened = Store.open(path)
    monkeypatch.setattr("flipcore.store.connection.Store.open", classmethod(lambda *_: opened))
    yield opened
    opened.close()


def shown(part="Review", **link):
    name = link.pop("name", "")
    app = opened("paraphrase_review/page.py", {which_pairs.JUDGES_AS: name} if name else {}, part=part, **link)
    assert not app.exception
    return app


def button(app, label):
    return next(one for one in app.button if one.label == label)


@pytest.mark.parametrize("part", PARTS)
def test_an_empty_store_says_what_to_do(store, part):
    said = words(shown(part))
    assert {
        "Review": "no paraphrase to judge",
        "Agreement": "Nobody has judged",
        "Effect": "There is no paraphrase yet",
        "Outputs": "no output to read yet",
        "Keys": "No answer to an item with a key",
        "Propose and exchange": "nothing to download",
    }[part] in said


def test_a_name_opens_the_desk_and_leaving_closes_it(store):
    stored(store, made_pairs(4))
    app = shown()
    assert "You do not see what others said" in words(app)
    app.text_input(key="reviewer-name").set_value("  Ada  ")
    button(app, "Begin").click().run()
    assert (
        not app.exception
        and app.session_state[which_pairs.JUDGES_AS] == "Ada"
        and "as" not in app.query_params
        and not app.title
    )
    button(app, "Leave: somebody else judges now").click().run()
    assert "Your name" in [one.label for one in app.text_input]


def test_paraphrases_of_a_recording_come_up_in_the_queue_and_their_effect_is_shown(tmp_path, monkeypatch):
    monkeypatch.setattr(demo, "fill_store", lambda store: None)
    held, whole = imported(tmp_path, monkeypatch, *REWORDING, "control=random")
    monkeypatch.setattr("flipcore.store.connection.Store.open", classmethod(lambda *_: held))
    texts = []
    monkeypatch.setattr(
        judging,
        "review_view",
        lambda held, name, order, *rest, **more: (
            texts.extend(pair["paraphrase"] for pair in review.pairs(held, [place.pair_id for place in order])),
            review_view(held, name, order, *rest, **more),
        )[1],
    )
    shown(name="Ada")
    assert len(texts) == 60 and all(text.startswith("reworded: what does") for text in texts)
    said = words(shown("Effect", study=whole.study.study_id))
    assert "No person has reviewed a pair yet of table · table, recorded (60)." in said
    assert "No paraphrase of this study was struck out: 32% [" in said
    held.close()


def test_the_queue_follows_pairs_that_come_in_and_flips_that_come_back(store, monkeypatch):
    stored(store, made_pairs(4))
    orders, flips = [], {}
    monkeypatch.setattr(
        judging,
        "review_view",
        lambda held, name, order, *rest, **more: (
            orders.append([place.pair_id for place in order]),
            review_view(held, name, order, *rest, **more),
        )[1],
    )
    monkeypatch.setattr(which_pairs, "studies", lambda: {"study": "a study"})
    monkeypatch.setattr(which_pairs, "moved_by", lambda study_id: dict(flips))
    monkeypatch.setattr(review, "n_readouts_on_review_axes", lambda held, study_id: len(flips))
    app = shown(name="Ada", order=which_pairs.ORDERS["risk"])
    flips[orders[0][-1]] = 0.5
    app.run()
    stored(store, made_pairs(4, "another set"))
    app.run()
    assert not app.exception and [len(order) for order in (orders[0], orders[-1])] == [4, 8]
    assert orders[-1][0] == orders[0][-1] != orders[0][0]


def test_agreement_shows_coefficients_retention_and_the_disagreement_that_is_then_settled(store):
    pairs = made_pairs(12)
    stored(store, pairs)
    struck = {("Bea", 0), ("Ada", 1), ("Bea", 1)}
    judgements.keep(
        store,
        PAIR_VERDICTS,
        [
            verdict_row(pair, name, OTHER if (name, i) in struck else SAME)
            for i, pair in enumerate(pairs)
            for name in ("Ada", "Bea")
        ],
    )
    app = shown("Agreement")
    assert (
        "On 12 pairs judged by two or more, 92% of the judgements agree about keeping the pair [65, 99]. Too few: 20 pairs"
        in words(app)
    )
    assert "1 is still to settle" in words(app)
    for radio in app.radio:
        radio.set_value("yes")
    next(one for one in app.text_input if one.label == "Your name").set_value("Ada")
    button(app, "Settle it").click().run()
    assert "has judged this pair already" in words(app)
    next(one for one in app.text_input if one.label == "Your name").set_value("Cem")
    button(app, "Settle it").click().run()
    assert "give the reason" in words(app)
    next(one for one in app.text_input if one.label == "Reason").set_value("It asks the same.")
    button(app, "Settle it").click().run()
    assert not app.exception and "0 are still to settle" in words(app)
    settled = [row for row in judgements.standing(store, PAIR_VERDICTS) if row["rule_version"] == ADJUDICATION]
    assert [(row["reviewer"], row["note"]) for row in settled] == [("Cem", "It asks the same.")]
    assert list(studies.paraphrase_states(store)["state"])[:2] == ["accepted", "rejected"]


def test_two_reviewers_are_given_the_same_pairs(store):
    pairs = made_pairs(6)
    stored(store, pairs)
    judgements.keep(store, PAIR_VERDICTS, [verdict_row(pairs[0], "Ada", SAME)])
    app = shown("Agreement")
    app.button(key="same-pairs").click().run()
    assert not app.exception and app.session_state["part"] == "Review" and app.session_state["shared"] == 100


def test_models_are_shown_beside_people_and_never_among_them(store):
    pairs = made_pairs(12)
    stored(store, pairs)
    said = [verdict_row(pair, f"m{i}", SAME, reviewer_kind="model") for pair in pairs for i in range(2)]
    judgements.keep(store, PAIR_VERDICTS, said)
    agreement = words(shown("Agreement"))
    assert "No pair has been judged by two people yet" in agreement and "2 model reviewers" in agreement
    effect = words(shown("Effect"))
    assert "None of 1 source of paraphrases has passed" in effect and "model reviewers keep 12 of 12 pairs" in effect


def test_the_effect_follows_a_verdict_at_once(store, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setenv("FLIPSCOPE_DB", str(store.path))
    monkeypatch.setattr("flipcore.runs.background.Registry.watch_inbox", lambda self: None)
    demo.fill_store(store)
    runner.run(reworded_study(), store)
    monkeypatch.setattr(demo, "fill_store", lambda store: None)
    monkeypatch.setattr("flipcore.store.connection.Store.open", classmethod(lambda *_: store))
    app = shown("Effect")
    assert "of 2 sources of paraphrases" in words(app)
    assert "No paraphrase of this study was struck out" in words(app)
    asked = sorted(review.materials(store, reworded_study().study_id).values())
    pair = review.pairs(store, asked[:1])[0]
    against = [f"reviewer {i}" for i in range(2 * len(judgements.standing(store, PAIR_VERDICTS)) // len(review.pairs(store)))]
    judgements.keep(store, PAIR_VERDICTS, [verdict_row(pair, name, OTHER) for name in against])
    app.run()
    assert not app.exception and f"1 of {len(asked)} paraphrases were struck out" in words(app)


def test_outputs_are_labelled_by_keys_and_the_judges_gate_reads_the_labels(store):
    runner.run(JUDGED, store)
    app = shown("Outputs")
    assert "Nobody has labelled one of the" in words(app) and "100 labels are needed" in words(app)
    app.text_input(key="labels-name").set_value(" Ada ")
    button(app, "Label outputs").click().run()
    shown_to_ada = words(app) + " ".join(one.label for one in app.button)
    assert "What does this output answer?" in shown_to_ada
    assert not [one for one in BLIND if one in shown_to_ada]
    button(app, "No single answer").click().run()
    assert [row["answer"] for row in judgements.standing(store, OUTPUT_LABELS)] == [None]
    button(app, "Take the last one back").click().run()
    assert judgements.standing(store, OUTPUT_LABELS) == []
    texts = judges.judged_texts(store, JUDGED.study_id)
    judgements.keep(store, OUTPUT_LABELS, [label_row(one, "Bea", one["judged"]) for one in texts[:110]])
    button(app, "Stop, and see the errors").click().run()
    said = words(app)
    assert not app.exception and "The judge passes" in said
    assert re.search(  # an interval and n beside the share
        r"reads \d+% \[\d+, \d+\] of \d+ labelled outputs of tests.annotation.judging:reader otherwise than people do",
        said.replace("\\", ""),
    )
    table = next(one.value for one in app.dataframe if "reads otherwise" in one.value.columns)
    assert list(table["labels"]) == [110, *table["labels"][1:]] and table["extractor"].is_unique


def test_labels_in_order_of_doubt_are_in_no_estimate(store):
    runner.run(JUDGED, store)
    app = shown("Outputs")
    app.text_input(key="labels-name").set_value("Ada")
    app.selectbox(key="labels-order").set_value("doubt")
    button(app, "Label outputs").click().run()
    assert "no random sample" in words(app)
    button(app, "No single answer").click().run()
    assert [row["by_choice"] for row in judgements.standing(store, OUTPUT_LABELS)] == [True]
    button(app, "Stop, and see the errors").click().run()
    assert "Nobody has labelled one of the" in words(app)


def test_a_suspect_is_reviewed_blind_and_disputed_by_people_alone(store):
    one_output = f"fewer than {MIN_OUTPUTS} outputs: too few to suspect a key"
    runner.run(JUDGED, store)
    assert one_output in words(shown("Keys"))
    asked = replace(JUDGED, name="asked thrice", models=tuple(replace(one, n_samples=3) for one in JUDGED.models))
    runner.run(asked, store)
    app = shown("Keys", study=asked.study_id)
    assert one_output not in words(app)
    said = words(app)
    assert "a key that most answers disagree with" in said and "Nobody has reviewed one yet" in said and not app.dataframe
    app.text_input(key="keys-name").set_value("Ada")
    button(app, "Review keys").click().run()
    assert "What is the right answer?" in words(app)
    button(app, "Ambiguous").click().run()
    (row,) = judgements.standing(store, KEY_VERDICTS)
    assert (row["verdict"], row["by_choice"]) == ("ambiguous", True)
    button(app, "Take the last one back").click().run()
    assert judgements.standing(store, KEY_VERDICTS) == []
    button(app, "Unanswerable").click().run()
    button(app, "Stop, and see what people say").click().run()
    said = words(app)
    assert not app.exception and "1 item disputed" in said
    errata, effect = (one.value for one in app.dataframe)
    assert list(errata["people say"]) == ["unanswerable"] and list(errata["item_id"]) == [row["item_id"]]
    n_items = store.rows("SELECT count(*) FROM study_items WHERE study_id = $one", one=asked.study_id)[0][0]
    assert effect["number"][0].startswith("accuracy") and effect["items then"][0] == n_items - 1


def test_the_headline_of_a_study_leaves_out_a_judge_that_has_not_passed(store):
    runner.run(JUDGED, store)
    app = opened()
    assert not app.exception and "Left out, not reviewed enough: judge, judge backwards." in words(app)
    assert "The answer differs between two prompts of one question" in words(app)
    texts = judges.judged_texts(store, JUDGED.study_id)
    judgements.keep(store, OUTPUT_LABELS, [label_row(one, "Bea", one["judged"]) for one in texts[:110]])
    app.run()
    assert not app.exception and "not reviewed enough" not in words(app) and "JUDGE NOT PASSED" not in words(app)


def test_a_judge_that_passed_enters_claims_on_the_decomposition(store):
    runner.run(JUDGED, store)
    app = opened("flips/page.py", show="Parts")
    shut = " ".join(one.value for one in app.warning)
    assert "JUDGE NOT PASSED" in words(app) and "Not claimed" in words(app)
    assert "judge and judge backwards" in shut and "100 labels are needed" in shut
    texts = judges.judged_texts(store, JUDGED.study_id)
    judgements.keep(store, OUTPUT_LABELS, [label_row(one, "Bea", one["judged"]) for one in texts[:110]])
    app.run()
    assert not app.exception and "no claim" not in " ".join(one.value for one in app.warning)
    assert "JUDGE NOT PASSED" not in words(app)


def test_flips_marked_in_the_inspector_bound_g_on_the_decomposition(store):
    runner.run(ARTIFACTS, store)
    frame = studies.readouts(store, ARTIFACTS.study_id)
    frame = frame[(frame["axis"] == "option_order") & (frame["extractor"] == "first_token")]
    base = frame[frame["variant"] == "base"].set_index("item_id")["answer"]
    flipped = frame[frame["answer"] != frame["item_id"].map(base)].drop_duplicates("item_id")
    steady = frame[(frame["variant"] != "base") & (frame["answer"] == frame["item_id"].map(base))].iloc[0]
    app = inspected(flipped.iloc[0])
    app.text_input(key="flip-reviewer").set_value("Ada").run()
    button(app, WORDS["artifact"]).click().run()
    assert not app.exception and "You marked it artifact. Marked so far on this axis and extractor: 1 (0 genuine" in words(app)
    first = store.rows_of("SELECT * EXCLUDE (created_at) FROM flip_verdicts")[0]
    others = [one for one in dict.fromkeys(frame["item_id"]) if one != first["item_id"]]  # marks of other items are not read
    store.writer.add(
        "flip_verdicts",
        [
            first
            | {
                "flip_verdict_id": f"f{i}",
                "item_id": others[i],
                "created_at": now(),
                "verdict": "genuine" if i < 3 else "artifact",
            }
            for i in range(9)
        ],
    ).result(30)
    assert "there is no flip to judge here" in words(inspected(steady))
    app.session_state["show"] = "Parts"
    app.switch_page("flips/page.py").run()
    assert not app.exception and "Of 10 marked flips 3 are genuine, 7 artifact" in words(app).replace("\\", "")


def inspected(row):
    link = {"item": row["item_id"], "variant": row["variant"], "axis": "option_order", "readout": "first_token"}
    app = opened("flips/page.py", **link)
    assert not app.exception
    return app


def test_a_small_file_of_judged_pairs_comes_in_through_the_page(store):
    app = shown("Propose and exchange")
    rows = [
        f"{name};{i};Where is thing {i}, now?;Where now is thing {i}?;{name != 'Bea' or i > 3};apt"
        for name in ("Ada", "Bea", "Cyd")
        for i in range(12)
    ]
    content = "\n".join(["annotator;index;original;paraphrase-text;applied-correctly;apt", *rows]).encode()
    app.file_uploader(key="pairs-file").set_value(("small.csv", content, "text/csv")).run()
    assert not app.exception and "new pairs" in words(app)
    app.selectbox(key="column-paraphrase").set_value("paraphrase-text")
    app.selectbox(key="column-meaning").set_value("applied-correctly")
    app.selectbox(key="column-generator").set_value("apt").run()
    button(app, "Take them in").click().run()
    assert not app.exception and len({row["reviewer"] for row in judgements.standing(store, PAIR_VERDICTS)}) == 3
    assert "pairs judged by two or more" in words(shown("Agreement"))


def test_small_paraphrases_come_in_beside_their_originals_and_wait_for_review(store):
    app = shown("Propose and exchange")
    originals = [
        {"question": f"Ann has {i} pears and buys 4. How many?", "answer": f"<<{i}+4={i + 4}>>\n#### {i + 4}"} for i in range(8)
    ]
    pairs = [{"text": f"Question: Ann buys 4 pears and had {i}. How many now?\nAnswer: \n#### {i + 4}"} for i in range(8)]
    lines = ["\n".join(json.dumps(row) for row in rows).encode() for rows in (pairs, originals)]
    app.file_uploader(key="pairs-file").set_value(("small.jsonl", lines[0], "application/jsonl")).run()
    app.selectbox(key="originals-kind").set_value("gsm8k").run()
    app.file_uploader(key="originals-file").set_value(("test.jsonl", lines[1], "application/jsonl")).run()
    button(app, "Take them in").click().run()
    states = studies.paraphrase_states(store)
    assert not app.exception and len(states) == 8 and set(states["state"]) == {"unreviewed"}


@pytest.mark.stand_in("test_a_small_file_of_judged_pairs_comes_in_through_the_page")
def test_pairs_and_verdicts_come_in_through_the_page(store, shared_data):
    app = shown("Propose and exchange")
    content = (shared_data / "apty" / "apty_base.csv").read_bytes()
    app.file_uploader(key="pairs-file").set_value(("apty_base.csv", content, "text/csv")).run()
    assert not app.exception and "new pairs" in words(app)
    app.selectbox(key="column-paraphrase").set_value("paraphrase-text")
    app.selectbox(key="column-meaning").set_value("applied-correctly")
    app.selectbox(key="column-generator").set_value("apt").run()
    button(app, "Take them in").click().run()
    assert not app.exception and len({row["reviewer"] for row in judgements.standing(store, PAIR_VERDICTS)}) == 15
    states = studies.paraphrase_states(store)
    assert set(states["dataset"]) == {"apty_base"} and set(states["state"]) == {"accepted", "rejected"}
    shut = shown("Effect")
    assert "sources of paraphrases" in words(shut)
    assert "pairs judged by two or more" in words(shown("Agreement"))


@pytest.mark.stand_in("test_small_paraphrases_come_in_beside_their_originals_and_wait_for_review")
def test_rewordings_of_gsm8k_come_in_beside_their_originals_and_wait_for_review(store, shared_data):
    app = shown("Propose and exchange")
    pairs = (shared_data / "rephrase" / "rephrase_gsm8k.jsonl").read_bytes()
    originals = (shared_data / "gsm8k" / "test.jsonl").read_bytes()
    app.file_uploader(key="pairs-file").set_value(("rephrase_gsm8k.jsonl", pairs, "application/jsonl")).run()
    app.selectbox(key="originals-kind").set_value("gsm8k").run()
    app.file_uploader(key="originals-file").set_value(("test.jsonl", originals, "application/jsonl")).run()
    button(app, "Take them in").click().run()
    assert not app.exception and len(studies.paraphrase_states(store)) > 1300
    desk = shown(name="Ada", shared="100")
    assert not desk.exception and not desk.title


def reworded_by(server, monkeypatch):
    """The page with a server behind it that the cards name `lab`."""
    card = cards.ModelCard(
        "lab", "openai_compatible", model="m", endpoint=server.url, price_in=0.0, price_out=0.0, n_in_flight=1
    )
    monkeypatch.setattr("flipcore.annotation.proposals.proposing.model_cards", lambda: {"lab": card})
    app = shown("Propose and exchange")
    app.slider(key="propose-n").set_value(1)
    app.text_area(key="propose-paraphrase-1").set_value("In other words, please: {text}").run()
    return app


def test_a_model_proposes_with_an_edited_prompt_and_its_proposals_wait(store, monkeypatch):
    item = load(ItemSource("flipscope_choice"))[0]
    with Server(reply(f"Here is a rewording: {item.question} Say so.")) as server:
        app = reworded_by(server, monkeypatch)
        app.button(key="propose").click().run()
        assert server.bodies[0]["messages"][-1]["content"] == f"In other words, please: {item.question}"
    assert not app.exception and "1 of 1 proposals passed the rules" in words(app)
    row = studies.paraphrase_states(store).iloc[0]
    assert row["state"] == "unreviewed" and row["generator"].startswith("lab: paraphrase, edited")


def test_a_server_that_refuses_is_one_sentence(store, monkeypatch):
    with Server(("status", 400, {})) as server:
        app = reworded_by(server, monkeypatch)
        app.button(key="propose").click().run()
    assert not app.exception and "No text came back for any of the 1 questions" in words(app)
    app.text_area(key="propose-paraphrase-1").set_value("no place").run()
    assert not app.exception and "it needs it once" in words(app)


def test_a_model_proposes_translations_which_wait_as_translations(store, monkeypatch):
    item = load(ItemSource("flipscope_choice"))[0]
    text = "Toda barca que sai de Brannock num domingo está cheia. Hoje a Kittiwake saiu de Brannock cheia. O que se segue sobre hoje?"
    with Server(reply(text)) as server:
        card = cards.ModelCard(
            "lab", "openai_compatible", model="m", endpoint=server.url, price_in=0.0, price_out=0.0, n_in_flight=1
        )
        monkeypatch.setattr("flipcore.annotation.proposals.proposing.model_cards", lambda: {"lab": card})
        app = shown("Propose and exchange")
        app.selectbox(key="propose-recipe").set_value("translation").run()
        app.text_input(key="propose-language").set_value("<b>").run()
        assert (
            not app.exception
            and "is no name of a language" in words(app)
            and not [one for one in app.button if one.key == "propose"]
        )
        app.text_input(key="propose-language").set_value("brazilian  Portuguese").run()
        app.slider(key="propose-n").set_value(1).run()
        app.button(key="propose").click().run()
        assert server.bodies[0]["messages"][-1]["content"].startswith("Translate the text into brazilian Portuguese.")
    assert not app.exception and "1 of 1 proposals passed the rules" in words(app)
    (pair,) = review.pairs(store)
    assert (pair["item_id"], pair["change"], pair["paraphrase"]) == (item.item_id, "language:brazilian Portuguese", text)
    assert set(studies.paraphrase_states(store)["state"]) == {"unreviewed"}


def test_typos_are_proposed_by_rule_once_and_wait_for_review(store):
    app = shown("Propose and exchange")
    app.selectbox(key="propose-recipe").set_value("typos").run()
    app.slider(key="propose-typos-n").set_value(200).run()
    app.button(key="propose-typos").click().run()
    pairs = review.pairs(store)
    assert not app.exception and f"{len(pairs):,} of {len(pairs):,} proposals passed the rules" in words(app)
    assert len(pairs) > 20 and {one["change"] for one in pairs} == {"typos"}
    assert all(one["paraphrase"] != one["original"] for one in pairs)
    app.button(key="propose-typos").click().run()
    assert not app.exception and len(review.pairs(store)) == len(pairs)
    assert "has versions with typos already" in words(app)


def test_a_bad_file_is_a_sentence(store):
    app = shown("Propose and exchange")
    app.file_uploader(key="pairs-file").set_value(("a.csv", "original,paraphrase\na,b\n".encode("utf-16"), "text/csv")).run()
    assert not app.exception and "UTF-16" in words(app)
