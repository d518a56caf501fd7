"""Takes in a file of records: all of it or, when that is asked, what is good of it.

`lines` reads lines in their order, `plan` decides what becomes of each memory, `staging` puts them some at a time into
a space that nobody sees, and `moving` moves that into the space that it is for when the last line is there: in one
transaction or, where a database is remote and the file large, in steps, each of which shows the space as it stood at
some change of the file. `undo` takes an import back; `importer` is what the engine holds, and `incoming` what they all
know of a file. Memory is bounded by a piece, whatever the size of the file.
"""
