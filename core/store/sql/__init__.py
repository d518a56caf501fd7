"""SQL by noun: each module has the statements about one kind of row."""
