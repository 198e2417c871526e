"""How much of a score to trust: questions, ways of asking, reruns."""
