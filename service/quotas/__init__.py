"""Quotas: how many memories and bytes a space may hold."""
