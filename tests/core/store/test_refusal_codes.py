"""Refusals of SQL: the schema knows each declared code, and each becomes an error that callers know."""

import re
import shutil
import uuid
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from muisti.core.engine import Engine
from muisti.core.identity.caller import OWNER
from muisti.core.identity.grants import Grant
from muisti.core.model.errors import MuistiError, SpaceMoving
from muisti.core.model.operations import ImportReport
from muisti.core.model.outcomes import Undo
from muisti.core.model.quality import Expectation
from muisti.core.model.spaces import CONTENT_ONLY
from muisti.core.model.tasks import NewItem
from muisti.core.model.values import Draft, RequestKey
from muisti.core.query.query import Query
from muisti.core.store.database import Database, Ended, Refusal, Refused, Rows, Statement, refusal_of, refuse
from muisti.core.store.file.database import FileDatabase
from muisti.core.store.migrate import migrate
from muisti.service.schemas.errors import KINDS, problem_of
from tests.core.crashes import At
from tests.core.fakes import SPACE, Clock, WordEncoder, add, open_engine
from tests.core.tasks.kinds import Remember
from tests.service.fakes import Breakable

pytestmark = pytest.mark.one_store

CORE = Path(__file__).parents[3] / "core"
HEAD = re.compile(r"INSERT INTO refuse SELECT (?:CASE WHEN .*? THEN '(\w+)' ELSE )?'(\w+)'")
OF_SQL = set(Refusal) - {Refusal.UNKNOWN, Refusal.CONSTRAINT}
READS = Grant(frozenset(("read",)), ("*",))
BATCHES = 2  # that are refused before one gets through: fewer than any write tries


class Refusing(Breakable):
    """A database that refuses with `code` what its SQL may refuse with it, so often; `codes`: all that it was asked."""

    code: Refusal | None = None
    left = 0

    def __init__(self, inner: Database) -> None:
        super().__init__(inner)
        self.codes = set[Refusal]()

    def write(self, statements: Sequence[Statement]) -> list[Rows]:
        self._refuse(statements)
        return super().write(statements)

    def rehearse(self, statements: Sequence[Statement]) -> list[Rows]:
        self._refuse(statements)
        return super().rehearse(statements)

    def queue(self, statements: Sequence[Statement], ended: Ended) -> bool:
        return False

    def _refuse(self, statements: Sequence[Statement]) -> None:
        for place, statement in enumerate(statements):
            codes = codes_in(statement.sql)
            self.codes |= codes
            if self.left and self.code in codes:
                self.left -= 1
                raise Refused(self.code, place)


def codes_in(sql: str) -> set[Refusal]:
    """Return the codes that a statement may refuse with."""
    found = HEAD.match(sql)
    return set() if found is None else {Refusal(code) for code in found.groups() if code is not None}


class World(NamedTuple):
    """A database file with something of each kind, and the ids by which operations name it."""

    path: Path
    before: str
    kettle: str
    deleted: str
    conflict: str
    key: str
    webhook: str
    imported: int
    turn: str


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    path = tmp_path_factory.mktemp("world") / "a.db"
    with open_engine(path, clock=Clock()) as engine:
        turn = ended_turn(engine)
        (cup,) = add(engine, "The cup is green")
        before = engine.spaces.get(SPACE).at
        engine.owner.write.delete(SPACE, cup)
        (kettle,) = add(engine, "The kettle is on port 5433", category="kitchen", key="kettle")
        engine.owner.write.add(SPACE, [Draft(content="The kettle is on port 5434")], on_conflict="review")
        engine.spaces.set_policy(SPACE, {"secrets": "redact"})
        engine.owner.timeline.fork(SPACE, "fork")
        add(engine, "The spoon is of silver", space="fork")
        engine.probes.add(SPACE, Expectation(query="kettle", memory_id=kettle), OWNER, engine.now())
        engine.spaces.create("other", CONTENT_ONLY)
        imported = take_in(engine, "other").id
        assert imported is not None
        engine.spaces.create("empty", CONTENT_ONLY)
        return World(
            path=path,
            before=str(before),
            kettle=kettle,
            deleted=cup,
            conflict=str(engine.owner.review.conflicts(SPACE).items[0].id),
            key=engine.keys.create(READS, engine.now(), name="parent")[0].id,
            webhook=engine.webhooks.create(SPACE, "https://a.example", (), "ids", OWNER, engine.now()).kept.id,
            imported=imported,
            turn=turn,
        )


