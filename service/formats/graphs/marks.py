"""Characters that a format cannot hold, and times as it holds them."""

import re
from datetime import UTC, datetime

_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\r": "&#13;"})


def xml(text: str) -> str:
    """Return a text for an element or attribute of XML. Characters that XML has not become U+FFFD.

    >>> xml('R&D "<x>"')
    'R&amp;D &quot;&lt;x&gt;&quot;'
    """
    return _NO_XML.sub("\ufffd", text).translate(_ENTITIES)


def moment(at: datetime | None) -> str | None:
    """Return a time in RFC 3339, or None.

    >>> moment(datetime(2026, 11, 24, 9, 30, tzinfo=UTC))
    '2026-11-24T09:30:00Z'
    """
    return None if at is None else at.astimezone(UTC).isoformat().replace("+00:00", "Z")
