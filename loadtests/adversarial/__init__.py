"""Texts made to be slow, every function that reads text, and how the time of the one grows with the length of the other.

`python -m loadtests.adversarial` prints the curves; `tests/loadtests/test_adversarial.py` holds them.
"""
