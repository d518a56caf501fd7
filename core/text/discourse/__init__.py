"""The course of a conversation: its topics and their titles, what a message does, summaries. Pure functions."""
