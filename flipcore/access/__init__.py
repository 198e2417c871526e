"""Permissions: access levels, who is acting, and the secret that signs invitation links.

Nothing here reads the store.
"""
