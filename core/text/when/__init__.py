"""Times that a question names, and what they do to the ranking."""
