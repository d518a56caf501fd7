"""Repairs JSON that programs write by mistake, and that can be read in only one way. Nothing valid is changed."""

import re

_BOM = b"\xef\xbb\xbf"
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<half>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)


def repaired(body: bytes) -> bytes:
    r"""Return JSON without a byte order mark, and with U+FFFD in place of each half of a surrogate pair.

    >>> repaired(b'\xef\xbb\xbf"cut \\ud83d, whole \\ud83d\\ude00, quoted \\\\ud83d"')
    b'"cut \\ufffd, whole \\ud83d\\ude00, quoted \\\\ud83d"'
    """
    body = body.removeprefix(_BOM)
    if b"\\ud" not in body and b"\\uD" not in body:
        return body
    return _ESCAPE.sub(lambda found: found[0] if found["half"] is None else rb"\ufffd", body)
