"""The pages of the console, one topic a module, each declared by `shows` or `does`."""
