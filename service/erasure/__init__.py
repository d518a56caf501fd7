"""Permanent erasure, with signed reports."""
