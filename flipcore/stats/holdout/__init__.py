"""Could two sets have come from the same source?"""
