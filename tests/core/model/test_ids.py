import uuid

from hypothesis import given
from hypothesis import strategies as st

from muisti.core.model.ids import IdSource, id_bytes, id_text

times = st.integers(0, 2**47 * 1000)


@given(st.lists(times, min_size=1, max_size=30))
def test_ids_grow_even_when_the_clock_goes_back(clock: list[int]):
    source = IdSource()
    ids = [source.new(us) for us in clock]
    assert ids == sorted(set(ids))


@given(times)
def test_an_id_is_a_uuid_of_version_7_that_holds_its_millisecond(us: int):
    parsed = uuid.UUID(bytes=IdSource().new(us))
    assert (parsed.version, parsed.variant, parsed.int >> 80) == (7, uuid.RFC_4122, us // 1000)


@given(st.binary(min_size=16, max_size=16), st.text())
def test_text_and_bytes_are_the_same_id_and_what_is_no_id_gives_none(raw: bytes, text: str):
    assert id_bytes(id_text(raw)) == raw
    assert id_bytes(text) is None or len(text) == 36
