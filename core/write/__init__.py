"""The write pipeline: validation, policy, provenance, the batch, and what becomes of a memory later."""
