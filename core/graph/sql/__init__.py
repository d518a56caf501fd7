"""Statements on the tables of the graph."""
