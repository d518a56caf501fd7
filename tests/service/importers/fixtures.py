"""Small files of other systems, written from their schemas: what each holds, and what must come of it."""

import base64
import json
import sqlite3
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Make = Callable[[Path], None]


@dataclass(frozen=True)
class Fixture:
    """A file of a system. `texts` are the contents that must come in; `skipped` and `failed` count the rest."""

    system: str
    name: str
    make: Make
    texts: Sequence[str]
    skipped: Mapping[str, int] = field(default_factory=dict[str, int])
    failed: int = 0

    @property
    def id(self) -> str:
        return f"{self.system} {self.name}"

    @property
    def rows(self) -> int:
        return len(self.texts) + sum(self.skipped.values()) + self.failed


def json_of(value: object) -> Make:
    return lambda path: path.write_text(json.dumps(value, ensure_ascii=False), "utf-8") and None


def lines(*values: object) -> Make:
    text = "\n".join(one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in values)
    return lambda path: path.write_text(text, "utf-8") and None


def text(content: str) -> Make:
    return lambda path: path.write_text(content, "utf-8") and None


def database(script: str, rows: Mapping[str, Sequence[Sequence[Any]]]) -> Make:
    def make(path: Path) -> None:
        with sqlite3.connect(path) as connection:
            connection.executescript(script)
            for table, values in rows.items():
                marks = ",".join("?" * len(values[0]))
                connection.executemany(f"INSERT INTO {table} VALUES ({marks})", values)
        connection.close()

    return make


VECTOR = base64.b64encode(struct.pack("<384f", *([0.0] * 384))).decode()
ZAKIRA = """CREATE TABLE memories (category TEXT NOT NULL, key TEXT NOT NULL, data TEXT NOT NULL, author TEXT,
    reason TEXT, tags TEXT, custom TEXT, created_at TEXT NOT NULL, last_modified_at TEXT NOT NULL, embedding BLOB,
    PRIMARY KEY (category, key));
    CREATE VIRTUAL TABLE memories_fts USING fts5(category, key, data);"""
VIPUNE = """CREATE TABLE memories (id TEXT PRIMARY KEY, project_id TEXT NOT NULL, content TEXT NOT NULL, embedding BLOB,
    metadata TEXT, created_at TEXT NOT NULL, updated_at TEXT NOT NULL, type TEXT, status TEXT, superseded_by TEXT,
    retrieval_count INTEGER, last_retrieved_at TEXT); PRAGMA user_version = 5;"""
MEM0_HISTORY = """CREATE TABLE history (id TEXT PRIMARY KEY, memory_id TEXT, old_memory TEXT, new_memory TEXT,
    event TEXT, created_at DATETIME, updated_at DATETIME, is_deleted INTEGER, actor_id TEXT, role TEXT)"""
DAY = "2025-03-01T09:30:00.0000000Z"


def vipune_row(id_: str, content: str, **fields: Any) -> dict[str, Any]:
    return {
        "id": id_, "project_id": "acme/web", "content": content, "metadata": None, "embedding": VECTOR,
        "created_at": "2025-03-01T09:30:00Z", "updated_at": "2025-03-02T09:30:00Z", "memory_type": "fact",
        "status": "active", "superseded_by": None, "retrieval_count": 0, "last_retrieved_at": None, **fields,
    }  # fmt: skip


