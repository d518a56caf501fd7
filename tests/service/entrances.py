"""Every write path by which a text becomes current in a space, driven alike, and the behaviour expected of each.

`ENTRANCES` is the one table of differences: it names each write path that behaves otherwise than a plain
`POST …/memories`, with the reason. `STORES_NOTHING` names the routes, tools and commands that store no memory's text.
"""

import json
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import httpx
from click.testing import CliRunner

from muisti.core.conversations.model import NewObject
from muisti.core.engine import Engine
from muisti.core.identity.caller import Caller
from muisti.core.identity.grants import Grant
from muisti.core.model.choices import Scope, SourceClass
from muisti.core.model.values import Draft, Memory
from muisti.service.cli import main

SECRET = "github_pat_11AAAAAAA0abcdefghijkl"
MAIL = "ann.lee@firma.fi"
KNOWN = "The harbour opens at five."
REDACTED = {SECRET: "[redacted: github-token]", MAIL: "[redacted: email]"}
TEXTS = {
    "plain": "We deploy on Tuesdays.",
    "secret": f"The token of the deploy is {SECRET}.",
    "personal": f"Write to {MAIL} about the deploy.",
    "echo": f"{KNOWN} {KNOWN.upper()}",
}
ADDRESS = {"category": "notes", "key": "k"}
OWNER = Caller(allows=frozenset(("secrets", "personal_data")))
LINES = {"Content-Type": "application/x-ndjson"}
MCP = {"Accept": "application/json, text/event-stream"}
WRITE: tuple[Scope, ...] = ("read", "append", "write")
FULL: tuple[Scope, ...] = (*WRITE, "delete")

Trust = Literal["own", "changed", "kept"]


@dataclass(frozen=True)
class Key:
    """Who writes. `token`: the grant comes by a JWT of an issuer."""

    name: str
    scopes: tuple[Scope, ...] = FULL
    category: str | None = None
    source_class: SourceClass | None = None
    token: bool = False

    @property
    def grant(self) -> Grant:
        return Grant(frozenset(self.scopes), ("*",), self.category, self.source_class)


