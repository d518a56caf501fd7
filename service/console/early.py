"""Pages that take long: their frame is sent immediately, and the rest in the same answer when it is known.

So a browser shows where it is going before a large space is read. It needs no script for that.
"""

import asyncio
import re
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from html import escape
from typing import Any

from litestar import Request, Response
from litestar.response import Stream

from muisti.service.asgi.messages import chosen
from muisti.service.console.visit import Visit, visited

PATIENCE = 0.1  # seconds after which the frame goes first
GZIP = 31  # window of zlib with the header of gzip
MAIN = '<main id="main" tabindex="-1">'
TITLE = re.compile("<title>[^<]*+</title>")
WAITING = '<div class="waiting quiet" role="status">Reading …</div>'  # goes when anything comes after it
PAGE = "<!-- page -->"  # comes before what a page adds to the head

Asked = Request[Any, Any, Any]
Answer = Response[Any]
Answering = Callable[[Visit], Awaitable[Answer]]


class Early:
    """How pages are answered early: `frame` draws one without its content, `refused` and `crashed` draw errors."""

    def __init__(
        self,
        frame: Callable[[Asked, Visit], Response[str]],
        refused: Mapping[type[Exception], Callable[[Asked, Any], Answer]],
    ) -> None:
        self._frame = frame
        self._refused = refused

    async def answer(self, request: Asked, answering: Answering) -> Answer:
        """Return the answer, or a stream that begins with the frame of its page.

        Raises:
            NotSignedIn: the server needs a key, and the browser has no session that works.
        """
        opened: asyncio.Future[Visit] = asyncio.get_running_loop().create_future()
        made = asyncio.create_task(_made(request, answering, opened))
        try:
            await asyncio.wait({made, opened}, return_when=asyncio.FIRST_COMPLETED)
            if _navigates(request):
                await asyncio.wait({made}, timeout=PATIENCE)
            else:
                await asyncio.wait({made})
        except asyncio.CancelledError:
            made.cancel()
            raise
        if made.done():
            return made.result()
        frame = self._frame(request, opened.result())
        headers = {name: value for name, value in frame.headers.items() if name.lower() != "content-length"}
        smaller = None
        if chosen(request.headers.get("accept-encoding", "").replace("zstd", "").encode("latin-1", "replace")):
            smaller = zlib.compressobj(4, zlib.DEFLATED, GZIP)
            headers["Content-Encoding"] = "gzip"
        pieces = self._pieces(request, str(frame.content), made)
        return Stream(_sent(pieces, smaller), media_type="text/html; charset=utf-8", headers=headers)

    async def _pieces(self, request: Asked, frame: str, made: asyncio.Task[Answer]) -> AsyncIterator[str]:
        try:
            yield frame.partition(MAIN)[0] + WAITING
            try:
                answer = await made
            except Exception as error:  # noqa: BLE001 - as the application draws those of other pages
                kind = next(one for one in (*self._refused, Exception) if isinstance(error, one))
                answer = self._refused[kind](request, error)
            yield _rest(answer)
        finally:
            made.cancel()


def _navigates(request: Asked) -> bool:
    """Tell whether a browser opens a page, and not a script or a program."""
    return "text/html" in request.headers.get("accept", "") and "hx-request" not in request.headers


async def _made(request: Asked, answering: Answering, opened: "asyncio.Future[Visit]") -> Answer:
    async with visited(request, request.app.state["api"]) as visit:
        opened.set_result(visit)
        return await answering(visit)


def _rest(answer: Answer) -> str:
    """Return what a page has beyond its frame: its title, what it adds to the head, and all from `main` on."""
    if location := answer.headers.get("Location"):
        return f'<meta http-equiv="refresh" content="0; url={escape(location)}"></body></html>'
    page = str(answer.content)
    title = TITLE.search(page)
    head = page.partition(PAGE)[2].partition("</head>")[0]
    return (title[0] if title else "") + head + MAIN + page.partition(MAIN)[2]


async def _sent(pieces: AsyncIterator[str], smaller: "zlib._Compress | None") -> AsyncIterator[bytes]:
    async for piece in pieces:
        content = piece.encode()
        yield content if smaller is None else smaller.compress(content) + smaller.flush(zlib.Z_SYNC_FLUSH)
    if smaller is not None:
        yield smaller.flush()
