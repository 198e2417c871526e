"""Answers in ten other languages are read by their own phrases, labels and digits; where two readings are possible, none is."""

import pytest

from flipcore.core.records import OK, UNREADABLE
from flipcore.extractors import extractor_of
from flipcore.extractors.written.languages import in_ascii, with_labels
from tests.extractors.asking import choice, number, said, shown


def read(text, item):
    return extractor_of("regex").read(item, shown(item), [said(text)])


@pytest.mark.parametrize(
    "text, label",
    [
        ("答案是 B。", "B"),
        ("答案是B。", "B"),
        ("正确答案：B", "B"),
        ("我选择B。", "B"),
        ("答案：（B）", "B"),
        ("正解はBです。", "B"),
        ("答えはBである。", "B"),
        ("答え：Ｂ", "B"),
        ("正解はイです", "B"),
        ("정답은 ②", "B"),
        ("정답은 B입니다.", "B"),
        ("정답: B", "B"),
        ("답은 나", "B"),
        ("उत्तर: ख", "B"),
        ("उत्तर: ख/B", "B"),
        ("सही उत्तर B है।", "B"),
        ("उत्तर: (B)", "B"),
        ("الإجابة: ب", "B"),
        ("الإجابة الصحيحة هي B.", "B"),
        ("الجواب هو ب)", "B"),
        ("Ответ: Б", "B"),
        ("Правильный ответ: B", "B"),
        ("Ответ — Г.", "D"),
        ("La respuesta es B.", "B"),
        ("La respuesta correcta es la B.", "B"),
        ("Respuesta: B) cebada", "B"),
        ("La opción correcta es la C", "C"),
        ("La réponse est B.", "B"),
        ("La bonne réponse est la lettre B.", "B"),
        ("Réponse : B", "B"),
        ("Die Antwort ist B.", "B"),
        ("Die richtige Antwort lautet B.", "B"),
        ("Antwort: B", "B"),
        ("A resposta é B.", "B"),
        ("A resposta correta é a alternativa B.", "B"),
        ("Resposta: B", "B"),
        ("答案是B，因为C是错的。", "B"),
        ("La réponse est B, car A est fausse.", "B"),
        ("B。", "B"),
        ("②", "B"),
        ("ب", "B"),
        ("Ｂ", "B"),
        ("Die Antwort ist B, nicht C.", "B"),
    ],
)
def test_an_option_is_read(text, label):
    reading = read(text, choice())
    assert (reading.status, reading.answer) == (OK, str("ABCD".index(label)))


@pytest.mark.parametrize(
    "text",
    [
        "정답은 2번입니다",
        "Ответ: В",
        "答案不是B。",
        "La réponse n'est pas B.",
        "الإجابة ليست ب",
        "Die Antwort ist nicht B.",
        "La respuesta no es B.",
        "A resposta não é B.",
        "正解はBではない。",
        "정답은 B가 아니다",
        "सही उत्तर B नहीं है",
        "Ответ не B.",
        "答案是B或C。",
        "La réponse est B ou C.",
        "La respuesta es B y C",
        "Die Antwort ist B oder C",
        "Ответ: Б или Г",
        "答案是B和C",
        "정답은 B와 C입니다",
        "A resposta é B e C",
        "La respuesta es a la derecha",
        "А потому что так",
        "정답은 ②③",
    ],
)
def test_what_is_denied_names_several_or_is_no_label_is_unreadable(text):
    assert read(text, choice()).status == UNREADABLE


@pytest.mark.parametrize(
    "text, answer",
    [
        ("答案是 18。", "18"),
        ("答案是１８。", "18"),
        ("الإجابة: ١٨", "18"),
        ("उत्तर: १८", "18"),
        ("La réponse est 18,5.", "37/2"),
        ("Die Antwort ist 18,5.", "37/2"),
        ("La respuesta es 1.234,50 euros", "2469/2"),
        ("Die Antwort ist 1.234.", None),
        ("La réponse est 1,234", None),
        ("答案是3万", None),
        ("정답은 18입니다. (3+15=18)", "18"),
        ("Ответ: 18, так как 20-2=18", "18"),
        ("La respuesta es 3 mil", None),
        ("正解は18個です", "18"),
        ("A resposta é 18 maçãs e não 20.", "18"),
        ("الإجابة: ٣٫٥", "7/2"),
        ("The answer is 1,234.", "1234"),
        ("Réponse : 1 234", "1234"),
        ("Die Antwort ist 18 oder 20.", None),
        ("答案是18或20", None),
        ("Die Antwort ist nicht 18, sondern 20.", "20"),
    ],
)
def test_a_number_is_read_by_its_languages_rules_or_not_at_all(text, answer):
    assert read(text, number()).answer == answer


def test_places_stay_so_that_a_span_lies_in_what_the_model_wrote():
    text = "答え：Ｂ、１８ ٣٫٥"
    assert in_ascii(text) == "答え:B、18 3.5" and len(in_ascii(text)) == len(text)
    assert with_labels("उत्तर: ख/ग", "ABCD") == "उत्तर: B/C"
    assert with_labels("उत्तर: ख", ("i", "ii")) == "उत्तर: ख"  # labels of two letters stand in no alphabet
