"""A login by OpenID Connect, at a provider that runs here: the level by list, by claim, and none."""

import pytest

from flipcore.access.acting import access_file
from tests.annotation.paraphrases.pairs import made_pairs, stored
from tests.browser.serving import ROOT, browser_page, dashboard, free_port

# the provider in this process uses what its own libraries call old
pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.usefixtures("allowed_folders", "allowed_callables"),
]
LEVELS = """
[levels]
admin = ["ada@example.org"]
[claim]
name = "groups"
viewer = ["staff"]
"""
SECRETS = """
[auth]
redirect_uri = "http://localhost:{port}/oauth2callback"
cookie_secret = "a secret of this test that signs its cookies"
client_id = "flipscope"
client_secret = "unused"
server_metadata_url = "http://localhost:{provider}/.well-known/openid-configuration"
"""
PEOPLE = {
    "ada": {"email": "ada@example.org", "email_verified": True},
    "bo": {"email": "bo@example.org", "groups": ["staff", "others"]},
    "cy": {"email": "cy@example.org", "groups": ["others"]},
    "mallory": {"email": "ada@example.org", "email_verified": False},
}


@pytest.fixture
def address(tmp_path, monkeypatch):
    from flipcore.store.connection import Store

    monkeypatch.setenv("FLIPSCOPE_HOME", str(tmp_path))
    access_file().write_text(LEVELS)
    store = Store.open(tmp_path / "flips.duckdb")
    stored(store, made_pairs(3))
    store.close()
    provider = pytest.importorskip("oidc_provider_mock", reason="oidc-provider-mock is the provider of this test")
    users = [provider.User(sub=sub, claims=claims) for sub, claims in PEOPLE.items()]
    with provider.run_server_in_thread(user_claims=users) as server:
        port, secrets = free_port(), tmp_path / ".streamlit" / "secrets.toml"
        secrets.parent.mkdir()
        secrets.write_text(SECRETS.format(port=port, provider=server.server_port))
        with dashboard(ROOT / "app.py", tmp_path / "flips.duckdb", port, HOME=str(tmp_path)) as url:
            yield url
    assert "a secret of this test" not in (tmp_path / "flips.log").read_text()


def test_each_login_has_the_level_of_its_list_or_claim(address):
    with browser_page() as page:
        for sub in PEOPLE:
            window = page.context.browser.new_context().new_page()
            window.set_default_timeout(90_000)
            window.goto(address)
            window.get_by_role("button", name="Log in").click()
            window.get_by_role("button", name=sub, exact=False).first.click()
            if sub in ("ada", "bo"):
                window.get_by_role("heading", name="Studies").wait_for()
                window.goto(f"{address}/access")
                said = "Who did what" if sub == "ada" else "Only an admin may see"
                window.get_by_text(said).first.wait_for()
            else:
                window.get_by_text("no access was given to you").wait_for()
                window.goto(f"{address}/paraphrase_review")
                window.get_by_text("no access was given to you").wait_for()
                assert "apples" not in window.content()
            window.context.close()