KEYS = (
    Key("full"), Key("read", ("read",)), Key("append", ("append",)), Key("read-append", ("read", "append")),
    Key("write", WRITE), Key("delete", ("read", "delete")), Key("admin", (*FULL, "admin")),
    Key("category", category="Notes"), Key("category-append", ("read", "append"), category="notes"),
    Key("user", source_class="user"), Key("tool", source_class="tool"), Key("model", source_class="model"),
    Key("unknown", source_class="unknown"), Key("web", source_class="web"),
    Key("web-append", ("read", "append"), source_class="web"), Key("jwt", token=True),
    Key("jwt-append", ("append",), token=True),
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A key that stores a draft into a space with a policy and a quota."""

    key: Key
    text: str = "plain"
    fields: Mapping[str, Any] = field(default_factory=dict)
    policy: Mapping[str, str] = field(default_factory=dict)
    quota: str | None = None  # memories or bytes: nothing more of them fits

    @property
    def body(self) -> dict[str, Any]:
        return {**ADDRESS, "content": TEXTS[self.text], "tags": ["t"], **self.fields}

    def __str__(self) -> str:
        said = [*map(str, self.fields.values()), *(f"{name}={what}" for name, what in self.policy.items())]
        return "-".join([self.key.name, self.text, *said, *([self.quota] if self.quota else [])])


@dataclass
class Place:
    """A space in which a case is tried, as its owner and as the key see it."""

    engine: Engine
    http: httpx.Client
    space: str
    headers: Mapping[str, str]
    case: Case
    known: str = ""  # the memory that an echo repeats
    target: Memory | None = None  # the memory that is changed, restored or superseded
    prepared: Mapping[str, Any] = field(default_factory=dict)

    def post(self, path: str, body: Any, method: str = "POST", **options: Any) -> "Said":
        headers = {**self.headers, **options.pop("headers", {})}
        answer = self.http.request(method, f"/v1/spaces/{self.space}{path}", json=body, headers=headers, **options)
        return Said.of(answer.json(), answer.status_code)

    def lines(self, memory: Mapping[str, Any], **params: str) -> "Said":
        content = b"".join(json.dumps(line).encode() + b"\n" for line in file_of(memory))
        answer = self.http.post(
            f"/v1/spaces/{self.space}/import", content=content, params=params, headers={**self.headers, **LINES}
        )
        return Said.of(answer.json(), answer.status_code)

    def tool(self, name: str, arguments: Mapping[str, Any], *, plain: bool) -> "Said":
        """Call a tool; the SDK answers what has any other Content-Type than JSON without parameters."""
        given = {"space": self.space, **arguments}
        if self.case.key.category is not None:
            given.pop("category", None)  # these keys have no such argument
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": given}}
        kind = "application/json" if plain else "application/json; charset=utf-8"
        answer = self.http.post(
            "/mcp?tools=all", content=json.dumps(call), headers={**self.headers, **MCP, "Content-Type": kind}
        )
        said = answer.json() if answer.headers["content-type"].startswith("application/json") else in_sse(answer)
        if "error" in said:
            return Said("no such tool")
        result = said["result"]
        structured = result.get("structuredContent") or {"code": "no such tool"}
        if "results" in structured:  # several memories, of which a case has one
            (structured,) = structured["results"]
        return Said.of(structured, None if result["isError"] else 200)

    def run(self, *words: str, input: str | None = None) -> "Said":
        """Run a command of the command line against the server."""
        secret = self.headers["Authorization"].removeprefix("Bearer ")
        at = ("--url", str(self.http.base_url), "--space", self.space, "--json")
        done = CliRunner().invoke(main, [*words, *at], input=input, prog_name="muisti", env={"MUISTI_KEY": secret})
        try:
            return Said.of(json.loads(done.stdout), None if done.exit_code else 200)
        except ValueError:
            return Said(f"exit {done.exit_code}: {done.output[-300:]}")

    @property
    def options(self) -> list[str]:
        """The fields of the draft as options of a command."""
        body = self.case.body
        given = ["--category", body["category"], "--key", body["key"], "--tag", "t"]
        return [*given, *(["--source-class", body["source_class"]] if "source_class" in body else [])]


@dataclass(frozen=True)
class Said:
    """How the caller is answered: a code when it is refused, else the codes and paths of the flags."""

    code: str | None
    flags: tuple[str, ...] = ()
    status: int | None = None

    @classmethod
    def of(cls, body: Mapping[str, Any], status: int | None) -> "Said":
        flags = tuple(sorted(flag["code"] for flag in body.get("flags", ()) or ()))
        if body.get("failures"):
            return cls(body["failures"][0]["code"], flags, status)
        items = body.get("items") or ()
        if items and isinstance(items[0], Mapping) and items[0].get("status") == "failed":
            return cls(items[0]["problem"]["code"], flags, status)
        if items and isinstance(items[0], Mapping) and items[0].get("flags"):
            flags = tuple(sorted(flag["code"] for flag in items[0]["flags"]))
        return cls(body.get("code"), flags, status)


@dataclass(frozen=True)
class Entrance:
    """A write path. Each difference from a plain add is a field without its default, and `why` has the reason.

    - `names`: the operations, tools (`mcp NAME`) and commands (`cli NAME`) of this path.
    - `beside`: further scopes that it needs.
    - `whole`: only keys that see a whole space may use it; `classless`: and that have no source class.
    - `trust`: the source class is the caller's (own), the original's (kept), or the changed memory's as far as the
      caller may use that class (changed).
    - `echoes`: the echo check applies. `adds`: the space has one memory more afterwards.
    - `kinds`, `audit`: entries of the feed and of the audit log. `tells`: flags are in the answer.
    - `codes`: refusals that have another code here. `keyed`: the draft keeps its key.
    """

    name: str
    names: tuple[str, ...]
    send: Callable[[Place], Said]
    prepare: Callable[[Place], None] = lambda place: None
    scopes: tuple[Scope, ...] = ("append",)
    whole: bool = False
    classless: bool = False
    warm: bool = False
    trust: Trust = "own"
    echoes: bool = True
    adds: bool = True
    kinds: tuple[str, ...] = ("created",)
    audit: tuple[str, ...] = ()
    codes: Mapping[str, str] = field(default_factory=dict)
    tells: bool = True
    keyed: bool = True
    why: str = ""


def file_of(memory: Mapping[str, Any]) -> list[dict[str, Any]]:
    memory_line = {"id": str(uuid.uuid4()), **memory}
    return [{"type": "muisti", "format": 1}, {"type": "memory", "memory": memory_line}, {"type": "end", "lines": 2}]


def in_sse(answer: httpx.Response) -> Any:
    return json.loads([line[6:] for line in answer.text.splitlines() if line.startswith("data: ")][-1])


def before(place: Place) -> None:
    """Add the memory that the write path changes, at the address."""
    place.target = add(place, Draft(content="before", **ADDRESS))


def there(place: Place) -> None:
    """Add a memory at the address of the draft."""
    address = {name: place.case.body[name] for name in ADDRESS}
    place.target = add(place, Draft(content="before", **address))


def stored(place: Place) -> None:
    """The draft as a memory, and a checkpoint of that."""
    body = place.case.body
    tags = tuple(body.pop("tags"))
    made = add(place, Draft(**body, tags=tags, author="Ann"))
    place.engine.owner.timeline.create_checkpoint(place.space, "before")
    place.target = made


def changed(place: Place) -> None:
    stored(place)
    assert place.target is not None
    place.engine.seen_by(OWNER).write.update(place.space, place.target.id, {"content": "before"})


def deleted(place: Place) -> None:
    stored(place)
    assert place.target is not None
    place.engine.seen_by(OWNER).write.delete(place.space, place.target.id)


def changed_itself(place: Place) -> None:
    """The draft as a memory that the caller has changed, so that it can undo that; a key that may not write cannot."""
    stored(place)
    place.tool("update_memory", {"id": target(place), "changes": {"content": "before"}}, plain=True)


def deleted_itself(place: Place) -> None:
    """The draft as a memory that the caller has deleted, where it may."""
    stored(place)
    place.tool("forget", {"id": target(place)}, plain=True)


def beside(place: Place) -> None:
    """The draft in another space, which takes anything."""
    other = f"{place.space}.other"
    place.engine.spaces.create(other)
    body = place.case.body
    tags = tuple(body.pop("tags"))
    place.engine.seen_by(OWNER).write.add(other, [Draft(**body, tags=tags)], on_conflict="keep")


def add(place: Place, draft: Draft) -> Memory:
    return place.engine.seen_by(OWNER).write.add(place.space, [draft], on_conflict="keep").memories[0]


def target(place: Place) -> str:
    assert place.target is not None
    return place.target.id


def entry(place: Place) -> str:
    """Return the URL path of the address of the memory that a write path changes."""
    assert place.target is not None
    return f"/entries/{place.target.category}/{place.target.key}"


def talking(place: Place) -> None:
    """Make the conversation that turns come into."""
    new = NewObject(name="c", category=place.case.body["category"])
    place.engine.seen_by(OWNER).conversations.create(place.space, "conversation", new)


def turn_of(place: Place) -> dict[str, Any]:
    """The draft as a turn of a conversation, which has neither a category nor a key of its own."""
    return {name: value for name, value in place.case.body.items() if name not in ADDRESS}


def streamed(place: Place) -> Said:
    body = {"items": [turn_of(place)], "category": place.case.body["category"]}
    return place.post("/conversations/c/exchanges", body)


def own(place: Place) -> dict[str, Any]:
    """The fields of the draft that a change or a tool takes, without its address."""
    return {name: value for name, value in place.case.body.items() if name != "key"}


def kept(place: Place) -> dict[str, Any]:
    return {**place.case.body, "on_conflict": "keep"}


def slow(place: Place) -> Said:
    """A parameter makes the request one that Litestar answers."""
    return place.post("/memories", place.case.body, params={"on_conflict": "keep"})


def batch(place: Place) -> Said:
    return place.post("/memories/batch", {"memories": [place.case.body]})


def put_by_command(place: Place) -> Said:
    """Put the draft at its address on the command line."""
    _, category, _, key, *options = place.options
    return place.run("put", category, key, place.case.body["content"], *options)


def import_file(place: Place) -> Said:
    """Import a file of this folder on the command line."""
    path = Path(f"{place.space}.ndjson")
    path.write_text(ndjson(place) + "\n")
    return place.run("import", path.name, "--each")


NAMED = "it takes the place of a memory that the caller names, and may well repeat it"
FORMER = "the text was stored before, with the source class that it had; the caller says nothing"
EDIT = "a change keeps the source class of the memory, or sinks it to that of the caller"
WHOLE = "it is about a whole space"
LEAVES = "the space holds as many memories as before"
NUMBERS = "the answer of the tool has numbers alone"

ENTRANCES = (
    Entrance("http fast", ("addMemory",), lambda p: p.post("/memories", kept(p)), warm=True),
    Entrance(
        "http slow", ("addMemory",), lambda p: p.post("/memories", p.case.body, params={"on_conflict": "keep"}),
        warm=True,
    ),
    Entrance("http cold", ("addMemory",), lambda p: p.post("/memories", kept(p))),
    Entrance(
        "http idempotency key", ("addMemory",),
        lambda p: p.post("/memories", kept(p), headers={"Idempotency-Key": uuid.uuid4().hex}), warm=True,
    ),
    Entrance(
        "http add and supersede", ("addMemory",),
        lambda p: p.post("/memories", {**p.case.body, "on_conflict": "supersede"}), there, WRITE, echoes=False,
        kinds=("superseded", "created"), why=NAMED,
    ),
    Entrance(
        "http batch", ("addMemories",), lambda p: p.post("/memories/batch", {"memories": [p.case.body]}), warm=True
    ),
    Entrance(
        "http batch, each", ("addMemories",),
        lambda p: p.post("/memories/batch", {"memories": [p.case.body], "atomic": False}),
    ),
    Entrance("http put", ("putEntry",), lambda p: put(p), scopes=WRITE),
    Entrance(
        "http put over", ("putEntry",), lambda p: put(p), there, WRITE, echoes=False, adds=False, kinds=("updated",),
        why=f"{NAMED}; {LEAVES}",
    ),
    Entrance(
        "http patch", ("updateMemory",), lambda p: p.post(f"/memories/{target(p)}", own(p), "PATCH"), before, WRITE,
        trust="changed", echoes=False, adds=False, kinds=("updated",), why=f"{NAMED}; {EDIT}; {LEAVES}",
    ),
    Entrance(
        "http supersede", ("supersedeMemory",), lambda p: p.post(f"/memories/{target(p)}/supersede", p.case.body),
        before, WRITE, echoes=False, kinds=("superseded", "created"), why=NAMED,
    ),
    Entrance(
        "http patch by address", ("updateEntry",), lambda p: p.post(entry(p), own(p), "PATCH"), before, WRITE,
        trust="changed", echoes=False, adds=False, kinds=("updated",), why=f"{NAMED}; {EDIT}; {LEAVES}",
    ),
    Entrance(
        "http supersede by address", ("supersedeEntry",), lambda p: p.post(f"{entry(p)}/supersede", p.case.body),
        before, WRITE, echoes=False, kinds=("superseded", "created"), why=NAMED,
    ),
    Entrance(
        "http exchanges", ("addExchanges",), streamed, talking, ("append", "read"), keyed=False,
        why="turns of a conversation have no key",
    ),
    Entrance(
        "cli conversations add", ("cli conversations add",),
        lambda p: p.run(
            "conversations", "add", "c", "-", "--category", p.case.body["category"], input=json.dumps(turn_of(p))
        ),
        talking,
        ("append", "read"),
        keyed=False,
        why="turns of a conversation have no key",
    ),
    Entrance(
        "http import", ("importMemories",), lambda p: p.lines(p.case.body, atomic="false"), scopes=WRITE, whole=True,
        classless=True, audit=("memories_imported",), why=f"{WHOLE}; a file says itself what its memories come from",
    ),
    Entrance(
        "http import, atomic",
        ("importMemories",),
        lambda p: p.lines(p.case.body),
        scopes=WRITE,
        whole=True,
        classless=True,
        audit=("memories_imported",),
        codes={"sensitive_content": "invalid_input", "echo": "invalid_input"},
        why=f"{WHOLE}; a file says itself what its memories come from; its lines are bad for many reasons at once",
    ),
    Entrance(
        "http merge", ("mergeSpaces",), lambda p: p.post("/merge", {"from": f"{p.space}.other"}), beside, FULL,
        whole=True, trust="kept", kinds=("merged",), audit=("space_merged",), why=f"{WHOLE}; {FORMER}",
    ),
    *(
        Entrance(
            f"http restore {name}", ("restoreMemory",),
            lambda p: p.post(f"/memories/{target(p)}/restore", {"version": 1}), prepare, WRITE, trust="kept",
            echoes=False, adds=adds, kinds=("restored",), why=f"{FORMER}; {LEAVES}",
        )
        for name, prepare, adds in (("changed", changed, False), ("deleted", deleted, True))
    ),
    Entrance(
        "http restore by address", ("restoreEntry",), lambda p: p.post(f"{entry(p)}/restore", {"version": 1}), changed,
        WRITE, trust="kept", echoes=False, adds=False, kinds=("restored",), why=f"{FORMER}; {LEAVES}",
    ),
    *(
        Entrance(
            f"http undo {name}", ("undo",), lambda p: p.post("/undo", {"author": "Ann"}), prepare, FULL, trust="kept",
            echoes=False, adds=adds, kinds=("undone",), why=f"{FORMER}; {LEAVES}",
        )
        for name, prepare, adds in (("changed", changed, False), ("deleted", deleted, True))
    ),
    *(
        Entrance(
            f"http rollback {name}", ("rollBack",), lambda p: p.post("/rollback", {"to": "before"}), prepare, FULL,
            whole=True, trust="kept", echoes=False, adds=adds, kinds=("rolled_back",), audit=("space_rolled_back",),
            why=f"{WHOLE}; {FORMER}; {LEAVES}",
        )
        for name, prepare, adds in (("changed", changed, False), ("deleted", deleted, True))
    ),
    *(
        entrance
        for plain, way in ((True, "mcp plain"), (False, "mcp sdk"))
        for entrance in (
            Entrance(
                f"{way} remember", ("mcp remember",), lambda p, plain=plain: p.tool("remember", kept(p), plain=plain),
                warm=True,
            ),
            Entrance(
                f"{way} remember, several", ("mcp remember",),
                lambda p, plain=plain: p.tool("remember", several(p), plain=plain), warm=True, keyed=False,
                why="as a single one; several have no key",
            ),
            Entrance(
                f"{way} remember, replace", ("mcp remember",),
                lambda p, plain=plain: p.tool("remember", {**p.case.body, "replace": True}, plain=plain), there, WRITE,
                echoes=False, adds=False, kinds=("updated",), why=f"{NAMED}; {LEAVES}",
            ),
            Entrance(
                f"{way} remember, supersedes", ("mcp remember",),
                lambda p, plain=plain: p.tool("remember", {**p.case.body, "supersedes": target(p)}, plain=plain),
                before, WRITE, echoes=False, kinds=("superseded", "created"), why=NAMED,
            ),
            Entrance(
                f"{way} update", ("mcp update_memory",),
                lambda p, plain=plain: p.tool("update_memory", {"id": target(p), "changes": own(p)}, plain=plain),
                before, WRITE, trust="changed", echoes=False, adds=False, kinds=("updated",),
                why=f"{NAMED}; {EDIT}; {LEAVES}",
            ),
            Entrance(
                f"{way} restore", ("mcp undo",),
                lambda p, plain=plain: p.tool("undo", {"id": target(p), "version": 1}, plain=plain), changed, WRITE,
                trust="kept", echoes=False, adds=False, kinds=("restored",), why=f"{FORMER}; {LEAVES}",
            ),
            *(
                Entrance(
                    f"{way} undo {name}", ("mcp undo",), lambda p, plain=plain: p.tool("undo", {}, plain=plain),
                    prepare, FULL, trust="kept", echoes=False, adds=adds, kinds=("undone",), why=f"{FORMER}; {LEAVES}",
                )
                for name, prepare, adds in (("changed", changed_itself, False), ("deleted", deleted_itself, True))
            ),
            Entrance(
                f"{way} import", ("mcp import_memories",),
                lambda p, plain=plain: p.tool("import_memories", {"ndjson": ndjson(p)}, plain=plain), scopes=WRITE,
                whole=True, classless=True, audit=("memories_imported",),
                codes={"sensitive_content": "invalid_input", "echo": "invalid_input"}, tells=False,
                why=f"as an atomic import over HTTP; {NUMBERS}",
            ),
        )
    ),
    Entrance(
        "cli add", ("cli add",), lambda p: p.run("add", p.case.body["content"], *p.options, "--on-conflict", "keep"),
        warm=True,
    ),
    Entrance("cli put", ("cli put",), put_by_command, scopes=WRITE, warm=True),
    Entrance(
        "cli update", ("cli update",), lambda p: p.run("update", target(p), p.case.body["content"], *p.options), before,
        WRITE, trust="changed", echoes=False, adds=False, kinds=("updated",), why=f"{NAMED}; {EDIT}; {LEAVES}",
    ),
    Entrance(
        "cli supersede", ("cli supersede",),
        lambda p: p.run("supersede", target(p), p.case.body["content"], *p.options), before, WRITE, echoes=False,
        kinds=("superseded", "created"), why=NAMED,
    ),
    Entrance(
        "cli import", ("cli import",), import_file, scopes=WRITE, whole=True, classless=True,
        audit=("memories_imported",), why=f"{WHOLE}; a file says itself what its memories come from",
    ),
    Entrance(
        "cli restore", ("cli restore",), lambda p: p.run("restore", target(p), "--to", "1"), changed, WRITE,
        trust="kept", echoes=False, adds=False, kinds=("restored",), why=f"{FORMER}; {LEAVES}",
    ),
    Entrance(
        "cli undo", ("cli undo",), lambda p: p.run("undo", "--author", "Ann"), deleted, FULL, trust="kept",
        echoes=False, kinds=("undone",), why=FORMER,
    ),
    Entrance(
        "cli rollback", ("cli rollback",), lambda p: p.run("rollback", "before"), changed, FULL, whole=True,
        trust="kept", echoes=False, adds=False, kinds=("rolled_back",), audit=("space_rolled_back",),
        why=f"{WHOLE}; {FORMER}; {LEAVES}",
    ),
    Entrance(
        "cli merge", ("cli space merge",), lambda p: p.run("space", "merge", f"{p.space}.other", p.space), beside, FULL,
        whole=True, trust="kept", kinds=("merged",), audit=("space_merged",), why=f"{WHOLE}; {FORMER}",
    ),
)  # fmt: skip


def put(place: Place) -> Said:
    body = place.case.body
    return place.post(f"/entries/{body.pop('category')}/{body.pop('key')}", body, "PUT")


def several(place: Place) -> dict[str, Any]:
    """The draft as one of several contents, which have no key."""
    body = kept(place)
    return {name: value for name, value in body.items() if name not in ("content", "key")} | {
        "contents": [body["content"]]
    }


def ndjson(place: Place) -> str:
    return "\n".join(map(json.dumps, file_of(place.case.body)))


STORES_NOTHING: Mapping[str, str] = {
    name: reason
    for reason, names in (
        (
            "copies a space with its policy; what the space holds was measured by it, and the quota of the copy counts",
            "forkSpace, cli space fork",
        ),
        (
            "both memories are current already; keeping, superseding and rejecting make no other text current",
            "decideConflict, cli conflicts decide, mcp decide",
        ),
        ("changes the status of what is current, and no text", "promote, prune, cli promote, cli prune"),
        ("ends what is current", "clearSpace, cli space clear"),
        (
            "sends what addExchanges sends, without a category; tests/conversations/test_tools.py tries it",
            "mcp add_exchanges",
        ),
        (
            "stores a title by the calls that addExchanges uses; tests/conversations/test_conversations.py tries it",
            "createSession, updateSession, createConversation, updateConversation, createTopic, updateTopic, "
            "mcp conversations, cli conversations rename",
        ),
        (
            "stores a title, a summary or a text beside memories, by the same intake; "
            "tests/conversations/test_discourse.py tries it",
            "splitTopic, summariseConversation, summariseSession, summariseExchange, summariseSpace, "
            "keepInWorkingMemory, cli conversations summarise, cli conversations topics, cli conversations summary, "
            "cli conversations working",
        ),
        (
            "stores sentences of a turn by the call that addMemories uses for each item; "
            "tests/service/routes/test_suggestions.py tries it",
            "suggestPreferences, cli conversations suggest",
        ),
        ("compresses a text or cuts it, and stores nothing", "optimizeText, previewDocument"),
        (
            "stores chunks of a document by the same intake; tests/documents/test_document_routes.py tries it",
            "addDocuments, putDocument, mcp add_document, cli ingest",
        ),
        (
            "gives what is current another place, and changes no text",
            "syncDocuments, moveTopic, mergeTopics, releaseFromWorkingMemory, "
            "adoptConversations, cli conversations adopt, cli conversations move, cli conversations close, "
            "cli conversations reopen",
        ),
        ("sends what `cli add` sends", "cli demo"),
        (
            "keeps candidates, and nothing that may be a secret; tests/service/agents/test_hooks.py tries it",
            "answerHook, cli hook run",
        ),
        (
            "stores a text at a path by the calls of addMemory and updateEntry; tests/service/memory_stores tries it",
            "createFile, updateFile",
        ),
        (
            "stores names and a sentence by the same intake; tests/graph/test_graph_routes.py tries it",
            "describeEntity, mergeEntities, keepEntitiesApart, stateRelation, correctRelation, mcp state_graph, "
            "cli graph merge, cli graph keep-apart, cli graph relate",
        ),
        ("reads stored texts for the graph", "buildGraph, dropGraph, cli graph build, cli graph drop"),
        (
            "ends memories",
            "deleteDocument, pruneDocuments, mcp documents, mcp prune_memory, mcp clear_all, cli documents delete, "
            "cli documents prune, deleteSession, deleteConversation, deleteTopic, cli conversations delete, "
            "retractStatement, cli graph retract, "
            "deleteFile, redactFileVersion, "
            "deleteMemory, deleteEntry, purge, undoImport, mcp forget, mcp purge, cli delete, cli purge",
        ),
        (
            "reads or compares",
            "cli graph status, cli graph entities, cli graph show, cli graph neighbours, cli graph path, "
            "cli graph relations, cli graph proposals, cli graph communities, cli graph draw, cli graph export, "
            "cli code find, cli code callers, cli code callees, cli code outline, cli code map, "
            "cli models test, cli documents list, cli documents show, cli documents text, cli documents stale, "
            "search, searchSpaces, warmSpace, compareGenerations, cli generations list, cli generations compare, "
            "getContext, getHandoff, replayReceipt, cli context, cli handoff, cli audit, cli backup, cli calibrate, "
            "cli categories, cli changes, cli conversations list, cli conversations show, "
            "cli checkpoint list, cli conflicts list, cli diff, cli doctor, cli eval, cli export, cli get, "
            "cli history, cli keys list, cli lint, cli list, cli probe list, cli receipt list, cli receipt replay, "
            "cli receipt show, cli reads list, cli reads unanswered, cli scrub, "
            "cli search, cli placement list, cli placement plan, cli placement check, "
            "cli space compare, cli space list, cli space warm, cli space which, cli spaces, cli stats, cli tags, "
            "cli tasks list, cli tasks show, cli tasks watch, cli telemetry, cli top, cli validate, cli verify-report, "
            "cli webhook list",
        ),
        (
            "sets up or serves",
            "cli completion, cli connect, cli hook install, cli hook uninstall, cli hooks install, cli hooks remove, "
            "cli mcp, cli serve, cli skill",
        ),
        ("puts a whole database back, with its policies, for who has the machine", "cli restore-backup"),
        (
            "makes vectors anew, and no text",
            "cli reembed, mcp set_model, buildGeneration, switchGeneration, rollBackGeneration, dropGeneration, "
            "cli generations build, cli generations switch, cli generations rollback, cli generations drop",
        ),
        (
            "is about something else than memories: keys, webhooks, probes, receipts, checkpoints, verdicts, settings",
            "giveFeedback, giveEntryFeedback, addProbe, deleteProbe, runProbes, createWebhook, deleteWebhook, "
            "redeliverWebhook, forgetReads, cli reads forget, "
            "createMemoryStore, updateMemoryStore, archiveMemoryStore, deleteMemoryStore, "
            "addDatabase, moveUnits, promoteSpace, drainDatabase, cli placement add, cli placement move, "
            "cli placement promote, cli placement drain, "
            "setQuota, setPolicy, createSpace, mcp create_space, deleteSpace, createCheckpoint, "
            "deleteCheckpoint, createKey, revokeKey, rotateKey, cli checkpoint create, cli checkpoint delete, "
            "cli feedback, cli keys create, cli keys revoke, cli keys rotate, cli keys clear, cli policy, "
            "cli probe add, cli probe delete, cli probe run, cli quota, cli space create, cli space delete, "
            "cli webhook create, cli webhook delete, cli webhook redeliver, cancelTask, cli tasks cancel",
        ),
    )
    for name in names.split(", ")
}
