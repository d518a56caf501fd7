"""Calls that follow each other by the links of the OpenAPI document, sent by callers of every kind.

Callers without permission make each call first, are refused, and write nothing. Then a permitted caller makes it.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest
from litestar.testing import TestClient
from schemathesis import Case, GenerationMode, Response
from schemathesis.generation.stateful.state_machine import StepInput, StepOutput

from muisti.core.engine import Engine
from muisti.core.identity.grants import SCOPES
from muisti.core.model.choices import Scope
from muisti.core.store.database import Ended, Rows, Statement
from muisti.core.store.file.database import FileDatabase
from muisti.service.app.app import create_app
from muisti.service.routes.keys import MODES
from muisti.service.settings import Settings
from tests.core.fakes import Clock, WordEncoder
from tests.service.fakes import Breakable, draft
from tests.service.fuzz import ASIDE, SCHEMA, check, examples, send
from tests.service.keyed import NEEDS, PUBLIC, caller, expired, revoked

pytestmark = pytest.mark.prove


SCENARIOS, MANY, STEPS = 6, 40, 40  # MANY with --long
WITHIN, OWN, OTHER = "acme.", "acme.own", "other"  # where most keys lead, and where they do not
SECRET = "the heron flies at dusk"
EVERYWHERE = {"setQuota", "listAudit", "getPlacement", "planMoves", "moveUnits", "promoteSpace", "checkPlacement"}
EVERYWHERE |= {"addDatabase", "drainDatabase"}  # for keys of all spaces

Answers = Counter[tuple[str, int]]  # by who asked and the status


class Watched(Breakable):
    """A database that counts what is written to it, but for the minute at which a key was used."""

    written = 0

    def write(self, statements: Sequence[Statement]) -> list[Rows]:
        self._look(statements)
        return super().write(statements)

    def queue(self, statements: Sequence[Statement], ended: Ended) -> bool:
        self._look(statements)
        return super().queue(statements, ended)

    def _look(self, statements: Sequence[Statement]) -> None:
        self.written += any("last_used_at" not in one.sql for one in statements)


@dataclass(frozen=True)
class Somebody:
    """A caller with its scopes and spaces; without scopes it may do nothing."""

    name: str
    headers: dict[str, str]
    scopes: tuple[Scope, ...] = ()
    spaces: str = f"{WITHIN}*"

    def reaches(self, space: str) -> bool:
        return self.spaces == "*" or space.startswith(WITHIN)

    def refused(self, operation: str, space: str | None, *, dry: bool = False) -> str | None:
        """The code with which a call is refused, whatever else is wrong with it; None when it may be made.

        `dry`: it says whether it is a dry run. One of a sync needs no more than `read`.
        """
        if operation in PUBLIC:
            return None
        if not self.scopes:
            return "unauthorized"
        if space is not None and not self.reaches(space):
            return "not_found"
        need = "read" if dry and operation == "syncDocuments" else NEEDS.get(operation)
        return None if need is None or need in self.scopes else "forbidden"


class World:
    """A server with a secret in a separate space, callers of every kind, and counts of their answers."""

    def __init__(self, client: httpx.Client, database: Watched, engine: Engine, clock: Clock, sent: Answers) -> None:
        self._client, self._database, self._engine, self._sent = client, database, engine, sent
        self._random = Random(0)  # the same each time: what comes next may depend on what went before only
        late = expired(engine)
        clock.pass_days(0.001)
        held = {**MODES, "admin": SCOPES}
        self._keys = {name: caller(engine, scopes, f"{WITHIN}*") for name, scopes in held.items()}
        self._keys["root"] = caller(engine, SCOPES, "*")
        self._root = Somebody("root", self._keys["root"].headers, SCOPES, "*")
        self._callers = [
            Somebody("nobody", {}), Somebody("expired", late.headers), Somebody("revoked", revoked(engine).headers),
            *(Somebody(name, self._keys[name].headers, scopes) for name, scopes in held.items()), self._root,
        ]  # fmt: skip
        for space in (OWN, OTHER):
            engine.spaces.create(space)
        hidden = draft(SECRET, category="rules", key="deploy")
        client.post(f"/v1/spaces/{OTHER}/memories", json=hidden, headers=self._root.headers).raise_for_status()

    def play(self, case: Case) -> httpx.Response | None:
        """Return the answer to a permitted caller; None when the call cannot be written as HTTP."""
        self._steer(case)
        operation = case.operation.definition.raw["operationId"]
        space = str(case.path_parameters["space"]) if "{space}" in case.operation.path else None
        dry = "dry_run" in (case.query or {})
        able = [one for one in self._callers if one.refused(operation, space, dry=dry) is None]
        for one in self._callers:
            if one not in able:
                self._ask_in_vain(case, one, one.refused(operation, space, dry=dry))
        one = self._random.choice(able)
        answer = self._ask(case, one)
        if answer is not None and answer.is_success:
            _check_no_more(one, operation, answer)
        return answer

    def _ask_in_vain(self, case: Case, one: Somebody, code: str | None) -> None:
        before = self._database.written
        answer = self._ask(case, one)
        if answer is not None:
            assert answer.json()["code"] in {code, *ASIDE}, (one.name, answer.text)
            assert self._database.written == before, one.name

    def _steer(self, case: Case) -> None:
        """Most calls go where keys lead, some to the other space; none ends the keys that are needed further."""
        path = case.path_parameters or {}
        operation = case.operation.definition.raw["operationId"]
        if self._chance(0.75):  # most points of history are wrong, and then nothing else is looked at
            case.headers.pop("Muisti-Min-Seq", None)
        if "space" in path and operation != "deleteSpace" and self._chance(0.8):
            path["space"] = OTHER if self._chance(0.2) else OWN
        if operation in ("revokeKey", "rotateKey") and path.get("key_id") in {one.id for one in self._keys.values()}:
            path["key_id"] = caller(self._engine, ("read",), f"{WITHIN}*").id
        if case.meta is not None and case.meta.generation.mode == GenerationMode.POSITIVE:
            if operation == "createSpace":
                case.body["name"] = f"{WITHIN}{case.body['name']}"[:63]
            if operation == "createKey" and self._chance(0.5):
                case.body["spaces"] = [f"{WITHIN}*"]

    def _chance(self, share: float) -> bool:
        return self._random.random() < share

    def _ask(self, case: Case, one: Somebody) -> httpx.Response | None:
        answer = send(self._client, case, one.headers)
        if answer is not None:
            self._sent[one.name, answer.status_code] += 1
            check(case, answer)
            assert one is self._root or SECRET not in answer.text, one.name
        return answer


def _check_no_more(one: Somebody, operation: str, answer: httpx.Response) -> None:
    """Assert that a caller neither creates nor sees more than its own scopes and spaces allow."""
    if operation in ("createKey", "rotateKey"):
        made = answer.json()
        assert set(made["scopes"]) <= set(one.scopes)
        assert all(one.reaches(space) for space in made["spaces"])
    if operation == "listSpaces":
        assert all(one.reaches(space["name"]) for space in answer.json()["items"])
    if operation in EVERYWHERE:
        assert one.spaces == "*"


@contextmanager
def world(folder: Path, sent: Answers) -> Iterator[World]:
    database, clock = Watched(FileDatabase(folder / "muisti.db")), Clock()
    engine = Engine(database, WordEncoder(), clock)
    with TestClient(create_app(Settings(tasks=0), engine=engine)) as client:  # else answers differ by how far tasks are
        yield World(client, database, engine, clock, sent)
    database.close()


def test_calls_that_follow_each_other_do_what_each_caller_may_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, long: bool
):
    sent: Answers = Counter()
    followed: set[str] = set()
    machine: Any = SCHEMA.as_state_machine()

    class Calls(machine):
        """Scenarios of calls. Each has its own server, so that generated calls do not depend on earlier scenarios."""

        def setup(self) -> None:
            self.opened = ExitStack()

        def teardown(self) -> None:
            self.opened.close()

        @cached_property
        def world(self) -> World:
            return self.opened.enter_context(world(tmp_path_factory.mktemp("fuzz"), sent))

        def step(self, input: StepInput) -> StepOutput | None:
            answer = self.world.play(input.case)
            if answer is None:
                return None
            if input.transition is not None and input.is_applied and answer.is_success:
                followed.add(input.transition.id)
            return StepOutput(Response.from_any(answer), input.case)

    Calls.run(settings=examples(MANY if long else SCENARIOS, long=long, stateful_step_count=STEPS))
    assert sent.total() >= 1_000, sent
    assert {name for name, _ in sent} == {"nobody", "expired", "revoked", *MODES, "admin", "root"}
    assert {200, 201, 400, 401, 403, 404, 422} <= {status for _, status in sent}, sent
    assert len(followed) >= 25, followed
