"""TriviaQA: questions with short answers. Joshi et al. 2017, arXiv:1705.03551 (Apache-2.0).

An answer in free words is no option and no number, and the set lists a score of spellings for each: no rule of ours reads that
without guessing. So these are completion items with a solution and without a target. The loss test (source 001) needs no more:
`answer_loss` scores the published answer after the question, `question_loss` the question; correctness is missing, not wrong.
"""

from flipcore.core.errors import BadInput
from flipcore.core.records import Item
from flipcore.datasets.dataset import Dataset, Hub
from flipcore.datasets.reading.rows import Row

_HIDDEN = "<unk>"


def item(row: Row) -> Item:
    """The hub's columns, or those of the original file (`Data` unwrapped by the reader)."""
    values = {name.lower(): value for name, value in row.values.items()}
    answer = {name.lower(): value for name, value in values["answer"].items()} if isinstance(values["answer"], dict) else {}
    answer_text = str(answer.get("value") or "").strip()
    if not answer_text or answer_text == _HIDDEN:
        raise BadInput("has no answer value; the test split hides its answers, take validation")
    key = values.get("question_id") or values.get("questionid") or row.line
    return Item.make(
        dataset="trivia_qa",
        key=str(key),
        kind="completion",
        published="2017-05-09",
        category="trivia",
        question=str(values["question"]).strip(),
        solution=answer_text,
        meta={"aliases": list(answer.get("aliases") or [])[:20]},
    )


LOADER = Dataset(
    "trivia_qa",
    "TriviaQA",
    "Questions with short free answers: for losses, not for correctness.",
    "completion",
    item=item,
    hub=Hub("mandarjoshi/trivia_qa", "rc.nocontext", "validation"),
)
