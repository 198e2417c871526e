"""What every test may use."""

import os
import random
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


def pytest_addoption(parser):
    parser.addoption(
        "--simulations",
        metavar="SHARE:SEED",
        default="1:0",
        help="run a share of the tests marked `simulation`, drawn by this seed",
    )


def pytest_collection_modifyitems(config, items):
    """Leaves out the long simulations that were not drawn; which ones is the seed's choice, the same in every process."""
    share, seed = config.getoption("--simulations").split(":")
    left_out = [
        item
        for item in items
        if item.get_closest_marker("simulation") and random.Random(f"{seed} {item.nodeid}").random() >= float(share)
    ]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


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
