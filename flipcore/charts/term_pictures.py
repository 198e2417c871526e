"""A small picture of each word of the glossary, drawn as SVG in the colours of the theme."""

from __future__ import annotations

from collections.abc import Callable

from flipcore.charts.strokes import arrow, bar, box, dot, path, prompt, words
from flipcore.charts.theme import Colours, colours

WIDTH, HEIGHT = 220, 90


def picture(name: str, theme: str | None) -> str:
    """The picture as an SVG document; `name` is a key of `PICTURES`."""
    draw, about = PICTURES[name]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">'
        f"<title>{about}</title>{draw(colours(theme))}</svg>"
    )


def _item(c: Colours) -> str:
    return prompt(c, 50, "ABC", "B") + words(c, (150, "question"), y=24) + words(c, (150, "right answer"), y=59)


def _variant(c: Colours) -> str:
    return prompt(c, 14, "ABC", "B") + arrow(76, 44, 98, c) + prompt(c, 106, "123", "2") + words(c, (188, "one form"), y=48)


def _axis(c: Colours) -> str:
    return prompt(c, 4, "ABC", "B") + prompt(c, 84, "BCA", "B") + prompt(c, 164, "CAB", "B")


def _paraphrase(c: Colours) -> str:
    left = box(10, 16, 78, 52, c.muted) + "".join(path(f"M20 {y}H{x}", c.text) for y, x in ((30, 76), (42, 60), (54, 70)))
    right = box(132, 16, 78, 52, c.muted) + "".join(path(f"M142 {y}H{x}", c.text) for y, x in ((30, 178), (42, 200), (54, 186)))
    return left + right + words(c, (110, "="), y=50, size=22) + words(c, (110, "same question"), y=84)


def _rewrite(c: Colours) -> str:
    return (
        words(c, (50, "3 + 4 = 7"), (170, "5 + 8 = 13"), y=42, size=15)
        + arrow(96, 37, 122, c)
        + words(c, (50, "original"), (170, "rewritten"), y=70)
    )


def _extractor(c: Colours) -> str:
    highlight = bar(108, 30, 14, 20, c.artifact, 0.5)
    return (
        box(8, 22, 130, 36, c.muted)
        + highlight
        + words(c, (62, "The answer is"), (115, "B"), y=45, size=13)
        + arrow(146, 40, 172, c)
        + words(c, (192, "B"), y=47, size=20)
        + words(c, (73, "completion"), (190, "readout"), y=76)
    )


def _reference(c: Colours) -> str:
    return (
        box(8, 30, 60, 28, c.muted)
        + words(c, (38, "B is …"), y=48)
        + path("M70 38L112 20M70 50L112 68", c.muted)
        + bar(116, 8, 96, 22, c.artifact, 0.45)
        + bar(116, 58, 96, 22, c.genuine, 0.45)
        + words(c, (164, "compared: A"), y=23)
        + words(c, (164, "reference: B"), y=73)
    )


def _label_mass(c: Colours) -> str:
    parts = "".join(bar(x, 30, w, 26, c.genuine, o) for x, w, o in ((10, 50, 1), (60, 24, 0.7), (84, 14, 0.5)))
    return parts + box(10, 30, 200, 26, c.muted) + words(c, (54, "on labels"), (154, "on other tokens"), y=74)


def _flip_rate(c: Colours) -> str:
    places, links = ((60, 22), (160, 22), (110, 72)), (((0, 1), c.floor), ((0, 2), c.artifact), ((1, 2), c.artifact))
    lines = "".join(
        path(f"M{places[i][0]} {places[i][1]}L{places[j][0]} {places[j][1]}", colour, 3) for (i, j), colour in links
    )
    dots = "".join(dot(x, y, c.page, 13, c.text) for x, y in places)
    return lines + dots + words(c, (60, "A"), (160, "A"), y=27) + words(c, (110, "B"), (190, "2 of 3 flip"), y=77)


