"""Statements on the table of tasks."""