def ended_turn(engine: Engine) -> str:
    """Delete a turn of a conversation, and return its id."""
    turn = {"id": str(uuid.uuid4()), "content": "Hello", "kind": "exchange", "conversation": "c", "turn": 1}
    coming = engine.owner.write.begin_import(SPACE)
    coming.take([b'{"type": "muisti", "format": 2}', msgspec.json.encode({"type": "memory", "memory": turn})])
    coming.take([b'{"type": "end", "lines": 2}'])
    coming.finish()
    engine.owner.write.delete(SPACE, turn["id"])
    return turn["id"]


def take_in(engine: Engine, space: str) -> ImportReport:
    coming = engine.owner.write.begin_import(space)
    coming.take([msgspec.json.encode(one) for page in engine.owner.read.export(SPACE, "test").pages() for one in page])
    return coming.finish()


def put_with_key(engine: Engine, world: World) -> None:
    new = Draft(content="The lid is blue", category="kitchen", key="lid", parent_id=world.kettle)
    engine.owner.write.add(SPACE, [new], on_conflict="reject", request=RequestKey("scope", "key", b"hash"))


def derive(engine: Engine, world: World) -> None:
    new = Draft(content="Tea is at five", derived_from=(world.kettle,), source_class="user")
    engine.owner.write.add(SPACE, [new], on_conflict="keep")


def make_key(engine: Engine, world: World) -> None:
    engine.keys.create(READS, engine.now(), name="child", parent=engine.keys.get(world.key))


def keep_receipt(engine: Engine, world: World) -> None:
    answer = engine.owner.read.search(SPACE, Query(text="kettle"))
    engine.receipts.keep(SPACE, b"{}", answer, engine.now(), OWNER, engine.now())


def probe(engine: Engine, world: World) -> None:
    engine.probes.add(SPACE, Expectation(query="port", memory_id=world.kettle), OWNER, engine.now())


def work(engine: Engine, world: World) -> None:
    engine.tasks.register(Remember(engine))
    key = RequestKey("scope", "task", b"hash")
    engine.tasks.submit(SPACE, "remember", {}, OWNER, [NewItem("a"), NewItem("b")], request=key)
    engine.runner(60, 2).run_one()


