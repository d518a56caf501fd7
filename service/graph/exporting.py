"""The graph of a space in a format of another program, from a server or from the database of this machine."""

from collections.abc import Iterator
from contextlib import contextmanager

from muisti.client import calls
from muisti.core.query.points import parse
from muisti.service.graph.formats import GraphFormat, exported
from muisti.service.terminal.base import Globals
from muisti.service.terminal.transfer_ends import End, There, existing, opened_end, refusing


@contextmanager
def exported_graph(options: Globals, space: str, form: GraphFormat, as_of: str | None) -> Iterator[Iterator[bytes]]:
    """Stream the graph in pieces.

    Raises:
        Failure: there is no such space, or the command may not read it.
    """
    with opened_end(options, need="read") as end, existing(space), streamed(end, space, form, as_of) as pieces:
        yield pieces


@contextmanager
def streamed(end: End, space: str, form: GraphFormat, as_of: str | None) -> Iterator[Iterator[bytes]]:
    """Stream the graph of one end in pieces."""
    if isinstance(end, There):
        with end.client.stream(calls.export_graph(space, format=form, as_of=as_of)) as response:
            yield response.iter_bytes()
        return
    with refusing():
        graph = end.memories.graph.export(space, as_of=parse(as_of))
    yield exported(form, graph.nodes(), graph.edges())
