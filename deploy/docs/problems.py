"""Pages of the kinds of problems, from the registry that the server answers from."""

import json
import re
from collections.abc import Iterator, Mapping

from muisti.service.schemas.errors import KINDS, MEDIA_TYPE, REMEDIES, Kind, problem, status_name

ROW = re.compile(r"^\|`(?P<code>[a-z_.]+)`(?=\|\d{3}\|)", re.MULTILINE)


def pages() -> Iterator[tuple[str, str]]:
    """Yield the name and text of the page of each kind, then those of the list."""
    for code, kind in KINDS.items():
        yield f"{code}.md", _page(code, kind)
    yield "index.md", _list(KINDS)


def linked(reference: str) -> str:
    """Return the page on HTTP with a link from each code of its table to the page of that code."""
    return ROW.sub(lambda row: f"|[`{row['code']}`](errors/{row['code']}.md)", reference)


def _page(code: str, kind: Kind) -> str:
    body = {name: value for name, value in _example(code, kind).items() if value != []}
    retry = "A retry is of no use." if kind.retry_after is None else f"`Retry-After` is {kind.retry_after} s at first."
    return f"""# `{code}`

{kind.meaning}

| | |
| --- | --- |
| Status | {kind.status} {status_name(kind.status)} |
| What to do | {REMEDIES[code]} |
| Retry | {retry} |

The body of the answer has the media type `{MEDIA_TYPE}`. `detail` says what is wrong in this case.

```json
{json.dumps(body, indent=2)}
```

A running server explains the code at `/problems/{code}`. [All codes](index.md)
"""


def _example(code: str, kind: Kind) -> dict[str, object]:
    found = problem(code, kind.meaning)
    return {name: getattr(found, name) for name in ("type", "title", "status", "detail", "code")}


def _list(kinds: Mapping[str, Kind]) -> str:
    rows = "\n".join(
        f"| [`{code}`]({code}.md) | {kind.status} | {kind.meaning} |"
        for code, kind in sorted(kinds.items(), key=lambda one: (one[1].status, one[0]))
    )
    return f"""# Error codes

Every error of the API is a problem (RFC 9457) with a stable `code`. Each code has a page that says what to do.

| code | status | meaning |
| --- | --- | --- |
{rows}
"""
