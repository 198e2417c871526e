"""Invitations by link: issued by an admin, opened once by one person's browser, and a cookie from
then on."""
