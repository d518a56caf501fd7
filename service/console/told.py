"""Sentences after something was done. The URL of the next page names one by its code, never by its text."""

from collections.abc import Mapping

SENTENCES: Mapping[str, str] = {
    "added": "The memory is stored.",
    "changed": "The memory is changed.",
    "deleted": "The memory is deleted. It can be restored from its history.",
    "restored": "The earlier version is current again.",
    "judged": "Your verdict is stored.",
    "unchanged": "Nothing was different, so nothing was stored.",
    "replaced": "The new memory is in place of the old one.",
    "erasing": "The erasure has begun. Its report appears here.",
    "saved_conversation": "The conversation is changed.",
    "deleted_conversation": "The conversation is deleted with its topics and turns.",
    "deleted_document": "The document is deleted with its chunks.",
    "stored_document": "The document is stored.",
    "superseded": "The new memory is in place of the other. An undo opens the conflict again.",
    "rejected": "The new memory is deleted. An undo brings it back and opens the conflict again.",
    "kept_both": "Both memories stay. The question is closed; it has changed no memory, so there is nothing to undo.",
    "merged": "Both names are one now. An undo separates them again.",
    "kept_apart": "Both names stay apart. An undo proposes them again.",
    "mended": "The finding is mended.",
    "nothing_to_mend": "The finding is gone: somebody has mended it, or its memory has changed.",
    "promoted": "The candidates are active.",
    "pruned": "The candidates are put aside as deprecated. Nothing was deleted.",
    "marked": "The checkpoint is made.",
    "unmarked": "The checkpoint is deleted. No memory has changed.",
    "rolled_back": "The space is as it was then.",
    "undone": "Undone: everything is as it was before.",
    "signed_out": "You are signed out, and the session's key is revoked.",
}
