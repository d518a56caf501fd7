"""Workloads of applications, in sessions that begin at random times, however busy the server is.

Locust's users wait for their answers, and so ask less of a slow server (coordinated omission). Here a user is one kind
of application, which begins sessions at the times of a Poisson process. The latency of a request counts from the time
it was due. `python -m loadtests.load` runs this file and judges the results; by hand:

    locust -f loadtests/locustfile.py --headless --users 9 --run-time 30s --host http://127.0.0.1:8321 --texts FILE
"""

import json
import random
import time
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import gevent
from gevent.pool import Pool
from geventhttpclient import HTTPClient
from locust import User, constant, events, task

CONNECTIONS = 512
IMPORTED = 100  # memories of a batch
HOSTILE_CODE = "<!--" * 7_500  # text that parsers of code recover from slowly
THINKING_SECONDS = 0.5  # between what an agent recalls and what it remembers
MCP_VERSION = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": MCP_VERSION,
    "io.modelcontextprotocol/clientInfo": {"name": "load", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
JSON = {"Content-Type": "application/json"}


class Given:
    """Parameters of this run, shared by all users."""

    rate: float
    space: str
    texts: list[str]
    client: HTTPClient
    numbers = count()


@events.init_command_line_parser.add_listener
def options(parser: Any) -> None:
    parser.add_argument("--rate", type=float, default=10.0, help="sessions that begin in a second, of all kinds")
    parser.add_argument("--space", default="default", help="space that is asked and written to")
    parser.add_argument("--texts", required=True, help="file with a text on each line")
    parser.add_argument("--without", default="", help="requests that the other tenant leaves out, with commas")
    parser.add_argument("--samples", help="file for each request: name, seconds when due, milliseconds, status")


@events.test_start.add_listener
def begin(environment: Any, **_: Any) -> None:
    chosen, url = environment.parsed_options, urlsplit(environment.host)
    Given.rate, Given.space = chosen.rate, chosen.space
    Given.texts = Path(chosen.texts).read_text("utf-8").splitlines()
    Given.client = HTTPClient(
        url.hostname, url.port or 80, concurrency=CONNECTIONS, connection_timeout=30, network_timeout=30
    )
    samples: list[tuple[str, float, float, int]] = []
    began = time.time()

    def note(name: str, start_time: float, response_time: float, context: Any, **_: Any) -> None:
        samples.append((name, start_time - began, response_time, context["status"]))

    def keep(**_: Any) -> None:
        if chosen.samples:
            Path(chosen.samples).write_text(json.dumps(samples))

    environment.events.request.add_listener(note)
    environment.events.quitting.add_listener(keep)


class Application(User):
    """One kind of application. `share` is its part of all sessions."""

    abstract = True
    decodes = True  # whether it looks into the answers
    fixed_count = 1
    wait_time = constant(0)
    share: float

    @task
    def arrive(self) -> None:
        """Begin sessions until the end of the run, each when it is due."""
        rng, sessions, due = random.Random(type(self).__name__), Pool(), time.time()
        try:
            while True:
                due += rng.expovariate(Given.rate * self.share)
                gevent.sleep(max(0.0, due - time.time()))
                sessions.spawn(self.session, due, random.Random(rng.random()))
        finally:  # locust ends its users; who has begun may finish
            sessions.join(timeout=10)

    def session(self, due: float, rng: random.Random) -> None:
        raise NotImplementedError

    def ask(self, name: str, due: float, method: str, path: str, body: Any = None, *more: int, **headers: str) -> Any:
        """The answer as JSON, None when there is none or another status than 2xx or `more`."""
        sent = None if body is None else json.dumps(body).encode()
        named = {key.replace("_", "-"): value for key, value in headers.items()}
        answer, status, problem, size = None, 0, None, 0
        try:
            response = Given.client.request(method, path, sent or b"", {**JSON, **named})
            raw, status = response.read(), response.status_code
            size = len(raw)
            if 200 <= status < 300 or status in more:
                answer = json.loads(raw) if raw and self.decodes else {}
            else:
                problem = RuntimeError(f"{status} {raw[:100]!r}")
        except OSError as error:
            problem = error
        self.environment.events.request.fire(
            request_type=type(self).__name__,
            name=name,
            start_time=due,
            response_time=1000 * (time.time() - due),
            response_length=size,
            exception=problem,
            context={"status": status},
        )
        return answer

    def search(self, name: str, due: float, rng: random.Random, **options: Any) -> Any:
        return self.ask(name, due, "POST", f"/v1/spaces/{Given.space}/search", {"query": question(rng), **options})


class ChatAgent(Application):
    """Recalls memories about a topic, pauses, and remembers something."""

    share = 0.4

    def session(self, due: float, rng: random.Random) -> None:
        self.search("recall", due, rng, limit=5)
        gevent.sleep(rng.expovariate(1 / THINKING_SECONDS))
        body = {"content": text(rng), "category": "notes", "tags": ["chat"]}
        self.ask("remember", time.time(), "POST", f"/v1/spaces/{Given.space}/memories", body, 409)


class ReadMostly(Application):
    """Shows a page, looks into a memory, searches twice, and seldom changes anything."""

    share = 0.24

    def session(self, due: float, rng: random.Random) -> None:
        memories = f"/v1/spaces/{Given.space}/memories"
        page = self.ask("list", due, "GET", f"{memories}?{urlencode({'limit': 20})}")
        for item in (page or {}).get("items", [])[:1]:
            self.ask("get", time.time(), "GET", f"{memories}/{item['id']}", None, 404)
        self.search("search", time.time(), rng)
        self.search("search with a filter", time.time(), rng, filter={"kind": "memory"})
        if rng.random() < 0.1:
            address = f"/v1/spaces/{Given.space}/entries/settings/{rng.randrange(20)}"
            self.ask("put entry", time.time(), "PUT", address, {"content": text(rng)})


class McpAgent(Application):
    """Calls tools: recalls, and remembers."""

    share = 0.14

    def session(self, due: float, rng: random.Random) -> None:
        self.call("recall", due, {"query": question(rng)})
        self.call("remember", time.time(), {"content": text(rng), "on_conflict": "keep"})

    def call(self, tool: str, due: float, arguments: dict[str, Any]) -> None:
        params = {"name": tool, "arguments": {**arguments, "space": Given.space}, "_meta": META}
        message = {"jsonrpc": "2.0", "id": next(Given.numbers), "method": "tools/call", "params": params}
        headers = {"Mcp_Protocol_Version": MCP_VERSION, "Mcp_Method": "tools/call", "Mcp_Name": tool}
        accept = "application/json, text/event-stream"
        self.ask(f"tool {tool}", due, "POST", "/mcp", message, Accept=accept, **headers)


class BulkImport(Application):
    """Stores a hundred memories in one request."""

    share = 0.02

    def session(self, due: float, rng: random.Random) -> None:
        memories = [{"content": text(rng)} for _ in range(IMPORTED)]
        body = {"memories": memories, "on_conflict": "keep"}
        self.ask("import", due, "POST", f"/v1/spaces/{Given.space}/memories/batch", body)


class Conversing(Application):
    """Keeps a conversation: adds a turn and its reply, and reads the last turns."""

    share = 0.08

    def session(self, due: float, rng: random.Random) -> None:
        at = f"/v1/spaces/{Given.space}/conversations/talk-{rng.randrange(50)}/exchanges"
        turn = {"author": "Ann", "user": text(rng), "system": text(rng)}
        self.ask("add exchange", due, "POST", at, {"items": [turn]})
        self.ask("list exchanges", time.time(), "GET", f"{at}?limit=20")


class ContextReader(Application):
    """Asks for the context of a question, as a program does before each call of a model."""

    share = 0.05

    def session(self, due: float, rng: random.Random) -> None:
        body = {"query": question(rng), "token_budget": 1_000}
        self.ask("context", due, "POST", f"/v1/spaces/{Given.space}/context", body)


class DocumentKeeper(Application):
    """Stores a page of text and reads it back."""

    share = 0.03

    def session(self, due: float, rng: random.Random) -> None:
        at, path = f"/v1/spaces/{Given.space}/documents", f"pages/{rng.randrange(200)}.md"
        page = "\n\n".join(text(rng) for _ in range(10))
        self.ask("add document", due, "POST", at, {"path": path, "content": page})
        self.ask("list documents", time.time(), "GET", f"{at}?limit=20")


class Programmer(Application):
    """Stores a source file, and asks who calls a function."""

    share = 0.02

    def session(self, due: float, rng: random.Random) -> None:
        number, space = rng.randrange(50), f"/v1/spaces/{Given.space}"
        step = f"def step_{number}(x):\n    return x + {next(Given.numbers)}\n"
        source = f"{step}\n\ndef run(x):\n    return step_{number}(x)\n"
        self.ask("add code", due, "POST", f"{space}/documents", {"path": f"src/m{number}.py", "content": source})
        self.ask("callers", time.time(), "GET", f"{space}/code/callers?symbol=step_{number}", None, 404)


class GraphReader(Application):
    """Asks which people and places memories name, and about one of them."""

    share = 0.02

    def session(self, due: float, rng: random.Random) -> None:
        at = f"/v1/spaces/{Given.space}/graph/entities"
        found = self.ask("entities", due, "GET", f"{at}?limit=20")
        for item in (found or {}).get("items", [])[:1]:
            self.ask("entity", time.time(), "GET", f"{at}/{item['id']}", None, 404)


class Worst(Application):
    """The other tenant, who does what costs most, and again as soon as it is answered. Runs only when it is named."""

    share = 0.0
    fixed_count = 0
    decodes = False

    @task
    def arrive(self) -> None:
        rng = random.Random()
        kinds = {
            "entities": ("GET", "graph/entities?limit=1000", None),
            "proposals": ("GET", "graph/proposals?limit=1000", None),
            "hostile code": ("POST", "documents", {"path": f"{next(Given.numbers)}.py", "content": HOSTILE_CODE}),
            "history": ("GET", "entries/long/versions/history?limit=100", None),
            "large context": ("POST", "context", {"query": "Ann Lee day", "token_budget": 200_000}),
            "suggestions": ("POST", "conversations/endless/suggestions?dry_run=true", {}),
            "picture": ("GET", "graph/picture?limit=260", None),
        }
        name = rng.choice([*kinds.keys() - {*self.environment.parsed_options.without.split(",")}])
        method, path, body = kinds[name]
        self.ask(name, time.time(), method, f"/v1/spaces/{Given.space}/{path}", body)
        gevent.sleep(0.01)


def text(rng: random.Random) -> str:
    """One of the texts, made new by a number."""
    return f"{rng.choice(Given.texts)} ({next(Given.numbers)})"


def question(rng: random.Random) -> str:
    """Some words of a text, and one of another."""
    words = rng.choice(Given.texts).split()
    first = rng.randrange(max(1, len(words) - 6))
    return " ".join([*words[first : first + 6], rng.choice(rng.choice(Given.texts).split())])
