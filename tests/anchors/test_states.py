"""Anchors: each state follows from the documents that a caller sees now, for files, for symbols, and after any move."""

from collections.abc import Mapping
from hashlib import sha1, sha256
from typing import Any

import pytest

from muisti.core.documents.model import FileFacts, NewDocument
from muisti.core.documents.view import Incoming
from muisti.core.engine import Engine
from muisti.core.identity.caller import Caller
from muisti.core.model.anchors import ANCHORS_MAX, anchor_of
from muisti.core.model.errors import InvalidInput, SensitiveContent
from muisti.core.model.outcomes import Undo
from muisti.core.model.places import DocumentName
from muisti.core.model.values import Anchor, Draft, Memory
from muisti.core.query.filters import parse
from muisti.core.query.points import AsOf
from muisti.core.query.query import Query
from muisti.core.views.read import Request
from tests.core.fakes import SPACE
from tests.documents.symbols.repository import cuts, delete, put

APP = "def one():\n    return 1\n\n\nclass Client:\n    def get(self, url):\n        return url\n"
EDITED = APP.replace("return 1", "return 2")  # another function than Client.get
CHANGED = APP.replace("return url", "return url.strip()")
GET, OTHER = "Client.get", "def late(x):\n    return x\n"


def cite(engine: Engine, *places: str, content: str = "Trim the url", **more: Any) -> str:
    anchors = tuple({**anchor_of(place), **more} for place in places)
    return engine.owner.write.add(SPACE, [Draft(content=content, anchors=anchors)]).memories[0].id


def states(engine: Engine, memory_id: str, caller: Caller | None = None) -> list[tuple[str, str]]:
    views = engine.owner if caller is None else engine.seen_by(caller)
    return told(views.read.get(SPACE, memory_id, no_touch=True).memory)


def told(memory: Memory) -> list[tuple[str, str]]:
    return [(one["state"], one.get("now", "")) for one in memory.anchors]


def rename(engine: Engine, before: str, after: str, text: str) -> None:
    facts = FileFacts(sha256=sha256(text.encode()).hexdigest(), size=len(text))
    new = NewDocument(path=after, facts=facts)
    engine.owner.documents.put(SPACE, [Incoming(new=new, cuts=cuts(text), moved_from=before)])


def moved_elsewhere(engine: Engine, text: str) -> None:
    put(engine, {"app.py": "def one():\n    return 1\n", "net/other.py": text})


@pytest.mark.parametrize(("happens", "file", "symbol"), [
    (lambda engine: None, ("fresh", ""), ("fresh", "")),
    (lambda engine: put(engine, {"app.py": EDITED}), ("changed", ""), ("fresh", "")),
    (lambda engine: put(engine, {"app.py": CHANGED}), ("changed", ""), ("changed", "")),
    (lambda engine: put(engine, {"app.py": OTHER}), ("changed", ""), ("gone", "")),
    (lambda engine: rename(engine, "app.py", "src/app.py", APP), ("moved", "src/app.py"),
        ("moved", "src/app.py:Client.get")),
    (lambda engine: rename(engine, "app.py", "src/app.py", EDITED), ("changed", "src/app.py"),
        ("moved", "src/app.py:Client.get")),
    (lambda engine: rename(engine, "app.py", "src/app.py", CHANGED), ("changed", "src/app.py"),
        ("changed", "src/app.py:Client.get")),
    (lambda engine: (put(engine, {"lib.py": APP}), delete(engine, "app.py")), ("moved", "lib.py"),
        ("moved", "lib.py:Client.get")),
    (lambda engine: delete(engine, "app.py"), ("gone", ""), ("gone", "")),
    (lambda engine: moved_elsewhere(engine, APP[APP.index("class"):]), ("changed", ""),
        ("moved", "net/other.py:Client.get")),
    (lambda engine: moved_elsewhere(engine, "class Session:\n    def get(self, url):\n        return url\n"),
        ("changed", ""), ("moved", "net/other.py:Session.get")),
    (lambda engine: moved_elsewhere(engine, CHANGED[CHANGED.index("class"):]), ("changed", ""),
        ("changed", "net/other.py:Client.get")),
])  # fmt: skip
def test_what_happens_to_a_file_says_the_state(
    happens: Any, file: tuple[str, str], symbol: tuple[str, str], engine: Engine
):
    put(engine, {"app.py": APP})
    cited = cite(engine, "app.py", f"./app.py:{GET}()")
    happens(engine)
    assert states(engine, cited) == [file, symbol]
    assert told(engine.owner.read.list(SPACE, filter=parse({"anchors": "app.py"})).items[0]) == [file, symbol]
    hit = engine.owner.read.search(SPACE, Query(text="trim the url", filter=parse({"kind": "memory"}))).hits[0]
    assert told(hit.memory) == [file, symbol]
    context = engine.owner.context.build(
        SPACE, Request(query="trim the url", token_budget=200, encoding="cl100k_base", filter=parse({"kind": "memory"}))
    )
    stale = {"changed": "changed since", "gone": "gone since", "moved": "moved to"}.get(symbol[0])
    assert ("app.py:Client.get) " if stale is None else f"app.py:Client.get {stale}") in context.text


