"""Requests with feedback on memories."""

from msgspec import Struct

from muisti.service.schemas import fields


class FeedbackBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A verdict on a memory, or null to remove the caller's earlier one."""

    verdict: fields.Verdict | None
