"""A chat server that answers quizzes as planted, without log-probabilities.

A question is asked by number, so the server knows the right option in any order. `BY_PLACE` names
questions of which it takes whatever stands first, so that another order changes its answer.
"""

import re
from collections.abc import Callable

from aiohttp import web

from tests.models.server import Server

WORDS = ("oak", "tin", "ash", "fig")
BY_PLACE = (8, 12)  # the right option of both stands first in the file


def row_of(item: int) -> dict:
    """One question of a quiz, with its options and the letter of the right one."""
    options = [f"{word} {item}" for word in WORDS]
    return {"question": f"Which word comes after number {item}?", "options": options, "answer": "ABCD"[item % 4]}


def flat_row_of(item: int) -> dict:
    """The same as a table has it, a column per option."""
    row = row_of(item)
    columns = dict(zip("ABCD", row["options"], strict=True))
    return {"question": row["question"]} | columns | {"answer": row["answer"]}


class QuizServer(Server):
    """Answers chats: `is_right` says of a number whether it is known, `is_refused` whether it is refused with status 400."""

    def __init__(self, is_right: Callable[[int], bool], is_refused: Callable[[int], bool] = lambda item: False):
        super().__init__(logprobs="none")
        self.is_right, self.is_refused = is_right, is_refused

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        if not request.path.endswith("chat/completions"):
            return web.json_response({"error": {"message": "only chats are answered"}}, status=404)
        body = await request.json()
        if body.get("logprobs"):
            return web.json_response({"error": {"message": "logprobs is not supported"}}, status=400)
        item = _number(body)
        if item is not None and self.is_refused(item):
            return web.json_response({"error": {"message": "this one is refused"}}, status=400)
        return await super()._answer(request)

    def _proper(self, request, body):
        reply = super()._proper(request, body)
        item = _number(body)
        if item is not None:
            letter = self._letter(body["messages"][-1]["content"], item)
            reply["choices"][0]["message"]["content"] = f"The answer is ({letter})."
        return reply

    def _letter(self, prompt: str, item: int) -> str:
        shown = re.findall(r"^\W*([A-Da-d])\W+(\w+ \d+)\s*$", prompt, re.MULTILINE)
        if item in BY_PLACE:
            return shown[0][0]
        taken = WORDS[item % 4] if self.is_right(item) else WORDS[(item + 1) % 4]
        return next(label for label, option in shown if option == f"{taken} {item}")


def _number(body: dict) -> int | None:
    found = re.search(r"after number (\d+)\?", body["messages"][-1]["content"])
    return int(found[1]) if found else None


QUIZ = """
name = "Quiz"

[[items]]
dataset = "file"
path = "quiz.jsonl"

[[axes]]
name = "identity"

[[axes]]
name = "option_order"
params = { n = 3 }

[[extractors]]
name = "regex"

[[extractors]]
name = "first_token"

[[models]]
name = "mymodel"
"""

HOLDOUT = """
name = "My holdout"

[[items]]
dataset = "file"
path = "public.csv"
role = "target"

[[items]]
dataset = "file"
path = "fresh.csv"
role = "retro"

[[axes]]
name = "identity"

[[extractors]]
name = "regex"

[[models]]
name = "mymodel"
"""