def test_what_the_space_never_had_is_unknown_until_it_comes(engine: Engine):
    cited = cite(engine, "app.py:Client.get")
    assert states(engine, cited) == [("unknown", "")]
    put(engine, {"app.py": APP})
    assert states(engine, cited) == [("unknown", "")], "nothing to compare with"
    engine.owner.write.update(SPACE, cited, {"anchors": ({"path": "app.py", "symbol": "get"},)})
    assert states(engine, cited) == [("fresh", "")]
    assert engine.owner.read.get(SPACE, cited).memory.anchors[0]["symbol"] == GET, "the whole name is found"


def test_a_stated_hash_is_that_of_the_working_tree_or_of_git(engine: Engine):
    put(engine, {"app.py": APP})
    git = sha1(b"blob %d\0" % len(APP.encode()) + APP.encode()).hexdigest()
    same, other = cite(engine, "app.py", blob=git), cite(engine, "app.py", content="Other", blob="0" * 40)
    assert [states(engine, one)[0][0] for one in (same, other)] == ["fresh", "changed"]


def test_a_key_learns_nothing_of_documents_that_it_does_not_open(engine: Engine):
    put(engine, {"app.py": APP}, category="theirs")
    ours = Caller("ours", category="ours")
    anchors: tuple[Anchor, ...] = (anchor_of(f"app.py:{GET}"), anchor_of("none.py"))
    added = engine.seen_by(ours).write.add(SPACE, [Draft(content="Trim", category="ours", anchors=anchors)])
    assert [{*one} for one in added.memories[0].anchors] == [{"path", "symbol"}, {"path"}]
    owned = cite(engine, f"app.py:{GET}", content="Trim too")
    engine.owner.write.update(SPACE, owned, {"category": "ours"})
    for step in (lambda: None, lambda: put(engine, {"app.py": CHANGED}, category="theirs"),
                 lambda: engine.owner.documents.delete(SPACE, DocumentName(name="app.py"))):  # fmt: skip
        step()
        for one in (added.memories[0].id, owned):
            assert {state for state, _ in states(engine, one, ours)} == {"unknown"}
    assert states(engine, owned) == [("gone", "")]


def test_anchors_go_where_the_memory_goes(engine: Engine):
    put(engine, {"app.py": APP})
    cited = cite(engine, f"app.py:{GET}")
    before = engine.owner.read.get(SPACE, cited).seq
    engine.owner.write.update(SPACE, cited, {"anchors": ()})
    assert states(engine, cited) == []
    past = engine.owner.read.get(SPACE, cited, as_of=AsOf(number=before.number)).memory
    assert [{*one} for one in past.anchors] == [{"path", "symbol", "blob", "text"}], "a state is about now"
    engine.owner.write.undo(SPACE, Undo(last=1))
    assert states(engine, cited) == [("fresh", "")]
    engine.owner.timeline.fork(SPACE, "fork")
    put(engine, {"app.py": CHANGED}, space="fork")
    (copy,) = engine.owner.read.list("fork", filter=parse({"anchors": {"prefix": "app"}})).items
    assert (told(copy), states(engine, cited)) == ([("changed", "")], [("fresh", "")])
    found = engine.owner.read.search(SPACE, Query(mode="recent", filter=parse({"anchors": {"any": ["app.py", "x"]}})))
    assert [hit.memory.id for hit in found.hits] == [cited]


@pytest.mark.parametrize(("anchors", "path"), [
    (({"symbol": "f"},), "$.anchors[0]"),
    (({"path": "a\nb"},), "$.anchors[0].path"),
    (({"path": ""},), "$.anchors[0].path"),
    (({"path": "a", "blob": "xyz"},), "$.anchors[0].blob"),
    (({"path": "a", "commit": "A" * 40},), "$.anchors[0].commit"),
    (({"path": "a", "line": "3"},), "$.anchors[0].line"),
    (({"path": "a"},) * (ANCHORS_MAX + 1), "$.anchors"),
    (tuple({"path": f"{n}{'x' * 900}"} for n in range(5)), "$.anchors"),
])  # fmt: skip
def test_what_is_no_anchor_is_refused_with_its_place(anchors: tuple[Mapping[str, str], ...], path: str, engine: Engine):
    with pytest.raises(InvalidInput) as refused:
        engine.owner.write.add(SPACE, [Draft(content="x", anchors=anchors)])
    assert [problem.path for problem in refused.value.problems] == [path]


def test_names_are_screened_and_hashes_are_not(engine: Engine):
    with pytest.raises(SensitiveContent) as refused:
        cite(engine, "github_pat_11AAAAAAA0abcdefghijkl")
    assert [problem.path for problem in refused.value.problems] == ["$.anchors[0].path"]
    cite(engine, "a.py", blob="0f" * 32, commit="1e" * 20)


def test_a_path_within_its_repository_finds_the_one_document_that_ends_with_it(engine: Engine):
    put(engine, {"web/src/app.py": APP, "web/one/same.py": APP, "web/two/same.py": APP})
    cited = cite(engine, "src/app.py:get", "same.py")
    found = engine.owner.read.get(SPACE, cited).memory.anchors
    assert [one["path"] for one in found] == ["web/src/app.py", "same.py"]
