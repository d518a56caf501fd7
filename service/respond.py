"""Answers with the headers that their values ask for."""

from typing import TypeVar

from litestar import Response

from core.values import Found, Seq, Written
from service.headers import REPLAYED, SEQ
from service.schemas.replies import AddedReply, MemoryReply

T = TypeVar("T")


def read(body: T, seq: Seq) -> Response[T]:
    """What was read, and the point of history at which."""
    return Response(body, headers={SEQ: str(seq)})


def found(one: Found) -> Response[MemoryReply]:
    return Response(MemoryReply.of(one.memory), headers={SEQ: str(one.seq), "ETag": one.memory.etag})


def unchanged(one: Found) -> Response[None]:
    """The caller has this version already."""
    return Response(None, status_code=304, headers={SEQ: str(one.seq), "ETag": one.memory.etag})


def written(one: Written) -> Response[MemoryReply]:
    """The memory that a write made or changed."""
    memory = one.memories[0]
    headers = {**written_headers(one), "ETag": memory.etag}
    if one.created:
        headers["Location"] = f"/v1/spaces/{memory.space}/memories/{memory.id}"
    return Response(MemoryReply.of(memory), status_code=201 if one.created else 200, headers=headers)


def added(one: Written) -> Response[AddedReply]:
    """The memory that was added, with what is like it."""
    memory = one.memories[0]
    location = f"/v1/spaces/{memory.space}/memories/{memory.id}"
    headers = {**written_headers(one), "ETag": memory.etag, "Location": location}
    return Response(AddedReply.of_written(one), status_code=201, headers=headers)


def deleted(one: Written) -> Response[None]:
    return Response(None, status_code=204, headers=written_headers(one))


def written_headers(one: Written) -> dict[str, str]:
    return {SEQ: str(one.seq)} | ({REPLAYED: "true"} if one.replayed else {})
