"""Pictures of graphs: whole, readable, and the same for the same graph."""

import random
import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from muisti.core.graph.model import Edge, Node
from muisti.core.model.choices import ENTITY_KINDS
from muisti.service.graph.layout import NODES_MAX, Box, Label, apart, layout, placed
from muisti.service.graph.svg import COLOURS, Picture, svg

SVG = "{http://www.w3.org/2000/svg}"


def picture(size: int, ties: int, seed: int = 1) -> Picture:
    drawn = random.Random(seed)
    nodes = [
        Node(id=f"n{n}", name=f"<Name & {n}>", kind=ENTITY_KINDS[n % len(ENTITY_KINDS)], mentions=n % 30 + 1)
        for n in range(size)
    ]
    ends = [(drawn.randrange(size), drawn.randrange(size)) for _ in range(ties)]
    edges = [Edge(source=f"n{a}", target=f"n{b}", kind=drawn.choice(["mentioned_with", "knows"])) for a, b in ends]
    return Picture(nodes=nodes, edges=edges, title="Around <Ann>", centre="n0")


def shapes(text: str) -> list[ET.Element]:
    """Return what stands for nodes, without the legend."""
    root = ET.fromstring(text)
    return [one for one in root if one.tag in (f"{SVG}circle", f"{SVG}rect") and " · " in (one[0].text or "")]


@pytest.mark.parametrize(("size", "ties"), [(1, 0), (2, 1), (40, 60), (120, 200)])
def test_every_node_is_on_the_page_and_apart(size: int, ties: int):
    text = svg(picture(size, ties))
    root = ET.fromstring(text)
    width, height = map(float, root.attrib["viewBox"].split()[2:])
    found = [one for one in shapes(text) if one.attrib.get("class") != "legend"]
    centres = [
        (float(one.attrib["cx"]), float(one.attrib["cy"]))
        if one.tag == f"{SVG}circle"
        else (float(one.attrib["x"]) + float(one.attrib["width"]) / 2, float(one.attrib["y"]))
        for one in found
    ]
    drawn = [(x, y) for x, y in centres if x < width - 190]
    assert len(drawn) == size
    assert all(0 < x < width and 0 < y < height for x, y in drawn)
    assert len({(round(x), round(y)) for x, y in drawn}) == size


def test_the_same_graph_gives_the_same_picture():
    assert svg(picture(60, 90)) == svg(picture(60, 90))


def test_a_picture_has_no_script_and_escapes_names():
    text = svg(picture(10, 10))
    assert "<script" not in text
    assert "&lt;Name &amp; 3&gt;" in text
    assert re.search(r"\bon\w+=", text) is None


def test_the_legend_names_each_kind_that_is_there():
    text = svg(picture(len(ENTITY_KINDS), 12))
    assert all(f"{kind} (1)" in text for kind in ENTITY_KINDS)
    assert "text (" not in text
    assert {*COLOURS} >= {*ENTITY_KINDS}


def test_denied_relations_and_words_are_told_apart():
    ann = Node(id="a", name="Ann", kind="person")
    edges = [
        Edge(source="a", literal="dark roast", kind="likes"),
        Edge(source="a", literal="tea", kind="likes", negative=True),
    ]
    text = svg(Picture(nodes=[ann], edges=edges, title="Ann", left_out=1_200))
    assert 'class="not"' in text
    assert "Ann not likes tea" in text
    assert "text (2)" in text
    assert "1,200 more not drawn" in text


def test_too_many_nodes_are_refused():
    with pytest.raises(ValueError, match="300 at most"):
        svg(picture(NODES_MAX + 1, 0))


def test_no_label_covers_another_or_a_node():
    drawn = random.Random(4)
    labels = [Label(f"name {n}", drawn.random() * 600, drawn.random() * 400, 5.0, 12.0) for n in range(80)]
    taken = [Box(one.x - 5, one.y - 5, one.x + 5, one.y + 5) for one in labels]
    nodes = len(taken)
    found = [*placed(labels, taken, (600, 400))]
    names = taken[nodes:]
    assert len(found) == len(names) > 20
    for number, box in enumerate(names):
        assert not any(box.covers(other) for other in [*taken[: nodes + number]])


def test_what_is_tied_is_closer_than_what_is_not():
    """Two groups of ten, each tied within: inside distances are smaller than those between the groups."""
    edges = np.array([(a, b) for start in (0, 10) for a in range(start, start + 10) for b in range(a + 1, start + 10)])
    places = layout(20, edges, np.ones(len(edges)))
    gaps = np.linalg.norm(places[:, None] - places[None], axis=2)
    within = (gaps[:10, :10].sum() + gaps[10:, 10:].sum()) / 180
    assert within * 1.5 < gaps[:10, 10:].mean()


@pytest.mark.parametrize("width", [360, 1_440])
def test_a_picture_has_the_width_that_is_asked_for(width: int):
    wide = picture(25, 40)
    root = ET.fromstring(svg(Picture(nodes=wide.nodes, edges=wide.edges, title=wide.title, width=width)))
    assert float(root.attrib["width"]) == width
    height = float(root.attrib["height"])
    written = {one.text: (float(one.attrib["x"]), float(one.attrib["y"])) for one in root if one.tag == f"{SVG}text"}
    assert all(0 <= x < width and 0 < y < height for x, y in written.values())
    x, y = written["Around <Ann>"]
    assert (x, y) == ((16, y) if width == 360 else (width - 174, 34))
    assert len({node.name for node in wide.nodes} - written.keys()) <= 2


def test_of_many_ties_the_strongest_are_drawn_and_the_others_counted():
    nodes = [Node(id=f"n{n}", name=f"Name {n}", kind="person") for n in range(12)]
    ties = [
        Edge(source=f"n{a}", target=f"n{b}", kind="mentioned_with", weight=a + b) for a in range(12) for b in range(a)
    ]
    stated = [Edge(source=f"n{n}", target="n0", kind="knows") for n in range(1, 12)]
    root = ET.fromstring(svg(Picture(nodes=nodes, edges=[*ties, *stated], title="Ann")))
    lines = [one.attrib["class"] for one in root if one.tag == f"{SVG}line" and len(one)]
    assert lines.count("fact") == len(stated)
    (counted,) = (one.text or "" for one in root if "weaker" in (one.text or ""))
    assert lines.count("tie") + int(counted.split()[0]) == len(ties) - len(stated)
    assert 12 < lines.count("tie") < 48


def test_discs_do_not_overlap_and_stay_on_the_page():
    drawn = np.random.default_rng(2)
    sizes = drawn.uniform(4, 30, 40)
    places = apart(drawn.uniform(300, 330, (40, 2)), sizes, (900.0, 600.0))
    gaps = np.linalg.norm(places[:, None] - places[None], axis=2) - sizes[:, None] - sizes[None]
    assert gaps[~np.eye(40, dtype=bool)].min() > 0
    assert (places >= sizes[:, None]).all()
    assert (places <= np.array([900, 600]) - sizes[:, None]).all()
