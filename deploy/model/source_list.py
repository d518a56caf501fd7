"""The list of sources in a model's card."""

from collections.abc import Iterable

from deploy.model.corpus import Reading

REGISTRIES = {"pypi": "PyPI", "npm": "npm", "debian": "Debian 12", "python": "CPython"}


def source_list(readings: Iterable[Reading]) -> str:
    """Return the sources by registry and licence: the package, its version and its number of pairs."""
    lines: dict[str, list[str]] = {}
    for one in readings:
        source = one.source
        found = lines.setdefault(f"{REGISTRIES[source.registry]}, {one.licence}", [])
        found.append(f"{source.name} {source.version} ({one.pairs:,})")
    return "\n".join(f"- {head}: {', '.join(names)}" for head, names in lines.items())
