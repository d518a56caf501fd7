// How requests are sent and answers are read, on a server that is not there.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import * as sdk from "../dist/index.js";
import { all, answering, streaming } from "./answers.js";

const document = JSON.parse(readFileSync(new URL("../../../docs/openapi.json", import.meta.url), "utf-8"));
const problem = (status, code) => Response.json({ status, code, detail: `it is ${code}` }, { status, headers: { "Content-Type": "application/problem+json" } });
const page = (items, next_cursor = null) => Response.json({ items, next_cursor, seq: "e:9" });
const keys = (sent) => new Set(sent.map((one) => one.headers.get("Idempotency-Key")));

test("an idempotency key is sent where the document has a place for it", async () => {
  for (const [path, item] of Object.entries(document.paths)) {
    for (const method of ["get", "put", "post", "patch", "delete"].filter((one) => item[one])) {
      const { client, sent } = answering([200]);
      const parts = Object.fromEntries([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name, "x"]));
      await client.api.request(method, path, { params: { path: parts }, ...(method === "post" ? { body: {} } : {}) });
      const has = (item[method].parameters ?? []).some((one) => one.name === "Idempotency-Key");
      assert.equal(sent[0].headers.has("Idempotency-Key"), has, `${method} ${path}`);
    }
  }
});

test("a batch in parts has no key, and is not sent again unless it was turned away", async () => {
  let { space, sent } = answering([new TypeError("lost"), 200]);
  await assert.rejects(space.rememberMany(["x"]), sdk.Unreachable);
  assert.deepEqual([sent.length, keys(sent)], [1, new Set([null])]);
  ({ space, sent } = answering([429, page([])]));
  assert.deepEqual(await space.rememberMany(["x"]), []);
  ({ space, sent } = answering([new TypeError("lost"), page([{ id: "a" }])]));
  assert.deepEqual(await space.rememberMany(["x"], { atomic: true }), [{ index: 0, status: "created", memory: { id: "a" } }]);
  assert.equal(keys(sent).size, 1);
  const { client, sent: lines } = answering([200]);
  await client.api.POST("/v1/spaces/{space}/memories/batch", {
    params: { path: { space: "notes" }, query: { atomic: false } },
    body: '{"content": "x"}',
    bodySerializer: (text) => text,
    headers: { "Content-Type": "application/x-ndjson" },
  });
  assert.deepEqual(keys(lines), new Set([null]));
});

test("an erasure has no key, and is sent again", async () => {
  const { space, sent } = answering([new TypeError("lost"), Response.json({ signed: "x" })]);
  assert.deepEqual(await space.forget("a", { purge: true }), { signed: "x" });
  assert.deepEqual([sent.length, keys(sent)], [2, new Set([null])]);
});

test("what is safe is sent again with the same key", async () => {
  let { space, client, sent } = answering([new TypeError("lost"), 503, 200]);
  await space.remember("x");
  assert.deepEqual([sent.length, keys(sent).size], [3, 1]);
  assert.deepEqual(await Promise.all(sent.map((one) => one.url)), Array(3).fill("http://here/v1/spaces/notes/memories"));
  ({ client, sent } = answering([new TypeError("lost"), 200]));
  await assert.rejects(client.api.POST("/v1/keys", { body: { name: "x" } }), sdk.Unreachable);
  assert.equal(sent.length, 1);
  ({ client, sent } = answering([429, 200]));
  await client.api.POST("/v1/keys", { body: { name: "x" } });
  assert.equal(sent.length, 2);
  ({ space, sent } = answering(Array(9).fill(503)));
  await assert.rejects(space.get("x"), sdk.Busy);
  assert.equal(sent.length, 4);
  ({ space, sent } = answering([503, 503, 200], { attempts: 2 }));
  await assert.rejects(space.get("x"), { status: 503 });
});

test("an answer that breaks off is asked for again", async () => {
  const broken = () => {
    const body = new ReadableStream({ pull: (control) => control.error(new TypeError("reset")) });
    return new Response(body, { headers: { "Content-Type": "application/json" } });
  };
  const { space, sent } = answering([broken, Response.json({ id: "a" })]);
  assert.deepEqual(await space.get("a"), { id: "a" });
  assert.equal(sent.length, 2);
});

