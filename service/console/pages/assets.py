"""Style sheets, scripts and pictures of the console."""

from litestar import Response, get
from litestar.exceptions import NotFoundException
from litestar.params import FromPath

from muisti.service.console.render import STATIC, assets

FOREVER = {"Cache-Control": "public, max-age=31536000, immutable", "Cross-Origin-Resource-Policy": "same-origin"}


@get(f"{STATIC}/{{name:path}}")
async def get_file(name: FromPath[str]) -> Response[bytes]:
    """Read a file. Its URL changes with its content, so browsers keep it."""
    found = assets().get(name.removeprefix("/"))
    if found is None:
        raise NotFoundException("The console has no such file.")
    return Response(found.content, media_type=found.media, headers=FOREVER)


ROUTES = (get_file,)
