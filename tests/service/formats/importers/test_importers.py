"""Every importer stores the contents of its files once, and names the bad parts."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from muisti.core.engine import Engine
from muisti.core.model.errors import InvalidInput, NotFound
from muisti.service.cli.commands.transfer import SYSTEMS
from muisti.service.formats.importers.items import Failed, Item, Unreadable, lines_of
from muisti.service.formats.importers.registry import IMPORTERS, Reading, recognised
from muisti.service.formats.importers.rules import statements_of
from muisti.service.formats.importers.source_files import Source
from tests.core.fakes import Clock, WordEncoder
from tests.service.formats.importers.bringing import bring, listed
from tests.service.formats.importers.fixtures import FIXTURES, Fixture
from tests.service.formats.importers.table import PAGE, row
from tests.stores import at


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with Engine(at(tmp_path_factory.mktemp("importers") / "muisti.db").open(), WordEncoder(), Clock()) as opened:
        yield opened


@pytest.fixture
def space(engine: Engine, request: pytest.FixtureRequest) -> Iterator[str]:
    engine.spaces.create("here")
    yield "here"
    engine.spaces.delete("here")


def made(fixture: Fixture, folder: Path) -> Path:
    path = folder / fixture.name
    fixture.make(path)
    return path


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda fixture: fixture.id)
def test_what_a_file_holds_comes_in_and_nothing_the_second_time(
    engine: Engine, space: str, fixture: Fixture, tmp_path: Path
):
    path = made(fixture, tmp_path)
    before = path.read_bytes() if path.is_file() else b""
    assert recognised(Source(path)) == fixture.system
    if fixture.failed:
        with pytest.raises(InvalidInput, match=r"line \d+ \("):
            bring(engine, path, space)
        assert engine.owner.read.stats(space).versions == 0
    report, reading = bring(engine, path, space, atomic=not fixture.failed)
    stored = [memory for memory in listed(engine, space)]
    assert sorted(stored) == sorted(fixture.texts)
    assert (report.created, report.failed, report.skipped) == (
        len(fixture.texts), fixture.failed, dict(fixture.skipped)
    )  # fmt: skip
    assert all(bad.place for bad in report.failures)
    seq = engine.spaces.get(space).seq
    again, _ = bring(engine, path, space, atomic=not fixture.failed)
    left = {**report.skipped, "exists": report.created}
    assert (again.created, again.skipped, again.import_id) == (0, left, None)
    written = PAGE.read_text("utf-8").splitlines()
    assert row(fixture, reading, report, again) in written, "run `python -m tests.service.formats.importers`"
    assert engine.spaces.get(space).seq == seq and (path.read_bytes() if path.is_file() else b"") == before


def test_the_command_line_offers_every_importer():
    assert set(SYSTEMS) == {"muisti", *IMPORTERS}
    assert {fixture.system for fixture in FIXTURES} == set(IMPORTERS)


def items(name: str, folder: Path) -> dict[str, Item]:
    """Return the items that an importer reads from a fixture, by their texts."""
    fixture = next(one for one in FIXTURES if one.id == name)
    found = IMPORTERS[fixture.system].read(Source(made(fixture, folder)))
    return {one.memory["content"]: one for one in found if isinstance(one, Item)}


def test_a_message_knows_its_conversation_and_who_said_it(tmp_path: Path):
    found = items("claude data-export.zip", tmp_path)
    asked, answered = (found[text].memory for text in ("Where to in May?", "Porvoo is pretty in May"))
    assert (asked["kind"], asked["conversation"], asked["turn"]) == ("exchange", "c1", 1)
    assert (answered["turn"], answered["author"], answered["source_class"]) == (2, "assistant", "model")
    assert answered["event_at"] == "2025-03-01T09:30:03+00:00" and asked["source_class"] == "user"
    talk = found["Trip"].memory
    assert (talk["kind"], talk["conversation"], talk["session"]) == ("conversation", "c1", "claude")
    assert (talk["structure"]["users"], talk["metadata"]) == (["user"], {"project": "p1"})
    told = found["A trip in May was planned"]
    assert (told.memory["structure"]["of"], told.memory["structure"]["up_to"], told.sources) == (
        "conversation", 2, ["m1", "m3"]
    )  # fmt: skip
    chat = items("chatgpt chatgpt-export.zip", tmp_path)
    assert [chat[text].memory["turn"] for text in ("Which tea?", "Green tea")] == [1, 2]
    assert chat["I bake\n\nBe brief"].memory["type"] == "preference"


def test_what_a_note_says_line_by_line_belongs_to_it(tmp_path: Path):
    found = items("basic-memory notes", tmp_path)
    observed, related = found["Drinks tea #drinks"], found["Anna works at Acme"]
    assert observed.parent == related.parent == "people/anna"
    assert (observed.place, observed.memory["tags"]) == ("people/Anna.md:13", ["habit", "drinks", "team"])
    assert observed.memory["metadata"]["context"] == "since 2020" and related.rest == {"context": "part time"}


def test_a_fact_that_holds_no_longer_is_deprecated(tmp_path: Path):
    found = items("zep graphiti_dump.json", tmp_path)
    past, present = found["Anna lives in Oulu"], found["Anna lives in Turku"]
    assert (past.memory["status"], past.memory["valid_to"]) == ("deprecated", "2025-03-01T09:30:00+00:00")
    assert (present.memory["status"], present.memory["event_at"]) == ("active", "2025-03-01T09:30:00+00:00")
    assert (present.memory["valid_from"], present.memory["valid_to"]) == ("2025-03-01T09:30:00+00:00", None)
    assert present.memory["tags"] == ["Anna", "Turku"]


def test_times_in_text_go_before_numbers(tmp_path: Path):
    found = items("mcp-memory-service sqlite_vec.db", tmp_path)
    assert found["Deploys are on Mondays"].memory["created_at"] == "2025-03-01T09:30:00+00:00"


def test_an_id_that_comes_with_another_text_brings_another_memory_each_time(engine: Engine, space: str, tmp_path: Path):
    path = tmp_path / "list.json"
    for number, text in enumerate(("Ann likes tea", "Bob plays chess", "Ann likes tea", "Cleo sails"), start=1):
        path.write_text(json.dumps([{"id": "1", "memory": text}, {"id": str(number + 1), "memory": f"Line {number}"}]))
        bring(engine, path, space, system="mem0")
        report, _ = bring(engine, path, space, system="mem0")
        assert (report.created, report.skipped) == (0, {"exists": 2})
    lines_of_all = [f"Line {number}" for number in range(1, 5)]
    assert sorted(listed(engine, space)) == sorted(["Ann likes tea", "Bob plays chess", "Cleo sails", *lines_of_all])


def test_a_memory_is_found_by_the_id_that_it_had(engine: Engine, space: str, tmp_path: Path):
    bring(engine, made(next(one for one in FIXTURES if one.id == "vipune export.jsonl"), tmp_path), space, atomic=False)
    old = "22222222-2222-4222-8222-222222222222"
    assert engine.owner.read.get(space, old).memory.content == "New rule"
    with pytest.raises(NotFound):
        engine.owner.read.get(space, old.replace("2", "9"))


STRUCTURES = (None, True, 7, ["a", None], {"a": True, "b": [None, "c"]}, [{"a": 1}])
REPR = re.compile(r"""[\[{(]['"]?\w*'|': |\bNone\b|\bTrue\b|\bFalse\b|b'""")


def with_structures(value: object, chance: Random) -> object:
    """Return a JSON value in which some texts and numbers are other structures."""
    if isinstance(value, dict):
        return {name: with_structures(one, chance) for name, one in value.items()}
    if isinstance(value, list):
        return [with_structures(one, chance) for one in value]
    return chance.choice(STRUCTURES) if chance.random() < 0.15 else value


@pytest.mark.parametrize("fixture", [one for one in FIXTURES if one.name.endswith((".json", ".jsonl", ".af"))],
                         ids=lambda fixture: fixture.id)  # fmt: skip
def test_no_structure_becomes_text_as_python_writes_it(fixture: Fixture, tmp_path: Path):
    path, chance = made(fixture, tmp_path), Random(5)
    whole = path.read_text("utf-8")
    for _ in range(25):
        rows = [whole] if not fixture.name.endswith(".jsonl") else whole.splitlines()
        path.write_text("\n".join(json.dumps(with_structures(_parsed(row), chance)) for row in rows), "utf-8")
        reading = Reading(Source(path), fixture.system, each=True)
        with suppress(Unreadable):
            for found in reading.found():
                told = [found.message] if isinstance(found, Failed) else _stored(found, fixture.system)
                assert not any(map(REPR.search, told)), told


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _stored(item: Item, system: str) -> list[str]:
    """Return what is stored of an item, as text: its JSON has no single quotes, unless a text has them."""
    return [json.dumps(json.loads(line).get("memory"), ensure_ascii=False) for line in lines_of(item, system, "here")]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Before a release:\n\n- Run the tests\n- Tag it\n\nThen rest.", [
            (3, "Before a release: Run the tests"), (4, "Before a release: Tag it"), (6, "Then rest."),
        ]),
        ("Run:\n\n```sh\nmake\n\n# all\n```\n\nDone.", [(1, "Run:\n\n```sh\nmake\n\n# all\n```"), (9, "Done.")]),
        ("# Title\n## A\n### B\n* one\n## C\ntwo\nlines\n", [(4, "B: one"), (6, "C: two\nlines")]),
        ("1. first\n2. second\n   more\n\n   still second\n\n---\nlast", [
            (1, "first"), (2, "second\n   more\n\n   still second"), (8, "last"),
        ]),
        ("<!-- never\nthis -->\n- [x] that", [(3, "that")]),
        ("```\nnever closed\n- no item", [(1, "```\nnever closed\n- no item")]),
        ("", []), ("---\na: 1\n---\n", []), ("Only this:", []),
    ],
)  # fmt: skip
def test_rules_are_cut_into_statements(text: str, wanted: list[tuple[int, str]]):
    assert [(one.line, one.whole) for one in statements_of(text)[1]] == wanted
