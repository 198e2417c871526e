"""TriviaQA: questions with short answers. Joshi et al. 2017, arXiv:1705.03551 (Apache-2.0).

All spellings in the set are right answers, which `text_match` reads. For the loss test (source
001), `answer_loss` scores the first spelling after the question.
"""

from flipcore.core.errors import BadInput
from flipcore.core.records import Item
from flipcore.datasets.dataset import Dataset, Hub
from flipcore.datasets.reading.rows import Row
from flipcore.text.answers import text_target

_HIDDEN = "<unk>"


def item(row: Row) -> Item:
    """Make an item from a row of the hub or of the original file."""
    values = {name.lower(): value for name, value in row.values.items()}
    answer = values["answer"] if isinstance(values["answer"], dict) else {}
    answer = {name.lower(): value for name, value in answer.items()}
    aliases = [str(alias) for alias in answer.get("aliases") or []]
    answer_text = str(answer.get("value") or "").strip()
    if not answer_text or answer_text == _HIDDEN:
        raise BadInput("has no answer value; the test split hides its answers, take validation")
    key = values.get("question_id") or values.get("questionid") or row.line
    return Item.make(
        dataset="trivia_qa",
        key=str(key),
        kind="text",
        target=text_target([answer_text, *aliases], as_written=True),
        published="2017-05-09",
        category="trivia",
        question=str(values["question"]).strip(),
        solution=answer_text,
    )


LOADER = Dataset(
    "trivia_qa",
    "TriviaQA",
    about="Questions with short free answers, each in several spellings.",
    kind="text",
    item=item,
    hub=Hub("mandarjoshi/trivia_qa", "rc.nocontext", "validation"),
)
