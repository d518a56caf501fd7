"""What all tests share."""

from hypothesis import settings

# The same examples each time, so that a change is judged by what it changed; a deadline would be a timed assertion.
settings.register_profile("muisti", deadline=None, print_blob=True, derandomize=True)
# Other examples each time, and more: pytest --hypothesis-profile=long
settings.register_profile("long", deadline=None, print_blob=True, max_examples=500)
settings.load_profile("muisti")
