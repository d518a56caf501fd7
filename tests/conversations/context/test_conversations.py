"""Contexts of conversations: exchanges with both speakers, the last turns, and summaries."""

import pytest

from muisti.core.engine import Engine
from muisti.core.identity.caller import Caller
from muisti.core.model.context import Context, SectionName, Wanted
from muisti.core.model.values import Draft
from muisti.core.views.read import Request
from tests.core.fakes import SPACE
from tests.core.test_structural import bring


@pytest.fixture(autouse=True)
def conversation(engine: Engine) -> None:
    turns = [
        {
            "id": f"0197a3c0-5f4e-7000-8000-00000000001{turn}",
            "content": f"I moved to town {turn}.\n\nNoted, town {turn}!",
            "kind": "exchange",
            "conversation": "c-42",
            "turn": turn,
            "author": "Ann",
            "structure": {"reply_at": len(f"I moved to town {turn}.\n\n"), "replier": "assistant"},
            "event_at": f"2026-11-23T12:0{turn}:00Z",
        }
        for turn in range(1, 9)
    ]
    summary = {
        "id": "0197a3c0-5f4e-7000-8000-000000000020",
        "content": "Ann moves from town to town.",
        "kind": "summary",
        "conversation": "c-42",
        "structure": {"of": "conversation", "up_to": 8, "method": "extractive"},
    }
    bring(engine, *turns, summary)
    engine.owner.write.add(SPACE, [Draft(content="Towns have a harbour")], on_conflict="keep")


def build(
    engine: Engine, sections: dict[SectionName, Wanted] | None, query: str = "town harbour", conversation: str = "c-42"
) -> Context:
    asked = Request(
        query=query, token_budget=400, encoding="cl100k_base", conversation=conversation, sections=sections,
        min_evidence="none",
    )  # fmt: skip
    return engine.owner.context.build(SPACE, asked)


def shown(found: Context) -> list[str]:
    return [found.text[one.start : one.stop] for one in found.citations]


def test_the_last_turns_are_in_order_with_their_speakers_and_no_memory_twice(engine: Engine):
    found = build(engine, {"recent": Wanted(turns=3), "memories": Wanted()})
    recent = [found.text[one.start : one.stop].split(".")[0] for one in found.citations if one.section == "recent"]
    assert recent == ["I moved to town 6", "I moved to town 7", "I moved to town 8"]
    assert len({one.id for one in found.citations}) == len(found.citations)
    assert "\nAnn: I moved to town 8.\n assistant: Noted, town 8!\n" in found.text
    assert [one.name for one in build(engine, None, "harbour").sections] == ["recent", "memories"]


def test_summaries_are_a_section_of_their_own(engine: Engine):
    found = build(engine, {"summaries": Wanted(max_tokens=40), "memories": Wanted()})
    assert "Summary\nAnn moves from town to town.\n" in found.text
    assert [one.section for one in found.citations if "Ann moves" in found.text[one.start : one.stop]] == ["summaries"]


def summarised(engine: Engine, name: str, text: str, of: list[int], **fields: str) -> None:
    sources = [f"0197a3c0-5f4e-7000-8000-00000000001{turn}" for turn in of]
    told = {"of": "topic", "up_to": of[-1], "method": "extractive"}
    one = {"id": f"0197a3c0-5f4e-7000-8000-0000000000{name}", "content": text, "kind": "summary", "topic": f"t{name}"}
    bring(engine, {**one, "conversation": "c-42", "structure": told, "derived_from": sources, **fields})


def test_a_summary_of_turns_that_are_shown_is_left_out(engine: Engine):
    summarised(engine, "31", "Ann moves at first.", [1, 2, 3])
    summarised(engine, "32", "Ann moves at last.", [6, 7, 8])
    found = build(engine, {"recent": Wanted(turns=3), "summaries": Wanted(max_tokens=100), "memories": Wanted()})
    assert "Ann moves at first." in found.text
    assert "Ann moves at last." not in found.text
    assert "0197a3c0-5f4e-7000-8000-000000000032" not in {one.id for one in found.left_out}
    fewer = build(engine, {"recent": Wanted(turns=2), "summaries": Wanted(max_tokens=100), "memories": Wanted()})
    assert "Ann moves at last." in fewer.text


def test_summaries_of_topics_that_the_memories_touch_come_first(engine: Engine):
    summarised(engine, "31", "Ann moves at first.", [1, 2, 3])
    summarised(engine, "32", "Ann moves at last.", [6, 7, 8])
    for turn, first in ((2, "Ann moves at first."), (7, "Ann moves at last.")):
        found = build(engine, {"summaries": Wanted(max_tokens=9), "memories": Wanted()}, f"I moved to town {turn}")
        assert f"Summary\n{first}" in found.text


def test_nobody_sees_what_their_key_does_not_open(engine: Engine):
    engine.owner.write.add(SPACE, [Draft(content="The harbour of town X", category="open")], on_conflict="keep")
    asked = Request(
        query="town harbour",
        token_budget=1_000,
        encoding="cl100k_base",
        conversation="c-42",
        sections={name: Wanted() for name in ("profile", "recent", "summaries", "facts", "documents", "memories")},
        min_evidence="none",
    )
    found = engine.seen_by(Caller("x", category="open")).context.build(SPACE, asked)
    assert [found.text[one.start : one.stop] for one in found.citations] == ["The harbour of town X"]
    assert found.left_out_total == 0


def test_turns_that_come_out_of_order_are_chosen_and_shown_by_turn(engine: Engine):
    late = [
        {
            "id": f"0197a3c0-5f4e-7000-8000-0000000001{turn:02}", "content": f"Turn {turn} of the talk.",
            "kind": "exchange", "conversation": "c-7", "turn": turn, "author": "Ann",
            "event_at": None if turn % 2 else f"2026-11-{turn:02}T12:00:00Z",
        }
        for turn in (9, 2, 10, 4, 3, 8, 1)
    ]  # fmt: skip
    bring(engine, *late)
    for turn in (11, 3, 12, 2):
        draft = Draft(content=f"Turn {turn} of old.", author="Ann", metadata={"session": "old", "turn": turn})
        engine.owner.write.add(SPACE, [draft], on_conflict="keep")
    found = shown(build(engine, {"recent": Wanted(turns=4)}, "harbour", "c-7"))
    assert found == [f"Turn {turn} of the talk." for turn in (4, 8, 9, 10)]
    found = shown(build(engine, {"recent": Wanted(turns=3)}, "harbour", "old"))
    assert found == [f"Turn {turn} of old." for turn in (3, 11, 12)]
