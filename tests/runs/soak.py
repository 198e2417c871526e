"""Twenty faults of a server on small and large studies: `python -m tests.runs.soak` writes soak.md.

Every run must end, in a state that is true: done when every call was answered, incomplete when some were not, failed with the
server's words when it stayed away; what it counted is what is stored; and a resume against a sound server is done.
"""

import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from flipcore.core import folders
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.models import ModelCard, model_cards
from flipcore.models.openai import retries
from flipcore.runs import plan, runner
from flipcore.store.connection import Store

TABLE = Path(__file__).with_name("soak.md")
SIZES = (20, 400)
LIMIT_S = 240.0
_HUGE = {"choices": [{"message": {"content": "x" * 300_000}}], "usage": {"prompt_tokens": 10**12, "completion_tokens": -5}}


def _share(prompt: str, percent: int) -> bool:
    return "What is" in prompt and sum(prompt.encode()) % 100 < percent  # never the control of a breaker


# name -> (states that are true, the fault of a prompt at its nth sight, t seconds after the first)
FAULTS: dict[str, tuple[tuple[str, ...], Callable]] = {
    "none": (("done",), lambda p, n, t: None),
    "503 for a second": (("done",), lambda p, n, t: ("status", 503) if t < 1 else None),
    "429 for a second": (("done",), lambda p, n, t: ("status", 429) if t < 1 else None),
    "429 with retry-after": (("done",), lambda p, n, t: ("status", 429, {"retry-after": "0.2"}) if n == 1 else None),
    "a fifth of first attempts dropped": (("done",), lambda p, n, t: ("drop",) if n == 1 and _share(p, 20) else None),
    "a tenth of first attempts hangs": (("done",), lambda p, n, t: ("slow", 6.0) if n == 1 and _share(p, 10) else None),
    "a third of first replies is cut": (("done",), lambda p, n, t: ("half",) if n == 1 and _share(p, 33) else None),
    "first replies are no JSON": (("done",), lambda p, n, t: ("malformed",) if n == 1 and _share(p, 50) else None),
    "first replies drip for ever": (("done",), lambda p, n, t: ("drip",) if n == 1 and _share(p, 5) else None),
    "prompts that always give 500": (("incomplete",), lambda p, n, t: ("status", 500) if _share(p, 12) else None),
    "prompts that always give 403": (("incomplete",), lambda p, n, t: ("status", 403) if _share(p, 12) else None),
    "prompts that are refused": (("incomplete",), lambda p, n, t: ("status", 400) if _share(p, 12) else None),
    "prompts without choices": (("incomplete",), lambda p, n, t: ("reply", {"choices": []}) if _share(p, 12) else None),
    "huge replies, absurd counts": (("done",), lambda p, n, t: ("reply", _HUGE) if _share(p, 3) else None),
    "no answer at all": (("failed",), lambda p, n, t: ("drop",)),
    "503 for ever": (("failed",), lambda p, n, t: ("status", 503)),
    "a wrong key": (("failed",), lambda p, n, t: ("status", 401)),
    "a wrong path": (("failed",), lambda p, n, t: ("status", 404)),
    "quota exhausted": (("failed",), lambda p, n, t: ("status", 429, {}, "insufficient_quota: add credit")),
    "gone after a while": (("failed", "done"), lambda p, n, t: ("drop",) if t > 0.5 else None),
}


@dataclass(frozen=True)
class Ended:
    """`problem` is "" when the end was true."""

    fault: str
    size: int
    state: str
    n_done: int
    n_failed: int
    n_requests: int
    seconds: float
    problem: str


def study(items: str, size: int) -> Study:
    source = ItemSource("file", n=size, path=items, columns={"question": "question", "target": "answer", "key": "id"})
    return Study(
        "soak", (source,), (Part("prompt_format", {"layouts": ["paren"]}),), (Part("regex"),), (ModelUse("lab", max_tokens=8),)
    )


