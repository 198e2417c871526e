"""The sandbox as a backend: a call is a program with its tests, the completion is their verdict."""

import asyncio
import json
import platform
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path

from flipcore.core import sandbox, sandboxed
from flipcore.core.contracts import Backend
from flipcore.core.declared import declared
from flipcore.core.errors import BadInput
from flipcore.core.finish import STOP
from flipcore.core.records import SANDBOX, Call, Completion, digest


class CodeSandbox(Backend):
    """Runs programs for extractors. The same program runs only once for all its calls."""

    name = SANDBOX
    simulated = False

    def __init__(self) -> None:
        self.revision = _revision()
        self.abilities = frozenset() if sandbox.why_not() else frozenset({"generate"})
        self._stop = threading.Event()
        # As many programs at once as fit into memory.
        self._workers = ThreadPoolExecutor(sandbox.most_at_once(), "flipscope-sandbox")
        self._verdicts: dict[str, asyncio.Task[tuple[str, str]]] = {}

    def why_not(self, ability: str) -> str:
        return sandbox.why_not() or "The sandbox runs programs and does nothing else."

    async def complete(self, call: Call) -> Completion:
        try:
            program = declared(
                sandbox.Program, json.loads(call.request.prompt), where="The program"
            )
            key = digest(vars(program))
            if key not in self._verdicts:
                self._verdicts[key] = asyncio.create_task(self._run(program))
            verdict, reason = await asyncio.shield(self._verdicts[key])
        except (BadInput, OSError, ValueError) as error:
            return Completion(call.call_id, "failed", error=f"The code was not run. {error}")
        if verdict == sandbox.STOPPED:
            return Completion(
                call.call_id,
                "failed",
                error="The run was stopped before the code was run.",
                n_attempts=0,
            )
        text = f"{verdict}: {reason}" if reason else verdict
        return Completion(
            call.call_id,
            "ok",
            text=text,
            finish_reason=STOP,
            n_tokens_in=0,
            n_tokens_out=0,
            cost_usd=0.0,
        )

    async def _run(self, program: sandbox.Program) -> tuple[str, str]:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._workers, sandbox.run, program, self._stop)

    def halt(self) -> None:
        self._stop.set()

    async def close(self) -> None:
        self._workers.shutdown(wait=False, cancel_futures=True)


@lru_cache
def _revision() -> str:
    """Return a revision that changes with Python's version and the sandbox's source."""
    files = []
    for module in (sandbox, sandboxed):
        files.append(Path(module.__file__ or "").read_text(encoding="utf-8"))
    return f"{platform.python_version()}-{digest(*files)[:8]}"
