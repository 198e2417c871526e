"""TriviaQA: questions with short answers. Joshi et al. 2017, arXiv:1705.03551 (Apache-2.0).

An answer in free words is no option and no number, so these are texts to be continued: the loss of the published answer and of
the question can be measured, correctness cannot.
"""

from __future__ import annotations

from flipcore.datasets.dataset import Dataset, Hub
from flipcore.datasets.reading import Row
from flipcore.errors import BadInput
from flipcore.records import Item


def item(row: Row) -> Item:
    """The hub's columns, or those of the original file (`Data` unwrapped by the reader)."""
    values = {name.lower(): value for name, value in row.values.items()}
    answer = {name.lower(): value for name, value in values["answer"].items()} if isinstance(values["answer"], dict) else {}
    known = str(answer.get("value") or "").strip()
    if not known:
        raise BadInput("has no answer value")
    key = values.get("question_id") or values.get("questionid") or row.line
    return Item.make(dataset="trivia_qa", key=str(key), kind="completion", published="2017-05-09", category="trivia",
                     question=f"Question: {str(values['question']).strip()}\nAnswer:", solution=known,
                     meta={"aliases": list(answer.get("aliases") or [])[:20]})


LOADER = Dataset("trivia_qa", "TriviaQA", "Questions with short free answers: for losses, not for correctness.", "completion",
                 item=item, hub=Hub("mandarjoshi/trivia_qa", "rc.nocontext", "validation"))
