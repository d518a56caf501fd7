"""The knowledge graph for other programs, as a file in their formats, and for people, as a picture."""

from typing import Annotated, cast

from litestar import Response
from litestar.params import QueryParameter
from litestar.response import Stream

from muisti.core.model.errors import InvalidInput
from muisti.core.model.graph_terms import DEPTH_MAX
from muisti.core.query.points import parse
from muisti.service.formats.graphs.formats import FORMATS, GRAPH_FORMATS, GraphFormat, exported
from muisti.service.formats.graphs.layout import NODES_MAX
from muisti.service.formats.graphs.svg import WIDTH_MAX, WIDTH_MIN, Picture, svg
from muisti.service.http.headers import SEQ
from muisti.service.http.parameters import AsOfParameter, between
from muisti.service.http.request import Request, on_threads
from muisti.service.http.routing import Routes
from muisti.service.routes.graph import NAMED

routes = Routes("graph")

SVG = "image/svg+xml"
_WORDS = 40  # nodes of a picture that are kept free for words

FormatParameter = Annotated[
    str, QueryParameter(name="format", description="Format of the file.", enum=list(GRAPH_FORMATS))
]
CentreParameter = Annotated[
    str | None, QueryParameter(description="Name or id of the entity in the middle; else the most mentioned are drawn.")
]
PictureDepth = Annotated[int, between("Ties that are followed.", 1, DEPTH_MAX)]
PictureLimit = Annotated[
    int,
    between("Entities at most.", 1, NODES_MAX - _WORDS),
]
PictureWidth = Annotated[
    int | None,
    QueryParameter(
        description="Width in pixels. Below 700 the legend is below. By default it grows with the number of entities.",
        schema_extra={"minimum": WIDTH_MIN, "maximum": WIDTH_MAX},
    ),
]


@routes.get("/graph/export", needs="read", media="application/json", problems=NAMED)
async def export_graph(request: Request, format_: FormatParameter = "json", as_of: AsOfParameter = None) -> Stream:
    """Write all entities and relations that the caller sees as a file: GraphML, Cytoscape, Cypher, JSON-LD, DOT, JSON.

    The file shows one point of history, whatever is written meanwhile. The same graph gives the same bytes.
    """
    if format_ not in FORMATS:
        raise InvalidInput.at("$.format", f"{format_[:40]!r} is unknown; there are {', '.join(GRAPH_FORMATS)}")
    kind = FORMATS[cast(GraphFormat, format_)]
    graph = await request.ask(request.memories.graph.export, as_of=parse(as_of))
    pages = exported(cast(GraphFormat, format_), graph.nodes(), graph.edges())
    name = f"{request.space}{kind.suffix}"
    return Stream(
        on_threads(request.backend, pages),
        media_type=kind.media_type,
        headers={SEQ: str(graph.seq), "Content-Disposition": f'attachment; filename="{name}"'},
    )


@routes.get("/graph/picture", needs="read", media=SVG, problems=NAMED)
async def draw_graph(
    request: Request,
    entity: CentreParameter = None,
    depth: PictureDepth = 1,
    limit: PictureLimit = 60,
    width: PictureWidth = None,
    as_of: AsOfParameter = None,
) -> Response[str]:
    """Draw the entities around one, or the most mentioned, as SVG with a legend."""
    if not 1 <= limit <= NODES_MAX - _WORDS:
        raise InvalidInput.at("$.limit", f"is {limit}; 1 to {NODES_MAX - _WORDS} are allowed")
    if width is not None and not WIDTH_MIN <= width <= WIDTH_MAX:
        raise InvalidInput.at("$.width", f"is {width}; {WIDTH_MIN} to {WIDTH_MAX:,} are allowed")
    part = await request.ask(request.memories.graph.part, entity, depth=depth, limit=limit, as_of=parse(as_of))
    middle = next((node.name for node in part.nodes if node.id == part.centre), None)
    title = f"Most mentioned in {request.space}" if middle is None else f"Around {middle}"
    picture = Picture(
        nodes=part.nodes,
        edges=part.edges,
        title=title,
        centre=part.centre,
        left_out=part.left_out,
        width=width,
    )
    drawn = await request.backend.compute(svg, picture)
    return Response(drawn, media_type=SVG, headers={SEQ: str(part.seq)})
