"""A small change of a document changes few chunks, wherever it is."""

import pytest

from loadtests.chunking import Document, changed, made
from muisti.core.chunking.options import Chunking


@pytest.mark.parametrize("document", made(), ids=lambda document: document.name)
def test_one_sentence_changes_at_most_four_chunks(document: Document):
    found, sizes = changed(document, Chunking(), edits=12)
    assert max(found) <= 4
    assert len(sizes) > 30
