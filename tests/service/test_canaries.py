"""A canary in every derived text, and an erasure by each selector: no byte of it is left, and others keep theirs."""

import gc
import logging
import re
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from litestar.testing import TestClient
from msgspec.structs import replace

from muisti.core.conversations.context.request import Request
from muisti.core.engine import Engine
from muisti.core.identity.caller import OWNER
from muisti.core.model.operations import Erasure
from muisti.core.model.places import DocumentName, ObjectName
from muisti.core.model.times import to_us
from muisti.core.model.values import Draft
from muisti.core.operations.erasure.purge_task import sealed
from muisti.core.query.filters import Subject, parse
from muisti.core.query.query import Query
from muisti.core.store.database import Statement
from muisti.service.app.app import create_app
from muisti.service.settings import Settings
from tests.core.fakes import SPACE, Clock, open_engine
from tests.core.operations.erasure.test_eraser import assert_clean, everything, files, packs
from tests.core.operations.erasure.test_purging import told
from tests.graph.plain import toy_reader
from tests.stores import FileStore, RemoteStore, Store, Stores

API = f"/v1/spaces/{SPACE}"
OTHER = "the boat is in the harbour"
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "erasure.md"
# Written backwards, so that no constant of this module has one: in a turn, of its speaker, in documents, of a talk.
SAID, PERSON, FILED, HELD = (f"{secrets.token_hex(8)}{last}" for last in ("sq", "pq", "fq", "hq"))


def word(backwards: str) -> str:
    return backwards[::-1]


class Derived(NamedTuple):
    """A derived text: the rows that have it before anything is erased, and the word in it."""

    table: str
    where: str
    column: str
    word: str


SUMMARY = "kind = 'summary' AND structure ->> '$.of' = "
DERIVED = {
    "title of a conversation": Derived("versions", "kind = 'conversation'", "content", SAID),
    "users of a conversation": Derived("versions", "kind = 'conversation'", "structure", PERSON),
    "title of a topic": Derived("versions", "kind = 'topic'", "content", SAID),
    "summary of a turn": Derived("versions", f"{SUMMARY}'exchange'", "content", SAID),
    "summary of a topic": Derived("versions", f"{SUMMARY}'topic'", "content", SAID),
    "summary of a conversation": Derived("versions", f"{SUMMARY}'conversation'", "content", SAID),
    "summary of a session": Derived("versions", f"{SUMMARY}'session'", "content", SAID),
    "suggested candidate": Derived("versions", "status = 'candidate'", "content", SAID),
    "accepted suggestion": Derived("versions", "type = 'preference' AND status = 'active'", "content", SAID),
    "memory derived from memories": Derived("versions", "derived_from <> '[]'", "content", SAID),
    "text in working memory": Derived("working", "memory_id IS NULL", "content", HELD),
    "key in working memory": Derived("working", "memory_id IS NOT NULL", "key", SAID),
    "name in the graph": Derived("entities", "1", "norm", SAID),
    "probe": Derived("probes", "1", "query", SAID),
    "receipt": Derived("receipts", "1", "parameters", FILED),
    "title of a document": Derived("versions", "kind = 'document'", "content", FILED),
    "chunk of a document": Derived("versions", "kind = 'chunk'", "content", FILED),
    "record of a file of code": Derived("code_files", "1", "record", FILED),
    "symbol of code": Derived("code_symbols", "1", "name", FILED),
    "comment of a symbol": Derived("code_symbols", "1", "doc", FILED),
    "use of a symbol": Derived("code_edges", "1", "target", FILED),
    "request of a task": Derived("tasks", "kind = 'ingest'", "asked", PERSON),
    "file of a task": Derived("task_items", "1", "name", FILED),
    "conversation of a task": Derived("task_items", "1", "name", HELD),
}


