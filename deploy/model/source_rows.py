"""Rows of the table of sources in a model's card."""

from deploy.model.corpus import Reading

REGISTRIES = {"pypi": "PyPI", "npm": "npm", "debian": "Debian 12", "python": "CPython"}


def source_row(reading: Reading) -> str:
    """Return the row of a source: its package, version, registry, licence and number of pairs."""
    source = reading.source
    return (
        f"| {source.name} | {source.version} | {REGISTRIES[source.registry]} | {reading.licence} | {reading.pairs:,} |"
    )
