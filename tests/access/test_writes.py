"""Every way to write, at every level: allowed, or a sentence and nothing written."""

from dataclasses import replace

import pytest

from flipcore.access import policy
from flipcore.access.acting import (
    ALL_SOURCES,
    MAY,
    NOBODY,
    OWNER,
    QUEUE,
    SURVEY,
    Level,
    Permission,
    Person,
    access_file,
    acting,
    acting_as,
)
from flipcore.access.tables import RULES, rule_of
from flipcore.annotation.flip_marks import mark_flip
from flipcore.annotation.paraphrases.publish import publish
from flipcore.annotation.paraphrases.random_order import take
from flipcore.annotation.proposals.proposing import propose
from flipcore.annotation.surveys.sheets import ask_model
from flipcore.core.errors import AccessDenied, BadInput, FlipscopeError
from flipcore.core.study import ItemSource
from flipcore.models import own_models
from flipcore.models.cards import ModelCard
from flipcore.models.openai.probe import listed_models
from flipcore.models.own_models import ask_and_keep
from flipcore.runs.background import Registry
from flipcore.runs.demo import demo_study
from flipcore.runs.rereading import judge_again, reread
from flipcore.runs.runner import run
from flipcore.store.archiving import archive, restore
from flipcore.store.connection import Store
from flipcore.store.judgements import OUTPUT_LABELS, PAIR_VERDICTS, SURVEY_ANSWERS
from flipcore.store.merge import merge
from flipcore.store.queries import budgets, decisions, exchange, holdout, judgements, locks, planning, review, studies
from flipcore.store.schema import tables
from flipcore.store.uploads import keep_upload

pytestmark = pytest.mark.usefixtures("allowed_folders", "allowed_callables")

PEOPLE = {
    "nobody": NOBODY,
    "reviewer": Person("ada", Level.REVIEWER, QUEUE + ALL_SOURCES),
    "annotator": Person("ada", Level.REVIEWER, SURVEY + "s1"),
    "viewer": Person("ada", Level.VIEWER),
    "analyst": Person("ada", Level.ANALYST),
    "admin": Person("ada", Level.ADMIN),
}
CARD = ModelCard("m", "openai_compatible", endpoint="http://localhost:9/v1", model="m")
STUDY = "none"
OTHERS = {"survey_id": "s1", "pair_id": "p"}
NOWHERE = replace(demo_study(), items=(ItemSource("no such dataset"),))
FLIP = dict.fromkeys(("study_id", "model", "item_id", "axis", "variant_id", "other_variant_id", "extractor"), "x")
# a way to write -> what it needs, and how it is done; what comes after the question of access may fail with a sentence
WAYS = {
    "verdict": (Permission.JUDGE, lambda s: take(s, "ada", [])),
    "flip mark": (Permission.DECIDE, lambda s: mark_flip(s, FLIP, "genuine", "ada")),
    "decision": (Permission.DECIDE, lambda s: decisions.keep_decision(s, STUDY, "p", "explore", "A.", {}, "ada")),
    "open question": (Permission.DECIDE, lambda s: decisions.keep_question(s, STUDY, "p", "Why?", "ada")),
    "lock": (Permission.DECIDE, lambda s: locks.keep_lock(s, STUDY, "p", {}, "ada", ["i"])),
    "items set aside": (Permission.DECIDE, lambda s: holdout.keep_aside(s, "r", ["a"], ["b"], 1.0)),
    "label": (Permission.DECIDE, lambda s: s.writer.add("judge_labels", [{"reviewer": "ada", "call_id": "c"}]).exception(10)),
    "key": (Permission.DECIDE, lambda s: s.writer.add("key_verdicts", [{"reviewer": "ada", "item_id": "i"}]).exception(10)),
    "start": (Permission.RUN, lambda s: Registry(s).start(NOWHERE)),
    "run": (Permission.RUN, lambda s: run(NOWHERE, s)),
    "pilot": (Permission.RUN, lambda s: Registry(s).pilot(NOWHERE, 1)),
    "cancel": (Permission.RUN, lambda s: Registry(s).cancel(STUDY)),
    "budget": (Permission.RUN, lambda s: budgets.set_budget(s, STUDY, 1.0)),
    "reread": (Permission.RUN, lambda s: reread(s, STUDY, "regex")),
    "judge again": (Permission.RUN, lambda s: judge_again(s, STUDY, "m")),
    "propose": (Permission.RUN, lambda s: propose([], None, None, s)),  # type: ignore[arg-type]
    "ask a model as annotator": (Permission.RUN, lambda s: ask_model(s, None, {}, "m", {})),  # type: ignore[arg-type]
    "upload": (Permission.BRING, lambda s: keep_upload("a.csv", b"x")),
    "paraphrases": (Permission.BRING, lambda s: review.keep_pairs(s, [{"pair_id": "p"}])),
    "survey": (Permission.BRING, lambda s: holdout.keep_survey(s, {"survey_id": "s1"}, [])),
    "answers of others": (Permission.BRING, lambda s: s.writer.add("survey_answers", [OTHERS | {"annotator": "bob"}]).exception(9)),
    "verdicts of others": (Permission.BRING, lambda s: s.writer.add("verdicts", [OTHERS | {"reviewer": "bob"}]).exception(9)),
    "publish": (Permission.PUBLISH, lambda s: publish(s, "A", repository="a/b")),
    "model": (Permission.MODELS, lambda s: own_models.save(CARD)),
    "remove a model": (Permission.MODELS, lambda s: own_models.remove("m")),
    "test a model": (Permission.MODELS, lambda s: ask_and_keep(CARD)),
    "list a server's models": (Permission.MODELS, lambda s: listed_models(CARD)),
    "delete": (Permission.FILES, lambda s: studies.delete_study(s, STUDY)),
    "archive": (Permission.FILES, lambda s: archive(s, STUDY)),
    "restore": (Permission.FILES, lambda s: restore(s, STUDY)),
    "merge": (Permission.FILES, lambda s: merge(["nowhere.duckdb"], s)),
    "a statement of one's own": (Permission.FILES, lambda s: s.writer.transact(lambda c: None).result(9)),
}  # fmt: skip


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("walk")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FLIPSCOPE_HOME", str(folder))
        patch.setenv("FLIPSCOPE_DB", str(folder / "walk.duckdb"))
        patch.setattr("flipcore.models.openai.probe.probed", _no_server)
        patch.setattr("flipcore.models.openai.probe.open_client", _no_server)
        patch.setattr(Registry, "_run", lambda *args: None)  # what a run stores is not looked at here
        opened = Store.open()
        access_file().write_text(policy.TEMPLATE)
        yield opened
        opened.close()


