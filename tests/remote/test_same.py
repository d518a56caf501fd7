"""Random calls on a file and on sqld give equal answers and equal errors.

Two engines share each store and take turns, so that neither has made all writes itself.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from deploy.cluster.sqld import Sqld
from muisti.core.embedding.encoder import Encoder
from muisti.core.engine import Engine
from muisti.core.model.errors import MuistiError
from muisti.core.model.spaces import CONTENT_ONLY
from muisti.core.model.values import Address, Draft, RequestKey
from muisti.core.query.filters import parse
from muisti.core.query.query import Query
from muisti.core.store.database import Database
from muisti.service.http.batch import add_each
from tests.core.fakes import NOON, WordEncoder
from tests.examples import USUAL, examples
from tests.stores import FileStore, RemoteStore

SHARE = 6  # of the examples that other properties get: each of these is many round trips
UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
SECOND = 1_000_000

WORDS = ["red", "green", "fox", "dog", "lake", "never", "port 80", "port 81"]
NUMBERS = [0, -1, 2**53 + 1, -(2**63), 0.5, 0.1 + 0.2, 5e-324, 1e300, -0.0, True, "x", "Ä\U0001f986'?"]
FILTERS: list[Any] = [
    None,
    {"category": "A"},
    {"tags": {"all": ["x", "Y"]}},
    {"metadata.n": {"gte": 0.3}},
    {"not": {"metadata.n": 2**53 + 1}},
    {"or": [{"importance": {"gt": "low"}}, {"author": {"exists": False}}]},
    {"created_at": {"gt": datetime.fromtimestamp(NOON // SECOND + 10, UTC).isoformat()}},
    {"status": "candidate"},
    {"key": {"prefix": "k"}, "expires_at": {"exists": True}},
    {"nothing": 1},
]

contents = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join) | st.just(" ")
fields = st.fixed_dictionaries(
    {},
    optional={
        "category": st.sampled_from(["A", "a", "B"]),
        "tags": st.sampled_from([("x",), ("x", "y"), ("X", "x")]),
        "metadata": st.fixed_dictionaries({"n": st.sampled_from(NUMBERS)}, optional={"session": st.just("s")}),
        "importance": st.sampled_from(["low", "high"]),
        "status": st.sampled_from(["active", "candidate"]),
        "author": st.sampled_from(["Ann", "ann", "Bob"]),
        "expires_at": st.integers(1, 40).map(lambda s: datetime.fromtimestamp(NOON // SECOND + s, UTC)),
    },
)
addresses = st.tuples(st.sampled_from(["A", "a", "B"]), st.sampled_from(["k", "rd", "fx"]))
drafts = st.builds(lambda content, given: Draft(content=content, **given), contents, fields)
placed = st.builds(lambda draft, at: replace(draft, category=at[0], key=at[1]), drafts, addresses)
batches = st.lists(drafts | placed, min_size=1, max_size=4)
conflicts = st.sampled_from(["reject", "keep"])
some = st.integers(0, 20)
matches = st.sampled_from([None, "current", "old"])
requests = st.sampled_from([None, None, b"1", b"2"])  # the body of a request with a key, or none
modes = st.sampled_from(["hybrid", "keyword", "semantic", "metadata", "recent"])
queries = st.builds(
    lambda text, mode, limit: {"text": text, "mode": mode, "limit": limit},
    st.sampled_from([*WORDS, '"red fox"', "fox dog lake"]),
    modes,
    st.integers(1, 5),
)
calls = st.one_of(
    st.tuples(st.just("add"), batches, conflicts, requests),
    st.tuples(st.just("each"), batches, conflicts),
    st.tuples(st.just("put"), placed, matches, requests),
    st.tuples(st.just("update"), some, fields | st.fixed_dictionaries({"content": contents}), matches),
    st.tuples(st.just("delete"), some, matches),
    st.tuples(st.just("delete_entry"), addresses),
    st.tuples(st.just("history"), some),
    st.tuples(st.just("entry"), addresses),
    st.tuples(st.just("search"), queries, st.sampled_from(FILTERS)),
    st.tuples(st.just("list"), st.integers(1, 4), st.sampled_from(FILTERS)),
    st.tuples(st.just("count")),
)
scripts = st.lists(st.tuples(st.integers(0, 1), calls), min_size=5, max_size=20)
BEGINNING = (
    "add",
    [Draft(content=word, category="A", key=word[0] + word[-1], tags=("x",)) for word in WORDS],
    "keep",
    None,
)


class Side:
    """Engines on one store, and what they have said."""

    def __init__(self, open: Callable[[], Database], clock: Callable[[], int]) -> None:
        encoder: Encoder = WordEncoder()
        self._engines = [Engine(open(), encoder, clock) for _ in range(2)]

    def begin(self, space: str) -> None:
        self._engines[0].spaces.create(space, CONTENT_ONLY)
        self._space = space
        self._ids: list[str] = []
        self._names: dict[str, str] = {}

    def close(self) -> None:
        for engine in self._engines:
            engine.close()

    def outcome(self, who: int, call: tuple[Any, ...]) -> object:
        """Return an engine's answer or error to a call, without what differs between stores."""
        name, *args = call
        try:
            answer = getattr(self, f"_{name}")(self._engines[who], *args)
        except MuistiError as error:
            answer = [type(error).__name__, error.code, str(error)]
        return self._plain(msgspec.to_builtins(answer))

    def _plain(self, value: Any) -> Any:
        if isinstance(value, dict):
            varying = ("timings", "commit", "next_cursor")
            return {key: self._plain(inner) for key, inner in value.items() if key not in varying}
        if isinstance(value, list | tuple):
            return [self._plain(inner) for inner in value]
        if isinstance(value, str):
            return UUID.sub(lambda found: self._names.setdefault(found[0], f"id{len(self._names)}"), value)
        return (type(value).__name__, repr(value))

    def _id(self, place: int) -> str:
        return self._ids[place % len(self._ids)] if self._ids else "0" * 8

    def _request(self, body: bytes | None) -> RequestKey | None:
        return None if body is None else RequestKey(self._space, "k", body)

    def _etag(self, engine: Engine, place: int, match: str | None) -> list[str] | None:
        memory_id = self._id(place)
        return (
            None
            if match is None
            else [engine.owner.read.get(self._space, memory_id).memory.etag if match == "current" else "x.1"]
        )

    def _add(self, engine: Engine, given: list[Draft], on_conflict: Any, body: bytes | None) -> object:
        request = self._request(body)
        written = engine.owner.write.add(
            self._space, given, on_conflict=on_conflict, request=request, path="$.memories"
        )
        self._ids += [memory.id for memory in written.memories]
        return written

    def _each(self, engine: Engine, given: list[Draft], on_conflict: Any) -> object:
        reply, _ = add_each(engine.owner.write, self._space, given, on_conflict)
        self._ids += [item.memory.id for item in reply.items if not isinstance(item.memory, msgspec.UnsetType | None)]
        return reply

    def _put(self, engine: Engine, draft: Draft, match: str | None, body: bytes | None) -> object:
        assert draft.category and draft.key
        etags = None if match is None else ["x.1"]
        if match == "current":
            etags = [engine.owner.read.get(self._space, Address(draft.category, draft.key)).memory.etag]
        written = engine.owner.write.put(self._space, draft, if_match=etags, request=self._request(body))
        self._ids.append(written.memories[0].id)
        return written

    def _update(self, engine: Engine, place: int, changes: dict[str, Any], match: str | None) -> object:
        return engine.owner.write.update(
            self._space, self._id(place), changes, if_match=self._etag(engine, place, match)
        )

    def _delete(self, engine: Engine, place: int, match: str | None) -> object:
        return engine.owner.write.delete(self._space, self._id(place), if_match=self._etag(engine, place, match))

    def _delete_entry(self, engine: Engine, address: tuple[str, str]) -> object:
        return engine.owner.write.delete(self._space, Address(*address))

    def _history(self, engine: Engine, place: int) -> object:
        return engine.owner.read.history(self._space, self._id(place))

    def _entry(self, engine: Engine, address: tuple[str, str]) -> object:
        return engine.owner.read.get(self._space, Address(*address))

    def _search(self, engine: Engine, query: dict[str, Any], filter: Any) -> object:
        parsed = None if filter is None else parse(filter)
        return engine.owner.read.search(self._space, Query(**query, filter=parsed, explain=True, highlight=True))

    def _list(self, engine: Engine, limit: int, filter: Any) -> object:
        parsed, pages, cursor = None if filter is None else parse(filter), [], None
        while not pages or cursor is not None:
            page = engine.owner.read.list(self._space, filter=parsed, limit=limit, cursor=cursor)
            pages.append(page)
            cursor = page.next_cursor
        return pages

    def _count(self, engine: Engine) -> object:
        return [
            engine.owner.read.categories(self._space),
            engine.owner.read.tags(self._space),
            engine.owner.read.stats(self._space),
        ]


class Same:
    """Both sides, and the one clock that they have."""

    def __init__(self, sides: list[Callable[[], Database]]) -> None:
        self._now = NOON
        self._spaces = 0
        self.sides = [Side(open, lambda: self._now) for open in sides]

    def play(self, script: list[tuple[int, tuple[Any, ...]]]) -> None:
        self._now = NOON
        self._spaces += 1
        for side in self.sides:
            side.begin(f"space{self._spaces}")
        for who, call in [(0, BEGINNING), *script]:
            self._now += SECOND
            on_file, on_sqld = (side.outcome(who, call) for side in self.sides)
            assert on_sqld == on_file, call


@pytest.fixture(scope="module")
def same(sqld: Sqld, tmp_path_factory: pytest.TempPathFactory) -> Any:
    both = Same([FileStore(tmp_path_factory.mktemp("same") / "muisti.db").open, RemoteStore(sqld).open])
    yield both
    for side in both.sides:
        side.close()


@examples(USUAL // SHARE)
@given(scripts)
def test_a_file_and_a_server_say_the_same(same: Same, script: list[tuple[int, tuple[Any, ...]]]):
    same.play(script)
