"""data/README.md lists the checksum of every shipped file, and the list is not stale."""

import hashlib
import re

from tests.conftest import ROOT

DATA = ROOT / "data"
LISTED = {
    path: checksum
    for checksum, path in re.findall(r"^([0-9a-f]{64})  (\S+)$", (DATA / "README.md").read_text("utf-8"), re.MULTILINE)
}


def test_every_listed_checksum_is_that_of_the_file():
    assert LISTED
    found = {path: hashlib.sha256((ROOT / path).read_bytes()).hexdigest() for path in LISTED}
    stale = [path for path, checksum in LISTED.items() if found[path] != checksum]
    assert stale == [], "run the command in data/README.md and put its lines there"


def test_every_item_paraphrase_and_name_file_is_listed():
    folders = ("items", "paraphrases", "names")
    shipped = {str(path.relative_to(ROOT)) for folder in folders for path in (DATA / folder).iterdir()}
    assert shipped == {path for path in LISTED if path.split("/")[1] in folders}
