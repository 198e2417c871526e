"""Names of people in a text: the lists, and the words that are persons."""
