"""Who is next: studies that wait for their turn, a queue for each person, taken round robin so that nobody's runs starve another's.

A person has `at_once` studies running; what else they start waits in their own queue. Over all people at most MOST_RUNNING run.
Nothing here is stored or starts anything: the registry of runs asks, and holds the lock.
"""

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from flipcore.core.errors import BadInput
from flipcore.core.study import Study

VARIABLE = "FLIPSCOPE_RUNS"
MOST_RUNNING = 8  # of all people together; each run takes memory and keeps connections open


@dataclass(frozen=True)
class Turn:
    """A study that waits, and whose it is: the name of the identity, "" for the owner of the file."""

    study: Study
    person: str

    @property
    def study_id(self) -> str:
        return self.study.study_id


def runs_at_once() -> int:
    """How many studies of one person run at the same time, as FLIPSCOPE_RUNS says it: 1 without it. BadInput for what is no such
    number."""
    text = os.environ.get(VARIABLE, "").strip() or "1"
    if not text.isdecimal() or not 1 <= int(text) <= MOST_RUNNING:
        raise BadInput(f"{VARIABLE} is {text[:20]!r}; it must be a whole number from 1 to {MOST_RUNNING}.")
    return int(text)


class Queue:
    """The waiting studies of everybody."""

    def __init__(self, at_once: int = 1) -> None:
        self.at_once = at_once
        self._own: dict[str, list[Turn]] = {}  # in the order in which people had their last turn, longest ago first

    def add(self, turn: Turn) -> None:
        """At the end of the person's own queue. Somebody who was not waiting comes after those who were."""
        self._own.setdefault(turn.person, []).append(turn)

    def remove(self, study_id: str) -> Turn | None:
        """The turn that was given up; None where the study does not wait."""
        turn = self.turn(study_id)
        if turn is not None:
            self._own[turn.person].remove(turn)
            self._tidy()
        return turn

    def move(self, study_id: str, places: int) -> None:
        """Further to the front (negative) or to the back of the person's own queue, as far as there is room."""
        if (turn := self.turn(study_id)) is not None:
            own = self._own[turn.person]
            place = own.index(turn)
            own.insert(max(0, min(len(own) - 1, place + places)), own.pop(place))

    def turn(self, study_id: str) -> Turn | None:
        """Where the study waits, or None."""
        return next((turn for own in self._own.values() for turn in own if turn.study_id == study_id), None)

    def take(self, running: Mapping[str, str]) -> Turn | None:
        """The next that may start beside those that run (study -> person), no longer waiting; None where all have to wait."""
        if len(running) >= MOST_RUNNING:
            return None
        n_running = Counter(running.values())
        for person, own in self._own.items():
            if n_running[person] < self.at_once:
                turn = own.pop(0)
                self._own[person] = self._own.pop(person)  # now behind everybody else
                self._tidy()
                return turn
        return None

    def order(self) -> list[Turn]:
        """All that wait, as they will come if each takes as long: one of each person in turn."""
        own = list(self._own.values())
        return [turns[round_] for round_ in range(max(map(len, own), default=0)) for turns in own if round_ < len(turns)]

    def _tidy(self) -> None:
        self._own = {person: own for person, own in self._own.items() if own}
