/** A client of Muisti's HTTP API: openapi-fetch over the types of the OpenAPI document, with retries and idempotency keys. */

import createClient, { type Client } from "openapi-fetch";
import type { paths } from "./schema.js";

export type { components, operations, paths } from "./schema.js";

export interface Options {
  /** Where the server is. */
  url?: string;
  /** A key, when the server asks for one. */
  key?: string;
  /** What sends, instead of the global fetch. */
  fetch?: (request: Request) => Promise<Response>;
  /** Milliseconds before the second attempt; doubled for each that follows. */
  pause?: number;
}

export const ATTEMPTS = 4;
const PAUSE_MAX = 10_000;
const KEY = "Idempotency-Key";
const SAFE = new Set(["GET", "HEAD", "PUT", "DELETE"]);
const LATER = new Set([429, 502, 503, 504]);

/** Whether an operation takes an idempotency key: changes to memories, conversations and documents do, derived texts do not. */
export function keyed(method: string, path: string): boolean {
  if (["GET", "HEAD"].includes(method) || path.endsWith("/feedback")) return false;
  if (/^\/v1\/spaces\/[^/]+\/(memories|entries|undo)(\/|$)/.test(path)) return true;
  if (/^\/v1\/spaces\/[^/]+\/documents(\/[^/]+)?$/.test(path)) return method === "PUT" || (method === "POST" && path.endsWith("/documents"));
  if (method === "POST" && /^\/v1\/spaces\/[^/]+\/(generations|import|purge|summaries)$/.test(path)) return true;
  if (/^\/v1\/spaces\/[^/]+\/graph\//.test(path)) return true;
  const derived = /\/(summary|summaries|suggestions|working\/[^/]+)$/.test(path);
  return ["POST", "PATCH"].includes(method) && !derived && /^\/v1\/spaces\/[^/]+\/(sessions|conversations)(\/|$)/.test(path);
}

/** The client: `GET`, `POST`, `PUT`, `PATCH` and `DELETE` with the paths, bodies and answers of the API as types. */
export function muisti({ url = "http://127.0.0.1:8321", key, fetch = globalThis.fetch, pause = 200 }: Options = {}): Client<paths> {
  return createClient<paths>({
    baseUrl: url.replace(/\/+$/, ""),
    headers: key ? { Authorization: `Bearer ${key}` } : {},
    fetch: (request) => repeated(request, fetch, pause),
  });
}

async function repeated(request: Request, send: (request: Request) => Promise<Response>, pause: number): Promise<Response> {
  if (keyed(request.method, new URL(request.url).pathname) && !request.headers.has(KEY)) {
    request.headers.set(KEY, crypto.randomUUID());
  }
  const repeatable = SAFE.has(request.method) || request.headers.has(KEY);
  for (let attempt = 1; ; attempt++) {
    const last = attempt === ATTEMPTS;
    try {
      const response = await send(request.clone());
      // What was turned away with 429 was not begun, whatever it was.
      const again = response.status === 429 || (LATER.has(response.status) && repeatable);
      if (last || !again) return response;
      await response.body?.cancel();
      await wait(Number(response.headers.get("Retry-After") ?? Number.NaN) * 1000, attempt, pause);
    } catch (error) {
      if (last || !repeatable || !(error instanceof TypeError)) throw error; // fetch has TypeErrors for lost connections
      await wait(Number.NaN, attempt, pause);
    }
  }
}

/** As long as the server asks for, else longer each time and never the same for two. */
function wait(asked: number, attempt: number, pause: number): Promise<void> {
  const own = pause * 2 ** (attempt - 1) * (0.5 + Math.random() / 2);
  return new Promise((done) => setTimeout(done, Math.min(Number.isNaN(asked) ? own : asked, PAUSE_MAX)));
}
