"""Where spaces are: a directory of databases, what each holds, and moves of spaces between them while they are used."""
