"""Locust's users do what the clients of the cluster's tests do, and are judged like them when they have finished."""

import json
import random
from pathlib import Path
from typing import Any

from locust import User, constant, events, task

from tests.cluster.clients import Clients

STOP_SECONDS = 60  # that a user may take to finish what it does


class Judged:
    """The clients of this run, and what they found to be broken."""

    clients: Clients
    broken: list[str] = []


@events.init_command_line_parser.add_listener
def options(parser: Any) -> None:
    parser.add_argument("--servers", required=True, help="URLs of Muistis on one database, with commas between")
    parser.add_argument("--space", required=True, help="an empty space")
    parser.add_argument("--report", required=True, help="file for the outcome, JSON")


@events.test_start.add_listener
def begin(environment: Any, **_: Any) -> None:
    def heard(method: str, kind: str, seconds: float, problem: str | None) -> None:
        environment.events.request.fire(
            request_type=method,
            name=kind,
            response_time=1000 * seconds,
            response_length=0,
            exception=None if problem is None else ConnectionError(problem[:80]),
        )

    chosen = environment.parsed_options
    Judged.clients = Clients(chosen.servers.split(","), chosen.space, heard)


@events.user_error.add_listener
def note(exception: Exception, **_: Any) -> None:
    Judged.broken.append(repr(exception))


@events.quitting.add_listener
def judge(environment: Any, **_: Any) -> None:
    clients = Judged.clients
    try:
        clients.judge()
    except AssertionError as error:
        Judged.broken.append(repr(error))
    found = {
        "answers": clients.answers,
        "retries": clients.retries,
        "longest": clients.longest,
        "acknowledged": len(clients.seqs),
        "broken": Judged.broken,
    }
    Path(environment.parsed_options.report).write_text(json.dumps(found))
    environment.process_exit_code = 1 if Judged.broken else 0  # a retry is no failure


class Somebody(User):
    """Writes, reads and searches without a pause."""

    wait_time = constant(0)

    def on_start(self) -> None:
        self._rng = random.Random(id(self))

    @task
    def act(self) -> None:
        Judged.clients.act(self._rng)
