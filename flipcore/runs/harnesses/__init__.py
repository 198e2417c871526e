"""A study's prompts for somebody else's harness, and what that harness wrote back as the same
study."""
