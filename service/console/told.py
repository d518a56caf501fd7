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
    "saved": "The change is stored.",
    "deleted_conversation": "The conversation is deleted with its topics and turns.",
    "deleted_session": "The session is deleted with its conversations.",
    "deleted_document": "The document is deleted with its chunks.",
    "stored_document": "The document is stored.",
    "stored_documents": "The files are stored, or on their way: those that are being read are listed first.",
    "cancelled": "The task is cancelled. What it had stored stays.",
    "kept": "The answer is kept as a receipt.",
    "undone": "Undone: everything is as it was before.",
    "reads_forgotten": "The reads of this space are forgotten, and the questions that found nothing.",
    "probe_added": "The probe is stored. Ask all probes to see its rank.",
    "probe_deleted": "The probe is deleted.",
    "probes_run": "All probes were asked, and their ranks are kept.",
    "signed_out": "You are signed out, and the session's key is revoked.",
}
