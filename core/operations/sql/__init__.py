"""Statements on the tables of webhooks, keys, leases, sightings and signing keys."""
