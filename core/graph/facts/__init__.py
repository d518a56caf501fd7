"""Facts that a text states: of its author by rules for clauses, and between names by a small model. Pure functions.

- `lexicon` cuts a text into words, and lists those that state a fact.
- `clauses` finds who does what in a sentence, `objects` where an object ends, and the items of a list.
- `stating` makes facts of clauses, and of what follows "my".
- `between` has the type of facts, judges the words between two names, and weighs entities that texts mention together.
- `reading` cuts a text into sentences, puts its names to their words, and joins all of them.
"""
