"""The Model Context Protocol: the engine as tools, resources and prompts, each shown to those who may use it."""
