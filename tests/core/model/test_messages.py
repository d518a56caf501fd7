"""The messages of a turn stay those of their speakers, whatever changes its text."""

import pytest
from msgspec.structs import replace

from muisti.core.model.errors import InvalidInput
from muisti.core.model.messages import joined, messages, restated, sound
from muisti.core.model.values import Draft

TEXTS = ("Hello", "a\n\nb", "trailing \n", "\n\nleading", "I live in Oslo.")


def turn(first: str, reply: str | None) -> Draft:
    content, structure = joined(first, reply)
    return Draft(content=content, kind="exchange", author="ann", conversation="c", turn=1, structure=structure)


def said(draft: Draft) -> list[str]:
    return [one.text for one in messages(draft.kind, draft.content, draft.author, draft.structure)]


@pytest.mark.parametrize("first", TEXTS)
@pytest.mark.parametrize("reply", TEXTS)
@pytest.mark.parametrize("new", TEXTS)
def test_each_message_is_changed_apart_from_the_other(first: str, reply: str, new: str) -> None:
    before = turn(first, reply)
    assert said(replace(before, **restated(before, {"user": new}))) == [new, reply]
    assert said(replace(before, **restated(before, {"system": new}))) == [first, new]
    assert said(replace(before, **restated(before, {"system": None}))) == [first]


def test_a_new_content_is_divided_only_where_that_is_certain() -> None:
    before = turn("I live in Rome.", "ok")
    content = "To be very precise, I live in Oslo.\n\nGreat, ok"
    after = replace(before, **restated(before, {"content": content}))
    assert said(after) == ["To be very precise, I live in Oslo.", "Great, ok"]
    for unclear in ("I live in Oslo.", "One.\n\nTwo.\n\nThree."):
        with pytest.raises(InvalidInput, match="send `user` and `system`"):
            restated(before, {"content": unclear})


def test_a_stored_place_of_an_earlier_text_is_put_right() -> None:
    stale = replace(turn("I live in Rome.", "ok"), content="To be very precise, I live in Oslo.\n\nGreat, ok")
    assert said(stale) == said(sound(stale)) == ["To be very precise, I live in Oslo.", "Great, ok"]
