"""The OpenAPI 3.1 document, made from the handlers and the types that they read and write.

Ours and not Litestar's: msgspec describes its own types best, and every refusal of every route is in it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args, get_origin

import msgspec
from litestar import Litestar
from litestar.handlers import HTTPRouteHandler
from litestar.params import ParameterKwarg, PathParameter, QueryParameter
from litestar.routes import HTTPRoute

from muisti.service.conversations.requests import ExchangeBody, ExchangesBody
from muisti.service.erasure.schemas import ErasureReply
from muisti.service.http.decode import JSON, LINES
from muisti.service.http.parameters import declared
from muisti.service.http.uploads import FORM
from muisti.service.openapi.words import ABOUT, HEADERS, LINKS, PARAMETERS, PATH_TYPES, SECURITY, STREAMED, TAGS, named
from muisti.service.schemas.errors import KINDS, MEDIA_TYPE, Problem, problem, status_name
from muisti.service.schemas.policy import SpaceReply
from muisti.service.schemas.replies import AddedReply, DryRunReply, ItemsReply, MemoryReply, WrittenReply
from muisti.service.schemas.requests import BatchBody, DraftBody
from muisti.service.schemas.tasks import TaskReply

Json = dict[str, Any]

# Bodies of requests by operation, of replies by operation and status; a test holds that schemas allow them.
EXAMPLES: Json = msgspec.json.decode((Path(__file__).parent / "examples.json").read_bytes())
REQUESTS: Json = EXAMPLES["requests"]

REF = "#/components/schemas/{name}"
# Bodies whose items are decoded one by one: the field that has them, and the type of each.
ONE_BY_ONE: Mapping[Any, tuple[str, type[msgspec.Struct]]] = {
    BatchBody: ("memories", DraftBody),
    ExchangesBody: ("items", ExchangeBody),
}
SPACE = "/v1/spaces/{space}"
TELLING = {"prefers": "Preference-Applied", "screens": "Muisti-Flags"}  # headers by the option of a route
STREAM = "text/event-stream"
OF_STATUS = {202: ("Location", "Retry-After")}
LIMITS = ("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset")


def document(app: Litestar) -> Json:
    """Return the OpenAPI document of an application."""
    operations = list(_operations(app))
    types = _types_of(handler for _, _, handler in operations)
    _, components = msgspec.json.schema_components(types, ref_template=REF)
    for body, (name, item) in ONE_BY_ONE.items():
        components[body.__name__]["properties"][name] |= {
            "items": {"$ref": REF.format(name=item.__name__)},
            "minItems": 1,
            "maxItems": 1000,
        }
    paths: dict[str, Json] = {}
    refusals: dict[str, Json] = {}
    for path, method, handler in sorted(operations, key=lambda operation: operation[:2]):
        paths.setdefault(path, {})[method] = _operation(path, handler)
        refusals |= {_together(codes): _refusal(codes) for codes in _refusals(path, handler).values()}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Muisti",
            "version": "1",
            "description": ABOUT,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "tags": [{"name": name, "description": text} for name, text in TAGS.items()],
        "paths": paths,
        "components": {
            "schemas": {name: _one_line(schema) for name, schema in sorted(components.items())},
            "responses": dict(sorted(refusals.items())),
            "links": {
                named(reply, call): {"operationId": call, "parameters": taken}
                for reply, calls in sorted(LINKS.items())
                for call, taken in calls.items()
            },
            "headers": HEADERS,
            "securitySchemes": {"key": SECURITY},
            "examples": {
                code: {"value": EXAMPLES["problems"].get(code) or problem(code, kind.meaning)}
                for code, kind in KINDS.items()
            },
        },
    }


def _one_line(schema: Json) -> Json:
    """Join the lines of a docstring into a description."""
    return {**schema, **_described(" ".join(schema.get("description", "").split()))}


def _operations(app: Litestar) -> Iterator[tuple[str, str, HTTPRouteHandler]]:
    for route in app.routes:
        if isinstance(route, HTTPRoute):
            for method, (handler, _) in route.route_handler_map.items():
                if isinstance(handler.operation_id, str) and handler.include_in_schema is not False:
                    yield route.path_format, method.lower(), handler


def _operation(path: str, handler: HTTPRouteHandler) -> Json:
    summary, _, description = handler.opt.get("doc", handler.fn.__doc__ or "").partition("\n")
    need = handler.opt["needs"]
    needed = {"nothing": "", "key": "Needs a key."}.get(need, f"Needs the scope {need}.")
    described = " ".join(f"{description} {needed}".split())
    body = _body(handler)
    return {
        "operationId": handler.operation_id,
        "summary": summary.rstrip("."),
        **({"description": described} if described else {}),
        "tags": sorted(handler.resolve_tags()),
        "security": [] if need == "nothing" and not handler.opt.get("tells_more") else [{"key": []}, {}],
        "parameters": list(_parameters(path, handler)),
        **({"requestBody": body} if body else {}),
        "responses": {
            **_successes(path, handler),
            **{
                str(status): {"$ref": f"#/components/responses/{_together(codes)}"}
                for status, codes in _refusals(path, handler).items()
            },
        },
    }


def _example(part: str, handler: HTTPRouteHandler) -> Any:
    """Return the example of an operation; a new operation needs one."""
    try:
        return EXAMPLES[part][str(handler.operation_id)]
    except KeyError as error:
        raise LookupError(f"{part} of service/openapi/examples.json has no {handler.operation_id}: add one") from error


def _parameters(path: str, handler: HTTPRouteHandler) -> Iterator[Json]:
    for name in re.findall(r"\{(\w+)\}", path):
        schema = msgspec.json.schema(PATH_TYPES[name])
        yield {"name": name, "in": "path", "required": True, **_described(schema.pop("description")), "schema": schema}
    for name, source, field in declared(handler):
        if isinstance(source, PathParameter):
            continue
        place = "query" if isinstance(source, QueryParameter) else "header"
        yield {
            "name": name,
            "in": place,
            **({"required": True} if field.is_required else {}),
            **_described(source.description),
            "schema": _parameter_schema(source, field.annotation, field.default if field.has_default else None),
        }
    if handler.opt.get("filters"):
        yield from PARAMETERS["filters"]
    if handler.opt.get("prefers"):
        yield PARAMETERS["prefer"]
    if handler.opt.get("screens"):
        yield PARAMETERS["allow"]
    if path.startswith(f"{SPACE}/"):
        yield PARAMETERS["min_seq"]
        if handler.operation_id == "search" or "GET" in handler.http_methods:
            yield PARAMETERS["freshness"]


def _described(text: str | None) -> Json:
    return {"description": text} if text else {}


def _parameter_schema(source: ParameterKwarg, annotation: Any, default: Any) -> Json:
    (plain,) = [kind for kind in get_args(annotation) or (annotation,) if kind is not type(None)]
    schema = {**msgspec.json.schema(plain), **(source.schema_extra or {})}
    if source.enum:
        schema["enum"] = list(source.enum)
    return schema if default is None else {**schema, "default": default}


def _body(handler: HTTPRouteHandler) -> Json | None:
    field = handler.parsed_data_field
    if "bodies" in handler.opt:
        return _bodies(handler)
    if "takes" in handler.opt:
        schema = {"type": "string", "description": "A file in the format of docs/how-to/export.md."}
        return {
            "required": True,
            "content": {handler.opt["takes"]: {"schema": schema, "example": EXAMPLES["file"]}, **_packed(handler)},
        }
    if field is None:
        return None
    example = _example("requests", handler)
    content: Json = {JSON: {"schema": {"$ref": REF.format(name=field.annotation.__name__)}, "example": example}}
    if field.annotation in ONE_BY_ONE:
        name, item = ONE_BY_ONE[field.annotation]
        lines = "".join(f"{msgspec.json.encode(one).decode()}\n" for one in example[name])
        told = f"One {item.__name__} a line."
        content[LINES] = {"schema": {"type": "string", "description": told}, "example": lines}
    return {"required": True, "content": content}


def _bodies(handler: HTTPRouteHandler) -> Json:
    """Return the body of a route that takes JSON, a file, or a form with files."""
    body, *media = handler.opt["bodies"]
    binary = {"type": "string", "format": "binary", "description": "A file as it is."}
    files = {"type": "object", "properties": {"file": {"type": "array", "items": binary}}}
    example = _example("requests", handler)
    content: Json = {JSON: {"schema": {"$ref": REF.format(name=body.__name__)}, "example": example}}
    form = {"schema": files, "example": {"file": [example["content"]]}}
    content |= {one: form if one == FORM else {"schema": binary} for one in media}
    return {"required": True, "content": content}


def _successes(path: str, handler: HTTPRouteHandler) -> Json:
    statuses = [handler.status_code, *handler.opt.get("statuses", ())]
    pairs = _with_types(statuses, list(_replies(handler)))
    if handler.opt.get("prefers") and 200 in dict(pairs):
        pairs.append((204, None))
    found = {str(status): _success(path, handler, status, type) for status, type in sorted(pairs, key=lambda p: p[0])}
    if ErasureReply in _replies(handler) and (200, ErasureReply) not in pairs:
        found = _or(found, ErasureReply, EXAMPLES["erasure"])
    return _or(found, DryRunReply, EXAMPLES["dry_run"]) if _has_dry_run(handler) else found


def _with_types(statuses: Sequence[int], types: list[Any]) -> list[tuple[int, Any]]:
    """Return each status with the type of its body: a task is the body of 202, one other type that of all others."""
    if 202 in statuses and TaskReply in types:
        others = [one for one in types if one is not TaskReply]
        return [*_with_types([one for one in statuses if one != 202], others), (202, TaskReply)]
    return list(zip(statuses, types * len(statuses) if len(types) == 1 else types, strict=False))


def _has_dry_run(handler: HTTPRouteHandler) -> bool:
    """Tell whether a route answers a dry run in the common form."""
    return "takes" not in handler.opt and any(name == "dry_run" for name, _, _ in declared(handler))


def _or(successes: Json, type: msgspec.StructMeta, example: object) -> Json:
    """Return the successes of a route whose 200 may have another body, such as that of a dry run."""
    other = {"$ref": REF.format(name=type.__name__)}
    plain = successes.get("200")
    if plain is None:
        headers = {name: {"$ref": f"#/components/headers/{name}"} for name in ("X-Request-Id", "Muisti-Seq")}
        content = {JSON: {"schema": other, "example": example}}
        return {"200": {"description": "OK, of a dry run", "headers": headers, "content": content}, **successes}
    body = plain["content"][JSON]
    known = body["schema"].get("anyOf", [body["schema"]])
    content = {JSON: {**body, "schema": {"anyOf": [*known, other]}}}
    return {**successes, "200": {**plain, "content": content}}


def _success(path: str, handler: HTTPRouteHandler, status: int, type: Any) -> Json:
    headers = ["X-Request-Id", "Server-Timing"]
    if handler.opt["needs"] != "nothing":
        headers += LIMITS
    if path.startswith(f"{SPACE}/") or type is SpaceReply:
        headers.append("Muisti-Seq")
    if type in (MemoryReply, WrittenReply, AddedReply) or status == 304 or handler.opt.get("prefers"):
        headers.append("ETag")
    headers += OF_STATUS.get(status, ())
    if status == 201 and type is not None and handler.operation_id != "addMemories":
        headers.append("Location")
    if handler.operation_id in ("listMemories", "listAudit", "listTasks", "listTaskItems", "listReceipts", "listReads"):
        headers.append("Link")
    if handler.operation_id in ("exportSpace", "exportGraph"):
        headers.append("Content-Disposition")
    if type is not ItemsReply and any(name == "Idempotency-Key" for name, _, _ in declared(handler)):
        headers.append("Idempotent-Replayed")
    headers += [name for option, name in TELLING.items() if handler.opt.get(option)]
    name = type.__name__ if isinstance(type, msgspec.StructMeta) else ""
    answer: Json = {
        "description": status_name(status),
        "headers": {name: {"$ref": f"#/components/headers/{name}"} for name in headers},
    }
    if type is not None:
        answer["content"] = _content(handler, name, status)
    if links := LINKS.get(name):
        answer["links"] = {call: {"$ref": f"#/components/links/{named(name, call)}"} for call in links}
    return answer


def _content(handler: HTTPRouteHandler, name: str, status: int) -> Json:
    media = handler.opt.get("media", JSON)
    plain = {"type": "object" if media == JSON else "string"}
    schema = {"$ref": REF.format(name=name)} if name else plain
    content: Json = {media: {"schema": schema, "example": _example("replies", handler)[str(status)]}}
    if handler.opt.get("streams"):
        event = _example("streams", handler)
        content[STREAM] = {"schema": {"type": "string", "description": STREAMED}, "example": event}
    return content if media == JSON else {**content, **_packed(handler)}


def _packed(handler: HTTPRouteHandler) -> Json:
    """Return the compressed form of the file of a route, by its media type; empty where it has none."""
    media = handler.opt.get("packed")
    schema = {"type": "string", "format": "binary", "description": "The same file, as a stream of zstd."}
    return {} if media is None else {media: {"schema": schema}}


def _replies(handler: HTTPRouteHandler) -> Iterator[Any]:
    """Return the types of the bodies, in the order of the statuses."""
    if "answer" in handler.opt:
        yield handler.opt["answer"]
        return
    annotation = handler.parsed_fn_signature.return_type.annotation
    single = get_origin(annotation) is not None and isinstance(get_origin(annotation), type)
    for part in [annotation] if single or not get_args(annotation) else get_args(annotation):
        inner = get_args(part)[0] if get_args(part) else part
        yield None if inner is type(None) else inner


def _refusals(path: str, handler: HTTPRouteHandler) -> dict[int, list[str]]:
    """Return the error codes of a route by their status."""
    by_status: dict[int, list[str]] = {}
    for code in sorted(_codes(path, handler), key=list(KINDS).index):  # which knows no misspelt code
        by_status.setdefault(KINDS[code].status, []).append(code)
    return dict(sorted(by_status.items()))


def _together(codes: Iterable[str]) -> str:
    """Return the name of the response that several codes share."""
    return ".".join(codes)


def _codes(path: str, handler: HTTPRouteHandler) -> set[str]:
    """Return the codes with which a route may refuse a request."""
    names = {name for name, _, _ in declared(handler)}
    codes = {"internal", "malformed_request", "invalid_input", "unknown_host", *handler.opt.get("problems", ())}
    codes |= {"unauthorized", "rate_limited", "too_many_at_once"}
    codes |= {"too_many_tasks"} if 202 in (handler.status_code, *handler.opt.get("statuses", ())) else set()
    if handler.opt["needs"] != "nothing":
        codes |= {"forbidden", "issuer_unavailable"}
    if path.startswith("/v1"):
        codes |= {"busy", "store_unavailable"}
    if handler.parsed_data_field is not None:
        codes |= {"malformed_json", "too_large", "unsupported_media_type", "store_full", "model_mismatch"}
    if "{space}" in path or "{code}" in path:
        codes.add("not_found")
    if "Idempotency-Key" in names and "DELETE" not in handler.http_methods:
        codes.add("quota_exceeded")
    if "Idempotency-Key" in names:
        codes |= {"idempotency_key_reused", "malformed_header", "too_large", "store_full"}
    if names & {"If-Match", "If-None-Match"}:
        codes.add("malformed_header")
    if "If-Match" in names:
        codes.add("stale_version")
    if path.startswith(f"{SPACE}/"):
        codes |= {"malformed_header", "epoch_gone", "not_yet_replicated"}
    return codes


def _refusal(codes: Sequence[str]) -> Json:
    examples = {code: {"$ref": f"#/components/examples/{code}"} for code in codes}
    headers = ["X-Request-Id", "Server-Timing"]
    if any(KINDS[code].retry_after for code in codes):
        headers.append("Retry-After")
    if "rate_limited" in codes:
        headers += LIMITS
    if "unauthorized" in codes or "forbidden" in codes:
        headers.append("WWW-Authenticate")
    return {
        "description": " ".join(f"`{code}`: {KINDS[code].meaning}" for code in codes),
        "headers": {name: {"$ref": f"#/components/headers/{name}"} for name in headers},
        "content": {MEDIA_TYPE: {"schema": {"$ref": REF.format(name="Problem")}, "examples": examples}},
    }


def _types_of(handlers: Iterable[HTTPRouteHandler]) -> list[Any]:
    found: dict[Any, None] = {Problem: None, DryRunReply: None} | {item: None for _, item in ONE_BY_ONE.values()}
    for handler in handlers:
        if handler.parsed_data_field is not None:
            found[handler.parsed_data_field.annotation] = None
        if "bodies" in handler.opt:
            found[handler.opt["bodies"][0]] = None
        found |= {type: None for type in _replies(handler) if isinstance(type, msgspec.StructMeta)}
    return list(found)


def canonical(found: Mapping[str, Any]) -> str:
    """Return the document in the form in which it is committed."""
    return msgspec.json.format(msgspec.json.encode(found), indent=2).decode() + "\n"
