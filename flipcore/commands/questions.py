"""Questions that a table leaves open: both readings with their scores, asked in a terminal, printed
anywhere else.

Nothing is claimed while a question is open: a command without somebody to answer ends with the code
`UNANSWERED`, and a program reads the questions as JSON.
"""

import json
import sys
from collections.abc import Callable, Sequence

from flipcore.datasets.tables.sentence import question_text
from flipcore.datasets.tables.table_reading import Question
from flipcore.runs.log_survey import Survey

UNANSWERED = 4
MOST_ROUNDS = 4  # of questions: an answer may raise another


class Unanswered(Exception):
    """A table can be read in two ways, and nobody is there to choose."""


class _Open(Exception):
    """A survey stops before it reads rows, because a question is open."""

    def __init__(self, survey: Survey) -> None:
        self.survey = survey


def settled(
    look: Callable[[list[str], Callable[[Survey], None]], Survey],
    words: Sequence[str],
    *,
    as_json: bool = False,
) -> Survey:
    """Return a survey without open questions, asked again with each answer in the words of `--map`.

    `look` surveys the files by such words and calls its second argument as soon as it is known how
    tables are read. Raises Unanswered after the questions were printed, where nobody can be asked.
    """
    chosen = list(words)
    is_asked = not as_json and _is_terminal()
    for _ in range(MOST_ROUNDS):
        try:
            return look(chosen, _say_or_stop)
        except _Open as stop:
            survey = stop.survey
        if not is_asked:
            print(_as_json(survey) if as_json else _as_text(survey))
            raise Unanswered
        question = survey.questions[0]
        print("\n".join([*survey.read_as[:1], question_text(question)]))
        chosen += question.choices[_keystroke() - 1].words
    raise Unanswered


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _say_or_stop(survey: Survey) -> None:
    if survey.questions:
        raise _Open(survey)


def _as_text(survey: Survey) -> str:
    asked = [question_text(question) for question in survey.questions]
    return "\n".join(
        [
            *survey.read_as[:1],
            *asked,
            (
                "Nothing is claimed until this is settled: give the words of one line again with"
                " --map."
            ),
        ]
    )


def _as_json(survey: Survey) -> str:
    questions = [_plain(question) for question in survey.questions]
    return json.dumps(
        {"read_as": survey.read_as, "questions": questions}, indent=2, ensure_ascii=False
    )


def _plain(question: Question) -> dict:
    choices = []
    for choice in question.choices:
        score = None if choice.score != choice.score else choice.score
        choices.append({"says": choice.says, "score": score, "map": list(choice.words)})
    return {"about": question.about, "seen": question.seen, "choices": choices}


def _keystroke() -> int:
    """1 or 2, by one key where the terminal can do that."""
    print("Which one, 1 or 2? ", end="", flush=True)
    while True:
        key = _read_key()
        if key in ("1", "2"):
            print(key)
            return int(key)
        if key in ("", "\x03", "\x04", "q"):
            print()
            raise Unanswered


def _read_key() -> str:
    try:
        import termios
        import tty
    except ImportError:  # no Unix terminal
        return sys.stdin.readline().strip()[:1]
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    try:
        tty.setcbreak(descriptor)
        return sys.stdin.read(1)
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
