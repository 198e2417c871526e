"""Flipscope as a user meets it: commands in an empty folder, a clean environment, no import."""
