"""lm-eval's SCORE tasks: one item several times, its right option moved to each place or its prompt changed."""

from collections.abc import Mapping

from flipcore.datasets.recorded.log_records import LogRecord, count_of

MOVED, PROMPT = "option_order", "prompt_format"
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def score_version(record: LogRecord, doc: Mapping) -> None:
    """Makes a row of a SCORE task a version of its question; leaves any other row as it is."""
    if "question_id" not in doc:
        return
    moved = count_of(doc.get("original_answer_index"))
    if moved is not None and isinstance(doc.get("always_same_option"), str) and record.options:
        _moved(record, doc, moved, doc["always_same_option"])
    elif "prompt_id" in doc and "prompt" in doc:
        record.item, record.item_hash = str(doc["question_id"]), ""
        prompt = str(doc["prompt_id"])
        record.axis, record.variant = (PROMPT, f"prompt-{prompt}") if prompt != "0" else ("", "")


def _moved(record: LogRecord, doc: Mapping, original: int, label: str) -> None:
    """The right option changed places with the one at `label`; the item's own order is that before the change."""
    place = _LETTERS.find(label)
    n = len(record.options)
    order = list(range(n))
    if 0 <= place < n and original < n:
        order[place], order[original] = order[original], order[place]
    own = list(record.options)
    for position, index in enumerate(order):
        own[index] = record.options[position]
    record.item, record.item_hash = str(doc["question_id"]), ""
    record.options, record.order = tuple(own), tuple(order)
    record.targets, record.target_is_place = (str(original),), True
    is_own = place == original or place >= n
    record.axis, record.variant = ("", "") if is_own else (MOVED, f"right at {label}")
    record.meta = {}
