"""Facts that a text states: of its author by rules for clauses, and between names by a small model. Pure functions.

- `words` cuts a text into sentences and words.
- `lexicon` lists the words that state a fact.
- `clauses` finds who does what in a sentence.
- `objects` finds where an object ends, and the items of a list.
- `stating` makes facts of clauses.
- `between` judges the words between two names.
- `reading` joins both.
"""
