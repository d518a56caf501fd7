"""Room of the hooks of agent clients: what they are shown of the memory, and what is kept of their sessions."""