class World(NamedTuple):
    """A filled store that nobody uses, what its process has logged, and the folder of its temporary files."""

    store: Store
    logged: list[str]
    temporary: Path
    folder: Callable[[], Path]

    def copy(self) -> Store:
        if isinstance(self.store, FileStore):
            return FileStore(Path(shutil.copy(self.store.path, self.folder() / "muisti.db")))
        assert isinstance(self.store, RemoteStore)
        made = RemoteStore(self.store.sqld)
        made.copy_of(self.store.namespace)
        return made


class Lines(logging.Handler):
    """Keeps what Muisti logs, in every level."""

    def __init__(self) -> None:
        super().__init__(0)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.name.startswith("muisti"):
            self.lines.append(f"{record.getMessage()} {record.__dict__}")


def opened(store: Store) -> Engine:
    engine = open_engine(store, clock=Clock(), graph_reader=toy_reader)
    engine.report_purges(told)
    return engine


@pytest.fixture(scope="module")
def world(stores: Stores, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    lines, temporary = Lines(), tmp_path_factory.mktemp("temporary")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(temporary))
        logging.getLogger().addHandler(lines)
        patch.setattr(logging.getLogger(), "level", logging.DEBUG)
        store = stores()
        with opened(store) as engine, TestClient(create_app(Settings(), engine=engine)) as client:
            fill(client)
            with closing(store.open()) as database:
                packs(database)
        yield World(store, lines.lines, temporary, lambda: tmp_path_factory.mktemp("copy"))
        logging.getLogger().removeHandler(lines)


def fill(client: Any) -> None:
    """Put the words into all that is derived from a turn of Ann's and from her documents."""
    said, person, filed, held = map(word, (SAID, PERSON, FILED, HELD))
    keys, talk, home = count(), f"conversations/{held}", {"category": "home"}

    def send(path: str, body: Any, method: str = "POST", **asked: Any) -> Any:
        headers = {"Idempotency-Key": f"key-{next(keys)}"}
        answer = client.request(method, f"{API}/{path}", json=body, headers=headers, params=asked)
        assert answer.is_success, answer.text
        return answer.json()

    def done(task: Any) -> None:
        while client.get(f"{API}/tasks/{task['id']}").json()["state"] in ("queued", "running"):
            time.sleep(0.01)

    by = {"author": f"Ann {person}", "source": "phone"}
    long = " ".join(f"We spoke of the {n}th house by the river, and of {said} for a while." for n in range(60))
    first = {**by, "turn": 1, "user": f"I love {said} in Oslo. Zed {said.title()} met Ann in Turku.", "system": long,
             "metadata": {"note": said}, "tags": [said, "tagged"]}  # fmt: skip
    items = [first, {"turn": 2, "author": "Bob", "content": "We sail on Monday."}]
    turn = send(f"{talk}/exchanges", {"session": "s1", **home, "items": items})["items"][0]["id"]
    send(f"memories/{turn}", {"user": f"I love {said} in Oslo, and {said}. Zed {said.title()} met Ann."}, "PATCH")
    code = (
        f'def {filed}_sum(x):\n    "Sum of {filed}."\n    return {filed}_other(x)\n\ndef {filed}_other(x):\n    pass\n'
    )
    for path, text, waits in (
        (f"{filed}.py", code, True),
        (f"{filed}.md", f"# All of {filed}\n\nText about {filed} of Zed {filed.title()} in Turku.\n", True),
        (f"task/{filed}.txt", f"Text of {filed} in a file.", False),
    ):
        answer = send("documents", {**by, **home, "tags": ["tagged"], "path": path, "content": text}, wait=waits)
        if not waits:
            done(answer)
    assert client.get(f"{API}/code/callers", params={"symbol": f"{filed}_other"}).is_success
    assert client.get(f"{API}/code/symbols", params={"name": f"{filed}_sum"}).json()["items"]
    send(talk, {"state": "closed"}, "PATCH", **home)
    (found,) = send(f"{talk}/suggestions", {}, **home)["items"]
    send(f"memories/{found['memory']['id']}", {"status": "active", "content": f"Loves {said}."}, "PATCH")
    send(f"{talk}/suggestions", {}, **home)  # finds it again
    send(f"{talk}/summaries", {})
    send(f"{talk}/exchanges/1/summary", {}, **home)
    send("sessions/s1/summary", {})
    done(send("summaries", {}))
    send(f"{talk}/working/{said}", {"memory_id": turn}, "PUT", **home)
    send(f"{talk}/working/note", {"content": f"Mind {held}."}, "PUT", **home)
    hence = send("memories", {"content": f"Hence {said}.", "derived_from": [turn], "on_conflict": "keep"})
    send("memories", {"content": f"So {said}.", "derived_from": [hence["id"]], "on_conflict": "keep"})
    for text in (f"love {said}", f"text {filed}"):
        assert send("search", {"query": text, "receipt": True})["hits"]
        send("context", {"query": text, "token_budget": 500})
    send("probes", {"query": said, "memory_id": turn})
    send(f"memories/{turn}/feedback", {"verdict": "useful"}, "PUT")
    done(send("graph/build", {}))
    other = {"session": "t", "items": [{"turn": 1, "author": "Carl", "content": OTHER}]}
    send("conversations/d/exchanges", other)


