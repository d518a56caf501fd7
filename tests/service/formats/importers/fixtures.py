"""Small files of other systems, written from their schemas, with the expected result of importing each."""

import base64
import json
import struct
from collections.abc import Mapping, Sequence
from typing import Any

from tests.service.formats.importers.chats import CHATS
from tests.service.formats.importers.making import Fixture, archive, database, folder, json_of, lines, text
from tests.service.formats.importers.notes import NOTES

ZAPOMNI_EDGE = "an edge of a memory"


def zapomni_memory(id_: str, content: str, **more: object) -> Mapping[str, object]:
    """A node of a memory, with the properties that Zapomni 0.7 gives it."""
    properties = {"id": id_, "text": content, "tags": [], "source": "", "metadata": "{}", "workspace_id": "default",
                  "created_at": DAY, "stale": False, "last_seen_at": DAY, "file_path": "", **more}  # fmt: skip
    return {"id": id_, "labels": ["Memory"], "properties": properties}


def zapomni_chunk(id_: str, content: str, index: int) -> Mapping[str, object]:
    """A node of a chunk, with a vector of the 768 dimensions that Zapomni demands."""
    properties = {"id": id_, "text": content, "index": index, "workspace_id": "default", "embedding": [0.61234] * 768}
    return {"id": id_, "labels": ["Chunk"], "properties": properties}


def zapomni_edge(source: str, target: str, kind: str, index: int) -> Mapping[str, object]:
    return {"id": f"{source}-{target}", "source": source, "target": target, "type": kind,
            "properties": {"index": index}}  # fmt: skip


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
MEM0_MESSAGES = """CREATE TABLE messages (id TEXT PRIMARY KEY, session_scope TEXT, role TEXT, content TEXT, name TEXT,
    created_at DATETIME)"""
MCP_MEMORY_SERVICE = """CREATE TABLE memories (id INTEGER PRIMARY KEY, content_hash TEXT UNIQUE NOT NULL,
    content TEXT NOT NULL, tags TEXT, memory_type TEXT, metadata TEXT, created_at REAL, updated_at REAL,
    created_at_iso TEXT, updated_at_iso TEXT, deleted_at REAL DEFAULT NULL);
    CREATE TABLE memory_graph (source_hash TEXT, target_hash TEXT, similarity REAL, connection_types TEXT)"""
MEMORG = ";".join(
    f"CREATE TABLE {table} (id TEXT PRIMARY KEY, data TEXT, created_at TEXT, updated_at TEXT)"
    for table in ("sessions", "conversations", "topics", "exchanges")
)
ROOT = "00000000-0000-4000-8000-000000000000"
DAY = "2025-03-01T09:30:00.0000000Z"


def vipune_row(id_: str, content: str, **fields: Any) -> dict[str, Any]:
    return {
        "id": id_, "project_id": "acme/web", "content": content, "metadata": None, "embedding": VECTOR,
        "created_at": "2025-03-01T09:30:00Z", "updated_at": "2025-03-02T09:30:00Z", "memory_type": "fact",
        "status": "active", "superseded_by": None, "retrieval_count": 0, "last_retrieved_at": None, **fields,
    }  # fmt: skip


def claude_message(uuid: str, parent: str, sender: str, text: str, second: int) -> dict[str, Any]:
    return {
        "uuid": uuid, "parent_message_uuid": parent, "sender": sender, "text": text, "content": [], "attachments": [],
        "created_at": f"2025-03-01T09:30:{second:02}Z",
    }  # fmt: skip


def chatgpt_node(id_: str, parent: str | None, role: str, text: str, *, hidden: bool = False) -> dict[str, Any]:
    return {
        "id": id_, "parent": parent, "children": [], "message": {
            "id": id_, "author": {"role": role}, "create_time": 1714560000.5, "weight": 1.0, "recipient": "all",
            "content": {"content_type": "text", "parts": [text]},
            "metadata": {"is_visually_hidden_from_conversation": hidden}},
    }  # fmt: skip


