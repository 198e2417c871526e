"""Read tables of unknown origin by their structure. Doubts become questions, never silent guesses.

`read_table` is the entry point. `load` makes a DuckDB table of a file, and `profile` measures its
columns. Each further step is a function from the profile and the results before it to a new result.
Names distinguish output, right answer and scores; structure decides the rest.
"""
