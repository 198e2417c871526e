"""Tables of outputs in the shapes that people send, and how they are mapped: (rows, words of --map, words of --read)."""


def _turned(text="The answer is {}.", **more):
    return [
        {
            "id": i,
            "prompt": f"Which is {i}?\nA. {a}\nB. {b}\n",
            "shown": [a, b],
            "scores": {"A": 2.0, "B": 1.0},
            "gold": "oak",
            "text": text.format("AB"[(i + (a == "tin")) % 2]),
        }
        | more
        for i in range(3)
        for a, b in (("oak", "tin"), ("tin", "oak"))
    ]


_NAMES = ("changed", "base", "again")
CASES = {
    "options turned, scores and text": (_turned(), ["item=id", "options=shown", "target=gold"], None),
    "only scores": (
        [{k: v for k, v in row.items() if k != "text"} for row in _turned()],
        ["item=id", "options=shown", "target=gold"],
        ["first_token=scores", "said=gold"],
    ),
    "one question a row, versions nested": (
        [
            {
                "question": f"Which {i}?",
                "answer_key": "oak",
                **{
                    f"shuffle_{k}": {
                        "prompt": f"Which {i}?\nA) {a}\nB) {b}",
                        "choices": [a, b],
                        "permutation": order,
                        "scores": {"A": 0.5, "B": 0.25 * k},
                        "max_first_token": "The",
                        "max_first_token_score": 0.75,
                        "parsed_answer": "B. " + b,
                    }
                    for k, (a, b, order) in enumerate((("oak", "tin", [0, 1]), ("tin", "oak", [1, 0]), ("oak", "tin", [0, 1])))
                },
            }
            for i in range(3)
        ],
        ["target=answer_key"],
        None,
    ),
    "two options of one text told apart by their order": (
        [
            {
                "id": 1,
                "prompt": "Q\nA. x\nB. x\nC. y",
                "shown": ["x", "x", "y"],
                "permutation": [0, 1, 2],
                "gold": "C",
                "pred": "A",
            },
            {
                "id": 1,
                "prompt": "Q\nA. y\nB. x\nC. x",
                "shown": ["y", "x", "x"],
                "permutation": [2, 1, 0],
                "gold": "A",
                "pred": "y",
            },
        ],
        ["item=id", "options=shown", "order=permutation", "target=gold"],
        ["pred=pred"],
    ),
    "options in the prompt": (
        [{"qid": i, "prompt": f"Pick {i}\n(A) oak {i}\n(B) tin\n", "response": "(B)", "answer_key": "B"} for i in range(4)],
        ["item=qid", r"option_pattern=^\([A-Z]\) (.+)$", "options=", "target=answer_key"],
        None,
    ),
    "numbers, names of versions, roles, axes, models": (
        [
            {
                "item": i,
                "variant": name,
                "axis": "numbers" if plus else "typos",
                "role": "control" if i < 2 else "benchmark",
                "model": model,
                "prompt": f"  {i} + {plus} = ?\n",
                "response": f"It is {i + plus}.",
                "target": f"so\n#### {i + plus}",
                "harmless": plus == 0,
            }
            for model in ("m-1", "m-2")
            for i in range(4)
            for name, plus in zip(_NAMES, (7, 0, 0), strict=True)
        ],
        [],
        None,
    ),
    "one prompt under two names": (
        [
            {"item": f"q{i % 2}", "variant": name, "prompt": f"Say {i % 2}", "response": f"{i} {name}", "target": "0"}
            for i, name in enumerate(("base", "base", "one", "one", "two", "two", "one", "base"))
        ],
        ["answers=text"],
        ["said=response"],
    ),
    "samples by number, one of two items' prompt": (
        [{"item": i, "prompt": "Toss.", "response": f"{k}", "target": 1, "sample": k} for k in (0, 1, 2) for i in range(3)],
        ["item=item", "sample=sample", "question="],
        None,
    ),
    "rows alone, words right": (
        [
            {"doc": {"q": f"Capital of {i % 3}? ", "gold": ["The Hague", "Den Haag"]}, "resps": [[said]], "ok": bool(i % 2)}
            for i, said in enumerate(["den haag.", "Ghent", "the hague", "", "Den Haag"])
        ],
        ["prompt=doc.q", "target=doc.gold", "answers=text", "text=resps[0][0]", "question="],
        ["said=resps[0][0]", "ok=ok"],
    ),
    "no right answers, texts behind the prompt": (
        [{"prompt": f"Sum {i}", "generation": f"Sum {i}[/INST] <think>hm</think> {i}", "id": 1 + i // 2} for i in range(6)],
        ["item=id"],
        None,
    ),
    "a row without text, one that does not fit": (
        [
            {"id": 1, "prompt": "1 + 1", "response": "2", "target": 2},
            {"id": 2, "prompt": "1 + 2", "response": None, "target": 3},
            {"id": 3, "prompt": "", "response": "4", "target": 4},
            {"id": 4, "prompt": "2 + 3", "response": "5", "target": "five"},
        ],
        ["item=id"],
        None,
    ),
}
