"""Webhooks: every change arrives, signed, at least once and in order, and never where it may not go."""

import socket
import threading
from collections.abc import Callable, Iterator
from http.server import ThreadingHTTPServer
from typing import Any

import httpx
import pytest
from litestar.testing import TestClient
from standardwebhooks import Webhook

from muisti.core.engine import Engine
from muisti.core.model.times import system_clock
from muisti.core.operations.webhooks import WAITS
from muisti.service.app.app import create_app
from muisti.service.background.tasks import sweeps_of
from muisti.service.outgoing.addresses import Allowed
from muisti.service.settings import Settings
from muisti.service.webhooks.sending import Deliverer, Failed, Sender, spaces_with_due
from tests.core.fakes import WordEncoder, add
from tests.local_server import Handler, running
from tests.service.fakes import API
from tests.stores import Stores, migrated

SECOND = 1_000_000


class Receiver(ThreadingHTTPServer):
    """Server that verifies messages with the library of Standard Webhooks. A test sets the status of its answers."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.secret, self.answers = "", list[int]()
        self.taken, self.seen = list[dict[str, Any]](), list[str]()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/hook"


class _Handler(Handler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.taken()
        self.server.seen.append(self.headers["webhook-id"])
        status = self.server.answers.pop(0) if self.server.answers else 204
        if status == 204:
            self.server.taken.append(Webhook(self.server.secret).verify(body.decode(), dict(self.headers.items())))
        self.say(status, headers={"Location": self.server.url} if status == 302 else None)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with running(Receiver()) as opened:
        yield opened


@pytest.fixture
def now() -> Callable[[], int]:
    """Return the machine's clock, since a verifier of signatures uses real time."""
    return system_clock


@pytest.fixture
def engine(stores: Stores, now: Callable[[], int]) -> Iterator[Engine]:
    with Engine(migrated(stores()), WordEncoder(), now) as opened:
        yield opened


@pytest.fixture
def client(engine: Engine, receiver: Receiver) -> Iterator[httpx.Client]:
    hosts = receiver.url.split("/")[2]
    with TestClient(create_app(Settings(webhook_hosts=hosts, webhook_private=True), engine=engine)) as opened:
        yield opened


def made(client: httpx.Client, receiver: Receiver, **how: Any) -> str:
    reply = client.post(f"{API}/webhooks", json={"url": receiver.url, **how})
    assert reply.status_code == 201, reply.text
    receiver.secret = reply.json()["secret"]
    return reply.json()["id"]


def sweep(engine: Engine, receiver: Receiver, at: int | None = None) -> None:
    """Deliver all messages that are due at a time, as the sweep does."""
    deliver = Deliverer(Sender(Allowed([receiver.url.split("/")[2]], private=True)))
    now = engine.now() if at is None else at
    for space in spaces_with_due(engine, now):
        while deliver(engine, space, now):
            pass


def state(client: httpx.Client) -> dict[str, Any]:
    (one,) = client.get(f"{API}/webhooks").json()["items"]
    assert "secret" not in one
    return one


