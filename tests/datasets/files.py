"""Small files for the tests of the loaders."""

import json

from flipcore.core.study import ItemSource

CHOICES = [
    {"question": f"Which is number {i}?", "options": ["tin", "oak", "ash"], "answer": i % 3, "topic": "ab"[i % 2]}
    for i in range(8)
]


def written(path, content):
    """`content` (text, bytes, or rows as JSON lines) at `path`, and the source that reads it."""
    if isinstance(content, list):
        content = "".join(json.dumps(row) + "\n" for row in content)
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
    return ItemSource("file", path=str(path))
