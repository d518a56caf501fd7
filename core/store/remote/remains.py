"""Words of a purge report for the copies on a server that a purge does not reach, and what removes them."""

from collections.abc import Mapping

_SCRUB = "`muisti scrub` removes them; so does a move into a new namespace (docs/how-to/erasure.md)"


def unchecked(free: int | None) -> Mapping[str, str]:
    """Return the places that a purge leaves unchecked, each with the reason.

    `free` is the number of free pages that were not overwritten, None for all of them.
    """
    found = {
        "unused room in pages of the database server": (
            f"where its trees have moved rows, copies may stay beside rows that remain. {_SCRUB}"
        ),
        "logs of the database server": (
            "`data-wal` keeps them until the next checkpoint, hourly by default. `wallog` and snapshots keep them "
            f"until sqld compacts them, by default after 200 MB of writes. Replicas have logs of their own. {_SCRUB}"
        ),
    }
    if free == 0:
        return found
    many = "they" if free is None else f"all {free:,}"
    return found | {
        "free pages of the database server": f"{many} were not overwritten, and keep deleted rows. {_SCRUB}"
    }
