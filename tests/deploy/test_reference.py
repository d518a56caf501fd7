"""The tables of the reference are those that the declarations give."""

import pytest

from deploy.docs.reference import FOLDER, PARTS, PLACE, filled

PAGES = {path.name: path.read_text("utf-8") for path in FOLDER.glob("*.md")}


@pytest.mark.parametrize("name", [name for name, text in PAGES.items() if PLACE.search(text)])
def test_a_page_is_current(name: str):
    """After a change: `make openapi`."""
    assert filled(PAGES[name]) == PAGES[name]


def test_each_part_has_a_place():
    assert sorted(place["name"] for text in PAGES.values() for place in PLACE.finditer(text)) == sorted(PARTS)
