"""Name, version and repository of Muisti, as its package and the files for registries have them."""

from importlib.metadata import PackageNotFoundError, metadata, version

NAME, TITLE = "muisti", "Muisti"
SUMMARY = "Long-term memory for AI agents, in one local file: hybrid search, undo, conflicts. No LLM."
UNKNOWN = "https://github.com/OWNER/muisti"  # until pyproject.toml names the repository


def installed_version() -> str:
    """As the package says; `unknown` in a folder that was never installed."""
    try:
        return version(NAME)
    except PackageNotFoundError:
        return "unknown"


def installed_repository() -> str:
    """As the package says."""
    try:
        named = metadata(NAME).get_all("Project-URL") or []
    except PackageNotFoundError:
        named = []
    return next((one.partition(", ")[2] for one in named if one.startswith("Repository,")), UNKNOWN)


def server_name(repository: str) -> str:
    """Return the name of the MCP server in registries.

    >>> server_name("https://github.com/OWNER/muisti")
    'io.github.OWNER/muisti'
    """
    return f"io.github.{repository.rstrip('/').split('/')[-2]}/{NAME}"
