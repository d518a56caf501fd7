"""Make a graph whose edges all end at nodes, for formats that have nothing but nodes and edges."""

from collections.abc import Iterable, Iterator
from hashlib import blake2b

from msgspec.structs import replace

from muisti.core.model.graph import Edge, Node


def closed(nodes: Iterable[Node], edges: Iterable[Edge]) -> Iterator[Node | Edge]:
    """Yield the nodes, then the edges. Words that are an object become a node, once, before their first edge.

    It remembers the ids of nodes of words, and nothing else.
    """
    yield from nodes
    words: set[str] = set()
    for edge in edges:
        if edge.target is not None:
            yield edge
            continue
        node = node_of(edge.literal or "")
        if node.id not in words:
            words.add(node.id)
            yield node
        yield replace(edge, target=node.id, literal=None)


def node_of(words: str) -> Node:
    """Return the node of words that are an object. Its id is made from them.

    >>> node_of("dark roast").id
    'text-ebfeb0ada56314c8'
    """
    return Node(id=f"text-{blake2b(words.encode(), digest_size=8).hexdigest()}", name=words, kind="text")