FIXTURES: Sequence[Fixture] = (
    Fixture(
        "zakira",
        "zakira.db",
        database(
            ZAKIRA,
            {
                "memories": [
                    ("rules", "deploy", "We deploy on Fridays", "Anna", "Fewer incidents", '["topic:release"]',
                     '{"ticket": "QX-991"}', DAY, DAY, None),
                    ("rules", "style", "Tabs are not used", None, None, None, "{broken", DAY, DAY, b"\0" * 1536),
                    ("empty", "one", "", None, None, None, None, DAY, DAY, None),
                ]
            },
        ),
        ["We deploy on Fridays", "Tabs are not used"],
        failed=1,
    ),
    Fixture(
        "vipune",
        "export.jsonl",
        lines(
            {"type": "export", "format_version": 1, "embedding_dims": 384, "model_id": "bge-small", "rows": 4},
            vipune_row("11111111-1111-4111-8111-111111111111", "Old rule", status="superseded",
                       superseded_by="22222222-2222-4222-8222-222222222222"),
            vipune_row("22222222-2222-4222-8222-222222222222", "New rule", metadata='{"team": "core"}',
                       memory_type="procedure", retrieval_count=7),
            vipune_row("33333333-3333-4333-8333-333333333333", "Perhaps", status="candidate", memory_type="guess"),
            {"id": "44444444-4444-4444-8444-444444444444"},
        ),
        ["Old rule", "New rule", "Perhaps"],
        failed=1,
    ),
    Fixture(
        "vipune",
        "older-header.jsonl",
        lines({"type": "export", "version": 1, "rows": 1}, vipune_row("a-1", "The other spelling")),
        ["The other spelling"],
    ),
    Fixture(
        "vipune",
        "memories.db",
        database(
            VIPUNE,
            {
                "memories": [
                    ("a", "p", "From the database", None, '{"a": 1}', DAY, DAY, "preference", "active", None, 3, DAY),
                    ("b", "p", "No longer so", None, None, DAY, DAY, "fact", "deprecated", None, 0, None),
                ]
            },
        ),
        ["From the database", "No longer so"],
    ),
    Fixture(
        "mcp-memory",
        "memory.jsonl",
        lines(
            {"type": "entity", "name": "Anna", "entityType": "person", "observations": ["Drinks tea", "Is in Turku"]},
            {"type": "entity", "name": "Turku", "entityType": "city", "observations": []},
            {"type": "relation", "from": "Anna", "to": "Turku", "relationType": "lives_in"},
            {"type": "relation", "from": "Anna", "relationType": "dangles"},
        ),
        ["Drinks tea", "Is in Turku", "Turku (city)", "Anna lives in Turku"],
        failed=1,
    ),
    Fixture(
        "mcp-memory",
        "read_graph.json",
        json_of({
            "entities": [{"name": "Bo", "entityType": "person", "observations": ["Likes jazz"]}],
            "relations": [{"from": "Bo", "to": "Jazz", "relationType": "plays"}],
        }),
        ["Likes jazz", "Bo plays Jazz"],
    ),
    Fixture(
        "mem0",
        "export.json",
        json_of({
            "memories": [],
            "results": [
                {"id": "m1", "memory": "Likes black tea", "hash": "x", "user_id": "anna", "metadata": {"a": 1},
                 "categories": ["food"], "created_at": "2024-05-01T10:00:00-07:00", "updated_at": None,
                 "expiration_date": "2024-06-01"},
                {"id": "m2", "memory": "Likes coffee", "replaced_by": "m1", "created_at": 1714560000},
                {"id": "m3", "memory": None},
            ],
        }),
        ["Likes black tea", "Likes coffee"],
        failed=1,
    ),
    Fixture(
        "mem0",
        "list.json",
        json_of([{"id": "m1", "memory": "In a plain list", "user_id": "u", "created_at": "2024-05-01"}]),
        ["In a plain list"],
    ),
    Fixture(
        "mem0",
        "mem0-export-project-2026-01-01.md",
        text(
            "---\nid: 1\ncreated_at: 2026-01-01\ntype: fact\ncategories: a, b\n---\nFirst\n---\nwith a line inside\n\n"
            "---\nid: 2\ncreated_at: 2026-01-02\n---\nSecond\n"
        ),
        ["First\n---\nwith a line inside", "Second"],
    ),
    Fixture(
        "mem0",
        "history.db",
        database(
            MEM0_HISTORY,
            {
                "history": [
                    ("1", "a", None, "Lives in Oulu", "ADD", DAY, None, 0, None, "user"),
                    ("2", "a", "Lives in Oulu", "Lives in Turku", "UPDATE", DAY, DAY, 0, None, "user"),
                    ("3", "b", None, "Gone", "ADD", DAY, None, 0, None, None),
                    ("4", "b", "Gone", None, "DELETE", DAY, None, 1, None, None),
                ]
            },
        ),
        ["Lives in Turku"],
        {"deleted there": 1},
    ),
)  # fmt: skip
