"""Adversarial texts, every function that reads text of a user, and the growth of its time with their length.

`python -m loadtests.adversarial` prints the curves; `tests/loadtests/test_adversarial.py` holds them.
"""