def soaked(fault: str, size: int, folder: Path) -> Ended:
    """One run under a fault, checked, and resumed against a sound server."""
    from tests.runs.test_outages import Failing

    true, rule = FAULTS[fault]
    items = folder / "items.jsonl"
    items.write_text(
        "".join(f'{{"question": "What is {i} plus {i}?", "answer": "{2 * i}", "id": {i}}}\n' for i in range(400)),
        encoding="utf-8",
    )
    folders.admit(folder)
    declared = study(str(items), size)
    store = Store.open(folder / "flips.duckdb")
    outcome: dict = {}
    try:
        with Failing(rule) as server:
            _declare(server.url)
            began = time.monotonic()
            thread = threading.Thread(target=_run, args=(declared, store, outcome), daemon=True)
            thread.start()
            thread.join(LIMIT_S)
            seconds, n_requests = time.monotonic() - began, len(server.bodies)
            if "last" not in outcome:
                why = outcome.get("error", "did not end")
                return Ended(fault, size, "raises" if outcome else "hangs", 0, 0, n_requests, seconds, why)
            server.rule = lambda p, n, t: None
            problem = _untrue(outcome["last"], true, store, declared) or _unfinished(declared, store)
    finally:
        if outcome:
            store.close()
    last = outcome["last"]
    return Ended(fault, size, last.state, last.n_done, last.n_failed, n_requests, seconds, problem)


def _run(declared: Study, store: Store, outcome: dict) -> None:
    try:
        outcome["last"] = runner.run(declared, store)
    except Exception as error:
        outcome["error"] = f"{type(error).__name__}: {str(error)[:120]}"


def _declare(url: str) -> None:
    card = ModelCard("lab", "openai_compatible", model="m", endpoint=url, price_in=0.0, price_out=0.0, timeout_s=4.0)
    table = {**model_cards(), "lab": card}
    runner.model_cards = plan.model_cards = lambda: table
    retries.FIRST_WAIT_S = 0.1


def _untrue(last, true: tuple[str, ...], store: Store, declared: Study) -> str:
    n_ok, n_failed = store.rows("SELECT count(*) FILTER (status = 'ok'), count(*) FILTER (status <> 'ok') FROM completions")[0]
    stored = store.rows("SELECT state, message FROM studies WHERE study_id = $study_id", study_id=declared.study_id)[0]
    if last.state not in true:
        return f"ended {last.state}: {last.message[:80]}"
    if (n_ok + n_failed, n_failed) != (last.n_done, last.n_failed):
        return f"counted {last.n_done} done and {last.n_failed} failed, stored {n_ok} and {n_failed}"
    if stored != (last.state, last.message):
        return "the stored state is another"
    if (last.state == "done" and n_failed) or (last.state == "incomplete" and not n_failed):
        return "the state hides its calls"
    return ""


def _unfinished(declared: Study, store: Store) -> str:
    again = runner.run(declared, store)
    return "" if (again.state, again.n_failed) == ("done", 0) else f"resume ended {again.state}"


def main() -> None:
    lines = [
        "# Soak: faults of a server",
        "",
        "`python -m tests.runs.soak` writes this table. Every run is checked (its state is true, what it counted is stored) and",
        "then resumed against a sound server, where it has to end done. Waits are a fifth of the real ones; seconds are those of a",
        "busy machine.",
        "",
        "| fault | items | state | calls | failed | requests | s | true and resumed |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for fault in FAULTS:
        for size in SIZES:
            with tempfile.TemporaryDirectory() as folder:
                one = soaked(fault, size, Path(folder))
            lines.append(
                f"| {fault} | {size} | {one.state} | {one.n_done} | {one.n_failed} | {one.n_requests} | {one.seconds:.1f} | "
                f"{one.problem or 'yes'} |"
            )
            TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")
            print(lines[-1], flush=True)
    sys.stdout.flush()


if __name__ == "__main__":
    main()
