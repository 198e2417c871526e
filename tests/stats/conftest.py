"""Properties run on the same examples everywhere, and a slow machine is no failure."""

from hypothesis import settings

settings.register_profile("flipscope", deadline=None, derandomize=True)
settings.load_profile("flipscope")
