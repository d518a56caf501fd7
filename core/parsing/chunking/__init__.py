"""Chunks of documents: pieces that a parser gives become cuts, whose borders depend on the text around them alone."""