def _split(c: Colours) -> str:
    return (
        bar(10, 30, 90, 26, c.artifact)
        + bar(100, 30, 40, 26, c.genuine)
        + bar(140, 30, 30, 26, c.genuine, 0.45)
        + words(c, (55, "A+"), (120, "both"), (155, "A−"), y=24)
        + path("M10 64H140", c.text, 1)
        + words(c, (75, "T"), y=80)
    )


def _floor(c: Colours) -> str:
    return (
        bar(10, 30, 120, 26, c.artifact)
        + path("M50 24V62", c.floor, 3)
        + words(c, (50, "floor"), y=18)
        + words(c, (90, "beyond the floor"), y=78)
    )


def _interval(c: Colours) -> str:
    starts = (58, 76, 66, 84, 62, 122, 72, 80)
    lines = "".join(path(f"M{x} {10 + 8 * i}H{x + 56}", c.artifact if x > 110 else c.genuine, 3) for i, x in enumerate(starts))
    return path("M110 4V72", c.text, 1.5, dash="3 3") + lines + words(c, (110, "true value"), y=86)


def _holm(c: Colours) -> str:
    bars = "".join(
        bar(x, 70 - p, 26, p, c.genuine) + box(x, 70 - raised, 26, raised, c.text, "3 2")
        for x, p, raised in ((24, 6, 24), (76, 16, 48), (128, 30, 60))
    )
    return bars + path("M14 70H170", c.muted, 1) + words(c, (90, "p, and p corrected"), y=85)


def _modes(c: Colours) -> str:
    return (
        path("M12 40H66", c.floor, 4)
        + dot(44, 40, c.genuine, 7)
        + f'<path d="M86 28L136 18V58L86 50Z" fill="{c.genuine}" opacity="0.3"/>'
        + path("M86 39L136 36", c.genuine)
        + box(172, 34, 30, 24, c.text)
        + path("M178 34V26a9 9 0 0 1 18 0V34", c.text)
        + words(c, (39, "explore"), (111, "all at once"), (188, "locked"), y=80)
    )


def _slopes(c: Colours) -> str:
    return (
        path("M30 14L180 70", c.benchmark, 4)
        + path("M30 34L180 46", c.control, 4)
        + words(c, (36, "original"), (180, "rewritten"), y=88)
    )


def _loss(c: Colours) -> str:
    return (
        bar(40, 48, 40, 22, c.benchmark)
        + bar(130, 20, 40, 50, c.benchmark, 0.55)
        + path("M80 48H188M170 20H196M188 22V46", c.muted, 1, dash="3 2")
        + words(c, (60, "published"), (150, "paraphrase"), y=85)
        + words(c, (202, "D"), y=40)
    )


def _curve(c: Colours) -> str:
    return (
        path("M15 18L70 20L90 66L205 70", c.benchmark, 3)
        + path("M15 22L205 58", c.control, 3)
        + words(c, (110, "bits flipped"), y=86)
    )


def _control(c: Colours) -> str:
    dots = "".join(dot(24 + 17 * i, 34, c.benchmark, 6) + dot(136 + 17 * i, 34, c.page, 6, c.control) for i in range(4))
    return dots + words(c, (50, "may be read"), (162, "never read"), y=62) + words(c, (106, "v"), y=38)


def _dose(c: Colours) -> str:
    bars = "".join(bar(14 + 50 * i, 66 - h, 34, h, c.benchmark) for i, h in enumerate((2, 10, 28, 54)))
    return bars + words(c, (31, "0"), (81, "1"), (131, "4"), (181, "16 times"), y=82)


def _auc(c: Colours) -> str:
    return (
        f'<path d="M70 74C74 30 96 14 150 10V74Z" fill="{c.genuine}" opacity="0.25"/>'
        + path("M70 74C74 30 96 14 150 10", c.genuine, 3)
        + path("M70 74L150 10", c.floor, 1.5, dash="3 3")
        + box(70, 10, 80, 64, c.muted)
        + words(c, (110, "false positives"), y=87)
        + words(c, (38, "detected"), y=44)
    )


