"""A model server that understands nothing: it keeps the requests of agent clients, and answers each with one sentence.

It speaks Anthropic's messages, OpenAI's chat completions and responses, and Gemini's contents, as far as the clients of
`loadtests.agents` need them.
"""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SAID = "We decided to keep the release train on Tuesdays. Done."
USAGE = {"input_tokens": 1, "output_tokens": 1}
Json = dict[str, Any]
Events = list[tuple[str, Json]]


def _messages(model: str) -> tuple[Json, Events]:
    block = {"type": "text", "text": SAID}
    whole = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": [block],
        "stop_reason": "end_turn", "stop_sequence": None, "usage": USAGE,
    }  # fmt: skip
    return whole, [
        ("message_start", {"message": {**whole, "content": [], "stop_reason": None}}),
        ("content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}}),
        ("content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": SAID}}),
        ("content_block_stop", {"index": 0}),
        ("message_delta", {"delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": USAGE}),
        ("message_stop", {}),
    ]


def _chat(model: str) -> tuple[Json, Events]:
    about = {"id": "c1", "created": 1, "model": model}
    whole = {"message": {"role": "assistant", "content": SAID}, "index": 0, "finish_reason": "stop"}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    part = {"index": 0, "delta": {"role": "assistant", "content": SAID}, "finish_reason": None}
    last = {"index": 0, "delta": {}, "finish_reason": "stop"}
    chunk = {**about, "object": "chat.completion.chunk"}
    return {**about, "object": "chat.completion", "choices": [whole], "usage": usage}, [
        ("", {**chunk, "choices": [part]}),
        ("", {**chunk, "choices": [last], "usage": usage}),
    ]


def _responses(model: str) -> tuple[Json, Events]:
    item = {
        "type": "message", "role": "assistant", "id": "m1", "status": "completed",
        "content": [{"type": "output_text", "text": SAID, "annotations": []}],
    }  # fmt: skip
    usage = {**USAGE, "total_tokens": 2}
    whole = {"id": "r1", "object": "response", "status": "completed", "model": model, "output": [item], "usage": usage}
    return whole, [
        ("response.created", {"response": {**whole, "status": "in_progress", "output": []}}),
        ("response.output_item.added", {"output_index": 0, "item": {**item, "content": []}}),
        ("response.output_text.delta", {"item_id": "m1", "output_index": 0, "content_index": 0, "delta": SAID}),
        ("response.output_item.done", {"output_index": 0, "item": item}),
        ("response.completed", {"response": whole}),
    ]


def _contents(model: str) -> tuple[Json, Events]:
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    content = {"role": "model", "parts": [{"text": SAID}]}
    whole = {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}], "usageMetadata": usage}
    return {**whole, "modelVersion": model}, [("", whole)]


ANSWERS: Mapping[str, Callable[[str], tuple[Json, Events]]] = {
    "/messages": _messages, "/chat/completions": _chat, "/responses": _responses,
    ":generateContent": _contents, ":streamGenerateContent": _contents,
}  # fmt: skip


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"  # the end of an answer is the end of the connection

    def do_POST(self) -> None:
        path = self.path.partition("?")[0]
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        asked = json.loads(raw or b"{}")
        made = next((maker for ending, maker in ANSWERS.items() if path.endswith(ending)), None)
        if made is None:
            self._send(200, "application/json", json.dumps({"input_tokens": 1, "totalTokens": 1}))
            return
        self.server.asked.append((path, asked))  # pyright: ignore[reportAttributeAccessIssue]
        whole, events = made(str(asked.get("model", "made")))
        if not (asked.get("stream") or path.endswith(":streamGenerateContent")):
            self._send(200, "application/json", json.dumps(whole))
            return
        named = path.endswith(("/messages", "/responses"))
        lines = [
            (f"event: {name}\n" if named else "") + f"data: {json.dumps({'type': name, **data} if named else data)}\n\n"
            for name, data in events
        ]
        ending = ["data: [DONE]\n\n"] if path.endswith("/completions") else []
        self._send(200, "text/event-stream", "".join([*lines, *ending]))

    def do_GET(self) -> None:
        self._send(200, "application/json", json.dumps({"data": [{"id": "made"}], "models": []}))

    def do_HEAD(self) -> None:
        self._send(200, "application/json", "")

    def _send(self, status: int, kind: str, text: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: what was asked is kept."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[tuple[str, Json]] = []


@contextmanager
def serving() -> Iterator[tuple[str, list[tuple[str, Json]]]]:
    """Yield the URL of a server, and the list to which each request of a model is added."""
    server = _Server()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", server.asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
