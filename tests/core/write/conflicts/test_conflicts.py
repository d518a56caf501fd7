"""Near-duplicates and conflicts: what two texts are to each other, and what a write does about it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.engine import Engine
from muisti.core.index import cache
from muisti.core.model.choices import OnConflict
from muisti.core.model.collisions import Contradiction, Duplicate
from muisti.core.model.errors import InvalidInput
from muisti.core.model.times import from_us
from muisti.core.model.values import Draft, RequestKey
from muisti.core.write.conflicts.alignment import align
from muisti.core.write.conflicts.differences import opposites, part
from muisti.core.write.conflicts.judgement import Verdict, judge
from muisti.core.write.conflicts.words import read
from tests.core.fakes import NOON, SPACE, WordEncoder, add, open_engine
from tests.core.sentences import BOTH, CONFLICTS, DUPLICATES, POSSIBLE
from tests.stores import Stores

MODEL = StaticEncoder()

texts = st.text(max_size=200) | st.sampled_from([text for pair in (*DUPLICATES, *BOTH) for text in pair])


def verdict(existing: str, new: str) -> Verdict | None:
    one, other = MODEL.encode([existing, new])
    return judge(existing, new, float(one @ other), MODEL.encode)


@pytest.fixture
def engine(stores: Stores):
    with open_engine(stores(), encoder=MODEL) as opened:
        yield opened


def store(engine: Engine, *texts: str, space: str = SPACE, **fields: object):
    drafts = [Draft(content=text, **fields) for text in texts]  # pyright: ignore[reportArgumentType]  # test shorthand
    return engine.owner.write.add(space, drafts)


@given(st.lists(st.sampled_from(["fox", "lake", "sun", "boat", "tree"]), min_size=1, max_size=9), st.randoms())
def test_the_order_is_the_longest_common_subsequence(words: list[str], random):
    others = random.sample(words, len(words))
    lengths = [0] * (len(others) + 1)
    for word in words:
        before = lengths
        lengths = [0]
        for place, other in enumerate(others):
            lengths.append(before[place] + 1 if word == other else max(before[place + 1], lengths[place]))
    assert align(read(" ".join(words)), read(" ".join(others))).order == lengths[-1] / len(words)


def test_what_holds_at_another_time_is_not_compared(engine: Engine):
    store(engine, "The staging database runs on port 5433", valid_to=from_us(NOON))
    store(engine, "The staging database runs on port 5434", valid_from=from_us(NOON), valid_to=from_us(NOON + 2))
    with pytest.raises(Contradiction):
        store(engine, "The staging database runs on port 5435", valid_from=from_us(NOON + 1))


@given(texts)
def test_every_text_says_the_same_as_itself_or_is_too_short_to_tell(text: str):
    found = judge(text, text, 1.0, MODEL.encode)
    assert found in (Verdict("duplicate"), None)


@given(texts, texts)
def test_common_words_differences_and_the_rest_are_all_words_of_a_text(one: str, other: str):
    aligned = align(read(one), read(other))
    for text, only in ((one, aligned.only_existing), (other, aligned.only_new)):
        assert aligned.common + len(only) == sum(word.kind != "function" for word in read(text))
    assert 0 <= aligned.order <= 1
    parted = part(aligned.only_existing, aligned.only_new)
    ours = [word for word, _ in parted.pairs if word is not None]
    negations = sum(word.kind == "negation" for word in aligned.only_existing)
    assert len(ours) + len(parted.rest_existing) == len(aligned.only_existing) - max(negations - 1, 0)


@given(texts, texts)
def test_what_contradicts_is_contradicted(one: str, other: str):
    forth, back = verdict(one, other), verdict(other, one)
    assert (forth is not None and forth.kind == "conflict") == (back is not None and back.kind == "conflict") or (
        "similar" in (forth and forth.kind, back and back.kind) or None in (forth, back)
    )


@pytest.mark.parametrize(("existing", "new"), DUPLICATES)
def test_texts_that_say_the_same_are_duplicates(existing: str, new: str):
    assert verdict(existing, new) == Verdict("duplicate")


@pytest.mark.parametrize(("existing", "new", "kind"), CONFLICTS)
def test_texts_that_exclude_each_other_conflict_by_what_differs(existing: str, new: str, kind: str):
    found = verdict(existing, new)
    assert found is not None and found.kind == "conflict"
    assert [difference.kind for difference in found.differs] == [kind]


@pytest.mark.parametrize(("existing", "new"), BOTH)
def test_texts_about_different_things_are_neither(existing: str, new: str):
    for found in (verdict(existing, new), verdict(new, existing)):
        assert found is None or found.kind == "similar"


@pytest.mark.parametrize(("existing", "new"), POSSIBLE)
def test_texts_that_may_exclude_each_other_are_neither_refused_nor_passed_over(existing: str, new: str):
    found = verdict(existing, new)
    assert found is not None and found.kind == "possible_conflict"


def test_a_word_that_says_now_hides_no_contradiction():
    found = verdict("We deploy on Tuesdays", "We deploy on Mondays now")
    assert found is not None and found.kind == "conflict"


def test_opposites_are_opposed_both_ways():
    words = read("open closed supported unsupported likes hates warm")
    pairs = {(a.text, b.text) for a in words for b in words if b.key in opposites(a.key)}
    assert pairs == {(b, a) for a, b in pairs}
    assert {("open", "closed"), ("supported", "unsupported"), ("likes", "hates")} <= pairs
    assert not any(a == b for a, b in pairs)


def test_a_duplicate_is_refused_with_what_it_is_like(engine: Engine):
    (first,) = store(engine, "The staging database is backed up every night.").memories
    with pytest.raises(Duplicate) as refused:
        store(engine, "Staging database is backed up every night.")
    (found,) = refused.value.found
    assert (found.id, found.kind, found.content) == (first.id, "duplicate", first.content)
    assert found.similarity is not None and 0.9 < found.similarity <= 1
    assert refused.value.checked_at == engine.spaces.get(SPACE).at
    assert engine.owner.read.stats(SPACE).memories == 1


def test_a_conflict_is_refused_with_what_differs(engine: Engine):
    store(engine, "The staging database runs on port 5433.")
    with pytest.raises(Contradiction) as refused:
        store(engine, "The staging database runs on port 5434.")
    (found,) = refused.value.found
    assert [(d.kind, d.existing, d.new) for d in found.differs] == [("number", "5433", "5434")]
    assert "5433 there, 5434 here" in str(refused.value)


def test_what_is_only_similar_is_stored_and_told(engine: Engine):
    (first,) = store(engine, "Order 1234 was shipped to Norway").memories
    second = store(engine, "Order 1235 was shipped to Norway")
    (found,) = second.similar
    assert (found.id, found.kind, [d.kind for d in found.differs]) == (first.id, "similar", ["number"])
    assert second.checked_at is not None and second.checked_at.number == second.seq.number - 1


@pytest.mark.parametrize(("before", "after"), [
    ({"category": "c", "key": "a"}, {"category": "c", "key": "b"}),
    ({"kind": "chunk"}, {"kind": "memory"}),
    ({"metadata": {"session": "s", "turn": 1}}, {"metadata": {"session": "s", "turn": 2}}),
])  # fmt: skip
def test_fields_may_say_that_two_memories_are_of_different_things(engine: Engine, before: dict, after: dict):
    store(engine, "The answer to that is certainly yes", **before)
    stored = store(engine, "The answer to that is certainly yes!", **after)
    assert stored.similar == ()


def test_a_possible_contradiction_is_stored_and_opens_a_review(engine: Engine):
    existing, new = POSSIBLE[0]
    (first,) = store(engine, existing).memories
    written = store(engine, new)
    assert [(one.id, one.kind) for one in written.similar] == [(first.id, "possible_conflict")]
    (waiting,) = engine.owner.review.conflicts(SPACE).items
    second = written.memories[0].id
    assert (waiting.kind, waiting.existing.id, waiting.new.id) == ("possible_conflict", first.id, second)
    engine.owner.review.decide(SPACE, str(waiting.id), "supersede")
    assert engine.owner.review.conflicts(SPACE).items == ()
    assert engine.owner.read.get(SPACE, second).memory.content == new


@pytest.mark.parametrize("on_conflict", ["keep", "review", "supersede"])
def test_who_keeps_both_opens_no_review_and_nothing_possible_is_superseded(engine: Engine, on_conflict: OnConflict):
    existing, new = POSSIBLE[1]
    (first,) = store(engine, existing).memories
    written = engine.owner.write.add(SPACE, [Draft(content=new)], on_conflict=on_conflict)
    assert engine.owner.read.get(SPACE, first.id).memory.superseded_by is None
    assert len(written.memories) == 1
    assert [one.kind for one in engine.owner.review.conflicts(SPACE).items] == ["possible_conflict"] * (
        on_conflict != "keep"
    )


def test_a_batch_opens_reviews_within_itself(engine: Engine):
    engine.owner.write.add(SPACE, [Draft(content=text) for text in POSSIBLE[0]])
    (waiting,) = engine.owner.review.conflicts(SPACE).items
    assert (waiting.existing.content, waiting.new.content) == POSSIBLE[0]


@pytest.mark.parametrize(("before", "after", "kind"), [
    ("The staging database runs on port 5433", "The staging database runs on port 5434", "possible_conflict"),
    ("The cache is enabled in production.", "The cache is not enabled in production.", "possible_conflict"),
    ("Ann prefers tea", "Ann prefers coffee", "possible_conflict"),
    ("The answer to that is certainly yes", "The answer to that is certainly yes!", "similar"),
    ("I live in Turku with my family", "I live in Oulu with my family", None),
    ("My door code is 4711", "My door code is 4712", None),
])  # fmt: skip
def test_two_authors_who_contradict_each_other_open_a_review(engine: Engine, before: str, after: str, kind: str | None):
    store(engine, before, author="Ann")
    written = store(engine, after, author="Bob")
    assert [one.kind for one in written.similar] == [kind] * (kind is not None)
    assert len(engine.owner.review.conflicts(SPACE).items) == (kind == "possible_conflict")


def test_a_space_may_refuse_by_similarity_alone(engine: Engine):
    existing, new = "The frontend is written in TypeScript.", "The backend is written in TypeScript."
    store(engine, existing)
    engine.spaces.set_policy(SPACE, {"similarity_limit": 0.8})
    with pytest.raises(Duplicate):
        store(engine, new)
    with pytest.raises(Contradiction):
        store(engine, POSSIBLE[0][0])
        store(engine, POSSIBLE[0][1])
    engine.spaces.set_policy(SPACE, {"similarity_limit": 0.99})
    store(engine, new)
    for wrong in (0.1, 1.5):
        with pytest.raises(InvalidInput, match="similarity_limit"):
            engine.spaces.set_policy(SPACE, {"similarity_limit": wrong})


def test_a_space_may_ask_about_the_most_similar_alone(engine: Engine):
    existing, new = POSSIBLE[0]
    engine.spaces.set_policy(SPACE, {"review_limit": 1.0})
    store(engine, existing)
    written = store(engine, new)
    assert [one.kind for one in written.similar] == ["similar"]
    assert engine.owner.review.conflicts(SPACE).items == ()
    engine.spaces.set_policy(SPACE, {"review_limit": 0.8})
    store(engine, *POSSIBLE[1])
    assert len(engine.owner.review.conflicts(SPACE).items) == 1
    with pytest.raises(InvalidInput, match="review_limit"):
        engine.spaces.set_policy(SPACE, {"review_limit": 0.1})


@pytest.mark.parametrize(("before", "after"), [
    ("Grad C: Yeah , it 's not standard .", "Grad C: Yeah ."), ("Grad C: So .", "Grad C: No ."),
    ("Grad E: Today", "Grad E: True ."), ("I don't know .", "You know ."),
])  # fmt: skip
def test_fragments_of_speech_contradict_nothing(engine: Engine, before: str, after: str):
    store(engine, before)
    assert all(one.kind == "similar" for one in store(engine, after).similar)


def test_other_fields_do_not_hide_a_duplicate(stores: Stores):
    with open_engine(stores(), encoder=MODEL) as engine:
        engine.spaces.create("all")  # embeds tags and reason with the content
        store(engine, "We deploy on Fridays.", space="all", tags=("infra", "release"), reason="agreed in the retro")
        with pytest.raises(Duplicate) as refused:
            store(engine, "we deploy on Fridays", space="all", tags=("howto",))
        assert refused.value.found[0].similarity == pytest.approx(1.0, abs=0.02)


def test_what_is_deleted_elsewhere_kept_changed_or_an_entry_is_not_checked(engine: Engine):
    (first,) = store(engine, "We deploy on Fridays.").memories
    engine.owner.write.delete(SPACE, first.id)
    engine.spaces.create("other")
    store(engine, "We deploy on Fridays.", space="other")
    assert store(engine, "we deploy on Fridays").similar == ()
    kept = engine.owner.write.add(SPACE, [Draft(content="we  deploy on Fridays")], on_conflict="keep")
    assert (kept.similar, kept.checked_at) == ((), None)
    (other,) = store(engine, "The office has a red door.").memories
    engine.owner.write.update(SPACE, other.id, {"content": "we deploy on Fridays"})
    engine.owner.write.put(SPACE, Draft(content="We deploy on Fridays!", category="rules", key="deploy"))


def test_long_memories_are_compared_by_their_text_alone(engine: Engine):
    long = " ".join(f"Rule {n} of the release process says that step {n} comes after the others." for n in range(60))
    store(engine, long)
    store(engine, long + " And that is all.")
    with pytest.raises(Duplicate):
        store(engine, long)


def test_a_batch_is_checked_against_itself(engine: Engine):
    drafts = [Draft(content=text) for text in ("The cache is on.", "It rains in Turku.", "It does not rain in Turku.")]
    with pytest.raises(Contradiction) as refused:
        engine.owner.write.add(SPACE, drafts)
    assert (refused.value.position, refused.value.other) == (2, 1)
    engine.owner.write.add(SPACE, drafts, on_conflict="keep")


def test_a_repeated_request_is_told_what_it_was_told(engine: Engine):
    store(engine, "Order 1234 was shipped to Norway")
    request = RequestKey("scope", "key", b"hash")
    first, again = (
        engine.owner.write.add(SPACE, [Draft(content="Order 1235 was shipped to Norway")], request=request)
        for _ in range(2)
    )
    assert again.replayed and (again.similar, again.checked_at) == (first.similar, first.checked_at)
    assert first.similar


def test_without_embeddings_only_the_same_text_is_refused(stores: Stores):
    with open_engine(stores(), embeddings=False) as engine:
        store(engine, "We deploy on Fridays.")
        stored = store(engine, "We do not deploy on Fridays.")
        assert (stored.similar, stored.checked_at) == ((), None)
        with pytest.raises(Duplicate):
            store(engine, "we deploy on fridays.")


def test_a_write_does_not_wait_for_a_large_index(stores: Stores, monkeypatch: pytest.MonkeyPatch):
    path = stores()
    with open_engine(path, encoder=WordEncoder()) as engine:
        add(engine, *(f"memory number{n} of many" for n in range(20)))
    monkeypatch.setattr(cache, "SOON", 10)
    with open_engine(path, encoder=WordEncoder()) as engine:
        first = store(engine, "nothing like the others")
        assert first.checked_at is None
        engine._indexes.close()  # what loads meanwhile
        second = store(engine, "something else again entirely")
        assert second.checked_at == first.seq
