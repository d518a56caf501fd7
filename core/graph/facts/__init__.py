"""Facts that a text states: of its author by rules for clauses, and between names by a small model. Pure functions.

- `words` cuts a text into sentences and words.
- `lexicon` lists the words that state a fact.
- `clauses` finds who does what in a sentence.
- `objects` finds where an object ends, and the items of a list.
- `stating` makes facts of clauses, `possessive` of what follows "my".
- `confidence` holds what was measured.
- `between` judges the words between two names.
- `sentences` cuts a text, and puts its names to their words.
- `reading` joins all of them.
- `together` weighs entities that texts mention together.
"""
