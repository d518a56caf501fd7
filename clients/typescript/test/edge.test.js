// The package as a bundler makes it for browsers and edge runtimes: small, and with the globals of the Web alone.

import assert from "node:assert/strict";
import test from "node:test";
import vm from "node:vm";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const bundled = (text) =>
  build({ stdin: { contents: text, resolveDir: import.meta.dirname }, bundle: true, minify: true, write: false, format: "iife", globalName: "made", platform: "browser", logLevel: "silent" });

test("it runs where there are the globals of the Web alone", async () => {
  const { outputFiles } = await bundled('export * from "../dist/index.js";');
  const web = { fetch: async () => Response.json({ hits: [] }), Request, Response, Headers, FormData, URL, URLSearchParams, TextDecoder, AbortController, AbortSignal, crypto, setTimeout, clearTimeout };
  const context = vm.createContext(web);
  vm.runInContext(outputFiles[0].text, context);
  const { hits } = await vm.runInContext('made.muisti({url: "http://here"}).space().search("x")', context);
  assert.equal(hits.length, 0);
  const { text, contents } = outputFiles[0];
  console.log(`size: ${(contents.length / 1000).toFixed(1)} kB minified, ${(gzipSync(text).length / 1000).toFixed(1)} kB gzipped, openapi-fetch included`);
});

test("what is not used is not bundled", async () => {
  const { outputFiles } = await bundled('import { MuistiError } from "../dist/index.js"; export { MuistiError };');
  assert.ok(outputFiles[0].contents.length < 4000, `${outputFiles[0].contents.length} bytes`);
});
