"""Tokens, namespaces and certificates: which connections a server accepts, and to which database."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.cluster.sqld import Sqld
from muisti.core.model.errors import StoreUnavailable
from muisti.core.store.database import Statement
from muisti.core.store.migrate import migrate
from muisti.core.store.remote.database import RemoteDatabase
from muisti.core.store.remote.http_client import Server, Token
from tests.core.store.test_store import generation, names
from tests.remote.conftest import LABEL
from tests.remote.tokens import Issuer
from tests.stores import RemoteStore, Shared


@pytest.fixture(scope="module")
def issuer(tmp_path_factory: pytest.TempPathFactory) -> Issuer:
    return Issuer(tmp_path_factory.mktemp("keys"))


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory, issuer: Issuer) -> Iterator[Sqld]:
    """A server that asks for tokens, with a database that is ready."""
    with Shared.by_tests(Sqld(tmp_path_factory.mktemp("guarded"), key_file=issuer.key_file)) as running:
        database = opened(running, issuer.token())
        migrate(database, 1)
        yield running


def opened(sqld: Sqld, token: str | None, seconds: float = 2) -> RemoteDatabase:
    return RemoteDatabase(Server(sqld.url, Token(token), "default"), seconds=seconds)


@pytest.mark.parametrize("kind", ["none", "expired", "garbage", "of another issuer"])
def test_without_a_valid_token_nobody_gets_in(guarded: Sqld, issuer: Issuer, tmp_path: Path, kind: str):
    tokens = {
        "none": None, "expired": issuer.token(exp=int(time.time()) - 600), "garbage": "garbage",
        "of another issuer": Issuer(tmp_path).token(),
    }  # fmt: skip
    with pytest.raises(StoreUnavailable, match="refuses our token"):
        opened(guarded, tokens[kind])


def test_a_token_for_reading_reads_and_says_why_it_cannot_write(guarded: Sqld, issuer: Issuer):
    writer = opened(guarded, issuer.token())
    writer.write([generation("for readers")])
    assert "for readers" in names(writer)
    database = opened(guarded, issuer.token(a="ro"))
    assert "for readers" in names(database)
    with pytest.raises(StoreUnavailable):
        database.write([generation("by a reader")])
    assert "by a reader" not in names(database)


def test_a_new_token_in_the_file_is_used_without_a_restart(guarded: Sqld, issuer: Issuer, tmp_path: Path):
    file = tmp_path / "token"
    with pytest.raises(StoreUnavailable, match="token"):
        Token(file=file)
    file.write_text(issuer.token(exp=int(time.time()) - 600))
    with pytest.raises(StoreUnavailable, match="refuses our token"):
        RemoteDatabase(Server(guarded.url, Token(file=file), "default"))
    file.write_text(issuer.token() + "\n")
    database = RemoteDatabase(Server(guarded.url, Token(file=file), "default"))
    file.write_text(issuer.token(exp=int(time.time()) - 600, n=1))
    with pytest.raises(StoreUnavailable, match="refuses our token"):
        names(database)
    fresh = tmp_path / "fresh"
    fresh.write_text(issuer.token(n=2))
    os.replace(fresh, file)
    assert isinstance(names(database), set)


def test_namespaces_share_nothing(sqld: Sqld):
    one, other = RemoteStore(sqld).open(), RemoteStore(sqld).open()
    for database in (one, other):
        migrate(database, 1)
    one.write([generation("one")])
    other.write([generation("other")])
    assert (names(one), names(other)) == ({"one"}, {"other"})


def test_a_namespace_that_is_not_there_is_told_at_once(sqld: Sqld):
    with pytest.raises(StoreUnavailable, match="MUISTI_DATABASE_NAMESPACE"):
        RemoteDatabase(Server(sqld.url, Token(), "nowhere"))


def test_without_a_setting_the_namespace_is_the_first_label_of_the_host(labelled: Sqld):
    database = RemoteDatabase(Server(labelled.url, Token()))
    database.write([Statement("CREATE TABLE by_host (n)")])
    asked = [Statement("SELECT count(*) FROM sqlite_master WHERE name = 'by_host'")]
    assert RemoteDatabase(Server(labelled.url, Token(), LABEL)).read(asked) == [[(1,)]]
    database.write([Statement("DROP TABLE by_host")])


def test_another_programs_database_is_refused(sqld: Sqld):
    store = RemoteStore(sqld)
    server = Server(sqld.url, Token(), store.namespace)
    store.open().write([Statement("CREATE TABLE diary (day)"), Statement("DROP TABLE muisti_writes")])
    with pytest.raises(Exception, match="another program"):
        RemoteDatabase(server)
