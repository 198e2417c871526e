"""How long a client waits between tries."""

from flipcore.models.openai.retries import LONGEST_WAIT_S, pause


def test_waits_double_and_never_pass_a_minute():
    waits = [pause(OSError(), attempt, "8000aaaa") for attempt in range(1, 12)]
    assert waits[:3] == [0.5, 1.0, 2.0] and max(waits) == LONGEST_WAIT_S
    assert pause(KeyError("ours"), 1, "8000aaaa") is None  # a fault of our own is not asked again
