"""Other numbers for a word problem: its chain of steps, the numbers that may change, new draws."""
