"""What the driver itself can take: workers that answer at once, so that planning, messages, budget and the store are all there is."""

import tempfile
import time
from pathlib import Path

from flipcore.core.records import Completion
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.runs import runner
from flipcore.runs.cluster.place import Link
from flipcore.runs.cluster.where import ClusterPlace
from flipcore.runs.cluster.worker import Greeting, Reply
from flipcore.store.connection import Store
from tests.runs.cluster.in_process import InProcess

N_WORKERS = 4


class _AtOnce(Link):
    """A worker without a model: messages are pickled as they would be."""

    def __init__(self, cluster: InProcess, slot) -> None:
        self.cluster, self.name, self.n_at_once = cluster, slot.name, slot.n_at_once

    async def hello(self) -> Greeting:
        return Greeting(self.name)

    async def answers(self, calls):
        completions = [
            Completion(
                call.call_id, "ok", "The answer is (A).", "stop", n_tokens_in=40, n_tokens_out=6, cost_usd=0.0, latency_s=0.0
            )
            for call in self.cluster.carried(list(calls))
        ]
        yield self.cluster.carried(Reply(tuple(completions)))
        self.cluster.messages.clear()

    def halt(self) -> None:
        pass

    async def close(self) -> None:
        pass


class _Cluster(InProcess):
    def start(self, setup, slots, n_models):
        return [_AtOnce(self, slot) for slot in slots]


def driver_speed(n_calls: int) -> str:
    """A row for the table: calls, seconds, answers and readouts a second, bytes of the file a readout."""
    n_items = 40
    study = Study(
        "driver",
        (ItemSource("flipscope_choice", n=n_items),),
        (Part("option_order", {"n": 4}),),
        (Part("regex"),),
        (ModelUse("simulated-noisy", n_samples=n_calls // (4 * n_items), temperature=1.0),),
    )
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(Path(folder) / "flips.duckdb")
        began = time.monotonic()
        last = runner.run(study, store, place=ClusterPlace(_Cluster(N_WORKERS)))
        seconds = time.monotonic() - began
        ((n_readouts,),) = store.rows("SELECT count(*) FROM readouts")
        store.close()
        n_bytes = (Path(folder) / "flips.duckdb").stat().st_size
    assert last.state == "done", last.message
    return (
        f"| {last.n_done:,} | {seconds:,.1f} | {last.n_done / seconds:,.0f} | {n_readouts / seconds:,.0f} | "
        f"{n_bytes / max(n_readouts, 1):,.0f} |"
    )
