"""An upload whose line breaks midway, sent by a real browser: nothing of it is kept, and the next one is whole."""

import pytest

from flipcore.core.whole_files import DRAFT
from tests.browser.serving import Tunnel, browser_page

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.usefixtures("allowed_folders")]
SENT_BYTES = 300_000  # of more than a million


def on_disk(folder):
    """Every file beside the database."""
    return {path.relative_to(folder) for path in folder.rglob("*") if path.is_file() and not path.name.startswith("flips.")}


def send(page, tunnel, path):
    page.goto(f"http://localhost:{tunnel.port}/studies")
    page.locator("input[type=file]").first.set_input_files(str(path))


def test_a_cut_upload_leaves_nothing_and_the_next_is_whole(address, database, tmp_path):
    rows = [f"q{i},m-9,{int(i % 4 > 0)},{i:0>1100}" for i in range(1_000)]
    content = "\n".join(["item,model,score,note", *rows, ""]).encode()
    sent = tmp_path / "cut.csv"
    sent.write_bytes(content)
    folder = database.parent
    before = on_disk(folder)
    with Tunnel(int(address.rpartition(":")[2]), SENT_BYTES) as tunnel, browser_page() as page:
        page.set_default_timeout(60_000)
        page.add_init_script("localStorage.setItem('flipscope-tour', 'done')")
        send(page, tunnel, sent)
        page.get_by_test_id("stFileChipIconError").wait_for()
        assert tunnel.n_broken
        page.wait_for_timeout(2_000)  # what was half there would be kept by now
        assert on_disk(folder) == before
        tunnel.upload_bytes = None
        send(page, tunnel, sent)
        page.get_by_role("button", name="Import as a study").wait_for()
    assert "Traceback" not in database.with_suffix(".log").read_text()
    (kept,) = on_disk(folder) - before
    assert kept.parts[0] == "uploads" and (folder / kept).read_bytes() == content
    assert not list(folder.rglob(f"*{DRAFT}*"))