test("a call ends at its time limit, and when its signal aborts", async () => {
  const silent = (request) => new Promise((_, failed) => request.signal.addEventListener("abort", () => failed(request.signal.reason)));
  let { space } = answering([silent, silent], { attempts: 2, timeout: 5 });
  await assert.rejects(space.search("x"), (error) => error instanceof sdk.Unreachable && error.code === "timeout");
  ({ space } = answering([silent, Response.json({ id: "a" })]));
  assert.equal((await space.get("a", { timeout: 5 })).id, "a");
  ({ space } = answering([silent]));
  const control = new AbortController();
  const call = space.search("x", { signal: control.signal });
  setTimeout(() => control.abort());
  await assert.rejects(call, { name: "AbortError" });
  ({ space } = answering([]));
  await assert.rejects(space.search("x", { signal: AbortSignal.abort() }), { name: "AbortError" });
  ({ space } = answering([503, 200], { pause: 60_000 }));
  const waiting = new AbortController();
  const rest = space.get("x", { signal: waiting.signal });
  setTimeout(() => waiting.abort(new Error("enough")));
  await assert.rejects(rest, { message: "enough" });
});

test("an error is of the class that its status means", async () => {
  const classes = {
    Unauthorized: [401, "unauthorized"],
    Forbidden: [403, "quota_exceeded"],
    NotFound: [404, "not_found"],
    Conflict: [409, "duplicate"],
    StaleVersion: [412, "stale_version"],
    TooLong: [413, "too_large"],
    Invalid: [422, "invalid_input"],
    Busy: [429, "rate_limited"],
    Unavailable: [507, "store_full"],
  };
  for (const [name, [status, code]] of Object.entries(classes)) {
    const { space } = answering([problem(status, code)], { attempts: 1 });
    await assert.rejects(space.update("a", { content: "x" }), (error) => {
      assert.ok(error instanceof sdk[name] && error instanceof sdk.MuistiError && error instanceof Error);
      assert.deepEqual([error.name, error.status, error.code, error.message, error.problem.code], [name, status, code, `it is ${code}`, code]);
      return true;
    });
  }
  assert.ok(sdk.StaleVersion.prototype instanceof sdk.Conflict && sdk.Busy.prototype instanceof sdk.Unavailable);
});

test("an answer of something else is no success", async () => {
  let { space } = answering([new Response("<html>", { headers: { "Content-Type": "text/html" } })]);
  await assert.rejects(space.search("x"), /no JSON; is it a Muisti server/);
  ({ space } = answering([new Response("not here", { status: 404 })]));
  await assert.rejects(space.search("x"), (error) => error instanceof sdk.NotFound && /without saying why/.test(error.message));
});

test("a missing space is made by the first memory, if the key allows that", async () => {
  let { space, sent } = answering([problem(404, "not_found"), Response.json({}, { status: 201 }), Response.json({ id: "a" })]);
  assert.equal((await space.remember("x")).id, "a");
  assert.deepEqual(sent.map((one) => new URL(one.url).pathname), ["/v1/spaces/notes/memories", "/v1/spaces", "/v1/spaces/notes/memories"]);
  ({ space } = answering([problem(404, "not_found"), problem(403, "forbidden")]));
  await assert.rejects(space.remember("x"), sdk.NotFound);
  ({ space } = answering([problem(404, "not_found"), problem(409, "already_exists"), page([{ id: "b" }])]));
  assert.equal((await space.rememberMany(["x"], { atomic: true }))[0].memory.id, "b");
});

test("no part of a path leads to another path", async () => {
  const { space, sent } = answering([]);
  for (const name of ["", "..", "a/", "/a", { category: "..", key: ".." }]) await assert.rejects(space.forget(name), sdk.Invalid);
  assert.equal(sent.length, 0);
  const { space: odd, sent: asked } = answering([Response.json({})]);
  await odd.get("a?b/c/d#e");
  assert.equal(asked[0].url, "http://here/v1/spaces/notes/entries/a%3Fb/c%2Fd%23e");
});

test("url and key come from the environment, unless they are given", async () => {
  Object.assign(process.env, { MUISTI_URL: "http://there:1/v1/", MUISTI_KEY: "mk_1" });
  try {
    let { client, sent } = answering([200, 200], { url: undefined, key: undefined });
    await client.api.GET("/v1/spaces");
    assert.deepEqual([sent[0].url, sent[0].headers.get("Authorization")], ["http://there:1/v1/spaces", "Bearer mk_1"]);
    ({ client, sent } = answering([200]));
    await client.api.GET("/v1/spaces");
    assert.deepEqual([sent[0].url, sent[0].headers.get("Authorization")], ["http://here/v1/spaces", null]);
  } finally {
    delete process.env.MUISTI_URL;
    delete process.env.MUISTI_KEY;
  }
});

