"""Lint finds what is wrong with memories, page by page, in one report; what it proposes mends it."""

import pytest

from muisti.core.conversations.model import Turn
from muisti.core.engine import Engine
from muisti.core.identity.caller import Caller
from muisti.core.model.choices import CHECKS
from muisti.core.model.errors import InvalidInput
from muisti.core.model.messages import messages_of
from muisti.core.model.quality import Finding, Limits, Report
from muisti.core.model.values import Draft
from muisti.core.query.query import Query
from tests.conversations.talking import stream
from tests.core.fakes import SPACE, Clock

DAYS = ("Fridays", "Fridays", "Mondays")
SECRET = "key AKIA" + "Z7QWERTY2UIOPASD in the log"


def whole(engine: Engine, limit: int = 200) -> tuple[Report, list[Finding]]:
    """The last page, and the findings of all."""
    items, cursor = list[Finding](), None
    while True:
        report = engine.owner.review.lint(SPACE, limit=limit, cursor=cursor)
        items += report.items
        if report.next_cursor is None:
            return report, items
        cursor = report.next_cursor


def found(engine: Engine) -> list[tuple[str, str]]:
    return [(one.check, one.memory_id) for one in whole(engine)[1]]


def keep(engine: Engine, *texts: str, **fields: object) -> list[str]:
    drafts = [Draft(content=text, **fields) for text in texts]  # pyright: ignore[reportArgumentType]
    return [engine.owner.write.add(SPACE, [draft], on_conflict="keep").memories[0].id for draft in drafts]


def test_likenesses_are_told_once_at_the_newer_one(engine: Engine):
    first, same, other = keep(engine, *(f"We always deploy the service in the evening on {day}" for day in DAYS))
    duplicate, contradiction, another = whole(engine)[1]
    assert (duplicate.check, duplicate.memory_id, duplicate.others) == ("duplicate", same, (first,))
    assert (contradiction.check, contradiction.memory_id) == ("contradiction", other)
    assert {*contradiction.others, *another.others} == {first, same} and another.check == "contradiction"
    assert [(fix.step, fix.memory_id) for fix in duplicate.fix] == [("delete", same)]
    assert [(fix.step, fix.memory_id) for fix in contradiction.fix] == [("update", contradiction.others[0])]


def test_what_nobody_asks_for_fades_but_guards_and_what_is_important(engine: Engine, clock: Clock):
    never, once = keep(engine, "tea is green", "a lamp is warm")
    keep(engine, "never push on Fridays", type="guard")
    keep(engine, "the cat is called Miu", importance="high")
    engine.owner.read.get(SPACE, once)
    assert found(engine) == []
    clock.pass_days(31)
    assert found(engine) == [("never_recalled", never)]
    clock.pass_days(335)
    assert found(engine) == [("never_recalled", never), ("stale", once)]
    engine.owner.read.search(SPACE, Query(text="tea", mode="keyword"))
    assert found(engine) == [("stale", once)]


def test_secrets_are_found_and_not_shown(engine: Engine):
    (leak,) = keep(engine, "tea is green")
    engine.seen_by(Caller(allows=frozenset({"secrets"}))).write.update(
        SPACE, leak, {"content": SECRET, "tags": ("a", SECRET)}
    )
    (one,) = whole(engine)[1]
    assert one.check == "secret" and "aws-access-key" in one.detail and "AKIA" not in repr(one)
    engine.owner.write.update(SPACE, leak, dict(one.fix[0].changes))
    assert found(engine) == [] and "AKIA" not in engine.owner.read.get(SPACE, leak).memory.content
    named = engine.seen_by(Caller(allows=frozenset({"secrets"})))
    named.write.update(SPACE, leak, {"content": "tea", "tags": (), "category": SECRET})
    (one,) = whole(engine)[1]
    assert [fix.step for fix in one.fix] == ["purge"]


