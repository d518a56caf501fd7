"""The service shows, takes and carries the fields that the registry of fields says (core/model/fields.py)."""

from muisti.core.model.fields import SENT, TIMES
from muisti.core.model.values import Memory
from muisti.service.cli.commands import get_list_stats
from muisti.service.formats import markdown
from muisti.service.schemas.replies import MemoryReply
from muisti.service.schemas.requests import DraftBody, PatchBody
from muisti.service.tools.catalog import WORDS
from muisti.service.tools.rendering import shown
from tests.core.model.test_fields import FULL, NAMES, named


def test_notes_carry_what_is_exported_and_cannot_be_derived():
    assert {*markdown.CARRIED, "id", "content"} == named(exported=True) - {"version", "trust", "tokens"} - {
        "superseded_by"  # its successor names it
    }
    assert set(markdown.TIMES) == set(get_list_stats.TIMES) == set(TIMES)


def test_models_see_what_is_shown():
    assert set(shown(Memory(**FULL), full=True)) == named(shown=True)
    assert set(shown(Memory(**FULL))) == named(brief=True) <= named(shown=True)


def test_callers_send_what_is_stated_and_read_every_field():
    assert set(DraftBody.__struct_fields__) == {*SENT, "ttl"}
    assert set(PatchBody.__struct_fields__) == {*SENT, "ttl", "user", "system"}  # the two messages of a turn
    assert set(MemoryReply.__struct_fields__) == NAMES
    assert set(SENT) <= set(WORDS)
