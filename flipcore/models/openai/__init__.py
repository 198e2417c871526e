"""Servers that speak the OpenAI API: the client, what replies mean, when to ask again."""
