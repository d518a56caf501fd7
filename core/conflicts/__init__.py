"""Does a new memory say what a current one says, or the contrary? Found at write time, without a language model.

`words` reads a text as words of a kind, `alignment` pairs the words of two texts, `judgement` decides, and `check`
finds on the index what is worth comparing.
"""
