"""Conversations, their turns, topics and summaries, and working memory."""
