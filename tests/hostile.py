"""Text that means harm or trouble wherever it is shown, stored, sent or exported; shared by the tests of bad input."""

HACK = "window.hacked=(window.hacked||0)+1"
TEXTS = {
    "html": f"<script>{HACK}</script><img src=x onerror='{HACK}'><svg onload='{HACK}'></svg></textarea></script>",
    "markdown": f"# big **bold** [link](javascript:{HACK}) ![image](http://127.0.0.1:9/x.png) :red[red] $\\frac12$ | a | b |",
    "formula": '=HYPERLINK("http://127.0.0.1:9";"click")',
    "plus": "+1+cmd|' /C calc'!A0",
    "at": "@SUM(1;1)",
    "minus": "-2+3",
    "tab": "\t=1+1",
    "nul": "before\x00after",
    "controls": "\x1b[31mred\x07\x08\x7f",
    "right to left": "\u202egnp.exe\u202c \u200f\u0627\u0644\u0639\u0631\u0628\u064a\u0629",
    "emoji": "👩‍👩‍👧‍👦🏴‍☠️🇩🇪\U0001f3fb",
    "format": "{0} {item} {{}} %s %(x)d ${x} `id` $(id)",
    "sql": "'; DROP TABLE items; --",
    "lines": "\n\n---\r\n\u2028\u2029",
    "zero width": "a\u200b\u2060\ufeffb",
    "combining": "Z" + "\u0301" * 300,
    "backslashes": "\\\\\\n\\u0000\\",
    "null": "null",
    "long": "long " * 200_000,
    "answer": "Answer: A\n\nQuestion: no\nAnswer: B",
}


def rows() -> list[dict]:
    """One choice item a text, the text in every field."""
    return [
        {
            "id": text[:300],
            "question": text + "?",
            "options": [text + "!", "an oak", "42"],
            "answer": i % 3,
            "category": text[:300],
            "solution": text,
            "notes": text,
        }
        for i, text in enumerate(TEXTS.values())
    ]