@pytest.mark.parametrize("who", PEOPLE)
def test_a_write_is_allowed_or_a_sentence(store, who):
    person, before = PEOPLE[who], _rows(store)
    with acting_as(person):
        refused = [way for way, (needs, _) in WAYS.items() if not person.may(needs)]
        for way in refused:
            with pytest.raises(AccessDenied, match=r"may not|may |not stored"):
                WAYS[way][1](store)
    assert _rows(store) == before
    assert len(refused) == {"nobody": 32, "reviewer": 31, "annotator": 32, "viewer": 32, "analyst": 9, "admin": 0}[who]


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_the_least_level_that_may_is_let_through(store, way):
    """What is missing here besides may be said or raised."""
    needs, write = WAYS[way]
    with acting_as(next(person for person in PEOPLE.values() if person.may(needs))):
        _allowed(write, store)


def _no_server(card):
    raise BadInput("There is no server here.")


def _allowed(write, store) -> None:
    """It gets past the question of access; what is missing here besides may be said or raised."""
    try:
        write(store)
    except AccessDenied:
        raise
    except (FlipscopeError, AttributeError, TypeError, KeyError):
        pass


def _rows(store) -> dict[str, int]:
    return {name: store.rows(f"SELECT count(*) FROM {name}")[0][0] for name in tables()}


def test_every_table_says_what_its_rows_need():
    assert set(RULES) == set(tables())
    assert rule_of("a table of tomorrow").needs is Permission.FILES
    for name, rule in RULES.items():
        assert not rule.person_column or rule.person_column in tables()[name].names
        assert not rule.act or rule.target_column in tables()[name].names


def test_levels_are_as_they_are_told():
    allowed = {level: {one for one in Permission if Person("x", level, QUEUE + ALL_SOURCES).may(one)} for level in Level}
    assert allowed[Level.NONE] == set() and allowed[Level.ADMIN] == set(Permission)
    assert allowed[Level.REVIEWER] == {Permission.JUDGE}
    assert allowed[Level.VIEWER] == {Permission.READ}
    assert allowed[Level.ANALYST] == set(Permission) - {Permission.MODELS, Permission.FILES, Permission.ACCESS}
    assert all(Level.ADMIN in levels for levels in MAY.values())


