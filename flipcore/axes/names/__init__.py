"""Names of people in a text: lists, and who is a person."""
