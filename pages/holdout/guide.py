"""How to make a retro-holdout: the guide of source 002 (appendices D and E) in this product's own words."""

import streamlit as st

STEPS = {
    "Before the first entry": """
- Say in one sentence which ability, or which failure, the benchmark is after. Come back to that sentence after every round: a
set that passes all tests and no longer asks for it is no holdout.
- Find how entries group: categories, subtopics, number of steps. Treat a large group as a benchmark of its own and finish it
first; patterns are easier to see inside one, and progress easier to measure.
- Write down at least three broad patterns (what counts as a topic, whether entries repeat each other, which part of the world
they come from) and at least three narrow ones (first words of questions, stock answers, how many options, where the right one
stands).
- Note when the benchmark came out and over what time it was written. Nothing that happened later may appear in a new entry,
and new items need their own publication date here, or no model can be shown to be older.
- Count its mistakes. A holdout without the original's share of mistakes is easier or harder than the original.
""",
    "Writing an entry": """
- Draw an entry of the target at random, without putting it back, and write the new one on it: same topic area, same sentence
  shape, same number of options, another fact. Put the drawn entry's id into `source_id`: folds, permutations and difficulty
  then compare the two as a pair.
- For questions of knowledge, collect sources and facts first, and write afterwards.
- Do not polish a single entry for long. The first round will not pass.
- Leave language models out of the writing, or their habits become what a classifier finds. If one helped, say so in the
version's note.
""",
    "A round of edits": """
1. **Duplicates** first: a text that stands in both sets is not held out, one that stands twice counts twice.
2. **Map**: regions with one colour alone are topics that only one set has. Click the lonely points.
3. **Look inside**: whether one set is more alike within itself, its most alike pairs, and the words and word pairs that give a
set away, counted both in total and by entries that hold them. These counts say what to change more directly than a classifier's
   attention does.
4. **Prediction accuracy**: which entries does the classifier place with most confidence? Mend those.
5. **Difficulty**: match the number of options and of steps before touching the wording.
6. Read every changed sentence aloud, and let somebody else read it: three small edits to one sentence often break it.
7. **Keep this version**, and see whether the last edit helped before starting the next.
""",
    "When to stop": """
- The source stops when no test rejects. With few entries that happens to sets that differ: at 50 entries a side a true gap of
ten points passes four times in five. Here a test must show that the difference is *inside a margin*; for difficulty within ten
points that takes about 400 entries a side.
- A set that was edited until it passed has been fitted to the tests. Set a share of both sets aside (View) before the first
  look, fix margins in **Locked** mode, and read the confirmation once.
- Then run the survey. People notice what no embedding does.
""",
    "Keeping it held out": """
- A text sent to a hosted model or embedding service has left this machine: prefer the word frequencies and the local model, and
read the warning beside an embedding that sends entries away.
- Publish accuracies and this page's verdict, not the entries. Once published, the set is a benchmark, and inflation measured
with it holds only for models trained before that day.
""",
}


def show() -> None:
    st.markdown(
        "A retro-holdout is written after a benchmark was published and must look as if it had been drawn with it. "
        "Everything else on this page tests that; this is how to get there."
    )
    for title, text in STEPS.items():
        with st.expander(title, expanded=title == "Before the first entry"):
            st.markdown(text)
