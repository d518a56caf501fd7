"""A draft has the same result on every write path, given one key, policy and quota, or the difference is declared."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from queue import SimpleQueue
from typing import Any, cast
from zlib import crc32

import httpx
import pytest

from muisti.core.engine import Engine
from muisti.core.model.choices import SourceClass
from muisti.core.model.values import TRUST, Draft, Seq
from muisti.core.query.points import Wanted
from muisti.core.query.query import Query
from muisti.core.store.database import Outcome
from muisti.service.app.app import create_app
from muisti.service.cli import main
from muisti.service.mcp.tools import TOOLS
from muisti.service.schemas.errors import KINDS
from muisti.service.settings import Settings
from tests.core.fakes import Clock, WordEncoder
from tests.service.cli_commands import of_the_tree
from tests.service.conftest import Run
from tests.service.entrances import (
    ADDRESS,
    ENTRANCES,
    KEYS,
    KNOWN,
    MAIL,
    OWNER,
    REDACTED,
    SECRET,
    STORES_NOTHING,
    TEXTS,
    Case,
    Entrance,
    Key,
    Place,
    Said,
)
from tests.service.issuer import AUDIENCE, NAME, Issuer, SigningKey
from tests.service.runtime.test_admission import running
from tests.stores import at

SAMPLE = 16  # of so many cases of a key that is not the first, one is tried without --long
FULL, *OTHERS = KEYS
ABOUT_POLICY = [
    *(Case(FULL, "secret", policy={"secrets": what}) for what in ("refuse", "redact", "allow")),
    *(Case(FULL, "personal", policy={"personal_data": what}) for what in ("refuse", "redact", "allow")),
    *(Case(FULL, "echo", policy={"echoes": what}) for what in ("refuse", "flag", "allow")),
    *(Case(FULL, quota=what) for what in ("memories", "bytes")),
]
ABOUT_KEYS = [
    Case(FULL),
    *(Case(FULL, fields={"source_class": name}) for name in ("user", "model", "web")),
    Case(FULL, fields={"category": "others"}),
]
CASES = [*ABOUT_KEYS, *ABOUT_POLICY]
_NUMBERS = count(1)

Row = dict[str, Any]


class World:
    """A server with keys on an engine, and an issuer of tokens."""

    def __init__(self, engine: Engine, http: httpx.Client, signer: SigningKey) -> None:
        self.engine, self.http, self._signer = engine, http, signer
        self._secrets: dict[str, str] = {}

    def headers(self, key: Key) -> dict[str, str]:
        if key.token:
            secret = self._signer.sign(scope=" ".join(key.scopes))
        else:
            if key.name not in self._secrets:
                self._secrets[key.name] = self.engine.keys.create(key.grant, self.engine.now(), name=key.name)[1]
            secret = self._secrets[key.name]
        return {"Authorization": f"Bearer {secret}"}

    def place(self, entrance: Entrance, case: Case) -> Place:
        """Create a space for the case, with its policy, its memories and its quota."""
        space = f"s{next(_NUMBERS)}"
        self.engine.spaces.create(space)
        # First, because the fast path knows a space as it was when it was last written to.
        self.engine.spaces.set_policy(space, {"secrets": "refuse", "personal_data": "allow", **case.policy})
        place = Place(self.engine, self.http, space, self.headers(case.key), case)
        drafts = [Draft(content="something to begin with"), Draft(content=KNOWN, category="notes", source_class="web")]
        place.known = (
            [self.engine.seen_by(OWNER).write.add(space, [draft], on_conflict="keep") for draft in drafts][-1]
            .memories[0]
            .id
        )
        entrance.prepare(place)
        if entrance.warm:
            self.engine.owner.read.search(space, Query(text="something"))
        if case.quota is not None:
            held = self.engine.owner.read.stats(space)
            limit = held.memories if case.quota == "memories" else self.engine.spaces.set_quota(space, {})[0].bytes
            self.engine.spaces.set_quota(space, {case.quota: limit})
        if case.text == "echo" and "read" in case.key.scopes:
            found = self.http.post(f"/v1/spaces/{space}/search", json={"query": KNOWN}, headers=place.headers)
            assert place.known in found.text
        return place


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    signer = SigningKey("ES256", "key-1")
    tokens: Any = {"jwt_issuer": NAME, "jwt_audience": AUDIENCE}
    store = at(tmp_path_factory.mktemp("entrances") / "muisti.db")
    with (
        Issuer(signer) as issuer,
        Engine(store.open(), WordEncoder(), Clock()) as engine,
        running(engine, jwks=issuer.url, **tokens) as (url, _),
        httpx.Client(base_url=url, timeout=60) as http,
    ):
        engine.keys.create(FULL.grant, engine.now(), name="so that keys are needed")
        yield World(engine, http, signer)


def expected(entrance: Entrance, case: Case, place: Place) -> tuple[str | None, Row]:
    """The code of the refusal, or the row that is stored: the rules once more, in the order in which they are asked."""
    key, fields = case.key, case.body
    refusal = not_allowed(entrance, key, fields)
    if refusal is not None:
        return refusal, {}
    claim = cast(SourceClass, fields.get("source_class", "unknown"))
    source_class = spoken(entrance.trust, key.source_class, claim)
    if source_class is None:
        return "forbidden", {}
    row = {**fields, "source_class": source_class, "derived_from": [], "trust": TRUST[source_class]}
    refusal, flags = by_policy(entrance, case, place, row)
    if refusal is None and (case.quota == "bytes" or (case.quota == "memories" and entrance.adds)):
        refusal = "quota_exceeded"
    if refusal is not None:
        return refusal, {}
    if key.category and entrance.trust == "own":
        row["category"] = key.category
    if not entrance.keyed:
        row["key"] = None
    return None, {**row, "flags": flags if entrance.tells else ()}


def not_allowed(entrance: Entrance, key: Key, fields: Row) -> str | None:
    """Return the error code with which a key is refused, whatever the draft says."""
    if not set(entrance.scopes) <= set(key.scopes):
        return "forbidden"
    if entrance.keyed and "read" not in key.scopes:
        return "forbidden"  # whether the key is taken would tell what is stored
    if entrance.whole and (key.category or "read" not in key.scopes):
        return "forbidden"
    if entrance.classless and key.source_class:
        return "forbidden"
    if key.category and fields["category"] != ADDRESS["category"]:
        return "not_found" if entrance.trust == "kept" else "forbidden"
    return None


def spoken(trust: str, ceiling: SourceClass | None, claim: SourceClass) -> SourceClass | None:
    """The source class that is stored, None when the key may not claim it."""
    if ceiling is None or trust == "kept":
        return claim
    if trust == "changed":
        if ceiling == "user":
            return claim
        return None if TRUST[claim] > TRUST["unknown"] else min(claim, ceiling, key=TRUST.__getitem__)
    claim = ceiling if claim == "unknown" else claim
    return None if TRUST[claim] > TRUST[ceiling] else claim


def by_policy(entrance: Entrance, case: Case, place: Place, row: Row) -> tuple[str | None, tuple[str, ...]]:
    """The code with which the policy refuses the row, and the flags of what it changes in it."""
    for text, about, found in (("secret", "secrets", SECRET), ("personal", "personal_data", MAIL)):
        chosen = case.policy.get(about) if case.text == text else None
        if chosen == "refuse":
            return "sensitive_content", ()
        if chosen == "redact":
            row["content"] = row["content"].replace(found, REDACTED[found])
            return None, ("redacted",)
    if case.text != "echo" or not entrance.echoes or "read" not in case.key.scopes:
        return None, ()
    if case.policy["echoes"] == "refuse":
        return "echo", ()
    if case.policy["echoes"] == "allow":
        return None, ()
    lowered = ("trust_lowered",) if row["trust"] > TRUST["web"] else ()
    row |= {"derived_from": [place.known], "trust": TRUST["web"]}
    return None, ("echo", *lowered)


def seen(place: Place, entrance: Entrance, said: Said, before: tuple[Seq, int]) -> tuple[str | None, Row]:
    """Return the error code or None, and the stored row, asserting what the feed and the audit log have."""
    engine, (seq, number) = place.engine, before
    events = engine.owner.read.changes(place.space, Wanted(since=seq, limit=1_000)).items
    audited = [one for one in engine.audit(limit=20).items if one.number > number and one.space == place.space]
    if said.code is not None:
        assert ([one.kind for one in events], audited) == ([], []), "something was stored, and the answer is a refusal"
        return said.code, {}
    assert tuple(one.kind for one in events) == entrance.kinds
    assert tuple(one.action for one in audited) == entrance.audit
    actors = {one.actor for one in (*events, *audited)}
    assert len(actors) == 1 and "local" not in actors
    stored = engine.owner.read.get(place.space, cast(str, events[-1].memory_id), no_touch=True).memory
    found = {name: getattr(stored, name) for name in ("content", "category", "key", "source_class", "trust")}
    return None, {**found, "tags": list(stored.tags), "derived_from": list(stored.derived_from), "flags": said.flags}


def tried(world: World, entrance: Entrance, case: Case) -> None:
    place = world.place(entrance, case)
    audit = world.engine.audit(limit=1).items
    before = world.engine.owner.read.stats(place.space).seq, audit[0].number if audit else 0
    said = entrance.send(place)
    code, row = seen(place, entrance, said, before)
    wanted, stored = expected(entrance, case, place)
    wanted = entrance.codes.get(wanted, wanted) if wanted else None
    if wanted == "forbidden" and code == "no such tool":  # a tool that a key may not use is not there
        code = "forbidden"
    assert (code, row) == (wanted, stored), f"{entrance.name}: {case}"
    if code is not None and said.status not in (None, 200):
        assert said.status == KINDS[code].status


def cases(entrance: Entrance, *, long: bool) -> Iterator[Case]:
    """All cases of the first key; of the others all with `long`, else a part that is always the same."""
    yield from CASES
    for key in OTHERS:
        for case in CASES:
            if "category" in case.fields and key.category and entrance.name.startswith("mcp"):
                continue  # this cannot be said: the argument is not there
            one = Case(key, case.text, case.fields, case.policy, case.quota)
            if long or crc32(f"{entrance.name} {one}".encode()) % (SAMPLE * (4 if "cli" in entrance.name else 1)) == 0:
                yield one


@pytest.mark.one_store
@pytest.mark.parametrize("entrance", ENTRANCES, ids=lambda entrance: entrance.name)
def test_every_entrance_comes_to_the_same(
    world: World, entrance: Entrance, long: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    failures: list[str] = []
    for case in cases(entrance, long=long):
        try:
            tried(world, entrance, case)
        except AssertionError as error:
            failures.append(f"{case}: {str(error)[:600]}")
    assert not failures, "\n".join(failures)


@pytest.mark.file_only
@pytest.mark.parametrize("entrance", [one for one in ENTRANCES if one.warm], ids=lambda entrance: entrance.name)
def test_the_fast_path_is_open_where_it_is_meant_to_be_tried(world: World, entrance: Entrance):
    place = world.place(entrance, Case(FULL))
    outcomes: SimpleQueue[Outcome] = SimpleQueue()
    begun = world.engine.owner.write.begin_add(place.space, Draft(content="new"), "keep", outcomes.put)
    assert world.engine.owner.write.end_add(begun, outcomes.get(timeout=10)).memories


def test_what_differs_says_why():
    plain = {
        "trust": "own", "echoes": True, "adds": True, "whole": False, "kinds": ("created",), "codes": {}, "tells": True,
        "keyed": True,
    }  # fmt: skip
    for entrance in ENTRANCES:
        differs = [name for name, value in plain.items() if getattr(entrance, name) != value]
        assert not differs or entrance.why, f"{entrance.name} differs in {differs}"


def test_every_route_tool_and_command_is_an_entrance_or_stores_nothing():
    routes = {
        handler.operation_id
        for route in create_app(Settings(), engine=None).routes
        for handler in getattr(route, "route_handlers", ())
        if handler.http_methods - {"GET", "HEAD", "OPTIONS"}
    }
    tools = {f"mcp {tool.name}" for tool in TOOLS if not tool.read_only}
    commands = {f"cli {words}" for words in of_the_tree(main)}
    known = {name for entrance in ENTRANCES for name in entrance.names} | set(STORES_NOTHING)
    assert (routes | tools | commands) - known == set(), "add them to ENTRANCES or STORES_NOTHING"
    assert known - (routes | tools | commands) == set(), "these are gone"


@pytest.mark.one_store
def test_whoever_has_the_file_may_bring_back_what_the_policy_refuses(run: Run):
    secret = TEXTS["secret"]
    run("add", "no harm")
    memory = run("add", secret, "--allow-secrets").stdout.strip()
    run("checkpoint", "create", "before")
    run("add", secret, "--allow-secrets", "--space", "other")
    for words in (("restore", memory), ("undo",), ("rollback", "before"), ("space", "merge", "other", "notes")):
        assert run("delete", memory).exit_code == 0
        refused = run(*words)
        assert refused.exit_code == 1 and "github-token" in refused.stderr and SECRET not in refused.output
        assert SECRET not in run("list").stdout
        taken = run(*words, "--allow-secrets")
        assert taken.exit_code == 0 and SECRET in run("list").stdout, taken.output
