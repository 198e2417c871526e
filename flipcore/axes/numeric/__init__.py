"""How a word problem is given other numbers: its chain of steps, what may change, and new draws."""
