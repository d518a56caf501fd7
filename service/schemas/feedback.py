"""What callers say of memories."""

from typing import cast, get_args

from msgspec import Struct

from muisti.core.model.errors import InvalidInput
from muisti.core.model.terms import Verdict
from muisti.service.schemas import fields


class FeedbackBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A verdict on a memory, or null to take back the one before."""

    verdict: fields.Verdict | None

    def said(self) -> Verdict | None:
        """Raises `InvalidInput`."""
        if self.verdict not in (None, *get_args(Verdict)):
            raise InvalidInput.at("$.verdict", f"{self.verdict[:80]!r} is none of {', '.join(get_args(Verdict))}")
        return cast(Verdict | None, self.verdict)
