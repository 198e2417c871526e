"""Two people, each with a study of their own, on every page of one server: neither is ever sent what the other looks at or typed,
and no secret of a link or a cookie is in anything that leaves the server."""

import pytest
import streamlit as st

from flipcore.access import policy, signing
from flipcore.access.acting import Level, Person, access_file, acting_as
from flipcore.core.study import ItemSource, ModelUse
from flipcore.invitations.links import enter, issue, link
from flipcore.reports.decision_record import entries
from flipcore.reports.exports.dataset import dataset_folder
from flipcore.reports.exports.document import report
from flipcore.runs import runner
from flipcore.store.archiving import back_up
from flipcore.store.connection import Store
from flipcore.store.export import export
from flipcore.store.queries import decisions, invitations
from flipcore.store.schema import tables
from flipcore.text.tables import table_text
from pages import navigation
from pages.common import identity
from tests.claims.walks import sent
from tests.pages.opening import PAGE_MARKS, few_permutations, opened, quiet
from tests.runs.test_runner import tiny_study

pytestmark = PAGE_MARKS
ONE_STORE = True
MODELS = {
    "Adalind": "simulated-brittle",
    "Bonifaz": "simulated-noisy",
}  # what tells one's study from the other's wherever it is shown
# a page -> what one's link says beside the study; {} stands for their name. The record is everybody's, and not among them
PAGES = {one.folder: {} for one in navigation.PAGES if one.link} | {
    "flips": {"item-search": "{}s-own-words"},
    "memorization": {"tab": "summary"},
    "report": {"part": "Sentences"},
    "glossary": {"term": "{}s-own-words"},
    "paraphrase_review": {"part": "Review"},
    "studies": {"find": "{}s-own-words"},
    "new_study": {"from_study": "{study}"},
    "models": {},
    "holdout": {"sets": "{sets}", "part": "Guide"},
}
SETS = {
    "Adalind": ("halves", "two halves of our own choices"),
    "Bonifaz": ("unlike", "our own word problems and pocket problems"),
}
SHARED = ("studies", "models")  # lists of all studies and models: what somebody looked for on them is their own
OTHERWISE = ("glossary", "paraphrase_review", "new_study", "holdout", *SHARED)  # what tells one's view there is not their model


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """(store, name -> (study id, cookie, link)) with access on."""
    folder = tmp_path_factory.mktemp("two")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FLIPSCOPE_HOME", str(folder))
        quiet(patch, folder / "flips.duckdb")
        few_permutations(patch)
        store = Store.open()
        patch.setattr(Store, "open", classmethod(lambda *_: store))
        access_file().write_text(policy.TEMPLATE)
        mine = {}
        for name, model in MODELS.items():
            study = tiny_study(name=f"Asks {model}", models=(ModelUse(model),), items=(ItemSource("flipscope_choice", n=8),))
            runner.run(study, store)
            with acting_as(Person("root", Level.ADMIN)):
                address = link(issue(store, name, Level.ANALYST), "http://localhost:8501")
            mine[name] = study.study_id, enter(store, address.partition("#")[2]).cookie, address
            with acting_as(Person(name, Level.ANALYST)):
                decisions.keep_decision(store, study.study_id, "decomposition", "explore", f"{model} it is.", {}, "")
        yield store, mine
        st.cache_resource.clear()
        store.close()


def seen_by(name, page, people, monkeypatch):
    """What this person's session is sent of a page, opened by a link of theirs."""
    study_id, cookie, _ = people[1][name]
    monkeypatch.setattr(identity, "_cookie", lambda: cookie)
    about = {key: value.format(name, study=study_id, sets=SETS[name][0]) for key, value in PAGES[page].items()}
    app = opened(f"{page}/page.py", study=study_id, **about)
    assert not app.exception
    return "\n".join(
        line for line in sent(app).replace("\\", "").splitlines() if "options:" not in line
    )  # both may choose every study and model


@pytest.mark.parametrize("page", PAGES)
def test_neither_is_sent_what_the_other_looks_at(people, monkeypatch, page):
    """One after the other and the first again: what one's visit left in a memory that all sessions share would be seen."""
    for name, other in (("Adalind", "Bonifaz"), ("Bonifaz", "Adalind"), ("Adalind", "Bonifaz")):
        text = seen_by(name, page, people, monkeypatch)
        assert f"{other}s-own-words" not in text and f"{MODELS[other]} it is." not in text
        if page not in OTHERWISE:
            assert people[1][name][0] in text or MODELS[name] in text, text[:2000]
            assert MODELS[other] not in text and people[1][other][0] not in text
        if page == "paraphrase_review":
            assert name in text and f'"{other}"' not in text
        if page == "studies":
            assert f"{name}s-own-words" in text
        if page == "new_study":
            assert f"Asks {MODELS[name]}" in text and f"Asks {MODELS[other]}" not in text and people[1][other][0] not in text
        if page == "holdout":
            assert SETS[name][1] in text and SETS[other][1] not in text


def test_no_secret_is_in_what_leaves_the_server(people, tmp_path):
    """Neither of a link nor of a cookie, nor what both are signed with: in exports, a report, a dataset, a copy of the database."""
    store, mine = people
    secrets = [signing.secret(), *(part.rpartition(".")[2].encode() for one in mine.values() for part in one[1:])]
    assert all(len(one) > 20 for one in secrets)
    study_id = mine["Adalind"][0]
    with acting_as(Person("root", Level.ADMIN)):
        paths = [*export(store, study_id, tmp_path, "csv"), *export(store, study_id, tmp_path), back_up(store)]
        contents = [path.read_bytes() for path in paths]
        contents += [report(store, study_id, 0).encode(), *dataset_folder(store, study_id).files.values()]
        acts = store.rows("SELECT DISTINCT act FROM acts WHERE who = 'root'")
    assert not any(secret in content for secret in secrets for content in contents)
    assert {"exported a study", "wrote a report", "packed a dataset", "backed up the database"} <= {act for (act,) in acts}


def test_a_name_that_gave_way_to_a_number_is_nowhere_any_more(people, tmp_path):
    """The last one here: Bonifaz is a number from now on, in every table, on the record, and in all that is taken away."""
    store, mine = people
    study_id = mine["Bonifaz"][0]

    def everything():
        with acting_as(Person("root", Level.ADMIN)):
            every = [store.frame(f"SELECT * FROM {name}").to_csv() for name in tables()]
            every += [path.read_text(encoding="utf-8") for path in export(store, study_id, tmp_path, "csv")]
            every += [table_text([one.row() for one in entries(store)], "md"), report(store, study_id, 0)]
            every += [content.decode("latin-1") for content in dataset_folder(store, study_id).files.values()]
        return "\n".join(every)

    assert "Bonifaz" in everything()
    with acting_as(Person("root", Level.ADMIN)):
        number = invitations.replace_name(store, "Bonifaz")
    text = everything()
    assert "Bonifaz" not in text and number in text
