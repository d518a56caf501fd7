"""Recognise times that a question names, and compute their effect on the ranking."""
