"""The SQL of leases on background tasks, by the clock of the database."""

from muisti.core.store.database import Statement

_NOW = "CAST(unixepoch('subsec') * 1000000 AS INTEGER)"


def take(name: str, owner: str, microseconds: int) -> list[Statement]:
    """Lease a task that is due and free, or extend the owner's lease; the last statement selects the owner."""
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
    """Select the owner, and the microseconds until another may take the lease; no row for a task never leased."""
    return Statement(f"SELECT owner, max(until, next_at) - {_NOW} FROM sweeps WHERE name = ?", (name,))


def give_back(name: str, owner: str, rest: int) -> Statement:
    """End the owner's lease; the task is due again in `rest` microseconds."""
    return Statement(
        f"UPDATE sweeps SET owner = '', until = 0, next_at = {_NOW} + ? WHERE name = ? AND owner = ?",
        (rest, name, owner),
    )
