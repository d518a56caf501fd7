"""A picture of a small graph in SVG, with a legend, without script, light and dark as the reader's screen is."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from muisti.core.graph.model import Edge, Node
from muisti.core.model.choices import NodeKind
from muisti.service.graph.formats import closed, xml
from muisti.service.graph.layout import NODES_MAX, Box, Label, apart, layout, placed, wide

# Colours that people with colour blindness can tell apart, after Okabe and Ito.
COLOURS: Mapping[NodeKind, str] = {
    "person": "#0072b2",
    "organisation": "#d55e00",
    "place": "#009e73",
    "work": "#cc79a7",
    "product": "#b8860b",
    "event": "#882255",
    "date": "#7f7f7f",
    "identifier": "#56b4e9",
    "symbol": "#332288",
    "title": "#aa4499",
    "other": "#5f6b7a",
    "text": "#a8a29e",
}
_STYLE = """
svg{--ink:#1e293b;--soft:#64748b;--page:#ffffff;--line:#94a3b8;--rim:#ffffff;background:var(--page);font-family:system-ui,sans-serif}
@media(prefers-color-scheme:dark){svg{--ink:#e2e8f0;--soft:#94a3b8;--page:#0f172a;--line:#64748b;--rim:#cbd5e1}}
.tie{stroke:var(--line);stroke-dasharray:2 4;opacity:.7}
.fact{stroke:var(--soft)}
.not{stroke:#b91c1c}
text{fill:var(--ink);paint-order:stroke;stroke:var(--page);stroke-width:3px;stroke-linejoin:round}
.soft{fill:var(--soft)}
circle,rect.node{stroke:var(--rim);stroke-width:1px}
.centre{stroke:var(--ink);stroke-width:3px}
"""
WIDTH_MIN, WIDTH_MAX = 320, 4_000  # pixels
_MARGIN = 60.0
_LEGEND = 190.0  # width of the legend, at the right
_BELOW = 340.0  # height of the legend, below
_TEXT, _SMALL = 13.0, 10.5  # size of letters of names, and of kinds of relations
_NARROW = 700.0  # a picture that is narrower has its legend below
_STRONGEST = 4  # ties of a node that are drawn when many are only mentioned together
_NAME = 28  # characters of a name in the picture; all are in its tooltip


class Picture(Struct, frozen=True, kw_only=True):
    """A graph to draw: at most `NODES_MAX` nodes, their edges, a title, and the node in the middle of interest.

    `left_out` counts nodes that were left out, which the picture says. `width` is in pixels; without it, the width
    grows with the number of nodes.
    """

    nodes: Sequence[Node]
    edges: Sequence[Edge]
    title: str
    centre: str | None = None
    left_out: int = 0
    width: int | None = None


class _Page(NamedTuple):
    """The size of the drawing, that of the whole picture, and the upper left corner of the legend."""

    drawing: tuple[float, float]
    whole: tuple[float, float]
    legend: tuple[float, float]


class _Line(NamedTuple):
    """All edges between two nodes, in one direction or both, as one line."""

    source: int
    target: int
    words: tuple[str, ...]
    tooltip: str
    weight: int
    style: str


def svg(picture: Picture) -> str:
    """Return the picture. The same graph gives the same bytes.

    Raises:
        ValueError: the graph has more than `NODES_MAX` nodes, words that are objects included.
    """
    parts = [*closed(picture.nodes, picture.edges)]
    nodes = [part for part in parts if isinstance(part, Node)]
    if len(nodes) > NODES_MAX:
        raise ValueError(f"{len(nodes)} nodes; a picture has {NODES_MAX} at most")
    every = _lines(nodes, [part for part in parts if isinstance(part, Edge)])
    lines = _strongest(every)
    page = _page(len(nodes), picture.width)
    sizes = [_radius(node) for node in nodes]
    places = apart(_places(nodes, lines, page.drawing), np.array(sizes), page.drawing)
    drawn = [*_drawn_lines(lines, places, sizes), *_drawn_nodes(nodes, places, sizes, picture.centre)]
    drawn += _names(nodes, lines, places, sizes, page.drawing)
    drawn += _legend(nodes, lines, picture, len(every) - len(lines), page.legend)
    width, height = page.whole
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" role="img" aria-labelledby="title about">'
    )
    about = f"{len(nodes)} nodes and {len(lines)} ties, with a legend."
    names = f'<title id="title">{xml(picture.title)}</title><desc id="about">{about}</desc>'
    arrow = (
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
        'markerUnits="userSpaceOnUse" orient="auto-start-reverse"><path d="M0 0 8 4 0 8z" fill="#64748b"/>'
        "</marker></defs>"
    )
    return "\n".join([head, names, f"<style>{_STYLE}</style>", arrow, *drawn, "</svg>", ""])


def _page(size: int, width: int | None) -> _Page:
    """Return the page for a number of nodes. The legend is at the right, or below where there is no room for it."""
    height = 320.0 + 46.0 * size**0.5 if size < 40 else 130.0 + 76.0 * size**0.5
    if width is None:
        drawing = (round(height * 1.5), round(height))
        return _Page(drawing, (drawing[0] + _LEGEND, drawing[1]), (drawing[0], 0.0))
    if width >= _NARROW:
        drawing = (width - _LEGEND, max(320, round(height * height * 1.5 / (width - _LEGEND))))
        return _Page(drawing, (width, drawing[1]), (drawing[0], 0.0))
    drawing = (width, max(320, round(height * height * 1.5 / width)))
    return _Page(drawing, (width, drawing[1] + _BELOW), (0.0, drawing[1]))


def _places(nodes: Sequence[Node], lines: Sequence[_Line], page: tuple[float, float]) -> np.ndarray:
    ends = np.array([(line.source, line.target) for line in lines], np.int64).reshape(-1, 2)
    weights = np.array([line.weight for line in lines], float)
    room = np.array(page) - 2 * _MARGIN
    return layout(len(nodes), ends, weights, page[0] / page[1]) * room + _MARGIN


def _radius(node: Node) -> float:
    return 4.0 if node.kind == "text" else 5.0 + 2.2 * min(node.mentions, 100) ** 0.5


def _lines(nodes: Sequence[Node], edges: Sequence[Edge]) -> list[_Line]:
    """Return one line for each pair of nodes, with the kinds of all its edges."""
    number = {node.id: place for place, node in enumerate(nodes)}
    pairs: dict[tuple[int, int], list[Edge]] = {}
    for edge in edges:
        source, target = number.get(edge.source), number.get(edge.target or "")
        if source is None or target is None or source == target:
            continue
        pair = (target, source) if (target, source) in pairs else (source, target)
        pairs.setdefault(pair, []).append(edge)
    return [_line(nodes, pair, found) for pair, found in pairs.items()]


def _strongest(lines: Sequence[_Line]) -> list[_Line]:
    """Return all that is stated, and of the other ties those that are among the strongest of one of their ends."""
    drawn: Counter[int] = Counter()
    kept: list[_Line] = []
    for line in sorted(lines, key=lambda one: (one.style == "tie", -one.weight, one.source, one.target)):
        if line.style != "tie" or min(drawn[line.source], drawn[line.target]) < _STRONGEST:
            kept.append(line)
            drawn.update((line.source, line.target))
    return kept


def _line(nodes: Sequence[Node], pair: tuple[int, int], edges: Sequence[Edge]) -> _Line:
    stated = [edge for edge in edges if edge.kind != "mentioned_with"]
    words = tuple(dict.fromkeys(_words(edge) for edge in stated))
    style = "tie" if not stated else "not" if all(edge.negative for edge in stated) else "fact"
    first, second = nodes[pair[0]], nodes[pair[1]]
    if stated and stated[0].source != first.id:
        pair, first, second = (pair[1], pair[0]), second, first
    said = ", ".join(words) or "mentioned with"
    return _Line(*pair, words, f"{first.name} {said} {second.name}", sum(edge.weight for edge in edges), style)


def _words(edge: Edge) -> str:
    return f"{'not ' if edge.negative else ''}{edge.kind.replace('_', ' ')}"


def _drawn_lines(lines: Sequence[_Line], places: np.ndarray, sizes: Sequence[float]) -> list[str]:
    drawn: list[str] = []
    for line in sorted(lines, key=lambda one: one.style != "tie"):
        start, stop = places[line.source], places[line.target]
        way = stop - start
        length = float(np.hypot(*way)) or 1.0
        x1, y1 = start + way / length * sizes[line.source]
        x2, y2 = stop - way / length * (sizes[line.target] + 2)
        arrow = "" if line.style == "tie" else ' marker-end="url(#arrow)"'
        stroke = min(1 + 0.5 * (line.weight - 1) ** 0.5, 4)
        ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
        tooltip = f"<title>{xml(line.tooltip)}</title>"
        drawn.append(f'<line class="{line.style}" {ends} stroke-width="{stroke:.1f}"{arrow}>{tooltip}</line>')
    return drawn


def _drawn_nodes(nodes: Sequence[Node], places: np.ndarray, sizes: Sequence[float], centre: str | None) -> list[str]:
    return [
        _drawn_node(node, x, y, size, is_centre=node.id == centre)
        for node, (x, y), size in zip(nodes, places, sizes, strict=True)
    ]


def _drawn_node(node: Node, x: float, y: float, size: float, *, is_centre: bool = False) -> str:
    colour = f'fill="{COLOURS[node.kind]}"'
    counted = f"{node.mentions} {'memory' if node.mentions == 1 else 'memories'}"
    about = node.name if node.kind == "text" else f"{node.name} · {node.kind} · {counted}"
    tooltip = f"<title>{xml(about)}</title>"
    marks = f' data-kind="{node.kind}"' + (f' data-id="{xml(node.id)}"' if node.id and node.kind != "text" else "")
    if node.kind in ("text", "identifier", "symbol"):
        square = f'x="{x - size:.1f}" y="{y - size:.1f}" width="{2 * size:.1f}" height="{2 * size:.1f}" rx="2"'
        return f'<rect class="{"centre" if is_centre else "node"}" {square} {colour}{marks}>{tooltip}</rect>'
    mark = ' class="centre"' if is_centre else ""
    return f'<circle{mark} cx="{x:.1f}" cy="{y:.1f}" r="{size:.1f}" {colour}{marks}>{tooltip}</circle>'


def _names(
    nodes: Sequence[Node], lines: Sequence[_Line], places: np.ndarray, sizes: Sequence[float], page: tuple[float, float]
) -> list[str]:
    """Write names beside nodes, then kinds on lines, where there is room. What has none is in a tooltip alone."""
    taken = [Box(x - r, y - r, x + r, y + r) for (x, y), r in zip(places, sizes, strict=True)]
    order = sorted(range(len(nodes)), key=lambda number: (-sizes[number], number))
    wanted = [_name(nodes[number], places[number], sizes[number]) for number in order]
    for line in sorted(lines, key=lambda one: -one.weight):
        if line.words:
            x, y = (places[line.source] + places[line.target]) / 2
            wanted.append(Label(_short(", ".join(line.words)), x, y, 0.0, _SMALL, "soft"))
    return [
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{label.size:g}"{label.css}>{xml(label.text)}</text>'
        for label, (x, y) in placed(wanted, taken, page)
    ]


def _name(node: Node, place: np.ndarray, size: float) -> Label:
    x, y = place
    return Label(_short(node.name), x, y, size, _TEXT, "soft" if node.kind == "text" else "")


def _short(name: str) -> str:
    flat = " ".join(name.split())
    return flat if len(flat) <= _NAME else f"{flat[: _NAME - 1].rstrip()}…"


def _legend(
    nodes: Sequence[Node], lines: Sequence[_Line], picture: Picture, weaker: int, corner: tuple[float, float]
) -> list[str]:
    counts: dict[NodeKind, int] = {kind: sum(node.kind == kind for node in nodes) for kind in COLOURS}
    x, y = corner[0] + 16.0, corner[1] + 34.0
    drawn: list[str] = []
    for start in _wrapped(picture.title, _LEGEND - 26):
        drawn.append(f'<text x="{x:.0f}" y="{y:.0f}" font-size="14" font-weight="600">{xml(start)}</text>')
        y += 18
    for kind, count in counts.items():
        if count:
            y += 20
            drawn.append(_drawn_node(Node(id="", name=kind, kind=kind, mentions=count), x + 6, y - 4, 6))
            drawn.append(f'<text x="{x + 20:.0f}" y="{y:.0f}" font-size="12">{kind} ({count})</text>')
    styles = {line.style for line in lines}
    for style, words in (("fact", "stated"), ("not", "denied"), ("tie", "mentioned together")):
        if style in styles:
            y += 20
            arrow = "" if style == "tie" else ' marker-end="url(#arrow)"'
            ends = f'x1="{x:.0f}" y1="{y - 4:.0f}" x2="{x + 16:.0f}" y2="{y - 4:.0f}"'
            drawn.append(f'<line class="{style}" {ends} stroke-width="1.5"{arrow}/>')
            drawn.append(f'<text x="{x + 20:.0f}" y="{y:.0f}" font-size="12">{words}</text>')
    y += 6
    for count, what in ((picture.left_out, "more"), (weaker, "weaker ties")):
        if count:
            y += 20
            drawn.append(f'<text class="soft" x="{x:.0f}" y="{y:.0f}" font-size="12">{count:,} {what} not drawn</text>')
    return drawn


def _wrapped(text: str, room: float) -> list[str]:
    """Return the lines of a title, two at most."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and wide(longer, 14.0) > room:
            lines.append(word)
        else:
            lines[-1] = longer
    return [_short(line) for line in lines[:2]]
