"""Sentences after something was done. The URL of the next page names one by its code, never by its text."""

from collections.abc import Mapping

SENTENCES: Mapping[str, str] = {
    "added": "The memory is stored.",
    "changed": "The memory is changed.",
    "deleted": "The memory is deleted. It can be restored from its history.",
    "restored": "The earlier version is current again.",
    "kept": "The answer is kept as a receipt.",
    "undone": "Undone: everything is as it was before.",
    "reads_forgotten": "The reads of this space are forgotten, and the questions that found nothing.",
    "probe_added": "The probe is stored. Ask all probes to see its rank.",
    "probe_deleted": "The probe is deleted.",
    "probes_run": "All probes were asked, and their ranks are kept.",
    "signed_out": "You are signed out, and the session's key is revoked.",
}
