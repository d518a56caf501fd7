"""Graphs in the formats of other programs, and as pictures: nodes and edges in, lines of text out."""
