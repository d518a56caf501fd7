"""Embedding models that are not static: an endpoint that speaks OpenAI's API, and the choice of a model by settings."""
