"""Export of a small space, which fits into one message."""

from muisti.service.formats.lines import encoded
from muisti.service.mcp.session import Session
from muisti.service.schemas.errors import HttpError
from muisti.service.version import installed_version

EXPORT_MAX = 1 << 20  # bytes


async def exported(session: Session, space: str) -> str:
    """Return a space in the format of docs/how-to/export.md, without vectors.

    Raises:
        NotFound: the key does not see all of the space.
        HttpError: the export is too large for one message.
    """
    backend = session.backend
    export = await backend.store(session.memories().read.export, space, installed_version(), vectors=False)
    parts: list[bytes] = []
    pages = (encoded(page) for page in export.pages())
    while (part := await backend.store(next, pages, b"")) != b"":
        parts.append(part)
        if sum(map(len, parts)) > EXPORT_MAX:
            raise HttpError(
                "too_large",
                f"the space is larger than {EXPORT_MAX:,} bytes; take the HTTP API or `muisti --space {space} export`",
            )
    return b"".join(parts).decode()
