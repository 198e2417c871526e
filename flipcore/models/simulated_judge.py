"""What a simulated model replies when it is the judge: it reads, by rule, what simulated models write, and errs never."""

from __future__ import annotations

import re

_JUDGED = re.compile(r"\AYou read out which (option|number) an answer.*<<<\n(.*)\n>>>\n.*\"Final: \"", re.DOTALL)
_LABELLED = re.compile(r"\s*(?:The answer is \()?(\w+)(?:\).*)?\s*", re.DOTALL)
_NUMBER = re.compile(r"(?:.*#### )?\s*(-?[\d,./]+)\s*", re.DOTALL)


def judge_reply(prompt: str) -> str | None:
    """The one line that a judge is asked for, or None where the prompt asks for no judgement."""
    asked = _JUDGED.match(prompt)
    if asked is None:
        return None
    kind, text = asked.groups()
    found = (_LABELLED if kind == "option" else _NUMBER).fullmatch(text)
    return f"Final: {found[1]}" if found else "Final: none"
