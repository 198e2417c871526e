"""Mathematics: expressions that are equal are one answer, and no LaTeX takes more than its share of time and memory."""

import json
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from flipcore.core.errors import BadInput
from flipcore.core.records import OK, UNREADABLE, Item, correctness
from flipcore.extractors import extractor_of, mathematics
from flipcore.text.answers import text_target
from tests.extractors.asking import said, shown

pytestmark = pytest.mark.usefixtures("allowed_folders")

resource = pytest.importorskip("resource", reason="this system bounds no process")
# looked for and not imported: that takes two seconds of every worker's collection
pytestmark = pytest.mark.skipif(find_spec("math_verify") is None, reason="requirements-math.txt installs it")

DATA = Path(__file__).parents[3] / "shared/data/math_equal"
real = pytest.mark.skipif(not DATA.exists(), reason="the real outputs are not here")


def lines(name):
    return (DATA / name).read_text(encoding="utf-8").splitlines()


def read(text, target="7", kind="text", question="What is it?"):
    item = Item.make(dataset="t", key="1", kind=kind, question=question, target=target)
    return extractor_of("math").read(item, shown(item), [said(text)])


@pytest.mark.parametrize(
    "text, target",
    [
        ("The answer is ½.", ".5"),
        ("So it is $\\frac12$.", "0.5"),
        ("2/sqrt(8)", "\\frac{\\sqrt{2}}{2}"),
        ("x = 3 or x = -1", "\\{-1,3\\}"),
        ("The answer is $x=3$ or $x=-1$.", "-1,3"),
        ("\\boxed{3} or \\boxed{4}", "3,4"),
        ("It is [1, 2)", "[1,2)"),
        ("The answer is x^2 + 1", "1+x^{2}"),
        ("The answer is\n\\[\nx = \\frac{1}{2}\n\\]\nDone.", "1/2"),
        ("The answer is $5$ because $2+3=5$", "5"),
        ("The answer is 5 cm.", "5\\text{ cm}"),
        ("The answer is 1 800.", "1800"),
        ("It is east", "\\text{east}"),
        ("Let $a=2$.\n\nTherefore, $f(x)=x^2$.", "x^2"),
        ("The answer is $3$ or, in other words, $9/3$.", "3"),
    ],
)
def test_an_equal_expression_in_any_dress_is_the_right_answer(text, target):
    reading = read(text, target)
    assert (reading.status, reading.answer, correctness(reading, target)) == (OK, target, True)


@pytest.mark.parametrize(
    "first, second, answer",
    [
        ("$\\frac{1}{\\sqrt 2}$", "sqrt(2)/2", "0.707106781187"),
        ("$(x+1)^2$", "x² + 2x + 1", "x**2+2*x+1"),
        ("$\\frac{k^2-12k+32}{k^2-64}$", "$\\frac{k-4}{k+8}$", "(k-4)/(k+8)"),
        ("$2x+3y=5$", "$10-4x=6y$", "-2*x-3*y+5=0"),
        ("$x<3$", "$(-\\infty,3)$", "(-oo,3)"),
        ("$\\{2,1\\}$", "x=1 or x=2", "{1,2}"),
        ("12%", "$12\\%$", "12"),
        ("$e^{i\\pi}$", "-1", "-1"),
        ("1.5e3", "1,500", "1500"),
    ],
)
def test_wrong_answers_that_are_equal_are_one_answer_too_and_no_flip(first, second, answer):
    assert read(first).answer == read(second).answer == answer


def test_a_number_item_gets_the_number_that_other_readers_give():
    assert read("So $a=3$.\n\nThe answer is $14.50.", "29/2", "number").answer == "29/2"
    assert read("He ran the 400-meter hurdles in 36 seconds.", "12", "number").answer == "36"


@pytest.mark.parametrize(
    "text, why",
    [
        ("The answer is 18,50.", "may be a decimal or two numbers"),
        (
            "The side opposite $a$ has length $b$ in this case.\n\nWe find that $c$ grows with $d$ whatever that may mean.",
            "several",
        ),
        ("I do not know.", "does not know"),
        ("The answer is 5 apples and 6 pears.", "several numbers"),
        ("\\boxed{}", "empty"),
    ],
)
def test_what_cannot_be_decided_is_unreadable(text, why):
    reading = read(text, "x")
    assert reading.status == UNREADABLE and why in reading.reason


def test_the_span_holds_the_expression():
    text = "We add.\n\nThe answer is $\\frac{1}{2}$ m."
    assert text[slice(*read(text).span)] == "$\\frac{1}{2}$"


def test_without_the_library_a_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setattr(mathematics, "find_spec", lambda name: None)
    with pytest.raises(BadInput, match=re.escape("pip install -r requirements-math.txt")):
        read("1")


