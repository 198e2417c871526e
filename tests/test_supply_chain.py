"""What is brought along may be: licences, the lock file, and what an audit could not look up is no all-clear."""

import json
import re
from importlib.metadata import version

import pytest
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.supply_chain import LOCK, audited, closure, is_compatible, licence_of, requirements


def test_every_dependency_has_a_licence_that_goes_together_with_ours():
    packages = closure(requirements())
    assert len(packages) > 50
    assert {name: licence_of(one) for name, one in packages.items() if not is_compatible(licence_of(one))} == {}


@pytest.mark.parametrize(
    "licence", ["", "GPL-3.0-or-later", "AGPL-3.0", "MIT AND GPL-2.0-only", "LGPLv3", "Proprietary", "BUSL-1.1", "MITRE"]
)
def test_a_licence_that_is_not_known_to_go_together_is_none(licence):
    assert not is_compatible(licence)


def locked():
    text = LOCK.read_text(encoding="utf-8")
    return dict(re.findall(r"^([\w.\-]+)==([^ ;\\]+)", text, re.MULTILINE)), text


def test_the_lock_file_names_every_dependency_with_hashes_and_within_the_limits():
    versions, text = locked()
    names = {canonicalize_name(name) for name in versions}
    assert {canonicalize_name(one.name) for one in requirements()} <= names
    if not any(Version(version(one.name)) < Version(versions[canonicalize_name(one.name)]) for one in requirements()):
        assert set(closure(requirements())) <= names  # older releases, as the lowest that are allowed, ask for others
    for one in requirements():
        assert one.specifier.contains(versions[canonicalize_name(one.name)]), one
    for block in re.split(r"^(?=[\w.\-]+==)", text, flags=re.MULTILINE)[1:]:
        assert "--hash=sha256:" in block, block[:60]


@pytest.mark.parametrize(
    "packages, status, words",
    [
        ([{"name": "a", "version": "1", "vulns": [{"id": "CVE-1"}]}, {"name": "b", "skip_reason": "no"}], 1, "a 1: CVE-1"),
        ([{"name": "a", "version": "1", "vulns": []}, {"name": "b", "skip_reason": "no"}], 0, "in 1 packages; 1 could not"),
        ([{"name": "b", "skip_reason": "not found on PyPI"}], 0, "NOT looked up: not found on PyPI"),
        (None, 0, "NOT looked up"),
    ],
)
def test_what_could_not_be_looked_up_is_no_all_clear(packages, status, words):
    answer, sentence = audited("" if packages is None else json.dumps({"dependencies": packages}))
    assert answer == status and words in sentence
