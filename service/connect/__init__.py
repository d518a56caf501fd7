"""Writes and restores the configuration files of other programs."""
