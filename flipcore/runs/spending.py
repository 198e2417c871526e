"""The cap of a study over all its runs: what is spent, what is on its way, and what one more call may cost.

What is set aside for a call is an upper bound as long as the server bills what it declares: at most a token a byte of the prompt
and no more than the token limit. What one bills beyond that is known by its bill alone. So the first bills of all models come one
at a time, and the cap can be passed by one call that is billed beyond all bounds, and by calls of a model whose bills go on rising.
"""

from collections.abc import Mapping
from types import MappingProxyType

from flipcore.core.records import Call, Completion
from flipcore.models.cards import ModelCard
from flipcore.runs.cost import call_bound, lost_price

_SLACK = 1e-12  # sums of floats


class Spending:
    """`spent_usd` counts all runs of the study. A server that bills more than the bound teaches `factor`, which raises what is
    set aside for its next calls; until a model's first bill of this run is known, whatever it billed before, its call goes alone
    among such."""

    def __init__(
        self,
        cap_usd: float | None,
        spent_usd: float,
        cards: Mapping[str, ModelCard],
        overbilling: Mapping[str, float] = MappingProxyType({}),
    ) -> None:
        self.cap_usd, self.spent_usd, self.cards = cap_usd, spent_usd, cards
        self.reserved_usd = 0.0
        self._factor = dict(overbilling)
        self._billed: set[str] = set()
        self._n_on_way: dict[str, int] = {}

    def bound(self, call: Call) -> float:
        """The most that the call should cost, from its bytes."""
        return call_bound(call, self.cards.get(call.model)) or 0.0

    def most(self, call: Call) -> float:
        """The most that the call is expected to cost, from its bytes and what this server billed so far."""
        return self.bound(call) * self._factor.get(call.model, 1.0)

    def can_wait(self) -> bool:
        """Whether calls on their way may still leave room."""
        return any(self._n_on_way.values())

    def reserve(self, call: Call) -> float | None:
        """Sets the call's most aside and returns it; None when there is no room for it now."""
        price = self.most(call)
        if price == 0:
            return 0.0
        if self.cap_usd is None:
            return None  # without a budget no paid call is made
        if call.model not in self._billed and any(n for model, n in self._n_on_way.items() if model not in self._billed):
            return None
        if self.spent_usd + self.reserved_usd + price > self.cap_usd + _SLACK:
            return None
        self.reserved_usd += price
        self._n_on_way[call.model] = self._n_on_way.get(call.model, 0) + 1
        return price

    def release(self, call: Call, reserved: float) -> None:
        """The call came back, or was never sent."""
        if reserved:
            self.reserved_usd = max(0.0, self.reserved_usd - reserved)
            self._n_on_way[call.model] -= 1

    def settle(self, call: Call, completion: Completion) -> float:
        """What the call cost: its bill; its bound where a priced reply came without token counts. The input of attempts that
        brought no answer is added, because it may have been billed."""
        lost, bound = self.lost(call, completion), self.bound(call)
        if completion.status != "ok" and completion.cost_usd is None:
            self.spent_usd += lost
            return lost
        bill = self.most(call) if completion.cost_usd is None else completion.cost_usd
        if bound:
            self._factor[call.model] = max(self._factor.get(call.model, 1.0), bill / bound)
            self._billed.add(call.model)
        self.spent_usd += bill + lost
        return bill + lost

    def lost(self, call: Call, completion: Completion) -> float:
        """The most that the input of attempts without an answer cost."""
        return completion.n_lost * lost_price(call, self.cards.get(call.model))
