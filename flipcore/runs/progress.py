"""Progress of a run, its pace, and sentences about how it ended."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from flipcore.runs.cluster.states import WorkerState, work_line
from flipcore.runs.cost import dollars
from flipcore.stats.base.estimate import number_text
from flipcore.text.counts import count_of

_ROUNDING = 1e-9
WINDOW_S = 30.0  # a rate is taken over the last seconds
MIN_SPAN_S = 3.0  # a rate over a shorter time would be chance
DONE, INCOMPLETE, FAILED, CANCELLED, OVER_BUDGET = (
    "done",
    "incomplete",
    "failed",
    "cancelled",
    "over_budget",
)
QUEUED = "queued"  # waits for its turn in this process
NOT_STARTED = "planned"  # declared and never begun
STOPPING = "stopping"  # cancelled, while the replies to calls already sent are awaited


@dataclass
class Progress:
    """Progress of a run. `Pace` sets `rate_per_s` and `eta_s`."""

    n_calls: int = 0  # expected; never less than n_done
    n_done: int = 0  # stored: answered or failed, by this run or before
    n_failed: int = 0
    n_reused: int = 0  # of n_done: answers that were stored before
    cost_usd: float = 0.0  # of this run
    rate_per_s: float = 0.0
    eta_s: float | None = None  # seconds left; None until there is a rate
    state: str = "running"
    message: str = ""
    trouble: str = ""  # a sentence while a server fails
    cut: str = ""  # sentences about answers that were cut off
    unreadable: tuple[str, ...] = ()  # a pilot's sentences on answers that no extractor reads
    workers: tuple[WorkerState, ...] = ()  # of a cluster

    @property
    def outlook(self) -> str:
        """A line with the calls per second, the time left, failures, and a server's trouble."""
        line = f", {_rate_text(self.rate_per_s)}" if self.rate_per_s else ""
        # Stored answers take no time, so without these words rate and time left would not agree.
        line += " asked, the others stored" if line and self.n_reused else ""
        line += "" if self.eta_s is None else f", about {self.eta_s:,.0f} s left"
        line += f", {self.n_failed:,} failed" if self.n_failed else ""
        if workers := work_line(self.workers):
            line += f"; {workers}"
        return f"{line}. {self.trouble}" if self.trouble else line


def _rate_text(per_s: float) -> str:
    return (
        f"{number_text(per_s, int(per_s < 2))} a second"
        if per_s >= 0.1
        else f"{number_text(60 * per_s, 1)} a minute"
    )


@dataclass
class Speed:
    """Answered calls per second over the last WINDOW_S seconds. Time counts from the first answer
    on, because starting says nothing about the rate afterwards."""

    # (time in seconds, calls answered by then), one entry per change of the count
    _counts: deque[tuple[float, int]] = field(default_factory=deque)

    def update(self, seconds: float, n_answered: int) -> float:
        """Note the answered calls at a time of a steady clock, and return the calls per second. 0.0
        until MIN_SPAN_S seconds are covered."""
        if n_answered and (not self._counts or n_answered != self._counts[-1][1]):
            self._counts.append((seconds, n_answered))
        while len(self._counts) > 2 and self._counts[1][0] <= seconds - WINDOW_S:
            self._counts.popleft()
        if not self._counts:
            return 0.0
        (start, n_start), (last, n_last) = self._counts[0], self._counts[-1]
        # Answers come in batches, so measure up to the last one, unless a stall lasts a window.
        span = (last if seconds - last < WINDOW_S else seconds) - start
        return (n_last - n_start) / span if span >= MIN_SPAN_S else 0.0


@dataclass
class Pace:
    """The pace of a run: how fast it asks, and how long it still takes. Stored answers take no
    time. Items come in random order, so the stored share of the remaining calls is about that of
    the latest ones. So the time left follows from the rate of both together."""

    _asking: Speed = field(default_factory=Speed)
    _answering: Speed = field(default_factory=Speed)

    def measure(self, progress: Progress, seconds: float) -> None:
        """Set the rate and the time left of `progress`, at a time of a steady clock."""
        n_sent = progress.n_done - progress.n_reused
        progress.rate_per_s = self._asking.update(seconds, n_sent)
        pace = self._answering.update(seconds, progress.n_done if n_sent else 0)
        progress.eta_s = (
            (progress.n_calls - progress.n_done) / pace
            if progress.rate_per_s > 0 and pace > 0 and progress.n_calls > progress.n_done
            else None
        )


def calls_text(n_calls: int, n_reused: int) -> str:
    """Say how many calls a study has, and how many were stored before: those are no replication."""
    calls = count_of(n_calls, "call")
    if not n_reused:
        return calls
    if n_reused >= n_calls:
        return (
            f"{calls}, all of them stored answers" if n_calls > 1 else f"{calls}, a stored answer"
        )
    return (
        f"{calls}, {n_reused:,} of them {'stored answers' if n_reused > 1 else 'a stored answer'}"
    )


_ENDING_WORDS = {
    DONE: "Done",
    INCOMPLETE: "Incomplete",
    FAILED: "Failed",
    CANCELLED: "Cancelled",
    OVER_BUDGET: "Stopped at its budget",
}
_MAX_TITLE_CHARS = 60


def window_title(endings: Sequence[tuple[str, str]]) -> str:
    """Return the title of the browser's tab for ended runs, given as (name, state). For example
    "Done: demo · Flipscope"."""
    if not endings:
        return "Flipscope"
    if len(endings) > 1:
        return f"{len(endings)} studies ended · Flipscope"
    ((name, state),) = endings
    title = " ".join(name.split())[:_MAX_TITLE_CHARS]
    return f"{_ENDING_WORDS.get(state, state)}: {title} · Flipscope"


def end_message(
    progress: Progress, budget_usd: float | None, spent_usd: float, first_error: str
) -> str:
    """Say how a run ended and what to do next; "" when there is nothing to say."""
    failed = (
        f" {count_of(progress.n_failed, 'call')} failed; Resume asks again."
        if progress.n_failed
        else ""
    )
    if progress.state == CANCELLED:
        return (
            f"Cancelled after {progress.n_done:,} of about {progress.n_calls:,} calls. Resume makes"
            f" only the missing calls.{failed}"
        )
    if progress.state == OVER_BUDGET:
        cap = "none" if budget_usd is None else dollars(budget_usd)
        more = ""
        if budget_usd is not None and spent_usd > budget_usd * (1 + _ROUNDING):
            more = " A server billed more for a call than its text and token limit allow."
        return (
            f"Stopped at its budget of {cap} after {progress.n_done:,} calls: {dollars(spent_usd)}"
            f" spent over all runs.{more} Raise the budget to go on.{failed}"
        )
    if progress.state == INCOMPLETE:
        error_text = f" The first error: {first_error}" if first_error else ""
        # A server's reply ends as it likes, and other sentences may follow.
        if error_text and not error_text.endswith((".", "!", "?", "…")):
            error_text += "."
        return (
            f"{progress.n_failed:,} of {progress.n_done:,} calls failed. Resume asks only those"
            f" again.{error_text}"
        )
    return failed.strip()