HOSTILE = [
    *(
        "9^{9^{9^{9}}}",
        "9**9**9**9",
        "10^{10^{10}}",
        "(10^{6})!",
        "((100!)!)!",
        "2^{1000000007}-1",
        "1/0",
        "0^{0}",
        "\\pm " * 40 + "1",
    ),
    *("\\sqrt{" * 300 + "2" + "}" * 300, "(" * 600 + "1" + ")" * 600, "\\frac{1}{" * 100 + "2" + "}" * 100, "{" * 1400),
    *(
        "\\left(" * 100 + "x" + "\\right)" * 100,
        "\\{" * 200 + "1" + "\\}" * 200,
        "[0,1]\\cup" * 100 + "[2,3]",
        "x=y=z=" * 100 + "1",
    ),
    *(
        "\\sum_{n=1}^{10^{9}} \\frac{1}{n^{n}}",
        "\\sum_{n=1}^{\\infty}\\frac{\\sin(n^{n})}{n!}",
        "\\prod_{n=1}^{10^{8}} (n^2+1)",
    ),
    *("\\int_0^1 \\int_0^x e^{\\sin(e^{t^{t}})} dt dx", "\\int e^{x^{x^{x}}} \\sin(\\ln(x^x)) dx"),
    *("\\lim_{x\\to\\infty} \\frac{x!^{x!}}{e^{e^{x}}}", "(x+y+z+w)^{1000}", "(a+b+c+d+e+f+g+h)^{60}", "x^{10^{12}}-1"),
    *("\\frac{(x+1)^{999}-(x-1)^{999}}{(x^2+1)^{500}}", "\\binom{10^{9}}{5\\cdot 10^{8}}", "1" * 1400, "0." + "1" * 1400),
    *(
        "9" * 700 + "^{" + "9" * 700 + "}",
        "\\sin(" * 60 + "x" + ")" * 60,
        "\\sqrt{2+" * 30 + "2" + "}" * 30,
        "e^{" * 40 + "1" + "}" * 40,
    ),
    *("1+" * 600 + "1", "x_" * 400 + "1", "\\tan(\\frac{\\pi}{2})^{10^{9}}", "\\Gamma(10^{7})+\\Gamma(\\frac{1}{3})^{10^7}"),
    *("\\sqrt[10^9]{10^{10^{5}}}", "\\log_{2}(2^{2^{40}})", "\\cos(10^{10^{6}})", "\\zeta(\\zeta(\\zeta(1.0000001)))"),
    "\\det\\begin{pmatrix}" + "\\\\".join("&".join(f"x^{{{i * j}}}" for j in range(9)) for i in range(9)) + "\\end{pmatrix}",
]


@pytest.mark.slow
def test_hostile_expressions_are_bounded_in_time_and_memory(monkeypatch):
    """As an answer, and as a right answer. What is ended is unreadable, and the next answer is read as ever."""
    monkeypatch.setattr(mathematics.expressions, "LIMIT_S", 0.3)
    worker = mathematics._Worker()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    replies = [worker.reply(hostile, ["5"]) for hostile in HOSTILE] + [worker.reply("5", [hostile]) for hostile in HOSTILE[:5]]
    worker.end()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert len(HOSTILE) >= 40 and None in replies
    assert (
        after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < len(replies) + 5
    )  # processor time, the start counted
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024  # what a child counts as its own until it runs its program
    assert after.ru_maxrss * 1024 <= max(1.1 * mathematics.expressions.MAX_BYTES, own)
    monkeypatch.undo()
    assert read("$\\frac12$", "0.5").answer == "0.5"


@pytest.mark.slow
def test_a_hostile_answer_is_unreadable_and_leaves_no_file(tmp_path, monkeypatch):
    monkeypatch.setattr(mathematics.expressions, "LIMIT_S", 0.3)
    assert "takes too long" in read("The answer is $\\boxed{((100!)!)!}$.").reason
    mark = tmp_path / "mark"
    read(f"The answer is $\\boxed{{\\text{{__import__('pathlib').Path('{mark}').touch()}}}}$.")
    read(f"The answer is __import__('pathlib').Path('{mark}').touch()+1")
    assert not mark.exists()


@real
@pytest.mark.slow
def test_the_authors_and_math_verify_score_real_answers_alike():
    from math_verify import parse, verify

    right, theirs, library = [], [], []
    for row in map(json.loads, lines("math_cot_100.jsonl")):
        gold = parse(f"${row['gt']}$")
        for text, score in list(zip(row["code"], row["score"], strict=True))[::4]:
            right.append(correctness(read(text, row["gt"], question=row["question"]), row["gt"]))
            theirs.append(score)
            library.append(verify(gold, parse(text)))
    assert sum(map(bool.__eq__, right, theirs)) >= len(right) - 2  # one of 100 golds is misread by the authors
    assert right == library


@real
@pytest.mark.slow
def test_right_answers_equal_themselves():
    golds = [json.loads(line)["answer"] for line in lines("college_math.jsonl")][::20]
    golds += [json.loads(line)["gt"] for line in lines("math_cot_100.jsonl")]
    for form in ("The answer is {}", "So it is $\\boxed{{{}}}$."):
        same = []
        for gold in golds:
            target = text_target([gold])
            text = form.format(target.replace("$", "") if "box" in form else target)
            same.append(correctness(read(text, target), target))
        assert sum(same) >= 0.95 * len(same)
