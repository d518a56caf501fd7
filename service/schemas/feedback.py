"""Requests with feedback on memories."""

from typing import cast, get_args

from msgspec import Struct

from muisti.core.model.errors import InvalidInput
from muisti.core.model.terms import Verdict
from muisti.service.schemas import fields


class FeedbackBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A verdict on a memory, or null to remove the caller's earlier one."""

    verdict: fields.Verdict | None

    def said(self) -> Verdict | None:
        """Return the verdict. Raises `InvalidInput` for an unknown one."""
        if self.verdict not in (None, *get_args(Verdict)):
            raise InvalidInput.at("$.verdict", f"{self.verdict[:80]!r} is none of {', '.join(get_args(Verdict))}")
        return cast(Verdict | None, self.verdict)
