"""SQL of conversations, topics, summaries and working memories."""