def by(**subject: object) -> Callable[[Engine], Sequence[Erasure]]:
    return lambda engine: [engine.eraser.subject(SPACE, Subject(**subject), {}, OWNER)]  # pyright: ignore[reportArgumentType]


def by_name(level: str, name: str) -> Callable[[Engine], Sequence[Erasure]]:
    def erase(engine: Engine) -> Sequence[Erasure]:
        found = ObjectName(level=level, name=word(name), category="home")  # pyright: ignore[reportArgumentType]
        return [engine.eraser.conversation(SPACE, found, OWNER)]

    return erase


def by_memory(engine: Engine) -> Sequence[Erasure]:
    talk = ObjectName(level="conversation", name=word(HELD), category="home")
    return [engine.eraser.memory(SPACE, engine.owner.conversations.exchanges(SPACE, talk).items[0].id, OWNER)]


def by_author(engine: Engine) -> Sequence[Erasure]:
    return by(author=f"ann {word(PERSON)}")(engine)


def by_task(engine: Engine) -> Sequence[Erasure]:
    author = f"Ann {word(PERSON)}"
    task, _ = engine.purge(SPACE, Subject(author=author), sealed({"author": author}), OWNER, None)
    engine.runner(60, 9).run_one()
    assert engine.tasks.get(SPACE, task.id, OWNER).state == "succeeded"
    return []


def by_age(engine: Engine) -> Sequence[Erasure]:
    (other,) = engine.owner.conversations.exchanges(SPACE, ObjectName(level="conversation", name="d")).items
    return by(older_than_us=to_us(other.created_at))(engine)


def by_document(engine: Engine) -> Sequence[Erasure]:
    paths = [f"{word(FILED)}.py", f"{word(FILED)}.md", f"task/{word(FILED)}.txt"]
    return [engine.eraser.document(SPACE, DocumentName(name=path, category="home"), OWNER) for path in paths]


ALL = (SAID, PERSON, FILED)
SELECTORS: dict[str, tuple[Sequence[str], Callable[[Engine], Sequence[Erasure]]]] = {
    "memory": ((SAID,), by_memory), "author": (ALL, by_author), "task": (ALL, by_task),
    "source": (ALL, by(source="phone")), "tag": (ALL, by(filter=parse({"tags": "tagged"}, "$"))),
    "age": ((*ALL, HELD), by_age), "category": ((*ALL, HELD), by(filter=parse({"category": "home"}, "$"))),
    "filter": ((SAID, HELD), lambda engine: by(filter=parse({"conversation": word(HELD)}, "$"))(engine)),
    "conversation": ((SAID, HELD), by_name("conversation", HELD)), "session": ((SAID, HELD), by_name("session", "1s")),
    "document": ((FILED,), by_document),
}  # fmt: skip


