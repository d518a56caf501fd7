"""The load tests' own tools: the open-loop client, and the evaluation of its figures."""

import asyncio
from array import array

import pytest

from loadtests import overload, scenarios, sweep, tenants
from loadtests.http_load import Request
from loadtests.open_loop import Record, TimedProtocol, poisson, send
from loadtests.overload import Phase, Probes

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


class Patient(asyncio.Protocol):
    """Server that answers only when a number of requests has arrived; a closed-loop client would wait for ever."""

    waiting: list[asyncio.Transport]
    wanted: int

    def connection_made(self, transport: asyncio.Transport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self.waiting.append(self._transport)
        if len(self.waiting) == self.wanted:
            for transport in self.waiting:
                transport.write(ANSWER)


def test_no_request_waits_for_the_answer_to_another_and_latency_counts_from_when_it_was_due():
    async def scenario() -> Record:
        Patient.waiting, Patient.wanted = [], 50
        server = await asyncio.get_running_loop().create_server(Patient, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        arrivals = [TimedProtocol(at / 1000, "any", Request("/", b"", 200)) for at in range(50)]
        record = await send(port, arrivals)
        server.close()
        return record

    record = asyncio.run(scenario())
    assert list(record.status) == [200] * 50
    assert sorted(record.due) == [at / 1000 for at in range(50)]
    last = max(record.due)
    assert all(end >= last for end in record.ended)  # so the first has waited for as long as the others were due


def test_arrivals_are_independent_and_as_many_as_asked_for():
    times = list(poisson(1_000, 20, seed=1))
    assert times == sorted(times) and times[-1] < 20
    assert len(times) == pytest.approx(20_000, rel=0.03)
    counts = [sum(1 for at in times if second <= at < second + 1) for second in range(20)]
    mean = sum(counts) / 20
    variance = sum((count - mean) ** 2 for count in counts) / 19
    assert 0.3 < variance / mean < 3  # 1 for a Poisson process, 0 for a metronome


def phase(name: str, rows: list[tuple[float, float, int]]) -> Phase:
    record = Record()
    for due, seconds, status in rows:
        record.kinds.append("search")
        for column, value in ((record.due, due), (record.sent, due), (record.ended, due + seconds)):
            column.append(value)
        record.status.append(status)
        record.retry_after.append(status == 503)
    return Phase(name, 10.0, record, Probes())


def test_recovery_ends_with_the_last_window_in_which_something_is_still_wrong():
    calm = phase("calm", [(at / 10, 0.01, 200) for at in range(100)])
    slow = phase("after", [(at / 10, 1.0 if at < 12 else 0.01, 200) for at in range(100)])
    refused = phase("after", [(at / 10, 0.01, 503 if at < 32 else 200) for at in range(100)])
    assert overload.recovery(calm, calm) == 0
    assert overload.recovery(calm, slow) == 1.5
    assert overload.recovery(calm, refused) == 3.5
    cells = [{"users": users, "per second": min(400.0, 100.0 * users)} for users in sweep.USERS]
    assert sweep.knee(cells) == 4  # more users bring no more


def test_what_an_overload_broke_is_told_by_its_gates():
    calm = phase("calm", [(at / 10, 0.01, 200) for at in range(100)])
    bad = phase("overload", [(0.0, 0.2, 503), (0.1, 0.01, 200), (0.2, 30.0, 0)])
    bad.record.retry_after[0] = False
    broken = {gate.what for gate in overload.gates(overload.Run(1.0, [calm, bad, calm], 5, 1)) if not gate.holds}
    assert broken >= {
        "99th percentile of refusals, ms", "refusals without Retry-After", "neither answered nor refused",
        "acknowledged memories lost",
    }  # fmt: skip


def test_limits_are_multiples_of_what_requests_take_alone():
    alone = [("recall", float(at), 100.0, 200) for at in range(20)]
    for slower, holds in ((2.0, True), (40.0, False)):
        loaded = [(name, due, slower * ms, status) for name, due, ms, status in alone]
        gates = list(scenarios.gates(scenarios.Run(1.0, alone, loaded)))
        assert all(gate.holds for gate in gates) == holds
    refused = [*alone, ("recall", 1.0, 1.0, 503)]
    assert not all(gate.holds for gate in scenarios.gates(scenarios.Run(1.0, alone, refused)))


def test_ids_are_read_from_answers_of_the_api_and_of_tools():
    number = "0190a0e0-0000-7000-8000-00000000000"
    record = Record(status=array("h"))
    record.kept = [
        (b"HTTP/1.1 201 Created", f'{{"id":"{number}1","space":"bench"}}'.encode()),
        (b"HTTP/1.1 503 Service Unavailable", f'{{"id":"{number}2"}}'.encode()),
        (b"HTTP/1.1 200 OK", f'{{"id":7,"result":{{"memory":{{"id":"{number}3"}}}}}}'.encode()),
    ]
    assert overload.acknowledged(record) == [f"{number}1", f"{number}3"]


def test_the_first_tenant_may_take_twice_as_long_beside_the_worst_and_readiness_never_fails():
    alone = [("search", at / 100, 10.0, 200) for at in range(100)]
    health = [(path, 5.0, 200) for path in ("/healthz", "/readyz") for _ in range(9)]

    def broken(ms: float, probes: list[tenants.Probe]) -> int:
        beside = [(name, due, ms, status) for name, due, _, status in alone]
        run = tenants.Tenants(9.0, alone, beside, [("history", 0.0, 90.0, 503)], health, probes)
        assert tenants.table(run).rows[0][-1] == f"{ms / 10:.2f}"
        assert tenants.table_of_worst(run).rows == [["history", "1", "1", "0", "90 (90)"]]
        return sum(not gate.holds for gate in tenants.gates(run))

    assert broken(19.0, health) == 0
    assert broken(21.0, health) == 1
    assert broken(19.0, [*health, ("/healthz", 101.0, 200), ("/readyz", 5.0, 503)]) == 2
