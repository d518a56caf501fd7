"""The knowledge graph: questions, decisions of people, exports and pictures."""
