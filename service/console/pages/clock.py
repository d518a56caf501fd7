"""The slider of the whole console: it shows the page where it is opened as it was then."""

from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath

from muisti.service.console.answers import is_own, page
from muisti.service.console.pages.timeline import PATH
from muisti.service.console.render import View
from muisti.service.console.times import line, second
from muisti.service.console.visit import AS_OF, OF_NOW, Visit


@get(f"{PATH}/slider")
async def show_slider(space: FromPath[str], visit: NamedDependency[Visit]) -> Response[str]:
    """Show the slider between the creation of the space and now, with the checkpoints as marks."""
    here = visit.request.query_params.get("here", "")
    parts = urlsplit(here if is_own(here) else visit.to())
    asked = parse_qsl(parts.query)
    kept = [(name, value) for name, value in asked if name not in OF_NOW]
    found, now = await visit.api.get_space(space), datetime.now(UTC)
    first = second(datetime.fromisoformat(found["created_at"]))
    last = max(first, int(now.timestamp()))
    marks = line(found["created_at"], (await visit.api.list_checkpoints(space))["items"], now)
    model: dict[str, Any] = {
        "action": parts.path,
        "kept": kept,
        "present": _at(parts.path, kept, None),
        "first": first,
        "last": last,
        "value": min(max(_second(dict(asked).get(AS_OF)) or last, first), last),
        "created_at": found["created_at"],
        "marks": [(one, _at(parts.path, kept, one.at)) for one in marks],
    }
    return page(visit, View("slider.html", model, block="slider"))


def _at(path: str, kept: list[tuple[str, str]], at: str | None) -> str:
    given = kept if at is None else [*kept, (AS_OF, at)]
    return path + (f"?{urlencode(given)}" if given else "")


def _second(at: str | None) -> int | None:
    """Return the second of a time; None for now and for points of history that are no times."""
    try:
        return second(datetime.fromisoformat(at)) if at else None
    except ValueError:
        return None


ROUTES = (show_slider,)
