"""Five packages, one for each kind of plug-in: built, installed into a folder, and used by a process of its own. Nothing in
Flipscope names them."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("allowed_folders")]
WHEELS = Path(__file__).parent / "wheels"
PACKAGES = ("flip-shout", "flip-last-letter", "flip-parrot", "flip-riddles", "flip-ratio")


def run(*words, **environment):
    result = subprocess.run(
        [sys.executable, *map(str, words)], cwd=ROOT, env=os.environ | environment, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-3000:]
    return result.stdout


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder that the five wheels were installed into."""
    place = tmp_path_factory.mktemp("wheels")
    for name in PACKAGES:
        tree = shutil.copytree(WHEELS / name, place / name)
        subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(place)], cwd=tree, check=True)
    wheels = sorted(place.glob("*.whl"))
    assert len(wheels) == len(PACKAGES)
    run("-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", place / "site", *wheels)
    return place / "site"


@pytest.fixture(scope="module")
def journey(site, tmp_path_factory):
    """What the process with the wheels on its path says of everything."""
    path = f"{site}{os.pathsep}{ROOT}"
    folder = tmp_path_factory.mktemp("journey")
    text = run("-W", "ignore", "-m", "tests.plugins.journey", folder, ROOT, PYTHONPATH=path)
    return json.loads(text.splitlines()[-1]) | {"folder": folder}


def test_both_studies_end_and_say_whose_plug_ins_they_used(journey):
    assert journey["states"] == ["done", "done", "done"]
    of = journey["origins"]["riddles"]
    assert of == (
        "dataset riddles of flip-riddles 1.0, axis shout of flip-shout 1.0, extractor last_letter of flip-last-letter 1.0, "
        "kind of model parrot of flip-parrot 1.0"
    )
    assert "flip-shout" in journey["study"] and journey["origins"]["ratio"] == ""


def test_the_command_line_lists_all_five(journey):
    lines = journey["command"]["plugins"].splitlines()
    assert [line.rsplit(", ", 1)[1] for line in lines] == [
        f"{name} 1.0" for name in ("flip-riddles", "flip-shout", "flip-last-letter", "flip-parrot", "flip-ratio")
    ]


def test_new_study_offers_them(journey):
    page = journey["pages"]["new_study"]
    assert not page["problems"]
    for words in ("Shouted question", "From the package flip-shout 1.0.", "Last letter", "Riddles", "parrot-1"):
        assert words in page["text"], words


def test_the_axis_and_the_extractor_are_in_statistics_and_claims(journey):
    text = journey["command"]["choices"]
    assert "Shout, last letter" in text and "Shout, written answer" in text


def test_the_detector_makes_a_claim_on_the_command_line_and_on_the_page(journey):
    assert "problems, loss ratio: Memory: " in journey["command"]["memory"]
    (one,) = [
        row for row in json.loads(journey["command"]["json"])["models"]["pocket"]["memory"] if row["name"] == "loss_ratio"
    ]
    assert one["asserted"] and one["decision"] == "memory" and one["n_controls"] == 24 and one["origin"] == "flip-ratio 1.0"
    assert not journey["pages"]["memorization"]["problems"] and not journey["pages"]["loss"]["problems"]
    assert "Loss ratio" in journey["pages"]["memorization"]["text"]
    assert "Loss ratio" in journey["pages"]["loss"]["text"]


def test_a_study_that_does_not_declare_the_detector_says_the_same_with_and_without_its_wheel(journey):
    def tests(text):
        return json.loads(text)["models"]["pocket"]["memory"]

    *with_wheel, outside = tests(journey["command"]["undeclared"])
    database = {"FLIPSCOPE_DB": str(journey["folder"] / "flips.duckdb")}
    assert with_wheel == tests(run("-m", "flipcore", "stats", "without", "--json", **database))
    assert outside["name"] == "loss_ratio" and not outside["asserted"] and "outside the family" in outside["sentence"]
    declared, without = (
        {one["name"]: one["p_adjusted"] for one in several} for several in (tests(journey["command"]["json"]), with_wheel)
    )
    assert declared["question_loss"] > without["question_loss"] and declared["loss_ratio"] is not None


def test_the_flip_map_opens_the_axis_and_the_export_holds_it(journey):
    page = journey["pages"]["flips"]
    assert not page["problems"] and "'shout'" in page["text"] and "Last letter" in page["text"]
    assert ",shout," in journey["readouts"] and ",last_letter," in journey["readouts"] and "parrot-1," in journey["readouts"]


def test_the_contract_tests_run_over_them(site):
    places = ("tests/axes/test_axes.py", "tests/extractors/test_contract.py", "tests/datasets/test_loading.py")
    names = "shout or last_letter or riddles or loss_ratio or parrot"
    out = run(
        *("-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "", "-k", names),
        *(*places, "tests/plugins/test_contracts.py"),
        PYTHONPATH=f"{site}{os.pathsep}{ROOT}",
    )
    assert "failed" not in out and "passed" in out
