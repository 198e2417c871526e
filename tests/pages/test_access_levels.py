"""Pages by access level: what each person's session is sent, and what a press of a button does."""

from contextlib import suppress

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from flipcore.access import policy
from flipcore.access.acting import ALL_SOURCES, QUEUE, Level, Person, access_file, acting_as
from flipcore.annotation.paraphrases.pair_files import Incoming, store_incoming
from flipcore.annotation.paraphrases.random_order import take
from flipcore.annotation.paraphrases.verdicts import verdict_row
from flipcore.core.errors import AccessDenied
from flipcore.invitations.links import enter, issue, link
from flipcore.runs import runner
from flipcore.store.connection import Store
from flipcore.store.judgements import PAIR_VERDICTS
from flipcore.store.queries import invitations, judgements
from pages.common import identity
from tests.annotation.paraphrases.pairs import OTHER, SAME, made_pairs, stored
from tests.browser.serving import ROOT
from tests.claims.test_every_way import sent
from tests.pages.opening import quiet, words
from tests.runs.test_runner import tiny_study

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.usefixtures("allowed_folders", "allowed_callables"),
]  # Streamlit's own: threads without a script context
ADMIN = Person("root", Level.ADMIN)
WALK = ("studies/page.py", "paraphrase_review/page.py", "access/page.py")  # any other is not in their navigation either
SECRETS = ("Bea Beispiel", "a reason of Bea's", "tiny study of secrets")


@pytest.fixture(scope="module")
def cookies(tmp_path_factory):
    """The cookie of each level, on a store with a study, pairs and a verdict of Bea's."""
    folder = tmp_path_factory.mktemp("levels")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FLIPSCOPE_HOME", str(folder))
        quiet(patch, folder / "flips.duckdb")
        store = Store.open()
        patch.setattr(Store, "open", classmethod(lambda *_: store))
        runner.run(tiny_study(name=SECRETS[2]), store)
        pairs = stored(store, made_pairs(4))
        judgements.keep(store, PAIR_VERDICTS, [verdict_row(next(iter(pairs.values())), SECRETS[0], OTHER, SECRETS[1])])
        access_file().write_text(policy.TEMPLATE)
        by_level = {"": ""}
        with acting_as(ADMIN):
            for level in ("reviewer", "viewer", "analyst", "admin"):
                one = issue(store, f"{level} one", level, QUEUE + ALL_SOURCES if level == "reviewer" else "")
                by_level[level] = enter(store, link(one, "").partition("#")[2]).cookie
        by_level["store"] = store
        yield by_level
        st.cache_resource.clear()
        store.close()


@pytest.fixture
def visit(cookies, monkeypatch):
    """Opens a page as somebody."""

    def opened(level, page="studies/page.py", **link):
        monkeypatch.setattr(identity, "_cookie", lambda: cookies[level])
        app = AppTest.from_file(str(ROOT / "pages" / "main.py"), default_timeout=180)
        for key, value in link.items():
            app.query_params[key] = value
        app.run()
        if page != "studies/page.py":
            with suppress(ValueError):  # a page that is not in their navigation: a link to it opens their own
                app.switch_page(page).run()
        return app

    return opened


def test_nobody_sees_the_entrance_alone(visit):
    for page in ("studies/page.py", "paraphrase_review/page.py"):
        app = visit("", page)
        assert not app.exception and "open to people who log in or were invited" in words(app)
        assert not any(secret in sent(app) for secret in (*SECRETS, "apples"))


@pytest.mark.parametrize("page", WALK)
def test_a_reviewer_sees_their_own_queue_and_nothing_else_on_every_page(visit, page):
    app = visit("reviewer", page, part="Agreement")
    text = sent(app)
    assert not app.exception and "apples" in text and "reviewer one" in text, text[-3000:]
    assert not any(secret in text for secret in SECRETS)
    names = {str(one.get("url_pathname")) for one in app._registered_pages.values()}
    assert names == {"", "paraphrase_review"}
    assert {one.label for one in app.button} == set() and not app.file_uploader and not app.text_input


