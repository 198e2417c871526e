"""Rules that read an answer from generated text and abstain where none is stated."""
