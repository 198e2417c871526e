"""The meaning of the columns of a table of outputs, by which its rows become records."""

import re
from dataclasses import dataclass
from functools import cached_property

from flipcore.datasets.recorded.fields import Field
from flipcore.text.prompts import labels_of

SETS = "letters"  # a value of `answers`: several letters per answer, compared as sets


@dataclass(frozen=True)
class Recording:
    """The meaning of the columns of a file.

    A column may be a path (doc.options, resps[0][0]). A field may list several columns with commas
    between: the texts of `prompt` and `question` are joined, and the names of `models` and `item`.

    Rows and items. A row is a variant, and rows with the same `item` belong together. The first is
    the base, unless `variant` names another one "base". With `nested` ("shuffle_"), a row is an item,
    and its columns shuffle_0, shuffle_1 … hold its variants. The same prompt under the same name again
    is a further sample.

    Options. `options` is the column of a list or an object, or several columns with an option each
    ("A,B,C,D"). Otherwise `option_pattern` finds them in the prompt, in its one group. With neither,
    answers are numbers. `order` names a column of permutations, where `order[i]` is the item's own
    index at position i. Without it, options are matched by their text.

    Answers. `text` is the output, read after the last `text_after`. `target` names the right option
    by text, label or place from 0; a variant may have its own. `answers` is the kind of all items
    ("text", "number", "choice") if it does not follow from the options, the letters of options ("A-E")
    that no row shows, or SETS.

    Models. `model` is the name of the only model, `models` the column of names, and
    `model_columns` are columns named after a model, with its answers. `sample_columns` hold lists
    with an entry per sample (see `fields.split_row`).

    Scores. `score` lists the columns of scorers. `scorer` is the column that names the scorer of a
    row. A table of scores needs neither prompt nor output. `missing` lists values that are no score
    (-1), `percent` columns whose values above 1 are percentages, `people` the scores that people
    gave. `raters=yes` says that `sample` names the people who rated one output, so that samples are no
    reruns. In the columns of `lower`, less is better and no value means right. The values v of
    `reverse` are replaced by 1 − v. `failed=out` drops failed calls from the score, `copies=out`
    drops rows that repeat another one word for word.

    Further columns: `axes`, `role`, `harmless` and `sample` of a variant; `tasks`, `category` (the
    subject) and `cluster` (the template or passage that items share); `pair`, which is the same for
    an item and its control; `finish`, "length" where an output was cut off; `error`, which says why a
    call without an output and a score failed. `sheet` is the sheet of an Excel file, "" for the
    first. `unused=yes` says that columns without a role have none.
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
    error: str = ""
    model_columns: str = ""
    sample_columns: str = ""
    missing: str = ""
    percent: str = ""
    failed: str = ""
    people: str = ""
    raters: str = ""
    copies: str = ""
    lower: str = ""
    reverse: str = ""
    sheet: str = ""
    unused: str = ""

    @cached_property
    def models_beside(self) -> tuple[str, ...]:
        """The columns that are named after a model."""
        return tuple(filter(None, self.model_columns.split(",")))

    @cached_property
    def lists(self) -> tuple[str, ...]:
        """The columns of lists with an entry per sample."""
        return tuple(filter(None, self.sample_columns.split(",")))

    @cached_property
    def letters(self) -> tuple[str, ...]:
        """The letters of options whose texts the table does not hold."""
        return labels_of("upper", ord(self.answers[-1]) - ord("A") + 1) if re.fullmatch("A-[B-Z]", self.answers) else ()

    @cached_property
    def kind(self) -> str:
        """The kind of items: "choice", "number" or "text"."""
        if self.answers == SETS:
            return "text"
        return "choice" if self.letters else self.answers or ("choice" if self.options or self.option_pattern else "number")

    @cached_property
    def scores(self) -> tuple[str, ...]:
        """The columns of scores."""
        return tuple(filter(None, map(str.strip, self.score.split(","))))

    @cached_property
    def option_columns(self) -> tuple[str, ...]:
        """The columns of options: one with all of them, or one per option."""
        return tuple(filter(None, map(str.strip, self.options.split(","))))

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """All columns or paths that the recording uses, and "" for empty fields."""
        prompt_columns = (
            self.prompt,
            self.item,
            *self.option_columns,
            self.order,
            self.question,
            self.text,
            self.target,
            self.variant,
        )
        name_columns = (*self.item.split(","), *self.models.split(","))
        variant_columns = (self.axes, self.role, self.harmless, self.sample, self.pair, self.finish, self.error)
        item_columns = (self.tasks, self.category, self.cluster)
        columns = [*prompt_columns, *name_columns, *variant_columns, *self.scores, self.scorer, *item_columns]
        for field in self.fields:
            columns += (field.column, field.top_token, field.top_score)
        return tuple(columns)

    @cached_property
    def paths(self) -> list[str]:
        """The columns that are paths, or several columns in one."""
        # computed once, because looking at all names takes longer than reading a short row
        return [name for name in self.columns if any(sign in name for sign in ",.[/")]
