"""A bounded memory: what was used least recently goes first, and the bytes are those of what is kept."""

from collections import OrderedDict

from hypothesis import given
from hypothesis import strategies as st

from muisti.core.index.selections import ENTRY, Remembered

LIMIT = 5 * ENTRY
uses = st.lists(
    st.tuples(st.sampled_from([b"a", b"b", b"c", b"d", b"e", b"f"]), st.none() | st.integers(0, 5 * ENTRY)), max_size=40
)


@given(uses)
def test_it_keeps_what_was_used_last_within_its_limit(script: list[tuple[bytes, int | None]]):
    found, model = Remembered[int](lambda: LIMIT), OrderedDict[bytes, int]()
    for key, size in script:
        if size is None:
            assert found.get(key) == model.get(key)
            if key in model:
                model.move_to_end(key)
            continue
        found.put(key, size, size)
        model.pop(key, None)
        if size + ENTRY <= LIMIT:
            model[key] = size
        while sum(model.values()) + ENTRY * len(model) > LIMIT:
            model.popitem(last=False)
        assert found.nbytes == sum(model.values()) + ENTRY * len(model) <= LIMIT
        assert len(found) == len(model)
