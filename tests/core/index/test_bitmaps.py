"""Words of bits give back the flags that they were packed from."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.index.collection_statistics import count_bits, packed, unpacked, words_for

flags = st.lists(st.booleans(), max_size=200)


@given(flags, st.data())
def test_words_give_back_their_flags(rows: list[bool], data: st.DataObject):
    words = packed(np.array(rows, np.bool_))
    assert (words.dtype, len(words)) == (np.uint64, words_for(len(rows)))
    assert sum(int(word) << 64 * place for place, word in enumerate(words)) == sum(
        1 << n for n, on in enumerate(rows) if on
    )
    size = data.draw(st.integers(0, len(rows)))
    assert unpacked(words, size).tolist() == rows[:size]
    assert count_bits(words) == sum(rows)