OTHER_MODEL = "reembed"  # runs with another encoder than the world was made with
OPERATIONS: dict[str, Callable[[Engine, World], object]] = {
    "add": put_with_key,
    "derive": derive,
    "update": lambda engine, world: engine.owner.write.update(
        SPACE, world.kettle, {"content": "The kettle is on port 5435"}
    ),
    "delete": lambda engine, world: engine.owner.write.delete(SPACE, world.kettle),
    "restore": lambda engine, world: engine.owner.write.restore(SPACE, world.deleted, 1),
    "restore a turn": lambda engine, world: engine.owner.write.restore(SPACE, world.turn, 1),
    "undo": lambda engine, world: engine.owner.write.undo(SPACE, Undo(last=2)),
    "roll back": lambda engine, world: engine.owner.timeline.roll_back(SPACE, world.before),
    "supersede": lambda engine, world: engine.owner.write.supersede(
        SPACE, world.kettle, Draft(content="It is on the stove")
    ),
    "put an entry": lambda engine, world: engine.owner.write.put(
        SPACE, Draft(content="It is gone", category="kitchen", key="kettle")
    ),
    "keep both": lambda engine, world: engine.owner.review.decide(SPACE, world.conflict, "keep"),
    "decide to supersede": lambda engine, world: engine.owner.review.decide(SPACE, world.conflict, "supersede"),
    "reject": lambda engine, world: engine.owner.review.decide(SPACE, world.conflict, "reject"),
    "restore from a file": lambda engine, world: take_in(engine, "empty"),
    "add from a file": lambda engine, world: take_in(engine, "default"),
    "undo an import": lambda engine, world: engine.owner.write.undo_import("other", world.imported),
    "fork": lambda engine, world: engine.owner.timeline.fork(SPACE, "another"),
    "merge": lambda engine, world: engine.owner.timeline.merge("fork", SPACE, drop=True),
    "feedback": lambda engine, world: engine.owner.review.give_feedback(SPACE, world.kettle, "useful"),
    "erase a memory": lambda engine, world: engine.eraser.memory(SPACE, world.kettle, OWNER),
    "erase a space": lambda engine, world: engine.eraser.space(SPACE, OWNER, keep=True),
    "make a space": lambda engine, world: engine.spaces.create("new"),
    "set a policy": lambda engine, world: engine.spaces.set_policy(SPACE, {"history_days": 3.0}),
    "make a key": make_key,
    "rotate a key": lambda engine, world: engine.keys.rotate(world.key, engine.now(), overlap=timedelta()),
    "make a webhook": lambda engine, world: engine.webhooks.create(
        SPACE, "https://b.example", (), "ids", OWNER, engine.now()
    ),
    "redeliver": lambda engine, world: engine.webhooks.redeliver(SPACE, world.webhook, None),
    "delete a webhook": lambda engine, world: engine.webhooks.delete(SPACE, world.webhook, OWNER, engine.now()),
    "probe": probe,
    "run probes": lambda engine, world: engine.probes.run(SPACE, OWNER, engine.now),
    "keep a receipt": keep_receipt,
    "work on a task": work,
    "forget history": lambda engine, world: engine.upkeep.forget_history(SPACE, engine.now()),
    OTHER_MODEL: lambda engine, world: engine.reembed(SPACE, lambda done, total: None, force=True),
}


def run(world: World, name: str, path: Path, refusal: Refusal | None = None) -> Refusing:
    """Run an operation on a copy of the world, on a database that refuses its first batches."""
    shutil.copy(world.path, path)
    database = Refusing(FileDatabase(path))
    with open_engine(At(database), encoder=WordEncoder("b" if name == OTHER_MODEL else ""), clock=Clock()) as engine:
        database.codes.clear()
        database.code, database.left = refusal, BATCHES
        OPERATIONS[name](engine, world)
    return database


def test_the_schema_refuses_with_the_declared_codes(tmp_path: Path):
    with closing(FileDatabase(tmp_path / "a.db")) as database:
        migrate(database, 0)
        with pytest.raises(SpaceMoving):
            database.write([Statement(refuse(Refusal.MOVED))])
        for code in set(Refusal) - {Refusal.MOVED}:
            with pytest.raises(Refused) as refused:
                database.write([Statement(refuse(code))])
            assert refused.value.code is (code if code in OF_SQL else Refusal.UNKNOWN)


def test_only_the_declaration_writes_a_code_into_sql_and_another_is_unknown():
    for message in ("refused: nonsense", "SQLite error: refused: ", "refused: unknown"):
        assert refusal_of(message) is Refusal.UNKNOWN
    found = [path for path in CORE.rglob("*.py") if "INTO refuse" in path.read_text("utf-8")]
    assert [path.relative_to(CORE).as_posix() for path in found] == ["store/database.py"]


@pytest.mark.file_only
@pytest.mark.parametrize("name", OPERATIONS)
def test_each_refusal_is_an_error_with_a_problem_or_is_tried_again(world: World, name: str, tmp_path: Path):
    """An unhandled refusal would be an internal error."""
    codes = run(world, name, tmp_path / "free.db").codes
    assert codes
    for code in sorted(codes):
        try:
            database = run(world, name, tmp_path / f"{code}.db", code)
        except MuistiError as error:
            assert error.code != "internal" and problem_of(error).code in KINDS, code
        else:
            assert database.left < BATCHES, code


@pytest.mark.file_only
def test_every_declared_code_is_met(world: World, tmp_path: Path):
    met = [run(world, name, tmp_path / f"{number}.db").codes for number, name in enumerate(OPERATIONS)]
    assert set[Refusal]().union(*met) == OF_SQL
