"""Conversations: sessions, conversations and topics as objects, and the exchanges that are streamed into them."""
