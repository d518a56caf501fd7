"""The SQL of spaces and of the models that embedded them."""

import json
from typing import Any, NamedTuple, cast

import msgspec

from muisti.core.model.buckets import EVERYTHING, bucket_of, unit_of
from muisti.core.model.generations import Card
from muisti.core.model.spaces import Field, Policy, Space, SpaceSettings
from muisti.core.model.times import from_us
from muisti.core.model.values import Seq
from muisti.core.query.points import AsOf
from muisti.core.store.database import Refusal, Row, Scalar, Statement, refuse, refuse_one_of
from muisti.core.store.sql.version_rows import PLAIN
from muisti.core.support.memo import memoised

READ = 256  # settings and policies that are remembered

_SELECT = """SELECT s.id, s.name, s.epoch, s.seq, s.created_at, s.settings, g.id, g.hash, g.dimensions, s.kept_from,
s.policy, h.id, h.hash, h.dimensions, s.shadow_served, t.id, t.hash, t.dimensions, s.placed
FROM spaces s LEFT JOIN generations g ON g.id = s.generation_id
LEFT JOIN generations h ON h.id = s.shadow_generation_id
LEFT JOIN generations t ON t.id = s.second_generation_id"""
_LIVING = "FROM versions v WHERE v.space_id = spaces.id AND v.died IS NULL"
# The counters of a space, by column: memories that are not deleted, what callers add beside them, and the bytes of all.
COUNTED = {
    "memories": f"(SELECT count(*) {_LIVING} AND {PLAIN})",
    "objects": f"(SELECT count(*) {_LIVING} AND v.kind IN ('session', 'conversation', 'topic', 'entity', 'relation'))",
    "bytes": f"(SELECT coalesce(sum(v.bytes), 0) {_LIVING})",
}
COUNTING = ", ".join(f"{name} = {count}" for name, count in COUNTED.items())
AWAY = "~~"  # first characters of the names of spaces that arrive from another database, or have left for one
STAGING = "~"  # first character of the names of staging spaces, which callers never see
_THERE = "EXISTS (SELECT 1 FROM spaces WHERE id = ? AND epoch = ? AND placed = ?)"
_NO_SPACE, _SPACE_EXISTS = refuse(Refusal.NO_SPACE), refuse(Refusal.SPACE_EXISTS)
_GUARD = f"{_NO_SPACE} WHERE NOT {_THERE}"
_GUARD_POLICY = (
    f"{refuse_one_of(_THERE, Refusal.STALE, Refusal.NO_SPACE)} "
    "WHERE NOT EXISTS (SELECT 1 FROM spaces WHERE id = ? AND epoch = ? AND placed = ? AND policy = ?)"
)
_GUARD_MODEL = (
    f"{refuse_one_of(_THERE, Refusal.MODEL_MISMATCH, Refusal.NO_SPACE)} "
    "WHERE NOT EXISTS (SELECT 1 FROM spaces WHERE id = ? AND epoch = ? AND placed = ? "
    "AND policy = ? AND shadow_generation_id IS ? AND generation_id = (SELECT id FROM generations WHERE hash = ?))"
)
# The state of the unit that a name belongs to: its own, else that of its bucket, else that of everything.
HELD = (
    "coalesce((SELECT state FROM holdings WHERE unit = ?), (SELECT state FROM holdings WHERE unit = ?), "
    "(SELECT state FROM holdings WHERE unit = ?), 'held')"
)
_NOT_HERE = f"{refuse(Refusal.MOVED)} WHERE {HELD} NOT IN ('held', 'following')"
_SEEN = f"s.name NOT LIKE '{STAGING}%'"


class SpaceRow(msgspec.Struct, frozen=True):
    """A row of `spaces`.

    `generation` is the row id of the model that embedded the space. `dimensions` is that of its vectors, 0 without a
    model. `kept_from` is the oldest change as of which the space can be shown. `policy` is JSON. `shadow` and
    `shadow_dimensions` are those of the shadow. `is_shadow`: this row shows the space with both exchanged. `second` and
    `second_dimensions` are those of the second model. `placed` is the epoch of its placement here, negative while
    writes are refused; every write names it.
    """

    id: int
    space: Space
    generation: int | None
    dimensions: int
    kept_from: int = 0
    policy: str = "{}"
    shadow: int | None = None
    shadow_dimensions: int = 0
    is_shadow: bool = False
    second: int | None = None
    second_dimensions: int = 0
    placed: int = 0

    @property
    def known(self) -> tuple[int, str, int]:
        """Names of the space in a write: its row, its epoch, and the epoch of its placement."""
        return self.id, self.space.epoch, self.placed

    @property
    def seq(self) -> Seq:
        return self.space.at


