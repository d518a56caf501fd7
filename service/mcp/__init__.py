"""The Model Context Protocol: the same engine as tools, resources and prompts, each caller seeing what he may use."""