def test_nobody_is_asked_anything_while_access_is_off(store, tmp_path, monkeypatch):
    monkeypatch.setenv("FLIPSCOPE_HOME", str(tmp_path))
    with acting_as(NOBODY):
        assert acting() == OWNER and store.rows("SELECT 1") == [(1,)]
        assert Registry(store).cancel("none") is None
    assert OWNER.may(Permission.ACCESS)


def test_a_name_comes_from_the_identity_and_not_from_a_field(store):
    with acting_as(PEOPLE["analyst"]):
        decisions.keep_decision(store, "signed", "p", "explore", "A sentence.", {}, "Somebody Else")
        mark_flip(store, FLIP | {"study_id": "signed"}, "genuine", "Somebody Else")
    assert decisions.decisions(store, "signed")["reviewer"].to_list() == ["ada"]
    assert store.rows("SELECT reviewer FROM flip_verdicts WHERE study_id = 'signed'") == [("ada",)]
    acts = store.rows("SELECT who, level, act, target FROM acts WHERE target = 'signed' ORDER BY act")
    assert acts == [("ada", "analyst", "marked a flip", "signed"), ("ada", "analyst", "wrote a decision", "signed")]


def test_what_is_no_row_of_a_table_stands_in_the_log_with_who(store, tmp_path):
    """Models, uploads and what is taken away; who may only read leaves their own trace."""
    with acting_as(PEOPLE["admin"]):
        own_models.save(replace(CARD, name="told"))
        own_models.save(replace(CARD, name="told", model="n"), "told")
        own_models.remove("told")
        keep_upload("told.csv", b"told")
    with acting_as(PEOPLE["viewer"]):
        store.record_act("saved a file", "decisions.csv")
    with acting_as(PEOPLE["reviewer"]), pytest.raises(AccessDenied):
        store.record_act("saved a file", "decisions.csv")
    acts = store.rows(
        "SELECT who, level, act FROM acts WHERE target LIKE '%told%' OR target = 'decisions.csv' ORDER BY created_at"
    )
    assert acts == [
        ("ada", "admin", "added a model"),
        ("ada", "admin", "changed a model"),
        ("ada", "admin", "removed a model"),
        ("ada", "admin", "uploaded a file"),
        ("ada", "viewer", "saved a file"),
    ]


def test_a_reviewer_reads_only_what_judging_needs(store):
    with acting_as(PEOPLE["reviewer"]):
        assert review.pairs_with_source(store) == [] and judgements.standing(store, PAIR_VERDICTS, "ada") == []
        for read in (
            lambda: judgements.standing(store, PAIR_VERDICTS),
            lambda: judgements.standing(store, PAIR_VERDICTS, "bob"),
            lambda: studies.studies(store),
            lambda: holdout.surveys(store),
            lambda: judgements.standing(store, SURVEY_ANSWERS, "ada", survey_id="s1"),
            lambda: judgements.standing(store, OUTPUT_LABELS),
            lambda: store.rows("SELECT name FROM invitations"),
            lambda: list(exchange.rows_to_export(store, "any")),
            lambda: list(planning.written_answers(store, "any", ["choice"])),
            store.cursor,
        ):
            with pytest.raises(AccessDenied):
                read()
    with acting_as(PEOPLE["annotator"]):
        assert judgements.standing(store, SURVEY_ANSWERS, "ada", survey_id="s1") == []
        for read in (
            lambda: judgements.standing(store, SURVEY_ANSWERS, "bob", survey_id="s1"),
            lambda: judgements.standing(store, SURVEY_ANSWERS, survey_id="s1"),
            lambda: review.pairs_with_source(store),
        ):
            with pytest.raises(AccessDenied):
                read()


def test_a_reviewers_source_is_the_only_one_they_see(store):
    pair = {"item_id": "i", "original": "a", "paraphrase": "b", "generator": "g"}
    review.keep_pairs(store, [pair | {"pair_id": "in", "dataset": "one"}, pair | {"pair_id": "out", "dataset": "two"}])
    with acting_as(Person("cy", Level.REVIEWER, QUEUE + "one · g")):
        assert [row["pair_id"] for row in review.pairs_with_source(store)] == ["in"]
        assert [row["pair_id"] for row in review.pairs(store, ["in", "out"])] == ["in"]
        said = {"kind": "verdict", "said": {"meaning": "yes"}}
        receipt = take(store, "bob", [said | {"id": "1" * 20, "pair_id": "in"}, said | {"id": "2" * 20, "pair_id": "out"}])
        assert len(receipt.refusals) == 1
    assert store.rows("SELECT pair_id, reviewer FROM verdicts") == [("in", "cy")]
