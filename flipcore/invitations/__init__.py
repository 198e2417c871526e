"""Invitations by link: an admin issues one, a browser opens it once and keeps a cookie."""