def test_a_viewer_reads_and_a_write_is_a_sentence(visit, cookies):
    app = visit("viewer")
    assert not app.exception and SECRETS[2].split()[0] in words(app)
    app = visit("viewer", "models/page.py")
    before = access_file().parent.joinpath("models.toml").exists()
    next(one for one in app.button if one.label == "Add without a test").click().run()
    assert not app.exception and "Only an admin may add, test and remove models; you are a viewer" in words(app)
    assert access_file().parent.joinpath("models.toml").exists() == before
    app = visit("viewer", "paraphrase_review/page.py")
    assert not app.exception and "may judge paraphrases; you are a viewer" in words(app)


def test_a_viewer_forges_no_judgement_by_message_link_or_upload(visit, cookies):
    """Each is whole and would count from somebody who may judge; here nothing is written."""
    store = cookies["store"]
    pair = next(pair for pair in made_pairs(4) if pair["pair_id"].endswith("003"))
    row = verdict_row(pair, "Bea Beispiel", SAME)
    message = {"kind": "verdict", "id": "forged-message", "pair_id": pair["pair_id"], "said": SAME, "note": ""}
    forged = {
        "message": lambda: take(store, "Bea Beispiel", [message]),
        "upload": lambda: store_incoming(store, Incoming((), (), (row,), ())),
        "row": lambda: judgements.keep(store, PAIR_VERDICTS, [row]),
    }
    before = judgements.n_rows(store, PAIR_VERDICTS)
    with acting_as(Person("viewer one", Level.VIEWER)):
        for way, write in forged.items():
            with pytest.raises(AccessDenied, match="you are a viewer"):
                write()
            assert judgements.n_rows(store, PAIR_VERDICTS) == before, way
    for link_to in ({"name": "Bea Beispiel"}, {"part": "Queue", "name": "Bea Beispiel", "pair": pair["pair_id"]}):
        app = visit("viewer", "paraphrase_review/page.py", **link_to)
        assert not app.exception and "may judge paraphrases; you are a viewer" in words(app)
    assert judgements.n_rows(store, PAIR_VERDICTS) == before
    # The same message counts from who may judge, so it was refused for the level alone.
    with acting_as(ADMIN):
        receipt = take(store, "Ann", [message])
    assert not receipt.refusals and "forged-message" in receipt.acknowledged
    assert judgements.n_rows(store, PAIR_VERDICTS) == before + 1


def test_an_analyst_is_signed_as_who_they_are_and_has_no_access_page(visit):
    app = visit("analyst", "paraphrase_review/page.py")
    assert not app.exception and "analyst one" in sent(app) and "Your name" not in [one.label for one in app.text_input]
    app = visit("analyst", "access/page.py")
    assert "Who did what" not in words(app) and "Only an admin may see who may do what; you are an analyst" in words(app)
    assert not app.dataframe and not app.text_input
    app = visit("", "access/page.py")
    assert "Only an admin may see" not in words(app) and "open to people who log in" in words(app)


def test_the_access_page_says_how_to_switch_access_on_while_it_is_off(visit, monkeypatch, tmp_path):
    monkeypatch.setattr("flipcore.access.acting.access_file", lambda: tmp_path / "access.toml")
    app = visit("", "access/page.py")
    assert not app.exception and "Access is off" in words(app) and "python -m flipcore access on" in words(app)
    assert "Who did what" not in words(app) and not app.dataframe


def test_the_admin_invites_revokes_and_reads_the_log(visit, cookies):
    app = visit("admin", "access/page.py")
    assert not app.exception and "Who did what" in words(app) and "opened an invitation" in set(app.dataframe[1].value["act"])
    app.text_input(key="invite-name").set_value("New Person").run()
    next(one for one in app.button if one.label == "Issue the link").click().run()
    assert not app.exception and "/access/enter#" in app.code[0].value
    one = next(one for one in invitations.by_id(cookies["store"]).values() if one.name == "New Person")
    app.selectbox(key="revoke-which").set_value(one.invitation_id).run()
    next(one for one in app.button if one.label == "Revoke").click().run()
    assert not app.exception and not app.code
    assert invitations.by_id(cookies["store"])[one.invitation_id].revoked_at is not None
