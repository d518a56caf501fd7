"""Text: languages, terms, passages, and what is recognised in a text, such as times, speakers and secrets."""
