"""New numbers for a word problem: its chain of steps, the numbers that may change, the draws."""