test("filters become one filter of the API", async () => {
  const { space, sent } = answering([Response.json({ hits: [] }), page([])]);
  await space.recall("x", { tags: ["a", "b"], after: new Date(0), metadata: { team: { name: "core" } }, filter: { not: { author: "Ann" } } });
  assert.deepEqual(await sent[0].json(), {
    query: "x",
    limit: 5,
    min_evidence: "weak",
    filter: {
      and: [{ tags: ["a", "b"] }, { created_at: { gte: "1970-01-01T00:00:00.000Z" } }, { "metadata.team.name": "core" }, { not: { author: "Ann" } }],
    },
  });
  await all(space.list({ category: "rules" }));
  assert.equal(new URL(sent[1].url).searchParams.get("filter"), '{"category":"rules"}');
});

test("pages are fetched as they are needed", async () => {
  let { space, sent } = answering([page([{ id: 1 }, { id: 2 }], "c"), page([{ id: 3 }])]);
  for await (const one of space.list()) if (one.id === 2) break;
  assert.equal(sent.length, 1);
  ({ space, sent } = answering([page(Array(100).fill({}), "c"), page(Array(50).fill({}), "d")]));
  assert.equal((await all(space.list({ limit: 150 }))).length, 150);
  assert.deepEqual(sent.map((one) => new URL(one.url).search), ["?limit=100", "?limit=50&cursor=c"]);
  ({ space, sent } = answering([page([{ seq: 3 }, { seq: 5 }], "e:6"), page([])]));
  assert.deepEqual((await all(space.changes({ since: "e:2", change: ["created", "deleted"] }))).map((one) => one.point), ["e:3", "e:5"]);
  assert.deepEqual(sent.map((one) => new URL(one.url).searchParams.get("since")), ["e:2", "e:6"]);
  assert.equal(new URL(sent[0].url).searchParams.get("change"), "created,deleted");
});

test("a stream goes on after what was read, through breaks and stops", async () => {
  const event = (n) => `id: e:${n}\nevent: updated\ndata: {"seq":${n},"change":"ä"}\n\n`;
  const { space, sent } = answering([
    streaming(`retry: 1000\n\n${event(5)}: still here\nid: e:7\n\n${event(8).slice(0, 20)}`, new TypeError("reset")),
    new TypeError("lost"),
    streaming(`${event(8)}event: end\ndata: {"code":"stopping"}\n\n`),
    streaming(`${event(9)}event: end\ndata: {"code":"unauthorized","detail":"the key was revoked"}\n\n`),
  ]);
  const found = [];
  await assert.rejects(
    (async () => {
      for await (const one of space.changes({ follow: true })) found.push(one.point);
    })(),
    (error) => error instanceof sdk.Unauthorized && error.message === "the key was revoked",
  );
  assert.deepEqual(found, ["e:5", "e:8", "e:9"]);
  assert.deepEqual(sent.map((one) => new URL(one.url).searchParams.get("since")), [null, "e:7", "e:7", "e:8"]);
  assert.ok(sent.every((one) => one.headers.get("Accept") === "text/event-stream"));
});

test("a stream that brings nothing goes on where it began, and ends with its loop or its signal", async () => {
  const { space, sent } = answering([streaming(""), streaming('id: e:5\nevent: created\ndata: {"seq":5}\n\n', new TypeError("late"))]);
  for await (const one of space.changes({ follow: true, limit: 1 })) assert.equal(one.seq, 5);
  assert.equal(new URL(sent[1].url).searchParams.get("since"), "e:4");
  assert.ok(sent[1].signal.aborted);
  const { space: refused } = answering([problem(410, "past_retention")]);
  await assert.rejects(all(refused.changes({ follow: true, since: "e:1" })), sdk.NotFound);
  const { space: gone } = answering(Array(40).fill(new TypeError("lost")), { attempts: 1 });
  await assert.rejects(all(gone.changes({ follow: true })), sdk.Unreachable);
});
