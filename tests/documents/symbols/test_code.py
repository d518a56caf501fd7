"""Symbols of a space: found, with their callers and callees, and right after every change of its documents."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from muisti.core.conversations.context.counting import counter
from muisti.core.documents.symbols.indexing import CodeIndex
from muisti.core.documents.symbols.reading import Code
from muisti.core.engine import Engine
from muisti.core.identity.caller import Caller
from muisti.core.model.errors import InvalidInput, NotFound, StoreUnavailable
from muisti.core.model.spaces import CONTENT_ONLY
from muisti.core.parsing.code.grammars import language_of
from muisti.core.parsing.code.reading import read, resolve_all
from muisti.core.store.database import Database, Statement
from muisti.core.write.calls import Calls
from tests.core.fakes import SPACE, Clock
from tests.documents.symbols.repository import FILES, called, delete, put
from tests.stores import Stores


@pytest.fixture
def stored(engine: Engine) -> Engine:
    put(engine, FILES)
    return engine


def edges(engine: Engine, space: str = SPACE) -> set[tuple[str, ...]]:
    """All edges of a space, as the answers about each symbol tell them."""
    kinds = ("calls", "inherits", "references")
    code = engine.owner.code
    found: set[tuple[str, ...]] = set()
    symbols = [one for name in "aeinostu" for one in code.find(space, name, limit=200).items]
    for one in {(one.path, one.qualified) for one in symbols}:
        for use in code.callers(space, ":".join(one), kinds=kinds, limit=1000).items:
            user = use.symbol.qualified if use.symbol else ""
            found |= {(use.kind, use.path, user, *one, str(line)) for line in use.lines}
    return found


def expected(files: Mapping[str, str]) -> set[tuple[str, ...]]:
    """Resolve the edges from the files alone."""
    records = {path: read(path, text, language_of(path) or "") for path, text in files.items()}
    found = set()
    for path, one in resolve_all(records.values()).items():
        for edge in one.edges:
            scope = edge.scope
            while scope >= 0 and not records[path].definitions[scope].name:
                scope = records[path].definitions[scope].parent
            user = records[path].definitions[scope].qualified if scope >= 0 else ""
            if edge.name:
                found.add((edge.kind, path, user, edge.path, edge.name, str(edge.line)))
    return found


def test_symbols_are_found_by_name_by_end_and_by_part(stored: Engine):
    find = stored.owner.code.find
    assert [one.qualified for one in find(SPACE, "Client.get").items] == ["Client.get"]
    assert [one.qualified for one in find(SPACE, "client").items] == ["Client"]
    assert [one.qualified for one in find(SPACE, "fetch").items] == ["fetchAll"]
    assert [one.doc for one in find(SPACE, "app/client.py:Client").items] == ["Sends requests."]
    assert find(SPACE, "main.py:Client").items == ()
    assert find(SPACE, "Client", kind="function").items == ()
    assert find(SPACE, "a", limit=1).total > 1
    with pytest.raises(NotFound, match="nothing_here"):
        stored.owner.code.callers(SPACE, "nothing_here")
    with pytest.raises(InvalidInput, match="kind"):
        stored.owner.code.callers(SPACE, "Client", kinds=["calls", "likes"])  # type: ignore[list-item]


def test_a_map_keeps_its_budget_and_is_about_what_is_mentioned(stored: Engine):
    whole = stored.owner.code.map(SPACE, token_budget=1000)
    assert whole.symbols == whole.of_symbols > 5
    assert whole.tokens == counter().count(whole.text)
    for budget in (64, 70, 80):
        small = stored.owner.code.map(SPACE, token_budget=budget)
        assert 0 < small.tokens <= budget
        assert small.tokens == counter().count(small.text)
    assert "fetchAll" in stored.owner.code.map(SPACE, token_budget=64, mentioned=["fetchAll"]).text
    assert "web/index.ts" in stored.owner.code.map(SPACE, token_budget=64, mentioned=["web"]).text


CHANGES: list[dict[str, str | None]] = [
    {"app/tools.py": "def helper2(x):\n    return x\n"},  # an export changes its name
    {"app/tools.py": "\n\n\ndef helper(x):\n    return x\n"},  # only lines change
    {"c/other.c": "int far(int x) { return 2; }\n"},  # a name is no longer the only one
    {"c/util.c": "int near(int x) { return x; }\n"},
    {"app/base.py": None},
    {"app/base.py": FILES["app/base.py"]},  # it comes again
    {"web/fetch.ts": None, "web/fetch/index.ts": FILES["web/fetch.ts"]},
    {"app/__init__.py": "from app.tools import helper as Client\n"},  # a re-export changes what it means
    {"app/__init__.py": None},
    {"app/client.py": FILES["app/client.py"].replace("helper(url)", "self.close()\n\n    def close(self): ...")},
]


def test_after_every_change_the_edges_are_those_of_the_files(stored: Engine):
    files = dict(FILES)
    for change in CHANGES:
        for path, text in change.items():
            if text is None:
                del files[path]
                delete(stored, path)
            else:
                files[path] = text
                put(stored, {path: text})
        assert edges(stored) == expected(files), change


def test_only_what_a_change_concerns_is_resolved_again(stored: Engine):
    resolve = stored.owner.code.resolve
    first = resolve(SPACE)
    assert (first.read, first.resolved) == (len(FILES), len(FILES))
    assert resolve(SPACE).resolved == 0
    put(stored, {"app/tools.py": "\ndef helper(x):\n    y = 1\n    return x\n"})
    assert resolve(SPACE).resolved == 1  # nothing that others see has changed
    put(stored, {"app/tools.py": "def other(x):\n    return x\n"})
    again = resolve(SPACE)
    assert 2 <= again.resolved < len(FILES)
    assert again.dropped == 1


def test_a_change_of_settings_is_resolved_again(stored: Engine):
    put(stored, {"web/app.ts": "import { fetchAll } from '@/fetch'\nexport const go = () => fetchAll(2)\n"})
    assert called(stored, "fetchAll") == ["web/index.ts:start"]
    put(stored, {"tsconfig.json": '{"compilerOptions": {"paths": {"@/*": ["./web/*"]}}}'})
    assert called(stored, "fetchAll") == ["web/app.ts:go", "web/index.ts:start"]
    put(stored, {"tsconfig.json": '{"compilerOptions": {"paths": {"@/*": ["./none/*"]}}}'})
    assert called(stored, "fetchAll") == ["web/index.ts:start"]
    put(stored, {"tsconfig.json": '{"compilerOptions": {"paths": {"@/*": ["./web/*"]}}}'})
    assert called(stored, "fetchAll") == ["web/app.ts:go", "web/index.ts:start"]
    delete(stored, "tsconfig.json")
    assert called(stored, "fetchAll") == ["web/index.ts:start"]


def test_a_key_of_a_category_sees_its_own_code(stored: Engine):
    put(stored, {"secret.py": "def hidden():\n    return helper()\n\n\ndef helper(): ...\n"}, category="secret")
    acme = stored.seen_by(Caller("acme", "secret")).code
    assert [one.path for one in acme.find(SPACE, "helper").items] == ["secret.py"]
    assert "app" not in acme.map(SPACE).text
    with pytest.raises(NotFound):
        acme.callers(SPACE, "Client.get")
    with pytest.raises(NotFound):
        acme.outline(SPACE, "main.py")
    assert called(stored, "app/tools.py:helper") == ["app/client.py:Client.get"]


def test_a_fork_has_edges_of_its_own(stored: Engine):
    stored.owner.code.resolve(SPACE)
    stored.owner.timeline.fork(SPACE, "copy")
    assert edges(stored, "copy") == expected(FILES)
    put(stored, {"main.py": "x = 1\n"}, space="copy")
    assert called(stored, "Client.get", "copy") == []
    assert called(stored, "Client.get") == ["main.py:run"]


def test_a_rollback_brings_edges_back(stored: Engine):
    stored.owner.timeline.create_checkpoint(SPACE, "before")
    delete(stored, "main.py")
    assert called(stored, "Client.get") == []
    stored.owner.timeline.roll_back(SPACE, "before")
    assert called(stored, "Client.get") == ["main.py:run"]
    assert edges(stored) == expected(FILES)


class ReadOnly:
    """A database that takes no writes."""

    def __init__(self, database: Database) -> None:
        self.read = database.read

    def write(self, _: Sequence[Statement]) -> Any:
        raise StoreUnavailable("the disk is full")


def test_a_question_says_what_a_database_without_writes_leaves_out(stores: Stores):
    database = stores().open()
    with Engine(database, None, Clock()) as engine:
        engine.spaces.create(SPACE, CONTENT_ONLY)
        put(engine, {"a.py": "def one(): ...\n"})
        engine.owner.code.resolve(SPACE)
        put(engine, {"b.py": "def two(): ...\n"})
        held: Any = ReadOnly(database)
        reader = Code(calls=Calls(Caller(), Clock()), database=held, index=CodeIndex(held))
        found = reader.find(SPACE, "one", limit=5)
        assert (found.total, found.pending) == (1, 1)
        (told,) = found.degraded
        assert "1 source files are not resolved" in told and "the disk is full" in told
        with pytest.raises(NotFound, match="takes no writes: the disk is full"):
            reader.callers(SPACE, "two", limit=5)
        assert engine.owner.code.find(SPACE, "two").degraded == ()


def test_cells_of_a_notebook_are_read_where_they_are(engine: Engine):
    notebook = "# Sails\n\n```python\n%time\nfrom tools import helper\n\ndef sail(n):\n    return helper(n)\n```\n\n"
    put(engine, {"tools.py": FILES["app/tools.py"], "nb.ipynb": f"{notebook}```\nhelper(3)\n```\n"})
    (use,) = engine.owner.code.callers(SPACE, "helper").items
    assert (use.path, use.lines, use.symbol and use.symbol.qualified) == ("nb.ipynb", (8,), "sail")