def test_every_change_arrives_signed_and_in_order_and_two_send_at_once(
    client: httpx.Client, engine: Engine, receiver: Receiver
):
    add(engine, "before", space="default")
    made(client, receiver, show="after")
    ids = add(engine, *(f"tea {number}" for number in range(45)), space="default")
    engine.owner.write.update("default", ids[0], {"content": "tea is green"})
    sweep(engine, receiver)
    assert [one["data"]["memory_id"] for one in receiver.taken] == [*ids, ids[0]]
    last = receiver.taken[-1]
    assert (last["type"], last["data"]["after"]["content"]) == ("memory.updated", "tea is green")
    assert last["timestamp"] == last["data"]["at"] and len(set(receiver.seen)) == 46
    assert (state(client)["state"], state(client)["seq"]) == ("ok", str(engine.spaces.get("default").at))
    sweep(engine, receiver)
    assert len(receiver.taken) == 46
    client.delete(f"{API}/webhooks/{state(client)['id']}")
    made(client, receiver, changes=["deleted"])
    engine.owner.write.delete("default", ids[1])
    threads = [threading.Thread(target=sweep, args=(engine, receiver)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert state(client)["state"] == "ok"
    assert receiver.taken[46:][0]["type"] == "memory.deleted" and "after" not in receiver.taken[46]["data"]


def test_what_fails_is_tried_again_later_each_time_and_then_laid_aside(
    client: httpx.Client, engine: Engine, receiver: Receiver
):
    id_ = made(client, receiver)
    ids = add(engine, "tea", "lamp", space="default")
    receiver.answers = [204, 302, *[500] * len(WAITS)]
    at = engine.now()
    sweep(engine, receiver, at)
    for wait in WAITS:
        assert state(client)["state"] == "retrying" and state(client)["error"] in ("answered 302", "answered 500")
        sweep(engine, receiver, engine.now() + (wait - 2) * SECOND)
        tries = len(receiver.seen)
        sweep(engine, receiver, engine.now() + (wait + 2) * SECOND)
        assert len(receiver.seen) == tries + 1
    reply = state(client)
    (letter,) = reply["dead_letters"]
    assert (letter["last"] - letter["first"], letter["attempts"]) == (0, len(WAITS) + 1)
    (house,) = add(engine, "house", space="default")
    sweep(engine, receiver)
    assert [one["data"]["memory_id"] for one in receiver.taken] == [ids[0], house]
    again = client.post(f"{API}/webhooks/{id_}/redeliver", json={}).json()
    assert again["dead_letters"] == [] and again["state"] == "ok"
    sweep(engine, receiver)
    assert [one["data"]["memory_id"] for one in receiver.taken] == [ids[0], house, ids[1], house]
    assert receiver.seen.count(receiver.seen[1]) == len(WAITS) + 2


class Killed(BaseException):
    """The process ends here."""


class Doomed(Sender):
    """Sender that sends 7 messages and raises `Killed` before the last is recorded as sent."""

    left = 7

    def send(self, url: str, secret: str, message_id: str, at: int, body: bytes) -> None:
        super().send(url, secret, message_id, at, body)
        self.left -= 1
        if not self.left:
            raise Killed


def test_what_a_process_told_before_it_was_killed_is_told_again_under_the_same_ids(
    client: httpx.Client, engine: Engine, receiver: Receiver
):
    """Whoever takes over begins where the last note is: nothing is missing, and what comes twice can be known."""
    made(client, receiver, show="after")
    ids = add(engine, *(f"tea {number}" for number in range(30)), space="default")
    with pytest.raises(Killed):
        Deliverer(Doomed(Allowed([receiver.url.split("/")[2]], private=True)))(engine, "default", engine.now())
    sweep(engine, receiver)
    assert [one["data"]["memory_id"] for one in receiver.taken] == [*ids[:7], *ids]
    assert receiver.seen[:7] == receiver.seen[7:14] and len(set(receiver.seen)) == 30
    assert [one["data"] for one in receiver.taken[:7]] == [one["data"] for one in receiver.taken[7:14]]


def test_who_answers_gone_is_left_alone_until_asked_for_again(client: httpx.Client, engine: Engine, receiver: Receiver):
    id_ = made(client, receiver)
    add(engine, "tea", space="default")
    receiver.answers = [410]
    sweep(engine, receiver)
    sweep(engine, receiver, engine.now() + 10**12)
    assert len(receiver.seen) == 1 and state(client)["state"] == "gone"
    assert client.post(f"{API}/webhooks/{id_}/redeliver", json={}).is_success
    sweep(engine, receiver)
    assert len(receiver.taken) == 1
    assert client.delete(f"{API}/webhooks/{id_}").status_code == 204
    assert client.delete(f"{API}/webhooks/{id_}").status_code == 404
    assert client.post(f"{API}/webhooks/{id_}/redeliver", json={}).status_code == 404


def test_a_name_that_tells_another_address_a_moment_later_gains_nothing(monkeypatch: pytest.MonkeyPatch):
    """The connection goes to an address that was checked, from one DNS answer; one private address refuses them all."""
    answers = [["93.184.216.34"], ["93.184.216.34", "10.0.0.7"], ["127.0.0.1"]]

    def resolved(host: str, port: int, **_: object) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port)) for one in answers.pop(0)]

    monkeypatch.setattr(socket, "getaddrinfo", resolved)
    allowed = Allowed(["*.example.com"])
    target = allowed.resolve("https://a.example.com/x?y=1")
    assert (target.pinned, target.host) == ("https://93.184.216.34:443/x?y=1", "a.example.com")
    for _ in range(2):
        with pytest.raises(Failed, match="private"):
            Sender(allowed).send("https://a.example.com/x", "whsec_AAAA", "m", 1, b"{}")
    assert answers == []


def test_without_hosts_there_are_no_webhooks(engine: Engine):
    with TestClient(create_app(Settings(), engine=engine)) as client:
        reply = client.post(f"{API}/webhooks", json={"url": "https://hooks.example.com"}).json()
    assert (reply["code"], reply["errors"][0]["path"]) == ("invalid_input", "$.url")
    assert "webhooks" not in {sweep.name for sweep in sweeps_of(Settings())}
    assert "webhooks" in {sweep.name for sweep in sweeps_of(Settings(webhook_hosts="hooks.example.com"))}
