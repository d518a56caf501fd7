"""`Prefer: return=minimal`: an answer without the memory that the caller has just sent."""

import re
from typing import Any

from litestar import Request, Response

from muisti.service.schemas.dry_run import DryRunReply

_MINIMAL = re.compile(r'(?:^|,)\s*return\s*=\s*"?minimal"?\s*(?:$|[,;])', re.IGNORECASE)


def minimal(header: str) -> bool:
    """Return whether `Prefer` asks for an answer without the memory.

    >>> minimal("respond-async, return=minimal"), minimal("return=representation")
    (True, False)
    """
    return _MINIMAL.search(header) is not None


def preferred(request: Request[Any, Any, Any], answer: Response[Any]) -> Response[Any]:
    """Return the answer without its body when the caller prefers that. The headers keep what the caller must know."""
    if not minimal(request.headers.get("prefer", "")) or isinstance(answer.content, DryRunReply):
        return answer
    status = 204 if answer.status_code == 200 else answer.status_code
    headers = {**answer.headers, "Preference-Applied": "return=minimal"}
    return Response(None if status == 204 else b"", status_code=status, headers=headers, media_type="application/json")
