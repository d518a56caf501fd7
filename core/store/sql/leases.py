"""The SQL of leases on the work of the background. Whose turn it is, the clock of the database decides."""

from muisti.core.store.database import Statement

_NOW = "CAST(unixepoch('subsec') * 1000000 AS INTEGER)"


def take(name: str, owner: str, microseconds: int) -> list[Statement]:
    """Lease a work that is due and nobody's, or longer what is the owner's already; the last tells whose it is."""
    return [
        Statement(
            f"INSERT INTO sweeps VALUES (?, ?, {_NOW} + ?, 0) ON CONFLICT (name) DO UPDATE "
            "SET owner = excluded.owner, until = excluded.until "
            f"WHERE owner = excluded.owner OR (until <= {_NOW} AND next_at <= {_NOW})",
            (name, owner, microseconds),
        ),
        Statement("SELECT owner FROM sweeps WHERE name = ?", (name,)),
    ]


def state(name: str) -> Statement:
    """Owner, and microseconds until somebody else may take it; no row when nobody ever has."""
    return Statement(f"SELECT owner, max(until, next_at) - {_NOW} FROM sweeps WHERE name = ?", (name,))


def give_back(name: str, owner: str, rest: int) -> Statement:
    """End the owner's lease; the work is due again in `rest` microseconds."""
    return Statement(
        f"UPDATE sweeps SET owner = '', until = 0, next_at = {_NOW} + ? WHERE name = ? AND owner = ?",
        (rest, name, owner),
    )
