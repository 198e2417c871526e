"""What the browser parts are handed: every state and sentence computed here, looked up there."""
