"""The table of readers on real outputs: what counts as right, wrong and abstained, and that no reader got worse on what people labelled."""

import pytest

from flipcore.core.records import Completion
from flipcore.extractors import extractor_of
from tests.extractors.test_real_outputs import asked
from tests.lab.readers import PEOPLE, TABLE, Output, count, sets

pytestmark = pytest.mark.usefixtures("allowed_folders")


def test_a_reading_is_right_wrong_or_abstained_by_its_label():
    item, variant = asked("Which of these is a metal?", ("tin", "rye", "oats"), "ABC")

    def output(text: str, letter: str | None) -> Output:
        agrees = lambda answer: (variant.labels[int(answer)] if answer is not None else None) == letter  # noqa: E731
        return Output(item, variant, Completion("c", "ok", text=text), agrees, letter is not None)

    outputs = (
        output("The answer is A.", "A"),
        output("The answer is B.", "A"),
        output("I would rather not say.", "A"),
        output("I would rather not say.", None),
        output("The answer is C.", None),
    )
    found = count(extractor_of("regex"), outputs)
    assert (found.n, found.read, found.right, found.wrong, found.abstained) == (5, 3, 2, 2, 1)
    assert count(extractor_of("text_match"), outputs).n == 0


def committed() -> dict[tuple[str, str, str], tuple[int, int, int]]:
    """(set, model, reader) -> right, wrong and abstained, of what people labelled."""
    lines = [line.strip("| ").split(" | ") for line in TABLE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    number = [[int(part.replace(",", "")) for part in line[6:9]] for line in lines[1:]]
    return {
        (line[0], line[1], line[3]): (right, wrong, abstained)
        for line, (right, wrong, abstained) in zip(lines[1:], number, strict=True)
        if line[2] == PEOPLE
    }


@pytest.mark.stand_in("lab/test_readers.py::test_a_reading_is_right_wrong_or_abstained_by_its_label")
@pytest.mark.slow
def test_no_reader_is_worse_on_what_people_labelled_than_the_table_says(shared_data):
    stated = committed()
    assert len(stated) == 16
    for one in sets(shared_data):
        for name in one.readers if one.by == PEOPLE else ():
            reader = extractor_of(name)
            right, wrong, _ = stated[one.name, one.model, reader.title]
            found = count(reader, one.outputs)
            assert found.right >= right and found.wrong <= wrong, (one.name, one.model, name)
