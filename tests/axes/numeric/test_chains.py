"""Steps of a worked solution, from annotations and from prose."""

from fractions import Fraction

import pytest

from flipcore.axes.numeric.chains import MIXED, PROSE, steps


@pytest.mark.parametrize(
    ("line", "literals", "result"),
    [
        ("She sells 16 - 3 = <<16-3=13>>13 eggs.", "16 3", 13),
        ("3 times 5 equals 15", "3 5", 15),
        ("2(60) = 120", "2 60", 120),
        ("20% of $50 = $10", "1/5 50", 10),
        ("4/8 = .5 * 100% = 50%", "1/2 100", 50),
        ("15 / .5 = <<30=30>>30", "15 1/2", 30),
        ("$12 000 x 5/100 = $600", "12000 5 100", 600),
        ("3 miles/hour * 2 hours = 6 miles", "3 2", 6),
    ],
)
def test_equations_are_read_from_annotations_and_from_prose(line, literals, result):
    last = steps(line)[-1]
    assert (last.result, last.literals) == (result, tuple(map(Fraction, literals.split())))


def test_prose_may_stand_in_for_an_annotation_and_a_wrong_one_is_no_step():
    line = "He pays .5*(20+10) = <<.5*30=15>>15."
    assert [len(step.literals) for step in steps(line, MIXED)] == [3, 2]
    assert [len(step.literals) for step in steps(line, PROSE)] == [3]
    assert steps("So 3 + 4 = 8 and nothing else.") == []
    with pytest.raises(ValueError, match="<<3\\+4=8>> is not exact"):
        steps("So <<3+4=8>>8")