def looked(engine: Engine, *texts: str) -> None:
    """Search for texts, which also gives up what was erased."""
    for text in (*texts, OTHER):
        engine.owner.read.search(SPACE, Query(text=text))


def held(values: bytes, words: Sequence[str]) -> list[str]:
    return [one for one in map(word, words) if one.encode() in values]


def test_each_derived_text_has_its_canary_and_is_on_the_page(world: World):
    counted = [
        Statement(
            f"SELECT count(*) FROM {one.table} WHERE {one.where} AND instr(lower(CAST({one.column} AS TEXT)), ?)",
            (word(one.word),),
        )
        for one in DERIVED.values()
    ]
    with closing(world.copy().open()) as database:
        assert [name for name, rows in zip(DERIVED, database.read(counted), strict=True) if rows == [(0,)]] == []
    _, table = PAGE.read_text("utf-8").split("| derived text | where from | what the eraser does |\n")
    assert re.findall(r"^\| ([a-z ]+) \|", table.split("\n\n")[0], re.MULTILINE) == list(DERIVED)


@pytest.mark.parametrize("selector", SELECTORS)
def test_no_derived_text_outlives_what_it_came_from(world: World, selector: str):
    words, erase = SELECTORS[selector]
    store = world.copy()
    with opened(store) as one, opened(store) as two:
        for engine in (one, two):
            looked(engine, f"love {word(SAID)}", f"text {word(FILED)}")
        for report in erase(one):
            assert_clean(report)
        for engine in (one, two):
            looked(engine)
            found, _ = engine.owner.conversations.get(SPACE, ObjectName(level="conversation", name="d"))
            assert found.memory.content == OTHER
        with closing(store.open()) as database:
            left = everything(database).lower()
        assert not held(left, words)
        assert OTHER.encode() in left
        gc.collect()
        if isinstance(store, FileStore):
            assert not held(files(store).lower(), words)
        assert not held("".join(world.logged).lower().encode(), (SAID, PERSON, FILED, HELD))
        assert not held(b"".join(one.read_bytes() for one in world.temporary.rglob("*") if one.is_file()), ALL)


def test_no_process_keeps_an_erased_text_in_its_memory(stores: Stores):
    """Two engines that have read it, of which one erases it: no object of the process has it afterwards."""
    store, said = stores(), secrets.token_hex(8)
    with opened(store) as one, opened(store) as two:
        draft = Draft(content=f"I like {said}. Zed {said} met Ann.", author=f"Ann {said}", tags=(said,), key=said,
                      category=said)  # fmt: skip
        add = one.owner.write.add
        add(SPACE, [draft, Draft(content=OTHER, author="Bob")], on_conflict="keep")
        add(SPACE, [replace(draft, content=f"I don't like {said}.", key=None)], on_conflict="review")
        for engine in (one, two):
            engine.owner.graph.extend(SPACE)
            looked(engine, f"like {said}")
            engine.owner.context.build(SPACE, Request(query=f"like {said}", token_budget=500, encoding="o200k_base"))
        del draft
        assert len(in_memory(said)) > 10
        assert_clean(by(author=f"Ann {said}")(one)[0])
        for engine in (one, two):
            looked(engine)
            engine.owner.graph.entities(SPACE)
        assert in_memory(said) == []


def in_memory(sought: str) -> list[tuple[str, str]]:
    """Return the texts that an object of this process has, with its type."""
    gc.collect()
    found: list[tuple[str, str]] = []
    for one in gc.get_objects():
        inner = gc.get_referents(one)
        for part in inner:
            if isinstance(part, tuple | dict) and not gc.is_tracked(part):
                inner += gc.get_referents(part)
            elif isinstance(part, str | bytes):
                text = part if isinstance(part, str) else part.decode("utf-8", "replace")
                if sought in text.lower() and text != sought:
                    found.append((str(type(one)), text[:100]))
    return found