def space_row(row: Row) -> SpaceRow:
    """Read a row of `by_name` or `all_spaces`."""
    id_, name, epoch, seq, created_at, settings, generation, digest, dimensions, kept, policy = cast(
        tuple[int, str, str, int, int, str, int | None, str | None, int | None, int, str], row[:11]
    )
    shadow, shadow_digest, shadow_dimensions, served = cast(tuple[int | None, str | None, int | None, int], row[11:15])
    second, second_digest, second_dimensions = cast(tuple[int | None, str | None, int | None], row[15:18])
    space = Space(
        name=name,
        epoch=epoch,
        seq=seq,
        created_at=from_us(created_at),
        settings=_settings(settings),
        generation=digest,
        policy=_policy(policy),
        shadow=shadow_digest,
        shadow_served=bool(served),
        second=second_digest,
    )
    return SpaceRow(
        *(id_, space, generation, dimensions or 0, kept, policy, shadow, shadow_dimensions or 0),
        second=second,
        second_dimensions=second_dimensions or 0,
        placed=cast(int, row[18]),
    )


def exchanged(space: SpaceRow) -> SpaceRow:
    """Return the space with its shadow as its model, and its model as the shadow."""
    return msgspec.structs.replace(
        space,
        space=msgspec.structs.replace(space.space, generation=space.space.shadow, shadow=space.space.generation),
        generation=space.shadow,
        dimensions=space.shadow_dimensions,
        shadow=space.generation,
        shadow_dimensions=space.dimensions,
        is_shadow=not space.is_shadow,
    )


def with_policy(space: SpaceRow, policy: str) -> SpaceRow:
    """Return the space with the policy in a JSON text."""
    return msgspec.structs.replace(
        space, space=msgspec.structs.replace(space.space, policy=_policy(policy)), policy=policy
    )


def by_name(name: str) -> Statement:
    return Statement(f"{_SELECT} WHERE s.name = ? AND {_SEEN}", (name,))


def all_spaces() -> Statement:
    return Statement(f"{_SELECT} WHERE {_SEEN} ORDER BY s.name")


def insert(name: str, epoch: str, settings: SpaceSettings, now: int) -> list[Statement]:
    """Make a space; refuse when the name is taken, or when its place is another database."""
    return [
        Statement(_NOT_HERE, (name, unit_of(bucket_of(name)), EVERYTHING)),
        Statement(f"{_SPACE_EXISTS} WHERE EXISTS (SELECT 1 FROM spaces WHERE name = ?)", (name,)),
        Statement(
            "INSERT INTO spaces (name, epoch, created_at, committed_at, settings) VALUES (?, ?, ?, ?, ?)",
            (name, epoch, now, now, settings_text(settings)),
        ),
    ]


def delete(name: str) -> list[Statement]:
    """Erase a space; refuse with `no_space` when no space has this name."""
    return [
        Statement(f"{_NO_SPACE} WHERE NOT EXISTS (SELECT 1 FROM spaces WHERE name = ?)", (name,)),
        Statement("DELETE FROM spaces WHERE name = ?", (name,)),
    ]


def guard(space: SpaceRow) -> Statement:
    """Refuse with `no_space` when the space is gone, or was erased and made again."""
    return Statement(_GUARD, space.known)


def guard_policy(space: SpaceRow) -> Statement:
    """Refuse with `no_space` like `guard`, and with `stale` when the policy of the space has changed."""
    return Statement(_GUARD_POLICY, (*space.known, *space.known, space.policy))


def guard_model(space: SpaceRow, digest: str) -> Statement:
    """Refuse with `no_space` like `guard`, and with `model_mismatch` when the policy or a model has changed."""
    return Statement(_GUARD_MODEL, (*space.known, *space.known, space.policy, space.shadow, digest))


def describe(space: SpaceRow, settings: SpaceSettings) -> list[Statement]:
    """Change the settings of a space; refuse with `stale` when they or its policy have changed."""
    before = settings_text(space.space.settings)
    stale = f"{refuse(Refusal.STALE)} WHERE NOT EXISTS (SELECT 1 FROM spaces WHERE id = ? AND settings = ?)"
    return [
        guard_policy(space),
        Statement(stale, (space.id, before)),
        Statement("UPDATE spaces SET settings = ? WHERE id = ?", (settings_text(settings), space.id)),
    ]


def set_policy(name: str, policy: Policy) -> Statement:
    return Statement("UPDATE spaces SET policy = ? WHERE name = ?", (_policy_text(policy), name))


def advance(space: SpaceRow, changes: int, now: int) -> list[Statement]:
    """Advance the space's seq by `changes`; the last statement selects the new seq."""
    return [
        Statement(
            "UPDATE spaces SET seq = seq + ?, committed_at = max(committed_at, ?) WHERE id = ?",
            (changes, now, space.id),
        ),
        Statement("SELECT seq FROM spaces WHERE id = ?", (space.id,)),
    ]


