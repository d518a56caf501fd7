"""Commands about the databases that hold spaces, and moves between them."""

from typing import Any

from muisti.client import calls
from muisti.service.terminal.calling import Operations
from muisti.service.terminal.views import listed

placement = Operations(
    "placement",
    examples=("muisti placement add eu-1 http://sqld-1:8080", "muisti placement plan"),
    help="Spread spaces over several databases.\n\nSpaces move while they are used. One database is the directory, "
    "which the settings name; it knows where each space is.",
)


def _or_nothing(name: str) -> Any:
    return lambda one: "" if one[name] is None else f"{one[name]:,}"


DATABASES = listed(
    {
        "database": "name",
        "state": "state",
        "buckets": "buckets",
        "spaces": _or_nothing("spaces"),
        "memories": _or_nothing("memories"),
        "bytes": _or_nothing("bytes"),
    },
    ("name", "state", "buckets", "spaces", "memories", "bytes"),
    among="databases",
    right=("buckets", "spaces", "memories", "bytes"),
)
MOVES = listed(
    {"move": "id", "unit": "unit", "from": "source", "to": "target", "step": "step", "rows": "rows", "error": "error"},
    ("id", "unit", "source", "target", "step", "rows", "error"),
    right=("rows",),
    none="Nothing moves: it is there already.",
)
PLAN = listed(
    {"unit": "unit", "from": "source", "to": "target", "bytes": "bytes"},
    ("unit", "source", "target", "bytes"),
    right=("bytes",),
    none="The databases are even: nothing needs to move.",
)
WRONG = listed(
    {"space": "space", "held by": "held_by", "belongs to": "belongs_to"},
    ("space", "held_by", "belongs_to"),
    among="misplaced",
    none="Each space is where the map has it.",
)

placement.call(
    "list",
    calls.get_placement,
    DATABASES,
    prints="the name, the state, the buckets of 4,096, the spaces, the memories, and the bytes of texts",
)
placement.call(
    "add NAME=name URL=url --namespace --replica-url --token-file --most-bytes --dry-run",
    calls.add_database,
    DATABASES,
    "muisti placement add eu-1 http://sqld-1:8080 --namespace eu",
)
placement.call("plan", calls.plan_moves, PLAN)
placement.call(
    "move UNIT=units --target --wait --dry-run",
    calls.move_units,
    MOVES,
    "muisti placement move '#17' --target eu-1 --wait",
)
placement.call(
    "promote SPACE=name --target --wait --dry-run",
    calls.promote_space,
    MOVES,
    "muisti placement promote acme --target big-1 --wait",
)
placement.call("drain NAME=name --dry-run", calls.drain_database, MOVES, "muisti placement drain eu-1")
placement.call("check", calls.check_placement, WRONG, then=lambda _, found: None if found["ok"] else 1)
