"""Tools of all questions: estimates, intervals, resampling, multiplicity, power, agreement."""