def _retro(c: Colours) -> str:
    dots = "".join(dot(30 + 11 * (i % 4), 24 + 12 * (i // 4), c.target, 4) for i in range(8))
    new = "".join(path(f"M{152 + 11 * (i % 4)} {20 + 12 * (i // 4)}l4 4l-4 4l-4 -4Z", c.retro, 1.5, c.retro) for i in range(8))
    return (
        dots
        + new
        + path("M14 58H206", c.muted, 1.5)
        + path("M100 50V66", c.text)
        + words(c, (46, "target"), (168, "retro"), y=78)
        + words(c, (100, "published"), y=46)
    )


def _inflation(c: Colours) -> str:
    return (
        bar(44, 14, 44, 58, c.target)
        + bar(120, 34, 44, 38, c.retro)
        + path("M88 14H186M164 34H186M180 15V33", c.muted, 1, dash="3 2")
        + words(c, (66, "target"), (142, "retro"), y=86)
        + words(c, (204, "pp"), y=28)
    )


def _margin(c: Colours) -> str:
    return (
        bar(60, 8, 100, 60, c.genuine, 0.18)
        + path("M110 8V68", c.grid)
        + path("M80 28H135", c.text, 4)
        + path("M120 52H195", c.floor, 4)
        + words(c, (60, "−margin"), (160, "+margin"), y=84)
    )


def _balanced(c: Colours) -> str:
    return (
        bar(50, 22, 40, 48, c.target)
        + bar(130, 40, 40, 30, c.retro)
        + path("M30 31H190", c.text, 1.5, dash="4 3")
        + words(c, (70, "right"), (150, "right"), y=84)
        + words(c, (206, "mean"), y=35)
    )


def _trust(c: Colours) -> str:
    near, far = ((30, 30), (50, 20), (46, 46)), ((150, 52), (172, 42), (166, 66))
    links = "".join(path(f"M{x} {y}L{u} {v}", c.floor, 1, dash="3 3") for (x, y), (u, v) in zip(near, far, strict=True))
    dots = "".join(dot(x, y, c.genuine) for x, y in (*near, *far)) + dot(92, 66, c.floor) + dot(196, 14, c.floor)
    return links + dots + words(c, (44, "all dimensions"), (176, "map"), y=86)


def _gate(c: Colours) -> str:
    return (
        bar(14, 34, 96, 20, c.genuine)
        + box(14, 34, 190, 20, c.muted)
        + path("M160 22V66", c.text, 3)
        + words(c, (62, "checked"), (160, "needed"), y=82)
        + words(c, (160, "gate"), y=16)
    )


def _not_claimed(c: Colours) -> str:
    return (
        box(30, 22, 160, 34, c.muted, "5 4")
        + words(c, (110, "0.48 [0.36, 0.61]"), y=44, size=14)
        + words(c, (110, "shown, nothing concluded"), y=76)
    )


def _role(c: Colours) -> str:
    names = (
        (56, 30, "benchmark", c.benchmark),
        (164, 30, "control", c.control),
        (56, 68, "target", c.target),
        (164, 68, "retro", c.retro),
    )
    return "".join(bar(x - 46, y - 20, 92, 6, fill) + words(c, (x, word), y=y + 4) for x, y, word, fill in names)


def _false_positives(c: Colours) -> str:
    return (
        path("M10 70C60 70 66 14 100 14S140 70 206 70", c.control, 3)
        + f'<path d="M136 52C148 66 170 70 206 70H136Z" fill="{c.artifact}"/>'
        + path("M136 12V72", c.text, 1.5, dash="3 3")
        + words(c, (82, "never read"), (176, "flagged"), y=86)
    )


def _folds(c: Colours) -> str:
    cells = "".join(
        bar(40 + 29 * k, 6 + 13 * row, 26, 10, c.artifact if k == row else c.floor, 1 if k == row else 0.35)
        for row in range(5)
        for k in range(5)
    )
    return cells + words(c, (110, "test fold, learned on the rest"), y=86)


def _agreement(c: Colours) -> str:
    columns = ((60, "Y", "Y"), (95, "Y", "N"), (130, "N", "N"), (165, "Y", "Y"))
    marks = "".join(words(c, (x, a), y=30, size=15) + words(c, (x, b), y=62, size=15) for x, a, b in columns)
    rings = "".join(box(x - 13, 12, 26, 58, c.genuine) for x, a, b in columns if a == b)
    return marks + rings + words(c, (24, "Ada"), y=29) + words(c, (24, "Bea"), y=61) + words(c, (112, "3 of 4 agree"), y=86)


def _cut_off(c: Colours) -> str:
    lines = "".join(path(f"M14 {y}H{x}", c.text, 3) for y, x in ((20, 150), (34, 150), (48, 96)))
    return (
        lines
        + path("M104 40V58", c.artifact, 4)
        + path("M114 48H150", c.floor, 3, dash="4 4")
        + words(c, (110, "token limit"), y=80)
    )


def _pocket(c: Colours) -> str:
    return (
        box(16, 24, 70, 38, c.text)
        + words(c, (51, "model"), y=47, size=14)
        + arrow(94, 43, 118, c)
        + words(c, (168, "0 1 4 16"), y=40, size=14)
        + words(c, (168, "64 256"), y=58, size=14)
        + words(c, (168, "times read"), y=80)
    )


PICTURES: dict[str, tuple[Callable[[Colours], str], str]] = {  # what each shows, for who cannot see it
    "item": (_item, "A question with three options, of which one is ticked"),
    "variant": (_variant, "The same question under the labels A, B, C and under 1, 2, 3"),
    "axis": (_axis, "The same question with its options in three orders"),
    "paraphrase": (_paraphrase, "Two texts of different words with an equals sign between them"),
    "rewrite": (_rewrite, "A sum, and the same sum with other numbers and another result"),
    "extractor": (_extractor, "A completion with the letter B marked, which is the readout"),
    "reference": (_reference, "One completion read as A by the compared and as B by the reference extractor"),
    "label mass": (_label_mass, "A bar of probability: a part lies on labels, the rest on other tokens"),
    "flip rate": (_flip_rate, "Three variants with the answers A, A and B: two of their three pairs flip"),
    "split": (_split, "A bar of pairs that flip: under the compared extractor alone, under both, under the reference alone"),
    "floor": (_floor, "A bar of pairs that flip, with the noise floor marked: what lies to its right is beyond the floor"),
    "interval": (_interval, "Eight intervals around a true value, of which one misses it"),
    "holm": (_holm, "Three p values as bars, each raised by the correction"),
    "modes": (_modes, "A slider, a band and a padlock"),
    "slopes": (_slopes, "Accuracy from original to rewritten: it falls steeply on the benchmark and hardly on the control"),
    "loss": (_loss, "Loss of the published wording and of a paraphrase, which is higher by D"),
    "curve": (_curve, "Similarity as bits are flipped: a memorized text breaks off at once, another one fades"),
    "control": (_control, "Four items that may have been read beside four that were never read"),
    "dose": (_dose, "Bars that rise with the number of times an item was read: 0, 1, 4, 16"),
    "auc": (_auc, "A curve of detected items over false positives, with the area under it"),
    "retro": (_retro, "Entries before a date of publication, and new entries like them after it"),
    "inflation": (_inflation, "Accuracy on the target is higher than on retro; the gap is in percentage points"),
    "margin": (_margin, "Two intervals and a margin: one lies inside it, the other reaches past it"),
    "balanced": (_balanced, "The share right in either set, and their mean as a line"),
    "trust": (_trust, "Three neighbours in all dimensions that are neighbours on the map, too"),
    "gate": (_gate, "A bar of what was checked, which does not reach the gate yet"),
    "not claimed": (_not_claimed, "A number in a dashed frame"),
    "role": (_role, "Four roles: benchmark, control, target, retro"),
    "false positives": (_false_positives, "Scores of items that were never read, with those beyond the cut-off"),
    "folds": (_folds, "Five folds, of which each is the test fold once"),
    "agreement": (_agreement, "Two reviewers' answers to four questions, of which three agree"),
    "cut off": (_cut_off, "A text that a token limit ends in the middle"),
    "pocket": (_pocket, "A small model, and how often it read its items: 0, 1, 4, 16, 64, 256 times"),
}
