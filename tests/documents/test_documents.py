"""Documents, whatever is done with their space: their chunks join to their text, and no chunk is without a document."""

import json
import random
from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.documents import sql
from muisti.core.documents.model import FileFacts, Listed, NewDocument, structure_of
from muisti.core.documents.planning import document_draft
from muisti.core.documents.view import Filter
from muisti.core.engine import Engine
from muisti.core.identity.caller import Caller
from muisti.core.model.errors import Conflict, InvalidInput, MergeConflict, NotFound, SensitiveContent
from muisti.core.model.outcomes import Strategy, Undo
from muisti.core.model.places import DocumentName
from muisti.core.model.values import DOCUMENT_MAX, METADATA_MAX
from muisti.core.parsing.pieces import Cut
from muisti.core.query.points import AsOf
from muisti.core.read.reading import find_space
from tests.core.fakes import Clock, WordEncoder
from tests.documents.made import edited, incoming, new, prose, text_of
from tests.stores import Stores, migrated

SPACE = "default"


@pytest.fixture
def engine(stores: Stores) -> Iterator[Engine]:
    with Engine(migrated(stores()), WordEncoder(), Clock()) as opened:
        yield opened


def whole(engine: Engine, space: str, texts: dict[str, str]) -> None:
    """Check that a space has exactly these documents, each with its text, and no chunk beside them."""
    documents = engine.owner.documents
    page = documents.page(space, Filter(), limit=100)
    assert {one.path for one in page.items} == set(texts)
    for path, text in texts.items():
        assert text_of(documents, space, path) == text
        chunks = documents.chunks(space, DocumentName(name=path), limit=100)
        assert chunks.total == chunks.document.chunks
        assert chunks.document.characters == len(text)
    (((orphans,),),) = engine._database.read([sql.orphans(find_space(engine._database, space))])
    assert orphans == 0


@pytest.mark.parametrize("seed", range(3))
def test_chunks_join_to_the_text_after_edits_and_stay_where_nothing_changed(engine: Engine, seed: int):
    rng, documents = random.Random(seed), engine.owner.documents
    text = prose(rng, 40)
    documents.put(SPACE, [incoming("a.md", text)])
    history = [(text, engine.spaces.get(SPACE).at)]
    for _ in range(12):
        before = {one.memory.id: one for one in documents.chunks(SPACE, DocumentName(name="a.md"), limit=100).items}
        text = edited(rng, text)
        (put,) = documents.put(SPACE, [incoming("a.md", text)]).items
        after = documents.chunks(SPACE, DocumentName(name="a.md"), limit=100).items
        assert text_of(documents, SPACE, "a.md") == text
        assert [one.start for one in after[1:]] == [one.stop for one in after[:-1]]
        same = [one for one in after if one.memory.id in before]
        assert len(same) + put.added == len(after)
        assert put.kept == sum(before[one.memory.id].memory.version == one.memory.version for one in same)
        history.append((text, engine.spaces.get(SPACE).at))
    for then, seq in history:
        _, pieces = documents.text(SPACE, DocumentName(name="a.md"), as_of=AsOf(number=seq.number))
        assert "".join(pieces) == then
    whole(engine, SPACE, {"a.md": text})


def test_what_is_the_same_is_not_written(engine: Engine):
    text = prose(random.Random(1), 20)
    engine.owner.documents.put(SPACE, [incoming("a.md", text, tags=("x",))])
    before = engine.spaces.get(SPACE).at
    stored = engine.owner.documents.put(SPACE, [incoming("a.md", text, tags=("x",))])
    assert (stored.items[0].outcome, engine.spaces.get(SPACE).at) == ("unchanged", before)
    (put,) = engine.owner.documents.put(SPACE, [incoming("a.md", text, tags=("y",))]).items
    assert (put.outcome, put.added, put.kept) == ("updated", 0, 0)
    asked = ((text, ("y",)), (f"{text} Three.", ("y",)), (text, ()))
    known = [engine.owner.documents.unchanged(SPACE, new("a.md", *one[:1], tags=one[1])) is not None for one in asked]
    assert known == [True, False, False]  # before a file is parsed


