"""The knowledge graph of a space: read out of versions of memories, merged and answered when it is asked for."""
