"""Queries: filters, words and phrases, points of history, strengths of evidence."""
