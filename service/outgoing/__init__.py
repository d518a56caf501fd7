"""Requests to other servers: where they may go, and to which address."""
