"""The write pipeline: validation, policy, provenance and the batch; then the lifecycle of a memory."""
