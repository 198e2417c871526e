"""The meaning of the columns of a table of outputs: the words by which its rows become records."""

import re
from dataclasses import dataclass
from functools import cached_property

from flipcore.datasets.recorded.fields import Field
from flipcore.text.prompts import labels_of

SETS = "letters"  # of `answers`: several letters each, compared as sets


@dataclass(frozen=True)
class Recording:
    """The meaning of the columns of a file.

    One row is an item whose columns `nested`... ("shuffle_0", "shuffle_1") hold its variants;
    without `nested` one row is a variant, and rows with the same `item` column belong together, the
    first being the base unless the column `variant` names another "base". The same prompt under the
    same name again is a further sample. The options shown are the list or the keys in the column
    `options`, one option in each of several columns ("A,B,C,D"), or what `option_pattern` finds in
    the prompt (one group); with neither the answers are numbers. `order` names a permutation
    column, where `order[i]` is the item's own index at position i; without it options are matched
    by their text. `text` is the generated text, read after the last `text_after`. `target` names
    the right option by text, label or place from 0; a variant's own right answer is its own. `pair`
    is a column that a benchmark item shares with the control that it is paired with. `model` is the
    model's name, or `models` the column that holds it, or each of `model_columns`, with commas
    between, holds what the model of that name said; each of `sample_columns` holds a list with an
    entry a sample (see `fields.rows_apart`); `axes`, `role`, `harmless` and `sample` name columns
    that say them row by row. `answers` is the kind of all items ("text", "number", "choice") where
    it does not follow from the options, their letters ("A-E") where no row shows them, or "letters"
    where a right answer is several of them. A column may be a path: doc.options, resps[0][0].

    `score` is what a scorer gave the row, and `scorer` the column that names it; or one column a
    scorer, with commas between. A table of scores needs neither prompt nor output. `models` and
    `item` may be several columns, with commas between. `missing` lists values that are no score
    (-1), `percent` columns whose values above 1 are percentages, `people` those of the scores that
    people gave; `failed=out` leaves failed calls out of the score, `copies=out` rows that repeat
    another word for word. Of the columns in `lower` less is better, and they call nothing right;
    those in `reverse` are turned round: 1 less what they hold. `tasks`, `category` and `cluster`
    name columns of the task, the subject, and the template or passage that items share; `finish`
    that of why an output ended: "length" where it was cut off. `prompt` and `question` may be
    several columns, with commas between: their texts are joined. `sheet` is the sheet of an Excel
    file that is read, "" for its first.
    """

    dataset: str
    model: str
    prompt: str
    fields: tuple[Field, ...] = ()
    nested: str = ""
    item: str = ""
    options: str = ""
    option_pattern: str = ""
    order: str = ""
    question: str = ""
    text: str = ""
    text_after: str = ""
    axis: str = "option_order"
    target: str = ""
    variant: str = ""
    models: str = ""
    answers: str = ""
    axes: str = ""
    role: str = ""
    harmless: str = ""
    sample: str = ""
    score: str = ""
    scorer: str = ""
    tasks: str = ""
    category: str = ""
    cluster: str = ""
    pair: str = ""
    finish: str = ""
    model_columns: str = ""
    sample_columns: str = ""
    missing: str = ""
    percent: str = ""
    failed: str = ""
    people: str = ""
    copies: str = ""
    lower: str = ""
    reverse: str = ""
    sheet: str = ""

    @cached_property
    def models_beside(self) -> tuple[str, ...]:
        return tuple(filter(None, self.model_columns.split(",")))

    @cached_property
    def lists(self) -> tuple[str, ...]:
        return tuple(filter(None, self.sample_columns.split(",")))

    @cached_property
    def letters(self) -> tuple[str, ...]:
        """Letters that stand for the options of a table that shows none."""
        return labels_of("upper", ord(self.answers[-1]) - ord("A") + 1) if re.fullmatch("A-[B-Z]", self.answers) else ()

    @cached_property
    def kind(self) -> str:
        if self.answers == SETS:
            return "text"
        return "choice" if self.letters else self.answers or ("choice" if self.options or self.option_pattern else "number")

    @cached_property
    def scores(self) -> tuple[str, ...]:
        return tuple(filter(None, (one.strip() for one in self.score.split(","))))

    @cached_property
    def option_columns(self) -> tuple[str, ...]:
        """The columns of options: one with all of them, or one an option."""
        return tuple(filter(None, (one.strip() for one in self.options.split(","))))

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Every name of a column, or path to one, that the recording uses."""
        own = (self.prompt, self.item, *self.option_columns, self.order, self.question, self.text, self.target, self.variant)
        inner = [name for one in self.fields for name in (one.column, one.top_token, one.top_score)]
        more = (*self.scores, self.scorer, self.tasks, self.category, self.cluster)
        own += tuple(name for name in (*self.item.split(","), *self.models.split(",")))
        return (*own, self.axes, self.role, self.harmless, self.sample, self.pair, self.finish, *more, *inner)
