"""Permissions: access levels, who is acting, and the secret that invitation links are signed with.
Nothing here reads the store."""
