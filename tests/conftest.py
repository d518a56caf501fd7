"""What all tests share."""

from hypothesis import settings

settings.register_profile("muisti", deadline=None, print_blob=True)  # a deadline would be a timed assertion
settings.load_profile("muisti")
