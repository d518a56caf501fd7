"""The recogniser that ships, on texts of the kinds that memories are."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muisti.core.embedding.encoder import StaticEncoder
from muisti.core.graph.entities import tagger
from muisti.core.graph.entities.name_keys import norm
from muisti.core.graph.entities.recogniser import ShippedRecogniser, shipped
from muisti.core.graph.entities.tagger import SHIPPED, Tagger, load
from tests.examples import examples
from tests.graph.entities.test_pipelines import ordered

PARTS = [
    "Ann Lee ", "met ", "at Acme Corp ", "in Oslo. ", "`a_b` ", '"The Wire" ', "last week ", "\n", "WE SHIP ", "é版 ",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PARTS) | st.text(max_size=5), max_size=25).map("".join)


def found(text: str, **knowledge: list[str]) -> dict[str, str]:
    return {text[one.start : one.stop]: one.kind for one in shipped().read(text, **knowledge)}


@examples(60)
@given(TEXTS)
def test_mentions_ascend_without_overlaps_inside_the_text(text: str):
    ordered(shipped(), text)


def test_names_of_each_kind_are_found():
    text = 'Ann Lee left Acme Corp in Oslo last week after reading "The Wire" and fixing ABC-12 in `get_name`.'
    assert found(text) == {
        **{"Ann Lee": "person", "Acme Corp": "organisation", "Oslo": "place", "last week": "date"},
        **{"The Wire": "title", "ABC-12": "identifier", "get_name": "symbol"},
    }


def test_interjections_and_roles_are_no_names_and_what_is_known_is_found():
    assert list(found("Hey Melanie, thanks! Wow, congrats Joanna!")) == ["Melanie", "Joanna"]
    assert "User" not in found("User asked, and Assistant answered.", speakers=["user", "assistant"])
    text = "I saw Mel and Zyx, but mel is short."
    told = {text[one.start : one.stop]: (one.kind, one.source) for one in shipped().read(text, speakers=["Zyx Quill"])}
    assert told["Zyx"] == ("person", "speaker")
    assert "Redis" in found("Redis is fine. We use it.", known={norm("Redis")})


@pytest.mark.parametrize("text", [
    "WE MUST SHIP THIS NOW OR NEVER",
    "# Set Up Your Own Server",
    "```python\nclass Foo(Bar): pass  # Ann Lee\n```",
    "| Name | Value | Unit |\n| --- | --- | --- |\n| Speed | High | None |",
])  # fmt: skip
def test_capitals_of_shouts_headings_code_and_tables_are_no_names(text: str):
    assert found(text) == {}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Django is built with Python and uses PostgreSQL.", ["Django", "Python", "PostgreSQL"]),
        ("We moved from MySQL to SQLite, then wrote it in Node.js.", ["MySQL", "SQLite", "Node.js"]),
        ("the python bit a redis, and @Docker has no Dockerfile", []),
    ],
)
def test_technologies_are_products(text: str, names: list[str]):
    assert [name for name, kind in found(text).items() if kind == "product"] == names


def test_equal_texts_give_equal_mentions_whatever_came_before(monkeypatch: pytest.MonkeyPatch):
    """Words are forgotten when there are too many, which changes nothing."""
    texts = [f"Ann Lee met Bob{at} in Oslo, word{at}." for at in range(40)]
    wanted = [shipped().read(text) for text in texts]
    monkeypatch.setattr(tagger, "WORDS", 12)
    forgetful = ShippedRecogniser(Tagger(load(SHIPPED.read_bytes()), StaticEncoder()))
    assert [forgetful.read(text) for text in reversed(texts)][::-1] == wanted


def test_threads_do_not_disturb_each_other():
    texts = [f"Ann Lee met Bob{at} in Oslo with Zed{at}." for at in range(60)]
    wanted, got = [shipped().read(text) for text in texts], {}
    fresh = ShippedRecogniser(Tagger(load(SHIPPED.read_bytes()), StaticEncoder()))

    def work(name: int) -> None:
        got[name] = [fresh.read(text) for text in texts]

    threads = [threading.Thread(target=work, args=[name]) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [got[name] for name in range(4)] == [wanted] * 4


def test_the_identity_names_the_weights_and_a_spoilt_file_is_refused():
    content = SHIPPED.read_bytes()
    assert len(content) <= 1_000_000
    assert shipped().identity == ShippedRecogniser(Tagger(load(content), StaticEncoder())).identity
    assert load(content).identity in shipped().identity
    with pytest.raises(ValueError, match="."):
        load(content[:1000])
