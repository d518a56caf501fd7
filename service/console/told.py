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
    "undone": "Undone: everything is as it was before.",
    "signed_out": "You are signed out, and the session's key is revoked.",
}
