"""A key's scope in words: each ability is said exactly once, as one that it has or lacks, for every combination."""

from itertools import chain, combinations, product

import pytest

from muisti.core.identity.grants import SCOPES
from muisti.service.pages import keys
from muisti.service.schemas import access_modes as modes

CHOSEN = list(chain.from_iterable(combinations(SCOPES, count) for count in range(1, len(SCOPES) + 1)))
SPACES = (["*"], ["notes"], ["acme.*", "notes"])


def test_scopes_and_modes_are_those_of_the_api():
    assert tuple(keys.ABILITIES) == SCOPES
    assert keys.MODES == modes.MODES


@pytest.mark.parametrize(
    ("chosen", "spaces", "category", "source_class"), [*product(CHOSEN, SPACES, (None, "travel"), (None, "web"))]
)
def test_every_combination_says_what_it_can_and_cannot(
    chosen: tuple[str, ...], spaces: list[str], category: str | None, source_class: str | None
):
    said = keys.words(chosen, spaces, category, source_class)
    for scope, text in keys.ABILITIES.items():
        assert (text in said.can, text in said.cannot) == (scope in chosen, scope not in chosen)
    assert ("export a space" in said.can) == ("read" in chosen and category is None)
    assert any("audit log" in one for one in said.can) == ("admin" in chosen and spaces == ["*"])
    assert any("travel" in one for one in said.cannot) == (category is not None)
    assert any("class web" in one for one in said.cannot) == (source_class is not None)
    assert not set(said.can) & set(said.cannot)
    assert all(name.removesuffix("*") in said.where for name in spaces)


@pytest.mark.parametrize("chosen", CHOSEN)
def test_a_mode_names_its_scopes_and_no_others(chosen: tuple[str, ...]):
    name = keys.mode_of(chosen)
    if name in keys.MODES:
        assert set(keys.MODES[name]) == set(chosen)
    else:
        assert name == "everything" or set(name.split(", ")) == set(chosen)
