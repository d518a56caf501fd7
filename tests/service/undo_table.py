"""Every call that changes something, and what an undo of it answers: `python -m tests.service.undo_table` prints it.

Outcomes: `back` takes the call back, `named` refuses and names the call, `passed` does not count the call.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import httpx
import msgspec
from click.testing import CliRunner, Result

from muisti.core.engine import Engine
from muisti.core.identity.grants import EVERYTHING
from muisti.service.cli import main
from tests.core.fakes import Clock, WordEncoder
from tests.service.mcp_client import call
from tests.service.runtime.test_admission import running
from tests.stores import at

Outcome = Literal["back", "named", "passed"]
Step = tuple[str, str, Any]  # method, path below the space, body; `{0}`: the first id of an answer, `{}`: the last
FACES = ("HTTP", "MCP", "CLI")
ANN = "Ann Berg met Zoe Miller in Oslo on Monday."
TURNS = [
    {"turn": n, "author": "user", "content": text}
    for n, text in enumerate(["I prefer aisle seats.", "We met in Turku.", "I never eat meat.", "Boats land here."], 1)
]
TALK: Step = ("POST", "/conversations/c/exchanges", {"items": TURNS})
FACT: Step = ("POST", "/memories", {"content": "We deploy on Mondays", "category": "rules", "key": "deploy"})
CANDIDATE: Step = ("POST", "/memories", {"content": "Boats are blue", "status": "candidate", "on_conflict": "keep"})
FILE: Step = ("POST", "/documents", {"path": "docs/a.md", "content": "# Boats\n\nBoats land on Tuesdays.\n"})
TOPIC: Step = ("POST", "/conversations/c/topics", {"name": "t1", "title": "Seats", "spans": [[1, 2]]})
TOPICS = (TALK, TOPIC, ("POST", "/conversations/c/topics", {"name": "t2", "title": "Boats", "spans": [[3, 4]]}))
PORTS: tuple[Step, ...] = (
    ("POST", "/memories", {"content": "The database listens on port 5433"}),
    ("POST", "/memories", {"content": "The database listens on port 5434", "on_conflict": "review"}),
)
NAMES: Step = ("POST", "/memories", {"content": ANN})
KNOWS: Step = ("POST", "/graph/relations", {"subject": "Ann Berg", "kind": "knows", "object": "Zoe Miller"})
FORKED: tuple[Step, ...] = (FACT, ("POST", "/fork", {"name": "{space}-copy"}))
PROBE: Step = ("POST", "/probes", {"query": "when do we deploy?", "category": "rules", "key": "deploy"})
POINT: Step = ("POST", "/checkpoints", {"name": "before"})
HOOK: Step = ("POST", "/webhooks", {"url": "http://127.0.0.1:9/muisti"})
KEY: Step = ("POST", "//keys", {"name": "agent", "mode": "full", "spaces": ["*"]})
BUILD: Step = ("POST", "/generations", {"model": "notes-static-512"})
LINES = "".join(
    json.dumps(line) + "\n"
    for line in (
        {"type": "muisti", "format": 1},
        {"type": "memory", "memory": {"id": "0197a3c0-5f4e-7000-8000-00000000000a", "content": "It came in a file"}},
        {"type": "end", "lines": 2},
    )
)


@dataclass(frozen=True)
class Row:
    """A call after some preparing calls, and how an undo of it ends. `why` it does not count, if so."""

    outcome: Outcome
    step: Step
    before: tuple[Step, ...] = ()
    why: str = ""


def back(*steps: Step) -> Row:
    return Row("back", steps[-1], steps[:-1])


def named(*steps: Step) -> Row:
    return Row("named", steps[-1], steps[:-1])


def passed(why: str, *steps: Step) -> Row:
    return Row("passed", steps[-1], steps[:-1], why)


DERIVED, ELSEWHERE, PAD = "derived from memories", "about another space", "a scratch pad beside memories"
OF_SERVERS = "about databases; a move back undoes a move"
STATE, UNDONE = "no memory and no setting", "undoing again goes further back"
NEW = {"content": "Trains are green"}
FIRST = "/memories/{0}"
# By operation, a second case of one with what differs. Calls that only read are in `READS`.
ROWS: Mapping[str, Row] = {
    "addMemory": back(("POST", "/memories", NEW)),
    "addMemories": back(("POST", "/memories/batch", {"memories": [NEW, {"content": "Cars are red"}]})),
    "updateMemory": back(FACT, ("PATCH", FIRST, {"content": "We deploy on Fridays"})),
    "deleteMemory": back(FACT, ("DELETE", FIRST, None)),
    "deleteMemory, purge": named(FACT, ("DELETE", f"{FIRST}?purge=true", None)),
    "restoreMemory": back(FACT, ("DELETE", FIRST, None), ("POST", f"{FIRST}/restore", {})),
    "supersedeMemory": back(FACT, ("POST", f"{FIRST}/supersede", {"content": "We deploy daily"})),
    "giveFeedback": named(FACT, ("PUT", f"{FIRST}/feedback", {"verdict": "useful"})),
    "putEntry": back(("PUT", "/entries/rules/deploy", {"content": "We deploy on Fridays"})),
    "putEntry, replaces": back(FACT, ("PUT", "/entries/rules/deploy", {"content": "We deploy on Fridays"})),
    "updateEntry": back(FACT, ("PATCH", "/entries/rules/deploy", {"tags": ["release"]})),
    "deleteEntry": back(FACT, ("DELETE", "/entries/rules/deploy", None)),
    "restoreEntry": back(
        FACT, ("DELETE", "/entries/rules/deploy", None), ("POST", "/entries/rules/deploy/restore", {})
    ),
    "supersedeEntry": back(FACT, ("POST", "/entries/rules/deploy/supersede", {"content": "We deploy daily"})),
    "giveEntryFeedback": named(FACT, ("PUT", "/entries/rules/deploy/feedback", {"verdict": "useful"})),
    "promote": back(CANDIDATE, ("GET", FIRST, None), ("POST", "/promote", {"retrievals": 1})),
    "prune": back(CANDIDATE, ("POST", "/prune", {"retrievals": 1, "days": 0})),
    "decideConflict": back(*PORTS, ("POST", "/conflicts/{conflict}", {"decision": "supersede"})),
    "decideConflict, reject": back(*PORTS, ("POST", "/conflicts/{conflict}", {"decision": "reject"})),
    "decideConflict, keep": named(*PORTS, ("POST", "/conflicts/{conflict}", {"decision": "keep"})),
    "undo": passed(UNDONE, FACT, ("POST", "/undo", {})),
    "clearSpace": back(FACT, ("POST", "/clear", {"confirm": "DELETE ALL MEMORIES"})), "createCheckpoint": named(POINT),
    "deleteCheckpoint": named(POINT, ("DELETE", "/checkpoints/before", None)),
    "rollBack": back(POINT, FACT, ("POST", "/memories", NEW), ("POST", "/rollback", {"to": "before"})),
    "forkSpace": named(*FORKED),
    "mergeSpaces": back(
        *FORKED, ("POST", "//spaces/{space}-copy/memories", NEW), ("POST", "/merge", {"from": "{space}-copy"})
    ),
    "setPolicy": named(("PATCH", "/policy", {"echoes": "flag"})),
    "setQuota": named(("PATCH", "/quota", {"memories": 100})),
    "createSpace": passed(ELSEWHERE, ("POST", "//spaces", {"name": "{space}-more"})),
    "deleteSpace": passed(
        ELSEWHERE, *FORKED, ("POST", "/memories", NEW), ("DELETE", "//spaces/{space}-copy?confirm={space}-copy", None)
    ),
    **{
        name: passed(OF_SERVERS, ("GET", "//placement", None))
        for name in ("addDatabase", "moveUnits", "promoteSpace", "drainDatabase")
    },
    "createKey": named(KEY),
    "revokeKey": named(KEY, ("DELETE", "//keys/{}", None)),
    "rotateKey": named(KEY, ("POST", "//keys/{}/rotate", {})),
    "createWebhook": named(HOOK),
    "deleteWebhook": named(HOOK, ("DELETE", "/webhooks/{}", None)),
    "redeliverWebhook": named(HOOK, ("POST", "/webhooks/{}/redeliver", {"since": 0})),
    "addProbe": named(FACT, PROBE),
    "deleteProbe": named(FACT, PROBE, ("DELETE", "/probes/{}", None)),
    "runProbes": passed(STATE, ("POST", "/probes/run", None)),
    "forgetReads": passed(STATE, ("DELETE", "/reads", None)),
    "buildGeneration": named(BUILD),
    "switchGeneration": named(BUILD, ("POST", "/generations/switch", {})),
    "rollBackGeneration": named(BUILD, ("POST", "/generations/switch", {}), ("POST", "/generations/rollback", {})),
    "dropGeneration": named(BUILD, ("DELETE", "/generations/notes-static-512", None)),
    "purge": named(
        ("POST", "/memories", {"content": "From Bob", "author": "Bob"}), ("POST", "/purge", {"author": "Bob"})
    ),
    "purge, as a task": named(
        ("POST", "/memories", {"content": "From Bob", "author": "Bob"}), ("POST", "/purge?task=true", {"author": "Bob"})
    ),
    "importMemories": back(("POST", "/import", LINES)),
    "importMemories, as a task": back(("POST", "/import?task=true", LINES)),
    "undoImport": passed(UNDONE, ("POST", "/import", LINES), ("POST", "/imports/{import}/undo", None)),
    "cancelTask": passed(STATE, ("POST", "/import?task=true", LINES), ("POST", "/tasks/{}/cancel", None)),
    "addDocuments": back(FILE),
    "addDocuments, as a task": back(("POST", "/documents?wait=false", FILE[2])),
    "addDocuments, again": back(FILE, ("POST", "/documents", {**FILE[2], "content": "# Trains\n\nTrains are late.\n"})),
    "putDocument": back(("PUT", "/documents/b.md", {"content": "# Trains\n\nTrains are late.\n"})),
    "deleteDocument": back(FILE, ("DELETE", "/documents/docs%2Fa.md", None)),
    "syncDocuments": back(FILE, ("POST", "/documents/sync", {"files": [], "folder": "docs/"})),
    "pruneDocuments": back(
        ("POST", "/memories", {"content": "Invoices are paid in June", "kind": "chunk"}),
        ("POST", "/documents/prune", {"strategy": "orphaned_chunks"}),
    ),
    "createSession": back(("POST", "/sessions", {"name": "s-1", "title": "Moving"})),
    "updateSession": back(("POST", "/sessions", {"name": "s-1"}), ("PATCH", "/sessions/s-1", {"title": "Moving"})),
    "deleteSession": back(TALK, ("DELETE", "/sessions/default", None)),
    "createConversation": back(("POST", "/conversations", {"name": "c-2", "title": "Boats"})),
    "updateConversation": back(TALK, ("PATCH", "/conversations/c", {"state": "closed"})),
    "deleteConversation": back(*TOPICS, ("DELETE", "/conversations/c", None)),
    "addExchanges": back(TALK),
    "createTopic": back(TALK, TOPIC),
    "updateTopic": back(*TOPICS, ("PATCH", "/conversations/c/topics/t1", {"title": "Chairs"})),
    "deleteTopic": back(*TOPICS, ("DELETE", "/conversations/c/topics/t1", None)),
    "splitTopic": back(*TOPICS, ("POST", "/conversations/c/topics/t1/split", {"turn": 2, "title": "Turku"})),
    "moveTopic": back(*TOPICS, ("POST", "/conversations/c/topics/t2/move", {"turn": 2})),
    "mergeTopics": back(*TOPICS, ("POST", "/conversations/c/merge-topics", {"topics": ["t1", "t2"]})),
    "summariseConversation": back(*TOPICS, ("POST", "/conversations/c/summaries", {"method": "extractive"})),
    "summariseSession": back(
        *TOPICS, ("POST", "/conversations/c/summaries", {}), ("POST", "/sessions/default/summary", {})
    ),
    "summariseExchange": back(
        ("POST", "/conversations/c/exchanges", {"items": [{"turn": 1, "content": "We met in Turku by boat. " * 400}]}),
        ("POST", "/conversations/c/exchanges/1/summary", None),
    ),
    "summariseSpace": back(TALK, ("POST", "/summaries", {})),
    "suggestPreferences": back(TALK, ("POST", "/conversations/c/suggestions", None)),
    "adoptConversations": back((
        "POST", "/memories",
        {"content": "We met in Turku", "metadata": {"session": "x", "turn": 1}, "kind": "exchange"},
    ), ("POST", "/adopt", None)),
    "keepInWorkingMemory": passed(PAD, TALK, ("PUT", "/conversations/c/working/a", {"content": "Be brief"})),
    "releaseFromWorkingMemory": passed(
        PAD, TALK, ("PUT", "/conversations/c/working/a", {"content": "Be brief"}),
        ("DELETE", "/conversations/c/working/a", None),
    ),
    "describeEntity": back(NAMES, ("PATCH", "/graph/entities/Ann Berg", {"kind": "organisation"})),
    "mergeEntities": back(NAMES, ("POST", "/graph/entities/Ann Berg/merge", {"others": ["Zoe Miller"]})),
    "keepEntitiesApart": back(NAMES, ("POST", "/graph/entities/Ann Berg/keep-apart", {"others": ["Zoe Miller"]})),
    "stateRelation": back(NAMES, KNOWS),
    "correctRelation": back(NAMES, KNOWS, ("PATCH", "/graph/relations/{}", {"negative": True})),
    "retractStatement": back(NAMES, KNOWS, ("DELETE", "/graph/statements/{}", None)),
    "buildGraph": passed(DERIVED, NAMES, ("POST", "/graph/build", {})),
    "dropGraph": passed(DERIVED, NAMES, ("DELETE", "/graph", None)),
}  # fmt: skip
SEATS = {"category": "rules", "key": "seat"}
TOOLS: Mapping[str, Row] = {  # calls of MCP tools
    "remember": back(("TOOL", "remember", {"content": "Trains are green"})),
    "remember, several": back(("TOOL", "remember", {"contents": ["Trains are green", "Cars are red"]})),
    "remember, replaces": back(
        FACT, ("TOOL", "remember", {**SEATS, "key": "deploy", "content": "Fridays", "replace": True})
    ),
    "update_memory": back(FACT, ("TOOL", "update_memory", {"id": "{0}", "changes": {"content": "We deploy daily"}})),
    "update_memory, feedback": named(FACT, ("TOOL", "update_memory", {"id": "{0}", "feedback": "useful"})),
    "forget": back(FACT, ("TOOL", "forget", {"id": "{0}"})),
    "undo": passed(UNDONE, FACT, ("TOOL", "undo", {})),
    "undo, of one memory": back(FACT, ("TOOL", "forget", {"id": "{0}"}), ("TOOL", "undo", {"id": "{0}"})),
    "add_exchanges": back(("TOOL", "add_exchanges", {"conversation": "c", "items": TURNS})),
    "conversations": back(TALK, ("TOOL", "conversations", {"action": "rename", "conversation": "c", "title": "Seats"})),
    "import_memories": back(("TOOL", "import_memories", {"ndjson": LINES})),
    "set_model": named(("TOOL", "set_model", {"step": "build", "model": "notes-static-512"})),
    "prune_memory": back(
        ("POST", "/memories", {"content": "Invoices are paid in June", "kind": "chunk"}),
        ("TOOL", "prune_memory", {"strategy": "orphaned_chunks", "dry_run": False}),
    ),
    "clear_all": back(FACT, ("TOOL", "clear_all", {"confirm": "DELETE ALL MEMORIES"})),
    "create_space": passed(ELSEWHERE, ("TOOL", "create_space", {"name": "{space}-more"})),
    "purge": named(
        ("POST", "/memories", {"content": "From Bob", "author": "Bob"}),
        ("TOOL", "purge", {"author": "Bob", "confirm": "{space}", "dry_run": False}),
    ),
    "decide": back(CANDIDATE, ("TOOL", "decide", {"decision": "accept", "candidate": "{0}", "if_version": 1})),
    "add_document": back(("TOOL", "add_document", FILE[2])),
    "documents": back(FILE, ("TOOL", "documents", {"action": "delete", "document": "docs/a.md"})),
    "state_graph": back(
        NAMES, ("TOOL", "state_graph", {"action": "merge", "name": "Ann Berg", "others": ["Zoe Miller"]})
    ),
}
COMMANDS: Mapping[str, Row] = {  # calls of commands; `LIKE` names those that send what a route takes
    "add": back(("CLI", "add", ["Trains are green"])),
    "put": back(FACT, ("CLI", "put", ["rules", "deploy", "We deploy daily"])),
    "update": back(FACT, ("CLI", "update", ["{0}", "We deploy daily"])),
    "supersede": back(FACT, ("CLI", "supersede", ["{0}", "We deploy daily"])),
    "delete": back(FACT, ("CLI", "delete", ["{0}"])),
    "restore": back(FACT, ("CLI", "delete", ["{0}"]), ("CLI", "restore", ["{0}"])),
    "undo": passed(UNDONE, FACT, ("CLI", "undo", [])),
    "feedback": named(FACT, ("CLI", "feedback", ["{0}", "useful"])),
    "checkpoint create": named(("CLI", "checkpoint create", ["before"])),
    "rollback": back(POINT, FACT, ("POST", "/memories", NEW), ("CLI", "rollback", ["before"])),
    "space merge": back(
        *FORKED, ("POST", "//spaces/{space}-copy/memories", NEW), ("CLI", "space merge", ["{space}-copy", "{space}"])
    ),
    "space clear": back(FACT, ("CLI", "space clear", ["--confirm", "DELETE ALL MEMORIES"])),
    "policy": named(("CLI", "policy", ["--secrets", "allow"])),
    "purge": named(FACT, ("CLI", "purge", ["{0}", "--yes", "--no-report"])),
    "import": back(("CLI", "import", ["{folder}/in.jsonl"])),
    "ingest": back(("CLI", "ingest", ["{folder}/docs"])),
    "documents delete": back(FILE, ("CLI", "documents delete", ["docs/a.md"])),
    "conversations add": back(("CLI", "conversations add", ["c", "We met in Turku"])),
    "conversations delete": back(TALK, ("CLI", "conversations delete", ["c"])),
    "graph merge": back(NAMES, ("CLI", "graph merge", ["Ann Berg", "Zoe Miller"])),
}
LIKE: Mapping[str, str] = {
    "checkpoint delete": "deleteCheckpoint", "conversations close": "updateConversation",
    "conversations move": "updateConversation", "conversations rename": "updateConversation",
    "conversations summarise": "summariseSpace", "conversations summary": "summariseConversation",
    "graph build": "buildGraph", "graph drop": "dropGraph", "graph keep-apart": "keepEntitiesApart",
    "placement add": "addDatabase", "placement move": "moveUnits", "placement promote": "promoteSpace",
    "placement drain": "drainDatabase",
    "graph relate": "stateRelation", "keys create": "createKey", "probe add": "addProbe", "quota": "setQuota",
    "space create": "createSpace", "space delete": "deleteSpace", "space fork": "forkSpace", "validate": "addMemory",
}  # fmt: skip
READS = {
    "warmSpace", "search", "searchSpaces", "getContext", "getHandoff", "optimizeText", "previewDocument",
    "compareGenerations",
    "replayReceipt",
}  # fmt: skip


@dataclass
class Place:
    """A space in which a call is tried, through a server with keys."""

    engine: Engine
    http: httpx.Client
    secret: str
    space: str
    folder: Path
    ids: list[str] = field(default_factory=list)
    last: Any = None

    def do(self, step: Step) -> None:
        """Make a call, and wait for its task."""
        method, path, body = step
        values: dict[str, str] = {"space": self.space}
        if "{conflict}" in path:
            values["conflict"] = self.get("/conflicts")["items"][0]["id"]
        if "{import}" in path:
            values["import"] = str(self.last["import_id"])
        if method in ("TOOL", "CLI"):
            self._call(method, path, json.loads(self._filled(json.dumps(body))))
            return
        path = self.at(re.sub(r"\{\}", self.ids[-1] if self.ids else "", path).format(*self.ids[:1], **values))
        if isinstance(body, str):
            answer = self.http.request(method, path, content=body, headers={"Content-Type": "application/x-ndjson"})
        else:
            body = json.loads(self._filled(json.dumps(body)))
            answer = self.http.request(method, path, json=body)
        assert answer.is_success, (method, path, answer.text)
        self.last = answer.json() if answer.content else None
        if isinstance(self.last, dict) and isinstance(found := self.last.get("memory", self.last).get("id"), str):
            self.ids.append(found)
        if answer.status_code == 202:
            while self.get(f"/tasks/{self.last['id']}")["state"] in ("queued", "running"):
                pass

    def _filled(self, text: str) -> str:
        folder = {"{folder}": str(self.folder), "{space}": self.space}
        for mark, value in {**folder, **({"{0}": self.ids[0]} if self.ids else {})}.items():
            text = text.replace(mark, value)
        return text

    def _call(self, method: str, name: str, given: Any) -> None:
        if method == "CLI":
            done = self._run(*name.split(), *given)
            assert done.exit_code == 0, done.output
            return
        found = call(self.http, name, **({} if name == "create_space" else {"space": self.space}), **given)
        assert not found["isError"], found
        while any(one["state"] in ("queued", "running") for one in self.get("/tasks")["items"]):
            pass

    def _run(self, *words: str) -> Result:
        options = ["--space", self.space, "--url", str(self.http.base_url)]
        return CliRunner().invoke(main, [*words, *options], prog_name="muisti", env={"MUISTI_KEY": self.secret})

    def get(self, path: str) -> Any:
        return self.http.get(self.at(path)).json()

    def at(self, path: str) -> str:
        return f"/v1{path[1:]}" if path.startswith("//") else f"/v1/spaces/{self.space}{path}"

    def state(self) -> dict[str, Any]:
        """Return all that the space remembers now, by id, but for versions and their times."""
        pages = self.engine.owner.read.export(self.space, "test").pages()
        records = [json.loads(msgspec.json.encode(record)) for page in pages for record in page]
        kept = [one["memory"] for one in records if one["type"] == "version" and one["died"] is None]
        return {one["id"]: {name: value for name, value in one.items() if name not in BESIDE} for one in kept}

    def undo(self, face: str) -> tuple[bool, str]:
        """Undo the last call without arguments; return whether that was done, and what the answer says."""
        if face == "HTTP":
            answer = self.http.post(self.at("/undo"), json={})
            assert answer.status_code in (200, 404, 409), answer.text
            return answer.is_success, answer.json()["undone" if answer.is_success else "detail"]
        if face == "MCP":
            found = call(self.http, "undo", space=self.space)
            return not found["isError"], found["content"][0]["text"]
        done = self._run("undo")
        return done.exit_code == 0, done.stderr


BESIDE = ("version", "updated_at")


@contextmanager
def server(folder: Path) -> Iterator[Iterator[Place]]:
    """Run a server, and yield places of their own on it, each with a call before."""
    others = [WordEncoder("notes", name="notes-static-512")]
    with (
        Engine(at(folder / "muisti.db").open(), WordEncoder(), Clock(), others=others) as engine,
        running(engine, webhook_hosts="127.0.0.1:9", webhook_private=True) as (url, _),
    ):
        secret = engine.keys.create(EVERYTHING, engine.now(), name="ann")[1]
        (folder / "in.jsonl").write_text(LINES)
        (folder / "docs").mkdir()
        (folder / "docs" / "a.md").write_text(FILE[2]["content"])
        (folder / "docs" / "b.md").write_text("# Trains\n\nTrains are late.\n")
        headers = {"Authorization": f"Bearer {secret}"}
        with httpx.Client(base_url=url, headers=headers, timeout=60) as http:
            yield (_place(Place(engine, http, secret, f"s{number}", folder)) for number in count(1))


def _place(place: Place) -> Place:
    place.engine.spaces.create(place.space)
    place.do(("POST", "/memories", {"content": "The call before"}))
    place.ids.clear()
    return place


def tried(place: Place, row: Row, face: str) -> tuple[str, str]:
    """Make the calls of a row and undo the last. Return the outcome as it was, or what is wrong, and the words."""
    for step in row.before:
        place.do(step)
    before = place.state()
    place.do(row.step)
    after = place.state()
    done, words = place.undo(face)
    now = place.state()
    if not done:
        assert now == after, (face, words)
        return "named", words
    assert now != after or before == after, (face, words)
    return ("back" if now == before != after else "passed"), words


def all_rows() -> Iterator[tuple[str, Row, tuple[str, ...]]]:
    """Yield each kind of call by its name, with the faces on which it is undone."""
    yield from ((name, row, FACES) for name, row in ROWS.items())
    yield from ((f"tool {name}", row, ("MCP",)) for name, row in TOOLS.items())
    yield from ((f"muisti {name}", row, ("CLI",)) for name, row in COMMANDS.items())


def main_table() -> None:
    """Print the table."""
    with TemporaryDirectory() as folder, server(Path(folder)) as places:
        print("| call | outcome | face | answer |\n| --- | --- | --- | --- |")  # noqa: T201
        for name, row, faces in all_rows():
            for face in faces:
                outcome, words = tried(next(places), row, face)
                print(f"| {name} | {outcome}{row.why and ': '}{row.why} | {face} | {' '.join(words.split())} |")  # noqa: T201


if __name__ == "__main__":
    main_table()
