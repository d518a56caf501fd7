"""A word that a field does not allow is refused with the words that it allows, wherever the field is."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct, inspect

from muisti.core.model.errors import InvalidInput
from muisti.service.http.decode import SHOWN, decode, refused_choice
from muisti.service.mcp.tools import TOOLS
from muisti.service.routes import keys, reviews
from muisti.service.schemas import policy, requests, search_requests

pytestmark = pytest.mark.one_store

BODIES = {tool.arguments for tool in TOOLS} | {
    kind
    for module in (reviews, keys, requests, search_requests, policy)
    for kind in vars(module).values()
    if isinstance(kind, type) and issubclass(kind, Struct) and kind.__struct_config__.forbid_unknown_fields
}


def words_of(found: inspect.Type) -> set[str]:
    match found:
        case inspect.Metadata(type=inner):
            return words_of(inner)
        case inspect.UnionType(types=types):
            return {word for one in types for word in words_of(one)}
        case inspect.LiteralType(values=values):
            return {str(value) for value in values}
        case _:
            return set()


def choosing() -> list[tuple[type[Struct], str, frozenset[str]]]:
    """Fields of the bodies that allow only some words: the body, the name of the field, the words."""
    found: list[tuple[type[Struct], str, frozenset[str]]] = []
    for kind in sorted(BODIES, key=lambda one: one.__name__):
        info = inspect.type_info(kind)
        assert isinstance(info, inspect.StructType)
        found += [(kind, one.encode_name, frozenset(words)) for one in info.fields if (words := words_of(one.type))]
    return found


CHOOSING = choosing()


def test_the_choices_of_a_search_are_among_them():
    assert {(kind.__name__, name) for kind, name, _ in CHOOSING} >= {
        ("SearchBody", "mode"), ("SearchBody", "match"), ("SearchBody", "fusion"), ("SearchBody", "min_evidence"),
        ("RecencyBody", "function"), ("AddBody", "on_conflict"), ("BatchBody", "on_conflict"), ("KeyBody", "mode"),
        ("DecisionBody", "decision"), ("FeedbackBody", "verdict"), ("Recall", "mode"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "name", "words"), CHOOSING, ids=[f"{one.__name__}-{name}" for one, name, _ in CHOOSING]
)
@given(word=st.text(max_size=2 * SHOWN))
def test_a_refusal_names_the_place_and_every_allowed_word(
    kind: type[Struct], name: str, words: frozenset[str], word: str
):
    if word in words:
        return
    with pytest.raises(InvalidInput) as refused:
        decode(msgspec.json.encode({name: word}), kind)
    (problem,) = refused.value.problems
    said, _, allowed = problem.message.partition(" is none of ")
    assert (problem.path, said, set(allowed.split(", "))) == (f"$.{name}", repr(word[:SHOWN]), words)


def test_a_refused_word_is_found_within_lists_and_other_bodies():
    body = {"query": "x", "recency": {"function": "sudden"}}
    with pytest.raises(InvalidInput) as refused:
        decode(msgspec.json.encode(body), search_requests.SearchBody)
    (problem,) = refused.value.problems
    assert problem.path == "$.recency.function"
    assert problem.message == "'sudden' is none of exponential, linear, half_life"
    space = {"name": "s", "settings": {"embedded_fields": ["content", "colour"]}}
    with pytest.raises(InvalidInput) as refused:
        decode(msgspec.json.encode(space), policy.SpaceBody)
    (problem,) = refused.value.problems
    assert problem.path == "$.settings.embedded_fields[1]" and "is none of author, category" in problem.message


def test_other_faults_are_left_as_they_are():
    assert refused_choice("Expected `str`, got `int`", "$.mode", search_requests.SearchBody) is None
