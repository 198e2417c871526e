"""Questions about tables that can be read in two ways, shown with the scores of both readings.

In a terminal the user answers them. Elsewhere they are printed, as text or as JSON, and the command
ends with the exit code `UNANSWERED`. Nothing is claimed while a question is open.
"""

import json
import math
import sys
from collections.abc import Callable, Sequence

from flipcore.datasets.tables.sentence import question_text
from flipcore.datasets.tables.table_reading import Question
from flipcore.runs.log_survey import Survey

UNANSWERED = 4
MAX_ROUNDS = 4  # of questions, since an answer may raise another question


class Unanswered(Exception):
    """A table can be read in two ways, and nobody is there to choose."""


class _OpenQuestion(Exception):
    """Stops a survey before it reads rows, because a question is open."""

    def __init__(self, survey: Survey) -> None:
        self.survey = survey


def settle(
    look: Callable[[list[str], Callable[[Survey], None]], Survey],
    words: Sequence[str],
    *,
    as_json: bool = False,
) -> Survey:
    """Return a survey without open questions; repeat it with the user's answers.

    `look` surveys the files with corrections as in `--map`: `words`, and those of the answers. It
    calls its second argument as soon as it knows how it reads the tables. If no user can answer,
    print the questions and raise Unanswered.
    """
    corrections = list(words)
    has_user = not as_json and _is_terminal()
    for _ in range(MAX_ROUNDS):
        try:
            return look(corrections, _stop_at_question)
        except _OpenQuestion as stop:
            survey = stop.survey
        if not has_user:
            print(_as_json(survey) if as_json else _as_text(survey))
            raise Unanswered
        question = survey.questions[0]
        print("\n".join([*survey.read_as[:1], question_text(question)]))
        corrections += question.choices[_ask_number() - 1].words
    raise Unanswered


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _stop_at_question(survey: Survey) -> None:
    if survey.questions:
        raise _OpenQuestion(survey)


def _as_text(survey: Survey) -> str:
    end = "Nothing is claimed until this is settled: give the words of one line again with --map."
    return "\n".join([*survey.read_as[:1], *map(question_text, survey.questions), end])


def _as_json(survey: Survey) -> str:
    report = {"read_as": survey.read_as, "questions": list(map(_as_dict, survey.questions))}
    return json.dumps(report, indent=2, ensure_ascii=False)


def _as_dict(question: Question) -> dict:
    choices = []
    for choice in question.choices:
        score = None if math.isnan(choice.score) else choice.score  # JSON has no NaN
        choices.append({"says": choice.says, "score": score, "map": list(choice.words)})
    return {"about": question.about, "seen": question.seen, "choices": choices}


def _ask_number() -> int:
    """Return 1 or 2, as the user types it. Raises Unanswered if the user ends the command."""
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
    """Read one key, or without a Unix terminal the first letter of a line."""
    try:
        import termios
        import tty
    except ImportError:
        return sys.stdin.readline().strip()[:1]
    descriptor = sys.stdin.fileno()
    settings = termios.tcgetattr(descriptor)
    try:
        tty.setcbreak(descriptor)
        return sys.stdin.read(1)
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, settings)
