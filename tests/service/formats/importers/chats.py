"""Small files of programs in which people and agents talk, and of Notion."""

import json
from collections.abc import Mapping, Sequence

from tests.service.formats.importers.making import Fixture, archive, database, folder, json_of, lines, text

DAY = "2025-03-01T09:30:00.0000000Z"
PAGE = "0123456789abcdef0123456789abcde"  # of Notion, without its last digit


def transcript(uuid: str, parent: str | None, role: str, content: object, **more: object) -> Mapping[str, object]:
    """A line of Claude Code."""
    return {"parentUuid": parent, "isSidechain": False, "sessionId": "s1", "type": role, "uuid": uuid,
            "message": {"role": role, "content": content}, "timestamp": "2025-03-01T09:30:00.000Z", **more}  # fmt: skip


def rollout(kind: str, payload: object) -> Mapping[str, object]:
    """A line of Codex."""
    return {"timestamp": "2025-03-01T09:30:00.000Z", "type": kind, "payload": payload}


def json_lines(*values: object) -> str:
    return "\n".join(json.dumps(one, ensure_ascii=False) for one in values)


CURSOR = """CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
    CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)"""


def entries(values: Mapping[str, object]) -> Sequence[tuple[str, object]]:
    """Rows of a table of Cursor."""
    return [(key, one if isinstance(one, str) else json.dumps(one)) for key, one in values.items()]


