"""Import a file of records, all of it or, on request, its good lines.

- `lines` reads the lines in order, and has the state that all modules share.
- `plan` decides what happens to each memory.
- `staging` stores memories, some at a time, in a hidden space.
- `moving` moves them into the target space after the last line, in one transaction. For a large file and a remote
  database it takes several; each leaves the target as it was at some change of the file.
- `hidden` writes and deletes hidden spaces.
- `importer` is the interface to the engine, `work` the kind of task.

Memory use is bounded by a batch of lines, whatever the size of the file.
"""
