"""Writes and searches with models that take long or fail: `python -m loadtests.slow_models [--onnx PLACE TOKENIZER]`.

It stores memories in a new database with each model, one at a time, and asks for each. For models that embed later it
then embeds all. The endpoint is a server in this process that has the vectors of the static model, with or without
a pause, or is dead. Times are medians in milliseconds; `late` counts the answers that say what they lack.
"""

import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import click
import msgspec

from muisti.core.databases import open_file
from muisti.core.embedding.encoder import Encoder, StaticEncoder
from muisti.core.embedding.models import Hosted, recognise
from muisti.core.embedding.onnx import OnnxEncoder
from muisti.core.engine import Engine
from muisti.core.model.errors import ModelUnavailable
from muisti.core.model.times import system_clock
from muisti.core.model.values import Draft
from muisti.core.query.query import Query
from muisti.service.outgoing.addresses import Allowed
from muisti.service.providers.endpoint import Endpoint, EndpointEncoder

SPACE = "default"
TEXT = "Note {n}: the job {n} copies the orders of shop {m} into the reporting database, and the team checks them."
SECONDS = 0.2  # that a search waits for the vector of its query
ROW = "{:<24}{:>10}{:>12}{:>8}{:>12}{:>8}{:>14}"


class _Answering(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    pause = 0.0
    model = StaticEncoder()

    def do_POST(self) -> None:
        body = msgspec.json.decode(self.rfile.read(int(self.headers["content-length"])))
        time.sleep(self.pause)
        vectors = self.model.encode(body["input"]).tolist()
        data = msgspec.json.encode({"data": [{"index": n, "embedding": row} for n, row in enumerate(vectors)]})
        with suppress(ConnectionError):  # of a client that waits no longer
            self.send_response(200)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def endpoint(pause: float | None) -> Iterator[EndpointEncoder]:
    """Yield an encoder of an endpoint that answers after `pause` seconds, or, with None, a dead one."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Answering", (_Answering,), {"pause": pause or 0.0}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/v1"
    asked = Endpoint(url=url, model="static", query_seconds=SECONDS, seconds=5.0)
    encoder = EndpointEncoder(asked, Allowed((f"127.0.0.1:{server.server_port}",), private=True))
    encoder.settle(recognise(encoder.configuration, encoder.probe(), []))
    if pause is None:
        server.shutdown()
        server.server_close()
        encoder = EndpointEncoder(asked, Allowed((f"127.0.0.1:{server.server_port}",), private=True), lambda _: None)
    yield encoder
    encoder.close()
    if pause is not None:
        server.shutdown()
        server.server_close()


def measured(name: str, encoder: Encoder, writes: int) -> str:
    """Return a row of the table."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Engine(open_file(Path(folder) / "slow.db"), encoder, system_clock) as engine,
    ):
        if isinstance(encoder, Hosted):
            with suppress(ModelUnavailable):  # by the dead one
                engine.recognition.check()
        texts = [TEXT.format(n=n, m=n % 7) for n in range(writes)]
        stored = [_timed(lambda text=text: engine.owner.write.add(SPACE, [Draft(content=text)])) for text in texts]
        rate = _embedded(engine, writes) if encoder.deferred else None
        asked = [_timed(lambda n=n: _search(engine, n)) for n in range(0, writes, 5)]
        return ROW.format(
            name,
            f"{statistics.median(took for took, _ in stored):.2f}",
            f"{max(took for took, _ in stored):.1f}",
            sum(bool(written.degraded) for _, written in stored),
            f"{statistics.median(took for took, _ in asked):.2f}",
            sum(bool(answer.degraded) for _, answer in asked),
            "-" if rate is None else f"{rate:.0f}",
        )


def _search(engine: Engine, number: int) -> Any:
    answer = engine.owner.read.search(SPACE, Query(text=f"which job copies the orders of shop {number}"))
    assert answer.hits
    return answer


def _embedded(engine: Engine, texts: int) -> float:
    """Embed all, and return how many texts a second that was; 0 when the model does not answer."""
    began = time.perf_counter()
    try:
        while engine.vectors.step(SPACE):
            pass
    except ModelUnavailable:
        return 0.0
    return texts / (time.perf_counter() - began)


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    began = time.perf_counter()
    made = work()
    return 1000 * (time.perf_counter() - began), made


@click.command()
@click.option("--onnx", nargs=2, metavar="PLACE TOKENIZER", help="A model in ONNX format, and its tokenizer.")
@click.option("--writes", default=300, show_default=True)
def main(onnx: tuple[str, str] | None, writes: int) -> None:
    """Print the table."""
    click.echo(ROW.format("model", "add ms", "slowest", "late", "search ms", "late", "embedded/s"))
    click.echo(measured("static", StaticEncoder(), writes))
    for name, pause in (("endpoint", 0.0), ("endpoint, 100 ms", 0.1), ("endpoint, 1 s", 1.0), ("dead endpoint", None)):
        with endpoint(pause) as encoder:
            click.echo(measured(name, encoder, writes))
    if onnx is not None:
        click.echo(measured("ONNX", OnnxEncoder(onnx[0], tokenizer=Path(onnx[1])), writes))


if __name__ == "__main__":
    main()
