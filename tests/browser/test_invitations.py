"""Invitations in browsers: a link is opened once, reviewers judge at the same time under their own names, and nothing else opens."""

import os
import time

import pytest

from flipcore.access import policy, signing
from flipcore.access.acting import ALL_SOURCES, QUEUE, Level, Person, access_file, acting_as
from flipcore.invitations.links import ELSEWHERE, FOREIGN, REVOKED_LINK, issue, link, revoke
from flipcore.store.connection import Store
from tests.annotation.paraphrases.pairs import made_pairs, stored
from tests.browser.serving import ROOT, browser_page, dashboard, free_port
from tests.browser.test_main_job import no_fault, text_of
from tests.browser.test_review import all_stored, judge
from tests.browser.waiting import settled

pytestmark = pytest.mark.usefixtures("allowed_folders", "allowed_callables")

ADMIN = Person("root", Level.ADMIN)


def invited(folder, patch, n_people, n_pairs):
    """Database, port and links by name: a store of pairs with access on; one link more is revoked."""
    patch.setenv("FLIPSCOPE_HOME", str(folder))
    access_file().write_text(policy.TEMPLATE)
    database, port = folder / "flips.duckdb", free_port()
    store = Store.open(database)
    stored(store, made_pairs(n_pairs))
    with acting_as(ADMIN):
        people = [issue(store, f"Reviewer {i}", Level.REVIEWER, QUEUE + ALL_SOURCES) for i in range(n_people + 1)]
        revoke(store, people[-1].invitation_id)
    links = {one.name: link(one, f"http://localhost:{port}") for one in people}
    store.close()
    return database, port, links


def entered(browser, address):
    window = browser.new_context().new_page()
    window.set_default_timeout(120_000)
    window.goto(address)
    window.locator(".review .pair").wait_for()
    settled(window)
    return window


def verdicts(database):
    """Name -> verdicts that stand of people, after the server let the file go."""
    store = Store.open(database)
    rows = store.rows("SELECT reviewer, count(DISTINCT pair_id) FROM verdicts WHERE reviewer_kind = 'person' GROUP BY 1")
    ours = {name: n for name, n in rows if name.startswith("Reviewer ")}
    store.close()
    return ours


def n_chosen(database):
    """Verdicts that are not counted as drawn at random."""
    store = Store.open(database)
    ((n,),) = store.rows("SELECT count(*) FROM verdicts WHERE by_choice AND undoes IS NULL")
    store.close()
    return n


def secrets_of(links):
    return [signing.secret().decode(), *(one.rpartition(".")[2] for one in links.values())]


@pytest.mark.browser
@pytest.mark.slow
def test_three_reviewers_by_link_and_every_link_that_opens_nothing(tmp_path, monkeypatch):
    database, port, links = invited(tmp_path, monkeypatch, 3, 60)
    with dashboard(ROOT / "app.py", database, port) as address, browser_page() as page:
        browser = page.context.browser
        windows = {name: entered(browser, links[name]) for name in list(links)[:3]}
        for _ in range(3):
            for window in windows.values():
                judge(window, "yyy")
        for name, window in windows.items():
            all_stored(window, 3)
            assert "#" not in window.url and name not in window.url and no_fault(window)
            assert not any(other in text_of(window) for other in links if other != name)
        one = next(iter(windows.values()))
        for path in ("studies", "access", "decomposition", "paraphrase_review?part=Agreement&as=Reviewer+1"):
            one.goto(f"{address}/{path}")
            one.locator(".review .pair").wait_for()
            assert "Reviewer 1" not in text_of(one) and one.locator("h1").count() == 0
        token = links["Reviewer 0"]
        for bad, said in ((token, ELSEWHERE), (token + "A", FOREIGN), (links["Reviewer 3"], REVOKED_LINK)):
            page.goto("about:blank")
            page.goto(bad)
            page.get_by_text(said).wait_for()
        page.goto(f"{address}/studies")
        page.get_by_text("open to people who log in or were invited").wait_for()
        assert page.errors == []
    assert verdicts(database) == dict.fromkeys(windows, 3)
    files = [path.read_bytes() for path in (database, database.with_suffix(".log"))]
    assert not any(secret.encode() in content for secret in secrets_of(links) for content in files)


@pytest.mark.soak
def test_ten_reviewers_fifty_verdicts_each_and_a_restart_in_the_middle(tmp_path, monkeypatch):
    """REVIEWERS and VERDICTS in the environment make it smaller."""
    n_people, n_each = int(os.environ.get("REVIEWERS", 10)), int(os.environ.get("VERDICTS", 50))
    database, port, links = invited(tmp_path, monkeypatch, n_people, 1_500)
    names, start = list(links)[:n_people], time.monotonic()
    with browser_page() as page:
        with dashboard(ROOT / "app.py", database, port):
            windows = [entered(page.context.browser, links[name]) for name in names]
            opened = time.monotonic()
            for _ in range(n_each // 2):
                for window in windows:
                    judge(window, "yyy")
        # it went down right after the last keys, so some of these wait in the browsers, and a few are judged while it is away
        down = time.monotonic()
        for window in windows:
            judge(window, "yyy")
        with dashboard(ROOT / "app.py", database, port):
            for window in windows:
                all_stored(window, n_each // 2 + 1)
            back = time.monotonic()
            for _ in range(n_each - n_each // 2 - 1):
                for window in windows:
                    judge(window, "yyy")
            for window in windows:
                all_stored(window, n_each)
        assert page.errors == []
    end, by_name = time.monotonic(), verdicts(database)
    print(
        f"\n{sum(by_name.values())} of {n_people * n_each} verdicts, each under its own name, in {end - start:.0f} s: "
        f"{opened - start:.0f} s to open {n_people} windows, {down - opened:.0f} s to judge the first half, {back - down:.0f} s for "
        f"the restart until all was stored, {end - back:.0f} s for the second half"
    )
    assert by_name == dict.fromkeys(names, n_each)
    assert n_chosen(database) == 0  # also those that were given while the server was away
    log = database.with_suffix(".log").read_bytes()
    assert not any(secret.encode() in log for secret in secrets_of(links))
