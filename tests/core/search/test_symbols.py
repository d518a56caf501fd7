"""A query that names a symbol finds its definition first among chunks; other queries are as before."""

import hashlib

import pytest
from msgspec import UNSET

from muisti.core.documents.model import FileFacts, NewDocument
from muisti.core.documents.view import Cuts, Incoming
from muisti.core.engine import Engine
from muisti.core.parsing.chunking.cutting import cut
from muisti.core.parsing.code.apart import symbol_of
from muisti.core.parsing.pieces import Piece
from muisti.core.query import filters
from muisti.core.query.query import Query
from muisti.core.search.candidates import ALPHA
from tests.core.fakes import SPACE

CALLS = "".join(f"def use{n}(client):\n    return client.send_all(send_all, {n})\n\n\n" for n in range(40))
FILES = {
    "app/calls.py": ("python", CALLS),
    "app/client.py": ("python", "class Client:\n    def send_all(self, items):\n        return [*items]\n"),
    "web/client.ts": ("typescript", "export class Client { sendAll(items: number[]) { return items } }\n"),
    "notes.md": ("en", "Never call send_all of Client twice, send_all is not safe. send_all send_all."),
}


@pytest.fixture
def stored(engine: Engine) -> Engine:
    for path, (language, text) in FILES.items():
        facts = FileFacts(sha256=hashlib.sha256(text.encode()).hexdigest(), size=len(text), language=language)
        code = language != "en"
        piece = Piece(text=text, kind="code" if code else "text", language=language if code else None)
        new = NewDocument(path=path, facts=facts)
        engine.owner.documents.put(SPACE, [Incoming(new=new, cuts=Cuts(cut([piece])))])
    return engine


@pytest.mark.parametrize("query", ["send_all", "Client.send_all", "Client::send_all()", "`Client#send_all`"])
@pytest.mark.parametrize("mode", ["hybrid", "keyword", "semantic"])
def test_a_definition_comes_first_and_says_so(stored: Engine, query: str, mode: str):
    asked = Query(text=query, mode=mode, explain=True, limit=20)  # pyright: ignore[reportArgumentType]
    hits = stored.owner.read.search(SPACE, asked).hits
    chunks = [hit for hit in hits if hit.memory.kind == "chunk"]
    assert chunks[0].memory.document == "app/client.py"
    told = chunks[0].explain
    assert told is not None and told.symbol is not UNSET and told.symbol.name == symbol_of(query)
    assert f"it defines {told.symbol.name}" in told.sentence
    assert told.parts["symbol"] > 0 and sum(told.parts.values()) == pytest.approx(chunks[0].score, abs=1e-12)
    assert chunks[0].score >= told.symbol.above >= max((hit.score for hit in chunks[1:]), default=0)
    assert not any(hit.explain and hit.explain.symbol is not UNSET for hit in chunks[1:])


@pytest.mark.parametrize("query", ["send all items", "client", "send_none", "Client.send_all never twice"])
def test_other_queries_lift_nothing(stored: Engine, query: str):
    hits = stored.owner.read.search(SPACE, Query(text=query, explain=True)).hits
    assert hits and not any(hit.explain and hit.explain.symbol is not UNSET for hit in hits)


def test_a_filter_limits_definitions_too(stored: Engine):
    def found(filter: dict[str, object], text: str = "send_all") -> set[str | None]:
        query = Query(text=text, filter=filters.parse(filter), limit=50)  # pyright: ignore[reportArgumentType]
        return {hit.memory.document for hit in stored.owner.read.search(SPACE, query).hits}

    assert found({"language": "TypeScript"}) == {"web/client.ts"}
    assert found({"language": {"in": ["en", "typescript"]}, "kind": "chunk"}, "Client") == {"web/client.ts", "notes.md"}
    assert found({"defines": "Client.sendAll"}) == {"web/client.ts"}
    assert found({"defines": {"prefix": "Client"}}) == {"web/client.ts", "app/client.py"}
    assert "app/client.py" not in found({"document": {"prefix": "app/calls"}})


def test_an_explanation_has_the_weight_of_meaning_that_a_search_for_code_used(stored: Engine):
    only = filters.parse({"language": {"in": ["python", "typescript"]}})
    hits = stored.owner.read.search(SPACE, Query(text="all items of a client", filter=only, explain=True)).hits
    assert hits and hits[0].explain is not None and hits[0].explain.alpha == ALPHA
    assert sum(hits[0].explain.parts.values()) == pytest.approx(hits[0].score, abs=1e-12)
