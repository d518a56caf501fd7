"""The text to put into a prompt: what of the memories goes in, within an exact number of tokens."""
