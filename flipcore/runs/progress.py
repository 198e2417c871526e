"""Progress of a run, and the sentences about how it ended."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from flipcore.runs.cluster.states import WorkerState, work_line
from flipcore.runs.cost import dollars
from flipcore.stats.base.estimate import number_text
from flipcore.text.counts import count_of

_ROUNDING = 1e-9
WINDOW_S, LEAST_S = 30.0, 3.0  # what "of late" is; below the least a rate is chance
DONE, INCOMPLETE, FAILED, CANCELLED, OVER_BUDGET = (
    "done",
    "incomplete",
    "failed",
    "cancelled",
    "over_budget",
)
# Waiting for its turn in this process; declared and never begun.
QUEUED, NOT_STARTED = "queued", "planned"
STOPPING = "stopping"  # somebody cancelled it, and calls that are on their way come in


@dataclass
class Progress:
    """The progress of a run. `n_done` calls are answered or failed, and stored; `n_reused` of them
    were answered by the store; `eta_s` is None until there is a rate. `trouble` is a sentence while
    a server fails, `cut` one about answers that were cut off, `unreadable` what a pilot says of
    answers that no reader reads. `rate_per_s` and `eta_s` are `Pace`'s. `cost_usd` is this run's.
    `workers` are those of a cluster."""

    n_calls: int = 0
    n_done: int = 0
    n_failed: int = 0
    n_reused: int = 0
    cost_usd: float = 0.0
    rate_per_s: float = 0.0
    eta_s: float | None = None
    state: str = "running"
    message: str = ""
    trouble: str = ""
    cut: str = ""
    unreadable: tuple[str, ...] = ()
    workers: tuple[WorkerState, ...] = ()

    @property
    def outlook(self) -> str:
        """A line on what is to come: calls a second, the time left, a server's trouble,
        failures."""
        words = f", {_rate_text(self.rate_per_s)}" if self.rate_per_s else ""
        # Without it the rate and the time left contradict each other.
        words += " asked, the others stored" if words and self.n_reused else ""
        words += "" if self.eta_s is None else f", about {self.eta_s:,.0f} s left"
        words += f", {self.n_failed:,} failed" if self.n_failed else ""
        if line := work_line(self.workers):
            words += f"; {line}"
        return f"{words}. {self.trouble}" if self.trouble else words


def _rate_text(per_s: float) -> str:
    return (
        f"{number_text(per_s, int(per_s < 2))} a second"
        if per_s >= 0.1
        else f"{number_text(60 * per_s, 1)} a minute"
    )


@dataclass
class Speed:
    """Calls answered a second of late. Counted from the first answer on: what a start takes says
    nothing of what is to come."""

    _points: deque[tuple[float, int]] = field(default_factory=deque)

    def at(self, seconds: float, n_answered: int) -> float:
        """With `n_answered` calls answered by this moment of a steady clock; 0.0 until there is
        enough to tell."""
        if n_answered and (not self._points or n_answered != self._points[-1][1]):
            self._points.append((seconds, n_answered))
        while len(self._points) > 2 and self._points[1][0] <= seconds - WINDOW_S:
            self._points.popleft()
        if not self._points:
            return 0.0
        (start, n_start), (last, n_last) = self._points[0], self._points[-1]
        # Answers come in batches; a stall counts.
        span = (last if seconds - last < WINDOW_S else seconds) - start
        return (n_last - n_start) / span if span >= LEAST_S else 0.0


@dataclass
class Pace:
    """The pace of a run: how fast it asks, and how long it still takes. Some of its calls are
    answered by the store, which takes no time, and items come in random order, so that of the calls
    that are left about as many need asking as of those that came of late.
    """

    _asking: Speed = field(default_factory=Speed)
    _both: Speed = field(default_factory=Speed)

    def measure(self, p: Progress, seconds: float) -> None:
        """Set the rate and the time left of `p`, at this moment of a steady clock."""
        n_sent = p.n_done - p.n_reused
        p.rate_per_s = self._asking.at(seconds, n_sent)
        pace = self._both.at(seconds, p.n_done if n_sent else 0)
        p.eta_s = (
            (p.n_calls - p.n_done) / pace
            if p.rate_per_s > 0 and pace > 0 and p.n_calls > p.n_done
            else None
        )


def calls_text(n_calls: int, n_reused: int) -> str:
    """Say how many calls a study has, and how many of them it did not ask itself: that is no
    replication."""
    calls = f"{n_calls:,} call{'s' * (n_calls != 1)}"
    if not n_reused:
        return calls
    if n_reused >= n_calls:
        return (
            f"{calls}, all of them stored answers" if n_calls > 1 else f"{calls}, a stored answer"
        )
    return (
        f"{calls}, {n_reused:,} of them {'stored answers' if n_reused > 1 else 'a stored answer'}"
    )


_ENDED = {
    DONE: "Done",
    INCOMPLETE: "Incomplete",
    FAILED: "Failed",
    CANCELLED: "Cancelled",
    OVER_BUDGET: "Stopped at its budget",
}
_MOST_TITLE_CHARS = 60


def window_title(endings: Sequence[tuple[str, str]]) -> str:
    """Return the title of a browser's tab for runs that ended, (name, state) each: "Done: demo ·
    Flipscope"."""
    if not endings:
        return "Flipscope"
    if len(endings) > 1:
        return f"{len(endings)} studies ended · Flipscope"
    ((name, state),) = endings
    return f"{_ENDED.get(state, state)}: {' '.join(name.split())[:_MOST_TITLE_CHARS]} · Flipscope"


def end_message(p: Progress, budget_usd: float | None, spent_usd: float, first_error: str) -> str:
    """A sentence on how a run ended, with what to do next; "" when there is nothing to say."""
    failed = f" {count_of(p.n_failed, 'call')} failed; Resume asks again." if p.n_failed else ""
    if p.state == CANCELLED:
        return (
            f"Cancelled after {p.n_done:,} of about {p.n_calls:,} calls. Resume makes only the"
            f" missing calls.{failed}"
        )
    if p.state == OVER_BUDGET:
        cap = "none" if budget_usd is None else dollars(budget_usd)
        more = ""
        if budget_usd is not None and spent_usd > budget_usd * (1 + _ROUNDING):
            more = " A server billed more for a call than its text and token limit allow."
        return (
            f"Stopped at its budget of {cap} after {p.n_done:,} calls: {dollars(spent_usd)} spent"
            f" over all runs.{more} Raise the budget to go on.{failed}"
        )
    if p.state == INCOMPLETE:
        error_text = f" The first error: {first_error}" if first_error else ""
        return (
            f"{p.n_failed:,} of {p.n_done:,} calls failed. Resume asks only those"
            f" again.{error_text}"
        )
    return failed.strip()
