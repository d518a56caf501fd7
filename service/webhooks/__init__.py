"""Webhooks: the changes of spaces, sent to addresses that the operator allows."""
