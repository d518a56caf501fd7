"""Small files of programs that keep notes or messages between people, and of LibreChat."""

import json
from collections.abc import Mapping, Sequence

from tests.service.formats.importers.making import Fixture, archive, folder, json_of, tarred

DAY = "2025-03-01T09:30:00.000Z"
USECS = 1_740_821_400_000_000
NOTEBOOK, INNER, TAG = ("a" * 31 + digit for digit in "123")
ROOT = "00000000-0000-0000-0000-000000000000"


def said(id_: str, content: str, kind: str = "Default", **more: object) -> Mapping[str, object]:
    """A message of DiscordChatExporter."""
    author = {"id": "5", "name": "olli", "nickname": "Olli", "isBot": False, "roles": []}
    return {"id": id_, "type": kind, "timestamp": "2025-03-01T09:30:00.5+00:00", "timestampEdited": None,
            "content": content, "author": author, "attachments": [], "embeds": [], **more}  # fmt: skip


def channel(*messages: object) -> Mapping[str, object]:
    return {"guild": {"id": "1", "name": "Boats"}, "dateRange": {"after": None, "before": None}, "messageCount": 9,
            "channel": {"id": "77", "type": "GuildTextChat", "category": "Talk", "name": "sails", "topic": "Cloth"},
            "messages": messages}  # fmt: skip


def bytewise(text: str) -> str:
    """A text as Meta writes it: a character for each byte of its UTF-8."""
    return text.encode().decode("latin-1")


def kept(number: int, title: str, **more: object) -> Mapping[str, object]:
    """A note of Google Keep."""
    return {"isTrashed": False, "isPinned": False, "isArchived": False, "title": title,
            "userEditedTimestampUsec": USECS + number, "createdTimestampUsec": USECS + number - 1, **more}  # fmt: skip


def joplin(id_: str, title: str, kind: int, body: str = "", **more: object) -> str:
    """An item of Joplin."""
    fields = {"id": id_, "created_time": DAY, "updated_time": DAY, "encryption_applied": 0, **more, "type_": kind}
    parts = [title, body, "\n".join(f"{name}: {value}" for name, value in fields.items())]
    return "\n\n".join(part for part in parts if part)


def note(id_: str, title: str, body: str = "", **more: object) -> str:
    return joplin(id_, title, 1, body, parent_id=INNER, user_created_time=DAY, latitude="0.00000000", **more)


def answer(id_: str, parent: str, text: str, *, user: bool = False, **more: object) -> Mapping[str, object]:
    """A message of LibreChat."""
    return {"messageId": id_, "conversationId": "l1", "parentMessageId": parent, "text": text, "createdAt": DAY,
            "sender": "User" if user else "GPT-4", "isCreatedByUser": user, "error": False, **more}  # fmt: skip


