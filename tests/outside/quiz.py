"""A chat server with twenty questions that it answers as planted, without log-probabilities.

It knows the right option of the first 15 questions and takes a wrong one of the others. Of the
questions in `BY_PLACE` it takes whatever stands first, so that another order changes its answer.
"""

import re

from aiohttp import web

from tests.models.server import Server

WORDS = ("oak", "tin", "ash", "fig")
N_ITEMS = 20
N_RIGHT = 15
BY_PLACE = (2, 3)  # the right option of both stands first in the file


def quiz_rows() -> list[dict]:
    """The file of questions, as its owner has it."""
    rows = []
    for i in range(N_ITEMS):
        right = 0 if i in BY_PLACE else i % 4
        options = [f"{word} {i}" for word in WORDS]
        rows.append({"question": f"Which word comes after number {i}?", "options": options, "answer": "ABCD"[right]})
    return rows


class QuizServer(Server):
    """Answers chats; every `fails_every`-th question is refused with status 400, 1 refuses all."""

    def __init__(self, fails_every: int = 0):
        super().__init__(logprobs="none")
        self.fails_every = fails_every

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        if not request.path.endswith("chat/completions"):
            return web.json_response({"error": {"message": "only chats are answered"}}, status=404)
        body = await request.json()
        found = re.search(r"after number (\d+)\?", body["messages"][-1]["content"])
        if found and self.fails_every and int(found[1]) % self.fails_every == 0:
            self.bodies.append(body)
            return web.json_response({"error": {"message": "this one is refused"}}, status=400)
        if body.get("logprobs"):
            return web.json_response({"error": {"message": "logprobs is not supported"}}, status=400)
        return await super()._answer(request)

    def _proper(self, request, body):
        text = body["messages"][-1]["content"]
        reply = super()._proper(request, body)
        found = re.search(r"after number (\d+)\?", text)
        if found:
            reply["choices"][0]["message"]["content"] = f"The answer is ({letter_of(text, int(found[1]))})."
        return reply


def letter_of(prompt: str, item: int) -> str:
    """The letter that is answered to a question in this order of options."""
    shown = re.findall(r"^\W*([A-Da-d])\W+(\w+ \d+)\s*$", prompt, re.MULTILINE)
    if item in BY_PLACE:
        return shown[0][0]
    right = WORDS[item % 4]
    taken = right if item < N_RIGHT else WORDS[(item + 1) % 4]
    return next(label for label, option in shown if option == f"{taken} {item}")


STUDY = """
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
