"""The SQL of models behind endpoints: the vectors of probe texts by which they are recognised."""

from muisti.core.store.database import Statement


def of(configuration: str) -> Statement:
    """Select (hash, dimensions, probes) of the models seen with a configuration, the one last seen first."""
    return Statement(
        "SELECT hash, dimensions, probes FROM generations WHERE substr(hash, 1, ?) = ? AND probes IS NOT NULL "
        "ORDER BY seen_at DESC, id DESC",
        (len(configuration), configuration),
    )


def note(digest: str, model: str, dimensions: int, probes: bytes, now: int) -> list[Statement]:
    """Register a model, and record when it was seen."""
    return [
        Statement(
            "INSERT INTO generations (hash, model, dimensions, created_at, probes, seen_at) VALUES (?, ?, ?, ?, ?, ?) "
            "ON CONFLICT (hash) DO UPDATE SET probes = coalesce(probes, excluded.probes), seen_at = excluded.seen_at",
            (digest, model, dimensions, now, probes, now),
        )
    ]
