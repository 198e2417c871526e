"""Data of the browser parts: every state and sentence computed here, looked up there."""
