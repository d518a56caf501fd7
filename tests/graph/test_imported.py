"""Sentences of imported graphs: their metadata name the entities and the relation."""

from collections.abc import Mapping

import pytest

from muisti.core.engine import Engine
from muisti.core.graph.extraction import with_imported
from muisti.core.graph.model import Mention
from muisti.core.model.values import Draft, Json
from tests.core.fakes import SPACE


def relation(start: str, how: str, end: str) -> tuple[str, Mapping[str, Json]]:
    return f"{start} {how.replace('_', ' ')} {end}", {"relation": {"from": start, "to": end, "type": how}}


@pytest.mark.parametrize(("said", "told"), [
    (relation("python", "created_by", "Guido van Rossum"), ("Guido van Rossum", "made", "python")),
    (relation("Ann", "WORKS_AT", "acme"), ("Ann", "works_at", "acme")),
    (relation("Ann", "works for", "Ann"), ("Ann", "works_at", "Ann")),
    (relation("Ann", "is part-of", "acme"), ("Ann", "is_part_of", "acme")),
    (relation("Ann", "是", "acme"), None),
    (relation("Ann", "mentioned_with", "acme"), None),
])  # fmt: skip
def test_kinds_of_other_systems(said: tuple[str, Mapping[str, Json]], told: tuple[str, str, str] | None):
    text, metadata = said
    mentions, facts = with_imported(text, [], metadata)
    names = [text[one.start : one.stop] for one in mentions]
    assert len(names) == 2
    assert [(names[one.subject], one.kind, names[one.object or 0]) for one in facts] == ([told] if told else [])


def test_a_kind_that_is_given_wins_and_its_word_is_no_name():
    spotted = [Mention(0, 3, "place", 0.5, "recogniser"), Mention(5, 8, "organisation", 0.5, "recogniser")]
    mentions, facts = with_imported("CWI (ORG)", spotted, {"entity": "CWI", "entity_type": "ORG"})
    assert mentions == [Mention(0, 3, "organisation", 0.9, "known")]
    assert facts == []
    mentions, _ = with_imported("CWI is old", spotted[:1], {"entity": "CWI", "entity_type": None})
    assert mentions == [Mention(0, 3, "place", 0.9, "known")]


@pytest.mark.parametrize(
    "metadata", [{}, {"entity": 7}, {"entity": ""}, {"entity": "Zed"}, {"relation": "x"}, {"relation": {}}]
)
def test_what_the_text_does_not_have_is_not_known(metadata: Mapping[str, Json]):
    spotted = [Mention(0, 3, "person", 0.9, "recogniser")]
    assert with_imported("Ann is here", spotted, metadata) == (spotted, [])


def test_imported_sentences_are_in_the_graph_and_other_metadata_are_not(engine: Engine):
    text, metadata = relation("python", "created_by", "guido")
    write, graph = engine.owner.write, engine.owner.graph
    write.add(SPACE, [Draft(content=text, category="Relations", metadata=metadata)])
    write.add(SPACE, [Draft(content="perl created by larry", metadata=relation("perl", "created_by", "larry")[1])])
    (one,) = graph.relations(SPACE).items
    assert (one.subject.name, one.kind, one.object and one.object.name) == ("guido", "made", "python")
    assert one.evidence == text
    assert {found.name for found in graph.entities(SPACE).items} == {"guido", "python"}