NOTES: Sequence[Fixture] = (
    Fixture(
        "discord", "channel.json",
        json_of(channel(
            said("101", "Sew it with waxed thread", reactions=[{"emoji": {"name": "👍"}, "count": 2}]),
            said("102", "Joined the server.", "GuildMemberJoin"),
            said("103", "", attachments=[{"id": "9", "fileName": "sail.png", "url": "a/sail.png"}]),
            said("104", "See this", "Reply", reference={"messageId": "101"}, embeds=[
                {"title": "Waxed thread", "description": "Strong", "fields": [{"name": "Price", "value": "4"}]}]),
            {"content": "no id"},
        )),
        ["Sew it with waxed thread", "See this\n\nWaxed thread\n\nStrong\n\nPrice: 4", "sails", "discord"],
        {"a notice of the channel": 1, "no text": 1},
        failed=1,
    ),
    Fixture(
        "discord", "parts",
        folder({
            "sails [part 1].json": json.dumps(channel(said("101", "Sew it"))),
            "sails [part 2].json": json.dumps(channel(said("102", "Dry it"))), "sails.json_Files/a-1B2C3.png": "png",
        }),
        ["Sew it", "Dry it", "sails", "discord"],
        {"no messages": 1},
    ),
    Fixture(
        "discord", "package.zip",
        archive({
            "Account/user.json": json.dumps({"id": "5", "username": "olli"}),
            "Messages/index.json": json.dumps({"77": "sails in Boats"}),
            "Messages/c77/channel.json": json.dumps(
                {"id": "77", "type": 0, "name": "sails", "guild": {"id": "1", "name": "Boats"}}),
            "Messages/c77/messages.json": json.dumps([
                {"ID": 101, "Timestamp": "2025-03-01 09:30:00", "Contents": "Sew it with waxed thread"},
                {"ID": 103, "Timestamp": "2025-03-01 09:31:00", "Contents": "", "Attachments": "https://a.example/b"}]),
            "Messages/c78/channel.json": json.dumps({"id": "78", "type": 1, "recipients": ["5", "6"]}),
            "Messages/c78/messages.csv":
                'ID,Timestamp,Contents,Attachments\n201,2025-03-01 09:30:00.123000+00:00,"Hi, Ann",\n',
        }),
        ["Sew it with waxed thread", "sails", "Hi, Ann", "channel 78", "discord"],
        {"no messages": 4, "no text": 1},
    ),
    Fixture(
        "messenger", "your_messages",
        folder({
            "inbox/zoe_1/message_1.json": json.dumps({
                "participants": [{"name": bytewise("Zoë")}, {"name": "Olli"}],
                "messages": [
                    {"sender_name": bytewise("Zoë"), "timestamp_ms": 1_740_821_403_000, "content": bytewise("Café 👍"),
                     "reactions": [{"reaction": bytewise("😍"), "actor": "Olli"}]},
                    {"sender_name": "Olli", "timestamp_ms": 1_740_821_402_000, "photos": [{"uri": "a.jpg"}]},
                    {"sender_name": "Olli", "timestamp_ms": 1_740_821_401_000, "content": "Look",
                     "share": {"link": "https://example.org"}, "photos": [{"uri": "b.jpg"}]},
                    {"sender_name": "Olli"},
                ],
                "title": bytewise("Zoë"), "is_still_participant": True, "thread_path": "inbox/zoe_1",
            }),
            "inbox/zoe_1/message_2.json": json.dumps({
                "participants": [{"name": "Olli"}], "title": bytewise("Zoë"), "thread_path": "inbox/zoe_1",
                "messages": [{"sender_name": "Olli", "timestamp_ms": 1_740_821_400_000, "content": "Hello"}],
            }),
            "inbox/zoe_1/photos/a.jpg": "jpeg",
        }),
        ["Hello", "Look\n\nhttps://example.org", "Café 👍", "Zoë", "messenger"],
        {"no text": 1, "no messages": 1},
        failed=1,
    ),
    Fixture(
        "messenger", "Zoë_15.json",
        json_of({
            "participants": ["Zoë", "Olli"], "threadName": "Zoë_15", "messages": [
                {"isUnsent": False, "media": [{"uri": "c.jpg"}], "reactions": [], "senderName": "Olli", "text": "Sail?",
                 "timestamp": 1_740_821_400_000, "type": "text"},
                {"isUnsent": True, "media": [], "reactions": [], "senderName": "Zoë", "text": "User unsent a message",
                 "timestamp": 1_740_821_401_000, "type": "placeholder"}],
        }),
        ["Sail?", "Zoë_15", "messenger"],
        {"taken back there": 1},
    ),
    Fixture(
        "librechat", "conversation.json",
        json_of({
            "conversationId": "l1", "endpoint": "openAI", "title": "The mast", "exportAt": "12:00:00 GMT+0100",
            "branches": True, "recursive": True, "options": {"model": "gpt-4", "title": "The mast"}, "messages": [
                {**answer("m1", ROOT, "Which wood?", user=True), "children": [
                    {**answer("m2", "m1", "Oak"), "children": []},
                    {**answer("m3", "m1", "", model="gpt-4", createdAt="2025-03-01T09:31:00.000Z", content=[
                        {"type": "think", "think": "hm"}, {"type": "text", "text": "Ash"}]), "children": ["noise"]},
                ]}],
        }),
        ["Which wood?", "Ash", "The mast", "librechat"],
        {"of a branch that was left": 1},
        failed=1,
    ),
    Fixture(
        "librechat", "flat.json",
        json_of({
            "conversationId": "l2", "endpoint": "agents", "title": "Rope", "exportAt": "12:00:00 GMT+0100",
            "branches": False, "recursive": False, "options": {}, "messages": [
                answer("m4", ROOT, "Hemp?", user=True),
                answer("m5", "m4", "", content=[{"type": "text", "text": {"value": "Or nylon"}}])],
        }),
        ["Hemp?", "Or nylon", "Rope", "librechat"],
    ),
    Fixture(
        "google-keep", "Takeout",
        folder({
            "Takeout/Keep/Shop.json": json.dumps({
                **kept(1, "Shop", isPinned=True), "color": "RED", "labels": [{"name": "Boat"}],
                "listContent": [{"text": "Tar", "isChecked": True}, {"text": "Rope", "isChecked": False}, {"text": ""}],
                "attachments": [{"filePath": "a.png", "mimetype": "image/png"}]}),
            "Takeout/Keep/Link.json": json.dumps({
                **kept(3, "", textContent="Read https://a.example"), "textContentHtml": "<p>Read</p>",
                "annotations": [{"title": "A", "url": "https://a.example", "source": "WEBLINK"},
                                {"title": "Knots", "description": "All", "url": "https://b.example"}],
                "sharees": [{"email": "ann@example.org", "isOwner": True}]}),
            "Takeout/Keep/Gone.json": json.dumps(kept(5, "Gone", textContent="x", isTrashed=True)),
            "Takeout/Keep/Blank.json": json.dumps(kept(7, "", textContent="")),
            "Takeout/Keep/Torn.json": '{"textContent": "Torn"}', "Takeout/Profile.json": "{}",
            "Takeout/Keep/Shop.html": "<p>Shop</p>", "Takeout/Keep/Labels.txt": "Boat",
        }),
        ["Shop\n\n- [x] Tar\n- [ ] Rope", "Read https://a.example\n\nKnots\nAll\nhttps://b.example"],
        {"in the bin": 1, "no text": 1, "no note": 3},
        failed=1,
    ),
    Fixture(
        "simplenote", "notes.zip",
        archive({
            "source/notes.json": json.dumps({
                "activeNotes": [
                    {"id": "s1", "content": "Tar\r\n\r\nBuy tar", "creationDate": DAY, "lastModified": DAY,
                     "tags": ["boat"], "markdown": True, "publicURL": "https://a.example/p"},
                    {"id": "s2", "content": " ", "creationDate": DAY, "lastModified": DAY}, {"id": "s3"},
                ],
                "trashedNotes": [{"id": "s4", "content": "Gone", "creationDate": DAY, "lastModified": DAY}],
            }),
            "Tar.txt": "Tar\r\n\r\nBuy tar",
        }),
        ["Tar\n\nBuy tar"],
        {"no text": 1, "in the bin": 1, "a copy of a note as text": 1},
        failed=1,
    ),
    Fixture(
        "joplin", "notes.jex",
        tarred({
            f"{NOTEBOOK}.md": joplin(NOTEBOOK, "Boats", 2), f"{TAG}.md": joplin(TAG, "cloth", 5),
            f"{INNER}.md": joplin(INNER, "Sails", 2, parent_id=NOTEBOOK),
            f"{'b' * 32}.md": joplin("b" * 32, "", 6, note_id="c" * 32, tag_id=TAG),
            f"{'c' * 32}.md": note("c" * 32, "Sewing", "Wax the thread.\n\nid: no property\n\nTwice.", author="Ann",
                                   source_url="https://a.example", todo_due=5),
            f"{'d' * 32}.md": note("d" * 32, "", encryption_cipher_text="JED0"),
            f"{'e' * 32}.md": joplin("e" * 32, "sail.png", 4, mime="image/png"), "resources/e.png": "png",
            f"{'f' * 32}.md": note("f" * 32, "Gone", deleted_time=1_740_821_400_000),
            f"{'0' * 32}.md": "no properties",
        }),
        ["Sewing\n\nWax the thread.\n\nid: no property\n\nTwice."],
        {"no text": 1, "a file": 2, "in the bin": 1},
        failed=1,
    ),
)  # fmt: skip
