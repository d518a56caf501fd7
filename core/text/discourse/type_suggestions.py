"""Suggestions about what was written: a text that reads like a standing instruction may be given the type `guard`.

Nothing is set without the writer. A suggestion follows from the memory alone, so a repeated request gets it again.
"""

from collections.abc import Iterable, Iterator

from muisti.core.model.outcomes import TypeSuggestion
from muisti.core.model.values import Memory, Stretch
from muisti.core.text.standing import asked_of, recognised


def suggested(memories: Iterable[Memory]) -> Iterator[TypeSuggestion]:
    """Yield a suggestion for each memory that the rule recognises and that is no guard."""
    for memory in memories:
        if memory.type == "guard":
            continue
        speaker = memory.author or memory.metadata.get("speaker")
        author = speaker if isinstance(speaker, str) else None
        said = asked_of(memory.kind, memory.content, author, memory.structure)
        found = recognised(said.text, kind=memory.kind, trust=memory.trust, author=said.speaker)
        if found is not None:
            start, scope = said.start, found.scope
            scope = None if scope is None else Stretch(start + scope.start, start + scope.stop)
            yield TypeSuggestion(id=memory.id, type="guard", scope=scope)