def test_a_document_moves_without_new_vectors(engine: Engine):
    text = prose(random.Random(2), 20)
    (put,) = engine.owner.documents.put(SPACE, [incoming("a.md", text)]).items
    file = Listed(path="b/c.md", sha256=put.document.sha256)
    encoded: list[int] = []
    encode = WordEncoder.encode
    try:
        WordEncoder.encode = lambda self, texts: (encoded.append(len(texts)), encode(self, texts))[1]  # type: ignore[method-assign]
        done = engine.owner.documents.sync(SPACE, [file], Filter())
    finally:
        WordEncoder.encode = encode  # type: ignore[method-assign]
    assert done.moved == (("a.md", "b/c.md"),)
    assert not sum(encoded)
    whole(engine, SPACE, {"b/c.md": text})


def test_a_large_document_is_visible_in_one_step(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("muisti.core.documents.batches.SMALL", 10)
    rng, documents = random.Random(3), engine.owner.documents
    text, seen = prose(rng, 600), list[int]()

    def alive() -> None:
        seen.append(documents.page(SPACE, Filter()).totals.documents)

    (put,) = documents.put(SPACE, [incoming("big.txt", text)], alive=alive).items
    assert len(seen) > 1
    assert not any(seen)
    assert put.added == put.document.chunks > 500
    for _ in range(3):
        text = edited(rng, text) + prose(rng, 30)
        documents.put(SPACE, [incoming("big.txt", text)])
        assert text_of(documents, SPACE, "big.txt") == text
    assert not engine.owner.read.imports(SPACE)

    def dies() -> None:
        raise InvalidInput.at("$", "enough")

    with pytest.raises(InvalidInput):
        documents.put(SPACE, [incoming("big.txt", prose(rng, 700))], alive=dies)
    assert text_of(documents, SPACE, "big.txt") == text


def test_forks_merges_roll_backs_exports_and_imports_carry_documents(engine: Engine):
    rng, owner = random.Random(4), engine.owner
    texts = {name: prose(rng, 15) for name in ("a.md", "b.md", "c.md")}
    for path, text in texts.items():
        owner.documents.put(SPACE, [incoming(path, text)])
    before = engine.spaces.get(SPACE).at
    lines = [msgspec.json.encode(line) for page in owner.read.export(SPACE, "test").pages() for line in page]
    owner.timeline.fork(SPACE, "try")
    whole(engine, "try", texts)
    changed = {**texts, "a.md": edited(rng, texts["a.md"]), "d.md": prose(rng, 5)}
    for path in ("a.md", "d.md"):
        owner.documents.put("try", [incoming(path, changed[path])])
    owner.documents.delete("try", DocumentName(name="b.md"))
    del changed["b.md"]
    owner.timeline.merge("try", SPACE)
    whole(engine, SPACE, changed)
    owner.timeline.roll_back(SPACE, str(before.number))
    whole(engine, SPACE, texts)
    engine.spaces.create("copy")
    file = owner.write.begin_import("copy")
    file.take(lines)
    file.finish()
    whole(engine, "copy", texts)
    (put,) = owner.documents.put("copy", [incoming("a.md", changed["a.md"])]).items
    assert put.kept
    whole(engine, "copy", {**texts, "a.md": changed["a.md"]})


@pytest.mark.parametrize("strategy", ["ours", "theirs"])
@pytest.mark.parametrize("seed", range(3))
def test_a_merge_takes_documents_whole(engine: Engine, strategy: Strategy, seed: int):
    rng, owner = random.Random(seed), engine.owner
    text = {name: prose(rng, 15) for name in ("a.md", "b.md", "c.md")}
    for path in text:
        owner.documents.put(SPACE, [incoming(path, text[path])])
    owner.timeline.fork(SPACE, "try")
    ours = {**text, "a.md": edited(rng, text["a.md"]), "b.md": edited(rng, text["b.md"])}
    theirs = {**text, "a.md": edited(rng, text["a.md"]), "c.md": edited(rng, text["c.md"])}
    for space, texts in ((SPACE, ours), ("try", theirs)):
        for path in texts:
            owner.documents.put(space, [incoming(path, texts[path])])
    owner.documents.delete("try", DocumentName(name="b.md"))
    with pytest.raises(MergeConflict):
        owner.timeline.merge("try", SPACE)
    owner.timeline.merge("try", SPACE, strategy)
    expected = {"c.md": theirs["c.md"]} | (
        {"a.md": theirs["a.md"]} if strategy == "theirs" else {"a.md": ours["a.md"], "b.md": ours["b.md"]}
    )
    whole(engine, SPACE, expected)


def test_an_undo_takes_back_whole_documents(engine: Engine):
    caller = Caller("Ann", None, request="r1")
    text = prose(random.Random(5), 12)
    engine.seen_by(caller).documents.put(SPACE, [incoming("a.md", text)])
    later = edited(random.Random(6), text)
    engine.seen_by(Caller("Ann", None, request="r2")).documents.put(SPACE, [incoming("a.md", later)])
    with pytest.raises(Conflict, match="without some of its chunks; take back the whole request"):
        engine.seen_by(Caller("Ann", None)).write.undo(SPACE, Undo(last=1))
    engine.owner.write.undo(SPACE, Undo(request="r2", last=100))
    whole(engine, SPACE, {"a.md": text})
    engine.owner.write.undo(SPACE, Undo(request="r1", last=100))
    whole(engine, SPACE, {})


def test_categories_have_documents_of_their_own(engine: Engine):
    mine, theirs = engine.seen_by(Caller("a", "red")), engine.seen_by(Caller("b", "blue"))
    mine.documents.put(SPACE, [incoming("a.md", "Red one. Red two.")])
    theirs.documents.put(SPACE, [incoming("a.md", "Blue one. Blue two.")])
    assert text_of(mine.documents, SPACE, "a.md") == "Red one. Red two."
    assert text_of(theirs.documents, SPACE, "a.md") == "Blue one. Blue two."
    with pytest.raises(Conflict):
        engine.owner.documents.get(SPACE, DocumentName(name="a.md"))
    theirs.documents.sync(SPACE, [], Filter())
    assert text_of(mine.documents, SPACE, "a.md") == "Red one. Red two."
    with pytest.raises(NotFound):
        theirs.documents.get(SPACE, DocumentName(name="a.md"))


def test_the_policy_of_a_space_holds_for_chunks(engine: Engine):
    text = "We begin here. The password is hunter2secret9 today. We end here."
    with pytest.raises(SensitiveContent):
        engine.owner.documents.put(SPACE, [incoming("a.md", text)])
    with pytest.raises(NotFound):
        engine.owner.documents.get(SPACE, DocumentName(name="a.md"))
    engine.spaces.create("loose")
    engine.spaces.set_policy("loose", {"secrets": "redact"})
    engine.owner.documents.put("loose", [incoming("a.md", text)])
    stored = text_of(engine.owner.documents, "loose", "a.md")
    assert "hunter2secret9" not in stored
    assert stored.startswith("We begin here. The password is [redacted")
    assert stored.endswith("We end here.")


def test_many_documents_are_stored_all_or_none(engine: Engine):
    good, bad = incoming("a.md", "One. Two."), incoming("../b.md", "One. Two.")
    with pytest.raises(InvalidInput):
        engine.owner.documents.put(SPACE, [good, bad])
    whole(engine, SPACE, {})
    with pytest.raises(InvalidInput):
        engine.owner.documents.put(SPACE, [good, good])


@pytest.mark.one_store
@given(st.lists(st.text(max_size=50), max_size=40), st.integers(1, 2_000))
def test_names_of_any_length_fit_into_a_structure(names: list[str], times: int):
    long = [name * times for name in names]
    cut = Cut(text="x", headings=tuple(long), symbol="".join(long), defines=tuple(long), language="".join(long))
    facts = FileFacts(sha256="", size=0, title="".join(long), language="".join(long), notes=tuple(long))
    draft = document_draft(NewDocument(path="a", facts=facts), None)
    for said in (structure_of(cut), draft.structure):
        assert len(json.dumps(said, ensure_ascii=False).encode("utf-8", "surrogatepass")) <= METADATA_MAX
    assert len(draft.content) <= DOCUMENT_MAX
    short = Cut(text="x", headings=tuple(name[:200] for name in names[:3]))
    assert structure_of(short).get("headings", []) == list(short.headings)
