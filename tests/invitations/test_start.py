"""Where the server may listen, and what it says."""

import pytest

from flipcore.access import policy
from flipcore.access.acting import access_file
from flipcore.core.errors import BadInput
from flipcore.invitations import start
from flipcore.invitations.start import is_local, start_sentence


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("FLIPSCOPE_HOME", str(tmp_path))
    monkeypatch.delenv(start.TRUSTED_VARIABLE, raising=False)


def test_which_addresses_only_this_machine_reaches():
    assert all(map(is_local, ("localhost", "127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "unix:///tmp/x", "/tmp/x")))
    assert not any(
        map(is_local, ("0.0.0.0", "::", "192.168.1.4", "example.org", "", "::ffff:10.0.0.1", "localhost.example.org"))
    )


def test_another_address_needs_access_or_a_trusted_network(monkeypatch):
    assert "this machine alone" in start_sentence("localhost")
    for address in ("0.0.0.0", "192.168.1.4", None, ""):
        with pytest.raises(BadInput, match="was not started"):
            start_sentence(address)
    monkeypatch.setattr("sys.argv", ["flipscope", "--trusted-network"])
    assert "may do everything" in start_sentence("0.0.0.0")
    monkeypatch.setattr("sys.argv", ["flipscope"])
    monkeypatch.setenv(start.TRUSTED_VARIABLE, "1")
    assert "may do everything" in start_sentence(None)


def test_with_access_on_it_says_so_and_refuses_a_file_that_cannot_be_used():
    access_file().write_text(policy.TEMPLATE)
    assert "access is on" in start_sentence("0.0.0.0")
    access_file().write_text("[")
    with pytest.raises(BadInput, match="not valid TOML"):
        start_sentence("0.0.0.0")
