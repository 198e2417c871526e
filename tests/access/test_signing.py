"""The secret of this machine and what is signed with it."""

import stat

import pytest

from flipcore.access.signing import COOKIE, LINK, is_signed, key_of, secret, secret_path, signed
from flipcore.core.errors import BadInput


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("FLIPSCOPE_HOME", str(tmp_path / "own"))
    return tmp_path / "own"


def test_the_secret_is_made_once_for_its_owner_alone(folder):
    assert secret() == secret() and len(secret()) == 64
    assert stat.S_IMODE(secret_path().stat().st_mode) == 0o600
    assert [one.name for one in folder.iterdir()] == ["access-secret"]


def test_what_was_changed_is_not_signed():
    token = signed(LINK, "key", {"level": "viewer"})
    assert key_of(token) == "key" and is_signed(LINK, token, {"level": "viewer"})
    assert not is_signed(COOKIE, token, {"level": "viewer"}) and not is_signed(LINK, token, {"level": "admin"})
    assert not is_signed(LINK, "other" + token[3:], {"level": "viewer"}) and not is_signed(LINK, "key.é", {"level": "viewer"})


def test_a_secret_that_others_may_read_or_that_is_none_signs_nothing():
    secret()
    secret_path().chmod(0o644)
    with pytest.raises(BadInput, match="chmod 600"):
        secret()
    secret_path().chmod(0o600)
    secret_path().write_text("short")
    with pytest.raises(BadInput, match="holds no secret"):
        secret()
