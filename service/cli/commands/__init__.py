"""The commands, one file each. They are light: what takes long to load is in `work`."""
