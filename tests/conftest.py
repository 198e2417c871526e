"""What every test may use."""

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

os.environ["FLIPSCOPE_HOME"] = tempfile.mkdtemp(prefix="flipscope-home-")  # nobody's own models are in a test

import flipcore  # noqa: F401 -- before scipy, so that linear algebra has the one thread that the package asks for
from flipcore.claims.claim import Claim
from tests.claims.sentences import check_made

# a busy machine is slow, not wrong: examples have no deadline of their own
settings.register_profile("flipscope", deadline=None)
settings.load_profile("flipscope")

# tests read files that they wrote or that stand in or beside the repository, and ask functions of their own
_HERE = Path(__file__).resolve()
os.environ.setdefault(
    "FLIPSCOPE_FOLDERS", os.pathsep.join(map(str, (tempfile.gettempdir(), _HERE.parents[1], _HERE.parents[2])))
)
os.environ.setdefault("FLIPSCOPE_CALLABLES", "tests.annotation.judging,tests.annotation.surveys.annotating")

ROOT = Path(__file__).resolve().parent.parent
SHARED_DATA = ROOT.parent / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data():
    """The folder of public benchmark files that are never copied into the repository."""
    if not SHARED_DATA.is_dir():
        pytest.skip("the public data files of ../shared/data are not on this machine")
    return SHARED_DATA


def _measured(make):
    """A claim of any test is made with its length looked at (`tests.claims.sentences`)."""

    def made(self, *args, **kwargs):
        make(self, *args, **kwargs)
        check_made(self)

    return made


Claim.__init__ = _measured(Claim.__init__)  # type: ignore[method-assign]
