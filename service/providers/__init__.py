"""Models behind endpoints that speak OpenAI's API: for embeddings, and for the names in texts."""
