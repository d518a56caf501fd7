"""From the bytes of a file to pieces of text, safely.

    with parse(source, "report.pdf", Options(), workers) as document:
        for piece in document:
            ...
    document.title, document.media_type, document.pages, document.language, document.notes

- `reading.parse` detects the format by content and returns a `parsed.Parsed`: a stream of `Piece`, all of which,
  joined, are the text of the document. For text, Markdown and code that is the text of the file itself.
- `archives.members` yields the documents in a ZIP or TAR file, each with its path, and refused entries with the reason.
- `parsed` has the limits too, `detect` the formats, `core.model.unreadable` the errors with their stable codes.
- `workers.Workers` holds the processes that read formats of strangers; `worker` is their program, `frames` their
  protocol, `formats` the readers that run in them. Text, Markdown, CSV and code are read without a process.

A document without text raises; it is never a success. An error may come after some pieces: the caller then drops them.
Boundaries of pieces of kind "text" and "code" carry no meaning where both have equal headings, page and language.
The last of the `headings` of a heading is its own title.
"""
