"""Find out, when a memory is written, whether current memories say the same or the contrary. No language model is used.

- `words` reads a text as words, each of a kind.
- `alignment` pairs the words of two texts.
- `claims` reads a sentence as a claim about a subject, and `exclusive` compares two claims by the lists of `relations`.
- `judgement` decides how two texts relate.
- `check` and `seeking` find on the index the memories that are worth comparing.
"""
