"""Adapters of the libraries that Muisti is compared with, set up as their own documentation recommends."""
