"""Measure the quality of recall: probes, receipts, lint."""
