// Against the OpenAPI document, against answers that go wrong, and against the server that MUISTI_URL names.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { ATTEMPTS, keyed, muisti } from "../dist/index.js";

const METHODS = ["get", "put", "post", "patch", "delete"];
const document = JSON.parse(readFileSync(new URL("../../../docs/openapi.json", import.meta.url), "utf-8"));

function answering(...answers) {
  const sent = [];
  const fetch = async (request) => {
    sent.push(request);
    const now = answers.shift();
    if (now instanceof Error) throw now;
    return Response.json({ code: "busy" }, { status: now, headers: now === 200 ? {} : { "Retry-After": "0" } });
  };
  return [muisti({ fetch, pause: 0 }), sent];
}

test("an idempotency key is sent where the document has a place for it", () => {
  for (const [path, item] of Object.entries(document.paths)) {
    for (const method of METHODS.filter((one) => item[one])) {
      const has = (item[method].parameters ?? []).some((one) => one.name === "Idempotency-Key");
      const filled = path.replaceAll(/\{[a-z_]+\}/g, "x");
      assert.equal(keyed(method.toUpperCase(), filled), has, `${method} ${path}`);
    }
  }
});

test("what is safe is sent again with the same key", async () => {
  const add = { params: { path: { space: "default" } }, body: { content: "x" } };
  let [client, sent] = answering(new TypeError("lost"), 503, 200);
  await client.POST("/v1/spaces/{space}/memories", add);
  assert.equal(new Set(sent.map((one) => one.headers.get("Idempotency-Key"))).size, 1);
  assert.equal(sent.length, 3);
  [client, sent] = answering(new TypeError("lost"), 200);
  await assert.rejects(client.POST("/v1/keys", { body: { name: "x" } }));
  assert.equal(sent.length, 1);
  [client, sent] = answering(429, 200);
  await client.POST("/v1/keys", { body: { name: "x" } });
  assert.equal(sent.length, 2);
  [client, sent] = answering(...Array(9).fill(503));
  assert.equal((await client.GET("/v1/spaces")).response.status, 503);
  assert.equal(sent.length, ATTEMPTS);
});

test("a memory is stored, found and refused", { skip: !process.env.MUISTI_URL }, async () => {
  const client = muisti({ url: process.env.MUISTI_URL });
  const params = { path: { space: "default" } };
  const { data } = await client.POST("/v1/spaces/{space}/memories", { params, body: { content: "We deploy on Tuesdays" } });
  const { data: found } = await client.POST("/v1/spaces/{space}/search", { params, body: { query: "deploy" } });
  assert.equal(found.hits[0].memory.id, data.id);
  const { error, response } = await client.POST("/v1/spaces/{space}/memories", { params, body: { content: "We deploy on Tuesdays" } });
  assert.deepEqual([response.status, error.code], [409, "duplicate"]);
});
