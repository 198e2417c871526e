"""Python functions that stand in for models as annotators."""

import re


def second(prompt):
    """Always the second text, in a sentence."""
    return "I think it is 2."


def silent(prompt):
    """Names two texts, so none."""
    return "Either 1 or 3."


def broken(prompt):
    raise RuntimeError("no connection")


def knows(prompt):
    """Finds the text that says so, or that holds the word of the holdout entries."""
    texts = re.findall(r"(?ms)^([123]):\n(.*?)(?=\n\n[123]:\n|\n\nAnswer with)", prompt.rsplit("The three entries:", 1)[1])
    return next(number for number, text in texts if "zebra" in text or text.startswith("Please choose"))
