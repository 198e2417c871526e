"""Tables that no known harness wrote, read by their structure: right, or a question, never a silent
guess.

`read_table` is the way in. A file becomes a DuckDB table (`load`), named SQL profiles it
(`profile`), and each further step is a function from the profile and the steps before it to a new
value. Names tell output, right answer and score apart; structure tells the rest.
"""
