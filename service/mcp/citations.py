"""The URLs by which the answers of a connector cite memories."""

from urllib.parse import quote

from muisti.service.settings import Settings

CONSOLE = "/console/spaces/{space}/memories/{id}"  # the page of a memory
RESOURCE = "memory://{space}/{id}"


def citation_of(settings: Settings) -> str:
    """Return the form of a memory's URL, with {space} and {id}.

    It is that of the settings, else the page of the console behind the public URL, else the MCP resource.
    """
    if settings.mcp_citations is not None:
        return settings.mcp_citations
    if settings.public_url is not None and settings.console:
        return settings.public_url.rstrip("/") + CONSOLE
    return RESOURCE


def url_of(citation: str, space: str, memory_id: str) -> str:
    """Return the URL of a memory.

    >>> url_of("https://notes.example/{space}?at={id}", "a.b", "0190")
    'https://notes.example/a.b?at=0190'
    """
    return citation.replace("{space}", quote(space, safe="")).replace("{id}", quote(memory_id, safe=""))