CHATS: Sequence[Fixture] = (
    Fixture(
        "claude-code", "0d2f.jsonl",
        lines(
            {"type": "summary", "summary": "Repair of the mast", "leafUuid": "u4"},
            transcript("u1", None, "user", "Mend the mast", cwd="/home/ann/boat", gitBranch="spring"),
            transcript("u2", "u1", "assistant", [{"type": "thinking", "thinking": "hm"},
                                                 {"type": "text", "text": "Which wood?"}]),
            transcript("u3", "u2", "user", [{"type": "tool_result", "content": "a list of files"}]),
            transcript("u4", "u3", "user", "<command-name>/pick</command-name><command-args>ash wood</command-args>"),
            transcript("u5", "u4", "user", "<local-command-stdout>done</local-command-stdout>"),
            transcript("u6", "u4", "assistant", [{"type": "text", "text": "Look at the hull"}], isSidechain=True),
            transcript("u7", "u4", "user", "Caveat: not said by a person", isMeta=True),
            {"type": "file-history-snapshot", "messageId": "u4"}, "{torn",
        ),
        ["Mend the mast", "Which wood?", "/pick ash wood", "Repair of the mast", "claude-code"],
        {"no text": 2, "of a subagent": 1, "not said by user or assistant": 2},
        failed=1,
    ),
    Fixture(
        "claude-code", "projects",
        folder({
            "-home-ann/a.jsonl": json_lines(transcript("u1", None, "user", "Mend the mast"),
                                            {"type": "custom-title", "customTitle": "Mast"}),
            "-home-ann/b.jsonl": json_lines(transcript("u1", None, "user", "Mend the mast", sessionId="s2"),
                                            transcript("u9", "u1", "user", "And the sail", sessionId="s2")),
            "-home-ann/memory/MEMORY.md": "- ash",
        }),
        ["Mend the mast", "And the sail", "Mast", "And the sail", "claude-code"],
        {"copied from an earlier session": 1, "no transcript": 1},
    ),
    Fixture(
        "codex", "rollout-2025-03-01.jsonl",
        lines(
            rollout("session_meta", {"id": "x1", "timestamp": DAY, "cwd": "/home/ann/boat",
                                     "originator": "codex_cli_rs", "cli_version": "0.46.0",
                                     "git": {"branch": "spring"}}),
            rollout("response_item", {"type": "message", "role": "user", "content": [
                {"type": "input_text", "text": "<environment_context>linux</environment_context>"}]}),
            rollout("response_item", {"type": "message", "role": "user", "content": [
                {"type": "input_text", "text": "Mend the mast"}]}),
            rollout("event_msg", {"type": "user_message", "message": "Mend the mast"}),
            rollout("response_item", {"type": "message", "role": "assistant", "content": [
                {"type": "output_text", "text": "Which wood?"}]}),
            rollout("event_msg", {"type": "token_count"}), "{torn",
        ),
        ["Mend the mast", "Which wood?", "Mend the mast", "codex"],
        {"not said by user or assistant": 4},
        failed=1,
    ),
    Fixture(
        "codex", "older.jsonl",
        lines(
            {"id": "x2", "timestamp": DAY, "instructions": None}, {"record_type": "state"},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Mend the mast"}]},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Which wood?"}]},
            {"type": "function_call", "name": "shell"},
        ),
        ["Mend the mast", "Which wood?", "Mend the mast", "codex"],
        {"not said by user or assistant": 3},
    ),
    Fixture(
        "gemini-cli", "session-2026-03-01.json",
        json_of({
            "sessionId": "g1", "projectHash": "ab12", "startTime": DAY, "lastUpdated": DAY, "summary": "The mast again",
            "kind": "main", "messages": [
                {"id": "m1", "timestamp": "2025-03-01T09:30:00Z", "type": "user",
                 "content": "<hook_context>shown by a hook</hook_context>Mend the mast"},
                {"id": "m2", "timestamp": "2025-03-01T09:30:05Z", "type": "gemini", "model": "gemini-x", "content": [
                    {"text": "pondering", "thought": True}, {"text": "Which wood?"}]},
                {"id": "m3", "timestamp": "2025-03-01T09:30:06Z", "type": "gemini", "content": ""},
                {"id": "m4", "timestamp": "2025-03-01T09:30:07Z", "type": "info", "content": "Update available"}, 7,
            ],
        }),
        ["Mend the mast", "Which wood?", "The mast again", "gemini-cli"],
        {"no text": 1, "not said by user or assistant": 1},
        failed=1,
    ),
    Fixture(
        "gemini-cli", "session-2026-03-02.jsonl",
        lines(
            {"sessionId": "g2", "projectHash": "ab12", "startTime": DAY, "kind": "main"},
            {"id": "m1", "timestamp": "2025-03-01T09:30:00Z", "type": "user", "content": [{"text": "Mend the sail"}]},
            {"id": "m2", "timestamp": "2025-03-01T09:30:05Z", "type": "gemini", "content": "With th"},
            {"id": "m2", "timestamp": "2025-03-01T09:30:05Z", "type": "gemini", "content": "With thread"},
            {"id": "m3", "timestamp": "2025-03-01T09:30:06Z", "type": "user", "content": "Forget that"},
            {"$rewindTo": "m3"}, {"$set": {"summary": "A sail"}}, "{torn",
        ),
        ["Mend the sail", "With thread", "A sail", "gemini-cli"],
        {"of a branch that was left": 2},
        failed=1,
    ),
    Fixture(
        "gemini-cli", "logs.json",
        json_of([
            {"sessionId": "g3", "messageId": 0, "type": "user", "message": "Paint it", "timestamp": DAY},
            {"sessionId": "g4", "messageId": 0, "type": "user", "message": "Sell it", "timestamp": DAY},
        ]),
        ["Paint it", "Paint it", "Sell it", "Sell it", "gemini-cli"],
    ),
    Fixture(
        "cursor", "state.vscdb",
        database(CURSOR, {
            "ItemTable": entries({
                "composer.composerHeaders": {"allComposers": [
                    {"composerId": "c1", "workspaceIdentifier": {"uri": {"fsPath": "/home/ann/boat"}}}]},
                "workbench.panel.aichat.view.aichat.chatdata": {"tabs": [
                    {"tabId": "t1", "chatTitle": "An older chat", "lastSendTime": 1740821400000, "bubbles": [
                        {"type": "user", "id": "o1", "text": "Is oak heavy?"},
                        {"type": "ai", "id": "o2", "rawText": "Heavier than ash"}]}]},
            }),
            "cursorDiskKV": entries({
                "composerData:c1": {
                    "composerId": "c1", "name": "The mast", "createdAt": 1740821400000, "lastUpdatedAt": 1740821460000,
                    "fullConversationHeadersOnly": [
                        {"bubbleId": "b1", "type": 1}, {"bubbleId": "b2", "type": 2}, {"bubbleId": "b3", "type": 2},
                        {"bubbleId": "b4", "type": 1}]},
                "bubbleId:c1:b1": {"bubbleId": "b1", "type": 1, "text": "Mend the mast"},
                "bubbleId:c1:b2": {"bubbleId": "b2", "type": 2, "text": "", "toolFormerData": {"name": "read_file"}},
                "bubbleId:c1:b3": {"bubbleId": "b3", "type": 2, "text": "Which wood?"},
                "bubbleId:c1:b4": "{torn",
                "bubbleId:c1:draft": {"bubbleId": "draft", "type": 1, "text": "Never sent"},
                "composerData:c2": {"composerId": "c2", "createdAt": 1740821400000, "conversation": [
                    {"bubbleId": "b5", "type": 1, "text": "And the sail"}]},
            }),
        }),
        ["Mend the mast", "Which wood?", "The mast", "And the sail", "And the sail", "Is oak heavy?",
         "Heavier than ash", "An older chat", "cursor"],
        {"no text": 1},
        failed=1,
    ),
    Fixture(
        "rules", "AGENTS.md",
        text(
            "---\nglobs: '*.c'\n---\n# Boat\n\nA boat of ash.\n\n## Sails\n\n- Dry them\n  in the loft\n- Never fold"
            " wet\n\n```sh\nhoist --slowly\n```\n\n@docs/more.md\n<!-- a note -->\n"
        ),
        ["A boat of ash.", "Sails: Dry them\n  in the loft", "Sails: Never fold wet\n\n```sh\nhoist --slowly\n```"],
        {"names another file": 1},
        is_named=True,
    ),
    Fixture(
        "slack", "workspace.zip",
        archive({
            "users.json": json.dumps([{"id": "U1", "name": "ann", "profile": {"display_name": "Ann"}}]),
            "channels.json": json.dumps([{"id": "C1", "name": "boats"}]), "canvases.json": "[]",
            "boats/2025-03-01.json": json.dumps([
                {"type": "message", "subtype": "channel_join", "text": "joined", "ts": "1740819599.000100"},
                {"type": "message", "user": "U1", "text": "Hi <@U1>, see <https://example.org|the list> &amp; <#C1>",
                 "ts": "1740819600.000200", "thread_ts": "1740819600.000200"},
                {"type": "message", "subtype": "bot_message", "username": "weather", "text": "Wind from the west",
                 "ts": "1740819700.000300"},
                {"type": "message", "user": "U1", "text": "no time"},
            ]),
            "boats/2025-03-02.json": json.dumps([{"type": "message", "user": "U1", "text": "",
                                                  "ts": "1740905600.000400", "files": [{"name": "sail.png"}]}]),
        }),
        ["Hi @Ann, see the list (https://example.org) & #boats", "Wind from the west", "#boats", "slack"],
        {"a notice of the workspace": 1, "no text": 1, "no messages": 1},
        failed=1,
    ),
    Fixture(
        "slack", "channel.json",
        json_of([{"type": "message", "user": "U9", "user_profile": {"real_name": "Olli"}, "text": "Sail on Sunday",
                  "ts": "1740819600.000200"}]),
        ["Sail on Sunday", "#channel", "slack"],
        is_named=True,
    ),
    Fixture(
        "telegram", "result.json",
        json_of({
            "about": "Here is the data you requested", "personal_information": {"first_name": "Ann"},
            "chats": {"about": "All chats", "list": [
                {"name": "Olli", "type": "personal_chat", "id": 77, "messages": [
                    {"id": 1, "type": "service", "date": "2025-03-01T09:00:00", "action": "phone_call"},
                    {"id": 2, "type": "message", "date": "2025-03-01T09:30:00", "date_unixtime": "1740821400",
                     "from": "Olli", "from_id": "user5", "reply_to_message_id": 1, "text": [
                         "Sail with ", {"type": "text_link", "text": "us", "href": "https://example.org"}],
                     "text_entities": []},
                    {"id": 3, "type": "message", "date": "2025-03-01T09:31:00", "from": "Ann", "from_id": "user6",
                     "photo": "(File not included)", "text": ""},
                    "noise",
                ]},
                {"name": None, "type": "saved_messages", "id": 78, "messages": [
                    {"id": 9, "type": "message", "date_unixtime": "1740821500", "from": "Ann", "from_id": "user6",
                     "text": "Buy tar"}]},
            ]},
        }),
        ["Sail with us (https://example.org)", "Buy tar", "Olli", "saved messages", "telegram"],
        {"a notice of the chat": 1, "no text": 1},
        failed=1,
    ),
    Fixture(
        "telegram", "one-chat.json",
        json_of({"name": "Boats", "type": "private_group", "id": 5, "messages": [
            {"id": 1, "type": "message", "date_unixtime": "1740821400", "from": "Ann", "from_id": "user6",
             "text": "Sail on Sunday"}]}),
        ["Sail on Sunday", "Boats", "telegram"],
    ),
    *(
        Fixture(
            "whatsapp", f"WhatsApp Chat with Olli {name}.txt", text("\n".join(said)),
            ["Sail on Sunday?\nBring tar", "Yes: gladly", f"Olli {name}", "whatsapp"],
            {"a notice of the chat": 1, "a file": 1},
            is_named=True,
        )
        for name, said in {
            "us": ("3/1/25, 9:29 AM - Messages and calls are end-to-end encrypted.",
                   "3/1/25, 9:30\u202fAM - Ann: Sail on Sunday?", "Bring tar", "3/13/25, 12:05 PM - Olli: Yes: gladly",
                   "3/13/25, 12:06 PM - Olli: <Media omitted>"),
            "de": ("01.03.25, 09:29 - Nachrichten sind verschlüsselt.", "01.03.25, 09:30 - Ann: Sail on Sunday?",
                   "Bring tar", "13.03.25, 12:05 - Olli: Yes: gladly",
                   "13.03.25, 12:06 - Olli: <Medien ausgeschlossen>"),
            "fi": ("[1.3.2025 klo 9.29.00] Olli: \u200eMessages are encrypted.",
                   "[1.3.2025 klo 9.30.00] Ann: Sail on Sunday?", "Bring tar",
                   "[13.3.2025 klo 12.05.00] Olli: Yes: gladly", "[13.3.2025 klo 12.06.00] Olli: <kuva>"),
            "jp": ("2025/03/01 9:29 - encrypted", "2025/03/01 午前9:30 - Ann: Sail on Sunday?", "Bring tar",
                   "2025/03/13 午後0:05 - Olli: Yes: gladly", "2025/03/13 12:06 - Olli: <メディア>"),
            "br": ("01/03/2025 09:29 - Ann entrou", "01/03/2025 09:30 - Ann: Sail on Sunday?", "Bring tar",
                   "13/03/2025 12:05 - Olli: Yes: gladly", "13/03/2025 12:06 - Olli: foto.jpg (arquivo anexado)"),
        }.items()
    ),
    Fixture(
        "whatsapp", "WhatsApp Chat - Ann.zip",
        archive({
            "_chat.txt": "\ufeff[3/1/25, 9:30:00\u202fAM] Ann: Sail on Sunday?\n"
                         "\u200e[3/1/25, 9:31:00\u202fAM] Ann: \u200eimage omitted\n"
                         "[3/1/25, 9:31:00\u202fAM] Ann: ok\n[3/1/25, 9:31:00\u202fAM] Ann: ok\n",
            "photo.jpg": "",
        }),
        ["Sail on Sunday?", "ok", "ok", "Ann", "whatsapp"],
        {"a notice of the chat": 1, "no messages": 1},
        is_named=True,
    ),
    Fixture(
        "notion", "Export",
        folder({
            f"Home {PAGE}1.md": "# Home\n\nSee [Trips](Trips)\n",
            f"Home {PAGE}1/Trips {PAGE}2.csv": "Name,Tags,Created\nTurku,coast,x\n",
            f"Home {PAGE}1/Trips {PAGE}2_all.csv": 'Name,Tags,Created\nTurku,"coast, calm",x\nOulu,north,x\n,,\n',
            f"Home {PAGE}1/Trips {PAGE}2/Turku {PAGE}3.md": "# Turku\n\nTags: coast, calm\n"
                                                           "Created: March 1, 2025 9:30 AM\n\nBy boat: slowly\n",
            f"Home {PAGE}1/Empty {PAGE}4.md": "# Empty\n", "sail.png": "",
        }),
        ["Home\n\nSee [Trips](Trips)", "Turku\n\nBy boat: slowly", "Oulu\n\nTags: north\nCreated: x"],
        {"a view of a database": 1, "a row whose page is here": 1, "empty": 2, "no page": 1},
    ),
)  # fmt: skip
