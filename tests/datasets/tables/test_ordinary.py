"""Ordinary tables, of kinds that researchers have on disk, are read as a person would, without a question.

Eight people who had not seen the code made forty each, wrote down the numbers of each system with
pandas, and read them only then, each after the rules of those before. At first try 138 of 320 were right
(or rightly refused), 13 asked about with need, 110 without, 39 wrong (in a reading, or in a remark beside
it) and 20 refused wrongly; of the last forty 21, 2, 10, 5 and 2. Eight of these are no tables of this kind,
and not kept. Of 106 and 105 it is arguable which score leads; the score here is before repeated rows are
left out (312).
"""

import json
from pathlib import Path

import pytest

from flipcore.datasets.tables.reading import MATCH, read_table

pytestmark = pytest.mark.usefixtures("allowed_folders")
FOLDER = Path(__file__).parent / "ordinary"
EXPECTED = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("file", EXPECTED)
def test_an_ordinary_table_is_read_as_a_person_reads_it(file):
    expected, reading = EXPECTED[file], read_table(FOLDER / file)
    said = "refused" if reading.refusal else "asked" if reading.questions else "read"
    assert said == expected["said"], reading.questions
    if said == "asked":
        assert [question.about for question in reading.questions] == expected["about"]
    if said == "read":
        lead = next(iter(reading.roles.graders), "")
        assert (reading.n_items, reading.n_runs, lead) == (expected["items"], expected["runs"], expected["lead"])
        scores = {arm: value for (arm, grader), value in reading.scores.items() if grader == (lead or MATCH)}
        assert scores == pytest.approx(expected["scores"], abs=1e-4)


def test_every_ordinary_table_has_an_expectation():
    assert {path.name for path in FOLDER.iterdir()} == {*EXPECTED, "expected.json"}
