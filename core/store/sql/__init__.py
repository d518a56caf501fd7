"""SQL by noun: each module makes the statements about one kind of row."""