FIXTURES: Sequence[Fixture] = (
    Fixture(
        "zakira", "zakira.db",
        database(ZAKIRA, {
            "memories": [
                ("rules", "deploy", "We deploy on Fridays", "Anna", "Fewer incidents", '["topic:release"]',
                 '{"ticket": "QX-991"}', DAY, DAY, None),
                ("rules", "style", "Tabs are not used", None, None, None, "{broken", DAY, DAY, b"\0" * 1536),
                ("empty", "one", "", None, None, None, None, DAY, DAY, None),
            ]
        }),
        ["We deploy on Fridays", "Tabs are not used"],
        failed=1,
    ),
    Fixture(
        "vipune", "export.jsonl",
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
        "vipune", "older-header.jsonl",
        lines({"type": "export", "version": 1, "rows": 1}, vipune_row("a-1", "The other spelling")),
        ["The other spelling"],
    ),
    Fixture(
        "vipune", "memories.db",
        database(VIPUNE, {
            "memories": [
                ("a", "p", "From the database", None, '{"a": 1}', DAY, DAY, "preference", "active", None, 3, DAY),
                ("b", "p", "No longer so", None, None, DAY, DAY, "fact", "deprecated", None, 0, None),
            ]
        }),
        ["From the database", "No longer so"],
    ),
    Fixture(
        "vipune", "projects.db",
        database(
            VIPUNE + "ALTER TABLE memories ADD COLUMN importance TEXT; ALTER TABLE memories ADD COLUMN pinned_by TEXT;",
            {
                "memories": [
                    ("v-1", "acme/web-app", "The web app deploys on Tuesdays", b"\0" * 8, '{"team": "platform"}',
                     "2025-01-11T09:30:00Z", "2025-01-12T09:30:00Z", "procedure", "candidate", None, 7,
                     "2025-01-13T09:30:00Z", "high", "Petra"),
                    ("v-2", "other/proj", "The other project deploys by hand", b"\0" * 8, "{torn-metadata",
                     "not-a-time", "2025-01-15T09:30:00Z", "ritual", "archived", "v-9", 2, "2025-01-16T09:30:00Z",
                     "urgent", None),
                    ("v-3", "other/proj", "Deploys went by fax", b"\0" * 8, None, "2025-01-17T09:30:00Z",
                     "2025-01-18T09:30:00Z", "fact", "superseded", "v-2", 0, None, "low", None),
                ]
            },
        ),
        ["The web app deploys on Tuesdays", "The other project deploys by hand", "Deploys went by fax"],
    ),
    Fixture(
        "mcp-memory", "memory.jsonl",
        lines(
            {"type": "entity", "name": "Anna", "entityType": "person", "observations": ["Drinks tea", "Is in Turku"]},
            {"type": "entity", "name": "Turku", "entityType": "city", "observations": []},
            {"type": "relation", "from": "Anna", "to": "Turku", "relationType": "lives_in"},
            {"type": "relation", "from": "Anna", "relationType": "dangles"},
            {"type": "relation", "from_entity": "Anna", "to_entity": "Acme", "relationType": "works_at"},
            {"type": "entity", "name": "Acme", "entityType": "firm", "observations": [
                {"text": "Builds boats", "timestamp": DAY, "weight": 2}, {"odd": 1}]},
        ),
        ["Drinks tea", "Is in Turku", "Turku (city)", "Anna lives in Turku", "Anna works at Acme", "Builds boats",
         '{"odd":1}'],
        failed=1,
    ),
    Fixture(
        "mcp-memory", "read_graph.json",
        json_of({
            "entities": [{"name": "Bo", "entityType": "person", "observations": ["Likes jazz"]}],
            "relations": [{"from": "Bo", "to": "Jazz", "relationType": "plays"}],
        }),
        ["Likes jazz", "Bo plays Jazz"],
    ),
    Fixture(
        "mem0", "export.json",
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
        "mem0", "list.jsonl",
        lines(
            {"id": "m7", "memory": "In lines", "user_id": "olli"}, {"id": "m8", "memory": "One a line", "role": "user"}
        ),
        ["In lines", "One a line"],
    ),
    Fixture(
        "mem0", "list.json",
        json_of([{"id": "m1", "memory": "In a plain list", "user_id": "u", "created_at": "2024-05-01"}]),
        ["In a plain list"],
    ),
    Fixture(
        "mem0", "mem0-export-project-2026-01-01.md",
        text(
            "---\nid: 1\ncreated_at: 2026-01-01\ntype: fact\ncategories: a, b\n---\nFirst\n---\nwith a line inside\n\n"
            "---\nid: 2\ncreated_at: 2026-01-02\n---\nSecond\n"
        ),
        ["First\n---\nwith a line inside", "Second"],
    ),
    Fixture(
        "mem0", "history.db",
        database(MEM0_HISTORY, {
            "history": [
                ("1", "a", None, "Lives in Oulu", "ADD", DAY, None, 0, None, "user"),
                ("2", "a", "Lives in Oulu", "Lives in Turku", "UPDATE", DAY, DAY, 0, None, "user"),
                ("3", "b", None, "Gone", "ADD", DAY, None, 0, None, None),
                ("4", "b", "Gone", None, "DELETE", DAY, None, 1, None, None),
            ]
        }),
        ["Lives in Turku"],
        {"deleted there": 1},
    ),
    Fixture(
        "mem0", "history-with-messages.db",
        database(f"{MEM0_HISTORY}; {MEM0_MESSAGES}", {
            "history": [("1", "a", None, "Lives in Espoo", "ADD", DAY, None, 0, None, "user")],
            "messages": [
                ("msg-1", "user_id=anna", "user", "I moved to Espoo", "Anna", "2025-06-01T08:00:00Z"),
                ("msg-2", "user_id=anna", "assistant", "How is it there?", None, "2025-06-01T08:00:05Z"),
                ("msg-3", "user_id=olli", "user", "", None, "2025-06-02T08:00:00Z"),
            ],
        }),
        ["Lives in Espoo", "I moved to Espoo", "How is it there?", "I moved to Espoo", "mem0"],
        {"no text": 1},
    ),
    Fixture(
        "mcp-memory-service", "export-with-tags.json",
        json_of({
            "export_metadata": {"source_machine": "m", "total_memories": 3, "exporter_version": "1.0"},
            "memories": [
                {"content": "Uses uv for Python", "content_hash": "a1", "tags": ["python"], "memory_type": "note",
                 "created_at": 1714560000.5, "updated_at": 1714560001.0, "metadata": {"project": "x"},
                 "export_source": "laptop"},
                {"content": "Prefers tabs", "content_hash": "a2", "tags": "style, editors", "created_at": 1.7e9},
                {"content_hash": "a3"},
            ],
        }),
        ["Uses uv for Python", "Prefers tabs"],
        failed=1,
    ),
    Fixture(
        "mcp-memory-service", "chroma-backup.json",
        json_of({
            "timestamp": "20250301", "total_memories": 1,
            "memories": [{"id": "c1", "document": "From the older store", "metadata": {"tags": '["old"]',
                          "created_at": 1714560000}, "embedding": [0.1]}],
        }),
        ["From the older store"],
    ),
    Fixture(
        "mcp-memory-service", "sqlite_vec.db",
        database(MCP_MEMORY_SERVICE, {
            "memories": [
                (1, "h1", "Deploys are on Mondays", "ops,deploy", "note", '{"a": 1}', 1.0, 1.0,
                 "2025-03-01T09:30:00Z", "2025-03-01T09:30:00Z", None),
                (2, "h2", "Forgotten", "", None, None, 1.0, 1.0, None, None, 2.0),
            ]
        }),
        ["Deploys are on Mondays"],
        {"deleted there": 1},
    ),
    Fixture(
        "mcp-memory-service", "counted.json",
        json_of({
            "export_metadata": {"source_machine": "laptop-7", "total_memories": 1, "include_embeddings": True},
            "memories": [
                {"content": "Often asked for", "content_hash": "hash-9", "tags": ["python"], "memory_type": "reference",
                 "created_at": "someday", "updated_at": 1714560101.0, "embedding": [0.1], "export_source": "laptop-7",
                 "metadata": {"access_count": 9, "last_accessed_at": 1714560202.0, "quality_score": 0.71,
                              "tags": ["inner"]}},
            ],
        }),
        ["Often asked for"],
    ),
    Fixture(
        "letta", "agent.af",
        json_of({
            "agents": [{
                "id": "agent-0", "name": "Sam", "system": "You are Sam", "block_ids": ["block-0"], "tags": [],
                "messages": [
                    {"id": "message-0", "role": "system", "content": [{"type": "text", "text": "You are Sam"}]},
                    {"id": "message-1", "role": "user", "content": [{"type": "text", "text": "I live in Oulu"}],
                     "created_at": "2025-05-01T10:00:00Z"},
                    {"id": "message-2", "role": "assistant", "content": "Noted.", "created_at": "2025-05-01T10:00:01Z"},
                    "noise",
                ],
            }],
            "groups": [], "blocks": [
                {"id": "block-0", "label": "human", "value": "Name: Anna", "limit": 5000, "description": "The user"},
                {"id": "block-1", "label": "notes", "value": ""},
            ],
            "files": [], "sources": [], "tools": [], "metadata": {"revision_id": "r1"}, "created_at": DAY,
        }),
        ["Name: Anna", "I live in Oulu", "Noted.", "Sam", "letta"],
        {"an empty block": 1, "not said by user or assistant": 1},
        failed=1,
    ),
    Fixture(
        "letta", "older-in-a-string.af",
        lines(json.dumps(json.dumps({
            "agent_type": "memgpt_agent", "core_memory": [{"label": "persona", "value": "I am kind", "limit": 2000}],
            "messages": [{"role": "user", "text": "Hello", "created_at": DAY}],
        }))),
        ["I am kind", "Hello", "agent", "letta"],
    ),
    Fixture(
        "claude", "data-export.zip",
        archive({
            "conversations.json": json.dumps([
                {"uuid": "c1", "name": "Trip", "created_at": DAY, "updated_at": DAY, "account": {"uuid": "u"},
                 "summary": "A trip in May was planned", "project_uuid": "p1",
                 "chat_messages": [
                     claude_message("m1", ROOT, "human", "Where to in May?", 1),
                     claude_message("m2", "m1", "assistant", "Turku, perhaps", 2),
                     claude_message("m3", "m1", "assistant", "Porvoo is pretty in May", 3),
                     claude_message("m4", "m3", "human", "", 4), {"sender": "human", "text": "No uuid"},
                 ]},
            ]),
            "projects/p1.json": json.dumps({
                "uuid": "p1", "name": "Garden", "description": "Plans", "prompt_template": "Answer in metres",
                "docs": [{"uuid": "document-uuid-1", "filename": "soil.md", "content": "Clay", "created_at": DAY}],
            }),
            "memories.json": json.dumps([
                {"conversations_memory": "**Work**\nWrites Python\n\n**Home**\nHas a cat", "account_uuid": "u",
                 "project_memories": {"p1": "Grows beans"}},
            ]),
            "users.json": json.dumps([{"uuid": "u", "full_name": "Anna"}]),
        }),
        ["Where to in May?", "Porvoo is pretty in May", "Plans", "Answer in metres", "Clay", "**Work**\nWrites Python",
         "**Home**\nHas a cat", "Grows beans", "Trip", "A trip in May was planned", "claude"],
        {"of a branch that was left": 1, "no text": 1, "no conversations, projects or memories": 1},
        failed=1,
    ),
    Fixture(
        "claude", "conversations.json",
        json_of([{"uuid": "c9", "name": "", "chat_messages": [
            {"uuid": "m9", "sender": "human", "text": "", "created_at": DAY, "content": [
                {"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "In a block"}]},
        ]}]),
        ["In a block", "In a block", "claude"],  # the message is the title too
    ),
    Fixture(
        "chatgpt", "chatgpt-export.zip",
        archive({
            "conversations-000.json": json.dumps([
                {"title": "Tea", "conversation_id": "g1", "current_node": "n4", "mapping": {
                    "n0": {"id": "n0", "parent": None, "children": ["n1"], "message": None},
                    "n1": chatgpt_node("n1", "n0", "system", "", hidden=True),
                    "n2": chatgpt_node("n2", "n1", "user", "Which tea?"),
                    "n3": chatgpt_node("n3", "n2", "assistant", "Coffee"),
                    "n4": chatgpt_node("n4", "n2", "assistant", "Green tea"),
                }},
                {"title": "Secret", "conversation_id": "g2", "is_do_not_remember": True, "mapping": {}},
            ]),
            "conversations-001.json": json.dumps([
                {"title": "You", "conversation_id": "g3", "current_node": "k1", "mapping": {
                    "k0": {"id": "k0", "parent": None, "children": ["k1"], "message": {
                        "id": "k0", "author": {"role": "user"}, "content": {
                            "content_type": "user_editable_context", "user_profile": "I bake",
                            "user_instructions": "Be brief"}}},
                    "k1": chatgpt_node("k1", "k0", "user", "Bread?"),
                }},
                {"title": "No messages"},
            ]),
            "chat.html": "<html></html>",
        }),
        ["Which tea?", "Green tea", "I bake\n\nBe brief", "Bread?", "Tea", "You", "chatgpt"],
        {"not said by user or assistant": 1, "not to be remembered": 1, "no conversations": 1},
        failed=1,
    ),
    Fixture(
        "chatgpt", "conversations.json",
        json_of([{"title": "Plain", "id": "g9", "mapping": {"a": chatgpt_node("a", None, "user", "In a plain file")}}]),
        ["In a plain file", "Plain", "chatgpt"],
    ),
    Fixture(
        "zep", "graphiti_dump.json",
        json_of({
            "episodes": [{"uuid": "e1", "name": "chat", "group_id": "g", "source": "message", "valid_at": DAY,
                          "content": "Anna: I moved", "source_description": "chat", "created_at": DAY}],
            "nodes": [{"uuid": "n1", "name": "Anna", "labels": ["Entity", "Person"], "summary": "Lives in Turku"},
                      {"uuid": "n2", "name": "Turku", "labels": ["Entity"], "summary": ""}],
            "edges": [
                {"uuid": "f1", "source_node_uuid": "n1", "target_node_uuid": "n2", "name": "LIVES_IN",
                 "fact": "Anna lives in Turku", "valid_at": DAY, "episodes": ["e1"], "fact_embedding": [0.1]},
                {"uuid": "f2", "source_node_uuid": "n1", "target_node_uuid": "n3", "name": "LIVES_IN",
                 "fact": "Anna lives in Oulu", "invalid_at": DAY},
                {"uuid": "f3", "fact": None},
            ],
        }),
        ["Anna: I moved", "Anna: I moved", "zep", "Anna: Lives in Turku", "Turku",
         "Anna lives in Turku", "Anna lives in Oulu"],
        failed=1,
    ),
    Fixture(
        "cogx", "archive_cogx",
        folder({
            "manifest.json": '{"cogx_version": "0.1", "source_system": "mem0", "counts": {"memory": 1}}',
            "memories.jsonl": '{"kind": "memory", "external_id": "m1", "content": "Likes skiing", '
                              '"categories": ["sport"], "scope": {"user_id": "anna"}}\n{"kind": "memory"}\n',
            "entities.jsonl": '{"kind": "entity", "external_id": "x1", "name": "Anna", "entity_type": "person"}',
            "facts.jsonl": '{"kind": "fact", "external_id": "f1", "subject_ref": "x1", "predicate": "works_at", '
                           '"object_ref": "Acme", "valid_at": "2025-01-01T00:00:00Z"}',
            "episodes.jsonl": '{"kind": "episode", "external_id": "t1", "title": "Chat", "turns": '
                              '[{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]}',
            "documents.jsonl": '{"kind": "document", "external_id": "d1", "content": "A manual", "title": "Manual"}',
            "memory_blocks.jsonl": '{"kind": "memory_block", "external_id": "b1", "label": "human", "value": "Anna"}',
            "nodes.jsonl": "{}",
        }),
        ["Likes skiing", "Anna (person)", "Anna works at Acme", "Hello", "Hi", "A manual", "Anna",
         "Chat", "cogx"],
        {"graph nodes as they are stored there": 1},
        failed=1,
    ),
    Fixture(
        "memorg", "memorg.db",
        database(MEMORG, {
            "topics": [("t1", json.dumps({"id": "t1", "title": "Boats", "exchanges": [{"id": "x1"}]}), DAY, DAY)],
            "exchanges": [
                ("x1", json.dumps({"id": "x1", "user_message": {"raw_content": "Which boat?"},
                                   "system_message": {"raw_content": "A dinghy"}}), DAY, DAY),
                ("x2", json.dumps({"id": "x2", "user_message": {"raw_content": "And?"},
                                   "system_message": {"raw_content": ""}}), DAY, DAY),
                ("x3", "{torn", DAY, DAY),
            ],
        }),
        ["Which boat?\n\nA dinghy", "And?", "Boats", "Boats", "memorg"],
        failed=1,
    ),
    Fixture(
        "memorg", "full.db",
        database(MEMORG, {
            "sessions": [("ses-1", json.dumps({
                "id": "ses-1", "user_id": "anna-7", "system_config": {"tone": "friendly"},
                "conversations": [{"id": "con-1", "title": "Spring plans"}], "metadata": {"client": "terminal"},
                "created_at": "2025-02-01T08:00:00", "updated_at": "2025-02-01T08:01:00"}), DAY, DAY)],
            "conversations": [("con-1", json.dumps({
                "id": "con-1", "title": "Spring plans", "summary": "They planned the spring",
                "topics": [{"id": "top-1", "title": "Painting"}], "embedding": [0.25],
                "metadata": {"mood": "calm"}, "created_at": "2025-02-02T08:00:00",
                "updated_at": "2025-02-02T08:01:00"}), DAY, DAY)],
            "topics": [("top-1", json.dumps({
                "id": "top-1", "title": "Painting", "summary": "Which paint the hull needs",
                "exchanges": [{"id": "exc-1"}], "embedding": [0.25],
                "key_entities": [{"name": "Hull", "type": "OBJECT", "salience": 0.61, "metadata": {"k": "hull-1"}}],
                "metadata": {"phase": "planning"}, "created_at": "2025-02-03T08:00:00",
                "updated_at": "2025-02-03T08:01:00"}), DAY, DAY)],
            "exchanges": [("exc-1", json.dumps({
                "id": "exc-1", "importance_score": 0.83, "embedding": [0.25], "metadata": {"channel": "voice"},
                "user_message": {"raw_content": "Which paint for the hull?", "embedding": [0.25],
                                 "parsed_content": {
                                     "entities": [{"name": "Paint", "type": "PRODUCT", "salience": 0.93,
                                                   "metadata": {"k": "paint-1"}}],
                                     "intents": ["ask-advice"], "sentiment": {"curious": 0.37}}},
                "system_message": {"raw_content": "Two coats of epoxy", "embedding": [0.25], "parsed_content": {
                    "entities": [{"name": "Epoxy", "type": "PRODUCT", "salience": 0.44}], "intents": ["advise"],
                    "sentiment": {"sure": 0.58}}},
                "view_count": 12, "favorite_count": 4, "created_at": "2025-02-04T08:00:00",
                "updated_at": "2025-02-04T08:01:00"}), DAY, DAY)],
        }),
        ["They planned the spring", "Which paint the hull needs", "Which paint for the hull?\n\nTwo coats of epoxy",
         "Painting", "Spring plans", "ses-1"],
    ),
    Fixture(
        "memorg", "nested.db",
        database(MEMORG, {
            "sessions": [("ses-2", json.dumps({
                "id": "ses-2", "user_id": "olli-3", "conversations": [{
                    "id": "con-2", "title": "Harbour", "topics": [
                        {"id": "top-2", "title": "Ropes", "exchanges": [{"id": "exc-2"}, {"id": "exc-4"}],
                         "summary": "Ropes were compared"},
                        {"id": "top-3", "title": "Sails", "exchanges": [{"id": "exc-3"}, {"id": "exc-5"}]}]}]}),
                DAY, DAY)],
            "exchanges": [
                (f"exc-{number}", json.dumps({
                    "id": f"exc-{number}", "user_message": {"raw_content": asked},
                    "system_message": {"raw_content": answered}}), DAY, DAY)
                for number, asked, answered in (
                    (2, "Which rope is strong?", "Dyneema is"), (3, "Who mends sails?", "The sailmaker in Hanko"),
                    (4, "And which is cheap?", "Polypropylene"), (5, "", "The loft opens in May"), (6, "", ""),
                    (7, "Nobody knows where this belongs", None))
            ],
        }),
        ["Which rope is strong?\n\nDyneema is", "Who mends sails?\n\nThe sailmaker in Hanko", "The loft opens in May",
         "And which is cheap?\n\nPolypropylene", "Nobody knows where this belongs", "Ropes", "Ropes were compared",
         "Sails", "Harbour", "ses-2"],
        {"no text": 1},
    ),
    Fixture(
        "zapomni", "graph.json",
        json_of({
            "nodes": [
                {"id": "z1", "labels": ["Memory"], "properties": {
                    "id": "z1", "text": "The pier is closed", "tags": ["harbour"], "source": "notes",
                    "metadata": '{"lang": "en"}', "workspace_id": "default", "created_at": DAY, "stale": False}},
                {"id": "z2", "labels": ["Chunk"], "properties": {"id": "z2", "text": "The pier", "index": 0}},
                {"id": "z3", "labels": ["Entity"], "properties": {"id": "z3", "name": "Pier", "type": "PLACE",
                                                                "description": "Wooden", "confidence": 0.9}},
                {"id": "z4", "labels": ["Entity"], "properties": {"id": "z4", "name": "Harbour", "type": "PLACE"}},
                {"id": "z5", "labels": ["Memory"], "properties": {"id": "z5"}},
            ],
            "edges": [
                {"id": "r1", "source": "z1", "target": "z2", "type": "HAS_CHUNK", "properties": {}},
                {"id": "r2", "source": "z3", "target": "z4", "type": "PART_OF", "properties": {"strength": 0.8}},
            ],
            "metadata": {"node_count": 5},
        }),
        ["The pier is closed", "Pier: Wooden", "Harbour (PLACE)", "Pier part of Harbour"],
        {ZAPOMNI_EDGE: 1, "the only chunk": 1},
        failed=1,
    ),
    Fixture(
        "zapomni", "chunks.json",
        json_of({
            "nodes": [
                zapomni_memory("m1", "Buoys are painted red. Lamps are lit at dusk.  Boats wait outside.",
                               file_path="/srv/log/buoys.md", tags=["coast"], access_count=3),
                *(zapomni_chunk(f"c{number}", text, number) for number, text in enumerate((
                    "Buoys are painted red. Lamps are", "Lamps are lit at dusk.", "Boats wait outside."))),
                zapomni_memory("m2", "Whole", workspace_id="default"), zapomni_chunk("c4", "Whole", 0),
                zapomni_memory("m3", "Rewritten as it was cut", file_path="/srv/log/buoys.md", is_current=False),
                zapomni_chunk("c5", "not a part", 0), zapomni_chunk("c6", "of the text", 1),
                zapomni_chunk("c7", "Nobody's", 0), zapomni_memory("m4", ""),
                zapomni_chunk("c8", "Ropes are tarred", 0), zapomni_chunk("c9", "are tarred in spring", 1),
                {"id": "e1", "labels": ["Entity"], "properties": {"id": "e1", "name": "Buoy", "type": "THING"}},
            ],
            "edges": [
                *(zapomni_edge(memory, chunk, "HAS_CHUNK", index) for memory, chunk, index in (
                    ("m1", "c1", 1), ("m1", "c0", 0), ("m1", "c2", 2), ("m2", "c4", 0), ("m3", "c5", 0),
                    ("m3", "c6", 1), ("m4", "c8", 0), ("m4", "c9", 1))),
                {"id": "r9", "source": "c0", "target": "e1", "type": "MENTIONS", "properties": {"count": 1}},
            ],
            "metadata": {"node_count": 15},
        }),
        ["buoys.md", "Buoys are painted red. Lamps are", "Lamps are lit at dusk.  ", "Boats wait outside.", "Whole",
         "buoys.md (m3)", "Rewritten as it was cut", "m4", "Ropes are tarred", "are tarred in spring", "Buoy (THING)"],
        {"a vector of another model": 9, ZAPOMNI_EDGE: 9,
         "the only chunk": 1, "a chunk without a memory": 1},
    ),
    Fixture(
        "zapomni", "workspaces.json",
        json_of({
            "nodes": [
                {"id": "n1", "labels": ["Memory"], "properties": {
                    "id": "mem-1", "text": "The lighthouse is lit at dusk", "tags": ["coast"], "source": "log-book",
                    "metadata": '{"lang": "fi", "tags": ["extra-tag"], "source": "inner-source"}',
                    "workspace_id": "coast-guard", "created_at": "2025-04-01T08:00:00Z", "stale": True,
                    "updated_at": "2025-04-02T08:00:00Z", "access_count": 6, "last_accessed": "2025-04-03T08:00:00Z",
                    "file_path": "log/april.md"}},
                {"id": "n2", "labels": ["Memory"], "properties": {
                    "id": "mem-2", "text": "The pilots meet on Mondays", "tags": "crew", "metadata": "torn{",
                    "workspace_id": "pilots", "created_at": "once-upon"}},
                {"id": "n3", "labels": ["Entity"], "properties": {
                    "id": "ent-1", "name": "Lighthouse", "type": "BUILDING", "description": "White", "confidence": 0.87,
                    "workspace_id": "coast-guard", "created_at": "2025-04-04T08:00:00Z",
                    "updated_at": "2025-04-05T08:00:00Z"}},
                {"id": "n4", "labels": ["Entity"], "properties": {
                    "id": "ent-2", "name": "Keeper", "type": "PERSON", "workspace_id": "coast-guard"}},
            ],
            "edges": [
                {"id": "rel-1", "source": "n1", "target": "n3", "type": "MENTIONS", "properties": {}},
                {"id": "rel-2", "source": "n4", "target": "n3", "type": "TENDS", "properties": {
                    "strength": 0.79, "context": "every night", "created_at": "2025-04-06T08:00:00Z"}},
            ],
        }),
        ["The lighthouse is lit at dusk", "The pilots meet on Mondays", "Lighthouse: White", "Keeper (PERSON)",
         "Keeper tends Lighthouse"],
        {ZAPOMNI_EDGE: 1},
    ),
    Fixture(
        "hazina", "full",
        folder({
            "d.metadata.json": json.dumps({
                "Id": "doc-4", "OriginalPath": "/docs/d.pdf", "MimeType": "application/pdf", "Size": 50321,
                "Created": "2025-05-01T08:00:00Z", "Modified": "2025-05-02T08:00:00Z",
                "CustomMetadata": {"team": "sailing", "review": {"by": "Olli"}}, "IsBinary": True,
                "Summary": "On sails", "Tags": ["sails", "cloth"], "SearchableText": "Sails are mended in winter",
                "Checksum": "c0ffee"}),
            "e.metadata.json": json.dumps({
                "Id": "doc-5", "Summary": "Only a summary", "Created": "last-week", "CustomMetadata": "kept-as-text"}),
        }),
        ["Sails are mended in winter", "Only a summary"],
    ),
    Fixture(
        "hazina", "metadata",
        folder({
            "a.metadata.json": json.dumps({
                "Id": "a", "OriginalPath": "/docs/a.txt", "MimeType": "text/plain", "Size": 5, "Created": DAY,
                "CustomMetadata": {"team": "core"}, "IsBinary": False, "Summary": "On keys", "Tags": ["keys"],
                "SearchableText": "Keys turn every year"}),
            "b.metadata.json": json.dumps({"Id": "b", "IsBinary": True, "SearchableText": None}),
            "c.metadata.json": '{"Id": ', "embeddings.json": "{}",
        }),
        ["Keys turn every year"],
        {"no text": 1, "a file of vectors": 1},
        failed=1,
    ),
    Fixture(
        "hazina", "store",
        folder({
            "metadata/docs_sails.md.metadata.json": json.dumps({
                "Id": "docs/sails.md", "OriginalPath": "", "MimeType": "text/markdown", "Size": 61, "Created": DAY,
                "CustomMetadata": {"FileName": "sails.md"}, "IsBinary": False, "Summary": None, "Tags": ["sails"],
                "SearchableText": None}),
            "metadata/note.metadata.json": json.dumps({
                "Id": "note", "MimeType": "text/plain", "Size": 5, "Created": DAY, "CustomMetadata": {},
                "Summary": "On ropes", "Tags": [], "SearchableText": "Ropes"}),
            "metadata/torn.metadata.json": json.dumps({"Id": "torn", "MimeType": "text/plain", "Tags": []}),
            "parts/chunks.json": json.dumps({
                "docs/sails.md": ["docs/sails.md.metadata", "docs/sails.md chunk 1", "docs/sails.md chunk 0"],
                "note": ["note.metadata", "note"],
                "torn": ["torn.metadata", "torn chunk 0", "torn chunk 1"],
                "bare.txt": ["bare.txt"]}),
            "docs/sails.md.metadata": "Document ID: docs/sails.md",
            "docs/sails.md chunk 0": "# Sails\nThey are mended in winter.",
            "docs/sails.md chunk 1": "They are hung in spring.", "note.metadata": "Document ID: note",
            "note": "Ropes are tarred.", "torn chunk 0": "Half of it", "bare.txt": "Without metadata",
            "embeddings/embeddings.json": json.dumps([
                {"Key": "note", "Checksum": "0ddba11", "Data": [0.61234, 0.61235]},
                {"Key": "bare.txt", "Checksum": "0ddba12", "Data": [0.61236]}]),
            "tag_relevance/_index.json": "{}",
            "chats/chats.json": json.dumps([
                {"Id": "chat-1", "Name": "On mending", "Modified": "2025-05-02T08:00:00Z", "Created": DAY,
                 "LastUpdated": "2025-05-03T08:00:00Z", "IsPinned": True, "ProjectId": "sailing",
                 "LastMessagePreview": "In winter."},
                {"Id": "chat-2", "Name": "Empty"}]),
            "chats/chat-1.json": json.dumps([
                {"Role": "System", "Text": "Be brief", "Payload": None, "Attachments": None},
                {"Role": "User", "Text": "When are sails mended?", "Payload": None, "Attachments": [
                    {"FileName": "sail.png", "FileUrl": "/files/sail.png", "MimeType": "image/png", "FileSize": 12}]},
                {"Role": 2, "Text": "In winter.", "Payload": {"kind": "reply"}},
                {"Role": "Assistant", "Text": "", "Payload": {"card": "Winter"}}]),
            "chats/chat-1_uploads/sail.png": "PNG",
        }),
        ["sails.md", "# Sails\nThey are mended in winter.\n", "They are hung in spring.", "note", "Ropes are tarred.",
         "bare.txt", "Without metadata", "On mending", "When are sails mended?", "In winter.", '{"card":"Winter"}',
         "sailing"],
        {"a vector of another model": 2, "scores of tags": 1,
         "an empty chat": 1, "not said by user or assistant": 1, "an attachment": 1},
        failed=1,
    ),
    Fixture(
        "basic-memory", "notes",
        folder({
            "people/Anna.md": "---\ntitle: Anna\ntype: person\ntags: [team]\npermalink: people/anna\n"
                              "created: 2025-03-01\n---\n# Anna\n\nWorks with us.\n\n## Observations\n"
                              "- [habit] Drinks tea #drinks (since 2020)\n- [ ] Ask about lunch\n\n## Relations\n"
                              '- works_at [[Acme]] (part time)\n- "based in" [[Turku]]\n',
            "Torn.md": "---\ntitle: [Torn\npermalink: torn\n---\nText\n",
            "Twin.md": "---\ntitle: Twin\npermalink: torn\n---\nOther text\n- [habit] Rows\n",
        }),
        ["# Anna\n\nWorks with us.\n\n- [ ] Ask about lunch", "Drinks tea #drinks", "Anna works at Acme",
         "Anna based in Turku", "[Torn\n\nText", "Twin\n\nOther text", "Rows"],
    ),
    *CHATS,
    *NOTES,
    Fixture(
        "mem0", "categories.json",
        json_of([{"id": "m1", "memory": "Likes tea", "user_id": "anna", "categories": ["food", "drinks"]}]),
        ["Likes tea"],
    ),
    Fixture(
        "mcp-memory", "without-types.jsonl",
        lines({"name": "Anna", "entityType": "person", "observations": ["Drinks tea", {"content": "Rows", "by": "Bo"}]},
              {"from": "Anna", "to": "Turku", "relationType": "lives_in"}, {"type": "note", "name": "x"}),
        ["Drinks tea", "Rows", "Anna lives in Turku"],
        failed=1,
    ),
    Fixture(
        "memorg", "custom.db",
        database(f"{MEMORG}; CREATE TABLE custom_memory (id TEXT, data TEXT, created_at TEXT, updated_at TEXT)", {
            "custom_memory": [
                ("k1", json.dumps({"id": "k1", "type": "document", "content": "Tar smells", "metadata": {"a": "b"},
                                   "importance_score": 0.9, "parent_id": "t1", "tags": ["boats"], "embedding": [0.1]}),
                 DAY, DAY),
                ("k2", "{}", DAY, DAY),
            ]
        }),
        ["Tar smells"],
        failed=1,
    ),
    Fixture("json", "texts.json", json_of(["Plays the flute", "Sails on Sundays", 7]),
            ["Plays the flute", "Sails on Sundays"], failed=1),
    Fixture(
        "json", "objects.json",
        json_of([
            {"id": 1, "text": "Plays the flute", "tags": "music, home", "type": "preference", "created_at": 1714560000},
            {"id": "2", "content": "Sails on Sundays", "text": "", "category": "sport", "key": "sunday",
             "author": "Ann", "importance": "high", "valid_from": "2024-05-01", "valid_to": "soon",
             "metadata": {"boat": "Vega"}, "mood": "glad", "type": "hobby"},
            {"content": "Bakes rye bread", "text": "Rye", "event_at": "2025-03-01T09:30:00Z"},
            {"id": "4", "title": "no text"},
        ]),
        ["Plays the flute", "Sails on Sundays", "Bakes rye bread"],
        failed=1,
    ),
    Fixture("json", "texts.jsonl", lines('"Plays the flute"', '"Sails on Sundays"'),
            ["Plays the flute", "Sails on Sundays"]),
    Fixture("json", "objects.jsonl", lines({"text": "Plays the flute"}, {"text": "Sails on Sundays", "reason": "wind"}),
            ["Plays the flute", "Sails on Sundays"]),
    Fixture("json", "one.json", json_of({"text": "Plays the flute", "tags": ["music"]}), ["Plays the flute"]),
    Fixture("json", "by-id.json", json_of({"music": "Plays the flute", "sport": {"text": "Sails on Sundays"}}),
            ["Plays the flute", "Sails on Sundays"]),
    Fixture(
        "obsidian", "Vault",
        folder({
            ".obsidian/app.json": "{}",
            "Boats/Dinghy.md": "---\ntags:\n  - boats\naliases: [Small boat]\ndate: 2025-03-01\n---\n"
                               "Leaks at the stern, see [[Repairs|the list]] #todo/spring %%not for others%%\n",
            "Repairs.md": "# Repairs\n\n- [ ] Tar\n", "Templates/Day.md": "{{date}}", "map.canvas": '{"nodes": []}',
            "Alias.md": "---\na: &x [1]\nb: *x\n---\nText",
        }),
        ["Dinghy\n\nLeaks at the stern, see [[Repairs|the list]] #todo/spring", "# Repairs\n\n- [ ] Tar",
         "Alias\n\nText"],
        {"no Markdown": 1, "a template": 1},
    ),
    Fixture(
        "obsidian", "Vault.zip", archive({"Vault/Note.md": "In an archive", "Vault/.obsidian/app.json": "{}"}),
        ["Note\n\nIn an archive"],
    ),
    Fixture(
        "markdown", "from-muisti",
        folder({
            "rules/deploy.md": "---\nmuisti: 0197a3c0-5f4e-7000-8000-000000000001\ncategory: rules\nkey: deploy\n"
                               "type: procedure\ntags: [ops]\ncreated_at: 2025-03-01T09:30:00Z\naliases: [D]\n---\n\n"
                               "We deploy on Tuesdays\n",
            "Mine.md": "Written beside them", "wrong.md": "---\nmuisti: not-an-id\n---\n\nText\n",
        }),
        ["We deploy on Tuesdays", "Mine\n\nWritten beside them"],
        failed=1,
    ),
)  # fmt: skip
