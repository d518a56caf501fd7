"""An import into a space that has conversations: objects of the same name join, and turns come in."""

import msgspec

from muisti.core.engine import Engine
from muisti.core.model.imports import ImportReport
from tests.core.conversations.talking import said, stream, texts
from tests.core.fakes import SPACE


def brought(engine: Engine) -> ImportReport:
    """Import what the space `other` holds."""
    pages = engine.owner.read.export("other", "test").pages()
    coming = engine.owner.write.begin_import(SPACE, atomic=False)
    coming.take([msgspec.json.encode(record) for page in pages for record in page])
    return coming.finish()


def test_objects_of_the_same_name_join_and_undo_removes_only_what_came(engine: Engine):
    engine.spaces.create("other")
    stream(engine, "c", said("one here"))
    stream(engine, "c", said("one there", "two there"), space="other")
    stream(engine, "d", said("three there"), space="other")
    report = brought(engine)
    assert (report.skipped["joined"], report.failed, report.failures[0].code) == (2, 1, "place_taken")
    assert texts(engine, "c") == [(1, "one here"), (2, "two there")]
    assert texts(engine, "d") == [(1, "three there")]
    again = brought(engine)
    assert (again.created, texts(engine, "c")) == (0, [(1, "one here"), (2, "two there")])
    assert report.id is not None
    engine.owner.write.undo_import(SPACE, report.id)
    assert texts(engine, "c") == [(1, "one here")]