def number(space: SpaceRow) -> Statement:
    """Select the seq of the last change."""
    return Statement("SELECT seq FROM spaces WHERE id = ?", (space.id,))


def change(space: SpaceRow, as_of: AsOf) -> Statement:
    """Select (seq, committed_at) of the last change up to a point; no row when there was none."""
    if as_of.time is None:
        where, value, order = "seq <= ?", as_of.number, "seq DESC"
    else:
        where, value, order = "committed_at <= ?", as_of.time, "committed_at DESC, seq DESC"
    return Statement(
        f"SELECT seq, committed_at FROM changes WHERE space_id = ? AND {where} ORDER BY {order} LIMIT 1",
        (space.id, value),
    )


def committed(space: SpaceRow, number: int) -> Statement:
    """Select the time when a change was committed."""
    return Statement("SELECT committed_at FROM changes WHERE space_id = ? AND seq = ?", (space.id, number))


def memories(space: SpaceRow) -> Statement:
    """Select the number of memories in the space."""
    return Statement("SELECT memories FROM spaces WHERE id = ?", (space.id,))


def count_anew(space: SpaceRow) -> Statement:
    """Recompute the counters of a space from its versions."""
    return Statement(f"UPDATE spaces SET {COUNTING} WHERE id = ?", (space.id,))


def state(space: SpaceRow) -> Statement:
    """Select by what an index is up to date.

    The columns are epoch, seq, generation id, kept_from, number of verdicts and policy. Then comes the change up to
    which all passages have vectors, the generation id of the second model, and the same change for it. The last is
    the epoch of the placement, which a fence does not change.
    """
    generation = "shadow_generation_id" if space.is_shadow else "generation_id"
    return Statement(
        f"SELECT epoch, seq, {generation}, kept_from, feedback, policy, embedded, second_generation_id, "
        "second_embedded, max(placed, -1 - placed) FROM spaces WHERE id = ?",
        (space.id,),
    )


class Marks(NamedTuple):
    """Changes up to which all passages have vectors: by the model of the space, and by its second one (a row id)."""

    embedded: int
    second: int | None
    second_embedded: int


def marks_of(state: Row) -> Marks:
    """Return the marks in a row of `state`."""
    return Marks(*cast(tuple[int, int | None, int], state[6:9]))


def register_generation(card: Card, now: int) -> Statement:
    return Statement(
        "INSERT INTO generations (hash, model, dimensions, created_at) VALUES (?, ?, ?, ?) "
        "ON CONFLICT (hash) DO NOTHING",
        (*card, now),
    )


def generation_id(digest: str) -> Statement:
    return Statement("SELECT id FROM generations WHERE hash = ?", (digest,))


def adopt_generation(space: SpaceRow, digest: str) -> Statement:
    """Bind a space without vectors to a model."""
    return Statement(
        "UPDATE spaces SET generation_id = (SELECT id FROM generations WHERE hash = ?) "
        "WHERE id = ? AND epoch = ? AND generation_id IS NULL",
        (digest, space.id, space.space.epoch),
    )


def settings_text(settings: SpaceSettings) -> str:
    """Return the settings as the JSON that is stored."""
    weights, embedded = dict(settings.lexical_weights), list(settings.embedded_fields)
    told = {name: value for name in _TOLD if (value := getattr(settings, name))}
    return json.dumps({"lexical_weights": weights, "embedded_fields": embedded, **told})


_TOLD = ("description", "title", "labels", "changed_us")  # left out while nothing is said


@memoised(READ)
def _settings(text: Scalar) -> SpaceSettings:
    stored = cast(dict[str, Any], json.loads(str(text)))
    return SpaceSettings(
        lexical_weights=cast(dict[Field, float], stored["lexical_weights"]),
        embedded_fields=tuple(cast(list[Field], stored["embedded_fields"])),
        **{name: stored[name] for name in _TOLD if name in stored},
    )


def readable(settings: Scalar, policy: Scalar) -> bool:
    """Return whether the JSON of a space's settings and policy can be read."""
    try:
        _settings(settings)
        _policy(str(policy))
    except (ValueError, KeyError, TypeError, AttributeError):
        return False
    return True


def _policy_text(policy: Policy) -> str:
    return json.dumps({name: value for name, value in msgspec.structs.asdict(policy).items() if value is not None})


@memoised(READ)
def _policy(text: str) -> Policy:
    if text == "{}":
        return _UNSAID
    stored = cast(dict[str, Any], json.loads(text))
    known = {name: stored.get(name) for name in Policy.__struct_fields__}
    if known["inherits"] is not None:
        known["inherits"] = tuple(known["inherits"])
    return Policy(**known)


_UNSAID = Policy()
