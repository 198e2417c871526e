"""What a reviewer is shown of a pair: the words that differ, and both texts whole."""

from itertools import pairwise

from flipcore.annotation.paraphrases.review_view import pair_view
from tests.annotation.paraphrases.pairs import made_pairs


def test_marked_words_join_over_spaces_and_the_texts_stay_whole():
    pair = made_pairs(1)[0] | {"kind": None, "options": None, "target": None}
    shown = pair_view(pair)
    assert "".join(text for _, text in shown["original"]) == pair["original"]
    assert "".join(text for _, text in shown["paraphrase"]) == pair["paraphrase"]
    assert {kind for kind, _ in shown["original"]} == {"same", "gone"} and shown["answer"] is None
    runs = [kind for kind, _ in shown["paraphrase"]]
    assert all(a != b for a, b in pairwise(runs))