def test_a_redacted_turn_keeps_the_words_of_each_speaker(engine: Engine):
    careless = Caller(allows=frozenset({"secrets"}))
    said = Turn(content=f"My {SECRET}\n\nIs it safe?", turn=1, author="ann", reply=f"No, {SECRET} is known\n\nSorry.")
    (turn,) = stream(engine, "c", [said], caller=careless).items
    (one,) = whole(engine)[1]
    assert {*one.fix[0].changes} == {"user", "system"}
    engine.owner.write.update(SPACE, turn.memory.id, dict(one.fix[0].changes))
    user, reply = messages_of(engine.owner.read.get(SPACE, turn.memory.id).memory)
    assert (user.speaker, user.text[-11:]) == ("ann", "Is it safe?")
    assert (reply.speaker, reply.text[:4], reply.text[-6:]) == ("assistant", "No, ", "Sorry.")
    assert found(engine) == [] and "AKIA" not in user.text + reply.text


def test_what_points_nowhere_is_found_and_the_fix_mends_it(engine: Engine):
    parent, old, newer = keep(engine, "a house", "we met in May", "two lamps")
    (child,) = keep(engine, "its garden", parent_id=parent)
    after = engine.owner.write.supersede(SPACE, old, Draft(content="we met in June")).memories[0].id
    last = engine.owner.write.supersede(SPACE, newer, Draft(content="three lamps")).memories[0].id
    engine.owner.write.delete(SPACE, parent)
    for gone in (old, last):
        engine.eraser.memory(SPACE, gone, Caller())
    items = {one.memory_id: one for one in whole(engine)[1]}
    steps = {id_: [fix.step for fix in one.fix] for id_, one in items.items()}
    assert steps == {child: ["update"], after: ["supersede"], newer: ["restore"]}
    assert {one.check for one in items.values()} == {"orphaned"}
    engine.owner.write.update(SPACE, child, dict(items[child].fix[0].changes))
    engine.owner.write.restore(SPACE, newer)
    engine.owner.write.supersede(SPACE, after, items[after].fix[0].drafts[0])
    assert found(engine) == []


def test_what_is_too_large_is_cut_into_memories_of_its_own(engine: Engine):
    text = "\n\n".join(f"Paragraph {number} is about the lamp of room {number}. " * 4 for number in range(10))
    (long,) = keep(engine, text, tags=("lamps",))
    small = Limits(tokens=300)
    (one,) = engine.owner.review.lint(SPACE, limits=small).items
    parts, gone = one.fix
    assert one.check == "oversized" and (parts.step, gone.step) == ("add", "update")
    assert "".join("".join(draft.content.split()) for draft in parts.drafts) == "".join(text.split())
    assert {draft.tags for draft in parts.drafts} == {("lamps",)} and parts.drafts[0].derived_from == (long,)
    engine.owner.write.add(SPACE, parts.drafts, on_conflict="keep")
    engine.owner.write.update(SPACE, long, dict(gone.changes))
    assert engine.owner.review.lint(SPACE, limits=small, checks=["oversized"]).items == ()


def test_pages_make_one_report_whatever_their_size(engine: Engine, clock: Clock):
    keep(engine, "tea", "tea", "lamp", "lamp", "lamp", "house")
    clock.pass_days(40)
    report, items = whole(engine)
    assert report.found == {"duplicate": 3, "never_recalled": 6} and report.score == pytest.approx(100 * (1 - 1.8 / 6))
    paged, same = whole(engine, limit=1)
    assert (same, paged.score, paged.found, paged.checked) == (items, report.score, report.found, 6)
    only = engine.owner.review.lint(SPACE, checks=["duplicate"])
    assert only.found == {"duplicate": 3} and set(report.found) <= set(CHECKS)


@pytest.mark.parametrize("cursor", ["?", "AAAA", "é", "W10="])
def test_a_cursor_is_of_this_space(engine: Engine, cursor: str):
    with pytest.raises(InvalidInput):
        engine.owner.review.lint(SPACE, cursor=cursor)
    keep(engine, "tea", "lamp")
    given = engine.owner.review.lint(SPACE, limit=1).next_cursor
    engine.spaces.create("other")
    with pytest.raises(InvalidInput):
        engine.owner.review.lint("other", cursor=given)


def test_a_caller_of_one_category_is_told_of_that_alone_and_of_nothing_where_all_is_clean(engine: Engine):
    assert engine.owner.review.lint(SPACE).score == 100
    keep(engine, "tea is green", category="secret")
    (own,) = keep(engine, "tea is green", category="mine")
    report = engine.seen_by(Caller(category="mine")).review.lint(SPACE)
    assert (report.items, report.checked, report.score, report.next_cursor) == ((), 1, 100, None)
    assert found(engine) == [("duplicate", own)]
