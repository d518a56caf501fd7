"""Measurements of quality on judged data: search, contexts, graph, documents, code. Each prints its table."""
