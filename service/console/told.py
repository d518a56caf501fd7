"""Sentences after something was done. The URL of the next page names one by its code, never by its text."""

from collections.abc import Mapping

SENTENCES: Mapping[str, str] = {
    "added": "The memory is stored.",
    "changed": "The memory is changed.",
    "deleted": "The memory is deleted. It can be restored from its history.",
    "restored": "The earlier version is current again.",
    "kept": "The answer is kept as a receipt.",
    "undone": "Undone: everything is as it was before.",
    "signed_out": "You are signed out, and the session's key is revoked.",
}
