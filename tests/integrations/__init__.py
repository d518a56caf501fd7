"""Tests of the integrations, which need the frameworks: `make integrations-test`."""
