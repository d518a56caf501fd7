"""Sentences after something was done. The URL of the next page names one by its code, never by its text."""

from collections.abc import Mapping

SENTENCES: Mapping[str, str] = {
    "added": "The memory is stored.",
    "changed": "The memory is changed.",
    "deleted": "The memory is deleted. It can be restored from its history.",
    "restored": "The earlier version is current again.",
    "undone": "Undone: everything is as it was before.",
    "reads_forgotten": "The reads of this space are forgotten, and the questions that found nothing.",
    "probe_added": "The probe is stored. Ask all probes to see its rank.",
    "probe_deleted": "The probe is deleted.",
    "probes_run": "All probes were asked, and their ranks are kept.",
    "signed_out": "You are signed out, and the session's key is revoked.",
    "key_revoked": "The key is revoked, with all keys that were made with it.",
    "import_begun": "The file is here, and its lines are being imported.",
    "import_undone": "The import is undone: its memories are deleted.",
    "task_cancelled": "The task is cancelled. What it had stored stays.",
    "webhook_deleted": "The webhook is deleted.",
    "webhook_again": "The changes are sent again from there on.",
    "space_made": "The space is made.",
}
