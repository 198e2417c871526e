"""Rules that find the answer in a generated text, and abstain where it states none."""
