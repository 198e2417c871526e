"""A Python function that stands in for a model and for its judge."""

import re


def reader(prompt):
    """As a judge, names the option (or number) that the text between the marks names; as a model, answers by length."""
    if "<<<" in prompt:
        found = re.findall(r"\b([A-J]|\d+)\b", prompt.split("<<<", 1)[1].split(">>>", 1)[0])
        return f"Final: {found[-1]}" if found else "Final: none"
    labels = re.findall(r"(?m)^([A-J])[.)]", prompt)
    return f"It is {labels[len(prompt) % len(labels)]}" if labels else f"#### {len(prompt)}"
