"""A small change of a document changes few chunks, wherever it is."""

import pytest

from loadtests.chunking import MADE, changed
from muisti.core.parsing.chunking.options import Chunking


@pytest.mark.parametrize("name", MADE)
def test_one_sentence_changes_at_most_four_chunks(name: str):
    found, sizes = changed(MADE[name](), Chunking(), edits=12)
    assert max(found) <= 4
    assert len(sizes) > 30
